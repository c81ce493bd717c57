"""Sends the replay buffer to the current session, within its limits, and leaves the session before it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ._connection import Connection
from ._detectors.pause import PauseDetector
from ._replay_buffer import SAMPLE_RATE_HZ, Audio, Entry, Flush, ReplayBuffer
from .wire import ReadyEvent

# The service refuses more than five flushes a second.
FLUSH_SPACING_S = 0.25
# With less audio left than this, the next pause is used to change sessions.
ROLLOVER_SAMPLES = 10 * SAMPLE_RATE_HZ
SESSION_MS_MAX = 15 * 60_000
ROLLOVER_EARLY_MS = 60_000
# Leaves a session this long before its idle timeout.
IDLE_EARLY_MS = 10_000

Handover: TypeAlias = Literal["rollover", "resume"]


@dataclass(frozen=True)
class _LastFlush:
    """A flush that the SDK added. Its final ends the session."""

    id: int
    handover: Handover


class Sender:
    def __init__(
        self,
        buffer: ReplayBuffer,
        *,
        can_reconnect: bool,
        new_id: Callable[[], int],
        on_sent: Callable[[], None],
    ) -> None:
        self._buffer = buffer
        self._can_reconnect = can_reconnect
        self._new_id = new_id
        self._on_sent = on_sent
        self._changed = asyncio.Event()
        self._pauses = PauseDetector()
        self._last_flush: _LastFlush | None = None
        self._handover: Handover | None = None
        self._flushed_at = float("-inf")
        self._active_at = 0.0

    @property
    def handover(self) -> Handover | None:
        """Set when the sender left the session on purpose, near its limit or when idle."""
        return self._handover

    def wake(self) -> None:
        """Wakes the sender, because there may be something to send."""
        self._changed.set()

    def attach(self) -> None:
        self._pauses = PauseDetector()
        self._last_flush = None
        self._handover = None

    async def run(self, connection: Connection) -> None:
        """Sends until cancelled or until the socket closes."""
        while True:
            self._changed.clear()
            if connection.ready is None:
                self._active_at = time.monotonic()
                await self._changed.wait()
                continue
            entry = self._next(connection)
            if entry is not None:
                self._active_at = time.monotonic()
                if not await connection.send(entry):
                    return
                self._after_sending(entry)
                continue
            if self._buffer.is_sent:
                await connection.set_keyterms(self._buffer.keyterms)
            timeout = self._timeout_s(connection)
            try:
                await asyncio.wait_for(self._changed.wait(), timeout)
            except asyncio.TimeoutError:
                self._leave_idle_session(connection)

    def on_answered(self, ids: tuple[int, ...], connection: Connection) -> None:
        """Closes the session if the sender's own flush is among those that got their final."""
        if self._last_flush is not None and self._last_flush.id in ids:
            self._handover = self._last_flush.handover
            connection.close()

    def _after_sending(self, entry: Entry) -> None:
        if isinstance(entry, Audio):
            self._pauses.push(entry.pcm)
        if isinstance(entry, Flush):
            self._flushed_at = time.monotonic()
        self._active_at = time.monotonic()
        self._on_sent()

    def _next(self, connection: Connection) -> Entry | None:
        buffer = self._buffer
        if isinstance(buffer.peek(), Audio) and self._should_roll_over(connection):
            self._flush_and_leave("rollover")
        entry = buffer.peek()
        if entry is None:
            return None
        if self._last_flush is not None and entry != Flush(self._last_flush.id):
            return None
        if isinstance(entry, Flush) and self._flush_wait_s() > 0:
            return None
        if isinstance(entry, Audio) and connection.samples_left <= 0:
            return None
        return buffer.next(max(0, connection.samples_left))

    def _flush_wait_s(self) -> float:
        return FLUSH_SPACING_S - (time.monotonic() - self._flushed_at)

    def _should_roll_over(self, connection: Connection) -> bool:
        sent = connection.clock.sent_samples
        if not self._can_reconnect or self._last_flush is not None or sent == 0:
            return False
        limit = sent + connection.samples_left
        near = connection.samples_left < min(ROLLOVER_SAMPLES, limit / 4)
        old = time.monotonic() - connection.started_at > _rollover_age_s(connection.ready)
        return (near and self._pauses.is_pause) or old

    def _timeout_s(self, connection: Connection) -> float | None:
        if isinstance(self._buffer.peek(), Flush) and self._flush_wait_s() > 0:
            return self._flush_wait_s()
        leave_at = self._leave_at(connection)
        return None if leave_at is None else max(0.0, leave_at - time.monotonic())

    def _leave_at(self, connection: Connection) -> float | None:
        ready = connection.ready
        if ready is None or not self._can_reconnect or self._last_flush is not None:
            return None
        idle_ms = ready.idle_timeout_ms
        return self._active_at + max(idle_ms / 2, idle_ms - IDLE_EARLY_MS) / 1000

    def _leave_idle_session(self, connection: Connection) -> None:
        """Leaves an idle session before the service closes it. The next audio opens a new one."""
        leave_at = self._leave_at(connection)
        if leave_at is None or time.monotonic() < leave_at:
            return
        if self._buffer.is_empty:
            self._handover = "resume"
            connection.close()
        else:
            self._flush_and_leave("resume")

    def _flush_and_leave(self, handover: Handover) -> None:
        """Flushes what was sent so far. Its final is the border between two sessions."""
        id = self._new_id()
        self._buffer.flush_sent(id)
        self._last_flush = _LastFlush(id, handover)


def _rollover_age_s(ready: ReadyEvent | None) -> float:
    """Returns a minute less than the session's time limit, or half of a short limit."""
    announced = getattr(ready, "session_time_limit_ms", None)
    limit_ms = announced if announced else SESSION_MS_MAX
    return max(limit_ms / 2, limit_ms - ROLLOVER_EARLY_MS) / 1000
