"""The streaming encoder of this family, rearranged for CPUs: the same results in two thirds of the
products.

- All frames of a batch are rows of one matrix, so every product is a plain matrix product.
- The cache holds the keys and values of the last 56 frames. Original encoders cache the frames
  themselves and project them again for every chunk.
- Projected positions are a product of two constants, which ONNX Runtime folds. Query, key and value
  are one product. The factor of the feed-forwards is folded into their weights, and the prompt into
  a table of biases.
- Depthwise convolutions are two-dimensional, because only those have a fast kernel in ONNX Runtime.
  Its SkipLayerNormalization is four times as fast as LayerNormalization.

The engine's contract stays: five or six inputs by position. Only the sizes of the caches differ:
(layers * 2 * heads, 56, head size) and (layers, kernel - 1, width).
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ..transducer.model import CHUNK, LEFT, PRE_ENCODE, SUBSAMPLING

DISTANCES = LEFT + 2 * CHUNK - 1  # +69 .. -13 between query and key
DROPPED = 2  # leading frames of the subsampling, which see padding
MASKED = -1e4


@dataclass(frozen=True)
class LayerParts:
    """One Conformer layer. Products are Linear modules or convolutions over one frame."""

    heads: int
    norm_feed_in: nn.LayerNorm
    feed_in: tuple[nn.Module, nn.Module]
    norm_attention: nn.LayerNorm
    query: nn.Module
    key: nn.Module
    value: nn.Module
    out: nn.Module
    position: nn.Module
    content_bias: Tensor
    position_bias: Tensor
    norm_conv: nn.LayerNorm
    pointwise_in: nn.Module
    depthwise: nn.Conv1d
    norm_depthwise: nn.LayerNorm
    pointwise_out: nn.Module
    norm_feed_out: nn.LayerNorm
    feed_out: tuple[nn.Module, nn.Module]
    norm_out: nn.LayerNorm


@dataclass(frozen=True)
class EncoderParts:
    """The subsampling turns (B, 1, 121, bins) into (B, channels, 16, bins / 8). Its convolutions
    with a stride are causal."""

    subsampling: list[nn.Conv2d | nn.ReLU]
    project: nn.Linear
    layers: list[LayerParts]
    positions: Tensor  # (83, width)
    prompt: tuple[nn.Linear, nn.Linear] | None = None
    mean: Tensor | None = None
    std: Tensor | None = None
    scale: float = 1.0  # of the projected features


class Product(nn.Module):
    """x W + b with W stored as (inputs, outputs), so that it is exported under its own name."""

    def __init__(self, *parts: nn.Module, factor: float = 1.0, inputs: int | None = None):
        super().__init__()
        weights = [part.weight.detach().flatten(1)[:, :inputs] for part in parts]
        biases = [_bias(part) for part in parts]
        self.weight = constant(factor * torch.cat(weights).t())
        self.bias = constant(factor * torch.cat(biases))

    def forward(self, x: Tensor) -> Tensor:
        return self.without_bias(x) + self.bias

    def without_bias(self, x: Tensor) -> Tensor:
        return torch.matmul(x, self.weight)


class SkipNorm(torch.autograd.Function):
    """Layer normalisation of x + y + bias, and that sum."""

    @staticmethod
    def forward(ctx, x, y, gamma, beta, bias, epsilon):
        total = x + y + bias
        return F.layer_norm(total, gamma.shape, gamma, beta, epsilon), total

    @staticmethod
    def symbolic(g, x, y, gamma, beta, bias, epsilon):
        normed, _, _, total = g.op(
            "com.microsoft::SkipLayerNormalization", x, y, gamma, beta, bias,
            epsilon_f=epsilon, outputs=4,
        )  # fmt: skip
        for value in (normed, total):
            value.setType(x.type())
        return normed, total


class PaddedConvolution(torch.autograd.Function):
    """A convolution with other padding after than before. Apart, ONNX Runtime copies both ways."""

    @staticmethod
    def forward(ctx, x, weight, bias, stride, groups, before, after):
        x = F.pad(x, (before, after, before, after))
        return F.conv2d(x, weight, bias, stride, groups=groups)

    @staticmethod
    def symbolic(g, x, weight, bias, stride, groups, before, after):
        pads = [before, before, after, after]
        return g.op(
            "Conv", x, weight, bias, pads_i=pads, strides_i=[stride] * 2, group_i=groups
        )  # fmt: skip


class CausalConvolution(nn.Module):
    def __init__(self, conv: nn.Conv2d):
        super().__init__()
        self.weight, self.bias = constant(conv.weight), constant(_bias(conv))
        self.stride, self.groups = conv.stride[0], conv.groups
        self.before, self.after = conv.kernel_size[0] - 1, conv.stride[0] - 1

    def forward(self, x: Tensor) -> Tensor:
        return PaddedConvolution.apply(
            x, self.weight, self.bias, self.stride, self.groups, self.before, self.after
        )


class Norm(nn.Module):
    def __init__(self, norm: nn.LayerNorm):
        super().__init__()
        self.gamma, self.beta = constant(norm.weight), constant(norm.bias)
        self.register_buffer("nothing", torch.zeros_like(norm.bias))
        self.epsilon = norm.eps

    def forward(self, x: Tensor) -> Tensor:
        # 2 x with four times the epsilon has the same normalisation as x
        return SkipNorm.apply(x, x, self.gamma, self.beta, self.nothing, 4 * self.epsilon)[0]

    def after(self, x: Tensor, y: Tensor, product: Product) -> tuple[Tensor, Tensor]:
        """Returns the normalised sum of x and a product without its bias, and that sum."""
        return SkipNorm.apply(x, y, self.gamma, self.beta, product.bias, self.epsilon)


class Attention(nn.Module):
    def __init__(self, parts: LayerParts):
        super().__init__()
        self.heads, self.size = parts.heads, parts.query.weight.shape[0] // parts.heads
        self.qkv = Product(parts.query, parts.key, parts.value)
        self.position = Product(parts.position)
        self.out = Product(parts.out)
        shape = (1, self.heads, 1, self.size)
        self.content_bias = constant(parts.content_bias.reshape(shape))
        self.position_bias = constant(parts.position_bias.reshape(shape))

    def forward(self, x, key, value, positions, mask):
        """x (B 14, D), key and value (B, H, 56, S), mask (B, 1, 1, 70). Returns without bias."""
        heads, size = self.heads, self.size
        projected = self.qkv(x).reshape(-1, CHUNK, 3 * heads, size).transpose(1, 2)
        query, new_key, new_value = projected.split(heads, 1)
        content, place = (
            (query + bias) * (1 / math.sqrt(size))
            for bias in (self.content_bias, self.position_bias)
        )
        at = self.position.without_bias(positions)  # a constant, which is folded
        place = torch.matmul(place, at.view(DISTANCES, heads, size).permute(1, 2, 0))
        place = F.pad(place, (1, 0)).reshape(-1, heads, DISTANCES + 1, CHUNK)[:, :, 1:]
        place = place.reshape(-1, heads, CHUNK, DISTANCES)[..., : LEFT + CHUNK]  # relative shift
        keys = (torch.matmul(content, k.transpose(2, 3)) for k in (key, new_key))
        weights = torch.softmax(torch.cat(tuple(keys), -1) + place + mask, -1)
        old, new = weights.split((LEFT, CHUNK), -1)
        mixed = torch.matmul(old, value) + torch.matmul(new, new_value)
        mixed = mixed.transpose(1, 2).reshape(-1, heads * size)
        return self.out.without_bias(mixed), torch.cat([new_key, new_value], 1)


class Convolution(nn.Module):
    def __init__(self, parts: LayerParts):
        super().__init__()
        self.pointwise_in, self.pointwise_out = (
            Product(parts.pointwise_in),
            Product(parts.pointwise_out),
        )
        self.depthwise = constant(parts.depthwise.weight.unsqueeze(2))
        self.depthwise_bias = constant(_bias(parts.depthwise))
        self.norm = Norm(parts.norm_depthwise)
        self.memory = parts.depthwise.kernel_size[0] - 1

    def forward(self, x, before):
        """x (B 14, D), before (B, 8, D). Returns without bias."""
        width = x.shape[1]
        y = F.glu(self.pointwise_in(x), -1).reshape(-1, CHUNK, width)
        y = torch.cat([before, y], 1)
        after = y[:, -self.memory :]
        y = y.transpose(1, 2).unsqueeze(2)
        y = F.conv2d(y, self.depthwise, self.depthwise_bias, groups=width)
        y = y.squeeze(2).transpose(1, 2).reshape(-1, width)
        return self.pointwise_out.without_bias(F.silu(self.norm(y))), after


class FeedForward(nn.Module):
    def __init__(self, parts: tuple[nn.Module, nn.Module]):
        super().__init__()
        up, down = parts
        self.up, self.down = Product(up), Product(down, factor=0.5)

    def forward(self, x: Tensor) -> Tensor:
        """Returns without bias."""
        return self.down.without_bias(F.silu(self.up(x)))


class Layer(nn.Module):
    def __init__(self, parts: LayerParts):
        super().__init__()
        self.feed_in, self.feed_out = FeedForward(parts.feed_in), FeedForward(parts.feed_out)
        self.attention, self.convolution = Attention(parts), Convolution(parts)
        self.norm_feed_in, self.norm_attention = (
            Norm(parts.norm_feed_in),
            Norm(parts.norm_attention),
        )
        self.norm_conv, self.norm_feed_out = Norm(parts.norm_conv), Norm(parts.norm_feed_out)
        self.norm_out = Norm(parts.norm_out)

    def forward(self, x, key, value, conv, positions, mask):
        feed_in, feed_out = self.feed_in, self.feed_out
        y, x = self.norm_attention.after(x, feed_in(self.norm_feed_in(x)), feed_in.down)
        y, keys_values = self.attention(y, key, value, positions, mask)
        y, x = self.norm_conv.after(x, y, self.attention.out)
        y, conv = self.convolution(y, conv)
        y, x = self.norm_feed_out.after(x, y, self.convolution.pointwise_out)
        y, _ = self.norm_out.after(x, feed_out(y), feed_out.down)
        return y, keys_values, conv


class Prompt(nn.Module):
    """Two products over frames and the one-hot language. The language's part is a table."""

    def __init__(self, parts: tuple[nn.Linear, nn.Linear], width: int):
        super().__init__()
        first, second = parts
        self.first, self.second = Product(first, inputs=width), Product(second)
        self.table = constant(first.weight[:, width:].t())

    def forward(self, x: Tensor, prompt: Tensor) -> Tensor:
        language = self.table[prompt].unsqueeze(1)
        y = self.first(x).reshape(-1, CHUNK, language.shape[2]) + language
        return self.second(F.relu(y).reshape(-1, language.shape[2]))


class RearrangedEncoder(nn.Module):
    """`joint` projects the frames, which the joiner then need not do one by one."""

    def __init__(self, parts: EncoderParts, joint: nn.Linear):
        super().__init__()
        self.subsampling = nn.Sequential(
            *(
                CausalConvolution(part) if getattr(part, "stride", (1, 1)) != (1, 1) else part
                for part in parts.subsampling
            )
        )
        self.project = Product(parts.project, factor=parts.scale)
        self.layers = nn.ModuleList(Layer(layer) for layer in parts.layers)
        self.width = parts.project.weight.shape[0]
        self.heads, self.size = self.layers[0].attention.heads, self.layers[0].attention.size
        self.memory = self.layers[0].convolution.memory
        self.prompt = None if parts.prompt is None else Prompt(parts.prompt, self.width)
        self.joint = Product(joint)
        self.register_buffer("positions", parts.positions)
        self.register_buffer("slots", torch.arange(LEFT + CHUNK).unsqueeze(0))
        self.register_buffer("mean", parts.mean)
        self.register_buffer("std", parts.std)

    def empty_caches(self, batch: int) -> tuple[Tensor, Tensor, Tensor]:
        layers = len(self.layers)
        return (
            torch.zeros(batch, layers * 2 * self.heads, LEFT, self.size),
            torch.zeros(batch, layers, self.memory, self.width),
            torch.zeros(batch, dtype=torch.int64),
        )

    def forward(self, mel, length, keys_values, conv, cached, prompt=None):
        """mel (B, bins, 121) -> (B, joint, 14), lengths and the three caches"""
        x = mel.transpose(1, 2)
        if self.mean is not None:
            x = (x - self.mean) / self.std
        x = self.subsampling(x.unsqueeze(1))[:, :, DROPPED : DROPPED + CHUNK]
        x = self.project(x.transpose(1, 2).flatten(2).flatten(0, 1))
        there = self.slots >= (LEFT - cached.unsqueeze(1))
        mask = ((~there).to(x.dtype) * MASKED).unsqueeze(1).unsqueeze(1)
        before = keys_values.split(self.heads, 1)
        new_keys_values, new_conv = [], []
        for at, layer in enumerate(self.layers):
            key, value = before[2 * at], before[2 * at + 1]
            x, new, memory = layer(x, key, value, conv[:, at], self.positions, mask)
            new_keys_values.append(new)
            new_conv.append(memory.unsqueeze(1))
        if self.prompt is not None:
            x = self.prompt(x, prompt)
        x = self.joint(x)
        return (
            x.reshape(-1, CHUNK, x.shape[1]).transpose(1, 2),
            torch.div(length - PRE_ENCODE, SUBSAMPLING, rounding_mode="floor"),
            torch.cat([keys_values[:, :, CHUNK:], torch.cat(new_keys_values, 1)], 2),
            torch.cat(new_conv, 1),
            torch.clamp(cached + CHUNK, max=LEFT),
        )


def _bias(part: nn.Module) -> Tensor:
    return torch.zeros(part.weight.shape[0]) if part.bias is None else part.bias.detach()


def constant(values: Tensor) -> nn.Parameter:
    return nn.Parameter(values.detach().contiguous().clone(), requires_grad=False)
