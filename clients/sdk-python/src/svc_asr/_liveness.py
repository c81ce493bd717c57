"""Whether the service still answers, from times alone: pure rules, tested by the vectors that both SDKs share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

# After this long without an event the client asks for an answer, if the service owes one.
QUIET_MS = 300
# Even while other events arrive, it asks this often: only an answer shows how much audio was read.
ASK_MS = 2_000
# An answer that takes longer is reported: with `QUIET_MS` and the checks, less than 3 s after a cut.
ANSWER_MS = 2_000
# A network with slow answers gets this many times the slowest one.
PATIENCE = 1.5
# Without an answer for this long, the connection is given up.
LOST_MS = 12_000
# The service reads live audio at once. More audio than this on the way extends the time limits.
LIVE_MS = 1_500
# After a longer gap between two checks the process was suspended. The gap says nothing about the service.
SUSPENDED_MS = 1_500

# `ask`: send a message that the service answers. `stalled` is returned once, until `on_event` returns `recovered`.
Verdict: TypeAlias = Literal["ask", "stalled", "lost"]


@dataclass(frozen=True)
class _Sent:
    audio_ms: float = 0
    messages: int = 0


@dataclass
class _Question:
    sent: _Sent
    # Audio that the service has to read before the question.
    unread_ms: float
    asked_at: float
    # Moves with every event: the answer may be late, but the connection works.
    waiting_since: float


class Liveness:
    """TCP takes minutes to notice a dead network, so the client asks a question whenever it sends and hears nothing. A
    stalled connection is reported early and given up late, because most stalls of mobile networks end by themselves."""

    def __init__(self, now: float, open_ms: float) -> None:
        """``open_ms`` is how long the handshake took: at least three round trips. Times are in milliseconds."""
        self._sent = _Sent()
        self._answered = self._sent
        self._question: _Question | None = None
        self._is_stalled = False
        self._slowest_ms = open_ms / 3
        self._event_at = now
        self._answer_at = now
        self._checked_at = now

    def on_sent(self, audio_ms: float) -> None:
        sent = self._sent
        self._sent = replace(sent, audio_ms=sent.audio_ms + audio_ms, messages=sent.messages + 1)

    def on_event(self, now: float, is_answer: bool) -> Literal["recovered"] | None:
        """Returns ``recovered`` if the connection had been reported as stalled."""
        self._event_at = now
        question = self._question
        if question is None:
            return None
        question.waiting_since = now
        if not is_answer:
            return None
        self._slowest_ms = max(self._slowest_ms, now - question.asked_at)
        self._answered = question.sent
        self._answer_at = now
        self._question = None
        was_stalled, self._is_stalled = self._is_stalled, False
        return "recovered" if was_stalled else None

    def check(self, now: float) -> Verdict | None:
        gap_ms = now - self._checked_at
        self._checked_at = now
        question = self._question
        if question is None:
            return self._ask(now) if self._should_ask(now) else None
        if gap_ms > SUSPENDED_MS:
            question.waiting_since += gap_ms
        waited_ms = now - question.waiting_since
        if waited_ms > LOST_MS + 4 * question.unread_ms:
            return "lost"
        answer_ms = max(ANSWER_MS, PATIENCE * self._slowest_ms) + 2 * question.unread_ms
        if waited_ms <= answer_ms or self._is_stalled:
            return None
        self._is_stalled = True
        return "stalled"

    def _should_ask(self, now: float) -> bool:
        owes_answer = self._sent.messages > self._answered.messages
        is_quiet = now - self._event_at >= QUIET_MS or now - self._answer_at >= ASK_MS
        return owes_answer and is_quiet

    def _ask(self, now: float) -> Literal["ask"]:
        unread_ms = max(0, self._sent.audio_ms - self._answered.audio_ms - LIVE_MS)
        self._question = _Question(self._sent, unread_ms, now, now)
        return "ask"
