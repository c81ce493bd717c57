import json

import onnx

from speech.stand_ins.random_ctc import LABELS, SIZES, build, write


def test_writes_a_model_that_svc_models_can_use(tmp_path):
    parameters = write("tiny", tmp_path)
    onnx.checker.check_model(str(tmp_path / "model.onnx"))
    assert parameters > 1_000_000
    lines = (tmp_path / "tokens.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == LABELS
    assert lines[0] == "<blk> 0"
    assert json.loads((tmp_path / "model.json").read_text())["kind"] == "offline_ctc"


def test_weights_are_signed_8_bit():
    model, _ = build(SIZES["tiny"])
    kinds = {node.op_type for node in model.graph.node}
    assert "MatMulInteger" in kinds
    weights = [t for t in model.graph.initializer if len(t.dims) == 2]
    assert {t.data_type for t in weights} == {onnx.TensorProto.INT8}
