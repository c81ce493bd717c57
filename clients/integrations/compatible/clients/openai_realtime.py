"""The openai package and Realtime transcription. `python openai_realtime.py ORDER`"""

from __future__ import annotations

import asyncio
import base64

from live_speech import speak_live
from openai import AsyncOpenAI
from openai.resources.realtime.realtime import AsyncRealtimeConnection
from order import Outcome, Run, serve

TRANSCRIPTION = "conversation.item.input_audio_transcription"


async def speak(connection: AsyncRealtimeConnection, run: Run) -> None:
    async def send(frame: bytes) -> None:
        await connection.input_audio_buffer.append(audio=base64.b64encode(frame).decode())

    await speak_live(run, send, rate_hz=24_000)
    await connection.input_audio_buffer.commit()


async def transcribe(run: Run) -> Outcome:
    client = AsyncOpenAI(
        base_url=f"{run.base_url}/v1",
        websocket_base_url=f"{run.base_url.replace('http', 'ws', 1)}/v1",
        api_key=run.api_key,
    )
    deltas, interims = "", 0
    speaking: asyncio.Task[None] | None = None
    async with client.realtime.connect(model=run.model) as connection:
        await connection.session.update(
            session={
                "type": "transcription",
                "audio": {"input": {"transcription": {"model": run.model}, "turn_detection": None}},
            }
        )
        async for event in connection:
            if event.type == "session.updated":
                speaking = asyncio.create_task(speak(connection, run))
            elif event.type == f"{TRANSCRIPTION}.delta":
                deltas += event.delta or ""
                interims += 1
            elif event.type == f"{TRANSCRIPTION}.completed":
                if deltas != event.transcript:
                    raise RuntimeError(f"The deltas differ from the transcript: {deltas}")
                return Outcome(event.transcript, interims)
            elif event.type == "error":
                if speaking is not None:
                    speaking.cancel()
                return Outcome("", interims, event.error.message)
    raise RuntimeError("The connection ended early.")


serve(transcribe)
