"""Trains a small offline CTC model built as wav2vec2 is, to judge how such models can be streamed.

  python -m speech.stand_ins.waveform_ctc --teacher ../proof/testing/stand-in --out DIR

Convolutions over the waveform, a positional convolution, attention to the whole utterance. The
first convolutions are fixed (log-mel, normalised per frame), so that training takes half an hour.
At first it also learns the scores of the teacher, another stand-in with the same labels, because
CTC alone finds the alignment late. Continues from DIR/last.pt. SYNTHETIC SPEECH ONLY.
"""

import argparse
import math
import random
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..data.features import BINS, FFT, WINDOW_SAMPLES, mel_filters
from ..data.shards import RATE, Audio, Row, read_rows
from ..text.vocabulary import CTC_TOKENS
from .offline_ctc import export, normalised, render

FRAME = 320  # samples
FLOOR = 1e-4  # power, where the samples have unit variance
WIDTH, LAYERS, HEADS = 192, 6, 4
POSITION_KERNEL, POSITION_GROUPS = 128, 16
LENGTHS = 4, 6, 8, 12, 24  # seconds; every batch has 24 s
BATCH_SECONDS = 24
PEAK, WARMUP, CLIP = 1e-3, 200, 1.0
TAUGHT = 0.3  # share of the steps with a teacher
CHECKPOINT_STEPS = 100

# Keys and values of one layer, (N, frames, width) each.
Cache = tuple[Tensor, Tensor]


class FrontEnd(nn.Module):
    """(N, samples) -> (N, frames, channels), one frame of 400 samples for each 20 ms"""

    def __init__(self):
        super().__init__()
        k, n = np.arange(FFT // 2 + 1)[:, None], np.arange(WINDOW_SAMPLES)
        hann = 0.5 - 0.5 * np.cos(2 * math.pi * n / WINDOW_SAMPLES)
        waves = np.concatenate([np.cos(2 * np.pi * k * n / FFT), np.sin(2 * np.pi * k * n / FFT)])
        self.register_buffer("basis", torch.from_numpy((waves * hann).astype("f4"))[:, None])
        self.register_buffer("filters", torch.from_numpy(mel_filters())[:, :, None])
        self.norm = nn.LayerNorm(BINS)

    def forward(self, x: Tensor) -> Tensor:
        real, imaginary = F.conv1d(x[:, None], self.basis, stride=FRAME).chunk(2, 1)
        mel = F.conv1d(real**2 + imaginary**2, self.filters)
        return self.norm(torch.log(mel + FLOOR).transpose(1, 2))


class Positions(nn.Conv1d):
    """The positional convolution, by FFT in a quarter of the time. Exports have a convolution."""

    def forward(self, x: Tensor) -> Tensor:
        if torch.jit.is_tracing():
            return super().forward(x)
        frames, kernel, groups = x.shape[2], self.kernel_size[0], self.groups
        size = (frames + kernel + 63) // 64 * 64
        given = torch.fft.rfft(x, size).unflatten(1, (groups, -1)).permute(1, 3, 0, 2)
        weights = torch.fft.rfft(self.weight, size).unflatten(0, (groups, -1))
        made = given @ weights.conj().permute(0, 3, 2, 1)
        summed = torch.fft.irfft(made.permute(2, 0, 3, 1).flatten(1, 2), size)
        return summed.roll(kernel // 2, -1)[..., : frames + 1] + self.bias[:, None]


class Layer(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_inner = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.inner = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def split(self, x: Tensor) -> Tensor:
        return x.reshape(x.shape[0], -1, self.heads, x.shape[2] // self.heads).transpose(1, 2)

    def forward(self, x: Tensor, cache: Cache | None) -> tuple[Tensor, Cache]:
        y = self.before_attention(x)
        query, key, value = self.query(y), self.key(y), self.value(y)
        new = key, value
        if cache is not None:
            key, value = (torch.cat(pair, 1) for pair in zip(cache, new, strict=True))
        heads = (self.split(part) for part in (query, key, value))
        mixed = F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
        x = x + self.out(mixed)
        return x + self.inner(self.before_inner(x)), new


class WaveformCtc(nn.Module):
    def __init__(self, width=WIDTH, layers=LAYERS, heads=HEADS):
        super().__init__()
        self.front_end = FrontEnd()
        self.project = nn.Linear(BINS, width)
        half = POSITION_KERNEL // 2
        kernel = dict(kernel_size=POSITION_KERNEL, padding=half, groups=POSITION_GROUPS)
        self.positions = Positions(width, width, **kernel)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.last, self.head = nn.LayerNorm(width), nn.Linear(width, len(CTC_TOKENS))

    def contextual(
        self, features: Tensor, skip: int = 0, caches: list[Cache] | None = None
    ) -> tuple[Tensor, list[Cache]]:
        """Returns the scores of the features after the first `skip`, and their keys and values.

        Skipped features are context of the positional convolution; `caches` that of attention.
        """
        x = self.project(features)
        positions = self.positions(x.transpose(1, 2))[:, :, :-1].transpose(1, 2)
        x = (x + F.gelu(positions))[:, skip:]
        made = []
        for at, layer in enumerate(self.layers):
            x, new = layer(x, None if caches is None else caches[at])
            made.append(new)
        return self.head(self.last(x)), made

    def forward(self, x: Tensor) -> Tensor:
        """(N, samples) -> (N, T, V), T = (samples - 400) // 320 + 1"""
        return self.contextual(self.front_end(x))[0]


@dataclass(frozen=True)
class Taught:
    samples: np.ndarray  # whole frames
    scores: np.ndarray  # (frames, V): log-probabilities of the teacher
    labels: list[int]


def teach(teacher: Path, audio: Audio, rows: list[Row]) -> list[Taught]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(teacher / "model.onnx", options)
    made, silence = [], np.full((1, len(CTC_TOKENS)), -12, np.float32)
    silence[0, 0] = 0
    for row in rows:
        samples = audio.read(row)
        samples = np.pad(samples, (0, -len(samples) % FRAME))
        (logits,) = session.run(None, {"x": normalised(samples)[None].astype(np.float32)})
        scores = torch.from_numpy(logits[0]).log_softmax(-1).numpy()
        missing = len(samples) // FRAME - len(scores)
        scores = np.concatenate([scores, *[silence] * missing]).astype(np.float16)
        made.append(Taught(samples, scores, [CTC_TOKENS.index(c) for c in row.text]))
    return made


def example(made: list[Taught], seconds: int, rng: random.Random) -> Taught:
    """Joins utterances that fit into the time, with pauses, and adds noise to most examples."""
    frames = seconds * RATE // FRAME
    samples = np.zeros(frames * FRAME, np.float32)
    scores = np.full((frames, len(CTC_TOKENS)), -12, np.float16)
    scores[:, 0] = 0
    labels: list[int] = []
    at = rng.randint(0, 20)
    for one in rng.sample(made, 12):
        count = len(one.scores)
        if at + count > frames:
            continue
        samples[at * FRAME : (at + count) * FRAME] = one.samples
        scores[at : at + count] = one.scores
        labels += ([CTC_TOKENS.index(" ")] if labels else []) + one.labels
        at += count + rng.randint(5, 40)
    level = samples.std() * 10 ** (-rng.uniform(8, 40) / 20) if rng.random() < 0.7 else 1e-4
    noise = np.random.default_rng(rng.randrange(1 << 30)).standard_normal(len(samples), np.float32)
    noisy = samples + np.float32(max(level, 1e-4)) * noise
    return Taught(normalised(noisy).astype(np.float32), scores, labels)


def loss_of(model: WaveformCtc, batch: list[Taught], taught: float) -> Tensor:
    x = torch.from_numpy(np.stack([one.samples for one in batch]))
    chances = model(x).log_softmax(-1)
    frames = chances.shape[1]
    lengths = torch.tensor([len(one.labels) for one in batch])
    targets = torch.tensor([label for one in batch for label in one.labels])
    counts = torch.full((len(batch),), frames)
    loss = F.ctc_loss(chances.transpose(0, 1), targets, counts, lengths, zero_infinity=True)
    if taught == 0:
        return loss
    teacher = torch.from_numpy(np.stack([one.scores for one in batch])[:, :frames]).float()
    spoken = 1 + 3 * (1 - teacher[..., :1].exp())  # most frames are blank
    distance = (F.kl_div(chances, teacher, reduction="none", log_target=True) * spoken).sum(-1)
    return loss * (1 - taught) + 4 * taught * distance.mean()


def train(model: WaveformCtc, made: list[Taught], out: Path, steps: int) -> None:
    optimiser = torch.optim.AdamW(model.parameters(), PEAK, betas=(0.9, 0.98), fused=True)
    done, path = 0, out / "last.pt"
    if path.exists():
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimiser.load_state_dict(saved["optimiser"])
        done = saved["done"]
    rng = random.Random(done)
    model.train()
    total = 0.0
    for step in range(done, steps):
        progress = step / steps
        for group in optimiser.param_groups:
            group["lr"] = PEAK * min(1, (step + 1) / WARMUP) * (1 - 0.98 * progress)
        seconds = rng.choice(LENGTHS if progress > 0.2 else LENGTHS[:2])
        batch = [example(made, seconds, rng) for _ in range(BATCH_SECONDS // seconds)]
        loss = loss_of(model, batch, max(0.0, 0.9 * (1 - progress / TAUGHT)))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), CLIP)
        optimiser.step()
        total += loss.item()
        if (step + 1) % 20 == 0:
            spent = time.process_time()
            print(f"step {step + 1} loss {total / 20:.3f} CPU {spent:.0f} s", flush=True)
            total = 0.0
        if (step + 1) % CHECKPOINT_STEPS == 0 or step + 1 == steps:
            state = {"model": model.state_dict(), "optimiser": optimiser.state_dict()}
            part = path.with_suffix(".part")
            torch.save({**state, "done": step + 1}, part)
            part.replace(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--teacher", type=Path, required=True, help="folder of the other stand-in")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--utterances", type=int, default=6000)
    parser.add_argument("--steps", type=int, default=3000)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    if not (options.out / "train").exists():
        render(options.out / "dev", 1000, 7)
        render(options.out / "train", options.utterances, 8)
    made = teach(options.teacher, Audio(options.out / "train"), read_rows(options.out / "train"))
    print(f"{len(made)} utterances", flush=True)
    model = WaveformCtc()
    train(model, made, options.out, options.steps)
    export(model, options.out)


if __name__ == "__main__":
    main()
