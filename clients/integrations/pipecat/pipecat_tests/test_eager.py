"""A pipeline whose language model begins its answers early. It prints when they come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from pipecat.frames.frames import (
    Frame,
    InputAudioRawFrame,
    LLMContextFrame,
    LLMFullResponseEndFrame,
    LLMFullResponseStartFrame,
    LLMTextFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import LLMContextAggregatorPair
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.llm_service import LLMService
from pipecat.tests.utils import SleepFrame, run_test
from svc_asr import Endpointing
from tests.conftest import TEXT
from tests.emulator import Emulator
from tests.speech import client_of, recording

from svc_asr_pipecat import SvcSTTService

SENTENCE = recording("kikuyu-1")
TURN = SENTENCE + bytes(2_000 * 32)
FRAME_BYTES = 640
TURNS = 3
SPOKEN = "ciringi magana matano"
WRITTEN = "ciringi 500"
FIRST_WORD_S = 0.4


class Model(LLMService):
    """Takes a while for its first word, as models do."""

    def __init__(self) -> None:
        super().__init__()
        # For each question, whether the turn could still go on, and its text.
        self.early: list[bool] = []
        self.asked: set[object] = set()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, LLMContextFrame):
            await self.push_frame(frame, direction)
            return
        self.early.append(frame.speculation)
        self.asked.add(said(frame.context, "user")[-1])
        await asyncio.sleep(FIRST_WORD_S)
        await self.push_frame(LLMFullResponseStartFrame())
        await self.push_frame(LLMTextFrame("wega"))
        await self.push_frame(LLMFullResponseEndFrame())


class Clock(FrameProcessor):
    """When the last sound of each turn, or each word of an answer, passes."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []
        self._heard = 0

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            before = self._heard % len(TURN)
            self._heard += len(frame.audio)
            if before < len(SENTENCE) <= before + len(frame.audio):
                self.times.append(time.monotonic())
        if isinstance(frame, LLMTextFrame):
            self.times.append(time.monotonic())
        await self.push_frame(frame, direction)


def live(pcm: bytes) -> list[Frame]:
    frames: list[Frame] = []
    for at in range(0, len(pcm), FRAME_BYTES):
        audio = pcm[at : at + FRAME_BYTES]
        frames += [InputAudioRawFrame(audio=audio, sample_rate=16_000, num_channels=1)]
        frames += [SleepFrame(sleep=0.02)]
    return frames


async def converse(emulator: Emulator, eager_ms: int | None) -> list[bool]:
    """Returns for each question to the model whether the turn could still go on."""
    async with client_of(emulator) as client:
        context = LLMContext()
        pair = LLMContextAggregatorPair(context)
        spoken, answered, model = Clock(), Clock(), Model()
        stt = SvcSTTService(
            language="ki",
            client=client,
            endpointing=Endpointing(silence_ms=700, eager_ms=eager_ms),
            numbers=True,
            audio_passthrough=False,
        )
        pipeline = Pipeline([spoken, stt, pair.user(), model, answered, pair.assistant()])
        await run_test(
            pipeline,
            frames_to_send=live(TURN * TURNS),
            pipeline_params=PipelineParams(audio_in_sample_rate=16_000),
            start_timeout=10,
        )
    # The scripted recogniser also returns text for the silence after the last sentence.
    assert said(context, "user") == [WRITTEN] * (TURNS + 1)
    # Pipecat keeps an early answer only if the text of the turn is the same.
    assert model.asked == {WRITTEN}
    assert said(context, "assistant") == ["wega"] * len(answered.times)
    assert len(spoken.times) == TURNS
    delays = [end - start for start, end in zip(spoken.times, answered.times, strict=False)]
    print({"eager_ms": eager_ms, "answer after s": [round(delay, 2) for delay in delays]})
    return model.early


def said(context: LLMContext, role: str) -> Sequence[object]:
    messages = [message for message in context.messages if isinstance(message, dict)]
    return [message.get("content") for message in messages if message["role"] == role]


async def test_with_eager_ms_the_model_is_asked_before_the_turn_has_ended(
    emulator: Emulator,
) -> None:
    emulator.say(SPOKEN)
    assert not any(await converse(emulator, None))
    assert any(await converse(emulator, 250))
    emulator.say(TEXT)
