"""Turns that the service ends, against the emulator."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from svc_asr import (
    Endpointing,
    FinalEvent,
    ReconnectingEvent,
    SpeechEndedEvent,
    SpeechStartedEvent,
    StreamEvent,
    SvcStream,
    TurnEagerEvent,
    TurnResumedEvent,
    open_stream,
)

from .emulator import Emulator
from .speech import KIKUYU, client_of, recording

TEXTS = ["nĩ wega mũno", "ũhoro waku mũrata wakwa", "tũgũcemania rũciinĩ"]
SENTENCE = recording("kikuyu-2")
TURN = SENTENCE + bytes(1_200 * 32)
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


class Eager:
    """A stream with eager ends of turn, and its events so far."""

    def __init__(self, stream: SvcStream) -> None:
        self.stream = stream
        self.events: list[StreamEvent] = []
        self._queue = stream.events()

    async def until(self, kind: type[StreamEvent], from_ms: float = 0) -> StreamEvent:
        async for event in self._queue:
            self.events.append(event)
            if isinstance(event, kind) and getattr(event, "audio_ms", from_ms) >= from_ms:
                return event
        raise AssertionError(f"The stream ended without {kind}.")

    def turns(self) -> list[tuple[str, int | None]]:
        """Eager ends of turn and what resolved them."""
        kinds = TurnEagerEvent | TurnResumedEvent | FinalEvent
        return [(event.type, event.eager) for event in self.events if isinstance(event, kinds)]


@pytest.fixture
async def eager(emulator: Emulator) -> AsyncIterator[Eager]:
    emulator.say(*TEXTS)
    async with client_of(emulator) as client:
        stream = open_stream(
            get_session=lambda: client.sessions.create(KIKUYU, max_audio_seconds=60),
            endpointing=Endpointing(silence_ms=700, eager_ms=300),
            numbers=True,
        )
        async with stream:
            yield Eager(stream)


async def pause_after_sentence(eager: Eager) -> TurnEagerEvent:
    """Sends a sentence and half a second of silence."""
    await eager.stream.write(SENTENCE + bytes(500 * 32))
    paused = await eager.until(TurnEagerEvent, from_ms=len(SENTENCE) / 32 - 500)
    assert isinstance(paused, TurnEagerEvent)
    return paused


async def test_reports_a_turn_that_may_be_over_before_its_final_which_names_it(
    emulator: Emulator, eager: Eager
) -> None:
    emulator.say("magana matano")
    paused = await pause_after_sentence(eager)
    assert (paused.text, paused.text_formatted) == ("magana matano", "500")
    assert " ".join(word.text for word in paused.words) == paused.text
    await eager.stream.write(bytes(500 * 32))
    final = await eager.until(FinalEvent)
    assert isinstance(final, FinalEvent)
    assert (final.text, final.eager, final.reason) == (paused.text, paused.eager, "endpoint")
    assert final.text_formatted == paused.text_formatted
    numbers = [number for kind, number in eager.turns() if kind == "turn_eager"]
    assert numbers == list(range(1, len(numbers) + 1))


async def test_takes_an_eager_end_back_when_the_speaker_goes_on_or_the_audio_is_dropped(
    eager: Eager,
) -> None:
    first = await pause_after_sentence(eager)
    await eager.stream.write(SENTENCE)
    await eager.until(TurnResumedEvent)
    assert eager.turns()[-1] == ("turn_resumed", first.eager)
    await eager.stream.write(bytes(500 * 32))
    last = await eager.until(TurnEagerEvent, from_ms=2 * len(SENTENCE) / 32)
    assert isinstance(last, TurnEagerEvent)
    await eager.stream.reset()
    await eager.until(TurnResumedEvent)
    assert eager.turns()[-1] == ("turn_resumed", last.eager)


async def test_a_lost_session_takes_its_eager_end_back_and_numbers_go_on(
    emulator: Emulator, eager: Eager
) -> None:
    emulator.arm("connection-lost", ms=len(SENTENCE) // 32 + 550)
    first = await pause_after_sentence(eager)
    await eager.stream.write(bytes(100 * 32))
    await eager.until(TurnResumedEvent)
    assert eager.turns()[-1] == ("turn_resumed", first.eager)
    await eager.stream.write(bytes(300 * 32))
    final = await eager.until(FinalEvent)
    assert isinstance(final, FinalEvent)
    # The next session gets the audio at once and may find the end without an eager one.
    assert final.eager is None or final.eager > first.eager
