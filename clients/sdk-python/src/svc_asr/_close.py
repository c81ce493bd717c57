"""Why a stream ended, whether a new session can help, and how a lost one is named (core/protocol/src/lost-host.ts)."""

from __future__ import annotations

import re
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Literal

from .errors import SvcError
from .wire import AsrSession, ErrorEvent


@dataclass(frozen=True)
class CloseInfo:
    """Why a stream ended. Always complete, even when the network gave no reason."""

    code: int
    """WebSocket close code. 1006: the connection was lost or refused without a close frame."""
    reason: str
    """A stable word, such as ``completed``, ``idle_timeout``, ``connection_lost`` or an API error code."""
    message: str
    retryable: bool
    """Whether a new session can help."""
    retry_after_ms: float | None = None
    """How long the service asked clients to wait before the next session, if it said so."""
    session_id: str | None = None
    request_id: str | None = None
    """Quote it when you ask for help."""


@dataclass(frozen=True)
class SocketEnd:
    code: int
    reason: str = ""
    refusal: SvcError | None = None
    """The HTTP response that refused the upgrade."""


# The service failed, restarts or is busy, or the connection broke.
RETRYABLE_CODES = frozenset({1001, 1005, 1006, 1011, 1012, 1013, 4429, 4503})
# The credential expired or was used. A new session has a new one.
RETRYABLE_REFUSALS = frozenset({"session_credential_expired", "session_credential_used"})
NOTHING_BILLED = frozenset({1011, 1012, 1013})
UNKNOWN_BILLED = frozenset({1001, 1005, 1006})

NODE_LOST = frozenset(
    {"connection_failed", "connection_lost", "connection_refused", "capacity_exceeded"}
)

NEVER_OPENED = CloseInfo(1006, "never_opened", "The stream ended before it had a session.", False)


def describe_close(
    end: SocketEnd, *, session_id: str, opened: bool, fatal: ErrorEvent | None
) -> CloseInfo:
    if end.refusal is not None:
        refusal = end.refusal
        return CloseInfo(
            1006,
            refusal.code,
            refusal.message,
            refusal.retryable or refusal.code in RETRYABLE_REFUSALS,
            refusal.retry_after_ms,
            session_id,
            refusal.request_id,
        )
    unexplained = "connection_lost" if opened else "connection_refused"
    message = "The connection was lost." if opened else "The stream could not be opened."
    if fatal is not None:
        message = fatal.message
    elif end.code == 1000:
        message = "The stream is complete."
    return CloseInfo(
        end.code,
        end.reason or (fatal.code if fatal else unexplained),
        message,
        _is_retryable(end, fatal),
        None,
        session_id,
        fatal.request_id if fatal else None,
    )


def _is_retryable(end: SocketEnd, fatal: ErrorEvent | None) -> bool:
    """Codes 4400 to 4499 ask for a change first: only a wait (4429) or a new credential (4401) is one."""
    if end.code == 4429:
        return True
    if 4400 <= end.code < 4500:
        reason = fatal.code if fatal is not None else end.reason
        return end.code == 4401 and reason in RETRYABLE_REFUSALS
    return fatal.retryable if fatal is not None else end.code in RETRYABLE_CODES


def is_unused(end: SocketEnd, *, opened: bool, fatal: ErrorEvent | None) -> bool:
    """Whether a session that was never ready can still be opened. A refused upgrade doesn't spend the credential."""
    if end.refusal is not None:
        return end.refusal.code not in RETRYABLE_REFUSALS
    reason = end.reason if fatal is None else fatal.code
    is_refused = 4400 <= end.code < 4600
    return not opened or (is_refused and reason not in RETRYABLE_REFUSALS)


def ended_by_time(close: CloseInfo) -> Literal["resume", "rollover"] | None:
    """The service ended a healthy session because it was idle or open for too long."""
    if close.code != 4408:
        return None
    return "rollover" if close.reason == "session_time_limit" else "resume"


def billed(info: CloseInfo) -> Literal["as_told", "nothing", "unknown"]:
    """Returns the charge of the session, as far as the client can know."""
    if info.code in NOTHING_BILLED:
        return "nothing"
    return "unknown" if info.code in UNKNOWN_BILLED else "as_told"


def is_node_lost(info: CloseInfo) -> bool:
    """Whether another node is wanted: nobody answered, the connection could not be opened, or the node is full."""
    return info.code in (1006, 4503) and info.reason in NODE_LOST


def stalled(session_id: str) -> CloseInfo:
    return CloseInfo(
        1006, "connection_stalled", "The service does not answer.", True, None, session_id
    )


def error_from_close(close: CloseInfo) -> SvcError:
    return SvcError(
        close.reason,
        close.message,
        retryable=close.retryable,
        retry_after_ms=close.retry_after_ms,
        session_id=close.session_id,
        request_id=close.request_id,
        close_code=close.code,
    )


def completed(close: CloseInfo) -> CloseInfo:
    reason = "max_audio_reached" if close.reason == "max_audio_reached" else "completed"
    return replace(
        close, code=1000, reason=reason, message="The stream is complete.", retryable=False
    )


def ended_by(error: SvcError, close: CloseInfo) -> CloseInfo:
    return CloseInfo(
        close.code if error.close_code is None else error.close_code,
        error.code,
        error.message,
        error.retryable,
        error.retry_after_ms,
        error.session_id or close.session_id,
        error.request_id or close.request_id,
    )


# The session that the stream lost which calls ``get_session`` now. `SvcClient` tells the service.
lost_session: ContextVar[AsrSession | None] = ContextVar("lost_session", default=None)

_KEY = re.compile(r"[A-Za-z0-9._:-]{1,128}")
_PROOF_CHARS = 16


def lost_token(session: AsrSession) -> str:
    """Names a session, and proves with the end of its credential, which is spent, that it was the caller's own."""
    return f"{session.id.replace('-', '')}_{session.websocket_protocols[1][-_PROOF_CHARS:]}"


def lost_key(random: str, session: AsrSession) -> str:
    """Returns an idempotency key that says which session its caller lost, on which node. A long host is left out."""
    host = re.match(r"wss?://([^/]+)", session.websocket_url)
    key = f"lost.{random[:16]}_{lost_token(session)}.{host[1] if host else ''}"
    return key if host and _KEY.fullmatch(key) else random


def is_lost_key(key: str | None) -> bool:
    return key is not None and key.startswith("lost.")
