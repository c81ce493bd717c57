"""`svc-models fetch` quantises published float weights with the training environment."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).parents[2]
FETCH_STEP = (
    f"import {{ quantise }} from '{ROOT}/models/cli/src/quantise.ts';"
    "console.log(await quantise(process.argv[1], { isExact: true }));"
)


def write_float_model(path: Path, weights: np.ndarray) -> None:
    frames, logits = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["frames", size])
        for name, size in zip(("frames", "logits"), weights.shape, strict=True)
    )
    product = helper.make_node("MatMul", ["frames", "weights"], ["logits"], "head")
    stored = numpy_helper.from_array(weights, "weights")
    graph = helper.make_graph([product], "head", [frames], [logits], [stored])
    onnx.save(
        helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), path
    )


def logits_of(path: Path, frames: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"frames": frames})[0]


def test_float_weights_become_signed_8_bit_with_nearly_the_same_logits(tmp_path):
    numbers = np.random.default_rng(5)
    path = tmp_path / "model.onnx"
    write_float_model(path, numbers.standard_normal((256, 30), np.float32))
    frames = numbers.standard_normal((40, 256), np.float32)
    before = logits_of(path, frames)

    env = {**os.environ, "NEMO_PYTHON": sys.executable}
    command = ["node", "--input-type=module", "-e", FETCH_STEP, str(path)]
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    assert "Quantised the weights to signed 8-bit ones" in said
    model = onnx.load(path)
    assert "MatMulInteger" in {node.op_type for node in model.graph.node}
    stored = {t.data_type for t in model.graph.initializer if list(t.dims) == [256, 30]}
    assert stored == {TensorProto.INT8}
    error = np.abs(logits_of(path, frames) - before).mean()
    assert error < 0.02 * before.std()
