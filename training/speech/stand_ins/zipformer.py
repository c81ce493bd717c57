"""Makes a small streaming transducer with the interface of icefall's Zipformer exports.

  python -m speech.stand_ins.zipformer --fixtures ../core/models/fixtures --out DIR

Engine tests use it instead of published weights, which cannot be downloaded everywhere. Files,
inputs, caches and metadata are those of a streaming Zipformer: an encoder that takes 45 mel
frames, a decoder that knows the last two tokens, a joiner, and word pieces with the blank first.
Inside is a simpler network, which learns parts of a few recordings in some minutes. SYNTHETIC
SPEECH ONLY, for tests only.
"""

import argparse
import random
import tempfile
from pathlib import Path

import numpy as np
import onnx
import sentencepiece
import torch
from scipy.io import wavfile
from torch import Tensor, nn
from torch.nn import functional as F

from ..data.kaldi_features import MELS, RATE, kaldi_features
from ..text.normaliser import normalise
from ..text.scoring import error_rates
from ..text.vocabulary import sentence
from ..transducer.rnnt_loss import rnnt_loss

CHUNK = 32  # new mel frames of a decode
AHEAD = 13  # mel frames that the first convolutions need beyond them
STRIDE = 4  # mel frames of an encoder frame
FRAMES = CHUNK // STRIDE
LAYERS, WIDTH, HEADS, HEAD_WIDTH, KERNEL, LEFT = 4, 96, 4, 16, 15, 32
JOINER, CONTEXT, PIECES = 96, 2, 100
SPECIALS = ["<blk>", "<sos/eos>", "<unk>"]
OPSET = 13
CACHES = ("key", "nonlin_attn", "val1", "val2", "conv1", "conv2")


class Layer(nn.Module):
    """Attention over the chunk and 32 frames before it, a convolution, and a feed-forward part."""

    def __init__(self):
        super().__init__()
        inner = HEADS * HEAD_WIDTH
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(3))
        self.query, self.key, self.value = (nn.Linear(WIDTH, inner) for _ in range(3))
        self.mixed = nn.Linear(inner, WIDTH)
        self.distance = nn.Parameter(torch.zeros(HEADS, FRAMES, LEFT + FRAMES))
        self.gate = nn.Linear(WIDTH, 2 * WIDTH)
        self.depthwise = nn.Conv1d(WIDTH, WIDTH, KERNEL // 2 + 1, groups=WIDTH)
        self.after = nn.Linear(WIDTH, WIDTH)
        self.wide, self.narrow = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: Tensor, caches: list[Tensor], missing: Tensor) -> tuple:
        """x (N, FRAMES, WIDTH); missing (N, LEFT + FRAMES) is large where no audio was yet."""
        key, nonlin, val1, val2, conv1, conv2 = caches
        y = self.norms[0](x)
        keys = torch.cat([key.transpose(0, 1), self.key(y)], 1)
        values = torch.cat([val1.transpose(0, 1), self.value(y)], 1)

        def heads(z: Tensor) -> Tensor:
            return z.reshape(z.shape[0], -1, HEADS, HEAD_WIDTH).transpose(1, 2)

        scores = heads(self.query(y)) @ heads(keys).transpose(2, 3) / HEAD_WIDTH**0.5
        scores = scores + self.distance - missing[:, None, None]
        mixed = (scores.softmax(-1) @ heads(values)).transpose(1, 2)
        x = x + self.mixed(mixed.reshape(x.shape[0], FRAMES, HEADS * HEAD_WIDTH))
        y = F.glu(self.gate(self.norms[1](x)), -1).transpose(1, 2)
        y = torch.cat([conv1, y], 2)
        x = x + self.after(F.silu(self.depthwise(y)).transpose(1, 2))
        x = x + self.narrow(F.silu(self.wide(self.norms[2](x))))
        kept = [keys[:, -LEFT:].transpose(0, 1), nonlin, values[:, -LEFT:].transpose(0, 1)]
        # The real network uses the other caches too. Here they pass through.
        return x, [*kept, val2, y[:, :, -(KERNEL // 2) :], conv2]


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(MELS))
        self.register_buffer("std", torch.ones(MELS))
        self.embed = nn.Conv1d(MELS, WIDTH, AHEAD + STRIDE, stride=STRIDE)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.out = nn.Linear(WIDTH, JOINER)

    def forward(self, x: Tensor, *states: Tensor) -> tuple[Tensor, ...]:
        """x (N, CHUNK + AHEAD, MELS) -> (N, FRAMES, JOINER) and the new states"""
        *caches, embed_states, processed = states
        y = F.silu(self.embed(((x - self.mean) / self.std).transpose(1, 2))).transpose(1, 2)
        frames_ago = torch.arange(LEFT, 0, -1)[None]
        unheard = (frames_ago > processed[:, None]).to(y.dtype) * 1e4
        missing = F.pad(unheard, (0, FRAMES))
        new: list[Tensor] = []
        for i, layer in enumerate(self.layers):
            y, kept = layer(y, caches[6 * i : 6 * i + 6], missing)
            new += kept
        return self.out(y), *new, embed_states, processed + FRAMES


def empty_states(batch: int) -> list[Tensor]:
    inner, half = HEADS * HEAD_WIDTH, KERNEL // 2
    layer = [
        torch.zeros(LEFT, batch, inner), torch.zeros(1, batch, LEFT, 3 * WIDTH // 4),
        torch.zeros(LEFT, batch, inner), torch.zeros(LEFT, batch, inner),
        torch.zeros(batch, WIDTH, half), torch.zeros(batch, WIDTH, half),
    ]  # fmt: skip
    embed = torch.zeros(batch, 128, 3, ((MELS - 1) // 2 - 1) // 2)
    return [*layer * LAYERS, embed, torch.zeros(batch, dtype=torch.int64)]


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(PIECES, WIDTH)
        self.conv = nn.Conv1d(WIDTH, WIDTH, CONTEXT, groups=WIDTH // 4)
        self.out = nn.Linear(WIDTH, JOINER)

    def forward(self, y: Tensor) -> Tensor:
        """y (N, U + CONTEXT - 1) -> (N, U, JOINER); -1 stands for no token"""
        known = self.embedding(y.clamp(min=0)) * (y >= 0).unsqueeze(-1)
        return self.out(F.relu(self.conv(known.transpose(1, 2))).transpose(1, 2))


class LastDecoder(nn.Module):
    def __init__(self, decoder: Decoder):
        super().__init__()
        self.decoder = decoder

    def forward(self, y: Tensor) -> Tensor:
        return self.decoder(y)[:, 0]


class Joiner(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(JOINER, PIECES)

    def forward(self, encoded: Tensor, decoded: Tensor) -> Tensor:
        return self.out(torch.tanh(encoded + decoded))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder, self.joiner = Encoder(), Decoder(), Joiner()
        self.ctc = nn.Linear(JOINER, PIECES)  # helps the encoder at first; not exported

    def encode(self, mel: Tensor) -> Tensor:
        """(N, chunks * CHUNK + AHEAD, MELS) -> (N, chunks * FRAMES, JOINER), as a stream does."""
        states, found = empty_states(mel.shape[0]), []
        for at in range(0, mel.shape[1] - AHEAD, CHUNK):
            y, *states = self.encoder(mel[:, at : at + CHUNK + AHEAD], *states)
            found.append(y)
        return torch.cat(found, 1)


def pieces(folder: Path, fixtures: Path) -> sentencepiece.SentencePieceProcessor:
    rng = random.Random(3)
    lines = [sentence(language, rng) for language in ("kik", "luo") for _ in range(1500)]
    lines += [spoken(path) for path in sorted(fixtures.glob("*.wav"))]
    (folder / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text.txt"), model_prefix=str(folder / "bpe"), vocab_size=PIECES,
        model_type="bpe", character_coverage=1.0, minloglevel=2, unk_id=2, bos_id=-1, eos_id=-1,
        user_defined_symbols=SPECIALS[:2],
    )  # fmt: skip
    return sentencepiece.SentencePieceProcessor(model_file=str(folder / "bpe.model"))


def features(samples: np.ndarray) -> Tensor:
    """The frames of an utterance, with silence to whole chunks and what the last one looks at."""
    chunks = -(-(len(samples) // 160) // CHUNK)
    wanted = 160 * (chunks * CHUNK + AHEAD)
    return torch.from_numpy(kaldi_features(np.pad(samples, (0, wanted - len(samples)))))


def spoken(path: Path) -> str:
    """The text beside a recording, as our models write it."""
    language = "kik" if path.name.startswith("kikuyu") else "luo"
    return normalise(path.with_suffix(".txt").read_text(encoding="utf-8"), language)


def read(folder: Path, processor) -> list[tuple[np.ndarray, Tensor]]:
    made = []
    for path in sorted(folder.glob("*.wav")):
        rate, samples = wavfile.read(path)
        assert rate == RATE, path
        made.append(
            (samples.astype(np.float32) / 32768, torch.tensor(processor.encode(spoken(path))))
        )
    return made


def altered(samples: np.ndarray, frames: int, rng: np.random.Generator) -> Tensor:
    """The recording somewhere in so many mel frames, louder or quieter, with a little noise."""
    samples = samples * 10 ** rng.uniform(-0.5, 0.2)
    early = rng.integers(0, 160 * (frames - AHEAD) - len(samples) + 1)
    whole = np.pad(samples, (early, 160 * frames - early - len(samples)))
    whole = whole + 10 ** rng.uniform(-5, -3) * rng.standard_normal(len(whole))
    return torch.from_numpy(kaldi_features(whole.astype(np.float32)))


def loss_of(model: Model, some: list[tuple[Tensor, Tensor]], joint: bool) -> Tensor:
    encoded = model.encode(torch.stack([mel for mel, _ in some]))
    frames = torch.full((len(some),), encoded.shape[1])
    counts = torch.tensor([len(y) for _, y in some])
    y = nn.utils.rnn.pad_sequence([y for _, y in some], batch_first=True)
    chances = model.ctc(encoded).log_softmax(-1).transpose(0, 1)
    ctc = F.ctc_loss(chances, y, frames, counts, reduction="sum", zero_infinity=True)
    if not joint:
        return ctc / counts.sum()
    before = torch.tensor([[-1, 0]]).expand(len(some), 2)
    decoded = model.decoder(torch.cat([before, y], 1))
    logits = model.joiner(encoded[:, :, None], decoded[:, None])
    # Our loss has the blank last, these models first.
    transducer = rnnt_loss(logits.roll(-1, -1), (y - 1).clamp(min=0), frames, counts).sum()
    return (0.3 * ctc + 0.7 * transducer) / counts.sum()


def train(model: Model, made: list[tuple[np.ndarray, Tensor]], steps: int) -> None:
    rng = np.random.default_rng(2)
    longest = max(len(samples) for samples, _ in made) // 160
    frames = (longest // CHUNK + 2) * CHUNK + AHEAD
    stacked = torch.cat([altered(samples, frames, rng) for samples, _ in made])
    model.encoder.mean.copy_(stacked.mean(0))
    model.encoder.std.copy_(stacked.std(0))
    optimiser = torch.optim.AdamW(model.parameters(), 2e-3, betas=(0.9, 0.98))
    variants = [[(altered(s, frames, rng), y) for s, y in made] for _ in range(12)]
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = 3e-3 * min(1, (step + 1) / 40) * (1 - 0.95 * step / steps)
        loss = loss_of(model, variants[step % len(variants)], step >= steps // 6)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        if step % 50 == 0 or step == steps - 1:
            print(f"step {step} loss {loss.item():.3f}", flush=True)


@torch.no_grad()
def greedy(model: Model, mel: Tensor) -> list[int]:
    """At most one token a frame, as in icefall's streaming decoders."""
    found = [-1, 0]
    for y in model.encode(mel[None])[0]:
        decoded = model.decoder(torch.tensor([found[-CONTEXT:]]))[0, 0]
        token = int(model.joiner(y, decoded).argmax())
        if token not in (0, 2):
            found.append(token)
    return found[CONTEXT:]


def evaluate(model: Model, folder: Path, processor) -> tuple[float, float]:
    pairs = []
    for samples, y in read(folder, processor):
        pairs.append(
            (processor.decode(y.tolist()), processor.decode(greedy(model, features(samples))))
        )
    return error_rates(pairs)


def describe(path: Path, values: dict[str, object]) -> None:
    graph = onnx.load(path)
    for key, value in values.items():
        entry = graph.metadata_props.add()
        entry.key, entry.value = key, str(value)
    onnx.checker.check_model(graph)
    onnx.save(graph, path)


def export_encoder(encoder: Encoder, path: Path) -> None:
    names = [f"cached_{name}_{i}" for i in range(LAYERS) for name in CACHES]
    names += ["embed_states", "processed_lens"]
    outputs = ["encoder_out", *(f"new_{name}" for name in names)]
    batch_axis = [1, 1, 1, 1, 0, 0] * LAYERS + [0, 0]
    axes = {name: {axis: "N"} for name, axis in zip(names, batch_axis, strict=True)}
    axes |= {f"new_{name}": axis for name, axis in axes.items()}
    torch.onnx.export(
        encoder, (torch.randn(2, CHUNK + AHEAD, MELS), *empty_states(2)), str(path),
        input_names=["x", *names], output_names=outputs, opset_version=OPSET, dynamo=False,
        dynamic_axes={"x": {0: "N"}, "encoder_out": {0: "N"}, **axes},
    )  # fmt: skip
    describe(path, {
        "model_type": "zipformer2", "version": "1", "model_author": "svc-asr",
        "comment": "stand-in for tests, synthetic speech only",
        "decode_chunk_len": CHUNK, "T": CHUNK + AHEAD, "num_encoder_layers": LAYERS,
        "encoder_dims": WIDTH, "cnn_module_kernels": KERNEL, "left_context_len": LEFT,
        "query_head_dims": HEAD_WIDTH, "value_head_dims": HEAD_WIDTH, "num_heads": HEADS,
    })  # fmt: skip


def export(model: Model, processor, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    model.eval()
    export_encoder(model.encoder, out / "encoder.onnx")
    torch.onnx.export(
        LastDecoder(model.decoder), torch.zeros(3, CONTEXT, dtype=torch.int64),
        str(out / "decoder.onnx"), input_names=["y"], output_names=["decoder_out"],
        opset_version=OPSET, dynamo=False, dynamic_axes={"y": {0: "N"}, "decoder_out": {0: "N"}},
    )  # fmt: skip
    describe(out / "decoder.onnx", {"context_size": CONTEXT, "vocab_size": PIECES})
    names = ["encoder_out", "decoder_out", "logit"]
    torch.onnx.export(
        model.joiner, (torch.zeros(3, JOINER), torch.zeros(3, JOINER)), str(out / "joiner.onnx"),
        input_names=names[:2], output_names=names[2:], opset_version=OPSET, dynamo=False,
        dynamic_axes={name: {0: "N"} for name in names},
    )  # fmt: skip
    describe(out / "joiner.onnx", {"joiner_dim": JOINER})
    lines = [f"{processor.id_to_piece(i)} {i}\n" for i in range(PIECES)]
    (out / "tokens.txt").write_text("".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--fixtures", type=Path, required=True, help="NAME.wav with NAME.txt")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=400)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        processor = pieces(Path(folder), options.fixtures)
    model = Model()
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters", flush=True)
    train(model, read(options.fixtures, processor), options.steps)
    wer, cer = evaluate(model, options.fixtures, processor)
    print(f"WER {wer:.1f} CER {cer:.1f}")
    export(model, processor, options.out)


if __name__ == "__main__":
    main()
