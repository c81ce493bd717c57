"""LiveKit speech streams against the emulator and its faults."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import pytest
from livekit import rtc
from livekit.agents import APIStatusError, stt
from livekit.agents.metrics import STTMetrics
from svc_asr import SvcError, SvcStream
from svc_asr.voice_gate import Send, VoiceGate
from tests.conftest import TEXT
from tests.emulator import Emulator
from tests.speech import client_of, hum, recording

from svc_asr_livekit import SvcSTT

Type = stt.SpeechEventType
SENTENCE = recording("kikuyu-2")
TURN = SENTENCE + bytes(32 * 900)


def frames(pcm: bytes) -> list[rtc.AudioFrame]:
    return [
        rtc.AudioFrame(pcm[at : at + 640], 16_000, 1, len(pcm[at : at + 640]) // 2)
        for at in range(0, len(pcm), 640)
    ]


async def listen(emulator: Emulator, turns: int, numbers: bool = False) -> list[stt.SpeechEvent]:
    """Sends turns one after another, each after END_OF_SPEECH of the previous one."""
    async with client_of(emulator) as client:
        stream = SvcSTT(model="svc-asr-kikuyu-v1", client=client, numbers=numbers).stream()
        seen: list[stt.SpeechEvent] = []
        turn = frames(TURN)
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


def billed_s(events: list[stt.SpeechEvent]) -> float:
    return sum(each.recognition_usage.audio_duration for each in events if each.recognition_usage)


def sent_s(turns: int) -> float:
    """How much of the turns the voice gate passes."""
    gate = VoiceGate(hold_ms=500)
    outputs = [output for _ in range(turns) for output in gate.push(TURN)] + gate.end()
    return sum(len(output.pcm) for output in outputs if isinstance(output, Send)) / 32_000


async def collect(speech: SvcSTT, pcm: bytes) -> list[stt.SpeechEvent | stt.STTError]:
    """Sends audio at once. Returns the stream's events and the errors of its owner in their order."""
    seen: list[stt.SpeechEvent | stt.STTError] = []
    speech.on("error", seen.append)
    stream = speech.stream()
    for frame in frames(pcm):
        stream.push_frame(frame)
    stream.end_input()
    async for event in stream:
        seen.append(event)
    await stream.aclose()
    return seen


async def test_silence_between_turns_is_not_sent(emulator: Emulator) -> None:
    async with client_of(emulator) as client:
        speech = SvcSTT(model="svc-asr-kikuyu-v1", client=client)
        pause = bytes(32 * 5_000)
        seen = await collect(speech, SENTENCE + pause + SENTENCE + pause)
    events = [each for each in seen if isinstance(each, stt.SpeechEvent)]
    assert [data.text for data in finals(events)] == [TEXT, TEXT]
    # A sentence, its silence of 500 ms, and 300 ms from before the next one.
    assert billed_s(events) == pytest.approx(2 * len(SENTENCE) / 32_000 + 1.3, abs=0.3)
    first, second = finals(events)
    # The silence that was not sent is part of the times.
    assert second.start_time - first.start_time == pytest.approx(
        len(SENTENCE) / 32_000 + 5, abs=0.5
    )


@pytest.mark.parametrize(
    ("numbers", "text"),
    [(True, "ciringi 2500"), (False, "ciringi ngiri igĩrĩ na magana matano")],
)
async def test_numbers_are_digits_for_an_agent_that_asks_for_them(
    emulator: Emulator, numbers: bool, text: str
) -> None:
    emulator.say("ciringi ngiri igĩrĩ na magana matano")
    events = await listen(emulator, 1, numbers)
    emulator.say(TEXT)
    assert [data.text for data in finals(events)] == [text]


async def test_an_outage_is_reported_before_the_next_final_and_turns_stay_separate(
    emulator: Emulator, caplog: pytest.LogCaptureFixture
) -> None:
    emulator.arm("connection-lost", ms=800)
    async with client_of(emulator) as client:
        seen = await collect(SvcSTT(model="svc-asr-kikuyu-v1", client=client), TURN * 3)
    errors = [each for each in seen if isinstance(each, stt.STTError)]
    assert [each.recoverable for each in errors] == [True]
    assert "connection_lost" in str(errors[0].error)
    assert "Recognition is interrupted" in caplog.text
    types = [each.type for each in seen]
    assert types.index("stt_error") < types.index(Type.FINAL_TRANSCRIPT)
    turn = [Type.START_OF_SPEECH, Type.FINAL_TRANSCRIPT, Type.END_OF_SPEECH]
    assert [each for each in types if each in turn] == turn * 3
    is_in_turn = False
    for each in types:
        is_in_turn = (is_in_turn or each == Type.START_OF_SPEECH) and each != Type.END_OF_SPEECH
        assert is_in_turn or each != Type.INTERIM_TRANSCRIPT


async def test_a_first_session_that_takes_longer_than_3_s_is_reported(emulator: Emulator) -> None:
    emulator.arm("unavailable", times=5)
    async with client_of(emulator) as client:
        seen = await collect(SvcSTT(model="svc-asr-kikuyu-v1", client=client), TURN)
    assert isinstance(seen[0], stt.STTError)
    assert seen[0].recoverable
    assert Type.FINAL_TRANSCRIPT in [each.type for each in seen]


async def test_takes_the_address_the_key_and_the_language_like_other_plugins(
    emulator: Emulator,
) -> None:
    speech = SvcSTT(language="ki-KE", api_key=emulator.api_key, base_url=emulator.base_url)
    assert speech.model == "svc-asr-kikuyu-v1"
    event = await speech.recognize(frames(SENTENCE))
    assert (event.alternatives[0].text, event.alternatives[0].language) == (TEXT, "ki")
    other = await speech.recognize(frames(SENTENCE), language="luo")
    assert other.alternatives[0].language == "luo"
    for wrong in ({}, {"language": "sw"}, {"language": "luo", "model": "svc-asr-kikuyu-v1"}):
        with pytest.raises(SvcError, match="invalid_language"):
            SvcSTT(api_key=emulator.api_key, base_url=emulator.base_url, **wrong)  # type: ignore[arg-type]


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
    end = next(event for event in events if event.type == Type.END_OF_SPEECH)
    assert end.created_at - (end.speech_end_time or end.created_at) >= 0.4


@pytest.mark.parametrize("name", ["engine-crash", "restart", "connection-lost", "unavailable"])
async def test_a_turn_keeps_all_its_audio_through_failures(emulator: Emulator, name: str) -> None:
    emulator.arm(name, ms=800)
    events = await listen(emulator, 2)
    assert [data.text for data in finals(events)] == [TEXT, TEXT]
    assert billed_s(events) == pytest.approx(sent_s(2), abs=0.01)


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


async def test_eager_ms_gives_a_preflight_before_the_final_of_the_turn(emulator: Emulator) -> None:
    emulator.say("ciringi magana matano")
    async with client_of(emulator) as client:
        speech = SvcSTT(language="ki", client=client, silence_ms=700, eager_ms=250, numbers=True)
        stream = speech.stream()
        for frame in frames(SENTENCE + bytes(32 * 450)):
            stream.push_frame(frame)
        types: list[Type] = []
        async for event in stream:
            types.append(event.type)
            if event.type == Type.PREFLIGHT_TRANSCRIPT:
                (preflight,) = event.alternatives
                for frame in frames(bytes(32 * 600)):
                    stream.push_frame(frame)
            elif event.type == Type.FINAL_TRANSCRIPT:
                (final,) = event.alternatives
                break
        await stream.aclose()
    emulator.say(TEXT)
    assert types[0] == Type.START_OF_SPEECH
    # LiveKit keeps its answer only if both texts are the same.
    assert (preflight.text, preflight.language) == (final.text, "ki") == ("ciringi 500", "ki")
    assert [str(word) for word in preflight.words or []] == ["ciringi", "magana", "matano"]


async def test_recognize_has_words_confidence_and_the_session(emulator: Emulator) -> None:
    async with client_of(emulator) as client:
        event = await SvcSTT(language="ki", client=client).recognize(frames(SENTENCE))
    [data] = event.alternatives
    assert data.words is not None
    assert [str(word) for word in data.words] == TEXT.split()
    assert data.start_time == data.words[0].start_time
    assert 0 < data.confidence <= 1
    assert UUID(event.request_id)


async def test_keyterms_of_the_session_reach_an_open_stream(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[tuple[str, ...]] = []
    set_keyterms = SvcStream.set_keyterms

    def record(stream: SvcStream, keyterms: Iterable[str]) -> None:
        used.append(tuple(keyterms))
        set_keyterms(stream, keyterms)

    monkeypatch.setattr(SvcStream, "set_keyterms", record)
    async with client_of(emulator) as client:
        speech = SvcSTT(language="ki", client=client, keyterms=["Wanjikũ"])
        assert speech.capabilities.keyterms
        stream = speech.stream()
        turn = frames(TURN)
        for frame in turn:
            stream.push_frame(frame)
        async for event in stream:
            if event.type != Type.END_OF_SPEECH:
                continue
            if used:
                stream.end_input()
                continue
            speech._update_session_keyterms(["Kĩambu", "Wanjikũ"])
            for frame in turn:
                stream.push_frame(frame)
        await stream.aclose()
    assert used == [("Wanjikũ", "Kĩambu")]


async def test_another_language_opens_a_new_stream_and_loses_no_word(emulator: Emulator) -> None:
    async with client_of(emulator) as client:
        speech = SvcSTT(language="ki", client=client)
        metrics: list[STTMetrics] = []
        speech.on("metrics_collected", metrics.append)
        stream = speech.stream()
        languages: list[str] = []
        starts: list[float] = []
        for frame in frames(SENTENCE):
            stream.push_frame(frame)
        async for event in stream:
            if event.type == Type.INTERIM_TRANSCRIPT and not languages and speech.language == "ki":
                speech.update_options(language="luo")
                for frame in frames(TURN):
                    stream.push_frame(frame)
                stream.end_input()
            if event.type == Type.FINAL_TRANSCRIPT:
                languages.append(event.alternatives[0].language)
                starts.append(event.alternatives[0].start_time)
        await stream.aclose()
    assert languages == ["ki", "luo"]
    assert speech.model == "svc-asr-dholuo-v1"
    # Counted from the start of the agent's stream.
    assert starts[1] - starts[0] > len(SENTENCE) / 32_000 - 1
    acquired = [each.acquire_time for each in metrics if each.acquire_time > 0]
    assert len(acquired) == 2
