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
from encoding import encode, speech_like

from speech.data.features import log_mel
from speech.nemo import import_nemo, random_nemo
from speech.nemo.import_nemo import CHUNK, PRE_ENCODE, CannotServe, import_checkpoint, load
from speech.weights.graphs import export_graphs
from speech.weights.quantise import convolutions_to_products

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FIXTURES = [ROOT / f"core/models/fixtures/{name}.wav" for name in ("kikuyu-3", "dholuo-3")]
TAIL = np.zeros(20_800, np.float32)  # as stream.mjs ends each file
LABELS_PER_FRAME = 10


def samples_of(path: Path) -> np.ndarray:
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768


def engine_hears(folder: Path, language: str) -> list[dict]:
    command = ["node", HERE / "stream.mjs", ROOT / "core/engine", folder, "--language", language]
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


FALLBACK = "batch_norm"  # an encoder that cannot be rearranged
# Such as "114m 0.6b": too slow for every run of the tests.
LARGER = os.environ.get("IMPORT_SIZES", "").split()
PARITY = [("tiny", kind) for kind in (*random_nemo.CLASSES, FALLBACK)]
PARITY += [(size, kind) for size in LARGER for kind in random_nemo.CLASSES]


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    folder, done = tmp_path_factory.mktemp("nemo"), {}

    def once(kind: str, int8: bool = False):
        if (kind, int8) not in done:
            checkpoint = done[kind, not int8][0] if (kind, not int8) in done else built(kind)
            out = folder / kind / ("int8" if int8 else "fp32")
            done[kind, int8] = checkpoint, out, import_checkpoint(checkpoint, out, int8)
        return done[kind, int8]

    def built(kind: str) -> Path:
        if kind != FALLBACK:
            return random_nemo.build(kind, folder / kind)
        return random_nemo.build("rnnt", folder / kind, encoder__conv_norm_type="batch_norm")

    return once


@pytest.mark.parametrize(("size", "kind"), PARITY)
def test_the_engine_writes_the_tokens_that_nemo_writes(imported, tmp_path, size, kind):
    if size == "tiny":
        checkpoint, folder, result = imported(kind)
    else:
        checkpoint, folder = random_nemo.build(kind, tmp_path, size), tmp_path / "fp32"
        result = import_checkpoint(checkpoint, folder, int8=False)
    assert (result.notice is not None) == (kind == FALLBACK)
    assert result.difference < 1e-4, "what the import says of its own parity"
    model, _ = load(checkpoint)
    if kind == "prompt":
        model.set_inference_prompt("luo-KE")
    vocabulary = [*model.joint.vocabulary]
    worst, written = 0.0, []
    for path, heard in zip(FIXTURES, engine_hears(folder, "luo-KE"), strict=True):
        tokens, frames, scores = nemo_hears(model, path)
        spelt = [vocabulary[token].replace("▁", " ") for token in tokens]
        # The engine drops <unk> from the text, but not from the scores.
        assert heard["tokens"] == [token for token in spelt if token != "<unk>"]
        assert len(heard["ys_probs"]) == len(scores)
        worst = max(worst, *np.abs(np.subtract(heard["ys_probs"], scores)))
        if "<unk>" not in spelt:
            np.testing.assert_allclose(heard["timestamps"], np.multiply(frames, 0.08), atol=1e-3)
        written += tokens
    print(
        f"{size} {kind}: {len(written)} tokens, {len(set(written))} different ones, "
        f"largest difference of a log probability {worst:.1e}"
    )
    assert len(written) > 20
    assert len(set(written)) > 3, "weights that say one thing for ever prove nothing"
    assert worst < 1e-4


@pytest.mark.parametrize("external_bytes", [10**9, 1000])
def test_graphs_over_2_gb_keep_their_weights(imported, tmp_path, monkeypatch, external_bytes):
    def export_in_pieces(graphs, out):
        export_graphs(graphs, out)
        for path in out.glob("*.onnx"):
            onnx.save(
                onnx.load(path), path, save_as_external_data=True, size_threshold=0,
                all_tensors_to_one_file=False,
            )  # fmt: skip

    checkpoint, whole, _ = imported("rnnt")
    monkeypatch.setattr(import_nemo, "export_graphs", export_in_pieces)
    monkeypatch.setattr(import_nemo, "EXTERNAL_BYTES", external_bytes)
    import_checkpoint(checkpoint, tmp_path / "pieces", int8=False)
    assert engine_hears(tmp_path / "pieces", "") == engine_hears(whole, "")
    beside = {path.name for path in (tmp_path / "pieces").iterdir()} - {
        path.name for path in whole.iterdir()
    }
    names = ("decoder", "encoder", "joiner") if external_bytes == 1000 else ()
    assert beside == {f"{name}.data" for name in names}


def test_an_encoder_that_cannot_be_rearranged_says_why(imported):
    notice = imported(FALLBACK)[2].notice
    assert notice.startswith("The encoder keeps NeMo's own graph, because its convolutions have ")


def test_the_language_prompt_reaches_the_weights(imported):
    folder = imported("prompt")[1]
    said = [[h["tokens"] for h in engine_hears(folder, code)] for code in ("ki-KE", "luo-KE")]
    assert said[0] != said[1]


def test_pointwise_convolutions_become_products_that_compute_the_same(imported):
    path = imported(FALLBACK)[1] / "encoder.onnx"
    before, after = onnx.load(path), onnx.load(path)
    convolutions_to_products(after.graph)
    assert len(after.graph.node) > len(before.graph.node)
    outputs = [encode(model, [speech_like(0)])[0] for model in (before, after)]
    np.testing.assert_allclose(outputs[0], outputs[1], atol=1e-4)


@pytest.mark.parametrize("kind", ["prompt", FALLBACK])
def test_8_bit_frames_are_nearly_the_same_and_never_depend_on_other_streams(imported, kind):
    whole, small = (onnx.load(imported(kind, int8)[1] / "encoder.onnx") for int8 in (False, True))
    assert "MatMulIntegerToFloat" in {node.op_type for node in small.graph.node}
    mine = speech_like(1)
    alone, exact = encode(small, [mine])[0], encode(whole, [mine])[0]
    assert np.abs(alone - exact).mean() < 0.02 * np.abs(exact).mean()
    for beside in (1, 3, 7):
        others = [speech_like(9 + at, loudness=(0, 30)[at % 2]) for at in range(beside)]
        beside_loud = encode(small, [mine, *others])[0]
        assert np.array_equal(alone, beside_loud), f"beside {beside} loud streams"


@pytest.mark.parametrize("int8", [False, True])
def test_a_decoder_takes_any_batch(imported, int8):
    folder, rng = imported("rnnt", int8)[1], np.random.default_rng(4)
    decoder, joiner = (
        onnxruntime.InferenceSession(folder / f"{name}.onnx") for name in ("decoder", "joiner")
    )
    size = random_nemo.SIZES["tiny"].predictor
    states = rng.standard_normal((2, 1, 3, size)).astype(np.float32)
    targets = np.array([[3], [5], [8]], np.int32)

    def scores(rows: slice) -> list[np.ndarray]:
        hidden, cell = states[:, :, rows]
        given = {"targets": targets[rows], "h": hidden, "c": cell}
        lengths = {"target_length": np.ones(len(targets[rows]), np.int32)}
        known = [name.name for name in decoder.get_inputs()]
        said, *rest = decoder.run(None, {k: v for k, v in (given | lengths).items() if k in known})
        frame = np.ones_like(said)
        logits = joiner.run(None, {"encoder_outputs": frame, "decoder_outputs": said})[0]
        return [logits, *rest[1:]]

    together = scores(slice(0, 3))
    for at in range(3):
        one, *state = scores(slice(at, at + 1))
        np.testing.assert_allclose(together[0][at], one[0], atol=1e-5)
        for whole, part in zip(together[1:], state, strict=True):
            np.testing.assert_allclose(whole[:, at], part[:, 0], atol=1e-5)


def test_8_bit_weights_write_words_in_the_engine(imported):
    folder = imported("prompt", int8=True)[1]
    assert all(heard["tokens"] for heard in engine_hears(folder, "luo-KE"))


def test_svc_models_installs_a_checkpoint_that_the_engine_accepts(imported, tmp_path):
    checkpoint = imported("prompt")[0]
    program = ["node", ROOT / "core/models/cli/src/main.ts"]
    models = ["--models", tmp_path / "models"]
    (tmp_path / "models").mkdir()
    command = ["import", "nemo", checkpoint, "--name", "tuned-1", "--licence", "CC-BY-4.0"]
    said = ""
    for args in ([*command, "--int8"], ["use", "tuned-1"]):
        said += subprocess.run(
            list(map(str, [*program, *args, *models])), check=True, capture_output=True, text=True,
            env={**os.environ, "NEMO_PYTHON": sys.executable},
        ).stdout  # fmt: skip
    for stage in ("load the checkpoint", "export its graphs", "write 8-bit weights", "compare"):
        assert stage in said
    assert "with these 8-bit weights, log probabilities differ from NeMo's by" in said
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
