"""Audio for tests, and streams as a server would open them."""

from __future__ import annotations

import array
import functools
import math
import wave
from typing import Final

from svc_asr import AsrSession, SvcClient, SvcStream, open_stream

from .emulator import ROOT, Emulator

KIKUYU: Final = "svc-asr-kikuyu-v1"
SAMPLES_PER_MS = 16


@functools.lru_cache(maxsize=8)
def _second(with_pause: bool) -> bytes:
    samples = array.array("h")
    for at in range(16_000):
        is_pause = with_pause and at > 10_000
        samples.append(0 if is_pause else int(8_000 * math.sin(at / 11)))
    return samples.tobytes()


def speech(ms: int) -> bytes:
    """Alternates between loud and quiet, so that there are pauses."""
    return (_second(True) * (ms // 1000 + 1))[: ms * SAMPLES_PER_MS * 2]


def hum(ms: int) -> bytes:
    """Without pauses, so that a session ends only at its limit."""
    return (_second(False) * (ms // 1000 + 1))[: ms * SAMPLES_PER_MS * 2]


def recording(name: str) -> bytes:
    """A recorded sentence, which voice activity detection takes for speech."""
    with wave.open(str(ROOT / f"core/models/fixtures/{name}.wav")) as wav:
        return bytes(wav.readframes(wav.getnframes()))


def client_of(emulator: Emulator) -> SvcClient:
    return SvcClient(emulator.base_url, emulator.api_key)


def stream_of(emulator: Emulator, client: SvcClient, *, max_audio_seconds: int = 60) -> SvcStream:
    async def get_session() -> AsrSession:
        return await client.sessions.create(KIKUYU, max_audio_seconds=max_audio_seconds)

    return open_stream(get_session=get_session)
