"""How long to wait between sessions, and when to stop trying."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from ._close import CloseInfo
from ._retry import PACED_MS_MIN, backoff_ms, is_paced, paced_ms

# A session this old proves that the trouble is over.
STABLE_MS = 5_000
# Give up after this long without a final or a stable session: the same audio would be replayed forever.
GIVE_UP_MS = 120_000
# Before the first `ready` no audio can be lost, so the stream fails sooner. Longer than most outages of a network or
# database.
GIVE_UP_FIRST_MS = 45_000
# The service is restarting, busy or over a rate limit: never reconnect at once.
PACED_CODES = frozenset({1013, 4429, 4503})
# The first retry comes within this time, because a lost node or network interrupts many streams at one moment.
FIRST_MS_MAX_LOST = 2_000
FIRST_MS_MAX_ENDED = 500
# The connection broke, without a word of the service.
LOST_CODE = 1006
# Attempts after errors that do not say whether a retry helps.
UNKNOWN_ERRORS_MAX = 3


class Failover:
    def __init__(
        self,
        now_ms: Callable[[], float] = lambda: time.monotonic() * 1000,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._now_ms = now_ms
        self._chance = chance
        self._failures = 0
        self._failing_since: float | None = None
        self._unknown_errors = 0
        self._was_ready = False
        # The session lasted or brought a final, so the next one may follow at once.
        self._session_worked = False
        self._finishing = False

    def on_end(self, ready_for_ms: float) -> None:
        if ready_for_ms > 0:
            self._unknown_errors = 0
            self._was_ready = True
        if ready_for_ms >= STABLE_MS and not self._finishing:
            self._session_worked = True
            self._failures = 0
            self._failing_since = None

    def on_progress(self) -> None:
        """A final arrived, so the next failure starts a new give-up period. The backoff stays."""
        self._session_worked = True
        self._failing_since = None

    def on_finish(self) -> None:
        """From now on only a final counts as progress: `finish()` must settle."""
        self._finishing = True

    def wait_ms_after_close(self, close: CloseInfo) -> float | None:
        """Returns None when it is time to give up. After a stable session the first retry comes soon."""
        self._session_worked = False
        is_busy = close.code in PACED_CODES
        is_first = self._failures == 0 and not is_busy and not is_paced(close.retry_after_ms)
        wait_ms = self._next_wait_ms(close.retry_after_ms, PACED_MS_MIN if is_busy else 0)
        if not is_first or wait_ms is None:
            return wait_ms
        first_ms_max = FIRST_MS_MAX_LOST if close.code == LOST_CODE else FIRST_MS_MAX_ENDED
        return first_ms_max * self._chance()

    def wait_ms_after_handover(self) -> float | None:
        """After a session that ended by plan: full, idle or too old. 0 if it worked. A service that ends
        every session at once is retried with increasing waits. None when it is time to give up."""
        worked, self._session_worked = self._session_worked, False
        return 0 if worked else self._next_wait_ms(None)

    def wait_ms_after_error(self, error: BaseException) -> float | None:
        """After ``get_session`` failed. Returns None if a retry cannot help."""
        retryable = getattr(error, "retryable", None)
        if retryable is None:
            self._unknown_errors += 1
        if retryable is False or self._unknown_errors > UNKNOWN_ERRORS_MAX:
            return None
        retry_after_ms = getattr(error, "retry_after_ms", None)
        known = isinstance(retry_after_ms, (int, float))
        return self._next_wait_ms(retry_after_ms if known else None)

    def _next_wait_ms(self, retry_after_ms: float | None, least_ms: float = 0) -> float | None:
        """``least_ms``: unless the service says when to ask again."""
        now = self._now_ms()
        if self._failing_since is None:
            self._failing_since = now
        give_up_ms = GIVE_UP_MS if self._was_ready else GIVE_UP_FIRST_MS
        left_ms = self._failing_since + give_up_ms - now
        if left_ms <= 0:
            return None
        if is_paced(retry_after_ms):
            wait_ms = paced_ms(retry_after_ms, self._chance)
        else:
            own_ms = backoff_ms(self._failures, self._chance)
            least_ms = max(least_ms, retry_after_ms or 0)
            wait_ms = max(paced_ms(least_ms, self._chance), own_ms)
            self._failures += 1
        # A longer Retry-After still gets one last attempt, at the give-up time.
        return min(wait_ms, left_ms)
