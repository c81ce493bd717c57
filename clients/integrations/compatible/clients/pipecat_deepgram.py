"""Pipecat's Deepgram service. `python pipecat_deepgram.py ORDER`"""

from __future__ import annotations

import asyncio
import time

from live_speech import speak_live
from loguru import logger
from order import Outcome, Run, serve
from pipecat.frames.frames import (
    EndFrame,
    ErrorFrame,
    Frame,
    InputAudioRawFrame,
    InterimTranscriptionFrame,
    TranscriptionFrame,
    VADUserStartedSpeakingFrame,
    VADUserStoppedSpeakingFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.deepgram.stt import DeepgramSTTService
from pipecat.workers.runner import WorkerRunner

logger.remove()


class Listener(FrameProcessor):
    """Keeps what the service pushes in one direction. The service ends without its last words, so we wait for them."""

    def __init__(self, run_ended: asyncio.Event) -> None:
        super().__init__()
        self.run_ended = run_ended
        self.finals: list[str] = []
        self.interims = 0
        self.errors: list[str] = []

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InterimTranscriptionFrame):
            self.interims += 1
        elif isinstance(frame, TranscriptionFrame):
            self.finals.append(frame.text)
            self.run_ended.set()
        elif isinstance(frame, ErrorFrame):
            self.errors.append(frame.error)
            self.run_ended.set()
        await self.push_frame(frame, direction)


async def transcribe(run: Run) -> Outcome:
    service = DeepgramSTTService(
        api_key=run.api_key,
        base_url=run.base_url,
        settings=DeepgramSTTService.Settings(model=run.model),
        audio_passthrough=False,
    )
    run_ended = asyncio.Event()
    before, after = Listener(run_ended), Listener(run_ended)
    worker = PipelineWorker(
        Pipeline([before, service, after]),
        cancel_on_idle_timeout=False,
        enable_rtvi=False,
        params=PipelineParams(audio_in_sample_rate=16_000),
    )
    started = asyncio.Event()

    @worker.event_handler("on_pipeline_started")
    async def _on_started(worker: PipelineWorker, frame: Frame) -> None:
        started.set()

    async def send(pcm: bytes) -> None:
        await worker.queue_frame(InputAudioRawFrame(pcm, 16_000, 1))

    async def speak() -> None:
        await started.wait()
        await worker.queue_frame(VADUserStartedSpeakingFrame(start_secs=0.2))
        await speak_live(run, send)
        stopped = VADUserStoppedSpeakingFrame(stop_secs=0.2, timestamp=time.time())
        await worker.queue_frame(stopped)
        await run_ended.wait()
        await worker.queue_frame(EndFrame())

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await asyncio.gather(runner.run(), speak())
    errors = [*before.errors, *after.errors]
    return Outcome(" ".join(after.finals), after.interims, errors[0] if errors else None)


serve(transcribe)
