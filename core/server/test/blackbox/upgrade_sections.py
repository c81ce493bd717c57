"""Upgrades that are refused keep their credential good. Slow requests get 408 in the time its message names."""

import asyncio
import json
import time
from urllib.parse import urlsplit

import websockets
from stream_sections import Stream, connect, new_session
from walker import Walker

WHO = "upgrades"
WEBSOCKET = "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"


async def request(walker: Walker, text: str) -> tuple[int, dict, float]:
    """Returns status, error and seconds. Sends exactly this text."""
    base = walker.api.http.base_url
    reader, writer = await asyncio.open_connection(base.host, base.port, ssl=walker.tls)
    began = time.monotonic()
    writer.write(text.encode())
    async with asyncio.timeout(20):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.split("content-length: ")[1].split("\r\n")[0])
        body = json.loads(await reader.readexactly(length))
    took_s = time.monotonic() - began
    writer.close()
    return int(head.split(" ")[1]), body["error"], took_s


async def origins(walker: Walker) -> None:
    session = await new_session(walker.api, "origins")
    refused = Stream(
        await websockets.connect(
            session["websocket_url"],
            ssl=walker.tls,
            subprotocols=session["websocket_protocols"],
            origin="https://elsewhere.example",
        )
    )
    found = (await refused.closed(), refused.socket.close_reason)
    walker.equal("another origin is refused", found, (4403, "origin_not_allowed"))
    walker.equal("its error names the reason", [e["code"] for e in refused.events], ["origin_not_allowed"])
    stream = await connect(session, walker.tls)
    walker.check("origin_not_allowed keeps the credential good", bool(await stream.next("ready")))
    await stream.socket.close()


async def handshakes(walker: Walker) -> None:
    session = await new_session(walker.api, WHO)
    path = urlsplit(session["websocket_url"]).path
    offer = f"Sec-WebSocket-Protocol: {', '.join(session['websocket_protocols'])}\r\n"
    connection = "Connection: Upgrade\r\n"
    wrong = {
        "no Connection: Upgrade": (WEBSOCKET, 426, "upgrade_required"),
        "Connection: close": (WEBSOCKET + "Connection: close\r\n", 426, "upgrade_required"),
        "no Upgrade": (connection, 426, "upgrade_required"),
        "an old version": (connection + WEBSOCKET.replace("13", "8"), 426, "upgrade_required"),
        "a bad key": (connection + WEBSOCKET.replace("dGhl", "!"), 400, "malformed_request"),
    }
    for name, (headers, status, code) in wrong.items():
        text = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}{offer}\r\n"
        found, error, _ = await request(walker, text)
        walker.equal(f"an upgrade with {name}", (found, error["code"]), (status, code))
    stream = await connect(session, walker.tls)
    walker.check("a refused handshake keeps the credential good", bool(await stream.next("ready")))
    await stream.socket.close()


async def unusual_requests(walker: Walker) -> None:
    """CONNECT, a coding that nobody asked for, and clients that wait before they send a body."""
    found, error, _ = await request(walker, "CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: localhost\r\n\r\n")
    walker.equal("CONNECT is answered", (found, error["code"]), (405, "method_not_allowed"))
    post = "POST /v1/asr/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    found, error, _ = await request(walker, f"{post}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
    walker.equal("a compressed transfer is refused", (found, error["code"]), (400, "malformed_request"))
    waiting = f"{post}Expect: 100-continue\r\n"
    found, error, _ = await request(walker, f"{waiting}Content-Length: 30\r\n\r\n")
    walker.equal("no 100 comes before a certain 401", (found, error["code"]), (401, "missing_api_key"))
    key = f"Authorization: Bearer {walker.api.keys[WHO]}\r\n"
    found, error, _ = await request(walker, f"{waiting}{key}Content-Length: 16385\r\n\r\n")
    walker.equal("no 100 comes before a certain 413", (found, error["code"]), (413, "request_too_large"))


async def slow_requests(walker: Walker) -> None:
    post = "POST /v1/asr/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    key = f"Authorization: Bearer {walker.api.keys[WHO]}\r\n"
    slow = {5: post, 10: f'{post}{key}Content-Length: 30\r\n\r\n{{"model"'}
    answers = await asyncio.gather(*(request(walker, text) for text in slow.values()))
    for seconds, (status, error, took_s) in zip(slow, answers):
        walker.equal("a slow request is refused", (status, error["code"]), (408, "request_timeout"))
        walker.check("the message names the time", f"{seconds} seconds" in error["message"], error["message"])
        walker.check("408 comes after that time", seconds - 0.1 <= took_s < seconds + 5, took_s)
