"""Names and words to listen for, against the emulator."""

from __future__ import annotations

import asyncio

from svc_asr import ConfigAckEvent, SvcStream, open_stream

from .emulator import Emulator
from .speech import KIKUYU, client_of


async def next_ack(stream: SvcStream) -> ConfigAckEvent:
    async for event in stream:
        if isinstance(event, ConfigAckEvent):
            return event
    raise AssertionError("The stream ended.")


async def test_a_stream_reports_which_keyterms_are_used_and_replaces_them(
    emulator: Emulator,
) -> None:
    async with client_of(emulator) as client:
        stream = open_stream(
            get_session=lambda: client.sessions.create(KIKUYU, max_audio_seconds=60),
            keyterms=["Wanjirũ", "3G"],
        )
        first = next_ack(stream)
        await stream.write(bytes(64_000))
        ack = await first
        assert ack.keyterms is not None
        assert ack.keyterms.taken == ("wanjirũ",)
        assert [(each.index, each.reason) for each in ack.keyterms.refused] == [
            (1, "unsupported_characters")
        ]
        stream.set_keyterms(["Kĩambu"])
        replaced = await next_ack(stream)
        assert replaced.keyterms is not None
        assert replaced.keyterms.taken == ("kĩambu",)
        await stream.finish()


async def test_audio_that_was_written_before_set_keyterms_keeps_its_list(
    emulator: Emulator,
) -> None:
    async with client_of(emulator) as client:
        stream = open_stream(
            get_session=lambda: client.sessions.create(KIKUYU, max_audio_seconds=60),
            keyterms=["Wanjirũ"],
        )
        events = stream.events()
        # There is no session yet, so all of it waits.
        before = [
            asyncio.ensure_future(stream.write(bytes(64_000))),
            asyncio.ensure_future(stream.flush()),
        ]
        await asyncio.sleep(0)
        stream.set_keyterms(["Otieno"])
        after = asyncio.ensure_future(stream.write(bytes(64_000)))
        await asyncio.sleep(0)
        await stream.finish()
        await asyncio.gather(*before, after)
        acks = [
            event.keyterms.taken
            async for event in events
            if isinstance(event, ConfigAckEvent) and event.keyterms is not None
        ]
        assert acks == [("wanjirũ",), ("otieno",)]
