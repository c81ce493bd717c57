"""Audio that was accepted before an offence or a suspension gets its final before the close, or is not charged."""

import contextlib
import time
from collections.abc import Awaitable, Callable

import websockets
from stream_sections import Stream
from walker import Walker, send_audio

# How long the service waits for the recogniser after an offence.
LAST_FINAL_S = 2
WHO = "offences"

Commit = Callable[[Stream], Awaitable[None]]
Offence = tuple[Commit, int, str]


def raw_frame(opcode: int, payload: bytes, *, fin: bool = True, reserved: int = 0, masked: bool = True) -> bytes:
    """A short frame that a correct client would not send. A mask of zeros leaves the payload as it is."""
    head = bytes([(0x80 if fin else 0) | reserved | opcode, (0x80 if masked else 0) | len(payload)])
    return head + (bytes(4) if masked else b"") + payload


def raw(frame: bytes) -> Commit:
    async def commit(stream: Stream) -> None:
        stream.socket.transport.write(frame)

    return commit


def repeated(message: str | bytes, times: int = 1) -> Commit:
    async def commit(stream: Stream) -> None:
        for _ in range(times):
            await stream.socket.send(message)

    return commit


# What to send, and the close code and reason that follow.
OFFENCES: dict[str, Offence] = {
    "a binary frame that is too large": (repeated(bytes(66_000)), 1009, "message_too_large"),
    "a text message that is too large": (repeated("?" * 17_000), 1009, "message_too_large"),
    "an undefined opcode": (raw(raw_frame(3, b"")), 1002, "protocol_error"),
    "a reserved bit": (raw(raw_frame(2, b"\0\0", reserved=0x40)), 1002, "protocol_error"),
    "a fragmented ping": (raw(raw_frame(9, b"", fin=False)), 1002, "protocol_error"),
    "a continuation of nothing": (raw(raw_frame(0, b"\0\0")), 1002, "protocol_error"),
    "a frame without a mask": (raw(raw_frame(2, b"\0\0", masked=False)), 1002, "protocol_error"),
    "a length that is not minimal": (raw(b"\x82\xfe\x00\x02" + bytes(6)), 1002, "protocol_error"),
    "a long length that is not minimal": (raw(b"\x82\xff" + bytes(7) + b"\x02" + bytes(6)), 1002, "protocol_error"),
    "a close reason that is not UTF-8": (raw(raw_frame(8, b"\x03\xe8\xff")), 1007, "invalid_utf8"),
    "text that is not UTF-8": (raw(raw_frame(1, b"\xff")), 1007, "invalid_utf8"),
    "eleven invalid messages": (repeated("?", 11), 1008, "too_many_errors"),
    "20 flushes at once": (repeated('{"type":"flush"}', 20), 1008, "too_many_errors"),
    "a flood of messages": (repeated('{"type":"config"}', 300), 1008, "too_many_messages"),
}


async def offences(walker: Walker) -> None:
    for name, offence in OFFENCES.items():
        await offend(walker, f"{name} behind a flush", offence, is_flushed=True)
        await offend(walker, f"{name} behind audio", offence, is_flushed=False)


async def offend(walker: Walker, name: str, offence: Offence, *, is_flushed: bool) -> None:
    commit, code, reason = offence
    stream = await walker.ready(WHO)
    await send_audio(stream, walker.speech_of(3_500))
    if is_flushed:
        await stream.send(type="flush")
    began = time.monotonic()
    with contextlib.suppress(websockets.ConnectionClosed):  # The service may close before the last message is written.
        await commit(stream)
    found = (await stream.closed(), stream.socket.close_reason)
    took_s = time.monotonic() - began
    walker.equal(f"close code and reason after {name}", found, (code, reason))
    await check_last_final(walker, stream, name, WHO, has_waited=took_s >= LAST_FINAL_S)
    warned = sum(event["type"] == "error" and not event["fatal"] for event in stream.events)
    expected = 10 if reason == "too_many_errors" else 0
    walker.equal(f"errors before the last one after {name}", warned, expected)


async def check_last_final(walker: Walker, stream: Stream, name: str, who: str, *, has_waited: bool) -> None:
    """The receipt of the last final is the charge. Only if the recogniser is slow may the final be missing."""
    finals = [event for event in stream.events if event["type"] == "final"]
    last = stream.events[-1]
    session = await walker.last_session(who)
    walker.check(f"a fatal error is the last event after {name}", last["type"] == "error" and last["fatal"], last)
    walker.equal(f"the session is completed after {name}", session["status"], "completed")
    receipt = finals[-1]["billable_ms"] if finals else 0
    walker.equal(f"audio with a final is charged, and no other, after {name}", session["billable_ms"], receipt)
    is_whole = receipt == 4_000 and len(finals[0]["text"]) > 0
    walker.check(f"the final comes before the close after {name}", is_whole or has_waited, finals)


async def suspension(walker: Walker) -> None:
    stream = await walker.ready("suspended")
    await send_audio(stream, walker.speech_of(2_000))
    await stream.send(type="flush")
    await stream.next("final")
    # This audio has no flush, so that its final is owed when the account is suspended.
    await send_audio(stream, walker.speech_of(1_500))
    began = time.monotonic()
    await walker.operate("suspend")
    found = (await stream.closed(within_s=30), stream.socket.close_reason)
    walker.equal("close code and reason after a suspension", found, (4403, "account_inactive"))
    walker.check("a suspension ends open streams within 15 s", time.monotonic() - began < 15)
    await walker.operate("reinstate")
    finals = [event for event in stream.events if event["type"] == "final"]
    walker.equal("reasons of the finals before a suspension", [f["reason"] for f in finals], ["flush", "closing"])
    await check_last_final(walker, stream, "a suspension", "suspended", has_waited=len(finals) < 2)
