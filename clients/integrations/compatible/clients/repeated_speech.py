"""A recording long enough for a restart to hit the middle of it. See repeated-speech.ts."""

from __future__ import annotations

import io
import wave

from order import pcm_of

TIMES = 12
SILENCE = bytes(32_000)


def repeated_pcm(wav16k: str) -> bytes:
    """The sentence of a 16 kHz WAV file, repeated a second apart."""
    return (pcm_of(wav16k) + SILENCE) * TIMES


def repeated_wav(wav16k: str) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(16_000)
        wav.writeframes(repeated_pcm(wav16k))
    return file.getvalue()


def once_of(transcript: str) -> str:
    """The sentence, if the transcript is that sentence repeated. Otherwise the whole transcript."""
    words = transcript.split(" ")
    once = " ".join(words[: len(words) // TIMES])
    return once if " ".join([once] * TIMES) == transcript else transcript
