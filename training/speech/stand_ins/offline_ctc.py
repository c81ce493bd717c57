"""Makes a small offline CTC model with the interface of published wav2vec2 and omniASR exports.

  python -m speech.stand_ins.offline_ctc --demo ../models/demo --out DIR

Engine tests use it instead of published weights, which cannot be downloaded everywhere.
Input `x` (N, samples), each window normalised to zero mean and unit variance; output `logits`
(N, T, V), one frame for each 20 ms. The encoder is the demonstration model's; a CTC head with four
labels a frame is trained on it in a few minutes. SYNTHETIC SPEECH ONLY, for tests only.
"""

import argparse
import math
import random
from pathlib import Path

import numpy as np
import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn
from torch.nn import functional as F

from ..data.features import FFT, FLOOR, HOP, WINDOW_SAMPLES, mel_filters
from ..data.shards import RATE, Audio, Row, read_rows, write_shard
from ..synthesis.espeak import EspeakVoice
from ..synthesis.render import render_espeak
from ..text.phonemes import Accent
from ..text.scoring import error_rates
from ..text.tokens import PROMPTS
from ..text.vocabulary import CTC_TOKENS, sentence
from ..transducer.model import CHUNK, LEFT, PRE_ENCODE, SHIFT, SUBSAMPLING, Transducer
from ..weights.import_onnx import load_exported

LABELS = 4  # each 80 ms: one every 20 ms
BEFORE = 16  # mel frames of silence, so that the first frame has its past
DROPPED = 1  # encoder frames of that silence; the rest centres each frame on its time
LEVEL = 0.1  # the encoder was trained on speech of about this level
OPSET = 17
BASES, VARIANTS = ("pt-br", "tr"), ("m1", "m3", "f2")


class LogMel(nn.Module):
    """speech.data.features as convolutions, so that the exported graph takes samples."""

    def __init__(self):
        super().__init__()
        n, k = np.arange(WINDOW_SAMPLES), np.arange(FFT // 2 + 1)[:, None]
        hann = 0.5 - 0.5 * np.cos(2 * math.pi * n / WINDOW_SAMPLES)
        emphasis = np.eye(WINDOW_SAMPLES) - 0.97 * np.eye(WINDOW_SAMPLES, k=-1)
        emphasis[0, 0] = 0.03
        waves = np.concatenate([np.cos(2 * np.pi * k * n / FFT), np.sin(2 * np.pi * k * n / FFT)])
        basis = (waves * hann) @ emphasis
        self.register_buffer("basis", torch.from_numpy(basis.astype(np.float32))[:, None])
        self.register_buffer("filters", torch.from_numpy(mel_filters())[:, :, None])

    def forward(self, x: Tensor) -> Tensor:
        real, imaginary = F.conv1d(x[:, None], self.basis, stride=HOP).chunk(2, 1)
        mel = F.conv1d(real**2 + imaginary**2, self.filters)
        return torch.log(torch.clamp(mel, min=FLOOR)).transpose(1, 2)


class OfflineCtc(nn.Module):
    def __init__(self, transducer: Transducer):
        super().__init__()
        self.features, self.encoder = LogMel(), transducer.encoder
        width = transducer.encoder.width
        self.mix = nn.Conv1d(width, width, 3, padding=1)
        self.head = nn.Linear(width, LABELS * len(CTC_TOKENS))

    def encode(self, x: Tensor) -> Tensor:
        """(N, samples) -> (N, frames of 80 ms, D); the number of chunks stays dynamic in a trace"""
        encoder, batch = self.encoder, x.shape[0]
        wanted = (x.shape[1] + RATE // 50) // (HOP * SUBSAMPLING) + 1 + DROPPED
        chunks = (wanted + CHUNK - 1) // CHUNK
        frames = chunks * SHIFT + PRE_ENCODE
        past = BEFORE * HOP + WINDOW_SAMPLES // 2 - HOP // 2
        after = (frames - 1) * HOP + WINDOW_SAMPLES - past - x.shape[1]
        mel = self.features(F.pad(x * LEVEL, (past, after)))
        y = encoder.subsampling((mel - encoder.mean) / encoder.std)[:, 2 : 2 + CHUNK * chunks]
        before = CHUNK * torch.arange(chunks).unsqueeze(0).expand(batch, -1)
        there = encoder.slots >= (LEFT - before).reshape(-1, 1)
        mask = ((~there).to(y.dtype) * -1e4).unsqueeze(1).unsqueeze(1)
        frames_cache, conv_cache, _ = encoder.empty_caches(1)
        for i, layer in enumerate(encoder.layers):
            caches = (c[:, i].expand(batch, -1, -1) for c in (frames_cache, conv_cache))
            y, _, _ = layer(y, *caches, encoder.positions, mask, chunks)
        language = encoder.prompts[PROMPTS["auto"]].expand(batch, CHUNK * chunks, -1)
        return encoder.prompted(torch.cat([y, language], -1))[:, DROPPED:]

    def label(self, encoded: Tensor) -> Tensor:
        y = F.relu(self.mix(encoded.transpose(1, 2))).transpose(1, 2)
        return self.head(y).reshape(y.shape[0], -1, len(CTC_TOKENS))

    def forward(self, x: Tensor) -> Tensor:
        """(N, samples) -> (N, T, V), T = (samples - 400) // 320 + 1 as in wav2vec2"""
        frames = (x.shape[1] - WINDOW_SAMPLES) // (2 * HOP) + 1
        return self.label(self.encode(x))[:, :frames]


def normalised(samples: np.ndarray) -> np.ndarray:
    return (samples - samples.mean()) / np.sqrt(samples.var() + 1e-5)


def render(folder: Path, count: int, seed: int) -> None:
    rng = random.Random(seed)

    def spoken():
        for i in range(count):
            language = ("kik", "luo")[i % 2]
            speaker = rng.choice(BASES), rng.choice(VARIANTS)
            voice = EspeakVoice(*speaker, rng.randint(130, 170), rng.randint(35, 65))
            yield render_espeak((language, sentence(language, rng), voice, Accent()))

    write_shard(folder, "espeak", spoken())


@torch.no_grad()
def encoded(model: OfflineCtc, audio: Audio, rows: list[Row]) -> list[tuple[Tensor, Tensor]]:
    """Returns the frozen encoder's frames and the labels of each utterance, computed once."""
    made, rng = [], np.random.default_rng(3)
    for row in rows:
        samples = audio.read(row)
        noise = 10 ** rng.uniform(-4.5, -2.5) * rng.standard_normal(len(samples))
        x = torch.from_numpy(normalised(samples + noise).astype(np.float32))[None]
        labels = torch.tensor([CTC_TOKENS.index(c) for c in row.text])
        made.append((model.encode(x)[0], labels))
    return made


def train_head(model: OfflineCtc, made: list[tuple[Tensor, Tensor]], steps: int) -> None:
    rng = random.Random(2)
    head = [*model.mix.parameters(), *model.head.parameters()]
    optimiser = torch.optim.AdamW(head, 3e-3)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 3e-3 * min(1, (step + 1) / 50) * (1 - 0.97 * step / steps)
        some = rng.choices(made, k=32)
        frames = nn.utils.rnn.pad_sequence([y for y, _ in some], batch_first=True)
        chances = model.label(frames).log_softmax(-1).transpose(0, 1)
        counts = torch.tensor([LABELS * len(y) for y, _ in some])
        targets = [labels for _, labels in some]
        lengths = torch.tensor([len(labels) for labels in targets])
        loss = F.ctc_loss(chances, torch.cat(targets), counts, lengths, zero_infinity=True)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 100 == 0 or step == steps - 1:
            print(f"step {step} loss {loss.item():.3f}", flush=True)


def greedy(logits: Tensor) -> str:
    found, before = [], 0
    for label in logits.argmax(-1).tolist():
        if label not in (0, before):
            found.append(CTC_TOKENS[label])
        before = label
    return " ".join("".join(found).split())


@torch.no_grad()
def evaluate(model: OfflineCtc, audio: Audio, rows: list[Row]) -> tuple[float, float]:
    pairs = []
    for row in rows:
        x = torch.from_numpy(normalised(audio.read(row)).astype(np.float32))[None]
        pairs.append((row.text, greedy(model(x)[0])))
    return error_rates(pairs)


def export_floats(model: nn.Module, path: Path) -> None:
    torch.onnx.export(
        model.eval(), (torch.randn(1, 4 * RATE),), str(path), input_names=["x"],
        output_names=["logits"], opset_version=OPSET, dynamo=False,
        dynamic_axes={"x": {0: "N", 1: "num_samples"}, "logits": {0: "N", 1: "num_frames"}},
    )  # fmt: skip


def export(model: nn.Module, out: Path) -> None:
    """Writes model.onnx and tokens.txt in the layout of the published omniASR exports.

    Those have unsigned 8-bit weights in their matrix products.
    """
    out.mkdir(parents=True, exist_ok=True)
    path, floats = out / "model.onnx", out / "model.fp32.onnx"
    export_floats(model, floats)
    quantize_dynamic(floats, path, op_types_to_quantize=["MatMul"], weight_type=QuantType.QUInt8)
    floats.unlink()
    graph = onnx.load(path)
    values = {
        "vocab_size": len(CTC_TOKENS), "model_type": "omnilingual-asr", "version": "1",
        "sample_rate": RATE, "comment": "stand-in for tests, synthetic speech only",
    }  # fmt: skip
    for key, value in values.items():
        entry = graph.metadata_props.add()
        entry.key, entry.value = key, str(value)
    onnx.checker.check_model(graph)
    onnx.save(graph, path)
    lines = [f"{token} {i}\n" for i, token in enumerate(CTC_TOKENS)]
    (out / "tokens.txt").write_text("".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--demo", type=Path, required=True, help="the demonstration weights")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="where rendered speech goes (default: OUT)")
    parser.add_argument("--utterances", type=int, default=1500)
    parser.add_argument("--steps", type=int, default=1200)
    options = parser.parse_args()
    data = options.data or options.out
    torch.set_num_threads(1)
    if not (data / "train").exists():
        render(data / "dev", 100, 7)
        render(data / "train", options.utterances, 8)
    transducer = Transducer().eval()
    load_exported(options.demo, transducer)
    torch.manual_seed(1)
    model = OfflineCtc(transducer).eval()
    made = encoded(model, Audio(data / "train"), read_rows(data / "train"))
    print(f"{len(made)} utterances encoded", flush=True)
    train_head(model, made, options.steps)
    wer, cer = evaluate(model, Audio(data / "dev"), read_rows(data / "dev"))
    print(f"WER {wer:.1f} CER {cer:.1f}")
    export(model, options.out)


if __name__ == "__main__":
    main()
