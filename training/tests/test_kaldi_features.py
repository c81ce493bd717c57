"""Compares the filter banks that Zipformer models train on with the engine's."""

import subprocess
from pathlib import Path

import numpy as np

from speech.data.kaldi_features import MELS, kaldi_features

HERE = Path(__file__).resolve().parent
ENGINE = HERE.parents[1] / "core/engine"


def engine_features(samples: np.ndarray) -> np.ndarray:
    command = ["node", str(HERE / "kaldi-features.mjs"), str(ENGINE)]
    answer = subprocess.run(command, input=samples.tobytes(), capture_output=True, check=True)
    return np.frombuffer(answer.stdout, "<f4").reshape(-1, MELS)


def test_the_engine_computes_the_features_of_training():
    rng = np.random.default_rng(4)
    chirp = np.sin(np.cumsum(np.linspace(0.02, 2.5, 32_000)))
    loud = 0.3 * chirp * np.linspace(0, 1, 32_000) + 0.01 * rng.standard_normal(32_000)
    samples = np.concatenate([loud, np.zeros(3_200)]).astype("<f4")
    engine, ours = engine_features(samples), kaldi_features(samples)
    assert len(engine) >= len(ours) - 2
    # The last frames of training see the mirrored end, the engine waits for more audio.
    assert np.abs(engine - ours[: len(engine)]).max() < 2e-3
