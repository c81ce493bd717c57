"""What the interface document leaves open and docs/streaming.md decides: config, ids, turns, flushes, receipts."""

import asyncio
import json
import time

from http_sections import KIKUYU
from stream_sections import SECOND, Stream
from walker import Walker, send_audio

WHO = "contract"
# Longer than the recogniser's queue, so that the service stops reading for a while.
BACKLOG_MS = 187_000
FLUSHES = 12
BIG_ID = 12345678901234567890


async def config(walker: Walker) -> None:
    stream = await walker.ready(WHO)
    limits = stream.events[0]["keyterms"]
    walker.check("ready says how many keyterms it takes", limits in (None, {"max_terms": 100, "max_chars": 1_000}), limits)
    await stream.socket.send(bytes(SECOND))
    await stream.send(type="config", odd=1, endpointing={"silence_ms": 900, "odd": 1})
    ack = await stream.next("config_ack")
    walker.equal("effective says now", ack["effective"], "now")
    walker.equal("unknown fields are listed", sorted(ack["ignored"]), ["endpointing.odd", "odd"])
    walker.equal("config_ack repeats the endpointing in force", ack["endpointing"]["silence_ms"], 900)
    await stream.send(type="config", endpointing={"silence_ms": 1})
    walker.equal("an invalid value is refused", (await stream.next("error"))["code"], "invalid_endpointing")
    await stream.send(type="config", id=1, language="ki", numbers=True, keyterms="x")
    error = await stream.next("error")
    walker.equal("a bad field is named", error["code"], "invalid_keyterms")
    walker.equal("and all that was not applied", sorted(error["ignored"]), ["keyterms", "language", "numbers"])
    await stream.send(type="config")
    ack = await stream.next("config_ack")
    walker.equal("a refused value changes nothing", ack["endpointing"]["silence_ms"], 900)
    await stream.send(type="config", endpointing={"silence_ms": 900, "detector": "level"})
    walker.equal("a named detector is in force", (await stream.next("config_ack"))["endpointing"]["detector"], "level")
    await stream.send(type="config", endpointing={"silence_ms": 900})
    in_force = (await stream.next("config_ack"))["endpointing"]
    walker.check("each endpointing replaces the one before it whole", "detector" not in in_force, in_force)
    await stream.send(type="config", endpointing=False)
    walker.check("false turns endpointing off", not (await stream.next("config_ack"))["endpointing"])
    await numbers(walker, stream)
    await stream.socket.close()


async def numbers(walker: Walker, stream: Stream) -> None:
    await stream.send(type="config", numbers=True)
    walker.equal("config_ack repeats numbers", (await stream.next("config_ack"))["numbers"], True)
    await stream.send(type="config", numbers="yes")
    walker.equal("numbers must be true or false", (await stream.next("error"))["code"], "invalid_numbers")
    await stream.send(type="flush")
    final = await stream.next("final")
    walker.equal("text without numbers is formatted as it is", final["text_formatted"], final["text"])
    walker.equal("it has no entities", final["entities"], [])


async def ids(walker: Walker) -> None:
    stream = await walker.ready(WHO)
    for value in (0, -1, 1.5, BIG_ID, -BIG_ID, 10**40, "", "x" * 128):
        await stream.send(type="config", id=value)
        walker.equal("config_ack repeats the id", (await stream.next("config_ack")).get("id"), value)
    await stream.send(type="flush", id=BIG_ID)
    walker.equal("a final repeats the id", (await stream.next("final"))["id"], BIG_ID)
    await stream.send(type="reset", id=BIG_ID)
    walker.equal("reset_ack repeats the id", (await stream.next("reset_ack"))["id"], BIG_ID)
    await stream.send(type="nothing", id=BIG_ID)
    walker.equal("an error repeats the id", (await stream.next("error"))["id"], BIG_ID)
    await stream.send(type="flush", id="x" * 129)
    walker.equal("a longer id is refused", (await stream.next("error"))["code"], "invalid_message")
    await stream.socket.close()


async def alignment(walker: Walker) -> None:
    """A message between two halves of a sample changes nothing: the text of the audio stays the same."""
    texts = []
    for message in (None, "flush", "reset", "config"):
        stream = await walker.ready("alignment")
        await stream.socket.send(walker.speech[:1])
        if message is not None:
            await stream.send(type=message)
        await send_audio(stream, walker.speech[1:])
        await stream.send(type="flush", id="last")
        while (final := await stream.next("final")).get("id") != "last":
            pass
        texts.append((final["text"], final["total_audio_ms"]))
        await stream.socket.close()
    walker.check("the audio has text", len(texts[0][0]) > 0)
    walker.equal("frames are one byte stream, whatever comes between them", texts, [texts[0]] * len(texts))


async def digits(walker: Walker) -> None:
    """The same speech has the same text, words and accounts, whether numbers are asked for or not."""
    finals = []
    for asked in (False, True):
        stream = await walker.ready(WHO)
        await stream.send(type="config", numbers=asked)
        await send_audio(stream, walker.speech)
        await stream.send(type="flush")
        finals.append(await stream.next("final"))
        await stream.socket.close()
    words, with_digits = finals
    walker.check("a final has digits only if they were asked for", "text_formatted" not in words)
    added = {name: with_digits.pop(name) for name in ("text_formatted", "entities")}
    walker.equal("numbers change nothing else in a final", with_digits, words)
    walker.check("the spoken text has a formatted one", len(added["text_formatted"]) > 0)


async def duplicate_members(walker: Walker) -> None:
    response = await walker.api.create(WHO, f'{{"model":"{KIKUYU}","model":"{KIKUYU}"}}')
    walker.equal("a duplicate member is refused over HTTP", response.status_code, 400)
    stream = await walker.ready(WHO)
    for text in (
        '{"type":"flush","type":"reset"}',
        '{"type":"config","endpointing":{"silence_ms":900,"silence_ms":901}}',
    ):
        await stream.socket.send(text)
        walker.equal("a duplicate member is refused", (await stream.next("error"))["code"], "invalid_message")
    await stream.socket.close()


async def turns(walker: Walker) -> None:
    """speech_started and speech_ended come in pairs, whatever comes in the middle of speech."""
    stream = await walker.ready("turns", seconds=30)
    on = {"type": "config", "endpointing": {"silence_ms": 900}}
    off = {"type": "config", "endpointing": False}
    changed = {"type": "config", "endpointing": {"silence_ms": 1_200}}
    reset, flush = {"type": "reset"}, {"type": "flush"}
    replies = {"config": "config_ack", "reset": "reset_ack", "flush": "final"}
    for messages in ([off], [off, on], [changed, off], [reset], [flush]):
        await stream.send(**on)
        await send_audio(stream, walker.speech_of(1_500))
        await stream.next("speech_started")
        for message in messages:
            await stream.send(**message)
            await stream.next(replies[message["type"]])
        walker.equal(f"{messages[-1]['type']} in the middle of speech ends the pair", last_turn(stream), "speech_ended")
    await stream.socket.close()
    kinds = [event["type"] for event in stream.events if event["type"].startswith("speech_")]
    pairs = ["speech_started", "speech_ended"] * (len(kinds) // 2)
    walker.equal("speech_started and speech_ended come in pairs", kinds, pairs)


def last_turn(stream: Stream) -> str:
    return [event["type"] for event in stream.events if event["type"].startswith("speech_")][-1]


async def flushes_after_back_pressure(walker: Walker) -> None:
    stream = await walker.ready("flushes", seconds=200)

    async def send() -> None:
        await send_audio(stream, walker.speech_of(BACKLOG_MS), frame=64_000)
        for number in range(FLUSHES):
            await stream.socket.send(walker.speech_of(200))
            await stream.send(type="flush", id=number)
            await asyncio.sleep(0.34)

    sending = asyncio.create_task(send())
    finals = await next_finals(stream, within_s=60)
    await sending
    check_answers(walker, stream)
    walker.equal("audio before the last final", finals[-1]["total_audio_ms"], BACKLOG_MS + FLUSHES * 200)
    check_times(walker, finals)
    await stream.socket.close()


async def bunched_flushes(walker: Walker) -> None:
    """An odd number of samples for each flush, so that rounding to milliseconds shows."""
    stream = await walker.ready(WHO)
    for number in range(FLUSHES):
        await stream.socket.send(walker.speech_of(300)[: 2 * (3_203 + 5 * number)])
        await stream.send(type="flush", id=number)
    finals = await next_finals(stream, within_s=20)
    check_answers(walker, stream)
    check_times(walker, finals)
    await stream.socket.close()


async def next_finals(stream: Stream, within_s: float) -> list[dict]:
    """Waits until every flush has its final or an error."""
    async with asyncio.timeout(within_s):
        while sum(event["type"] in ("final", "error") for event in stream.events) < FLUSHES:
            stream.events.append(json.loads(await stream.socket.recv()))
    return [event for event in stream.events if event["type"] == "final"]


def check_answers(walker: Walker, stream: Stream) -> None:
    answers = [(event["type"], event.get("id")) for event in stream.events if event["type"] in ("final", "error")]
    walker.equal("bunched flushes get their finals, in order", answers, [("final", id) for id in range(FLUSHES)])


def check_times(walker: Walker, finals: list[dict]) -> None:
    ends = [0, *(final["end_ms"] for final in finals)]
    starts = [final["start_ms"] for final in finals]
    walker.equal("a final starts where the one before it ends", starts, ends[:-1])
    for final in finals:
        times = [final["start_ms"]]
        for word in final["words"]:
            times += [word["start_ms"], word["end_ms"]]
        times.append(final["end_ms"])
        walker.equal("words lie inside their final, one after the other", times, sorted(times))


async def live_receipt(walker: Walker) -> None:
    stream = await walker.ready("receipt")
    await send_audio(stream, walker.speech_of(3_500))
    await stream.send(type="flush")
    final = await stream.next("final")
    walker.equal("billable_ms is rounded up to a second", final["billable_ms"], 4_000)
    deadline = time.monotonic() + 10
    session = await walker.last_session("receipt")
    while session["audio_ms"] != final["total_audio_ms"] and time.monotonic() < deadline:
        await asyncio.sleep(0.2)
        session = await walker.last_session("receipt")
    walker.equal("the session is still active", session["status"], "active")
    walker.equal("billable_ms is 0 until a session has completed", session["billable_ms"], 0)
    walker.equal("an active session shows its audio so far", session["audio_ms"], final["total_audio_ms"])
    await stream.socket.close()
    session = await walker.last_session("receipt")
    walker.equal("the last receipt is the charge", session["billable_ms"], final["billable_ms"])
