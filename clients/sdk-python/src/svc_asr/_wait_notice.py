"""Logs why a call takes long, so that a script that retries is not silent."""

from __future__ import annotations

import asyncio
import logging

from .errors import SvcError

NOTICE_AFTER_S = 2.0

_log = logging.getLogger("svc_asr")


class WaitNotice:
    """Logs one warning if the call still runs after 2 s. Without a logging setup Python prints it."""

    def __init__(self, deadline_s: float) -> None:
        self._left_s = deadline_s - NOTICE_AFTER_S
        self._error: SvcError | None = None
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(NOTICE_AFTER_S, self._log)

    def failed(self, error: SvcError) -> None:
        self._error = error

    def cancel(self) -> None:
        self._timer.cancel()

    def _log(self) -> None:
        why = self._error or "The service has not answered yet."
        _log.warning("Waiting for the service, at most %d s more. %s", self._left_s, why)
