"""Endless training batches from a folder of shards that may still be growing.

All utterances of a batch have the same number of chunks, so there is no padding to mask. The model
sees the zeros at the end, as it does in the engine.
"""

import random
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from ..data.augment import disturb, no_speech, warp_and_mask
from ..data.features import HOP, log_mel
from ..data.shards import RATE, Audio, Row, read_rows
from ..text.tokens import PROMPT_OF, PROMPTS, encode
from .model import PRE_ENCODE, SHIFT

RESCAN_UTTERANCES = 4000
EMPTY, JOINED, AUTO = 0.07, 0.12, 0.3  # shares of utterances


@dataclass(frozen=True)
class Batch:
    mel: torch.Tensor  # (B, 112 K + 9, 80)
    targets: torch.Tensor  # (B, U)
    labels: torch.Tensor  # (B,)
    prompts: torch.Tensor  # (B,)

    @property
    def seconds(self) -> float:
        return self.mel.shape[0] * self.mel.shape[1] / 100


def chunks_for(samples: int) -> int:
    """Returns how many chunks the engine decodes to cover every frame."""
    frames = (samples + HOP // 2) // HOP
    return max(1, -(-(frames - PRE_ENCODE) // SHIFT))


def pad_to_chunks(x: np.ndarray, chunks: int) -> np.ndarray:
    length = (SHIFT * chunks + PRE_ENCODE) * HOP
    return np.pad(x, (0, length - len(x))) if len(x) < length else x[:length]


class Draw:
    """Samples rows in proportion to a power of the size of each (synthesiser, language). A power
    below 1 oversamples small sources."""

    def __init__(self, folder: Path, rng: random.Random, power: float):
        self._folder, self._rng, self._power, self._left = folder, rng, power, 0
        self._groups: dict[tuple[str, str], list[Row]] = {}
        self._queues: dict[tuple[str, str], deque[Row]] = defaultdict(deque)
        self._weights: list[float] = []

    def _rescan(self) -> None:
        groups = defaultdict(list)
        for row in read_rows(self._folder):
            groups[row.voice.split(":")[0], row.language].append(row)
        if not groups:
            raise FileNotFoundError(
                f"no shards in {self._folder}; run speech.synthesis.render first"
            )
        self._groups = dict(groups)
        self._weights = [len(rows) ** self._power for rows in self._groups.values()]
        self._left = RESCAN_UTTERANCES

    def next(self) -> Row:
        if self._left == 0:
            self._rescan()
        self._left -= 1
        key = self._rng.choices(list(self._groups), self._weights)[0]
        if not self._queues[key]:
            rows = list(self._groups[key])
            self._rng.shuffle(rows)
            self._queues[key].extend(rows)
        return self._queues[key].popleft()


class Batches:
    """The `strength` of the augmentation may change while batches are drawn."""

    def __init__(self, folder: Path, chunks: int, seed: int, power: float = 0.75):
        self._rng, self.strength = random.Random(seed), 1.0
        self._draw, self._audio = Draw(folder, self._rng, power), Audio(folder)
        self._chunks = chunks
        self._recent: deque[np.ndarray] = deque(maxlen=12)

    def _speech(self) -> tuple[np.ndarray, str, int]:
        row = self._draw.next()
        x, text, language = self._audio.read(row), row.text, row.language
        if self._rng.random() < JOINED and len(x) < 6 * RATE:
            other = self._draw.next()
            if other.language == language:
                pause = np.zeros(int(self._rng.uniform(0, 0.7) * RATE), np.float32)
                x = np.concatenate([x, pause, self._audio.read(other)])
                text = f"{text} {other.text}"
        self._recent.append(x)
        auto = self._rng.random() < AUTO
        return x, text, PROMPTS["auto"] if auto else PROMPT_OF[language]

    def _one(self) -> tuple[np.ndarray, list[int], int]:
        if self._rng.random() < EMPTY:
            return no_speech(self._rng), [], self._rng.choice(list(PROMPTS.values()))
        x, text, prompt = self._speech()
        disturbed = disturb(x, self._rng, list(self._recent), self.strength)
        return disturbed, encode(text), prompt

    def _collate(self, items: list[tuple[np.ndarray, list[int], int]]) -> Batch:
        mel = log_mel(torch.from_numpy(np.stack([x for x, _, _ in items])))
        mel = torch.stack([warp_and_mask(m, self._rng, self.strength) for m in mel])
        labels = torch.tensor([len(y) for _, y, _ in items])
        targets = torch.zeros(len(items), max(1, int(labels.max())), dtype=torch.long)
        for i, (_, y, _) in enumerate(items):
            targets[i, : len(y)] = torch.tensor(y, dtype=torch.long)
        return Batch(mel, targets, labels, torch.tensor([p for _, _, p in items]))

    def __iter__(self) -> Iterator[Batch]:
        waiting = defaultdict(list)
        while True:
            x, y, prompt = self._one()
            chunks = chunks_for(len(x))
            same = waiting[chunks]
            same.append((pad_to_chunks(x, chunks), y, prompt))
            if len(same) >= max(3, self._chunks // chunks):
                yield self._collate(same)
                waiting[chunks] = []
