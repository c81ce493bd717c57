"""Flite's statistical voices of two American men, driven by phones, with Flite's own prosody.

`slt` stays out of training: the same woman is Festival's held-out HTS voice.
"""

import random
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from ..text.phonemes import Accent, clauses, word_sounds
from .festival import read_wave
from .festival_voices import ATOMS, ENGLISH, KIKUYU_BORROWED

VOICES = ("rms", "awb")
_SOUNDS = {**ENGLISH, "*": ("r",)}


def phones(text: str, language: str, accent: Accent) -> str:
    out = ["pau"]
    for words, _ in clauses(text):
        for word in words:
            for unit, _ in word_sounds(word, language, accent):
                for sound in ATOMS.get(unit, (unit.rstrip(":"),)):
                    if language == "kik" and sound in ("B", "Q"):
                        sound = KIKUYU_BORROWED[sound][0]
                    out.extend(_SOUNDS[sound])
        out.append("pau")
    return " ".join(out)


def say(voice: str, spoken: str, rng: random.Random) -> tuple[np.ndarray, int]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "said.wav"
        stretch = f"duration_stretch={rng.uniform(0.85, 1.25):.2f}"
        command = ["flite", "-voice", voice, "--setf", stretch, "-p", spoken, "-o", str(path)]
        subprocess.run(command, capture_output=True, check=False)
        return read_wave(path)
