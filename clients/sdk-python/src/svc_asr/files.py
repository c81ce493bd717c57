"""Transcribes whole files, for scripts and batch jobs."""

from __future__ import annotations

import asyncio
import shutil
import time
import wave
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from ._replay_buffer import BYTES_PER_SECOND, SAMPLE_RATE_HZ
from ._transcript import Transcript
from .client import SvcClient
from .errors import SvcError
from .stream import open_stream
from .wire import ModelId

CHUNK_BYTES = BYTES_PER_SECOND // 2
LIVE_BYTES = BYTES_PER_SECOND // 10


async def read_audio(path: str | Path, *, real_time: bool = False) -> AsyncGenerator[bytes, None]:
    """Yields a file as 16 kHz mono PCM. WAV in that format is read as it is; ffmpeg converts everything else.

    With ``real_time`` it yields 100 ms at a time and no faster than a microphone would, to test live use.
    """
    audio = _read(path)
    chunks = _paced(audio) if real_time else audio
    async with aclosing(audio), aclosing(chunks):
        async for chunk in chunks:
            yield chunk


async def _paced(audio: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    began = time.monotonic()
    sent = 0
    async for read in audio:
        for at in range(0, len(read), LIVE_BYTES):
            chunk = read[at : at + LIVE_BYTES]
            sent += len(chunk)
            # A microphone has a piece of audio when it has ended.
            await asyncio.sleep(max(0.0, began + sent / BYTES_PER_SECOND - time.monotonic()))
            yield chunk


async def _read(path: str | Path) -> AsyncGenerator[bytes, None]:
    plain = _open_plain_wav(path)
    if plain is None:
        async with aclosing(_convert(path)) as converted:
            async for chunk in converted:
                yield chunk
        return
    with plain:
        while chunk := plain.readframes(CHUNK_BYTES // 2):
            yield chunk


async def transcribe(
    path: str | Path, *, model: ModelId, client: SvcClient | None = None
) -> Transcript:
    """Transcribes a file of any length and survives service failures."""
    own = SvcClient() if client is None else None
    used = client or own
    assert used is not None
    try:
        get_session = lambda: used.sessions.create(model, max_audio_seconds=300)  # noqa: E731
        async with open_stream(get_session=get_session, ca=used.ca) as stream:
            # A stream that fails must end ffmpeg before the event loop closes.
            async with aclosing(read_audio(path)) as audio:
                async for chunk in audio:
                    await stream.write(chunk)
            return await stream.finish()
    finally:
        if own is not None:
            await own.close()


def transcribe_file(path: str | Path, *, model: ModelId) -> Transcript:
    """Transcribes a file, without asyncio. Reads SVC_BASE_URL and SVC_API_KEY from the environment."""
    return asyncio.run(transcribe(path, model=model))


def _open_plain_wav(path: str | Path) -> wave.Wave_read | None:
    try:
        wav = wave.open(str(path), "rb")
    except (wave.Error, EOFError):
        return None
    if (wav.getframerate(), wav.getnchannels(), wav.getsampwidth()) == (SAMPLE_RATE_HZ, 1, 2):
        return wav
    wav.close()
    return None


async def _convert(path: str | Path) -> AsyncGenerator[bytes, None]:
    ffmpeg = shutil.which("ffmpeg")
    if ffmpeg is None:
        raise SvcError("missing_ffmpeg", "Install ffmpeg to read files other than 16 kHz mono WAV.")
    arguments = [
        "-nostdin",
        "-v",
        "error",
        "-i",
        str(path),
        "-f",
        "s16le",
        "-ar",
        "16000",
        "-ac",
        "1",
        "-",
    ]
    process = await asyncio.create_subprocess_exec(
        ffmpeg, *arguments, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert process.stdout is not None
    try:
        while chunk := await process.stdout.read(CHUNK_BYTES):
            yield chunk
        if await process.wait() != 0:
            raise SvcError("unreadable_audio", "No audio found in this file.")
    finally:
        if process.returncode is None:
            process.kill()
            # Reads the rest: asyncio doesn't see the end of a process while its output is full.
            await process.communicate()
