"""Deepgram's SDK for Python. `python deepgram_live.py ORDER`"""

from __future__ import annotations

import asyncio

from deepgram import AsyncDeepgramClient
from deepgram.core.events import EventType
from deepgram.environment import DeepgramClientEnvironment
from deepgram.listen.v1.types import ListenV1Results
from live_speech import speak_live
from order import Outcome, Run, serve


async def transcribe(run: Run) -> Outcome:
    sockets = run.base_url.replace("http", "ws", 1)
    environment = DeepgramClientEnvironment(
        base=run.base_url, production=sockets, agent=sockets, agent_rest=run.base_url
    )
    client = AsyncDeepgramClient(api_key=run.api_key, environment=environment)
    finals: list[str] = []
    interims: list[str] = []
    errors: list[str] = []

    def on_message(message: object) -> None:
        if not isinstance(message, ListenV1Results):
            return
        text = message.channel.alternatives[0].transcript
        if text:
            (finals if message.is_final else interims).append(text)

    async with client.listen.v1.connect(
        model=run.model, encoding="linear16", sample_rate="16000", interim_results="true"
    ) as connection:
        connection.on(EventType.MESSAGE, on_message)
        connection.on(EventType.ERROR, lambda error: errors.append(str(error)))
        listening = asyncio.create_task(connection.start_listening())
        await speak_live(run, connection.send_media)
        await connection.send_close_stream()
        await listening
    return Outcome(" ".join(finals), len(interims), errors[0] if errors else None)


serve(transcribe)
