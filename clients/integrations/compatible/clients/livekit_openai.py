"""LiveKit's OpenAI plugin: streaming, or whole utterances with `files`. `python livekit_openai.py ORDER [files]`"""

from __future__ import annotations

import asyncio
import sys

import aiohttp
from live_speech import speak_live
from livekit import rtc
from livekit.agents import APIConnectOptions, stt, utils
from livekit.plugins import openai
from order import Outcome, Run, pcm_of, serve
from repeated_speech import once_of, repeated_pcm

FRAME_BYTES = 640
SILENCE = bytes(32 * 1_500)
SPEAKING_AFTER_S = 0.5
NO_RETRIES = APIConnectOptions(max_retry=0, timeout=10)


def frames(pcm: bytes) -> list[rtc.AudioFrame]:
    return [
        rtc.AudioFrame(frame := pcm[at : at + FRAME_BYTES], 16_000, 1, len(frame) // 2)
        for at in range(0, len(pcm), FRAME_BYTES)
    ]


async def speak(stream: stt.SpeechStream, run: Run) -> None:
    async def push(pcm: bytes) -> None:
        for frame in frames(pcm):
            stream.push_frame(frame)

    await speak_live(run, push, after=SILENCE)


async def recognize(speech: openai.STT, run: Run) -> Outcome:
    """A whole utterance in one request."""
    is_long = run.check == "restart"
    pcm = repeated_pcm(run.wav16k) if is_long else pcm_of(run.wav16k)
    asyncio.get_running_loop().call_later(SPEAKING_AFTER_S, run.speaking)
    event = await speech.recognize(frames(pcm), conn_options=NO_RETRIES)
    text = event.alternatives[0].text
    return Outcome(once_of(text) if is_long else text)


async def transcribe(run: Run) -> Outcome:
    use_realtime = "files" not in sys.argv
    async with aiohttp.ClientSession() as session:
        utils.http_context._ContextVar.set(lambda: session)
        speech = openai.STT(
            base_url=f"{run.base_url}/v1",
            api_key=run.api_key,
            model=run.model,
            use_realtime=use_realtime,
            # The default of 350 ms splits the recorded sentence.
            turn_detection={"type": "server_vad", "silence_duration_ms": 700},
        )
        if not use_realtime:
            return await recognize(speech, run)
        stream = speech.stream(conn_options=NO_RETRIES)
        speaking = asyncio.create_task(speak(stream, run))
        finals: list[str] = []
        interims = 0
        try:
            async for event in stream:
                if event.type == stt.SpeechEventType.INTERIM_TRANSCRIPT:
                    interims += 1
                if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
                    finals.append(event.alternatives[0].text)
                # The plugin has no event for the end of the input, so the turn's usage ends it.
                if event.type == stt.SpeechEventType.RECOGNITION_USAGE:
                    break
        finally:
            speaking.cancel()
            await stream.aclose()
            await speech.aclose()
        return Outcome(" ".join(finals), interims)


serve(transcribe)
