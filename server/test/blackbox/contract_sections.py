"""What the interface document leaves open and docs/streaming.md decides: finals before a close, config, flush rates."""

import json
import ssl

from http_sections import Api
from report import Report
from stream_sections import SECOND, connect, new_session


async def finals_before_a_close(api: Api, tls: ssl.SSLContext, report: Report) -> None:
    stream = await connect(await new_session(api, "contract"), tls)
    await stream.next("ready")
    await stream.socket.send(bytes(SECOND * 3 // 2))
    await stream.send(type="flush")
    for _ in range(11):
        await stream.socket.send("?")
    code = await stream.closed()
    finals = [event for event in stream.events if event["type"] == "final"]
    errors = [event for event in stream.events if event["type"] == "error"]
    report.check("streaming.md", "eleven errors close with 1008", code == 1008, str(code))
    report.check("streaming.md", "audio before an offence gets its final", len(finals) == 1)
    report.check("streaming.md", "the ten errors are sent", len(errors) == 11 and errors[-1]["fatal"])


async def config_and_ids(api: Api, tls: ssl.SSLContext, report: Report) -> None:
    stream = await connect(await new_session(api, "contract"), tls)
    await stream.next("ready")
    await stream.socket.send(bytes(SECOND))
    await stream.socket.send('{"type":"config","id":12345678901234567890,"endpointing":{"silence_ms":900,"odd":1}}')
    ack = await stream.next("config_ack")
    report.check("streaming.md", "effective says now", ack["effective"] == "now")
    report.check("streaming.md", "fields inside endpointing are listed", ack["ignored"] == ["endpointing.odd"])
    report.check("streaming.md", "an id beyond 2^53 comes back", ack["id"] == 12345678901234567890, json.dumps(ack))
    await stream.socket.send('{"type":"flush","type":"reset"}')
    error = await stream.next("error")
    report.check("streaming.md", "a duplicate member is refused", error["code"] == "invalid_message")
    await stream.socket.close()


async def bunched_flushes(api: Api, tls: ssl.SSLContext, report: Report) -> None:
    stream = await connect(await new_session(api, "contract"), tls)
    await stream.next("ready")
    for _ in range(12):
        await stream.socket.send(bytes(SECOND // 5))
        await stream.send(type="flush")
    finals = [await stream.next("final") for _ in range(12)]
    ends = [0, *(final["end_ms"] for final in finals)]
    joined = all(final["start_ms"] == end for final, end in zip(finals, ends))
    report.check("streaming.md", "bunched flushes are answered", len(finals) == 12)
    report.check("streaming.md", "a final starts where the one before it ends", joined)
    await stream.socket.close()
