"""One session's WebSocket: opens it, reports its events, and always reports why it ended."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import Callable
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from ._close import CloseInfo, SocketEnd, describe_close, is_unused
from ._liveness import Liveness, Verdict
from ._replay_buffer import SAMPLES_PER_MS, Audio, Entry, Flush
from ._session_clock import SessionClock
from .errors import connection_error, error_from_response
from .wire import (
    EVENT_CLASSES,
    AsrSession,
    ConfigAckEvent,
    ErrorEvent,
    ReadyEvent,
    ServerEvent,
)

# The service gives up after 20 s and reports it. This limit is for a server that hangs.
READY_S_MAX = 30.0
# Without progress on sent bytes and without an event for this long, the connection counts as lost.
STALL_S_MAX = 20.0
# The server pings every 20 s.
SILENCE_S_MAX = 65.0
CLOSE_S_MAX = 3.0
CHECK_S = 0.1
MESSAGE_BYTES_MAX = 1024 * 1024
WRITE_BUFFER_BYTES = 64 * 1024


class _Socket(ClientConnection):
    """Records when the last byte arrived, because pings do not reach the reader of messages. Closes TCP after the
    close handshake: `websockets` waits for the server to do so, and proxies take their time."""

    last_byte_at = 0.0

    def data_received(self, data: bytes) -> None:
        self.last_byte_at = time.monotonic()
        super().data_received(data)
        if self.protocol.close_rcvd is not None and self.protocol.close_sent is not None:
            self.transport.close()


class _Connect(connect):
    def process_redirect(self, exc: Exception) -> Exception | str:
        """Never follows a redirect, which would send the credential to another address."""
        return exc


class Connection:
    def __init__(
        self,
        session: AsrSession,
        on_event: Callable[[ServerEvent], None],
        tls: ssl.SSLContext | None = None,
        *,
        on_stall: Callable[[], None] = lambda: None,
        on_recovery: Callable[[ReadyEvent], None] = lambda _: None,
        open_s_max: float = READY_S_MAX,
    ) -> None:
        self.session = session
        # Without TLS, as in tests, a context would be refused.
        self._tls = tls if session.websocket_url.startswith("wss:") else None
        self.clock = SessionClock()
        self.started_at = time.monotonic()
        # After the end: the credential was not spent, so the session can still be opened.
        self.is_unused = False
        self._on_event = on_event
        # The service does not answer. If that lasts, the connection ends.
        self._on_stall = on_stall
        # It answers again.
        self._on_recovery = on_recovery
        self._open_s_max = open_s_max
        # How long the handshake took. None: the socket has not opened.
        self.open_s: float | None = None
        self._liveness: Liveness | None = None
        self._questions = 0
        self._asking: asyncio.Future[None] | None = None
        self._opening: asyncio.Future[ClientConnection] | None = None
        self._socket: ClientConnection | None = None
        self._closing: asyncio.Task[None] | None = None
        self._ready: ReadyEvent | None = None
        self._ready_at: float | None = None
        self._fatal: ErrorEvent | None = None
        self._was_heard = False
        self._active_at = self.started_at
        self._buffered = 0
        self._keyterms: tuple[str, ...] | None = None

    @property
    def ready(self) -> ReadyEvent | None:
        return self._ready if self._closing is None else None

    @property
    def ready_for_ms(self) -> float:
        return 0 if self._ready_at is None else (time.monotonic() - self._ready_at) * 1000

    @property
    def silent_s(self) -> float:
        """Seconds since the service last sent an event or accepted audio."""
        return time.monotonic() - self._active_at

    @property
    def samples_left(self) -> int:
        """How many samples the session still accepts."""
        limit_ms = self._ready.max_audio_ms if self._ready is not None else 0
        return limit_ms * SAMPLES_PER_MS - self.clock.sent_samples

    async def run(self) -> CloseInfo:
        """Opens the socket and reads it to its end."""
        watch = asyncio.ensure_future(self._watch())
        opened = False
        try:
            end = await self._open()
            if end is None:
                opened = True
                end = await self._read()
        finally:
            watch.cancel()
            if self._asking is not None:
                self._asking.cancel()
            self.drop()
        self.is_unused = not self._was_heard and is_unused(end, opened=opened, fatal=self._fatal)
        return describe_close(end, session_id=self.session.id, opened=opened, fatal=self._fatal)

    async def send(self, entry: Entry) -> bool:
        """Sends one entry and waits until the socket accepts more. Returns False if it is closed."""
        if self._buffered_bytes() == 0:
            self._active_at = time.monotonic()
        if self._liveness is not None:
            samples = entry.samples if isinstance(entry, Audio) else 0
            self._liveness.on_sent(samples / SAMPLES_PER_MS)
        if isinstance(entry, Audio):
            await self.set_keyterms(entry.keyterms)
            self.clock.advance(entry.at, entry.samples)
            return await self._send(entry.pcm)
        kind = "flush" if isinstance(entry, Flush) else "reset"
        return await self._send(json.dumps({"type": kind, "id": str(entry.id)}))

    async def configure(self, fields: dict[str, Any]) -> None:
        await self._send(json.dumps({"type": "config", **fields}))

    async def set_keyterms(self, keyterms: tuple[str, ...] | None) -> None:
        """Tells the service, unless it knows."""
        if keyterms is self._keyterms:
            return
        self._keyterms = keyterms
        await self.configure({"keyterms": keyterms})

    def close(self) -> None:
        """Starts the close handshake. `run` ends when the service has answered it."""
        if self._closing is not None:
            return
        if self._socket is None:
            self.drop()
        else:
            self._closing = asyncio.ensure_future(self._socket.close(1000))

    def drop(self) -> None:
        """Ends the connection at once."""
        if self._opening is not None:
            self._opening.cancel()
        if self._socket is not None and self._socket.transport is not None:
            self._socket.transport.abort()

    async def _open(self) -> SocketEnd | None:
        session = self.session
        tls: dict[str, Any] = {} if self._tls is None else {"ssl": self._tls}
        opener = _Connect(
            session.websocket_url,
            subprotocols=[Subprotocol(each) for each in session.websocket_protocols],
            compression=None,
            open_timeout=self._open_s_max,
            # The server pings; a client's ping would time out while the server applies back-pressure.
            ping_interval=None,
            close_timeout=CLOSE_S_MAX,
            max_size=MESSAGE_BYTES_MAX,
            write_limit=WRITE_BUFFER_BYTES,
            create_connection=_Socket,
            **tls,
        )
        self._opening = asyncio.ensure_future(_opened(opener))
        await asyncio.wait({self._opening})
        opening, self._opening = self._opening, None
        if opening.cancelled():
            return SocketEnd(1006)
        error = opening.exception()
        if error is None:
            self._socket = opening.result()
            self._active_at = time.monotonic()
            self.open_s = self._active_at - self.started_at
            if self._socket.subprotocol == session.websocket_protocols[0]:
                return None
            return SocketEnd(1006)
        if isinstance(error, InvalidStatus):
            return SocketEnd(1006, refusal=_refusal(error))
        if isinstance(error, (OSError, TimeoutError, InvalidHandshake, EOFError)):
            return SocketEnd(1006, refusal=connection_error(error))
        raise error

    async def _read(self) -> SocketEnd:
        assert self._socket is not None
        try:
            while True:
                message = await self._socket.recv()
                if isinstance(message, str):
                    self._on_text(message)
        except ConnectionClosed as closed:
            if closed.rcvd is None:
                return SocketEnd(1006)
            return SocketEnd(closed.rcvd.code, closed.rcvd.reason)

    def _on_text(self, text: str) -> None:
        event = parse_event(text)
        if event is None:
            return
        now = time.monotonic()
        is_answer = isinstance(event, ConfigAckEvent) and event.id == self._questions
        if not is_answer:
            self._active_at = now
        if isinstance(event, ReadyEvent):
            self._ready = event
            self._ready_at = now
            self._liveness = Liveness(now * 1000, (self.open_s or 0) * 1000)
        recovered = self._liveness is not None and self._liveness.on_event(now * 1000, is_answer)
        if recovered and self._ready is not None:
            self._on_recovery(self._ready)
        if isinstance(event, ErrorEvent) and event.fatal:
            self._fatal = event
        else:
            self._was_heard = True
        self._on_event(event)

    async def _send(self, message: str | bytes) -> bool:
        if self._socket is None or self._closing is not None:
            return False
        try:
            await self._socket.send(message)
        except ConnectionClosed:
            return False
        return True

    def _buffered_bytes(self) -> int:
        if self._socket is None or self._socket.transport is None:
            return 0
        transport = self._socket.transport
        return 0 if transport.is_closing() else transport.get_write_buffer_size()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(CHECK_S)
            now = time.monotonic()
            buffered = self._buffered_bytes()
            if buffered != self._buffered:
                self._active_at = now
            self._buffered = buffered
            unready = self._ready is None and now - self.started_at > READY_S_MAX
            stalled = buffered > 0 and self.silent_s > STALL_S_MAX
            last_byte_at = getattr(self._socket, "last_byte_at", now)
            if unready or stalled or now - last_byte_at > SILENCE_S_MAX:
                self.drop()
            elif self.ready is not None and self._liveness is not None:
                self._follow(self._liveness.check(now * 1000))

    def _follow(self, verdict: Verdict | None) -> None:
        if verdict == "ask":
            # A config without settings changes nothing, and the service answers it. A full socket must not stop
            # the checks.
            self._questions += 1
            self._asking = asyncio.ensure_future(self.configure({"id": self._questions}))
        elif verdict == "stalled":
            self._on_stall()
        elif verdict == "lost":
            self.drop()


async def _opened(opener: connect) -> ClientConnection:
    return await opener


def parse_event(text: str) -> ServerEvent | None:
    """Returns None for unknown event types, because the service may add some within v1."""
    try:
        wire = json.loads(text)
    except ValueError:
        return None
    kind = EVENT_CLASSES.get(wire.get("type", "")) if isinstance(wire, dict) else None
    return None if kind is None else kind.from_wire(wire)


def _refusal(error: InvalidStatus) -> Any:
    response = error.response
    try:
        body = json.loads(response.body or b"")
    except ValueError:
        body = None
    headers = response.headers
    return error_from_response(
        response.status_code, body, headers.get("x-request-id"), headers.get("retry-after")
    )
