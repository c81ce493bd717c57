"""Joint RNN-T and CTC training.  SYNTHETIC SPEECH ONLY unless you bring your own shards.

  python -m speech.transducer.train --data DIR --run DIR --hours 80 [--warm CHECKPOINT]

One single-threaded process per core with averaged gradients: 1.3 times as fast as one process
with two threads. The learning rate follows the audio seen, never the clock, so a run may be
paused. RUN/schedule.json holds the hours to train; edit it and the run ends earlier or later.
Run it again with the same --run to continue from the last checkpoint. For speed set
MALLOC_TOP_PAD_=1000000000 MALLOC_MMAP_THRESHOLD_=4000000000 MALLOC_TRIM_THRESHOLD_=8000000000.
"""

import argparse
import json
import math
import os
import time
from pathlib import Path

import torch
from torch.nn import functional as F

from ..text.tokens import BLANK
from .batches import Batch, Batches
from .evaluate import evaluate
from .model import CHUNK, CTC_LABELS_PER_FRAME, SHIFT, Transducer
from .rnnt_loss import rnnt_loss

LOG_STEPS, CONTROL_STEPS, CHECKPOINT_STEPS = 20, 50, 400
CTC_WEIGHT, CLIP, FLOOR = 0.3, 1.0, 0.01
CALM_FROM, CALM = 0.6, 0.4  # augmentation weakens from this point of the run to this strength
# without bf16 instructions, fp32 is 1.6 times as fast
BF16 = "bf16" in Path("/proc/cpuinfo").read_text()
SHORTEST = 16  # labels; the loss is per label, and an empty utterance must not divide by zero


class Averager:
    """Averages the gradients of all processes through shared memory: 9 ms for 6 M parameters.

    Shares the seconds of audio too, so that all processes make the same decisions."""

    def __init__(self, parameters, rank: int, shared: torch.Tensor, barrier):
        self._parameters, self._rank, self._shared = parameters, rank, shared
        self._barrier, self._turn = barrier, 0
        self._mean = torch.zeros(shared.shape[-1])

    def __call__(self, seconds: float) -> float:
        buffers = self._shared[self._turn]
        self._turn ^= 1  # two buffers in turn, so that one barrier a step is enough
        grads = [p.grad if p.grad is not None else torch.zeros_like(p) for p in self._parameters]
        flat = [g.reshape(-1) for g in grads]
        torch.cat([*flat, torch.tensor([seconds])], out=buffers[self._rank])
        if self._barrier is not None:
            self._barrier.wait()
        torch.mean(buffers, 0, out=self._mean)
        at = 0
        for p in self._parameters:
            p.grad = self._mean[at : at + p.numel()].view_as(p)
            at += p.numel()
        return float(self._mean[-1]) * len(buffers)


def losses(model: Transducer, batch: Batch, ctc_alone: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns RNN-T and CTC loss per label. `ctc_alone`: CTC does not update the encoder."""
    with torch.autocast("cpu", torch.bfloat16, enabled=BF16):
        encoded = model.encode(batch.mel, batch.prompts)
        ctc_in = model.ctc_log_probabilities(encoded.detach() if ctc_alone else encoded)
        logits = model.lattice(encoded, batch.targets)
    size = len(batch.labels)
    frames = torch.full((size,), batch.mel.shape[1] // SHIFT * CHUNK)
    per_label = batch.labels.clamp(min=SHORTEST)
    ctc = F.ctc_loss(
        ctc_in.transpose(0, 1), batch.targets, frames * CTC_LABELS_PER_FRAME, batch.labels,
        blank=BLANK, reduction="none", zero_infinity=True,
    )  # fmt: skip
    rnnt = rnnt_loss(logits, batch.targets, frames, batch.labels)
    return (rnnt / per_label).mean(), (ctc / per_label).mean()


def learning_rate(peak: float, step: int, warmup: int, progress: float) -> float:
    cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))
    return peak * min(1.0, (step + 1) / warmup) * (FLOOR + (1 - FLOOR) * cosine)


def disturbance(progress: float) -> float:
    """Returns the augmentation strength: full at first, weaker towards the end of the run."""
    return 1 - (1 - CALM) * min(1.0, max(0.0, progress - CALM_FROM) / (1 - CALM_FROM))


class Trainer:
    def __init__(self, rank: int, options, shared, control, barrier):
        self.rank, self.options, self.control = rank, options, control
        torch.manual_seed(1)
        saved = self._saved()
        self.model = Transducer(**(saved["config"] if saved else options.config))
        self.parameters = list(self.model.parameters())
        groups = [
            {"params": [p for p in self.parameters if p.ndim > 1], "weight_decay": 1e-2},
            {"params": [p for p in self.parameters if p.ndim <= 1], "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, options.rate, betas=(0.9, 0.98), fused=True)
        self.step, self.audio_s, self.resumed = 0, 0.0, bool(saved and "optimizer" in saved)
        if saved:
            self.model.load_state_dict(saved["model"])
        self.average = [p.detach().clone() for p in self.parameters]
        if self.resumed:
            self.optimizer.load_state_dict(saved["optimizer"])
            self.average = saved["average"]
            self.step, self.audio_s = saved["step"], saved["audio_s"]
        seed = 10**9 * options.seed + 1000 * self.step + rank
        chunks = options.chunks // options.jobs
        self.source = Batches(options.data / "train", chunks, seed, options.power)
        self.batches = iter(self.source)
        if not saved:
            self._measure_features()
        self.combine = Averager(self.parameters, rank, shared, barrier)

    def _saved(self):
        for path in (self.options.run / "last.pt", self.options.warm):
            if path and path.exists():
                return torch.load(path, map_location="cpu")
        return None

    def _measure_features(self) -> None:
        """Measures feature statistics on the same batches in every process."""
        sample = iter(Batches(self.options.data / "train", self.options.chunks, 7))
        mel = torch.cat([next(sample).mel.reshape(-1, 80) for _ in range(8)])
        self.model.encoder.mean.copy_(mel.mean(0))
        self.model.encoder.std.copy_(mel.std(0))

    def update(self) -> tuple[float, float, float]:
        progress = self.audio_s / float(self.control[0])
        self.source.strength = disturbance(progress)
        batch = next(self.batches)
        self.model.train()
        new_head = self.options.warm is not None and self.step < self.options.head_steps
        rnnt, ctc = losses(self.model, batch, new_head)
        loss = (1 - CTC_WEIGHT) * rnnt + CTC_WEIGHT * ctc
        if self.options.warm is None and self.step < self.options.ctc_steps:
            loss = ctc  # from scratch, CTC learns the alignment first
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if self.rank == 0 and self.step % CONTROL_STEPS == 0:
            schedule = json.loads((self.options.run / "schedule.json").read_text())
            self.control[0] = schedule["hours"] * 3600
        seconds = self.combine(batch.seconds)
        rate = learning_rate(self.options.rate, self.step, self.options.warmup, progress)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, CLIP, foreach=True)
        if torch.isfinite(norm):
            self.optimizer.step()
        self.step += 1
        self.audio_s += seconds
        if self.rank == 0:
            keep = min(self.options.ema, self.step / (self.step + 20))
            with torch.no_grad():
                torch._foreach_lerp_(self.average, [p.data for p in self.parameters], 1 - keep)
        return rnnt.item(), ctc.item(), rate

    @property
    def finished(self) -> bool:
        return self.step > 0 and self.audio_s >= float(self.control[0])

    def checkpoint(self) -> dict:
        """Saves the run and the averaged weights; returns the development figures."""
        run = self.options.run
        counts = {"config": self.model.config, "step": self.step, "audio_s": self.audio_s}
        whole = {"model": self.model.state_dict(), "average": self.average, **counts}
        _save({**whole, "optimizer": self.optimizer.state_dict()}, run / "last.pt")
        raw = [p.detach().clone() for p in self.parameters]
        for p, mean in zip(self.parameters, self.average, strict=True):
            p.data.copy_(mean)
        _save({"model": self.model.state_dict(), **counts}, run / "average.pt")
        figures = evaluate(self.model, self.options.data / "dev")
        for p, value in zip(self.parameters, raw, strict=True):
            p.data.copy_(value)
        return {key: [round(v, 1) for v in rates] for key, rates in figures.items()}


def _save(state: dict, path: Path) -> None:
    part = path.with_suffix(".part")
    torch.save(state, part)
    os.replace(part, path)


class Progress:
    """Prints progress and logs it as JSON for the loss curve."""

    def __init__(self, run: Path):
        self._log = open(run / "log.jsonl", "a", encoding="utf-8")  # noqa: SIM115
        self._sums, self._since, self._audio = [0.0, 0.0, 0], time.monotonic(), None

    def add(self, rnnt: float, ctc: float) -> None:
        self._sums = [self._sums[0] + rnnt, self._sums[1] + ctc, self._sums[2] + 1]

    def say(self, trainer: Trainer, rate: float) -> None:
        count, now = self._sums[2], time.monotonic()
        seen = trainer.audio_s - (self._audio if self._audio is not None else 0)
        speed = seen / max(1e-6, now - self._since) if self._audio is not None else 0.0
        left = (float(trainer.control[0]) - trainer.audio_s) / speed / 60 if speed else 0.0
        rnnt, ctc = self._sums[0] / count, self._sums[1] / count
        hours = trainer.audio_s / 3600
        print(
            f"step {trainer.step}  {hours:.1f} h  rnnt {rnnt:.3f}  ctc {ctc:.3f}  rate {rate:.1e}"
            f"  {speed:.0f} x real time  {left:.0f} min left",
            flush=True,
        )
        self.record(step=trainer.step, hours=hours, rnnt=rnnt, ctc=ctc, rate=rate, speed=speed)
        self._sums, self._since, self._audio = [0.0, 0.0, 0], now, trainer.audio_s

    def record(self, **values) -> None:
        rounded = {k: round(v, 6) if isinstance(v, float) else v for k, v in values.items()}
        self._log.write(json.dumps({**rounded, "time": int(time.time())}) + "\n")
        self._log.flush()


def work(rank: int, options, shared, control, barrier) -> None:
    torch.set_num_threads(1)
    trainer = Trainer(rank, options, shared, control, barrier)
    progress = Progress(options.run) if rank == 0 else None
    while not trainer.finished:
        rnnt, ctc, rate = trainer.update()
        if progress is None:
            continue
        progress.add(rnnt, ctc)
        if trainer.step % LOG_STEPS == 0:
            progress.say(trainer, rate)
        if trainer.step % CHECKPOINT_STEPS == 0 or trainer.finished:
            figures = trainer.checkpoint()
            print(f"development WER/CER {figures}", flush=True)
            hours = trainer.audio_s / 3600
            progress.record(step=trainer.step, hours=hours, development=figures)


def parse_options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with train/ and dev/")
    parser.add_argument("--run", type=Path, required=True, help="checkpoints and log")
    parser.add_argument("--hours", type=float, default=80, help="hours of audio, counting repeats")
    parser.add_argument("--warm", type=Path, help="start from these weights")
    parser.add_argument("--config", type=json.loads, default={}, help='e.g. {"width": 256}')
    parser.add_argument(
        "--chunks", type=int, default=64, help="chunks of 1.12 s per step, over all processes"
    )
    parser.add_argument("--rate", type=float, default=1e-3, help="peak learning rate")
    parser.add_argument("--warmup", type=int, default=500, help="steps")
    parser.add_argument(
        "--ctc-steps", type=int, default=400, help="initial steps without RNN-T loss"
    )
    parser.add_argument(
        "--head-steps",
        type=int,
        default=200,
        help="with --warm: steps that train only the CTC head",
    )
    parser.add_argument("--ema", type=float, default=0.999)
    parser.add_argument(
        "--power", type=float, default=0.75, help="sampling power; 1 samples sources by size"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed for order and augmentation")
    parser.add_argument("--jobs", type=int, default=2)
    return parser.parse_args()


def main() -> None:
    options = parse_options()
    options.run.mkdir(parents=True, exist_ok=True)
    schedule = options.run / "schedule.json"
    if not schedule.exists():
        schedule.write_text(json.dumps({"hours": options.hours}))
    size = sum(p.numel() for p in Transducer(**options.config).parameters())
    shared = torch.zeros(2, options.jobs, size + 1).share_memory_()
    control = torch.full((1,), options.hours * 3600).share_memory_()
    if options.jobs == 1:
        work(0, options, shared, control, None)
        return
    barrier = torch.multiprocessing.get_context("spawn").Barrier(options.jobs)
    torch.multiprocessing.spawn(work, (options, shared, control, barrier), options.jobs)


if __name__ == "__main__":
    main()
