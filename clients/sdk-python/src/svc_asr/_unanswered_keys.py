"""Idempotency keys of calls that failed or were cancelled, for the next call."""

from __future__ import annotations

import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

# A session lasts for 60 s. One that is received later than this would expire before it is opened.
KEPT_S = 50.0
KEPT_MAX = 100


@dataclass(frozen=True)
class _Kept:
    what: str
    key: str
    asked_at: float


class UnansweredKeys:
    """The service may have reserved a session whose response was lost, or came after the caller gave up.

    The next call for the same takes the same key, so it gets that session. With another key it would be refused for up
    to a minute because of it.
    """

    def __init__(self) -> None:
        self._kept: list[_Kept] = []

    async def use(
        self, what: str, call: Callable[[str], Awaitable[T]], new_key: str | None = None
    ) -> T:
        """Runs a call with an idempotency key that no other call has at the same time: a kept one, or a new one."""
        now = time.monotonic()
        self._kept = [each for each in self._kept if now - each.asked_at < KEPT_S]
        used = next((each for each in self._kept if each.what == what), None)
        if used is None:
            used = _Kept(what, new_key or str(uuid.uuid4()), now)
        else:
            self._kept.remove(used)
        try:
            return await call(used.key)
        except BaseException:  # A cancelled call, too.
            self._kept = [*self._kept, used][-KEPT_MAX:]
            raise
