"""Follows the fine-tuning guide with a tiny base: shards, manifests, two steps, import."""

import json
import random
import subprocess
import sys
from pathlib import Path

import torch
from nemo.collections.asr.losses.rnnt import RNNTLoss

from speech.data.shards import write_shard
from speech.nemo import random_nemo
from speech.nemo.finetune_nemo import CpuLoss
from speech.nemo.import_nemo import import_checkpoint, read_config
from speech.synthesis.espeak import EspeakVoice
from speech.synthesis.render import render_espeak
from speech.text.phonemes import Accent
from speech.text.vocabulary import sentence

HERE = Path(__file__).resolve().parent


def run(*command) -> str:
    command = [sys.executable, "-m", *map(str, command)]
    return subprocess.run(
        command, cwd=HERE.parent, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def test_recordings_become_weights_that_the_engine_takes(tmp_path):
    rng = random.Random(5)
    for side, count in (("train", 24), ("dev", 4)):
        voice = EspeakVoice("pt-br", "m1")
        jobs = [
            (language, sentence(language, rng), voice, Accent())
            for language in ("kik", "luo")
            for _ in range(count // 2)
        ]
        write_shard(tmp_path / "data" / side, "own", (render_espeak(job) for job in jobs))
    run(
        "speech.nemo.nemo_data",
        "--data",
        tmp_path / "data",
        "--out",
        tmp_path / "nemo",
        "--pieces",
        90,
    )
    first = json.loads((tmp_path / "nemo/train.json").read_text().splitlines()[0])
    assert first["target_lang"] == "ki-KE"
    assert Path(first["audio_filepath"]).exists()

    base = random_nemo.build("hybrid", tmp_path / "base", encoder__att_context_size=[70, 13])
    tuned = tmp_path / "tuned.nemo"
    finetune = [
        "speech.nemo.finetune_nemo", "--base", base, "--data", tmp_path / "nemo", "--out", tuned,
        "--batch", 2, "--accumulate", 1, "--precision", "32-true", "--validate-every", 1,
        "--checkpoints", tmp_path / "run", "--steps",
    ]  # fmt: skip
    assert "step 2: development WER" in run(*finetune, 2)
    resumed = run(*finetune, 3)
    assert "step 3: development WER" in resumed
    assert "step 1:" not in resumed
    assert read_config(tuned)["encoder"]["att_context_size"] == [56, 13]
    import_checkpoint(tuned, tmp_path / "out", int8=True)
    tokens = (tmp_path / "out/tokens.txt").read_text(encoding="utf-8")
    assert "ĩ" in tokens
    assert tokens.rstrip().endswith("<blk> 90")


def test_the_loss_without_a_gpu_equals_nemos():
    torch.manual_seed(4)
    logits = torch.randn(3, 12, 8, 21, requires_grad=True)
    targets = torch.randint(0, 20, (3, 7))
    lengths = {
        "input_lengths": torch.tensor([12, 9, 12]), "target_lengths": torch.tensor([7, 5, 6])
    }  # fmt: skip
    found = []
    for loss in (RNNTLoss(20, loss_name="warprnnt_numba"), CpuLoss()):
        value = loss(log_probs=logits.log_softmax(-1), targets=targets, **lengths)
        found.append((value, *torch.autograd.grad(value, logits)))
    for nemo, ours in zip(*found, strict=True):
        assert torch.allclose(nemo, ours, atol=1e-5)
