"""Events that a stream reports to its caller."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ._close import CloseInfo
from .errors import SvcError
from .wire import (
    ConfigAckEvent,
    DeltaEvent,
    ErrorEvent,
    FinalEvent,
    ReadyEvent,
    SpeechEndedEvent,
    SpeechStartedEvent,
    StatusEvent,
    TurnEagerEvent,
    TurnResumedEvent,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class ReconnectingEvent:
    """The stream is between two sessions. No audio is lost: the next session receives the open utterance again."""

    type: Literal["reconnecting"] = "reconnecting"
    why: Literal["failover", "rollover", "resume"]
    close: CloseInfo
    wait_ms: float


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingEvent:
    """``get_session`` failed. The stream waits and calls it again; audio stays buffered."""

    type: Literal["waiting"] = "waiting"
    error: SvcError | None
    """What the stream waits for, such as ``concurrency_limit_exceeded``. None for your own exceptions."""
    wait_ms: float


# An `ErrorEvent` here is not fatal: a fatal error is raised.
StreamEvent: TypeAlias = (
    ReadyEvent
    | ConfigAckEvent
    | StatusEvent
    | DeltaEvent
    | FinalEvent
    | SpeechStartedEvent
    | SpeechEndedEvent
    | TurnEagerEvent
    | TurnResumedEvent
    | ErrorEvent
    | ReconnectingEvent
    | WaitingEvent
)


class EventQueue(AsyncIterator[StreamEvent]):
    """Unread events of one `async for`. A delta replaces the one before it, so slow readers use no memory."""

    def __init__(self) -> None:
        self._events: deque[StreamEvent] = deque()
        self._changed = asyncio.Event()
        self._ended = False
        self._error: SvcError | None = None

    def push(self, event: StreamEvent) -> None:
        if (
            isinstance(event, DeltaEvent)
            and self._events
            and isinstance(self._events[-1], DeltaEvent)
        ):
            self._events.pop()
        self._events.append(event)
        self._changed.set()

    def end(self, error: SvcError | None) -> None:
        self._ended = True
        self._error = error
        self._changed.set()

    def __aiter__(self) -> EventQueue:
        return self

    async def __anext__(self) -> StreamEvent:
        while True:
            if self._events:
                return self._events.popleft()
            if self._ended:
                error, self._error = self._error, None
                if error is not None:
                    raise error
                raise StopAsyncIteration
            self._changed.clear()
            await self._changed.wait()
