"""Follows the fine-tuning guide with a tiny base: shards, manifests, two steps, import."""

import json
import random
import subprocess
import sys
from pathlib import Path

from speech import random_nemo
from speech.espeak import EspeakVoice
from speech.import_nemo import import_checkpoint, read_config
from speech.phonemes import Accent
from speech.render import render_espeak
from speech.shards import write_shard
from speech.vocabulary import sentence

HERE = Path(__file__).resolve().parent


def run(*command):
    subprocess.run([sys.executable, "-m", *map(str, command)], cwd=HERE.parent, check=True)


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
    run("speech.nemo_data", "--data", tmp_path / "data", "--out", tmp_path / "nemo", "--pieces", 90)
    first = json.loads((tmp_path / "nemo/train.json").read_text().splitlines()[0])
    assert first["target_lang"] == "ki-KE"
    assert Path(first["audio_filepath"]).exists()

    base = random_nemo.build("hybrid", tmp_path / "base", encoder__att_context_size=[70, 13])
    tuned = tmp_path / "tuned.nemo"
    run(
        "speech.finetune_nemo", "--base", base, "--data", tmp_path / "nemo", "--out", tuned,
        "--steps", 2, "--batch", 2, "--accumulate", 1, "--precision", "32-true",
        "--validate-every", 2,
    )  # fmt: skip
    assert read_config(tuned)["encoder"]["att_context_size"] == [56, 13]
    import_checkpoint(tuned, tmp_path / "out", int8=True)
    tokens = (tmp_path / "out/tokens.txt").read_text(encoding="utf-8")
    assert "ĩ" in tokens
    assert tokens.rstrip().endswith("<blk> 90")
