"""The HTTP client."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from svc_asr import AsrSession, SvcClient, SvcError, _retry
from svc_asr._retry import RetryLimits, retry_wait_ms

from .emulator import Emulator
from .speech import KIKUYU, client_of

KEY = "svc_live_v1_" + "0" * 50


async def test_lists_models_without_a_key(emulator: Emulator) -> None:
    async with SvcClient(emulator.base_url) as client:
        models = await client.models.list()
        assert [model.id for model in models] == ["svc-asr-kikuyu-v1", "svc-asr-dholuo-v1"]
        assert models[0].audio.sample_rate_hz == 16_000
        with pytest.raises(SvcError) as missing:
            await client.usage.get()
        assert missing.value.code == "missing_api_key"


async def test_the_same_idempotency_key_returns_the_same_session(emulator: Emulator) -> None:
    async with client_of(emulator) as client:
        key = "order-42"
        first = await client.sessions.create(KIKUYU, max_audio_seconds=1, idempotency_key=key)
        again = await client.sessions.create(KIKUYU, max_audio_seconds=1, idempotency_key=key)
        assert first == again
        with pytest.raises(SvcError) as conflict:
            await client.sessions.create(KIKUYU, max_audio_seconds=2, idempotency_key=key)
        assert (conflict.value.status, conflict.value.type) == (409, "idempotency_conflict")
        assert conflict.value.request_id
        assert first.websocket_protocols[1] not in repr(first)
        await _release(first.websocket_url, list(first.websocket_protocols))


async def _release(url: str, protocols: list[str]) -> None:
    from websockets.asyncio.client import connect
    from websockets.typing import Subprotocol

    async with connect(url, subprotocols=[Subprotocol(each) for each in protocols]) as socket:
        await socket.recv()


async def test_a_retry_after_a_lost_answer_finds_the_first_reservation() -> None:
    keys: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        keys.extend(line[17:] for line in head.split("\r\n") if line.startswith("idempotency-key"))
        if len(keys) == 3:
            body = b'{"error":{"type":"t","code":"insufficient_credits","message":"m","request_id":"r"}}'
            writer.write(b"HTTP/1.1 402 x\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        async with SvcClient(f"http://127.0.0.1:{port}", KEY) as client:
            with pytest.raises(SvcError) as refused:
                await client.sessions.create(KIKUYU)
    assert refused.value.code == "insufficient_credits"
    assert len(keys) == 3
    assert len(set(keys)) == 1


async def test_waits_that_the_service_asked_for_do_not_make_later_waits_longer() -> None:
    asked = b"HTTP/1.1 503 x\r\nretry-after: 1\r\ncontent-length: 0\r\n\r\n"
    none = b"HTTP/1.1 %d x\r\ncontent-length: 0\r\n\r\n"
    answers = [asked, asked, none % 502, none % 402]

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answers.pop(0))
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        # 2.2 s at most, and 0.25 s of backoff. A third backoff would be 0.5 s at least.
        async with SvcClient(url, KEY, wait_max=2.48) as client:
            with pytest.raises(SvcError) as refused:
                await client.usage.get()
    assert refused.value.status == 402


async def test_a_call_after_a_cancelled_one_gets_the_session_that_was_reserved() -> None:
    reserved = asyncio.Event()
    keys: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        keys.extend(line[17:] for line in head.split("\r\n") if line.startswith("idempotency-key"))
        # The first request is never answered.
        if len(keys) == 1:
            reserved.set()
            await reader.read()
        else:
            writer.write(b"HTTP/1.1 402 x\r\ncontent-length: 0\r\n\r\n")
            await writer.drain()
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with SvcClient(f"http://127.0.0.1:{port}", KEY) as client:
            given_up = asyncio.ensure_future(client.sessions.create(KIKUYU))
            await reserved.wait()
            given_up.cancel()
            with pytest.raises(asyncio.CancelledError):
                await given_up
            for seconds in (10, None):
                with pytest.raises(SvcError):
                    await client.sessions.create(KIKUYU, max_audio_seconds=seconds)
    cancelled, for_another, for_the_same = keys
    assert for_the_same == cancelled
    assert for_another != cancelled


async def test_a_redirect_is_not_followed() -> None:
    asked: list[httpx.Request] = []

    def redirect(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(307, headers={"location": "http://127.0.0.1:1/elsewhere"})

    async with SvcClient("http://127.0.0.1:9", KEY) as client:
        await client._http.aclose()
        client._http = httpx.AsyncClient(
            base_url="http://127.0.0.1:9", transport=httpx.MockTransport(redirect)
        )
        with pytest.raises(SvcError) as refused:
            await client.usage.get()
    assert refused.value.code == "http_307"
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("base_url", "api_key", "code"),
    [
        ("asr.example.org", KEY, "invalid_base_url"),
        ("http://asr.example.org", KEY, "insecure_base_url"),
        ("https://asr.example.org", "sk-123", "invalid_api_key"),
    ],
)
def test_refuses_wrong_settings_before_any_request(base_url: str, api_key: str, code: str) -> None:
    with pytest.raises(SvcError) as wrong:
        SvcClient(base_url, api_key)
    assert wrong.value.code == code
    assert api_key not in str(wrong.value)


@asynccontextmanager
async def _unending(head: bytes) -> AsyncIterator[str]:
    """A server that sends ``head`` and then spaces, without an end. With an empty head it is silent."""
    left = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        hung_up = asyncio.ensure_future(reader.read(1))
        writer.write(head)
        while not hung_up.done():
            writer.write(b" " if head else b"")
            await asyncio.wait([hung_up], timeout=0.02)
        writer.transport.abort()
        left.set()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        await left.wait()
        await asyncio.sleep(0)


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n"])
async def test_a_call_settles_at_its_deadline(head: bytes) -> None:
    async with _unending(head) as url, SvcClient(url, KEY, deadline=0.3) as client:
        started = asyncio.get_running_loop().time()
        with pytest.raises(SvcError) as late:
            await client.usage.get()
        assert late.value.code == "timeout"
        assert asyncio.get_running_loop().time() - started < 5


async def test_a_silent_server_fails_after_three_timeouts() -> None:
    error = SvcError("timeout", "m", retryable=True)
    limits = RetryLimits(6, 90_000)
    waits = [retry_wait_ms(error, failures, 0, limits, lambda: 0.0) for failures in (1, 2, 3)]
    assert [wait is None for wait in waits] == [False, False, True]


async def test_logs_that_a_silent_server_is_being_waited_for(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_retry, "NOTICE_AFTER_S", 0.5)
    async with _unending(b"") as url:
        await _cancelled_at_notice(url, caplog)
    [notice] = caplog.messages
    assert "at most 119 s" in notice
    assert "has not answered yet" in notice


async def test_logs_why_a_server_out_of_reach_is_retried(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_retry, "NOTICE_AFTER_S", 0.5)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        await _cancelled_at_notice(f"http://127.0.0.1:{closed.getsockname()[1]}", caplog)
    assert ["cannot be reached" in message for message in caplog.messages] == [True]


async def _cancelled_at_notice(url: str, caplog: pytest.LogCaptureFixture) -> None:
    async with SvcClient(url, KEY) as client:
        call = asyncio.create_task(client.usage.get())
        while not caplog.messages and not call.done():
            await asyncio.sleep(0.01)
        call.cancel()
        await asyncio.wait([call])


async def test_with_a_deadline_a_refusal_that_asks_for_a_longer_wait_is_raised_at_once() -> None:
    asked = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 503 x\r\nretry-after: 48\r\ncontent-length: 2\r\n\r\n{}")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with SvcClient(url, KEY, deadline=3) as client:
            with pytest.raises(SvcError) as refused:
                await client.usage.get()
    assert (refused.value.status, refused.value.retry_after_ms, asked) == (503, 48_000, 1)


def test_a_model_that_the_service_does_not_name_is_not_guessed() -> None:
    assert not AsrSession.from_wire({}).model
