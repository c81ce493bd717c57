"""Tests the ways to stream an offline CTC model: the graph that svc-models makes, against torch."""

import re
import subprocess
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn

from speech.stand_ins.offline_ctc import export_floats, normalised
from speech.stand_ins.streaming import BEFORE, CHUNK, LEFT, WAYS, compared, in_8_bits, stream
from speech.stand_ins.waveform_ctc import FRAME, WaveformCtc
from speech.text.vocabulary import CTC_TOKENS

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 9


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(3)
    return WaveformCtc(width=32, layers=3, heads=2).eval()


@pytest.fixture(scope="module")
def samples():
    rng = np.random.default_rng(4)
    loudness = 0.1 + np.abs(np.sin(np.arange(SECONDS * 16_000) / 5000))
    return (loudness * rng.standard_normal(len(loudness))).astype(np.float32)


@pytest.fixture(scope="module")
def imported(model, tmp_path_factory):
    """The weights in 32 bits, as `svc-models import ctc` installs them with these options."""
    folder = tmp_path_factory.mktemp("models")
    export_floats(model, folder / "floats.onnx")
    lines = "".join(f"{token} {at}\n" for at, token in enumerate(CTC_TOKENS))
    (folder / "tokens.txt").write_text(lines, encoding="utf-8")

    def install(*options):
        named = ["--name", "mine", "--licence", "none", "--as-published", *options]
        command = ["node", ROOT / "core/models/cli/src/main.ts", "import", "ctc"]
        files = [folder / "floats.onnx", "--tokens", folder / "tokens.txt"]
        subprocess.run([*map(str, [*command, *files, *named, "--models", folder])], check=True)
        return onnxruntime.InferenceSession(folder / "mine/model.onnx")

    return install


def given_to(samples, shown, features, from_frame):
    """The audio and features of a step, with running normalisation."""
    new = normalised(samples[: shown.samples])[features.shape[1] * FRAME :].astype(np.float32)
    return {"x": new[None], "cached_features": features[:, from_frame:]}


def test_the_imported_graph_computes_what_torch_computes(model, imported, samples):
    graph = imported()
    assert {given.name for given in graph.get_inputs()} == {"x", "cached_features"}
    features, kept = np.zeros((1, 0, graph.get_inputs()[1].shape[2]), np.float32), 0
    for shown in stream(model, samples, WAYS["features"]):
        first = max(0, kept - LEFT)
        given = given_to(samples, shown, features, first)
        logits, computed = graph.run(["logits", "computed_features"], given)
        features = np.concatenate([features, computed], 1)
        wanted = torch.cat([shown.kept[kept:], shown.unstable]).numpy()
        assert np.abs(logits[0, kept - first :] - wanted).max() < 1e-4
        kept = len(shown.kept)


@pytest.mark.parametrize("way", ["keys, right 1.12 s", "keys, right 0.56 s"])
def test_the_streamed_graph_computes_what_torch_computes(model, imported, samples, way):
    graph = imported("--streamed")
    shapes = {given.name: given.shape for given in graph.get_inputs()}
    caches = {
        name: np.zeros([0 if isinstance(size, str) else size for size in shape], np.float32)
        for name, shape in shapes.items()
        if name.startswith("cached_attention_")
    }
    assert len(caches) == 2 * len(model.layers)
    outputs = [name.replace("cached", "kept") for name in caches]
    features, kept = np.zeros((1, 0, shapes["cached_features"][2]), np.float32), 0
    for shown in stream(model, samples, WAYS[way]):
        first, count = max(0, kept - BEFORE), min(kept, LEFT) + len(shown.kept) - kept
        frames = {"context_frames": kept - first, "kept_to": count}
        frames["kept_from"] = max(0, count - LEFT)
        given = given_to(samples, shown, features, first) | caches
        given |= {name: np.array([number]) for name, number in frames.items()}
        logits, computed, *keys = graph.run(["logits", "computed_features", *outputs], given)
        caches = dict(zip(caches, keys, strict=True))
        features = np.concatenate([features, computed], 1)
        wanted = torch.cat([shown.kept[kept:], shown.unstable]).numpy()
        assert np.abs(logits[0] - wanted).max() < 1e-4
        kept = len(shown.kept)


def test_8_bits_are_rounded_as_onnx_runtime_does(tmp_path):
    torch.manual_seed(5)
    layer, x = nn.Linear(32, 16), torch.randn(1, 5, 32)
    floats, quantised = tmp_path / "floats.onnx", tmp_path / "quantised.onnx"
    torch.onnx.export(layer, (x,), str(floats), input_names=["x"], dynamo=False)
    quantize_dynamic(floats, quantised, weight_type=QuantType.QInt8)
    (wanted,) = onnxruntime.InferenceSession(quantised).run(None, {"x": x.numpy()})
    before = np.abs(layer(x).detach().numpy() - wanted).max()
    in_8_bits(layer)
    assert np.abs(layer(x).detach().numpy() - wanted).max() < 1e-5 < before


def test_keys_of_all_frames_before_give_the_scores_of_the_whole(model, samples):
    """Attention sees every frame, so keys of 2 s are enough where there is no more audio."""
    x = torch.from_numpy(samples[: 3 * CHUNK * FRAME])[None]
    with torch.no_grad():
        features = model.front_end(x)
        whole, keys = model.contextual(features)
        again, _ = model.contextual(
            features, CHUNK, [(k[:, :CHUNK], v[:, :CHUNK]) for k, v in keys]
        )
    assert (again - whole[:, CHUNK:]).abs().max() < 1e-4


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_frames_that_are_kept_never_change(model, samples, way):
    before = torch.empty(0, len(CTC_TOKENS))
    for shown in stream(model, samples, way):
        assert torch.equal(shown.kept[: len(before)], before)
        assert len(shown.unstable) <= way.right
        before = shown.kept
    assert len(before) == (len(samples) - 400) // FRAME + 1


def test_the_difference_of_two_ways_has_the_interval_of_a_paired_bootstrap():
    windows = np.array([[at % 8, 10] for at in range(400)])
    more = windows + [[1, 0], [0, 0]] * 200
    assert compared(windows, windows) == "+0.00 (+0.00 to +0.00)"
    assert re.fullmatch(r"\+5.00 \(\+4.[45]\d to \+5.[45]\d\)", compared(more, windows))
