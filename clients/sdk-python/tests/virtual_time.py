"""An event loop whose clock jumps to the next timer, so that minutes of waiting take milliseconds."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable

TICK_S = 1e-6


class _JumpingSelector(selectors.SelectSelector):
    """Advances the clock instead of blocking."""

    move: Callable[[float], None] | None = None

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None or self.move is None:
            raise RuntimeError("Deadlock: every task waits, and there is no timer.")
        self.move(timeout)
        return ready


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    _now = 0.0

    def __init__(self) -> None:
        selector = _JumpingSelector()
        super().__init__(selector)
        selector.move = self._move

    def time(self) -> float:
        return self._now

    def _move(self, seconds: float) -> None:
        # Slightly more, because rounding must not leave the clock just before a timer.
        self._now += seconds + TICK_S
