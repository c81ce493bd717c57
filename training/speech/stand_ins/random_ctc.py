"""Writes a CTC model with random signed 8-bit weights, to measure what its size costs.

  python -m speech.stand_ins.random_ctc --size 1b --out MODELS/random-1b

Shapes as published for omniASR CTC: a convolutional front end with frames of 20 ms, a transformer,
10,288 labels. Its text is meaningless. Needs onnx and numpy.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

LABELS = 10_288
# Kernel and stride of each convolution: 320 samples a frame.
FRONT_END = [(10, 5), *[(3, 2)] * 4, *[(2, 2)] * 2]
CHANNELS = 512
POSITION_KERNEL, POSITION_GROUPS = 128, 16


@dataclass(frozen=True)
class Size:
    layers: int
    width: int
    heads: int
    inner: int


SIZES = {
    "tiny": Size(2, 64, 4, 128),
    "300m": Size(24, 1024, 16, 4096),
    "1b": Size(48, 1280, 16, 5120),
}


class Graph:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.parameters = 0
        self._rng = np.random.default_rng(1)
        self._names = 0

    def name(self) -> str:
        self._names += 1
        return f"t{self._names}"

    def node(self, op: str, inputs: list[str], outputs: int = 1, **fields: object) -> str:
        return self.nodes_of(op, inputs, outputs, **fields)[0]

    def nodes_of(self, op: str, inputs: list[str], outputs: int, **fields: object) -> list[str]:
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **fields))
        return names

    def constant(self, value: np.ndarray) -> str:
        name = self.name()
        self.weights.append(onnx.numpy_helper.from_array(value, name))
        return name

    def floats(self, *shape: int) -> str:
        self.parameters += int(np.prod(shape))
        scale = 1 / np.sqrt(np.prod(shape[1:])) if len(shape) > 1 else 0.01
        return self.constant(self._rng.standard_normal(shape, np.float32) * np.float32(scale))

    def norm(self, x: str, width: int) -> str:
        scale = self.constant(np.ones(width, np.float32))
        return self.node("LayerNormalization", [x, scale, self.floats(width)], axis=-1)

    def gelu(self, x: str) -> str:
        erf = self.node("Erf", [self.node("Mul", [x, self.constant(np.float32(2**-0.5))])])
        one = self.node("Add", [erf, self.constant(np.float32(1))])
        return self.node("Mul", [self.node("Mul", [x, one]), self.constant(np.float32(0.5))])

    def linear(self, x: str, wide: int, out: int) -> str:
        """A product with signed 8-bit weights, as ONNX Runtime's dynamic quantisation writes it."""
        self.parameters += wide * out
        values = self._rng.integers(-127, 128, (wide, out), np.int8)
        weight, zero = self.constant(values), self.constant(np.int8(0))
        q, scale, point = self.nodes_of("DynamicQuantizeLinear", [x], 3)
        product = self.node("MatMulInteger", [q, weight, point, zero])
        factor = self.node("Mul", [scale, self.constant(np.float32(1 / (73 * np.sqrt(wide))))])
        real = self.node("Mul", [self.node("Cast", [product], to=TensorProto.FLOAT), factor])
        return self.node("Add", [real, self.floats(out)])


def front_end(g: Graph, x: str, width: int) -> str:
    x = g.node("Unsqueeze", [x, g.constant(np.array([1]))])
    channels = 1
    for kernel, stride in FRONT_END:
        weight = g.floats(CHANNELS, channels, kernel)
        x = g.node("Conv", [x, weight], kernel_shape=[kernel], strides=[stride])
        x = g.node("Transpose", [x], perm=[0, 2, 1])
        x = g.gelu(g.norm(x, CHANNELS))
        x = g.node("Transpose", [x], perm=[0, 2, 1])
        channels = CHANNELS
    x = g.norm(g.node("Transpose", [x], perm=[0, 2, 1]), CHANNELS)
    return g.linear(x, CHANNELS, width)


def positions(g: Graph, x: str, width: int) -> str:
    weight = g.floats(width, width // POSITION_GROUPS, POSITION_KERNEL)
    half = POSITION_KERNEL // 2
    turned = g.node("Transpose", [x], perm=[0, 2, 1])
    y = g.node(
        "Conv", [turned, weight], kernel_shape=[POSITION_KERNEL], group=POSITION_GROUPS,
        pads=[half, half - 1],
    )  # fmt: skip
    return g.node("Add", [x, g.gelu(g.node("Transpose", [y], perm=[0, 2, 1]))])


def layer(g: Graph, x: str, size: Size) -> str:
    width, heads = size.width, size.heads
    split = g.constant(np.array([0, 0, heads, width // heads]))
    join = g.constant(np.array([0, 0, width]))
    y = g.norm(x, width)

    def head(perm: list[int]) -> str:
        split_up = g.node("Reshape", [g.linear(y, width, width), split])
        return g.node("Transpose", [split_up], perm=perm)

    query, key, value = head([0, 2, 1, 3]), head([0, 2, 3, 1]), head([0, 2, 1, 3])
    scores = g.node("MatMul", [query, key])
    scale = g.constant(np.float32((width // heads) ** -0.5))
    weights = g.node("Softmax", [g.node("Mul", [scores, scale])], axis=-1)
    mixed = g.node("Transpose", [g.node("MatMul", [weights, value])], perm=[0, 2, 1, 3])
    x = g.node("Add", [x, g.linear(g.node("Reshape", [mixed, join]), width, width)])
    inner = g.gelu(g.linear(g.norm(x, width), width, size.inner))
    return g.node("Add", [x, g.linear(inner, size.inner, width)])


def build(size: Size) -> tuple[onnx.ModelProto, int]:
    g = Graph()
    x = positions(g, front_end(g, "x", size.width), size.width)
    for _ in range(size.layers):
        x = layer(g, x, size)
    logits = g.linear(g.norm(x, size.width), size.width, LABELS)
    g.nodes.append(helper.make_node("Identity", [logits], ["logits"]))
    graph = helper.make_graph(
        g.nodes,
        "random",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", "samples"])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", "T", LABELS])],
        g.weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model, g.parameters


def write(size: str, out: Path) -> int:
    """Writes weights, labels and the description that `svc-models use` reads."""
    model, parameters = build(SIZES[size])
    out.mkdir(parents=True, exist_ok=True)
    onnx.save(model, out / "model.onnx")
    letters = [" ", "'", *"abcdefghijklmnopqrstuvwxyzĩũ"]
    tokens = ["<blk>", *letters, *["<unused>"] * (LABELS - 1 - len(letters))]
    lines = "".join(f"{token} {at}\n" for at, token in enumerate(tokens))
    (out / "tokens.txt").write_text(lines, encoding="utf-8")
    languages = {"svc-asr-kikuyu-v1": "ki-KE", "svc-asr-dholuo-v1": "luo-KE"}
    description = {
        "build": f"random-ctc-{size}", "kind": "offline_ctc", "licence": "none", "source": "random",
        "normaliser": "none", "extra_lead_in_ms": 0, "languages": languages,
        "files": {"model": "model.onnx", "tokens": "tokens.txt"},
    }  # fmt: skip
    (out / "model.json").write_text(json.dumps(description, indent=2), encoding="utf-8")
    return parameters


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", choices=list(SIZES), required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    print(f"{write(options.size, options.out):,} parameters in {options.out}")


if __name__ == "__main__":
    main()
