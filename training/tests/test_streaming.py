"""Tests the ways to stream an offline CTC model: the graph that svc-models makes, against torch."""

import subprocess
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from speech.stand_ins.offline_ctc import export_floats, normalised
from speech.stand_ins.streaming import CHUNK, LEFT, WAYS, stream
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
    """The weights in 32 bits, as `svc-models import ctc` installs them."""
    folder = tmp_path_factory.mktemp("models")
    export_floats(model, folder / "floats.onnx")
    lines = "".join(f"{token} {at}\n" for at, token in enumerate(CTC_TOKENS))
    (folder / "tokens.txt").write_text(lines, encoding="utf-8")
    named = ["--name", "mine", "--licence", "none", "--as-published"]
    command = ["node", ROOT / "core/models/cli/src/main.ts", "import", "ctc"]
    files = [folder / "floats.onnx", "--tokens", folder / "tokens.txt", *named, "--models", folder]
    subprocess.run([*map(str, [*command, *files])], check=True)
    return onnxruntime.InferenceSession(folder / "mine/model.onnx")


def test_the_imported_graph_computes_what_torch_computes(model, imported, samples):
    shown = list(stream(model, samples, WAYS["features"]))
    assert {given.name for given in imported.get_inputs()} == {"x", "cached_features"}
    width = imported.get_inputs()[1].shape[2]
    features, kept = np.zeros((1, 0, width), np.float32), 0
    for way in shown:
        first = max(0, kept - LEFT)
        new = normalised(samples[: way.samples])[features.shape[1] * FRAME :].astype(np.float32)
        given = {"x": new[None], "cached_features": features[:, first:]}
        logits, computed = imported.run(["logits", "computed_features"], given)
        features = np.concatenate([features, computed], 1)
        wanted = torch.cat([way.kept[kept:], way.unstable]).numpy()
        assert np.abs(logits[0, kept - first :] - wanted).max() < 1e-4
        kept = len(way.kept)


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
