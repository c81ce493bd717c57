"""LiveKit speech streams against the emulator and its faults."""

from __future__ import annotations

import pytest
from livekit import rtc
from livekit.agents import APIStatusError, stt
from tests.conftest import TEXT
from tests.emulator import Emulator
from tests.speech import client_of, hum, recording

from svc_asr_livekit import SvcSTT

Type = stt.SpeechEventType
SENTENCE = recording("kikuyu-2")


def frames(pcm: bytes) -> list[rtc.AudioFrame]:
    return [
        rtc.AudioFrame(pcm[at : at + 640], 16_000, 1, len(pcm[at : at + 640]) // 2)
        for at in range(0, len(pcm), 640)
    ]


async def listen(emulator: Emulator, turns: int) -> list[stt.SpeechEvent]:
    """Sends turns one after another, each after END_OF_SPEECH of the previous one."""
    async with client_of(emulator) as client:
        stream = SvcSTT(model="svc-asr-kikuyu-v1", client=client).stream()
        seen: list[stt.SpeechEvent] = []
        turn = frames(SENTENCE + bytes(32 * 900))
        for frame in turn:
            stream.push_frame(frame)
        async for event in stream:
            seen.append(event)
            if event.type != Type.END_OF_SPEECH:
                continue
            turns -= 1
            if turns == 0:
                stream.end_input()
            else:
                for frame in turn:
                    stream.push_frame(frame)
        await stream.aclose()
        return seen


def finals(events: list[stt.SpeechEvent]) -> list[stt.SpeechData]:
    return [event.alternatives[0] for event in events if event.type == Type.FINAL_TRANSCRIPT]


async def test_a_turn_has_start_interim_final_usage_and_end(emulator: Emulator) -> None:
    events = await listen(emulator, 2)
    types = [event.type for event in events]
    turn = [Type.START_OF_SPEECH, Type.FINAL_TRANSCRIPT, Type.END_OF_SPEECH]
    assert [each for each in types if each in turn] == turn * 2
    assert types[1] == Type.INTERIM_TRANSCRIPT
    assert Type.RECOGNITION_USAGE in types
    first = finals(events)[0]
    assert (first.text, first.language) == (TEXT, "ki")
    assert [str(word) for word in first.words or []] == TEXT.split()


@pytest.mark.parametrize("name", ["engine-crash", "restart", "connection-lost", "unavailable"])
async def test_a_turn_keeps_all_its_audio_through_failures(emulator: Emulator, name: str) -> None:
    emulator.arm(name, ms=800)
    events = await listen(emulator, 2)
    assert [data.text for data in finals(events)] == [TEXT, TEXT]
    heard = [each.recognition_usage.audio_duration for each in events if each.recognition_usage]
    assert sum(heard) == pytest.approx(2 * (len(SENTENCE) / 32_000 + 0.9), abs=0.01)


@pytest.mark.parametrize("failure", [None, "restart"])
async def test_a_turn_ends_once_after_its_final_however_late_that_is(
    emulator: Emulator, failure: str | None
) -> None:
    emulator.arm("slow-engine", ms=1_600, times=1 if failure is None else 2)
    if failure is not None:
        emulator.arm(failure, ms=800)
    events = await listen(emulator, 2)
    turn = [Type.START_OF_SPEECH, Type.FINAL_TRANSCRIPT, Type.END_OF_SPEECH]
    assert [event.type for event in events if event.type in turn] == turn * 2
    assert [data.text for data in finals(events)] == [TEXT, TEXT]


async def test_a_flush_ends_the_turn(emulator: Emulator) -> None:
    async with client_of(emulator) as client:
        stream = SvcSTT(model="svc-asr-kikuyu-v1", client=client, silence_ms=5_000).stream()
        for frame in frames(SENTENCE):
            stream.push_frame(frame)
        types = []
        async for event in stream:
            types.append(event.type)
            if event.type == Type.START_OF_SPEECH:
                stream.flush()
            if event.type == Type.END_OF_SPEECH:
                break
        assert types.index(Type.FINAL_TRANSCRIPT) < types.index(Type.END_OF_SPEECH)
        await stream.aclose()


async def test_recognizes_a_buffer(emulator: Emulator) -> None:
    async with client_of(emulator) as client:
        speech = SvcSTT(model="svc-asr-kikuyu-v1", client=client)
        event = await speech.recognize(frames(hum(1_000)))
        assert event.alternatives[0].text == TEXT


async def test_without_credit_the_error_is_not_retried(emulator: Emulator) -> None:
    emulator.arm("no-credit")
    with pytest.raises(APIStatusError) as failed:
        await listen(emulator, 1)
    assert failed.value.status_code == 402
