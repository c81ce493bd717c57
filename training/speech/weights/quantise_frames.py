"""Signed 8-bit weights with one activation scale per frame.

Each row of a product has its own scale, so a frame's result doesn't depend on other frames, and one
caller's audio can't change another's words: such weights can be batched. Only signed weights use
the fast matrix instructions of x86 (AMX, VNNI).

ONNX Runtime has no such operator. QuantizeLinear over the rows and MatMulIntegerToFloat compute it.

x86 CPUs without VNNI and AMX add pairs of products in 16 bits and clip larger sums. So the scale of
a column keeps every pair of its weights small enough, and these products are exact on every CPU.

  python -m speech.weights.quantise_frames ../models/demo DIR    # the demo model in 8 bits
"""

import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .onnx_graph import fold_constants, replace_nodes

MICROSOFT = "com.microsoft"
LARGEST = 127.0  # of an activation, and of a pair of weights: 255 * (127 + 1 by rounding) < 2 ** 15
MIDDLE = 128  # zero point of the activations, which are unsigned
SMALLEST_SCALE = 1e-10  # a row of zeros stays zero
OLDEST_OPSET = 13  # whose QuantizeLinear takes a scale per row
AXES_ARE_INPUTS = 18  # of ReduceMax, since this opset


def quantise_frames(model: onnx.ModelProto) -> None:
    """Replaces every product of frames and a constant matrix. Frames must be rows of a matrix."""
    graph = model.graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    _add(graph, "q.one", np.float32(1))
    _add(graph, "q.step", np.float32(1 / LARGEST))
    _add(graph, "q.smallest", np.float32(SMALLEST_SCALE))
    _add(graph, "q.middle", np.uint8(MIDDLE))
    _add(graph, "q.last", np.array([-1], np.int64))
    nodes, quantised = [], set()
    opset = opset_of(model)
    for node in graph.node:
        weight = weights.get(node.input[1]) if node.op_type == "MatMul" else None
        if weight is None or len(weight.dims) != 2 or node.input[0] in weights:
            nodes.append(node)
            continue
        rows, (result,) = node.input[0], node.output
        if rows not in quantised:
            nodes += _quantise_rows(rows, opset)
            quantised.add(rows)
        signed, scales = to_signed(numpy_helper.to_array(weight))
        _add(graph, f"{result}.q", signed)
        _add(graph, f"{result}.scales", scales)
        product = [f"{rows}.q", f"{result}.q", "q.one", f"{result}.scales", "q.middle"]
        nodes += [
            helper.make_node(
                "MatMulIntegerToFloat",
                product,
                [f"{result}.raw"],
                f"{result}.product",
                domain=MICROSOFT,
            ),
            helper.make_node("Mul", [f"{result}.raw", f"{rows}.scale"], [result], f"{result}.mul"),
        ]
    replace_nodes(graph, nodes)
    if all(opset.domain != MICROSOFT for opset in model.opset_import):
        model.opset_import.append(helper.make_opsetid(MICROSOFT, 1))


def opset_of(model: onnx.ModelProto) -> int:
    return next(opset.version for opset in model.opset_import if opset.domain in {"", "ai.onnx"})


def to_signed(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the matrix in 8 bits and one scale per column."""
    sizes = np.abs(np.pad(matrix, ((0, len(matrix) % 2), (0, 0))))
    pairs = sizes[0::2] + sizes[1::2]
    scales = np.maximum(pairs.max(0), 1e-12) / LARGEST
    return np.round(matrix / scales).astype(np.int8), scales.astype(np.float32)


def _quantise_rows(rows: str, opset: int) -> list[onnx.NodeProto]:
    def step(kind: str, inputs: list[str], name: str, **attributes) -> onnx.NodeProto:
        return helper.make_node(
            kind, inputs, [f"{rows}.{name}"], f"{rows}.{name}.node", **attributes
        )

    if opset < AXES_ARE_INPUTS:
        largest = step("ReduceMax", [f"{rows}.abs"], "max", axes=[-1], keepdims=1)
    else:
        largest = step("ReduceMax", [f"{rows}.abs", "q.last"], "max", keepdims=1)
    return [
        step("Abs", [rows], "abs"),
        largest,
        step("Mul", [f"{rows}.max", "q.step"], "ratio"),
        step("Add", [f"{rows}.ratio", "q.smallest"], "scale"),
        step("Squeeze", [f"{rows}.scale", "q.last"], "flat"),
        step("Shape", [f"{rows}.flat"], "count"),
        step("Expand", ["q.middle", f"{rows}.count"], "zero"),
        step("QuantizeLinear", [rows, f"{rows}.flat", f"{rows}.zero"], "q", axis=0),
    ]


def frames_to_rows(graph: onnx.GraphProto) -> None:
    """Turns the frames of every product with a constant matrix into rows of a matrix, and back."""
    weights = {tensor.name: tensor for tensor in graph.initializer}
    _add(graph, "r.zero", np.array([0], np.int64))
    _add(graph, "r.last", np.array([-1], np.int64))
    nodes = []
    for node in graph.node:
        weight = weights.get(node.input[1]) if node.op_type == "MatMul" else None
        if weight is None or len(weight.dims) != 2:
            nodes.append(node)
            continue
        (frames, _), (result,) = node.input, node.output
        inputs, outputs = weight.dims
        _add(graph, f"{result}.rows.shape", np.array([-1, inputs], np.int64))
        _add(graph, f"{result}.width", np.array([outputs], np.int64))

        def step(kind: str, given: list[str], name: str, **attributes) -> onnx.NodeProto:
            made = [f"{result}.{name}" if name else result]  # noqa: B023
            return helper.make_node(kind, given, made, f"{made[0]}.step", **attributes)

        nodes += [
            step("Reshape", [frames, f"{result}.rows.shape"], "rows"),
            step("MatMul", [f"{result}.rows", node.input[1]], "flat"),
            step("Shape", [frames], "shape"),
            step("Slice", [f"{result}.shape", "r.zero", "r.last"], "outer"),
            step("Concat", [f"{result}.outer", f"{result}.width"], "full", axis=0),
            step("Reshape", [f"{result}.flat", f"{result}.full"], ""),
        ]
    replace_nodes(graph, nodes)


def _add(graph: onnx.GraphProto, name: str, values: np.ndarray) -> None:
    graph.initializer.append(numpy_helper.from_array(np.asarray(values), name))


def quantise_export(source: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for name in ("encoder.onnx", "decoder.onnx", "joiner.onnx"):
        model = onnx.load(source / name)
        fold_constants(model.graph)
        quantise_frames(model)
        onnx.save(model, out / name)
    shutil.copy(source / "tokens.txt", out)


if __name__ == "__main__":
    quantise_export(Path(sys.argv[1]), Path(sys.argv[2]))
