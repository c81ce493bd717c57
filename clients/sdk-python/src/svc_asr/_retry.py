"""When to retry a request: pure rules, tested by the vectors that both SDKs share. And a warning while it waits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeGuard

from .errors import SvcError

FIRST_WAIT_MS = 250
LONGEST_WAIT_MS = 10_000
# A server that stays silent is not overloaded for a moment. Each further attempt would cost a whole timeout.
TIMEOUT_RETRIES_MAX = 2
NOTICE_AFTER_S = 2.0
BLOCKED = "concurrency_limit_exceeded"
# A shorter Retry-After would let a client ask all the time.
PACED_MS_MIN = 1_000

_log = logging.getLogger("svc_asr")


def backoff_ms(attempt: int, random: Callable[[], float]) -> float:
    """Returns an exponential backoff, half of it random, so that clients do not reconnect all at once."""
    # Limits the exponent, because a Python integer grows without bound.
    full = float(min(LONGEST_WAIT_MS, FIRST_WAIT_MS << min(attempt, 16)))
    return full / 2 + full / 2 * random()


def is_paced(retry_after_ms: float | None) -> TypeGuard[float]:
    """The service says when to ask again, so its answer does not grow the client's own backoff."""
    return retry_after_ms is not None and retry_after_ms >= PACED_MS_MIN


def paced_ms(retry_after_ms: float, random: Callable[[], float]) -> float:
    """Never before ``Retry-After``, and up to a tenth later."""
    return retry_after_ms * (1 + 0.1 * random())


@dataclass(frozen=True)
class RetryLimits:
    retries_max: int
    wait_ms_max: float


def retry_wait_ms(
    error: SvcError,
    failures: int,
    waited_ms: float,
    limits: RetryLimits,
    random: Callable[[], float],
    has_just_closed: bool = False,
    paced: int = 0,
) -> float | None:
    """Returns how long to wait before the next attempt, or None if the caller must raise the error.

    ``has_just_closed``: the session that blocks the caller may be its own, which was closed a moment ago. ``paced`` of
    the failures before this one were answered with ``Retry-After``.
    """
    silent = error.code == "timeout"
    retries_max = min(limits.retries_max, TIMEOUT_RETRIES_MAX) if silent else limits.retries_max
    if not error.retryable or failures > retries_max:
        return None
    # A session that was just closed is settled within milliseconds, so the retry does not wait for Retry-After.
    is_early = has_just_closed and error.code == BLOCKED
    if is_paced(error.retry_after_ms) and not is_early:
        wait_ms = paced_ms(error.retry_after_ms, random)
    else:
        least_ms = 0 if is_early else error.retry_after_ms or 0
        wait_ms = max(least_ms, backoff_ms(failures - 1 - paced, random))
    return None if waited_ms + wait_ms > limits.wait_ms_max else wait_ms


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
