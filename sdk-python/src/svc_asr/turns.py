"""Builds turns from the service's speech events, for voice agents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Literal

from ._events import ReconnectingEvent, StreamEvent
from .errors import SvcError
from .wire import FinalEvent, ReadyEvent, SpeechEndedEvent, SpeechStartedEvent

# How long the end of a turn waits for a final. If nothing was recognised, none comes unless asked for.
FINAL_WAIT_S = 1.0


class TurnTracker:
    """A turn ends after its final, so that an agent responds to all of its words.

    If that final is late, the tracker asks for it with a flush, which is always answered. Speech that resumes before
    that belongs to the same turn, because a session at its limit also ends speech. Call `before` before you pass on
    the text of an event and `after` afterwards.
    """

    def __init__(self, *, on_start: Callable[[], None], on_end: Callable[[], None]) -> None:
        self._on_start = on_start
        self._on_end = on_end
        self._state: Literal["silence", "speech", "ending"] = "silence"
        self._flushed: asyncio.Future[FinalEvent] | None = None
        self._request_final: Callable[[], asyncio.Future[FinalEvent]] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self, request_final: Callable[[], asyncio.Future[FinalEvent]]) -> None:
        """Follows a stream. Pass its `flush_nowait`."""
        self._request_final = request_final

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
        is_answer = self._is_answer(event)
        if is_answer:
            self._flushed = None
        if (is_answer or event.reason == "endpoint") and self._state == "ending":
            self.end()

    def flush(self) -> None:
        """Asks for the final of an open turn. It always comes, however long that takes."""
        self._stop_waiting()
        if self._request_final is None or not self.is_open:
            return
        try:
            final = self._request_final()
        except SvcError:
            # The stream has ended and reports that itself.
            return
        if final.done():
            # Everything is final already, and no event follows.
            self.end()
        else:
            self._flushed = final

    def end(self) -> None:
        """Ends an open turn now."""
        self._stop_waiting()
        self._flushed = None
        if self._state != "silence":
            self._state = "silence"
            self._on_end()

    def stop(self) -> None:
        """Reports nothing more of this stream."""
        self._stop_waiting()
        self._request_final = None
        self._flushed = None

    def _is_answer(self, event: FinalEvent) -> bool:
        """Whether this is the final of the turn's last flush. An earlier flush may be answered late."""
        flushed = self._flushed
        if flushed is None or not flushed.done() or flushed.exception() is not None:
            return False
        return flushed.result() is event

    def _wait_for_final(self) -> None:
        self._state = "ending"
        self._stop_waiting()
        if self._flushed is not None:
            return
        self._timer = asyncio.get_running_loop().call_later(FINAL_WAIT_S, self.flush)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
