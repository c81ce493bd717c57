"""Compares NeMo's torch inference with the engine, on checkpoints of the three classes."""

import io
import json
import os
import subprocess
import sys
import tarfile
import wave
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
import yaml

from speech import random_nemo
from speech.features import log_mel
from speech.import_nemo import CHUNK, PRE_ENCODE, CannotServe, import_checkpoint, load
from speech.quantise import convolutions_to_products, quantise

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FIXTURES = [ROOT / f"models/fixtures/{name}.wav" for name in ("kikuyu-3", "dholuo-3")]
TAIL = np.zeros(20_800, np.float32)  # as stream.mjs ends each file
LABELS_PER_FRAME = 10


def samples_of(path: Path) -> np.ndarray:
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768


def engine_hears(folder: Path, language: str) -> list[dict]:
    command = ["node", HERE / "stream.mjs", ROOT / "engine", folder, "--language", language]
    answer = subprocess.run(
        [*map(str, command), *map(str, FIXTURES)], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in answer.stdout.splitlines()[-len(FIXTURES) :]]


@torch.no_grad()
def nemo_hears(model, path: Path) -> tuple[list[int], list[int], list[float]]:
    """Returns tokens, frames and log probabilities from NeMo, one chunk at a time."""
    mel = log_mel(torch.from_numpy(np.concatenate([samples_of(path), TAIL]))[None]).transpose(1, 2)
    caches = model.encoder.get_initial_cache_state(batch_size=1)
    tokens, frames, scores = [], [], []
    state, last, frame = None, None, 0
    for at in range(0, mel.shape[2] - CHUNK - PRE_ENCODE + 1, CHUNK):
        window = mel[:, :, at : at + CHUNK + PRE_ENCODE]
        length = torch.tensor([window.shape[2]])
        encoded, _, *caches = model.encoder.cache_aware_stream_step(
            window, length, *caches, keep_all_outputs=False,
            drop_extra_pre_encoded=model.encoder.streaming_cfg.drop_extra_pre_encoded,
        )  # fmt: skip
        encoded = model._apply_prompt_to_encoded(encoded)
        for t in range(encoded.shape[2]):
            for _ in range(LABELS_PER_FRAME):
                target = None if last is None else torch.tensor([[last]])
                predicted, new_state = model.decoder.predict(target, state, add_sos=False)
                joined = model.joint.joint(encoded[:, :, t : t + 1].transpose(1, 2), predicted)
                chances = joined.flatten().log_softmax(-1)
                best = int(chances.argmax())
                if best == model.decoder.blank_idx:
                    break
                state, last = new_state, best
                tokens.append(best)
                frames.append(frame + t)
                scores.append(float(chances[best]))
        frame += encoded.shape[2]
    return tokens, frames, scores


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    folder, done = tmp_path_factory.mktemp("nemo"), {}

    def once(kind: str):
        if kind not in done:
            checkpoint = random_nemo.build(kind, folder / kind)
            import_checkpoint(checkpoint, folder / kind / "out", int8=False)
            done[kind] = checkpoint, folder / kind / "out"
        return done[kind]

    return once


@pytest.mark.parametrize("kind", random_nemo.CLASSES)
def test_the_engine_writes_the_tokens_that_nemo_writes(imported, kind):
    checkpoint, folder = imported(kind)
    model, _ = load(checkpoint)
    if kind == "prompt":
        model.set_inference_prompt("luo-KE")
    vocabulary = [*model.joint.vocabulary]
    worst, written = 0.0, 0
    for path, heard in zip(FIXTURES, engine_hears(folder, "luo-KE"), strict=True):
        tokens, frames, scores = nemo_hears(model, path)
        spelt = [vocabulary[token].replace("▁", " ") for token in tokens]
        # The engine drops <unk> from the text, but not from the scores.
        assert heard["tokens"] == [token for token in spelt if token != "<unk>"]
        assert len(heard["ys_probs"]) == len(scores)
        worst = max(worst, *np.abs(np.subtract(heard["ys_probs"], scores)))
        if "<unk>" not in spelt:
            np.testing.assert_allclose(heard["timestamps"], np.multiply(frames, 0.08), atol=1e-3)
        written += len(tokens)
    print(f"{kind}: {written} tokens, largest difference of a log probability {worst:.1e}")
    assert written > 20
    assert len(set(tokens)) > 3, "weights that say one thing for ever prove nothing"
    assert worst < 1e-4


def test_the_language_prompt_reaches_the_weights(imported):
    _, folder = imported("prompt")
    said = [[h["tokens"] for h in engine_hears(folder, code)] for code in ("ki-KE", "luo-KE")]
    assert said[0] != said[1]


def test_an_8_bit_encoder_is_smaller_and_loads(imported, tmp_path):
    _, folder = imported("rnnt")
    for path in folder.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    before = (tmp_path / "encoder.onnx").stat().st_size
    quantise(tmp_path / "encoder.onnx")
    assert (tmp_path / "encoder.onnx").stat().st_size < before
    assert b"MatMulInteger" in (tmp_path / "encoder.onnx").read_bytes()
    assert all(heard["tokens"] for heard in engine_hears(tmp_path, ""))


def test_pointwise_convolutions_become_products_that_compute_the_same(imported):
    path = imported("rnnt")[1] / "encoder.onnx"
    before, after = onnx.load(path), onnx.load(path)
    convolutions_to_products(after.graph)
    assert len(after.graph.node) > len(before.graph.node)
    rng, width = np.random.default_rng(1), random_nemo.SIZES["tiny"].width
    given = {
        "audio_signal": rng.standard_normal((1, 80, CHUNK + PRE_ENCODE)),
        "cache_last_channel": rng.standard_normal((1, 2, 56, width)),
        "cache_last_time": rng.standard_normal((1, 2, width, 8)),
    }
    given = {name: value.astype(np.float32) for name, value in given.items()}
    given |= {"length": np.array([CHUNK + PRE_ENCODE]), "cache_last_channel_len": np.array([56])}
    sessions = [onnxruntime.InferenceSession(m.SerializeToString()) for m in (before, after)]
    outputs = [session.run(None, given)[0] for session in sessions]
    np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-4)


def test_svc_models_installs_a_checkpoint_that_the_engine_accepts(imported, tmp_path):
    checkpoint, _ = imported("prompt")
    program = ["node", ROOT / "models/cli/src/main.ts"]
    models = ["--models", tmp_path / "models"]
    (tmp_path / "models").mkdir()
    command = ["import", "nemo", checkpoint, "--name", "tuned-1", "--licence", "CC-BY-4.0"]
    for args in ([*command, "--int8"], ["use", "tuned-1"]):
        subprocess.run(
            list(map(str, [*program, *args, *models])), check=True,
            env={**os.environ, "NEMO_PYTHON": sys.executable},
        )  # fmt: skip
    manifest = json.loads((tmp_path / "models/svc-asr-dholuo-v1.json").read_text())
    assert manifest["language"] == "luo-KE"
    assert manifest["build"] == "tuned-1"


REFUSED = {
    "att_context_size is": ("encoder", "att_context_size", [70, 6]),
    "subsampling_factor is 4": ("encoder", "subsampling_factor", 4),
    "normalize is per_feature": ("preprocessor", "normalize", "per_feature"),
    "n_fft is 1024": ("preprocessor", "n_fft", 1024),
}


def altered(checkpoint: Path, out: Path, place: str, name: str, value) -> Path:
    """Returns the checkpoint with one value of its configuration changed."""
    with tarfile.open(checkpoint) as before, tarfile.open(out, "w") as after:
        for member in before.getmembers():
            content = before.extractfile(member)
            if content is None:
                continue
            if member.name.endswith("model_config.yaml"):
                config = yaml.safe_load(content)
                config[place][name] = value
                content = io.BytesIO(yaml.safe_dump(config).encode())
                member.size = len(content.getvalue())
            after.addfile(member, content)
    return out


@pytest.mark.parametrize("reason", REFUSED)
def test_a_checkpoint_that_cannot_be_served_is_refused_with_the_reason(imported, tmp_path, reason):
    checkpoint = altered(imported("rnnt")[0], tmp_path / "x.nemo", *REFUSED[reason])
    with pytest.raises(CannotServe, match=reason):
        import_checkpoint(checkpoint, tmp_path / "out", int8=False)
    assert not (tmp_path / "out").exists()


def test_a_prompt_model_whose_prompt_was_dropped_is_refused(tmp_path):
    dropped = {"model_defaults__initialize_prompt_feature": False}
    checkpoint = random_nemo.build("prompt", tmp_path, **dropped)
    with pytest.raises(CannotServe, match="its prompt was dropped"):
        import_checkpoint(checkpoint, tmp_path / "out", int8=False)
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path):
    (tmp_path / "x.nemo").write_bytes(b"not a tar file")
    with pytest.raises(CannotServe, match=r"not a \.nemo file"):
        import_checkpoint(tmp_path / "x.nemo", tmp_path / "out", int8=False)
