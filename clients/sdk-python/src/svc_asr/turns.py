"""Builds turns from the service's speech events, for voice agents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from ._events import ReconnectingEvent, StreamEvent
from .errors import SvcError
from .wire import (
    DeltaEvent,
    FinalEvent,
    ReadyEvent,
    SpeechEndedEvent,
    SpeechStartedEvent,
    TurnEagerEvent,
)

# How long the end of a turn waits for a final. If nothing was recognised, none comes unless asked for.
FINAL_WAIT_S = 1.0
# The service's default for `silence_ms`.
SILENCE_MS = 700
# Times of events are rounded to milliseconds.
ROUNDING_MS = 2


@dataclass(slots=True)
class _Turn:
    start_ms: int = -1
    """Where its speech starts in the stream's time, or -1 if the service did not report it."""
    end_ms: int | None = None
    is_speaking: bool = False
    has_text: bool = False


class TurnTracker:
    """A turn ends after its final, so that an agent responds to all of its words.

    If that final is late, the tracker asks for it with a flush, which is always answered. Speech that starts after
    less than ``silence_ms`` of silence belongs to the same turn, because a session at its limit also ends speech.

    After an outage the service hears several turns at once: their speech events arrive before the first final. The
    later turns wait, and start when the turn before them has ended.

    Call `before` before you pass on the text of an event and `after` afterwards.
    """

    def __init__(
        self,
        *,
        on_start: Callable[[], None],
        on_end: Callable[[int | None], None],
        silence_ms: int = SILENCE_MS,
    ) -> None:
        """``on_end`` gets the end of speech in the stream's time, or None if the service did not report it."""
        self._on_start = on_start
        self._on_end = on_end
        self._silence_ms = silence_ms
        # Open turns in order. Only the first has been reported.
        self._turns: list[_Turn] = []
        self._flushes: list[asyncio.Future[FinalEvent]] = []
        self._request_final: Callable[[], asyncio.Future[FinalEvent]] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self, request_final: Callable[[], asyncio.Future[FinalEvent]]) -> None:
        """Follows a stream. Pass its `flush_nowait`."""
        self._request_final = request_final

    @property
    def is_open(self) -> bool:
        return bool(self._turns)

    def before(self, event: StreamEvent) -> None:
        if isinstance(event, SpeechStartedEvent):
            # A bark or a door must not interrupt the agent. If it was speech, its text starts the turn.
            if event.confirmed is not False:
                self._on_speech_started(event.audio_ms)
        elif isinstance(event, SpeechEndedEvent):
            self._on_speech_ended(event.audio_ms)
        elif isinstance(event, DeltaEvent | TurnEagerEvent) and event.text:
            self._on_interim()
        elif isinstance(event, FinalEvent) and event.text:
            self._on_text()
        elif isinstance(event, ReconnectingEvent):
            # Without a session no final can arrive.
            self._stop_waiting()
        elif isinstance(event, ReadyEvent):
            self._wait_for_final()

    def after(self, event: StreamEvent) -> None:
        if not isinstance(event, FinalEvent):
            return
        if self._take_answered(event) or event.reason == "endpoint":
            self._on_turn_final(event.end_ms)

    def flush(self) -> None:
        """Asks for the final of the audio so far. It always comes, however long that takes."""
        self._stop_waiting()
        if self._request_final is None:
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
            self._flushes.append(final)

    def end(self) -> None:
        """Ends all open turns now."""
        self._stop_waiting()
        while self._turns:
            self._end_turns(1)

    def stop(self) -> None:
        """Reports nothing more of this stream. The next stream's time starts at 0 again."""
        self._stop_waiting()
        self._request_final = None
        self._flushes.clear()
        for turn in self._turns:
            turn.start_ms = -1

    def _on_speech_started(self, audio_ms: int) -> None:
        self._stop_waiting()
        last = self._turns[-1] if self._turns else None
        if last is None or self._is_next_turn(last, audio_ms):
            self._add(_Turn(start_ms=audio_ms, is_speaking=True))
        else:
            last.is_speaking = True

    def _on_speech_ended(self, audio_ms: int) -> None:
        if not self._turns or not self._turns[-1].is_speaking:
            return
        self._turns[-1].is_speaking = False
        self._turns[-1].end_ms = audio_ms
        self._wait_for_final()

    def _on_interim(self) -> None:
        """Interim text needs a turn that has started."""
        if not self._turns:
            self._add(_Turn())
        elif len(self._turns) > 1 and self._turns[0].has_text and not self._turns[0].is_speaking:
            # The text after a turn's final belongs to the next turn.
            self._end_turns(1)

    def _on_text(self) -> None:
        """Final text without speech events is a turn as well."""
        if self._turns:
            self._turns[0].has_text = True
        else:
            self._add(_Turn(has_text=True))
            self._wait_for_final()

    def _on_turn_final(self, end_ms: int) -> None:
        """The final of an endpoint or of a flush arrived. It ends the turns that it covers."""
        covered = 0
        for turn in self._turns:
            if turn.is_speaking or turn.start_ms >= end_ms:
                break
            covered += 1
        if covered > 0:
            self._end_turns(covered)
        self._wait_for_final()

    def _is_next_turn(self, last: _Turn, start_ms: int) -> bool:
        if last.is_speaking or last.end_ms is None:
            return False
        return start_ms - last.end_ms >= self._silence_ms - ROUNDING_MS

    def _add(self, turn: _Turn) -> None:
        self._turns.append(turn)
        if len(self._turns) == 1:
            self._on_start()

    def _end_turns(self, count: int) -> None:
        """Turns that share a final are one turn to the agent."""
        ended = self._turns[:count]
        del self._turns[:count]
        self._on_end(ended[-1].end_ms)
        if self._turns:
            self._on_start()

    def _take_answered(self, event: FinalEvent) -> bool:
        """Whether this final answers a flush of the tracker. A later flush may have its final, unread, already."""
        pending = [flush for flush in self._flushes if not _answers(event, flush)]
        is_answer = len(pending) < len(self._flushes)
        self._flushes = pending
        return is_answer

    def _wait_for_final(self) -> None:
        """Waits for the final of an open turn while nobody speaks."""
        self._stop_waiting()
        if not self._turns or self._turns[-1].is_speaking or self._flushes:
            return
        self._timer = asyncio.get_running_loop().call_later(FINAL_WAIT_S, self.flush)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _answers(event: FinalEvent, flush: asyncio.Future[FinalEvent]) -> bool:
    return flush.done() and flush.exception() is None and flush.result() is event
