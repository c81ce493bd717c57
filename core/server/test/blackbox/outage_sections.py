"""Faults that an operator causes: a database that refuses connections, a slow recogniser, and an engine node that is lost."""

import asyncio
import time

import httpx
from http_sections import KIKUYU
from stream_sections import connect
from walker import Walker, send_audio

WHO = "outages"
RECOVERED_WITHIN_S = 15
SLOW_S = 4


async def created_in_time(walker: Walker, who: str) -> httpx.Response:
    """Creates a session as soon as the service has recovered from the fault before."""
    deadline = time.monotonic() + RECOVERED_WITHIN_S
    body = {"model": KIKUYU, "max_audio_seconds": 10}
    while True:
        response = await walker.api.create(who, body)
        if response.status_code == 201 or time.monotonic() > deadline:
            return response
        await asyncio.sleep(0.2)


async def refused_settlement(walker: Walker) -> None:
    stream = await walker.ready(WHO)
    await send_audio(stream, walker.speech_of(1_200))
    await stream.send(type="flush")
    final = await stream.next("final")
    await walker.operate("refuse_connections")
    try:
        await stream.socket.close()
        found = (stream.socket.close_code, stream.socket.close_reason)
        walker.equal("a stream ends as completed without its database", found, (1000, "completed"))
        refused = await walker.api.create(WHO)
        walker.report.error("7", refused, 503, "api_error", "service_unavailable")
    finally:
        await walker.operate("allow_connections")
    response = await created_in_time(walker, WHO)
    walker.equal("the next session follows when the database is back", response.status_code, 201)
    usage = (await walker.api.usage(WHO)).json()
    walker.equal("the delayed settlement is charged once", usage["consumed_ms"], final["billable_ms"])
    settled = [session["status"] for session in usage["recent_sessions"]]
    walker.equal("the session is completed", settled, ["reserved", "completed"])


async def slow_recogniser(walker: Walker) -> None:
    """A flush before a close gets its final, though the recogniser needs longer than an offence would wait."""
    stream = await walker.ready("closing")
    await send_audio(stream, walker.speech_of(1_200))
    await walker.operate("pause_recognisers")
    try:
        await stream.send(type="flush", id="last")
        reading = asyncio.create_task(stream.closed(within_s=60))
        closing = asyncio.create_task(stream.socket.close())
        await asyncio.sleep(SLOW_S)
    finally:
        await walker.operate("resume_recognisers")
    await asyncio.gather(reading, closing)
    finals = [(event.get("id"), event["total_audio_ms"]) for event in stream.events if event["type"] == "final"]
    walker.equal("a flush before a close gets its final", finals, [("last", 1_200)])
    found = (stream.socket.close_code, stream.socket.close_reason)
    walker.equal("the close is answered after it", found, (1000, "completed"))
    session = await walker.last_session("closing")
    walker.equal("the session is charged", (session["status"], session["billable_ms"]), ("completed", 2_000))


async def lost_engine(walker: Walker) -> None:
    """An idle stream whose engine nodes are all gone is our failure and free. The last section: nothing works after it."""
    # The recognisers were paused a moment ago.
    created = await created_in_time(walker, "engine")
    stream = await connect(created.json(), walker.tls)
    await stream.next("ready")
    await send_audio(stream, walker.speech_of(1_200))
    await stream.send(type="flush")
    await stream.next("final")
    await walker.operate("stop_engine")
    await send_audio(stream, walker.speech_of(1_200))
    await stream.send(type="flush")
    found = await stream.closed(within_s=60)
    walker.check("a stream without a recogniser is our failure", found in (1011, 1012), found)
    session = await walker.last_session("engine")
    walker.equal("a failed session is free", (session["status"], session["billable_ms"]), ("failed", 0))
