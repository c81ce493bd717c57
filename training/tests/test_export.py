import numpy as np
import onnxruntime
import pytest
import torch

from speech.transducer.model import WINDOW, Transducer
from speech.weights.export import export, rearrange
from speech.weights.import_onnx import load_exported

CONFIG = {"width": 48, "layers": 2, "heads": 4, "channels": 16, "predictor": 24, "joint": 24}


def exported(folder, half):
    torch.manual_seed(5)
    model = Transducer(**CONFIG).eval()
    model.encoder.mean.fill_(-7.0)
    for (
        parameter
    ) in model.parameters():  # the exporter keeps equal constants once; trained ones differ
        parameter.data += 0.02 * torch.randn_like(parameter)
    export(
        {"config": model.config, "model": model.state_dict(), "step": 1, "audio_s": 60.0},
        folder,
        half,
    )
    return model


def run(folder, name, *inputs):
    session = onnxruntime.InferenceSession(str(folder / f"{name}.onnx"))
    names = [i.name for i in session.get_inputs()]
    return session.run(None, dict(zip(names, (np.asarray(x) for x in inputs), strict=True)))


def worst_difference(folder, model):
    """Compares torch with ONNX: two chunks through the encoder, a label and the joint."""
    mel, length, prompt = torch.randn(2, 80, WINDOW), torch.full((2,), WINDOW), torch.tensor([0, 1])
    caches = model.encoder.empty_caches(2)
    with torch.no_grad():
        _, _, *ours = model.encoder(mel, length, *caches, prompt)
        encoded = model.encoder(mel + 1, length, *ours, prompt)[0].transpose(1, 2)
        state = torch.randn(1, 2, CONFIG["predictor"])
        target, ones = torch.tensor([[5], [7]], dtype=torch.int32), torch.ones(2).int()
        predicted = model.predictor(target, ones, state, state)
        logits = model.joint(encoded[:, :, :1], predicted[0])
    empty = rearrange(model).encoder.empty_caches(2)
    _, _, *theirs = run(folder, "encoder", mel, length, *empty, prompt)
    heard = run(folder, "encoder", mel + 1, length, *theirs, prompt)[0]
    said = run(folder, "decoder", target, ones, state, state)
    joined = run(folder, "joiner", heard[:, :, :1], said[0])[0]
    pairs = [(said[2], predicted[2]), (said[3], predicted[3]), (joined, logits)]
    return max(float(np.abs(a - b.numpy()).max()) for a, b in pairs)


def test_onnx_runtime_computes_what_torch_computes(tmp_path):
    assert worst_difference(tmp_path, exported(tmp_path, half=False)) < 1e-4


def test_half_precision_storage_changes_little_and_halves_the_file(tmp_path):
    model = exported(tmp_path / "half", half=True)
    exported(tmp_path / "whole", half=False)
    assert worst_difference(tmp_path / "half", model) < 0.02
    sizes = [(tmp_path / kind / "encoder.onnx").stat().st_size for kind in ("half", "whole")]
    assert sizes[0] < 0.75 * sizes[1]


def test_weights_read_back_from_an_export_compute_the_same(tmp_path):
    model = exported(tmp_path, half=False)
    torch.manual_seed(99)
    again = Transducer(**CONFIG).eval()
    assert load_exported(tmp_path, again) == ["ctc.weight", "ctc.bias"]
    for name, value in model.state_dict().items():
        if not name.startswith("ctc."):
            torch.testing.assert_close(again.state_dict()[name], value)


def test_half_precision_weights_read_back_as_the_engine_sees_them(tmp_path):
    exported(tmp_path, half=True)
    again = Transducer(**CONFIG).eval()
    load_exported(tmp_path, again)
    assert worst_difference(tmp_path, again) < 1e-4


def test_an_export_of_another_size_is_refused_by_name(tmp_path):
    exported(tmp_path, half=True)
    with pytest.raises(ValueError, match="same size"):
        load_exported(tmp_path, Transducer())
