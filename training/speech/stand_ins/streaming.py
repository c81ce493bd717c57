"""Compares ways to stream an offline CTC model, with speech.stand_ins.waveform_ctc as the model.

  python -m speech.stand_ins.streaming --run DIR [--limit 40] [--bits 8]

Prints for each way the WER and CER per language and condition, how long after its end a word is
stable (mean and 90th percentile), and how many of 100 words change after they were shown. For each
length, compares its WER with that of windows. SYNTHETIC SPEECH ONLY.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from ..data.shards import RATE, Audio, Row, read_rows
from ..text.scoring import distance, error_rates
from ..text.vocabulary import CTC_TOKENS
from .offline_ctc import greedy, normalised
from .waveform_ctc import FRAME, POSITION_KERNEL, Cache, WaveformCtc

CHUNK = 56  # frames
LEFT = 100
BEFORE = POSITION_KERNEL // 2  # frames that the positional convolution needs before a frame
FRAME_SAMPLES = 400
SILENCE = np.zeros(RATE // 2, np.float32)
SHORT_SECONDS, LONG_SECONDS = 4, 24


@dataclass(frozen=True)
class Way:
    right: int = CHUNK  # frames at the end that are computed again with more context
    features: bool = False  # computed once; samples are normalised by what was heard so far
    keys: bool = False  # keys and values of earlier frames too


WAYS = {
    "windows": Way(),
    "features": Way(features=True),
    "keys, right 1.12 s": Way(features=True, keys=True),
    "keys, right 0.56 s": Way(features=True, keys=True, right=CHUNK // 2),
}


@dataclass
class Shown:
    """The scores of frames that stay, and of those that may still change, after a chunk."""

    kept: Tensor
    unstable: Tensor
    samples: int


@torch.no_grad()
def stream(model: WaveformCtc, samples: np.ndarray, way: Way) -> Iterator[Shown]:
    kept = torch.empty(0, len(CTC_TOKENS))
    features: Tensor | None = None
    caches: list[Cache] | None = None
    step = CHUNK * FRAME
    for to in [*range(step, len(samples), step), len(samples)]:
        if way.features:
            done = 0 if features is None else features.shape[1]
            new = torch.from_numpy(normalised(samples[:to])[done * FRAME :].astype(np.float32))
            if len(new) >= FRAME_SAMPLES:
                made = model.front_end(new[None])
                features = made if features is None else torch.cat([features, made], 1)
        first = len(kept) if way.keys else max(0, len(kept) - LEFT)
        if way.keys:
            begin = max(0, first - BEFORE)
            scores, new_keys = model.contextual(features[:, begin:], first - begin, caches)
        elif way.features:
            scores, _ = model.contextual(features[:, first:])
        else:
            window = normalised(samples[first * FRAME : to]).astype(np.float32)
            scores = model(torch.from_numpy(window)[None])
        scores = scores[0, len(kept) - first :]
        final = to == len(samples)
        keep = len(scores) if final else max(0, to // FRAME - way.right - len(kept))
        if way.keys and keep > 0:
            caches = [kept_keys(caches, at, new, keep) for at, new in enumerate(new_keys)]
        kept = torch.cat([kept, scores[:keep]])
        yield Shown(kept, scores[keep:], to)


def kept_keys(caches: list[Cache] | None, at: int, new: Cache, keep: int) -> Cache:
    pairs = zip(caches[at], new, strict=True) if caches else ((n[:, :0], n) for n in new)
    return tuple(torch.cat([old, n[:, :keep]], 1)[:, -LEFT:] for old, n in pairs)


@torch.no_grad()
def in_8_bits(model: nn.Module) -> None:
    """Rounds weights, and inputs by the range of each window, as ONNX Runtime does in 8 bits."""
    for layer in model.modules():
        if isinstance(layer, nn.Linear):
            scale = layer.weight.abs().max() / 127
            layer.weight.copy_((layer.weight / scale).round() * scale)
            layer.register_forward_pre_hook(lambda _, given: rounded(given[0]))


def rounded(x: Tensor) -> Tensor:
    low, high = x.min().clamp(max=0), x.max().clamp(min=0)
    scale = (high - low) / 255
    zero = (-low / scale).round()
    return (((x / scale).round() + zero).clamp(0, 255) - zero) * scale


def words(scores: Tensor) -> list[tuple[str, int]]:
    """Words and the frame in which each ends."""
    found, before, space = [], 0, CTC_TOKENS.index(" ")
    for frame, label in enumerate(scores.argmax(-1).tolist()):
        if label not in (0, before):
            if label == space or not found:
                found.append(["", frame])
            if label != space:
                found[-1] = [found[-1][0] + CTC_TOKENS[label], frame]
        before = label
    return [(text, frame) for text, frame in found if text]


class Tally:
    def __init__(self):
        self.pairs, self.lags, self.changed, self.words = [], [], 0, 0

    def add(self, model: WaveformCtc, samples: np.ndarray, text: str, way: Way | None) -> None:
        if way is None:
            with torch.no_grad():
                x = torch.from_numpy(normalised(samples).astype(np.float32))
                self.pairs.append((text, greedy(model(x[None])[0])))
            return
        committed, before = 0, []
        for shown in stream(model, samples, way):
            stable = words(shown.kept)[:-1]
            ends = [frame for _, frame in stable[committed:]]
            self.lags += [(shown.samples / FRAME - end) * FRAME / RATE for end in ends]
            committed = len(stable)
            now = [word for word, _ in words(torch.cat([shown.kept, shown.unstable]))]
            # The last word may still be growing.
            same = (old == new for old, new in zip(before[:-1], now, strict=False))
            self.changed += len(before[:-1]) - sum(same)
            before = now
        self.words += len(before)
        self.pairs.append((text, greedy(shown.kept)))

    def line(self) -> str:
        errors = "{:.1f} / {:.1f}".format(*error_rates(self.pairs))
        if not self.lags:
            return errors
        lag = f"{np.mean(self.lags):.2f} / {np.quantile(self.lags, 0.9):.2f}"
        return f"{errors} | {lag} | {100 * self.changed / max(1, self.words):.1f}"

    def errors(self) -> np.ndarray:
        """Returns the errors and the words of each stream, (streams, 2)."""
        split = [(text.split(), heard.split()) for text, heard in self.pairs]
        return np.array([(distance(text, heard), len(text)) for text, heard in split])


def compared(errors: np.ndarray, windows: np.ndarray) -> str:
    """Returns the difference of two WERs with its 95 % interval: a paired bootstrap of streams."""
    drawn = np.random.default_rng(1).integers(len(errors), size=(2000, len(errors)))
    more, words = errors[:, 0] - windows[:, 0], errors[:, 1]
    low, high = np.quantile(more[drawn].sum(1) / words[drawn].sum(1), (0.025, 0.975))
    return f"{100 * more.sum() / words.sum():+.2f} ({100 * low:+.2f} to {100 * high:+.2f})"


def spoken(audio: Audio, rows: list[Row], snr_db: float, seconds: float):
    """Utterances, joined until they are that long, with noise."""
    rng = np.random.default_rng(11)
    samples, texts = SILENCE, []
    for row in rows:
        samples = np.concatenate([samples, audio.read(row), SILENCE])
        texts.append(row.text)
        if len(samples) < seconds * RATE:
            continue
        noise = samples.std() * 10 ** (-snr_db / 20) * rng.standard_normal(len(samples))
        yield (samples + noise).astype(np.float32), " ".join(texts)
        samples, texts = SILENCE, []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--run", type=Path, required=True, help="folder of waveform_ctc")
    parser.add_argument("--limit", type=int, default=1000, help="utterances of each language")
    parser.add_argument("--bits", type=int, choices=(8, 32), default=32)
    options = parser.parse_args()
    torch.set_num_threads(1)
    model = WaveformCtc().eval()
    model.load_state_dict(torch.load(options.run / "last.pt")["model"])
    if options.bits == 8:
        in_8_bits(model)
    audio, rows = Audio(options.run / "dev"), read_rows(options.run / "dev")
    print("from | language | noise | way | WER / CER | lag mean / p90 | changed words per 100")
    for seconds in (SHORT_SECONDS, LONG_SECONDS):
        counts = {name: [] for name in (*WAYS, "offline")}
        for language in ("kik", "luo"):
            those = [row for row in rows if row.language == language][: options.limit]
            for snr_db in (40, 10):
                for name, cells in counts.items():
                    tally = Tally()
                    for samples, text in spoken(audio, those, snr_db, seconds):
                        tally.add(model, samples, text, WAYS.get(name))
                    case = f"{seconds} s | {language} | {snr_db} dB | {name}"
                    print(f"{case} | {tally.line()}", flush=True)
                    cells.append(tally.errors())
        # Both noises of a stream count as one stream, because they have the same speech.
        totals = {name: np.concatenate([a + b, c + d]) for name, (a, b, c, d) in counts.items()}
        for name, errors in totals.items():
            print(f"{seconds} s | {name} | more WER | {compared(errors, totals['windows'])}")


if __name__ == "__main__":
    main()
