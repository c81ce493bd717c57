"""Builds turns from the service's speech events, for voice agents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from ._events import ReconnectingEvent, StreamEvent
from .wire import FinalEvent, ReadyEvent, SpeechEndedEvent, SpeechStartedEvent

# How long the end of a turn waits for a final. If nothing was recognised, none comes.
FINAL_WAIT_S = 1.0


class TurnTracker:
    """A turn ends after its final, so that an agent responds to all of its words.

    Speech that resumes before that belongs to the same turn, because a session at its limit also ends speech. Call
    `before` before you pass on the text of an event and `after` afterwards.
    """

    def __init__(self, *, on_start: Callable[[], None], on_end: Callable[[], None]) -> None:
        self._on_start = on_start
        self._on_end = on_end
        self._state: Literal["silence", "speech", "ending"] = "silence"
        self._is_flushing = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_open(self) -> bool:
        return self._state != "silence"

    def before(self, event: StreamEvent) -> None:
        if isinstance(event, SpeechStartedEvent):
            self._stop_waiting()
            if self._state == "silence":
                self._on_start()
            self._state = "speech"
        elif isinstance(event, SpeechEndedEvent) and self._state == "speech":
            self._wait_for_final()
        elif isinstance(event, FinalEvent) and event.text and self._state == "silence":
            # Text without speech events is a turn as well.
            self._on_start()
            self._wait_for_final()
        elif isinstance(event, ReconnectingEvent):
            # Without a session no final can arrive.
            self._stop_waiting()
        elif isinstance(event, ReadyEvent) and self._state == "ending":
            self._wait_for_final()

    def after(self, event: StreamEvent) -> None:
        if not isinstance(event, FinalEvent):
            return
        is_flushed = event.reason == "flush" and self._is_flushing
        if is_flushed:
            self._is_flushing = False
        if (is_flushed or event.reason == "endpoint") and self._state == "ending":
            self.end()

    def on_flush(self) -> None:
        """Call this with your own flush, which always gets a final, however long that takes."""
        self._is_flushing = True
        self._stop_waiting()

    def end(self) -> None:
        """Ends an open turn now."""
        self._stop_waiting()
        if self._state != "silence":
            self._state = "silence"
            self._on_end()

    def stop(self) -> None:
        """Reports nothing more."""
        self._stop_waiting()

    def _wait_for_final(self) -> None:
        self._state = "ending"
        self._stop_waiting()
        if self._is_flushing:
            return
        self._timer = asyncio.get_running_loop().call_later(FINAL_WAIT_S, self.end)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
