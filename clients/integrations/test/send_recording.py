"""Sends a 16 kHz WAV file through one of the Python clients, for same-samples.test.ts.

  python send_recording.py CLIENT FILE

CLIENT is sdk, livekit, pipecat, pipecat-vad or pipecat-endpointing. SVC_BASE_URL and SVC_API_KEY name the service.
"""

from __future__ import annotations

import asyncio
import sys
import wave

from svc_asr import Endpointing, transcribe_file

MODEL = "svc-asr-kikuyu-v1"
SILENCE_MS = 700


def read_frames(path: str) -> list[bytes]:
    """The file in frames of 20 ms. The last one may be shorter."""
    with wave.open(path) as wav:
        pcm = wav.readframes(wav.getnframes())
    return [pcm[at : at + 640] for at in range(0, len(pcm), 640)]


async def send_through_livekit(path: str) -> None:
    from livekit import rtc

    from svc_asr_livekit import SvcSTT

    stream = SvcSTT(model=MODEL, silence_ms=SILENCE_MS).stream()
    for pcm in read_frames(path):
        stream.push_frame(rtc.AudioFrame(pcm, 16_000, 1, len(pcm) // 2))
    stream.end_input()
    async for _ in stream:
        pass
    await stream.aclose()


async def send_through_pipecat(path: str, *, vad: bool, endpointing: bool) -> None:
    from loguru import logger
    from pipecat.audio.vad.silero import SileroVADAnalyzer
    from pipecat.audio.vad.vad_analyzer import VADParams
    from pipecat.frames.frames import InputAudioRawFrame
    from pipecat.pipeline.pipeline import Pipeline
    from pipecat.pipeline.worker import PipelineParams
    from pipecat.processors.audio.vad_processor import VADProcessor
    from pipecat.tests.utils import run_test

    from svc_asr_pipecat import SvcSTTService

    logger.remove()
    turns = Endpointing(silence_ms=SILENCE_MS) if endpointing else None
    service = SvcSTTService(model=MODEL, endpointing=turns)
    parts = [service]
    if vad:
        params = VADParams(stop_secs=0.2)
        parts.insert(0, VADProcessor(vad_analyzer=SileroVADAnalyzer(params=params)))
    frames = [
        InputAudioRawFrame(audio=pcm, sample_rate=16_000, num_channels=1)
        for pcm in read_frames(path)
    ]
    await run_test(
        Pipeline(parts),
        frames_to_send=frames,
        pipeline_params=PipelineParams(audio_in_sample_rate=16_000),
        start_timeout=60,
    )


def main() -> None:
    client, path = sys.argv[1:]
    if client == "sdk":
        transcribe_file(path, model=MODEL)
    elif client == "livekit":
        asyncio.run(send_through_livekit(path))
    else:
        vad = client == "pipecat-vad"
        endpointing = client == "pipecat-endpointing"
        asyncio.run(send_through_pipecat(path, vad=vad, endpointing=endpointing))


main()
