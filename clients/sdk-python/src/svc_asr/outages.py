"""Reports when a stream has no session, for voice agents."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ._close import error_from_close
from ._events import ReconnectingEvent, StreamEvent, WaitingEvent
from .errors import SvcError
from .wire import ReadyEvent

# How long the first session may take before that is reported.
FIRST_SESSION_S = 3.0


class OutageReporter:
    """Reports at once when a stream lost its session, after each refused attempt, and when the first session takes
    too long. Sessions that end by plan (audio limit, long silence) are no outage. No audio is lost meanwhile."""

    def __init__(
        self, *, on_outage: Callable[[SvcError], None], on_recovery: Callable[[float], None]
    ) -> None:
        self._on_outage = on_outage
        self._on_recovery = on_recovery
        self._timer: asyncio.TimerHandle | None = None
        self._since: float | None = None

    def start(self) -> None:
        """Call when the stream opens. Pass all of its events to `follow` afterwards."""
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(FIRST_SESSION_S, self._report_slow_start, loop.time())

    def follow(self, event: StreamEvent) -> None:
        if isinstance(event, ReconnectingEvent) and event.why == "failover":
            self._report(error_from_close(event.close))
        elif isinstance(event, WaitingEvent):
            self._report(event.error or SvcError("get_session_failed", "get_session failed."))
        elif isinstance(event, ReadyEvent):
            self._on_ready()

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        self._since = None

    def _report_slow_start(self, started_at: float) -> None:
        message = "The service has not accepted a stream yet. The plugin keeps trying."
        self._report(SvcError("connecting", message, retryable=True), started_at)

    def _report(self, error: SvcError, since: float | None = None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._since is None:
            self._since = since or asyncio.get_running_loop().time()
        self._on_outage(error)

    def _on_ready(self) -> None:
        since = self._since
        self.stop()
        if since is not None:
            self._on_recovery(asyncio.get_running_loop().time() - since)
