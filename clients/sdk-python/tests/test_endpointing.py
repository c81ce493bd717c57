"""Turns that the service ends, against the emulator."""

from __future__ import annotations

import pytest

from svc_asr import (
    Endpointing,
    FinalEvent,
    ReconnectingEvent,
    SpeechEndedEvent,
    SpeechStartedEvent,
    StreamEvent,
    open_stream,
)

from .emulator import Emulator
from .speech import KIKUYU, client_of, recording

TEXTS = ["nĩ wega mũno", "ũhoro waku mũrata wakwa", "tũgũcemania rũciinĩ"]
TURN = recording("kikuyu-2") + bytes(1_200 * 32)
TURN_MS = len(TURN) / 32


async def converse(emulator: Emulator) -> list[StreamEvent]:
    """Sends three sentences with pauses and returns the finals and speech events."""
    emulator.say(*TEXTS)
    async with client_of(emulator) as client:
        stream = open_stream(
            get_session=lambda: client.sessions.create(KIKUYU, max_audio_seconds=60),
            endpointing=Endpointing(silence_ms=500),
        )
        events = stream.events()
        for _ in TEXTS:
            await stream.write(TURN)
        await stream.finish()
        return [event async for event in events]


def endpoints(events: list[StreamEvent]) -> list[FinalEvent]:
    # The scripted recogniser also returns text for the silence after the last sentence.
    finals = [event for event in events if isinstance(event, FinalEvent)]
    assert [final.reason for final in finals[:-1]] == ["endpoint"] * len(TEXTS)
    assert finals[-1].reason == "flush"
    return finals[:-1]


def expect_speech_around(events: list[StreamEvent]) -> None:
    speech = [event for event in events if isinstance(event, SpeechStartedEvent | SpeechEndedEvent)]
    assert [event.type for event in speech] == ["speech_started", "speech_ended"] * len(TEXTS)
    assert [event.utterance for event in speech] == [0, 0, 1, 1, 2, 2]
    for turn, started in enumerate(speech[::2]):
        assert turn * TURN_MS <= started.audio_ms < turn * TURN_MS + 500


async def test_each_sentence_ends_by_itself_with_speech_events_around_it(
    emulator: Emulator,
) -> None:
    events = await converse(emulator)
    assert [final.text for final in endpoints(events)] == TEXTS
    expect_speech_around(events)


@pytest.mark.parametrize("name", ["engine-crash", "connection-lost"])
async def test_a_failure_in_the_middle_changes_no_utterance(emulator: Emulator, name: str) -> None:
    undisturbed = [(final.start_ms, final.end_ms) for final in endpoints(await converse(emulator))]
    emulator.arm(name, ms=6_000)
    events = await converse(emulator)
    assert [(final.start_ms, final.end_ms) for final in endpoints(events)] == undisturbed
    assert any(isinstance(event, ReconnectingEvent) for event in events)
    expect_speech_around(events)
