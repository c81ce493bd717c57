"""Passes speech and drops long silences, exactly as the gate of the JavaScript SDK does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from ._detectors.level import WINDOW_BYTES, WINDOW_MS, LevelDetector

# Silence before the first speech is sent with it if it is no longer than this. A recording that starts with a short
# silence then reaches the recogniser sample by sample, as without a gate.
FIRST_LEAD_MS = 1_000


@dataclass(frozen=True, slots=True)
class Send:
    pcm: bytes


@dataclass(frozen=True, slots=True)
class Skip:
    """Pass it to `SvcStream.skip`, so that the transcript's times stay correct."""

    ms: int


GateOutput: TypeAlias = Send | Skip


class VoiceGate:
    """The service charges accepted audio, silence included; skipped time is free.

    ``lead_ms`` of audio from before speech is sent with it, and ``hold_ms`` of silence after it.
    """

    def __init__(self, *, lead_ms: int = 300, hold_ms: int = 700) -> None:
        self._level = LevelDetector()
        self._lead_windows = -(-lead_ms // WINDOW_MS)
        self._hold_windows = -(-hold_ms // WINDOW_MS)
        self._lead_windows_max = max(self._lead_windows, FIRST_LEAD_MS // WINDOW_MS)
        self._lead: list[bytes] = []
        self._rest = b""
        self._quiet_windows = self._hold_windows + 1
        self._skipped_ms = 0

    @property
    def is_open(self) -> bool:
        return self._quiet_windows <= self._hold_windows

    def push(self, pcm: bytes) -> list[GateOutput]:
        data = self._rest + pcm
        end = len(data) - len(data) % WINDOW_BYTES
        output: list[GateOutput] = []
        for start in range(0, end, WINDOW_BYTES):
            output += self._process(data[start : start + WINDOW_BYTES])
        self._rest = data[end:]
        return output

    def end(self) -> list[GateOutput]:
        """Call at the end of the audio and before a flush. Returns the last samples, shorter than a window, if open."""
        pcm, self._rest = self._rest, b""
        return [Send(pcm)] if self.is_open and pcm else []

    def _process(self, window: bytes) -> list[GateOutput]:
        was_open = self.is_open
        is_speech = self._level.is_speech(window)
        self._quiet_windows = 0 if is_speech else self._quiet_windows + 1
        if self.is_open:
            return [Send(window)] if was_open else self._open(window)
        self._lead.append(window)
        if len(self._lead) > self._lead_windows_max:
            self._lead_windows_max = self._lead_windows
            dropped = len(self._lead) - self._lead_windows
            del self._lead[:dropped]
            self._skipped_ms += dropped * WINDOW_MS
        return []

    def _open(self, window: bytes) -> list[GateOutput]:
        skipped = [Skip(self._skipped_ms)] if self._skipped_ms > 0 else []
        sent = [Send(each) for each in (*self._lead, window)]
        self._lead = []
        self._lead_windows_max = self._lead_windows
        self._skipped_ms = 0
        return [*skipped, *sent]
