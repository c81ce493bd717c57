"""The openai package and files: every response format. `python openai_files.py ORDER`"""

from __future__ import annotations

import re
from collections.abc import AsyncIterable, Callable
from pathlib import Path

from openai import AsyncOpenAI
from openai.types.audio import TranscriptionStreamEvent
from order import Outcome, Run, serve
from repeated_speech import once_of, repeated_wav


def captions_in(file: str) -> str:
    """The text of SRT and WebVTT, without numbers, times and the head."""
    lines = [line.strip() for line in file.split("\n")]
    kept = [line for line in lines if line and not re.fullmatch(r"\d+|WEBVTT|.*-->.*", line)]
    return " ".join(kept)


async def read_stream(
    events: AsyncIterable[TranscriptionStreamEvent],
    on_first: Callable[[], None] = lambda: None,
) -> tuple[str, int]:
    deltas, interims = "", 0
    async for event in events:
        if event.type == "transcript.text.delta":
            if interims == 0:
                on_first()
            deltas += event.delta
            interims += 1
        if event.type == "transcript.text.done":
            if deltas != event.text:
                raise RuntimeError(f"The deltas differ from the text: {deltas}")
            return event.text, interims
    raise RuntimeError("The stream ended without its text.")


async def transcribe(run: Run) -> Outcome:
    async with AsyncOpenAI(
        base_url=f"{run.base_url}/v1", api_key=run.api_key, max_retries=0
    ) as client:
        file = Path(run.wav16k)
        create = client.audio.transcriptions.create
        if run.check == "restart":
            long = ("long.wav", repeated_wav(run.wav16k))
            events = await create(file=long, model=run.model, stream=True)
            text, interims = await read_stream(events, run.speaking)
            return Outcome(once_of(text), interims)
        text = (await create(file=file, model=run.model)).text
        plain = await create(file=file, model=run.model, response_format="text")
        srt = await create(file=file, model=run.model, response_format="srt")
        vtt = await create(file=file, model=run.model, response_format="vtt")
        verbose = await create(
            file=file,
            model=run.model,
            response_format="verbose_json",
            timestamp_granularities=["word", "segment"],
        )
        words = " ".join(each.word for each in verbose.words or [])
        live, interims = await read_stream(await create(file=file, model=run.model, stream=True))
        seen = [plain.strip(), captions_in(srt), captions_in(vtt), verbose.text, words, live]
        if wrong := [each for each in seen if each != text]:
            raise RuntimeError(f"A format differs: {wrong[0]}")
        if run.model not in [each.id async for each in client.models.list()]:
            raise RuntimeError("The model is not listed.")
        return Outcome(text, interims)


serve(transcribe)
