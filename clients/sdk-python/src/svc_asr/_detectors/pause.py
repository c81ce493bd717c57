"""Finds pauses in speech: places to change sessions without cutting a word."""

from __future__ import annotations

from .level import WINDOW_BYTES, LevelDetector

PAUSE_WINDOWS = 10


class PauseDetector:
    """Detects whether the audio so far ends in a pause of 200 ms (ten windows of 20 ms)."""

    def __init__(self) -> None:
        self._level = LevelDetector()
        self._rest = b""
        self._quiet_windows = 0

    @property
    def is_pause(self) -> bool:
        return self._quiet_windows >= PAUSE_WINDOWS

    def push(self, pcm: bytes) -> None:
        data = self._rest + pcm
        end = len(data) - len(data) % WINDOW_BYTES
        for start in range(0, end, WINDOW_BYTES):
            is_speech = self._level.is_speech(data[start : start + WINDOW_BYTES])
            self._quiet_windows = 0 if is_speech else self._quiet_windows + 1
        self._rest = data[end:]
