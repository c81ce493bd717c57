"""Tests the stand-in for icefall's Zipformer exports: its training, and its files against torch."""

from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from speech.stand_ins import zipformer
from speech.stand_ins.zipformer import AHEAD, CHUNK, CONTEXT, PIECES, Model, empty_states

FIXTURES = Path(__file__).resolve().parents[2] / "core/models/fixtures"


@pytest.fixture(scope="module")
def processor(tmp_path_factory):
    return zipformer.pieces(tmp_path_factory.mktemp("pieces"), FIXTURES)


@pytest.fixture(scope="module")
def recordings(processor):
    return zipformer.read(FIXTURES, processor)[:2]


def loss(model: Model, recordings) -> float:
    longest = max(len(zipformer.features(samples)) for samples, _ in recordings)
    rng = np.random.default_rng(5)
    some = [(zipformer.altered(samples, longest + CHUNK, rng), y) for samples, y in recordings]
    with torch.no_grad():
        return float(zipformer.loss_of(model, some, joint=True))


def test_training_lowers_the_loss(recordings):
    torch.manual_seed(1)
    model = Model()
    before = loss(model, recordings)
    zipformer.train(model, recordings, 24)
    assert loss(model, recordings) < 0.5 * before


def session(folder: Path, name: str) -> onnxruntime.InferenceSession:
    return onnxruntime.InferenceSession(folder / f"{name}.onnx", providers=["CPUExecutionProvider"])


def exported_greedy(folder: Path, mel: torch.Tensor) -> tuple[list[int], list[np.ndarray]]:
    encoder, decoder, joiner = (session(folder, n) for n in ("encoder", "decoder", "joiner"))
    names = [i.name for i in encoder.get_inputs()]
    states, found, frames = [s.numpy() for s in empty_states(1)], [-1, 0], []
    for at in range(0, len(mel) - AHEAD, CHUNK):
        window = mel[at : at + CHUNK + AHEAD][None].numpy()
        encoded, *states = encoder.run(None, dict(zip(names, [window, *states], strict=True)))
        for frame in encoded[0]:
            frames.append(frame)
            (decoded,) = decoder.run(None, {"y": np.array([found[-CONTEXT:]])})
            given = {"encoder_out": frame[None], "decoder_out": decoded}
            token = int(joiner.run(None, given)[0].argmax())
            if token not in (0, 2):
                found.append(token)
    return found[CONTEXT:], frames


def test_exported_files_compute_what_torch_computes(tmp_path, processor, recordings):
    torch.manual_seed(1)
    model = Model()
    # The joiner of new weights is nearly undecided. A larger one writes tokens.
    model.joiner.out.weight.data *= 8
    zipformer.export(model, processor, tmp_path)
    mel = zipformer.features(recordings[0][0])
    tokens, frames = exported_greedy(tmp_path, mel)
    with torch.no_grad():
        expected = model.encode(mel[None])[0].numpy()
    assert np.abs(np.stack(frames) - expected).max() < 1e-4
    assert tokens == zipformer.greedy(model, mel)
    assert len(set(tokens)) > 1
    lines = (tmp_path / "tokens.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == PIECES
    assert lines[0] == "<blk> 0"
