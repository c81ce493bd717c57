"""Sends the replay buffer to the current session, within its limits, and leaves the session before it ends."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ._connection import Connection
from ._replay_buffer import SAMPLE_RATE_HZ, Audio, Entry, Flush, ReplayBuffer
from .pauses import PauseFinder
from .wire import ReadyEvent

# The service refuses more than five flushes a second.
FLUSH_SPACING_S = 0.25
# With less audio left than this, the next pause is used to change sessions.
ROLLOVER_SAMPLES = 10 * SAMPLE_RATE_HZ
SESSION_MS_MAX = 15 * 60_000
ROLLOVER_EARLY_MS = 60_000
# Leaves a session this long before its idle timeout.
LEAVE_EARLY_MS = 10_000

Move: TypeAlias = Literal["rollover", "resume"]


@dataclass(frozen=True)
class _Boundary:
    """A flush that the SDK added. Its final ends the session."""

    id: int
    move: Move


class Sender:
    def __init__(
        self,
        buffer: ReplayBuffer,
        *,
        may_move: bool,
        new_id: Callable[[], int],
        on_sent: Callable[[], None],
    ) -> None:
        self._buffer = buffer
        self._may_move = may_move
        self._new_id = new_id
        self._on_sent = on_sent
        self._changed = asyncio.Event()
        self._pauses = PauseFinder()
        self._boundary: _Boundary | None = None
        self._move: Move | None = None
        self._flushed_at = float("-inf")
        self._active_at = 0.0

    @property
    def move(self) -> Move | None:
        """Set when the sender left the session on purpose, near its limit or when idle."""
        return self._move

    def wake(self) -> None:
        """Wakes the sender, because there may be something to send."""
        self._changed.set()

    def attach(self) -> None:
        self._pauses = PauseFinder()
        self._boundary = None
        self._move = None

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
            timeout = self._timeout_s(connection)
            try:
                await asyncio.wait_for(self._changed.wait(), timeout)
            except asyncio.TimeoutError:
                self._rest_if_idle(connection)

    def on_answered(self, ids: tuple[int, ...], connection: Connection) -> None:
        """Closes the session if its own boundary flush is among those that got their final."""
        if self._boundary is not None and self._boundary.id in ids:
            self._move = self._boundary.move
            connection.close()

    def _after_sending(self, entry: Entry) -> None:
        if isinstance(entry, Audio):
            self._pauses.hear(entry.pcm)
        if isinstance(entry, Flush):
            self._flushed_at = time.monotonic()
        self._active_at = time.monotonic()
        self._on_sent()

    def _next(self, connection: Connection) -> Entry | None:
        buffer = self._buffer
        if isinstance(buffer.peek(), Audio) and self._is_time_to_roll(connection):
            self._leave("rollover")
        entry = buffer.peek()
        if entry is None:
            return None
        if self._boundary is not None and entry != Flush(self._boundary.id):
            return None
        if isinstance(entry, Flush) and self._flush_wait_s() > 0:
            return None
        if isinstance(entry, Audio) and connection.samples_left <= 0:
            return None
        return buffer.next(max(0, connection.samples_left))

    def _flush_wait_s(self) -> float:
        return FLUSH_SPACING_S - (time.monotonic() - self._flushed_at)

    def _is_time_to_roll(self, connection: Connection) -> bool:
        heard = connection.clock.heard
        if not self._may_move or self._boundary is not None or heard == 0:
            return False
        limit = heard + connection.samples_left
        near = connection.samples_left < min(ROLLOVER_SAMPLES, limit / 4)
        old = time.monotonic() - connection.started_at > _rollover_age_s(connection.ready)
        return (near and self._pauses.is_pause) or old

    def _timeout_s(self, connection: Connection) -> float | None:
        if isinstance(self._buffer.peek(), Flush) and self._flush_wait_s() > 0:
            return self._flush_wait_s()
        rest_at = self._rest_at(connection)
        return None if rest_at is None else max(0.0, rest_at - time.monotonic())

    def _rest_at(self, connection: Connection) -> float | None:
        ready = connection.ready
        if ready is None or not self._may_move or self._boundary is not None:
            return None
        idle_ms = ready.idle_timeout_ms
        return self._active_at + max(idle_ms / 2, idle_ms - LEAVE_EARLY_MS) / 1000

    def _rest_if_idle(self, connection: Connection) -> None:
        """Leaves an idle session before the service closes it. The next audio opens a new one."""
        rest_at = self._rest_at(connection)
        if rest_at is None or time.monotonic() < rest_at:
            return
        if self._buffer.is_empty:
            self._move = "resume"
            connection.close()
        else:
            self._leave("resume")

    def _leave(self, move: Move) -> None:
        """Flushes here. The final is the boundary between two sessions."""
        id = self._new_id()
        self._buffer.flush_here(id)
        self._boundary = _Boundary(id, move)


def _rollover_age_s(ready: ReadyEvent | None) -> float:
    """Returns a minute less than the session's time limit, or half of a short limit."""
    announced = getattr(ready, "session_time_limit_ms", None)
    limit_ms = announced if announced else SESSION_MS_MAX
    return max(limit_ms / 2, limit_ms - ROLLOVER_EARLY_MS) / 1000
