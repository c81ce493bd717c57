"""Measures the time from the end of speech to the final transcription with the metric that stt-benchmark reads.

  python latency.py [--rounds 3]

Recorded sentences run in real time through a pipeline with Silero VAD (stop_secs 0.2) and this service. Pipecat
reports the time from the end of speech, as the VAD dates it, to the finalized transcription (its STT TTFB).
SVC_BASE_URL and SVC_API_KEY name the service. The last line is JSON, with p95 and p99 from 100 turns on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import wave
from collections.abc import Sequence
from pathlib import Path

from loguru import logger
from pipecat.audio.vad.silero import SileroVADAnalyzer
from pipecat.audio.vad.vad_analyzer import VADParams
from pipecat.frames.frames import Frame, InputAudioRawFrame, MetricsFrame, TranscriptionFrame
from pipecat.metrics.metrics import TTFBMetricsData
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams
from pipecat.processors.audio.vad_processor import VADProcessor
from pipecat.tests.utils import SleepFrame, run_test
from svc_asr import ModelId, SvcClient

from svc_asr_pipecat import SvcSTTService

FIXTURES = Path(__file__).resolve().parents[3] / "core/models/fixtures"
MODELS: dict[str, ModelId] = {"kikuyu": "svc-asr-kikuyu-v1", "dholuo": "svc-asr-dholuo-v1"}
FRAME_S = 0.02
FRAME_BYTES = 640
SILENCE_S = 2.0
# With fewer turns the p99 is just the maximum.
TURNS_FOR_PERCENTILES = 100


def paced(path: Path) -> list[Frame]:
    """A sentence and two seconds of silence, in frames of 20 ms and in real time."""
    with wave.open(str(path)) as wav:
        pcm = wav.readframes(wav.getnframes()) + bytes(int(SILENCE_S * 32_000))
    frames: list[Frame] = []
    for at in range(0, len(pcm), FRAME_BYTES):
        audio = pcm[at : at + FRAME_BYTES]
        frames.append(InputAudioRawFrame(audio=audio, sample_rate=16_000, num_channels=1))
        frames.append(SleepFrame(sleep=FRAME_S))
    return frames


async def latencies(client: SvcClient, language: str, rounds: int) -> list[float]:
    paths = sorted(FIXTURES.glob(f"{language}-*.wav"))
    vad = VADProcessor(vad_analyzer=SileroVADAnalyzer(params=VADParams(stop_secs=0.2)))
    stt = SvcSTTService(model=MODELS[language], client=client)
    frames = [frame for _ in range(rounds) for path in paths for frame in paced(path)]
    down, _ = await run_test(
        Pipeline([vad, stt]),
        frames_to_send=frames,
        pipeline_params=PipelineParams(audio_in_sample_rate=16_000, enable_metrics=True),
        start_timeout=30,
    )
    return reported(down)


def reported(down: Sequence[Frame]) -> list[float]:
    """To the VAD a pause inside a sentence ends a turn. Pipecat measures turns with text; zeros are no values."""
    found: list[float] = []
    for frame in down:
        if isinstance(frame, MetricsFrame):
            found += [
                each.value
                for each in frame.data
                if isinstance(each, TTFBMetricsData) and each.value > 0
            ]
    finals = [frame for frame in down if isinstance(frame, TranscriptionFrame) and frame.finalized]
    assert len(found) <= len(finals), "a latency without a final"
    return found


async def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    rounds: int = parser.parse_args().rounds
    logger.remove()
    seconds: list[float] = []
    async with SvcClient() as client:
        for language in MODELS:
            seconds += await latencies(client, language, rounds)
    if len(seconds) < 2:
        print("No turn was finalized. Check SVC_BASE_URL and SVC_API_KEY.", file=sys.stderr)
        return 2
    ms = [round(each * 1000) for each in seconds]
    figures = {
        "turns": len(ms),
        "end_to_final_median_ms": round(statistics.median(ms)),
        "end_to_final_max_ms": max(ms),
    }
    if len(ms) >= TURNS_FOR_PERCENTILES:
        percentiles = statistics.quantiles(ms, n=100, method="inclusive")
        figures["end_to_final_p95_ms"] = round(percentiles[94])
        figures["end_to_final_p99_ms"] = round(percentiles[98])
    print(json.dumps({"name": "pipecat-latency", "passed": True, "figures": figures}))
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
