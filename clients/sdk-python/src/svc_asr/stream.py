"""One stream of speech over one or more sessions."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar
from weakref import WeakSet

from ._close import (
    NEVER_OPENED,
    CloseInfo,
    billed,
    completed,
    ended_by,
    ended_by_time,
    error_from_close,
    is_node_lost,
    lost_token,
    stalled,
)
from ._connection import Connection
from ._events import EventQueue, ReconnectingEvent, StreamEvent
from ._failover import Failover
from ._liveness import LOST_MS
from ._receiver import Receiver
from ._replay_buffer import BYTES_PER_SECOND, SAMPLES_PER_MS, ReplayBuffer
from ._sender import Sender
from ._session_source import GetSession, Session, SessionSource
from ._tls import trusting
from ._transcript import Transcript, TranscriptBuilder
from .errors import SvcError
from .wire import AsrSession, FinalEvent

T = TypeVar("T")
AudioData: TypeAlias = bytes | bytearray | memoryview

FINISH_S_MAX = 10.0
# A machine that is gone does not answer at all. A slow network takes seconds, which is known after the first time.
OPEN_S_FIRST = 10.0
OPEN_S_LEAST = 5.0
OPEN_S_MOST = 20.0
# The service reads no more.
CONTINUES_MAX = 4
# `write()` returns while at most this much is unsent.
WAITING_BYTES_MAX = 5 * BYTES_PER_SECOND
# Hard limit for callers that don't await `write()`.
QUEUE_BYTES_MAX = 300 * BYTES_PER_SECOND


@dataclass(frozen=True, kw_only=True)
class Endpointing:
    """Makes the service end each utterance after this much silence, or at this length."""

    silence_ms: int | None = None
    max_utterance_ms: int | None = None
    detector: Literal["level", "confirmed"] | None = None
    """``confirmed``, the default, adds a second detector to ``level``, which hears pauses in music and noise."""
    eager_ms: int | None = None
    """Reports `TurnEagerEvent` after this much silence, from 160 to 100 less than ``silence_ms``. Off by default."""


def open_stream(
    *,
    get_session: GetSession | None = None,
    session: Session | None = None,
    language: str | None = None,
    endpointing: Endpointing | None = None,
    keyterms: Iterable[str] | None = None,
    numbers: bool = False,
    ca: str | os.PathLike[str] | None = None,
) -> SvcStream:
    """Opens a stream on the running event loop. Needs a session, never a key.

    With ``get_session`` the stream survives service failures, session limits and long silences. With only a
    ``session`` it ends with that session. ``language`` is checked against the session's model. ``keyterms``
    are names and words to listen for; `ConfigAckEvent` says which are used. ``numbers`` adds ``text_formatted``
    to finals and `TurnEagerEvent`, and ``entities`` to finals: numbers as digits. ``ca`` is a file with the
    certificates of a private authority, as in `SvcClient`.
    """
    return SvcStream(
        get_session=get_session,
        session=session,
        language=language,
        endpointing=endpointing,
        keyterms=keyterms,
        numbers=numbers,
        ca=ca,
    )


class SvcStream:
    """Audio since the last final is kept. When a session fails, reaches its limit or goes idle, the next one
    receives that audio and the transcript continues."""

    def __init__(
        self,
        *,
        get_session: GetSession | None,
        session: Session | None,
        language: str | None,
        endpointing: Endpointing | None,
        keyterms: Iterable[str] | None = None,
        numbers: bool = False,
        ca: str | os.PathLike[str] | None = None,
    ) -> None:
        self._tls = None if ca is None else trusting(ca)
        self._failover = Failover()
        self._sessions = SessionSource(
            session=session,
            get_session=get_session,
            failover=self._failover,
            on_waiting=self._emit,
        )
        self._buffer = ReplayBuffer(None if keyterms is None else tuple(keyterms))
        self._builder = TranscriptBuilder()
        self._queues: WeakSet[EventQueue] = WeakSet()
        self._writers: list[asyncio.Future[None]] = []
        self._next_id = 1
        self._open_s_max = OPEN_S_FIRST
        # The last sessions whose connection was lost.
        self._lost: tuple[str, ...] = ()
        self._connection: Connection | None = None
        self._resting = asyncio.Event()
        self._woken = asyncio.Event()
        self._end: SvcError | Literal["finished", "closed"] | None = None
        can_reconnect = self._sessions.has_more
        self._sender = Sender(
            self._buffer,
            can_reconnect=can_reconnect,
            new_id=self._new_id,
            on_sent=self._release_writers,
        )
        self._receiver = Receiver(
            buffer=self._buffer,
            sender=self._sender,
            builder=self._builder,
            failover=self._failover,
            emit=self._emit,
            fail=self._fail,
            can_reconnect=can_reconnect,
            config=_config(language, endpointing, numbers),
            lost_sessions=lambda: self._lost,
        )
        loop = asyncio.get_running_loop()
        self._stop: asyncio.Future[None] = loop.create_future()
        self._closed: asyncio.Future[CloseInfo] = loop.create_future()
        self._task = loop.create_task(self._run())

    async def __aenter__(self) -> SvcStream:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    def __aiter__(self) -> EventQueue:
        return self.events()

    @property
    def transcript(self) -> Transcript:
        """Everything final so far."""
        return self._builder.transcript

    @property
    def session_id(self) -> str | None:
        return self._connection.session.id if self._connection is not None else None

    def events(self) -> EventQueue:
        """Returns an iterator over the events from now on. It raises the `SvcError` that ends the stream."""
        queue = EventQueue()
        if self._closed.done():
            queue.end(self._end if isinstance(self._end, SvcError) else None)
        else:
            self._queues.add(queue)
        return queue

    async def write(self, data: AudioData) -> None:
        """Sends 16 kHz mono PCM, 16-bit little-endian, in any amount, before `ready` too.

        Returns while no more than 5 s of audio are unsent, so a fast source keeps the service's pace.
        """
        self.write_nowait(data)
        if self._buffer.unsent_bytes > WAITING_BYTES_MAX:
            writer = asyncio.get_running_loop().create_future()
            self._writers.append(writer)
            await writer

    def write_nowait(self, data: AudioData) -> None:
        """Like `write`, for live audio that cannot be slowed down. Up to 5 minutes may be unsent."""
        pcm = _to_bytes(data)
        if pcm is None:
            self._fail(SvcError("invalid_audio", "Write 16 kHz mono PCM as bytes or int16."))
        self._check_open()
        assert pcm is not None
        if self._buffer.unsent_bytes + len(pcm) > QUEUE_BYTES_MAX:
            raise SvcError("queue_full", "Five minutes of audio are unsent. Await write().")
        self._buffer.write(pcm)
        self._wake()

    def skip(self, ms: float) -> None:
        """Advances the transcript's time without sending audio, which costs nothing."""
        self._buffer.skip(round(ms * SAMPLES_PER_MS))

    async def flush(self) -> FinalEvent:
        """Ends the utterance and returns its final, even across a failed session."""
        return await self.flush_nowait()

    def flush_nowait(self) -> asyncio.Future[FinalEvent]:
        """Like `flush`, and returns the final as a future."""
        self._check_open()
        if self._resting.is_set() and self._buffer.is_empty:
            answer = asyncio.get_running_loop().create_future()
            answer.set_result(self._receiver.empty_final())
            return answer
        id = self._new_id()
        self._buffer.flush(id)
        self._wake()
        return self._receiver.answer_to(id)

    def set_keyterms(self, keyterms: Iterable[str]) -> None:
        """Replaces the names and words to listen for, from the next utterance on.

        Audio that was written before keeps its list, also when it is sent later or again.
        """
        self._check_open()
        self._buffer.keyterms = tuple(keyterms)
        self._sender.wake()

    async def reset(self) -> None:
        """Drops the audio since the last flush. Audio that the service accepted stays charged."""
        self._check_open()
        id = self._new_id()
        self._builder.on_reset()
        must_tell = self._buffer.reset(id)
        self._release_writers()
        if must_tell:
            self._wake()
            await self._receiver.answer_to(id)

    async def finish(self) -> Transcript:
        """Flushes, waits for the last final and closes. Always returns or raises.

        A session that neither answers nor accepts audio for 10 s is replaced. Without ``get_session`` it raises
        ``finish_timeout`` then. It also raises when the stream gives up.
        """
        self._failover.on_finish()
        watch = asyncio.ensure_future(self._watch_finish())
        try:
            # A session that reached its audio limit has ended by itself, with everything final.
            if self._end != "finished":
                await self.flush()
            self._leave("finished")
            await self.wait_closed()
        finally:
            watch.cancel()
        return self.transcript

    async def close(self) -> CloseInfo:
        """Ends now, without waiting for pending finals."""
        self._leave("closed")
        return await self.wait_closed()

    async def wait_closed(self) -> CloseInfo:
        """Returns why the stream ended, when it has. Never raises `SvcError`."""
        return await asyncio.shield(self._closed)

    async def _run(self) -> None:
        close = NEVER_OPENED
        why: Literal["first", "failover", "rollover", "resume"] = "first"
        try:
            while self._end is None:
                session = await self._or_stop(self._sessions.next(why == "first"))
                close = await self._serve(session)
                if self._end is None:
                    why = await self._after_close(close)
        except SvcError as error:
            self._end = self._end or error
        except _Stopped:
            pass
        except asyncio.CancelledError:
            self._end = self._end or SvcError("aborted", "The stream's event loop ended.")
        except Exception as cause:
            failed = SvcError("get_session_failed", "get_session failed. Its error is the cause.")
            failed.__cause__ = cause
            self._end = self._end or failed
        finally:
            self._over(close)

    async def _serve(self, session: AsrSession) -> CloseInfo:
        self._receiver.answer_empty(self._buffer.rewind())
        self._builder.begin_session(session.id)
        connection = Connection(
            session,
            lambda event: self._receiver.on_event(connection, event),
            self._tls,
            on_stall=lambda: self._report_stall(session),
            on_recovery=self._emit,
            open_s_max=self._open_s_max,
        )
        self._connection = connection
        self._sender.attach()
        sending = asyncio.ensure_future(self._sender.run(connection))
        try:
            info = await connection.run()
        finally:
            sending.cancel()
            self._connection = None
        self._open_s_max = _next_open_s_max(self._open_s_max, connection.open_s)
        if is_node_lost(info):
            self._sessions.on_lost(session)
        if billed(info) == "unknown" and not connection.is_unused:
            self._lost = (*self._lost, lost_token(session))[-CONTINUES_MAX:]
        if connection.is_unused:
            self._sessions.keep_unused()
        self._failover.on_end(connection.ready_for_ms)
        self._builder.end_session(billed(info))
        return info

    def _report_stall(self, session: AsrSession) -> None:
        """The user should know at once, though the stream moves on only if the stall lasts."""
        if self._sessions.has_more and self._end is None:
            close = stalled(session.id)
            self._emit(ReconnectingEvent(why="failover", close=close, wait_ms=LOST_MS))

    async def _after_close(self, close: CloseInfo) -> Literal["failover", "rollover", "resume"]:
        is_full = close.reason == "max_audio_reached"
        if not self._sessions.has_more:
            if not is_full or not self._buffer.is_empty:
                raise error_from_close(close)
            self._end = "finished"
            return "rollover"
        handover = self._sender.handover or ("rollover" if is_full else ended_by_time(close))
        if handover is not None:
            await self._something_to_say()
            if self._end is None:
                await self._wait_for(handover, close, self._failover.wait_ms_after_handover())
            return handover
        wait_ms = self._failover.wait_ms_after_close(close) if close.retryable else None
        await self._wait_for("failover", close, wait_ms)
        return "failover"

    async def _wait_for(
        self,
        why: Literal["failover", "rollover", "resume"],
        close: CloseInfo,
        wait_ms: float | None,
    ) -> None:
        if wait_ms is None:
            raise error_from_close(close)
        self._emit(ReconnectingEvent(why=why, close=close, wait_ms=wait_ms))
        await self._or_stop(asyncio.sleep(wait_ms / 1000))

    async def _something_to_say(self) -> None:
        """A session without audio would time out, so the next one starts with the next audio."""
        self._resting.set()
        while self._buffer.is_empty and self._end is None:
            self._woken.clear()
            await self._or_stop(self._woken.wait())
        self._resting.clear()

    async def _or_stop(self, work: Awaitable[T]) -> T:
        task = asyncio.ensure_future(work)
        racing: set[asyncio.Future[Any]] = {task, self._stop}
        try:
            await asyncio.wait(racing, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not task.done():
                task.cancel()
        if task.done():
            return task.result()
        raise _Stopped

    async def _watch_finish(self) -> None:
        started_at = time.monotonic()
        while True:
            await asyncio.sleep(FINISH_S_MAX / 20)
            connection = self._connection
            waited_s = time.monotonic() - started_at
            if connection is None or min(waited_s, connection.silent_s) < FINISH_S_MAX:
                continue
            if not self._sessions.has_more:
                self._fail(
                    SvcError("finish_timeout", "The last final did not arrive.", retryable=True)
                )
            connection.drop()

    def _leave(self, how: Literal["finished", "closed"]) -> None:
        if self._end is not None:
            return
        self._end = how
        self._end_work()

    def _fail(self, error: SvcError) -> None:
        if self._end is not None:
            return
        self._end = error
        self._end_work()

    def _end_work(self) -> None:
        self._woken.set()
        if self._connection is not None:
            self._connection.close()
        elif not self._stop.done():
            self._stop.set_result(None)

    def _over(self, close: CloseInfo) -> None:
        error = self._end if isinstance(self._end, SvcError) else None
        info = completed(close) if error is None else ended_by(error, close)
        self._receiver.end(self._over_error())
        for writer in self._writers:
            if not writer.done():
                writer.set_exception(self._over_error())
        self._writers.clear()
        if not self._closed.done():
            self._closed.set_result(info)
        for queue in list(self._queues):
            queue.end(error)

    def _over_error(self) -> SvcError:
        if isinstance(self._end, SvcError):
            return self._end
        return SvcError("stream_closed", "The stream is closed. Open a new one.")

    def _check_open(self) -> None:
        if self._end is not None:
            raise self._over_error()

    def _emit(self, event: StreamEvent) -> None:
        for queue in list(self._queues):
            queue.push(event)

    def _release_writers(self) -> None:
        if self._buffer.unsent_bytes > WAITING_BYTES_MAX:
            return
        for writer in self._writers:
            if not writer.done():
                writer.set_result(None)
        self._writers.clear()

    def _wake(self) -> None:
        self._woken.set()
        self._sender.wake()

    def _new_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1


class _Stopped(Exception):
    """The stream was ended while it waited."""


def _config(language: str | None, endpointing: Endpointing | None, numbers: bool) -> dict[str, Any]:
    config: dict[str, Any] = {"numbers": True} if numbers else {}
    if language is not None:
        config["language"] = language
    if endpointing is not None:
        wire = {
            "silence_ms": endpointing.silence_ms,
            "max_utterance_ms": endpointing.max_utterance_ms,
            "detector": endpointing.detector,
            "eager_ms": endpointing.eager_ms,
        }
        config["endpointing"] = {name: value for name, value in wire.items() if value is not None}
    return config


def _to_bytes(data: AudioData) -> bytes | None:
    """None for audio that is not PCM, such as an array of floats."""
    try:
        view = memoryview(data)
    except TypeError:
        return None
    return view.tobytes() if view.format in ("B", "b", "c", "h", "<h") else None


def _next_open_s_max(last_s_max: float, open_s: float | None) -> float:
    """The next connection gets three times as long as the last one took, or twice the limit that was too short."""
    if open_s is None:
        return min(OPEN_S_MOST, 2 * last_s_max)
    return min(OPEN_S_MOST, max(OPEN_S_LEAST, 3 * open_s))
