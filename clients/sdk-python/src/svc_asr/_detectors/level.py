"""Detects speech by its level above the noise floor. It is cheap, and in doubt it reports speech."""

from __future__ import annotations

import array
import math
import sys

# 20 ms: shorter than a syllable, longer than a pitch period.
WINDOW_SAMPLES = 320
WINDOW_BYTES = 2 * WINDOW_SAMPLES
WINDOW_MS = 20
FLOOR_START_DB = -55.0
# The noise floor falls at once and rises slowly, so that speech doesn't raise it.
FLOOR_RISE_DB = 0.04
SPEECH_ABOVE_FLOOR_DB = 9.0
SPEECH_LEAST_DB = -52.0


class LevelDetector:
    def __init__(self) -> None:
        self._floor_db = FLOOR_START_DB

    def is_speech(self, window: bytes) -> bool:
        level = level_db(window)
        self._floor_db = max(-90.0, min(level, self._floor_db + FLOOR_RISE_DB))
        return level > SPEECH_LEAST_DB and level > self._floor_db + SPEECH_ABOVE_FLOOR_DB


def level_db(pcm: bytes) -> float:
    """Returns the level in dBFS: 0 is full scale."""
    samples = array.array("h", pcm)
    if sys.byteorder == "big":
        samples.byteswap()
    energy = sum(sample * sample for sample in samples) / len(samples)
    return 20 * math.log10(max(math.sqrt(energy) / 32_768, 1e-6))
