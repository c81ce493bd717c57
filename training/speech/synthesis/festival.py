"""Festival's diphone voices, driven by segments with explicit phone, duration and pitch.

The voices' own text, stress and duration rules are bypassed, so tempo and melody vary freely.
"""

import random
import subprocess
import tempfile
import wave
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path

import numpy as np

from ..text.phonemes import Accent, clauses, stressed, word_sounds
from .festival_voices import ATOMS, DiphoneVoice

_LENGTHS = {
    "vowel": 0.095,
    "stop": 0.08,
    "nasal": 0.07,
    "fricative": 0.09,
    "tap": 0.04,
    "glide": 0.055,
}
_KINDS = {
    **dict.fromkeys(("k", "g", "p", "b", "t", "d", "tS", "dZ", "Q", "B"), "stop"),
    **dict.fromkeys(("m", "n", "n^", "N", "l"), "nasal"),
    **dict.fromkeys(("*",), "tap"),
    **dict.fromkeys(("w", "j"), "glide"),
}


class Phrase:
    """Segments of one utterance as Festival reads them."""

    def __init__(self, voice: DiphoneVoice, language: str, rng: random.Random):
        self.voice, self.language, self._rng = voice, language, rng
        self._tempo = rng.uniform(0.75, 1.3)
        self._pitch = rng.uniform(*voice.pitch)
        self._fall, self._swing = rng.uniform(0.05, 0.25), rng.uniform(0.02, 0.15)
        self.segments: list[tuple[str, float, float | None]] = [(voice.silence, 0.12, None)]

    def _add(self, phone: str, kind: str, stress: bool, long: bool) -> None:
        length = _LENGTHS[kind] * self._tempo * self._rng.uniform(0.8, 1.2)
        length *= (1.25 if stress else 1.0) * (1.6 if long else 1.0)
        pitch = None
        if kind == "vowel":
            pitch = 1 + self._swing * (self._rng.uniform(-1, 1) + (0.8 if stress else 0))
        self.segments.append((phone, length, pitch))

    def word(self, sounds: list[tuple[str, bool]]) -> bool:
        """Returns False and adds nothing if the voice lacks a sound or a transition."""
        before = len(self.segments)
        prominent = stressed(sounds, self.language)
        for i, (unit, is_vowel) in enumerate(sounds):
            long = is_vowel and unit.endswith(":")
            for sound in ATOMS.get(unit, (unit.rstrip(":"),)):
                phones = self.voice.phones(sound, self.language)
                if phones is None:
                    del self.segments[before:]
                    return False
                kind = "vowel" if is_vowel else _KINDS.get(sound, "fricative")
                for phone in phones:
                    self._add(phone, kind, i == prominent, long)
        if not self._sayable(before):
            del self.segments[before:]
            return False
        return True

    def _sayable(self, start: int) -> bool:
        names = [s[0] for s in self.segments[max(0, start - 1) :]]
        pairs = [f"{a}-{b}" for a, b in pairwise(names)]
        # any word must also be able to end before a pause
        return all(p in self.voice.inventory for p in [*pairs, f"{names[-1]}-{self.voice.silence}"])

    def pause(self, low: float, high: float) -> None:
        if self.segments[-1][0] != self.voice.silence:
            self.segments.append((self.voice.silence, self._rng.uniform(low, high), None))

    def scheme(self) -> str:
        self.pause(0.1, 0.15)
        total, parts = len(self.segments), []
        for i, (phone, length, accent) in enumerate(self.segments):
            target = ""
            if accent is not None:
                hz = self._pitch * accent * (1 + self._fall * (0.5 - i / total))
                target = f" ({length / 2:.3f} {hz:.0f})"
            parts.append(f"({phone} {length:.3f}{target})")
        return f"(Utterance Segments ({' '.join(parts)}))"


def phrase(
    text: str, language: str, voice: DiphoneVoice, accent: Accent, rng: random.Random
) -> tuple[str, str] | None:
    """Returns (spoken text, Festival input), or None if the voice can say too little of it."""
    made, said = Phrase(voice, language, rng), []
    for words, _ in clauses(text):
        for word in words:
            if made.word(word_sounds(word, language, accent)):
                said.append(word)
        made.pause(0.1, 0.35)
    if len(said) < 2 or len(" ".join(said)) < 10:
        return None
    return " ".join(said), made.scheme()


def synthesise(voice_name: str, inputs: Iterable[str]) -> list[tuple[np.ndarray, int]]:
    """Synthesises many utterances in one process.

    Returns (int16 samples, rate) of each; the samples are empty if synthesis failed."""
    inputs = list(inputs)
    with tempfile.TemporaryDirectory() as folder:
        lines = [f"(voice_{voice_name})"]
        for i, made in enumerate(inputs):
            path = f"{folder}/{i}.wav"
            lines.append(f'(utt.save.wave (utt.synth {made}) "{path}" \'riff)')
        script = Path(folder) / "say.scm"
        script.write_text("\n".join(lines), encoding="utf-8")
        subprocess.run(["festival", "-b", str(script)], capture_output=True, check=False)
        return [read_wave(Path(folder) / f"{i}.wav") for i in range(len(inputs))]


def read_wave(path: Path) -> tuple[np.ndarray, int]:
    if not path.exists():
        return np.zeros(0, np.int16), 16_000
    with wave.open(str(path)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")
        return samples, file.getframerate()
