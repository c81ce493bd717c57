"""8-bit weights, as `svc-models fetch` and the import of NeMo checkpoints make them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from speech.weights.quantise import quantise_file
from speech.weights.quantise_frames import quantise_frames, to_signed

ROOT = Path(__file__).parents[2]
FETCH_STEP = (
    f"import {{ quantise }} from '{ROOT}/core/models/cli/src/quantise.ts';"
    "console.log(await quantise(process.argv[1], { isExact: false }));"
)


def write_float_model(path: Path, weights: np.ndarray, opset: int = 17) -> None:
    frames, logits = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["frames", size])
        for name, size in zip(("frames", "logits"), weights.shape, strict=True)
    )
    product = helper.make_node("MatMul", ["frames", "weights"], ["logits"], "head")
    stored = numpy_helper.from_array(weights, "weights")
    graph = helper.make_graph([product], "head", [frames], [logits], [stored])
    onnx.save(
        helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", opset)]), path
    )


def logits_of(path: Path, frames: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"frames": frames})[0]


def test_fetch_makes_8_bit_weights_with_nearly_the_same_logits(tmp_path):
    numbers = np.random.default_rng(5)
    path = tmp_path / "model.onnx"
    write_float_model(path, numbers.standard_normal((256, 30), np.float32))
    frames = numbers.standard_normal((40, 256), np.float32)
    before = logits_of(path, frames)

    env = {**os.environ, "NEMO_PYTHON": sys.executable}
    command = ["node", "--input-type=module", "-e", FETCH_STEP, str(path)]
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout

    assert "Quantised the weights to signed 8-bit ones" in said
    stored = {t.data_type for t in onnx.load(path).graph.initializer if list(t.dims) == [256, 30]}
    assert stored == {TensorProto.INT8}
    error = np.abs(logits_of(path, frames) - before).mean()
    assert error < 0.02 * before.std()


@pytest.mark.parametrize("opset", [11, 17, 18])
def test_no_pair_of_8_bit_weights_is_large_enough_to_be_clipped(tmp_path, opset):
    """x86 CPUs without VNNI and AMX clip 255 * (a + b) at 2 ** 15."""
    matrix = np.random.default_rng(7).standard_normal((256, 30), np.float32)
    path = tmp_path / "model.onnx"
    write_float_model(path, matrix, opset)
    quantise_file(path)
    (stored,) = (
        numpy_helper.to_array(tensor).astype(int)
        for tensor in onnx.load(path).graph.initializer
        if list(tensor.dims) == [256, 30]
    )
    assert 255 * (np.abs(stored[0::2]) + np.abs(stored[1::2])).max() < 2**15
    frames = np.sign(matrix.T)
    np.testing.assert_allclose(logits_of(path, frames), frames @ matrix, atol=2)


@pytest.mark.parametrize("inputs", [255, 256])
@pytest.mark.parametrize("rows", [1, 14, 112])
def test_products_with_one_scale_per_frame_are_exact_on_this_cpu(tmp_path, rows, inputs):
    """The largest activations, with the signs of a column: its sums overflow first."""
    matrix = np.random.default_rng(6).standard_normal((inputs, 112), np.float32)
    frames = np.sign(matrix.T[:rows])
    path = tmp_path / "model.onnx"
    write_float_model(path, matrix)
    model = onnx.load(path)
    quantise_frames(model)
    onnx.save(model, path)
    weights, scales = to_signed(matrix)
    exact = frames.astype(np.int64) @ weights.astype(np.int64) * scales
    np.testing.assert_allclose(logits_of(path, frames), exact, rtol=1e-5, atol=1e-4)
