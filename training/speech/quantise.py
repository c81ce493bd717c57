"""Signed 8-bit weights. Only signed weights use the fast matrix instructions of x86 (AMX, VNNI).

Activations are quantised at run time with one scale per call, so the engine never batches such
weights. Otherwise one caller's audio could change another's transcript.

  python -m speech.quantise MODEL.onnx    # rewrites the file; `svc-models fetch` does it
"""

import sys
from pathlib import Path

import onnx
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic


def quantise(path: Path) -> None:
    """Rewrites the file with signed 8-bit weights in its matrix products."""
    target = path.with_suffix(".int8.onnx")
    model = onnx.load(path)
    convolutions_to_products(model.graph)
    onnx.save(model, path)
    quantize_dynamic(path, target, op_types_to_quantize=["MatMul"], weight_type=QuantType.QInt8)
    target.replace(path)


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
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in graph.node for name in node.input}
    kept = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)


def _groups(node: onnx.NodeProto) -> int:
    return next((attribute.i for attribute in node.attribute if attribute.name == "group"), 1)


if __name__ == "__main__":
    quantise(Path(sys.argv[1]))
