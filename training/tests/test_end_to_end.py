"""Synthesises speech, trains and exports a tiny model, and decodes with it in the engine."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from speech.data.features import log_mel
from speech.data.shards import Audio, read_rows
from speech.synthesis.held_out import write_wave
from speech.text.scoring import error_rates
from speech.text.tokens import PROMPTS, decode
from speech.transducer.model import PRE_ENCODE, SHIFT, Transducer
from speech.weights.import_onnx import load_exported

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MODELS = Path(os.environ.get("MODELS_DIR", ROOT / "core/models"))
TINY = {"width": 64, "layers": 2, "heads": 4, "channels": 16, "predictor": 32, "joint": 32}
WORDS = {
    "kik": "mwana nyũmba mũtĩ maaĩ ngũkũ mbũri kahũa mũgũnda rĩu wega nene nini mũno thĩ".split(),
    "luo": "nyathi ot yien pi gweno diel chai puodho sani ber maduong' matin ahinya piny".split(),
}


def run(*command):
    subprocess.run([sys.executable, "-m", *map(str, command)], cwd=HERE.parent, check=True)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("training"), random.Random(4)
    for language, words in WORDS.items():
        made = {" ".join(rng.choices(words, k=rng.randint(4, 7))) for _ in range(400)}
        lines = [f"own\t{text}" for text in sorted(made)]
        (folder / f"{language}_sentences.tsv").write_text("\n".join(lines), encoding="utf-8")
    data, out = folder / "data", folder / "run"
    run("speech.synthesis.render", "--sentences", folder, "--out", data, "--jobs", 1, "--quick", 80)
    options = ["--jobs", 1, "--chunks", 24, "--hours", 0.4, "--warmup", 20, "--ctc-steps", 20]
    run(
        "speech.transducer.train", "--data", data, "--run", out, "--config", json.dumps(TINY),
        "--rate", 2e-3, "--ema", 0.9, *options,
    )  # fmt: skip
    return folder


def test_training_brings_the_loss_down(trained):
    lines = (trained / "run/log.jsonl").read_text().splitlines()
    losses = [entry["ctc"] for entry in map(json.loads, lines) if "ctc" in entry]
    assert len(losses) >= 2
    assert losses[-1] < 0.7 * losses[0]


@pytest.fixture(scope="module")
def continued(trained):
    """Trains the bundled weights for a few more steps and exports them again."""
    warm, out = trained / "warm.pt", trained / "continued"
    run("speech.weights.import_onnx", "--model", MODELS / "demo", "--out", warm)
    options = ["--jobs", 1, "--chunks", 16, "--hours", 0.03, "--rate", 1e-5, "--warmup", 2]
    run(
        "speech.transducer.train",
        "--data",
        trained / "data",
        "--run",
        out,
        "--warm",
        warm,
        *options,
    )
    run("speech.weights.export", "--checkpoint", out / "average.pt", "--out", trained / "model")
    return trained / "model"


def test_the_engine_writes_what_torch_writes(trained, continued):
    """Features, chunks, caches, half-precision weights and greedy search give the same text."""
    model = Transducer().eval()
    load_exported(continued, model)
    audio, rows = Audio(trained / "data/dev"), read_rows(trained / "data/dev")[:6]
    expected = []
    for i, row in enumerate(rows):
        samples = audio.read(row)
        write_wave(continued / f"{i}.wav", np.round(samples * 32768))
        padded = np.concatenate([samples, np.zeros(20_800, np.float32)])  # as stream.mjs ends it
        chunks = (len(padded) // 160 - PRE_ENCODE) // SHIFT
        mel = log_mel(torch.from_numpy(padded)[None])[:, : SHIFT * chunks + PRE_ENCODE]
        with torch.no_grad():
            encoded = model.encode(mel, torch.tensor([PROMPTS["auto"]]))
        expected.append(decode(model.greedy(encoded)[0]))
    names = [f"{i}.wav" for i in range(len(rows))]
    command = ["node", HERE / "stream.mjs", ROOT / "core/engine", continued, *names]
    answer = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    heard = [json.loads(line)["text"].strip() for line in answer.stdout.splitlines()[-len(rows) :]]
    assert heard == expected
    wer, _ = error_rates([(row.text, text) for row, text in zip(rows, heard, strict=True)])
    assert wer < 60, "words in no order are hard, but most must be there"


def test_a_run_goes_on_from_its_last_checkpoint(trained):
    schedule = trained / "run/schedule.json"
    before = torch.load(trained / "run/last.pt")["step"]
    schedule.write_text(json.dumps({"hours": 0.45}))
    run(
        "speech.transducer.train", "--data", trained / "data", "--run", trained / "run",
        "--config", json.dumps(TINY), "--jobs", 1, "--chunks", 24, "--hours", 0.45,
    )  # fmt: skip
    after = torch.load(trained / "run/last.pt")
    assert before < after["step"] < 2 * before
    assert after["audio_s"] >= 0.45 * 3600
