"""Rendered speech on disk: NAME.pcm (int16, 16 kHz, utterances end to end) and NAME.tsv.

The .tsv is renamed into place last, so a shard is either complete or absent, and training can
use finished shards while others are being synthesised.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..text.normaliser import normalise

RATE = 16_000


@dataclass(frozen=True)
class Utterance:
    language: str
    voice: str
    text: str
    samples: np.ndarray


@dataclass(frozen=True)
class Row:
    shard: str
    offset: int
    samples: int
    language: str
    voice: str
    text: str


def trim(samples: np.ndarray, keep: int = 1600, threshold: int = 200) -> np.ndarray:
    """Trims silence and keeps 0.1 s on each side."""
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > threshold)
    if not len(loud):
        return samples[:0]
    return samples[max(0, loud[0] - keep) : loud[-1] + keep]


def write_shard(
    folder: Path, name: str, utterances: Iterable[Utterance], shortest=0.8, longest=11.0
) -> float:
    """Writes a shard without utterances outside the limits. Returns the hours written."""
    folder.mkdir(parents=True, exist_ok=True)
    offset, lines = 0, []
    with open(folder / f"{name}.pcm", "wb") as pcm:
        for utterance in utterances:
            samples = trim(utterance.samples)
            if not shortest * RATE <= len(samples) <= longest * RATE:
                continue
            pcm.write(samples.astype("<i2").tobytes())
            text = normalise(utterance.text)
            fields = (offset, len(samples), utterance.language, utterance.voice, text)
            lines.append("\t".join(map(str, fields)))
            offset += len(samples)
    part = folder / f"{name}.tsv.part"
    part.write_text("\n".join(lines) + "\n", encoding="utf-8")
    os.replace(part, folder / f"{name}.tsv")
    return offset / RATE / 3600


def read_rows(folder: Path) -> list[Row]:
    rows = []
    for path in sorted(folder.glob("*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            offset, samples, language, voice, text = line.split("\t")
            rows.append(Row(path.stem, int(offset), int(samples), language, voice, text))
    return rows


class Audio:
    """Memory maps of the shards, opened on first use."""

    def __init__(self, folder: Path):
        self._folder, self._maps = folder, {}

    def read(self, row: Row) -> np.ndarray:
        if row.shard not in self._maps:
            self._maps[row.shard] = np.memmap(self._folder / f"{row.shard}.pcm", "<i2", "r")
        piece = self._maps[row.shard][row.offset : row.offset + row.samples]
        return piece.astype(np.float32) / 32768
