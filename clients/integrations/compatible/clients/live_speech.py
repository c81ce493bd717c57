"""Sends a recording as a microphone would."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Literal

from order import Run, pcm_of

FRAME_S = 0.1
# By then the speaker is in the middle of a sentence.
SPEAKING_AFTER_FRAMES = 15


async def speak_live(
    run: Run,
    send: Callable[[bytes], Awaitable[object]],
    after: bytes = b"",
    rate_hz: Literal[16_000, 24_000] = 16_000,
) -> None:
    """Sends frames of 100 ms, each when it is due, and then the audio in `after`."""
    pcm = pcm_of(run.wav16k if rate_hz == 16_000 else run.wav24k) + after
    frame_bytes = rate_hz // 5
    started = time.monotonic()
    for at in range(0, len(pcm), frame_bytes):
        frame = at // frame_bytes
        if frame == SPEAKING_AFTER_FRAMES:
            run.speaking()
        await send(pcm[at : at + frame_bytes])
        await asyncio.sleep(max(0.0, started + (frame + 1) * FRAME_S - time.monotonic()))
