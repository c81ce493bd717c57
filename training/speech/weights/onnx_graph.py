"""Changes to exported ONNX graphs that change no result."""

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

FOLDED = {"MatMul": np.matmul, "Add": np.add, "Cast": lambda values: values.astype(np.float32)}


def fold_constants(graph: onnx.GraphProto) -> None:
    """Stores sums and products of constants instead of their parts, and fp16 constants as fp32.

    ONNX Runtime would do it while loading, but then projected positions and embeddings take more
    space in the file, and weights in half precision can't be quantised.
    """
    values = {tensor.name: tensor for tensor in graph.initializer}
    nodes = []
    for node in graph.node:
        given = [values.get(name) for name in node.input]
        if node.op_type not in FOLDED or None in given or not _is_float(node):
            nodes.append(node)
            continue
        result = FOLDED[node.op_type](*map(numpy_helper.to_array, given))
        folded = numpy_helper.from_array(result, node.output[0])
        values[folded.name] = folded
        graph.initializer.append(folded)
    replace_nodes(graph, nodes)


def _is_float(node: onnx.NodeProto) -> bool:
    return node.op_type != "Cast" or node.attribute[0].i == TensorProto.FLOAT


def drop_unused_outputs(graph: onnx.GraphProto) -> None:
    """The engine's SkipLayerNormalization never makes its second and third output."""
    used = {name for node in graph.node for name in node.input}
    for node in graph.node:
        if node.op_type == "SkipLayerNormalization":
            kept = [name if name in used else "" for name in node.output]
            del node.output[:]
            node.output.extend(kept)


def replace_nodes(graph: onnx.GraphProto, nodes: list[onnx.NodeProto]) -> None:
    """Replaces the nodes and drops the constants that no node uses any longer."""
    del graph.node[:]
    graph.node.extend(nodes)
    used = {name for node in graph.node for name in node.input}
    used |= {output.name for output in graph.output}
    kept = [tensor for tensor in graph.initializer if tensor.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)
