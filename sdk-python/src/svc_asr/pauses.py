"""Finds pauses in speech by loudness: places to change sessions without cutting a word."""

from __future__ import annotations

import array
import math
import sys

WINDOW_SAMPLES = 320
PAUSE_WINDOWS = 10
SPEECH_WINDOWS = 3
FLOOR_START_DB = -55.0
# The noise floor falls at once and rises slowly, so that speech doesn't raise it.
FLOOR_RISE_DB = 0.04
SPEECH_ABOVE_FLOOR_DB = 9.0
SPEECH_LEAST_DB = -52.0


class PauseFinder:
    """Detects whether the audio so far ends in a pause of 200 ms (ten windows of 20 ms)."""

    def __init__(self, windows: int = PAUSE_WINDOWS) -> None:
        self._pause_windows = windows
        self._floor_db = FLOOR_START_DB
        self._rest = b""
        self._quiet_windows = 0
        self._speech_windows = 0

    @property
    def is_pause(self) -> bool:
        return self._quiet_windows >= self._pause_windows

    @property
    def is_speech(self) -> bool:
        """A single loud window is a click, not speech."""
        return self._speech_windows >= SPEECH_WINDOWS

    def hear(self, pcm: bytes) -> None:
        data = self._rest + pcm
        size = WINDOW_SAMPLES * 2
        end = len(data) - len(data) % size
        for start in range(0, end, size):
            is_speech = self._is_speech(data[start : start + size])
            self._quiet_windows = 0 if is_speech else self._quiet_windows + 1
            self._speech_windows = self._speech_windows + 1 if is_speech else 0
        self._rest = data[end:]

    def _is_speech(self, window: bytes) -> bool:
        samples = array.array("h", window)
        if sys.byteorder == "big":
            samples.byteswap()
        energy = sum(sample * sample for sample in samples) / len(samples)
        level = 20 * math.log10(max(math.sqrt(energy) / 32_768, 1e-6))
        self._floor_db = max(-90.0, min(level, self._floor_db + FLOOR_RISE_DB))
        return level > SPEECH_LEAST_DB and level > self._floor_db + SPEECH_ABOVE_FLOOR_DB
