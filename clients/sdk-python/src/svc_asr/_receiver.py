"""Handles a session's events: builds the transcript and resolves pending flushes and resets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ._connection import Connection
from ._events import StreamEvent
from ._failover import Failover
from ._replay_buffer import SAMPLES_PER_MS, ReplayBuffer, Settled
from ._sender import Sender
from ._session_clock import floor_ms
from ._transcript import TranscriptBuilder
from .errors import SvcError
from .wire import (
    ConfigAckEvent,
    DeltaEvent,
    ErrorEvent,
    FinalEvent,
    ReadyEvent,
    ResetAckEvent,
    ServerEvent,
    SpeechEndedEvent,
    SpeechStartedEvent,
    StatusEvent,
    TurnEagerEvent,
    TurnResumedEvent,
)


class Receiver:
    def __init__(
        self,
        *,
        buffer: ReplayBuffer,
        sender: Sender,
        builder: TranscriptBuilder,
        failover: Failover,
        emit: Callable[[StreamEvent], None],
        fail: Callable[[SvcError], None],
        can_reconnect: bool,
        config: dict[str, Any],
        lost_sessions: Callable[[], tuple[str, ...]],
    ) -> None:
        self._buffer = buffer
        self._sender = sender
        self._builder = builder
        self._failover = failover
        self._emit = emit
        self._fail = fail
        self._can_reconnect = can_reconnect
        self._config = config
        self._lost_sessions = lost_sessions
        self._answers: dict[int, asyncio.Future[FinalEvent]] = {}
        self._configuring: asyncio.Future[None] | None = None

    def answer_to(self, id: int) -> asyncio.Future[FinalEvent]:
        """The final for this flush or reset, from this session or a later one."""
        answer: asyncio.Future[FinalEvent] = asyncio.get_running_loop().create_future()
        # An answer that is not awaited must not be logged as an unretrieved exception.
        answer.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._answers[id] = answer
        return answer

    def answer_empty(self, ids: tuple[int, ...]) -> None:
        for id in ids:
            self._resolve(id, self.empty_final())

    def empty_final(self) -> FinalEvent:
        return self._builder.empty_final(floor_ms(self._buffer.end_sample))

    def end(self, error: SvcError) -> None:
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(error)
        self._answers.clear()

    def on_event(self, connection: Connection, event: ServerEvent) -> None:
        if isinstance(event, ReadyEvent):
            # The session before it may have left one open.
            self._resume()
            config = self._session_config()
            if config:
                self._configuring = asyncio.ensure_future(connection.configure(config))
            self._emit(event)
            self._sender.wake()
        elif isinstance(event, DeltaEvent):
            delta = None if self._buffer.is_forgotten else self._builder.on_delta(event)
            if delta is not None:
                self._emit(delta)
        elif isinstance(event, FinalEvent):
            self._on_final(connection, event)
        elif isinstance(event, ResetAckEvent):
            self._builder.on_dropped(event)
            self._resume()
            id = self._buffer.settle_reset()
            if id is not None:
                self.answer_empty((id,))
        elif isinstance(event, ErrorEvent):
            # A fatal one is reported with the close that follows it.
            if not event.fatal:
                self._emit(event)
        elif isinstance(event, StatusEvent):
            self._emit(event)
        elif isinstance(event, SpeechStartedEvent | SpeechEndedEvent):
            if not self._buffer.is_forgotten:
                self._on_speech(connection, event)
        elif isinstance(event, TurnEagerEvent):
            if not self._buffer.is_forgotten:
                self._on_eager(connection, event)
        elif isinstance(event, TurnResumedEvent):
            self._resume()
        elif isinstance(event, ConfigAckEvent) and "endpointing" in event.ignored:
            self._fail(
                SvcError("endpointing_unsupported", "This server does not support endpointing.")
            )
        elif isinstance(event, ConfigAckEvent) and (event.keyterms is not None or event.ignored):
            self._emit(event)

    def _session_config(self) -> dict[str, Any]:
        """Only audio that is sent again may have been charged before."""
        lost = self._lost_sessions()
        if not lost or self._buffer.is_empty:
            return self._config
        return {**self._config, "continues": lost}

    def _on_speech(
        self, connection: Connection, event: SpeechStartedEvent | SpeechEndedEvent
    ) -> None:
        speech = self._builder.on_speech(event, connection.clock)
        if speech is not None:
            self._emit(speech)

    def _on_eager(self, connection: Connection, event: TurnEagerEvent) -> None:
        eager = self._builder.on_eager(event, connection.clock)
        if eager is not None:
            self._emit(eager)

    def _resume(self) -> None:
        resumed = self._builder.on_resumed()
        if resumed is not None:
            self._emit(resumed)

    def _on_final(self, connection: Connection, event: FinalEvent) -> None:
        # Cut in mid-speech and not charged. The next session receives the whole utterance again.
        if event.reason == "draining" and self._can_reconnect:
            self._builder.on_draining(event)
            return
        self._failover.on_progress()
        is_forgotten = self._buffer.is_forgotten
        settled = self._settle(event)
        if settled is None:
            return
        if is_forgotten:
            self._builder.on_charged(event)
        final = (
            self.empty_final()
            if is_forgotten
            else self._builder.on_final(event, settled, connection.clock)
        )
        if not is_forgotten:
            self._emit(final)
        for id in settled.answered:
            self._resolve(id, final)
        self._sender.on_answered(settled.answered, connection)

    def _settle(self, event: FinalEvent) -> Settled | None:
        # A newer server may send reasons that this version's types do not list.
        reason: str = event.reason
        if reason == "flush":
            return self._buffer.settle_flush()
        if reason == "endpoint":
            return self._buffer.settle_up_to(event.end_ms * SAMPLES_PER_MS)
        return self._buffer.settle_end(event.end_ms * SAMPLES_PER_MS)

    def _resolve(self, id: int, final: FinalEvent) -> None:
        answer = self._answers.pop(id, None)
        if answer is not None and not answer.done():
            answer.set_result(final)
