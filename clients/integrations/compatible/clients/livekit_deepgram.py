"""LiveKit's Deepgram plugin with its defaults. `python livekit_deepgram.py ORDER`"""

from __future__ import annotations

import asyncio

import aiohttp
from live_speech import speak_live
from livekit import rtc
from livekit.agents import APIConnectOptions, stt
from livekit.plugins import deepgram
from order import Outcome, Run, serve

NO_RETRIES = APIConnectOptions(max_retry=0, timeout=12)
# Interim results are sent until the input ends, so the turn ends before it.
SILENCE = bytes(32 * 1_500)


async def transcribe(run: Run) -> Outcome:
    async with aiohttp.ClientSession() as session:
        speech = deepgram.STT(
            model=run.model,
            api_key=run.api_key,
            base_url=f"{run.base_url}/v1/listen",
            http_session=session,
        )
        stream = speech.stream(conn_options=NO_RETRIES)

        async def push(pcm: bytes) -> None:
            stream.push_frame(rtc.AudioFrame(pcm, 16_000, 1, len(pcm) // 2))

        async def speak() -> None:
            await speak_live(run, push, after=SILENCE)
            stream.end_input()

        speaking = asyncio.create_task(speak())
        finals: list[str] = []
        interims = 0
        try:
            async for event in stream:
                if event.type == stt.SpeechEventType.INTERIM_TRANSCRIPT:
                    interims += 1
                if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
                    finals.append(event.alternatives[0].text)
        finally:
            speaking.cancel()
            await stream.aclose()
        return Outcome(" ".join(finals), interims)


serve(transcribe)
