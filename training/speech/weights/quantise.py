"""Signed 8-bit weights for graphs that were not rearranged.

python -m speech.weights.quantise MODEL.onnx    # rewrites the file; `svc-models fetch` does it
"""

import sys
from pathlib import Path

import onnx
from onnx import helper, numpy_helper, version_converter

from .onnx_graph import fold_constants, replace_nodes
from .quantise_frames import OLDEST_OPSET, frames_to_rows, opset_of, quantise_frames


def quantise_file(path: Path) -> None:
    """Rewrites the file with signed 8-bit weights in its matrix products."""
    model = onnx.load(path)
    if opset_of(model) < OLDEST_OPSET:
        model = version_converter.convert_version(model, OLDEST_OPSET)
    fold_constants(model.graph)
    quantise(model)
    onnx.save(model, path)


def quantise(model: onnx.ModelProto) -> None:
    """Makes every product of frames with a constant matrix one of 8-bit weights."""
    convolutions_to_products(model.graph)
    frames_to_rows(model.graph)
    quantise_frames(model)


def convolutions_to_products(graph: onnx.GraphProto) -> None:
    """Replaces convolutions over one frame by matrix products, which can be quantised.

    In a Conformer these are 3 of every 11 weights. As convolutions they would stay in fp32.
    """
    weights = {tensor.name: tensor for tensor in graph.initializer}
    nodes = []
    for node in graph.node:
        weight = weights.get(node.input[1]) if node.op_type == "Conv" else None
        if weight is None or list(weight.dims[2:]) != [1] or _groups(node) != 1:
            nodes.append(node)
            continue
        name = node.name or node.output[0]
        matrix = numpy_helper.to_array(weight)[:, :, 0].T.copy()
        graph.initializer.append(numpy_helper.from_array(matrix, f"{name}.matrix"))
        frames, product, last = f"{name}.frames", f"{name}.product", f"{name}.product"
        nodes += [
            helper.make_node("Transpose", [node.input[0]], [frames], f"{name}.in", perm=[0, 2, 1]),
            helper.make_node("MatMul", [frames, f"{name}.matrix"], [product], f"{name}.matmul"),
        ]
        if len(node.input) > 2:
            last = f"{name}.sum"
            nodes.append(helper.make_node("Add", [product, node.input[2]], [last], f"{name}.add"))
        nodes.append(
            helper.make_node("Transpose", [last], [node.output[0]], f"{name}.out", perm=[0, 2, 1])
        )
    replace_nodes(graph, nodes)


def _groups(node: onnx.NodeProto) -> int:
    return next((attribute.i for attribute in node.attribute if attribute.name == "group"), 1)


if __name__ == "__main__":
    quantise_file(Path(sys.argv[1]))
