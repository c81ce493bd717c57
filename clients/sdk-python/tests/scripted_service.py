"""An in-process service. Its scripts are used in turn and repeat after the last."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.frames import Close
from websockets.http11 import Response

from svc_asr import AsrSession, SvcError
from svc_asr._close import lost_session
from svc_asr._connection import CLOSE_S_MAX, WRITE_BUFFER_BYTES

PROTOCOL = "svc.realtime.v1"
SECOND_BYTES = 32_000
TEXT = "nĩ wega"


@dataclass(frozen=True)
class Granted:
    after_s: float = 0.01


@dataclass(frozen=True)
class RateLimited:
    """``get_session`` is refused with 429."""

    retry_after_s: float


@dataclass(frozen=True)
class AccountBusy:
    """``get_session`` is refused because the account has all the sessions it may have."""


@dataclass(frozen=True)
class Broken:
    """``get_session`` raises an error of its own."""


@dataclass(frozen=True)
class Hanging:
    """``get_session`` never returns."""


SessionScript: TypeAlias = Granted | RateLimited | AccountBusy | Broken | Hanging


@dataclass(frozen=True)
class RefusedUpgrade:
    status: Literal[429, 503]
    retry_after_s: float


@dataclass(frozen=True)
class Stuck:
    """It never opens, never gets ready, answers no flush, or accepts no audio."""

    at: Literal["opening", "ready", "flush", "audio"]


@dataclass(frozen=True)
class Closing:
    """It closes some time after it is ready."""

    after_s: float
    code: int
    reason: str = ""


@dataclass(frozen=True)
class Answering:
    """It answers every flush."""

    after_s: float = 0.01


@dataclass(frozen=True)
class Full:
    """Its audio limit is one second. Then it sends its last final and closes."""

    final_after_s: float


ConnectionScript: TypeAlias = RefusedUpgrade | Stuck | Closing | Answering | Full

SESSION = AsrSession.from_wire(
    {
        "id": "a session",
        "websocket_url": "wss://asr.example.org/v1/asr/stream",
        "websocket_protocols": [PROTOCOL, "svc.auth.example"],
    }
)


class ScriptedService:
    def __init__(
        self, sessions: Sequence[SessionScript], connections: Sequence[ConnectionScript]
    ) -> None:
        self._sessions = sessions
        self._connections = connections
        self._opened = 0
        self.sessions_asked = 0
        # What the stream says it lost, at each call.
        self.lost: list[AsrSession | None] = []

    async def get_session(self) -> AsrSession:
        self.lost.append(lost_session.get())
        script = self._sessions[self.sessions_asked % len(self._sessions)]
        self.sessions_asked += 1
        match script:
            case Granted():
                await asyncio.sleep(script.after_s)
                return SESSION
            case RateLimited():
                raise SvcError(
                    "request_rate_exceeded",
                    "Later.",
                    retryable=True,
                    status=429,
                    retry_after_ms=script.retry_after_s * 1000,
                )
            case AccountBusy():
                raise SvcError(
                    "concurrency_limit_exceeded",
                    "Later.",
                    retryable=True,
                    status=429,
                    retry_after_ms=60_000,
                )
            case Broken():
                raise LookupError("no such tenant")
            case Hanging():
                await asyncio.Event().wait()
                return SESSION

    def connect(self, _url: str, *, open_timeout: float, **_options: Any) -> Opener:
        """Replaces `websockets`' connect."""
        script = self._connections[self._opened % len(self._connections)]
        self._opened += 1
        return Opener(script, open_timeout)


class Opener:
    def __init__(self, script: ConnectionScript, timeout_s: float) -> None:
        self._script = script
        self._timeout_s = timeout_s

    def __await__(self) -> Generator[Any, None, ScriptedSocket]:
        return self._open().__await__()

    async def _open(self) -> ScriptedSocket:
        if self._script == Stuck("opening"):
            await asyncio.sleep(self._timeout_s)
            raise TimeoutError
        await asyncio.sleep(0.001)
        if isinstance(self._script, RefusedUpgrade):
            raise InvalidStatus(_refusal(self._script))
        return ScriptedSocket(self._script)


def _refusal(script: RefusedUpgrade) -> Response:
    code = "request_rate_exceeded" if script.status == 429 else "service_restarting"
    body = json.dumps({"error": {"code": code, "message": "Later."}}).encode()
    headers = Headers({"retry-after": str(script.retry_after_s)})
    return Response(script.status, "Refused", headers, body)


class ScriptedSocket:
    """A `ClientConnection` and its transport."""

    subprotocol = PROTOCOL

    def __init__(self, script: Stuck | Closing | Answering | Full) -> None:
        self.transport = self
        self._script = script
        self._texts: list[str] = []
        self._changed = asyncio.Event()
        self._end: ConnectionClosedError | None = None
        self._unsent_bytes = 0
        self._utterance = 0
        self._heard_bytes = 0
        if script != Stuck("ready"):
            self._say(
                type="ready", session_id=SESSION.id, max_audio_ms=300_000, idle_timeout_ms=60_000
            )
        if isinstance(script, Closing):
            close = Close(script.code, script.reason)
            asyncio.get_running_loop().call_later(script.after_s, self._over, close)

    async def recv(self) -> str:
        while not self._texts and self._end is None:
            self._changed.clear()
            await self._changed.wait()
        if self._texts:
            return self._texts.pop(0)
        assert self._end is not None
        raise self._end

    async def send(self, message: str | bytes) -> None:
        if self._script == Stuck("audio"):
            self._unsent_bytes += len(message)
            while self._unsent_bytes > WRITE_BUFFER_BYTES and self._end is None:
                self._changed.clear()
                await self._changed.wait()
        if self._end is not None:
            raise self._end
        if isinstance(self._script, Answering) and isinstance(message, str) and "config" in message:
            self._say(type="config_ack", id=json.loads(message).get("id"), ignored=[])
        if isinstance(self._script, Answering) and isinstance(message, str) and "flush" in message:
            asyncio.get_running_loop().call_later(self._script.after_s, self._answer, "flush")
        if isinstance(self._script, Full) and isinstance(message, bytes):
            self._heard_bytes += len(message)
            if self._heard_bytes == SECOND_BYTES:
                loop = asyncio.get_running_loop()
                loop.call_later(self._script.final_after_s, self._end_full)

    async def close(self, _code: int) -> None:
        if isinstance(self._script, Answering):
            self._over(Close(1000, "completed"))
        else:
            await asyncio.sleep(CLOSE_S_MAX)
            self._over(None)

    def is_closing(self) -> bool:
        return self._end is not None

    def get_write_buffer_size(self) -> int:
        return self._unsent_bytes

    def abort(self) -> None:
        self._over(None)

    def _end_full(self) -> None:
        self._answer("max_audio_reached")
        self._over(Close(1000, "max_audio_reached"))

    def _answer(self, reason: str) -> None:
        ms = dict.fromkeys(("end_ms", "audio_ms", "total_audio_ms", "billable_ms"), 1_000)
        self._say(type="final", reason=reason, text=TEXT, utterance=self._utterance, **ms)
        self._utterance += 1

    def _say(self, **event: object) -> None:
        if self._end is None:
            self._texts.append(json.dumps(event))
            self._changed.set()

    def _over(self, close: Close | None) -> None:
        if self._end is None:
            self._end = ConnectionClosedError(close, None)
            self._changed.set()
