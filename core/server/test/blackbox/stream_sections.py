"""Sections 1, 3, 4.4, 6 and 8 of the interface document, with websockets."""

import asyncio
import json
import ssl

import websockets
from http_sections import DHOLUO, KIKUYU, Api
from report import Report

SECOND = 32_000
WAIT_S = 20


class Stream:
    """A client that keeps every event."""

    def __init__(self, socket: websockets.ClientConnection) -> None:
        self.socket = socket
        self.events: list[dict] = []

    async def next(self, kind: str) -> dict:
        async with asyncio.timeout(WAIT_S):
            while True:
                event = json.loads(await self.socket.recv())
                self.events.append(event)
                if event["type"] == kind:
                    return event

    async def send(self, **message: object) -> None:
        await self.socket.send(json.dumps(message))

    async def closed(self, within_s: float = WAIT_S) -> int | None:
        async with asyncio.timeout(within_s):
            try:
                while True:
                    self.events.append(json.loads(await self.socket.recv()))
            except websockets.ConnectionClosed:
                return self.socket.close_code


async def connect(session: dict, tls: ssl.SSLContext, protocols: list[str] | None = None) -> Stream:
    offered = session["websocket_protocols"] if protocols is None else protocols
    url = session["websocket_url"]
    return Stream(await websockets.connect(url, ssl=tls, subprotocols=offered, max_size=None, close_timeout=60))


async def refusal(session: dict, tls: ssl.SSLContext, protocols: list[str] | None = None) -> int:
    try:
        stream = await connect(session, tls, protocols)
    except websockets.InvalidStatus as error:
        return error.response.status_code
    await stream.socket.close()
    return 101


async def new_session(api: Api, who: str, seconds: int = 10) -> dict:
    response = await api.create(who, {"model": KIKUYU, "max_audio_seconds": seconds})
    assert response.status_code == 201, response.json()["error"]["code"]
    return response.json()


async def conversation(api: Api, tls: ssl.SSLContext, report: Report, speech: bytes) -> None:
    session = await new_session(api, "stream")
    stream = await connect(session, tls)
    report.equal("4.4", "only svc.realtime.v1 is echoed", stream.socket.subprotocol, "svc.realtime.v1")
    ready = await stream.next("ready")
    report.check("6", "only status events before ready", {e["type"] for e in stream.events} <= {"status", "ready"})
    report.check("6", "ready has chunk_samples", type(ready.get("chunk_samples")) is int)
    usage = (await api.usage("stream")).json()
    report.equal("3", "an open session is active", usage["recent_sessions"][0]["status"], "active")
    report.error("8", await api.create("stream"), 429, "rate_limit_error", "concurrency_limit_exceeded")
    await stream.send(type="config")
    config = await stream.next("config_ack")
    report.equal("6", "a config frame is acknowledged", config["type"], "config_ack")
    await stream.send(type="config", language="ki", context=[56, 13])
    report.check("4.4", "config may have language and context", bool(await stream.next("config_ack")))
    for at in range(0, len(speech), 6_400):
        await stream.socket.send(speech[at : at + 6_400])
    delta = await stream.next("delta")
    report.check("6", "a delta with text arrives before the flush", isinstance(delta["text"], str))
    await stream.send(type="flush")
    final = await stream.next("final")
    report.check("6", "a final has text after a flush", len(final["text"]) > 0)
    await stream.socket.send(speech[:16_000])
    await stream.send(type="reset")
    report.equal("6", "a reset frame is acknowledged", (await stream.next("reset_ack"))["type"], "reset_ack")
    await stream.send(type="flush")
    report.equal("4.4", "a reset starts a fresh utterance", (await stream.next("final"))["text"], "")
    await stream.socket.send("not JSON")
    error = await stream.next("error")
    report.check("6", "an error event has a message", len(error["message"]) > 0)
    await stream.socket.close()
    report.check("6", "every event has a type", all(isinstance(event.get("type"), str) for event in stream.events))
    sent_ms = (len(speech) + 16_000) // 32
    record = (await api.usage("stream")).json()["recent_sessions"][0]
    report.equal("3", "a closed session is completed", record["status"], "completed")
    report.check("2.5", "completed_at is set at the end", isinstance(record["completed_at"], str))
    report.equal("1", "usage is metered from accepted audio", record["audio_ms"], sent_ms)
    report.equal(
        "8", "accepted audio is rounded up to the next second", record["billable_ms"], -(-sent_ms // 1000) * 1000
    )


async def credentials(api: Api, tls: ssl.SSLContext, report: Report) -> None:
    session = await new_session(api, "credential")
    first, second = session["websocket_protocols"]
    report.equal("4.4", "both subprotocols are needed: no credential", await refusal(session, tls, [first]), 401)
    report.equal("4.4", "both subprotocols are needed: no protocol", await refusal(session, tls, [second]), 400)
    forged = second[:-4] + ("AAAA" if second[-4:] != "AAAA" else "BBBB")
    report.equal("5", "a forged credential is refused", await refusal(session, tls, [first, forged]), 401)
    stream = await connect(session, tls)
    await stream.next("ready")
    report.equal("5", "a credential works once", await refusal(session, tls), 401)
    await stream.send(type="flush")
    report.check("4.4", "a replay does not disturb the first connection", bool(await stream.next("final")))
    await stream.socket.close()
    usage = (await api.usage("credential")).json()
    report.equal("1", "unused reserved time is returned", usage["reserved_ms"] + usage["consumed_ms"], 0)


async def frames(api: Api, tls: ssl.SSLContext, report: Report) -> None:
    stream = await connect(await new_session(api, "frames"), tls)
    await stream.next("ready")
    await stream.socket.send(bytes(65_536))
    await stream.send(type="flush")
    final = await stream.next("final")
    report.equal("8", "a frame of 65,536 bytes is accepted", final["total_audio_ms"], 2_048)
    await stream.socket.send(bytes(65_537))
    report.equal("8", "a larger frame is refused", await stream.closed(), 1009)
    report.check("7", "an error event comes before the close", stream.events[-1]["type"] == "error")
    limited = await connect(await new_session(api, "frames", seconds=1), tls)
    await limited.next("ready")
    await limited.socket.send(bytes(SECOND * 2))
    report.equal("8", "the stream ends at the reserved limit", await limited.closed(), 1000)
    record = (await api.usage("frames")).json()["recent_sessions"][0]
    report.equal("2.3", "the reservation is the actual limit", record["billable_ms"], 1_000)


async def early_audio(api: Api, tls: ssl.SSLContext, report: Report) -> None:
    session = await new_session(api, "early")
    stream = await connect(session, tls)
    await stream.next("ready")
    await stream.socket.close()
    record = (await api.usage("early")).json()["recent_sessions"][0]
    report.equal("1", "a session without audio costs nothing", record["billable_ms"], 0)


async def many_sessions(api: Api, tls: ssl.SSLContext, report: Report) -> None:
    ids = []
    for _ in range(21):
        session = await new_session(api, "many", seconds=1)
        ids.insert(0, session["id"])
        stream = await connect(session, tls)
        await stream.socket.close()
    recent = (await api.usage("many")).json()["recent_sessions"]
    report.equal("8", "at most 20 recent sessions", [record["id"] for record in recent], ids[:20])


async def expiry(api: Api, tls: ssl.SSLContext, report: Report) -> None:
    """Takes a minute: the life of a credential."""
    key = "expiry"
    response = await api.create("expiry", {"model": DHOLUO}, idempotency_key=key)
    session = response.json()
    await asyncio.sleep(61)
    report.equal("8", "a credential is refused after 60 seconds", await refusal(session, tls), 401)
    usage = (await api.usage("expiry")).json()
    report.equal("3", "an unused session expires", usage["recent_sessions"][0]["status"], "expired")
    report.equal("1", "an expired session returns its credit", usage["available_ms"], 60_000)
    again = await api.create("expiry", {"model": DHOLUO}, idempotency_key=key)
    report.check("8", "the idempotency key is free after expiry", again.json()["id"] != session["id"])
