"""Converts a session's time to the caller's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ._replay_buffer import SAMPLES_PER_MS


@dataclass(frozen=True)
class Origin:
    """One moment in both times."""

    session_ms: int
    caller_ms: int


class SessionClock:
    """A session receives audio without gaps. In the caller's time it may start late and have gaps."""

    def __init__(self) -> None:
        self._pieces: list[tuple[int, int]] = []
        self._sent_samples = 0

    @property
    def sent_samples(self) -> int:
        """How many samples were sent to this session."""
        return self._sent_samples

    def advance(self, at: int, samples: int) -> None:
        expected = None
        if self._pieces:
            session, caller = self._pieces[-1]
            expected = caller + self._sent_samples - session
        if at != expected:
            self._pieces.append((self._sent_samples, at))
        self._sent_samples += samples

    def caller_ms(self, session_ms: int) -> int:
        """Converts a time of the session that belongs to no utterance."""
        caller_ms = floor_ms(self._pieces[0][1]) if self._pieces else 0
        return self.to_caller(session_ms, Origin(0, caller_ms), "start")

    def to_caller(self, session_ms: int, origin: Origin, edge: Literal["start", "end"]) -> int:
        """Counts from the utterance's origin, so that the result equals what one session alone would have said.
        Only after a jump is it counted from the jump."""
        samples = session_ms * SAMPLES_PER_MS
        for session, caller in reversed(self._pieces):
            if session < samples or (edge == "start" and session == samples):
                if session <= origin.session_ms * SAMPLES_PER_MS:
                    break
                return floor_ms(caller) + session_ms - floor_ms(session)
        return origin.caller_ms + session_ms - origin.session_ms


def floor_ms(samples: int) -> int:
    return samples // SAMPLES_PER_MS


def ceil_ms(samples: int) -> int:
    return -(-samples // SAMPLES_PER_MS)
