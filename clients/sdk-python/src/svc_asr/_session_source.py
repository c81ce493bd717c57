"""Provides sessions: first the given one, then those of the caller's ``get_session``, with retries."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from ._close import lost_session
from ._events import WaitingEvent
from ._failover import Failover
from .errors import SvcError
from .wire import AsrSession

Session: TypeAlias = AsrSession | Mapping[str, Any]
GetSession: TypeAlias = Callable[[], Awaitable[Session]]

# One call of get_session may take this long: SvcClient itself waits for up to 90 s.
GET_SESSION_S_MAX = 120.0
# With an unused session of its own, the stream waits this long for another one. SvcClient would wait until it expires.
ANOTHER_S_MAX = 3.0
# A credential is valid for 60 s. The rest is for the connection.
UNUSED_S_MAX = 50.0
# The account's own unused session is a reason for these.
BLOCKED_CODES = frozenset({"concurrency_limit_exceeded", "get_session_timeout"})


class SessionSource:
    def __init__(
        self,
        *,
        session: Session | None,
        get_session: GetSession | None,
        failover: Failover,
        on_waiting: Callable[[WaitingEvent], None],
    ) -> None:
        if get_session is None and session is None:
            raise SvcError("missing_session", "Pass a session, or get_session.")
        self._first = session
        self._get_session = get_session
        self._failover = failover
        self._on_waiting = on_waiting
        # The session that `next` returned last, and when it was received.
        self._last: tuple[AsrSession, float] | None = None
        self._unused: tuple[AsrSession, float] | None = None
        # The session whose node did not answer last.
        self._lost: AsrSession | None = None

    @property
    def has_more(self) -> bool:
        """Whether another session can follow this one."""
        return self._get_session is not None

    def keep_unused(self) -> None:
        """The credential of the last session was not spent: the upgrade was refused for now."""
        self._unused = self._last

    def on_lost(self, session: AsrSession) -> None:
        """The node does not answer. The next request says so, and asks for another one."""
        self._lost = session

    async def next(self, is_first: bool) -> AsrSession:
        if is_first and self._first is not None:
            return _checked(self._first)
        assert self._get_session is not None
        while True:
            unused = self._fresh_unused()
            limit_s = GET_SESSION_S_MAX if unused is None else ANOTHER_S_MAX
            lost_session.set(self._lost)
            try:
                session = _checked(await _in_time(self._get_session(), limit_s))
                self._last = (session, time.monotonic())
                self._lost = None
                return session
            except Exception as error:
                # The stream's own unused session blocks this account, so the stream tries it once more.
                if unused is not None and getattr(error, "code", None) in BLOCKED_CODES:
                    self._unused = None
                    self._last = unused
                    return unused[0]
                wait_ms = self._failover.wait_ms_after_error(error)
                if wait_ms is None:
                    raise
                told = error if isinstance(error, SvcError) else None
                self._on_waiting(WaitingEvent(error=told, wait_ms=wait_ms))
                await asyncio.sleep(wait_ms / 1000)

    def _fresh_unused(self) -> tuple[AsrSession, float] | None:
        """Returns the unused session if its credential is still valid."""
        unused = self._unused
        return unused if unused and time.monotonic() - unused[1] < UNUSED_S_MAX else None


async def _in_time(session: Awaitable[Session], limit_s: float) -> Session:
    """A `get_session` that hangs must not hang the stream."""
    try:
        return await asyncio.wait_for(session, limit_s)
    except asyncio.TimeoutError:
        raise SvcError("get_session_timeout", "get_session did not return within 120 s.") from None


def _checked(session: Session) -> AsrSession:
    if isinstance(session, AsrSession):
        return session
    if isinstance(session, Mapping) and session.get("object") == "asr.session":
        return AsrSession.from_wire(session)
    raise SvcError(
        "invalid_session",
        "This is not a session. Pass the JSON of POST /v1/asr/sessions unchanged.",
    )
