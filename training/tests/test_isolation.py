"""A stream's words never depend on the streams it is batched with, in the native engine itself."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from encoding import encode, speech_like

from speech.weights.quantise_frames import quantise_export

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Folders of other weights, such as imported ones of 114 M: too slow for every run of the tests.
OTHERS = os.environ.get("ISOLATION_MODELS", "").split()


def heard(folder: Path, language: str, recording: str) -> list[dict]:
    command = ["node", HERE / "beside.mjs", ROOT / "core/engine", folder, language]
    answer = subprocess.run(
        [*map(str, command), str(ROOT / f"core/models/fixtures/{recording}.wav")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [json.loads(line) for line in answer.stdout.splitlines()]


@pytest.fixture(scope="module")
def eight_bits(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("eight-bits")
    quantise_export(ROOT / "core/models/demo", folder)
    return folder


@pytest.fixture
def folder(eight_bits, weights) -> Path:
    return {"fp32": ROOT / "core/models/demo", "int8": eight_bits}.get(weights, Path(weights))


@pytest.mark.parametrize("recording", ["kikuyu-1", "dholuo-2"])
@pytest.mark.parametrize("weights", ["fp32", "int8", *OTHERS])
def test_words_times_and_scores_are_the_same_beside_other_streams(folder, recording):
    language = {"k": "ki-KE", "d": "luo-KE"}[recording[0]]
    alone, *batches = heard(folder, language, recording)
    assert len(alone["tokens"]) > 10
    for batch in batches:
        assert batch | {"beside": 0} == alone, f"beside {batch['beside']} streams"


@pytest.mark.parametrize("weights", ["int8", *OTHERS])
def test_encoded_frames_are_the_same_bit_by_bit_beside_other_streams(folder):
    encoder, mine = onnx.load(folder / "encoder.onnx"), speech_like(1)
    (alone,) = encode(encoder, [mine])
    loudness = [30, 0, 3, 30, 1, 100, 10]
    others = [speech_like(9 + at, one) for at, one in enumerate(loudness)]
    for beside in (1, 3, 7):
        frames = encode(encoder, [*others[:beside], mine])[-1]
        assert np.array_equal(alone, frames), f"beside {beside} streams"


def test_8_bit_weights_write_the_words_that_whole_weights_write(eight_bits):
    for name, language in (("kikuyu-1", "ki-KE"), ("dholuo-2", "luo-KE")):
        small, whole = (
            heard(folder, language, name)[0]["tokens"]
            for folder in (eight_bits, ROOT / "core/models/demo")
        )
        assert small == whole
