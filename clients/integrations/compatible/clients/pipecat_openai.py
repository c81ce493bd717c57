"""Pipecat's OpenAI services: streaming, or whole utterances with `files`. `python pipecat_openai.py ORDER [files]`"""

from __future__ import annotations

import asyncio
import sys
import time

from loguru import logger
from order import Outcome, Run, pcm_of, serve
from pipecat.frames.frames import (
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.worker import PipelineParams
from pipecat.services.openai.stt import OpenAIRealtimeSTTService, OpenAISTTService
from pipecat.services.stt_service import STTService
from pipecat.tests.utils import SleepFrame, run_test

FRAME_BYTES = 640
# The last transcript and all errors arrive within this time. A full account is waited for.
LAST_EVENT_S = {"limit": 12.0, "restart": 40.0}
SPEAKING_AFTER_S = 1.5

logger.remove()


def turn(run: Run) -> list[Frame]:
    pcm = pcm_of(run.wav16k)
    frames: list[Frame] = [SleepFrame(sleep=0.5), VADUserStartedSpeakingFrame(start_secs=0.2)]
    for at in range(0, len(pcm), FRAME_BYTES):
        audio = pcm[at : at + FRAME_BYTES]
        frames.append(InputAudioRawFrame(audio=audio, sample_rate=16_000, num_channels=1))
        frames.append(SleepFrame(sleep=0.02))
    frames.append(VADUserStoppedSpeakingFrame(stop_secs=0.2, timestamp=time.time()))
    frames.append(SleepFrame(sleep=LAST_EVENT_S.get(run.check, 2.0)))
    return frames


def service_of(run: Run) -> STTService:
    if "files" in sys.argv:
        return OpenAISTTService(
            api_key=run.api_key,
            base_url=f"{run.base_url}/v1",
            settings=OpenAISTTService.Settings(model=run.model),
            audio_passthrough=False,
        )
    return OpenAIRealtimeSTTService(
        api_key=run.api_key,
        base_url=f"{run.base_url.replace('http', 'ws', 1)}/v1/realtime",
        settings=OpenAIRealtimeSTTService.Settings(model=run.model),
        audio_passthrough=False,
    )


async def transcribe(run: Run) -> Outcome:
    asyncio.get_running_loop().call_later(SPEAKING_AFTER_S, run.speaking)
    down, up = await run_test(
        service_of(run),
        frames_to_send=turn(run),
        pipeline_params=PipelineParams(audio_in_sample_rate=16_000),
        start_timeout=60,
    )
    errors = [frame.error for frame in up if isinstance(frame, ErrorFrame)]
    finals = [frame.text for frame in down if isinstance(frame, TranscriptionFrame)]
    interims = [frame for frame in down if isinstance(frame, InterimTranscriptionFrame)]
    return Outcome(" ".join(finals), len(interims), errors[0] if errors else None)


serve(transcribe)
