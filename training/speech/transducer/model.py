"""Cache-aware streaming FastConformer RNN-T with a language prompt, small.

Training and streaming share one forward(), so training uses the same chunked attention [56, 13] and
causal convolutions as streaming, not a mask that imitates them:

  training   K chunks at once, empty caches   (112 K + 9 mel frames -> 14 K encoder frames)
  streaming  K = 1, caches of the last call   (121 mel frames -> 14 encoder frames)

Encoder frame n depends on mel frames 8 n + 2 .. 8 n + 16; the two leading outputs of the
subsampling would see padding and are dropped, as NeMo's drop_extra_pre_encoded does.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..text.tokens import BLANK, PROMPTS

LEFT, CHUNK, SUBSAMPLING = 56, 14, 8  # encoder frames, encoder frames, mel frames a frame
PRE_ENCODE = 9  # mel frames of the previous chunk
SHIFT = CHUNK * SUBSAMPLING  # 112 mel frames, 1.12 s
WINDOW = SHIFT + PRE_ENCODE
CTC_LABELS_PER_FRAME = 3  # characters come at 13 a second, frames at 12.5: one has no CTC path


class CausalConv2d(nn.Module):
    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, 3, stride=2)

    def forward(self, x: Tensor) -> Tensor:
        return self.conv(F.pad(x, (2, 1, 2, 1)))


class Subsampling(nn.Module):
    """Subsamples by 8 with dense convolutions of few channels. On a CPU, NeMo's depthwise
    convolutions took most of a training step."""

    def __init__(self, width: int, channels: int, bins: int = 80):
        super().__init__()
        self.first = CausalConv2d(1, channels // 2)
        self.second = CausalConv2d(channels // 2, channels)
        self.third = CausalConv2d(channels, channels)
        for _ in range(3):
            bins = bins // 2 + 1
        self.out = nn.Linear(channels * bins, width)

    def forward(self, x: Tensor) -> Tensor:
        x = x.unsqueeze(1)
        if self.training:
            x = x.contiguous(memory_format=torch.channels_last)
        for conv in (self.first, self.second, self.third):
            x = F.relu(conv(x))
        return self.out(x.transpose(1, 2).flatten(2))


class RelativeAttention(nn.Module):
    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.position = nn.Linear(width, width, bias=False)
        self.content_bias = nn.Parameter(torch.zeros(heads, self.size))
        self.position_bias = nn.Parameter(torch.zeros(heads, self.size))

    @staticmethod
    def _windows(x: Tensor, chunks: int) -> Tensor:
        """(B, 56 + 14 K, D) -> (B, K, 70, D), overlapping"""
        x = x.view(x.shape[0], -1, CHUNK, x.shape[2])
        return torch.cat([x[:, i : i + chunks] for i in range(LEFT // CHUNK + 1)], 2)

    def forward(self, x: Tensor, context: Tensor, positions: Tensor, mask: Tensor, chunks: int):
        """x (B, 14 K, D), context (B, 56 + 14 K, D), mask (B K, 1, 1, 70)"""
        heads, size, span = self.heads, self.size, LEFT + CHUNK
        distances = LEFT + 2 * CHUNK - 1
        query = self.query(x).view(-1, CHUNK, heads, size)
        key, value = self.key(context), self.value(context)
        if chunks > 1:
            key, value = self._windows(key, chunks), self._windows(value, chunks)
        key = key.reshape(-1, span, heads, size).permute(0, 2, 3, 1)
        value = value.reshape(-1, span, heads, size).transpose(1, 2)
        position = self.position(positions).view(1, distances, heads, size).permute(0, 2, 3, 1)
        content = torch.matmul((query + self.content_bias).transpose(1, 2), key)
        place = torch.matmul((query + self.position_bias).transpose(1, 2), position)
        place = F.pad(place, (1, 0)).reshape(-1, heads, distances + 1, CHUNK)[:, :, 1:]
        place = place.reshape(-1, heads, CHUNK, distances)[..., :span]  # the relative shift
        weights = torch.softmax((content + place) / math.sqrt(size) + mask, -1)
        mixed = torch.matmul(weights, value).transpose(1, 2)
        return self.out(mixed.reshape(-1, CHUNK * chunks, heads * size))


class FeedForward(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.up(x)))


class ConformerLayer(nn.Module):
    def __init__(self, width: int, heads: int, kernel: int):
        super().__init__()
        self.norm_feed_in, self.norm_attention = nn.LayerNorm(width), nn.LayerNorm(width)
        self.norm_conv, self.norm_depthwise = nn.LayerNorm(width), nn.LayerNorm(width)
        self.norm_feed_out, self.norm_out = nn.LayerNorm(width), nn.LayerNorm(width)
        self.feed_in, self.feed_out = FeedForward(width), FeedForward(width)
        self.attention = RelativeAttention(width, heads)
        self.pointwise_in, self.pointwise_out = (
            nn.Linear(width, 2 * width),
            nn.Linear(width, width),
        )
        self.depthwise = nn.Conv1d(width, width, kernel, groups=width)
        self.memory = kernel - 1

    def forward(self, x, frames_before, conv_before, positions, mask, chunks):
        x = x + 0.5 * self.feed_in(self.norm_feed_in(x))
        y = self.norm_attention(x)
        context = torch.cat([frames_before, y], 1)
        x = x + self.attention(y, context, positions, mask, chunks)
        y = F.glu(self.pointwise_in(self.norm_conv(x)), -1).transpose(1, 2)
        y = torch.cat([conv_before, y], 2)
        conv_after = y[:, :, -self.memory :]
        y = self.norm_depthwise(self.depthwise(y).transpose(1, 2))
        x = x + self.pointwise_out(F.silu(y))
        x = x + 0.5 * self.feed_out(self.norm_feed_out(x))
        return self.norm_out(x), context[:, -LEFT:], conv_after


class Encoder(nn.Module):
    def __init__(self, width: int, layers: int, heads: int, channels: int, kernel: int):
        super().__init__()
        self.width, self.depth, self.kernel = width, layers, kernel
        self.subsampling = Subsampling(width, channels)
        self.layers = nn.ModuleList(ConformerLayer(width, heads, kernel) for _ in range(layers))
        self.register_buffer("positions", _sinusoids(width))
        self.register_buffer("slots", torch.arange(LEFT + CHUNK).unsqueeze(0))
        self.register_buffer("prompts", torch.eye(len(PROMPTS)))
        self.register_buffer("mean", torch.zeros(80))
        self.register_buffer("std", torch.ones(80))
        self.prompted = nn.Sequential(
            nn.Linear(width + len(PROMPTS), 2 * width), nn.ReLU(), nn.Linear(2 * width, width)
        )

    def empty_caches(self, batch: int) -> tuple[Tensor, Tensor, Tensor]:
        return (
            torch.zeros(batch, self.depth, LEFT, self.width),
            torch.zeros(batch, self.depth, self.width, self.kernel - 1),
            torch.zeros(batch, dtype=torch.int64),
        )

    def forward(self, mel, length, frames_cache, conv_cache, cached, prompt):
        """mel (B, 80, 112 K + 9) -> (B, 14 K, D), lengths and the three caches"""
        chunks = int((mel.shape[2] - PRE_ENCODE) // SHIFT)  # int(): or the tracer keeps shapes
        x = self.subsampling((mel.transpose(1, 2) - self.mean) / self.std)
        x = x[:, 2 : 2 + CHUNK * chunks]
        before = cached.unsqueeze(1)
        if chunks > 1:
            before = before + CHUNK * torch.arange(chunks).unsqueeze(0)
        there = self.slots >= (LEFT - before).reshape(-1, 1)
        mask = ((~there).to(x.dtype) * -1e4).unsqueeze(1).unsqueeze(1)
        frames_after, conv_after = [], []
        for i, layer in enumerate(self.layers):
            x, frames, conv = layer(
                x, frames_cache[:, i], conv_cache[:, i], self.positions, mask, chunks
            )
            frames_after.append(frames)
            conv_after.append(conv)
        language = self.prompts[prompt].unsqueeze(1).expand(-1, CHUNK * chunks, -1)
        x = self.prompted(torch.cat([x, language], -1))
        return (
            x,
            torch.div(length - PRE_ENCODE, SUBSAMPLING, rounding_mode="floor"),
            torch.stack(frames_after, 1),
            torch.stack(conv_after, 1),
            torch.clamp(cached + CHUNK * chunks, max=LEFT),
        )


def _sinusoids(width: int) -> Tensor:
    """Returns one row for each distance query - key, +69 .. -13."""
    distance = torch.arange(LEFT + CHUNK - 1, -CHUNK, -1).float().unsqueeze(1)
    rate = torch.exp(torch.arange(0, width, 2).float() * -(math.log(10_000.0) / width))
    table = torch.zeros(distance.size(0), width)
    table[:, 0::2], table[:, 1::2] = torch.sin(distance * rate), torch.cos(distance * rate)
    return table


class Predictor(nn.Module):
    """Uses the embedding of the blank as the start of the utterance."""

    def __init__(self, size: int):
        super().__init__()
        self.size = size
        self.embedding = nn.Embedding(BLANK + 1, size)
        self.lstm = nn.LSTM(size, size, 1)

    def forward(self, targets, target_length, hidden, cell):
        embedded = self.embedding(targets.long()).transpose(0, 1)
        y, (hidden, cell) = self.lstm(embedded, (hidden, cell))
        return y.permute(1, 2, 0), target_length + 0, hidden, cell  # (B, P, U)


class Joint(nn.Module):
    def __init__(self, width: int, predictor: int, size: int):
        super().__init__()
        self.from_encoder, self.from_predictor = (
            nn.Linear(width, size),
            nn.Linear(predictor, size),
        )
        self.out = nn.Linear(size, BLANK + 1)

    def forward(self, encoded: Tensor, predicted: Tensor) -> Tensor:
        """(B, D, T), (B, P, U) -> logits (B, T, U, V + 1)"""
        left = self.from_encoder(encoded.transpose(1, 2)).unsqueeze(2)
        return self.out(F.relu(left + self.from_predictor(predicted.transpose(1, 2)).unsqueeze(1)))


class Transducer(nn.Module):
    def __init__(
        self, width=192, layers=6, heads=4, channels=64, kernel=9, predictor=160, joint=160
    ):
        super().__init__()
        self.config = dict(
            width=width, layers=layers, heads=heads, channels=channels,
            kernel=kernel, predictor=predictor, joint=joint,
        )  # fmt: skip
        self.encoder = Encoder(width, layers, heads, channels, kernel)
        self.predictor = Predictor(predictor)
        self.joint = Joint(width, predictor, joint)
        self.ctc = nn.Linear(width, CTC_LABELS_PER_FRAME * (BLANK + 1))  # for training only

    def encode(self, mel: Tensor, prompt: Tensor) -> Tensor:
        """(B, 112 K + 9, 80) -> (B, 14 K, D)"""
        batch = mel.shape[0]
        lengths = torch.full((batch,), mel.shape[1])
        caches = self.encoder.empty_caches(batch)
        return self.encoder(mel.transpose(1, 2), lengths, *caches, prompt)[0]

    def ctc_log_probabilities(self, encoded: Tensor) -> Tensor:
        logits = self.ctc(encoded).float().view(encoded.shape[0], -1, BLANK + 1)
        return logits.log_softmax(-1)

    def lattice(self, encoded: Tensor, targets: Tensor) -> Tensor:
        """joint logits (B, T, U + 1, V + 1) for encoded (B, T, D) and targets (B, U)"""
        batch = len(targets)
        zeros = torch.zeros(1, batch, self.predictor.size)
        start = torch.full((batch, 1), BLANK, dtype=targets.dtype)
        history = torch.cat([start, targets], 1)
        predicted = self.predictor(history, torch.zeros(batch), zeros, zeros)[0]
        return self.joint(encoded.transpose(1, 2), predicted)

    @torch.no_grad()
    def greedy(self, encoded: Tensor, labels_per_frame: int = 10) -> list[list[int]]:
        """The engine's greedy search, batched over utterances."""
        batch, frames, _ = encoded.shape
        found: list[list[int]] = [[] for _ in range(batch)]
        nothing = torch.zeros(batch)
        hidden = cell = torch.zeros(1, batch, self.predictor.size)
        start = torch.full((batch, 1), BLANK)
        predicted, _, hidden, cell = self.predictor(start, nothing, hidden, cell)
        left = self.joint.from_encoder(encoded)
        right = self.joint.from_predictor(predicted[:, :, 0])
        for t in range(frames):
            live = torch.ones(batch, dtype=torch.bool)
            for _ in range(labels_per_frame):
                best = self.joint.out(F.relu(left[:, t] + right)).argmax(-1)
                live = live & (best != BLANK)
                if not live.any():
                    break
                for b in live.nonzero()[:, 0].tolist():
                    found[b].append(int(best[b]))
                label = best.clamp(max=BLANK - 1)[:, None]
                predicted, _, new_hidden, new_cell = self.predictor(label, nothing, hidden, cell)
                keep = live[None, :, None]
                hidden = torch.where(keep, new_hidden, hidden)
                cell = torch.where(keep, new_cell, cell)
                new_right = self.joint.from_predictor(predicted[:, :, 0])
                right = torch.where(live[:, None], new_right, right)
        return found
