"""Pipecat pipelines with recorded speech, against the emulator and its faults."""

from __future__ import annotations

import time
import wave
from collections.abc import AsyncGenerator, Sequence

import pytest
from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    MetricsFrame,
    ProposedUserStartedSpeakingFrame,
    ProposedUserStoppedSpeakingFrame,
    STTUpdateSettingsFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.metrics.metrics import STTUsageMetricsData, TTFBMetricsData
from pipecat.pipeline.worker import PipelineParams
from pipecat.processors.frame_processor import FrameDirection
from pipecat.services.settings import STTSettings
from pipecat.tests.utils import SleepFrame, run_test
from svc_asr import Endpointing, FinalEvent, SpeechEndedEvent, SpeechStartedEvent, StreamEvent
from tests.conftest import TEXT
from tests.emulator import ROOT, Emulator
from tests.speech import client_of

from svc_asr_pipecat import SvcSTTService

VAD_STOP_S = 0.2


def recording(rate: int = 16_000) -> list[InputAudioRawFrame]:
    """A recorded sentence in frames of 20 ms."""
    with wave.open(str(ROOT / "core/models/fixtures/kikuyu-1.wav")) as wav:
        pcm = wav.readframes(wav.getnframes())
    if rate == 8_000:
        pcm = b"".join(pcm[at : at + 2] for at in range(0, len(pcm), 4))
    size = rate // 50 * 2
    return [
        InputAudioRawFrame(audio=pcm[at : at + size], sample_rate=rate, num_channels=1)
        for at in range(0, len(pcm), size)
    ]


def turn(rate: int = 16_000) -> list[Frame]:
    return [
        VADUserStartedSpeakingFrame(start_secs=0.2),
        *recording(rate),
        VADUserStoppedSpeakingFrame(stop_secs=VAD_STOP_S, timestamp=time.time()),
        SleepFrame(sleep=0.5),
    ]


async def run(
    emulator: Emulator,
    frames: Sequence[Frame],
    rate: int = 16_000,
    endpointing: Endpointing | None = None,
    numbers: bool = False,
    service_type: type[SvcSTTService] = SvcSTTService,
) -> tuple[Sequence[Frame], Sequence[Frame]]:
    async with client_of(emulator) as client:
        service = service_type(
            model="svc-asr-kikuyu-v1",
            client=client,
            endpointing=endpointing,
            numbers=numbers,
            audio_passthrough=False,
        )
        params = PipelineParams(
            audio_in_sample_rate=rate, enable_metrics=True, enable_usage_metrics=True
        )
        return await run_test(
            service, frames_to_send=frames, pipeline_params=params, start_timeout=10
        )


def transcriptions(frames: Sequence[Frame]) -> list[TranscriptionFrame]:
    return [frame for frame in frames if isinstance(frame, TranscriptionFrame)]


def final_of(frame: TranscriptionFrame) -> FinalEvent:
    assert isinstance(frame.result, FinalEvent)
    return frame.result


async def test_a_turn_pushes_interims_and_a_finalized_transcription(emulator: Emulator) -> None:
    down, _ = await run(emulator, [*turn(), *turn()])
    finals = transcriptions(down)
    assert [frame.text for frame in finals] == [TEXT, TEXT]
    # The final that answers the flush is the confirmation.
    assert [frame.finalized for frame in finals] == [True, True]
    assert [final_of(frame).id for frame in finals] == ["1", "2"]
    assert any(isinstance(frame, InterimTranscriptionFrame) for frame in down)


@pytest.mark.parametrize("numbers", [True, False])
async def test_numbers_are_digits_in_the_text_if_asked_for_and_never_in_the_words(
    emulator: Emulator, numbers: bool
) -> None:
    said = "ciringi ngiri igĩrĩ na magana matano"
    emulator.say(said)
    down, _ = await run(emulator, turn(), numbers=numbers)
    emulator.say(TEXT)
    (frame,) = transcriptions(down)
    assert frame.text == ("ciringi 2500" if numbers else said)
    assert " ".join(word.text for word in final_of(frame).words) == said


@pytest.mark.parametrize("language", ["ki", "luo"])
async def test_takes_the_address_the_key_and_the_language_and_frames_name_it(
    emulator: Emulator, language: str
) -> None:
    service = SvcSTTService(
        language=language,
        api_key=emulator.api_key,
        base_url=emulator.base_url,
        audio_passthrough=False,
    )
    params = PipelineParams(audio_in_sample_rate=16_000)
    down, _ = await run_test(
        service, frames_to_send=turn(), pipeline_params=params, start_timeout=10
    )
    texts = [
        frame for frame in down if isinstance(frame, InterimTranscriptionFrame | TranscriptionFrame)
    ]
    assert len(texts) >= 2
    assert {str(frame.language) for frame in texts} == {language}


async def test_reports_latency_from_the_end_of_speech_and_the_audio_used(
    emulator: Emulator,
) -> None:
    down, _ = await run(emulator, turn())
    data = [each for frame in down if isinstance(frame, MetricsFrame) for each in frame.data]
    latencies = [
        each.value for each in data if isinstance(each, TTFBMetricsData) and each.value > 0
    ]
    assert len(latencies) == 1
    assert VAD_STOP_S <= latencies[0] < 5
    seconds = sum(
        each.value.audio_seconds for each in data if isinstance(each, STTUsageMetricsData)
    )
    assert seconds == pytest.approx(sum(len(frame.audio) for frame in recording()) / 32_000)


@pytest.mark.parametrize("name", ["engine-crash", "restart", "connection-lost", "unavailable"])
async def test_a_turn_keeps_all_its_audio_through_failures(emulator: Emulator, name: str) -> None:
    emulator.arm(name, ms=700)
    down, _ = await run(emulator, [*turn(), SleepFrame(sleep=1), *turn()])
    finals = transcriptions(down)
    assert [frame.text for frame in finals] == [TEXT, TEXT]
    ms = sum(len(frame.audio) for frame in recording()) / 32
    for frame in finals:
        assert final_of(frame).end_ms - final_of(frame).start_ms == pytest.approx(ms, abs=1)


async def test_the_end_of_a_pipeline_waits_for_the_last_words(emulator: Emulator) -> None:
    down, _ = await run(emulator, recording())
    assert [frame.text for frame in transcriptions(down)] == [TEXT]


async def test_resamples_telephone_audio(emulator: Emulator) -> None:
    down, _ = await run(emulator, turn(8_000), rate=8_000)
    (final,) = transcriptions(down)
    ms = sum(len(frame.audio) for frame in recording()) / 32
    # The resampler holds back 100 ms until more audio arrives, as it does in a call.
    assert final_of(final).end_ms == pytest.approx(ms, abs=120)


async def test_without_credit_the_pipeline_gets_an_error_frame(emulator: Emulator) -> None:
    emulator.arm("no-credit")
    _, up = await run(emulator, turn())
    assert any("insufficient_credits" in str(getattr(frame, "error", "")) for frame in up)


@pytest.mark.parametrize("fault", [None, "engine-crash"])
async def test_with_endpointing_the_service_proposes_the_turns(
    emulator: Emulator, fault: str | None
) -> None:
    if fault is not None:
        emulator.arm(fault, ms=5_000)
    silence = InputAudioRawFrame(audio=bytes(32_000), sample_rate=16_000, num_channels=1)
    frames = [*recording(), silence, SleepFrame(sleep=0.5)]
    down, up = await run(emulator, [*frames, *frames], endpointing=Endpointing(silence_ms=700))
    turn = [ProposedUserStartedSpeakingFrame, TranscriptionFrame, ProposedUserStoppedSpeakingFrame]
    # A start is a system frame, which overtakes other frames.
    assert [type(each) for each in down if type(each) in turn[1:]] == turn[1:] * 2
    assert [type(each) for each in up if type(each) in turn] == [turn[0], turn[2]] * 2
    assert [(each.text, each.finalized) for each in transcriptions(down)] == [(TEXT, True)] * 2


async def test_turns_that_arrive_at_once_keep_their_order(
    emulator: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after an outage."""
    monkeypatch.setattr("svc_asr_pipecat.stt.open_stream", lambda **_: TwoTurnsAtOnce())
    down, _ = await run(emulator, [], endpointing=Endpointing(silence_ms=700))
    kinds = (TranscriptionFrame, ProposedUserStoppedSpeakingFrame)
    assert [type(each) for each in down if isinstance(each, kinds)] == [*kinds, *kinds]


class TwoTurnsAtOnce:
    async def events(self) -> AsyncGenerator[StreamEvent, None]:
        for at in range(2):
            yield SpeechStartedEvent(utterance=at, audio_ms=at * 3_000, confirmed=True)
            yield SpeechEndedEvent(utterance=at, audio_ms=at * 3_000 + 1_200)
            yield FinalEvent.from_wire(
                {
                    "text": f"turn {at}",
                    "utterance": at,
                    "reason": "endpoint",
                    "start_ms": at * 3_000,
                    "end_ms": at * 3_000 + 1_900,
                }
            )

    def flush_nowait(self) -> None: ...

    async def finish(self) -> None: ...

    async def close(self) -> None: ...


class SpeaksAfterUpdate(SvcSTTService):
    """Pipecat lets audio overtake settings, so this hears a second turn when they have changed."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, STTUpdateSettingsFrame):
            for later in turn()[:-1]:
                await super().process_frame(later, direction)


async def test_a_settings_update_changes_the_language_of_the_next_audio(emulator: Emulator) -> None:
    frames = [*turn(), STTUpdateSettingsFrame(delta=STTSettings(language="luo"))]
    down, _ = await run(emulator, frames, service_type=SpeaksAfterUpdate)
    assert [(frame.text, frame.language) for frame in transcriptions(down)] == [
        (TEXT, "ki"),
        (TEXT, "luo"),
    ]


@pytest.mark.parametrize(
    "delta",
    [
        STTSettings(language="en"),
        STTSettings(model="nova-3"),
        STTSettings(model="svc-asr-dholuo-v1", language="ki"),
    ],
)
async def test_a_settings_update_that_the_service_cannot_follow_is_refused(
    emulator: Emulator, delta: STTSettings
) -> None:
    down, up = await run(emulator, [STTUpdateSettingsFrame(delta=delta), *turn()])
    errors = [frame.error for frame in up if isinstance(frame, ErrorFrame)]
    assert len(errors) == 1
    assert "The settings have not changed" in errors[0]
    assert [frame.language for frame in transcriptions(down)] == ["ki"]
