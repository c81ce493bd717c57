"""Files to text."""

from __future__ import annotations

import asyncio
import subprocess
import wave
from pathlib import Path
from typing import Any

import pytest

from svc_asr import SvcClient, SvcError, read_audio, transcribe, transcribe_file

from .conftest import TEXT
from .emulator import Emulator
from .speech import KIKUYU, client_of, hum, speech


def write_wav(path: Path, pcm: bytes, rate: int = 16_000) -> None:
    with wave.open(str(path), "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(rate)
        wav.writeframes(pcm)


def test_transcribes_a_file_without_asyncio(
    emulator: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_wav(tmp_path / "greeting.wav", speech(3_000))
    monkeypatch.setenv("SVC_BASE_URL", emulator.base_url)
    monkeypatch.setenv("SVC_API_KEY", emulator.api_key)
    emulator.arm("engine-crash")
    transcript = transcribe_file(tmp_path / "greeting.wav", model=KIKUYU)
    assert transcript.text == TEXT
    assert transcript.finals[-1].end_ms == 3_000


async def test_reads_a_voice_note_through_ffmpeg(emulator: Emulator, tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", speech(2_000))
    note = tmp_path / "note.ogg"
    command = ["ffmpeg", "-v", "error", "-i", str(tmp_path / "a.wav"), "-c:a", "libopus", str(note)]
    subprocess.run(command, check=True)
    async with client_of(emulator) as client:
        transcript = await transcribe(note, model=KIKUYU, client=client)
    assert transcript.text == TEXT
    assert 1_990 <= transcript.finals[-1].end_ms <= 2_010


async def test_resamples_a_wav_at_another_rate(tmp_path: Path) -> None:
    write_wav(tmp_path / "phone.wav", speech(1_000)[::2], rate=8_000)
    pcm = b"".join([chunk async for chunk in read_audio(tmp_path / "phone.wav")])
    assert abs(len(pcm) // 32 - 500 * 2) <= 5


async def test_says_when_a_file_has_no_audio(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("not audio")
    with pytest.raises(SvcError) as failed:
        async for _ in read_audio(tmp_path / "note.txt"):
            pass
    assert failed.value.code == "unreadable_audio"


Started = list[asyncio.subprocess.Process]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Started:
    """The processes that were started."""
    processes: Started = []
    start = asyncio.create_subprocess_exec

    async def start_and_keep(*arguments: str, **options: Any) -> asyncio.subprocess.Process:
        processes.append(await start(*arguments, **options))
        return processes[-1]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_and_keep)
    return processes


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    """Longer than the pipe holds, so that ffmpeg can't end by itself."""
    write_wav(tmp_path / "long.wav", hum(120_000), rate=8_000)
    return tmp_path / "long.wav"


async def test_ends_ffmpeg_before_the_error_of_a_refused_stream(
    emulator: Emulator, started: Started, long_file: Path
) -> None:
    wrong_key = emulator.api_key[:-8] + "00000000"
    async with SvcClient(emulator.base_url, wrong_key) as client:
        with pytest.raises(SvcError) as failed:
            await transcribe(long_file, model=KIKUYU, client=client)
    assert failed.value.status == 401
    assert [process.returncode is None for process in started] == [False]


async def test_ends_ffmpeg_when_nobody_has_read_what_it_wrote(
    started: Started, long_file: Path
) -> None:
    audio = read_audio(long_file)
    await anext(audio)
    while not getattr(started[0].stdout, "_paused"):  # noqa: B009
        await asyncio.sleep(0)
    await asyncio.wait_for(audio.aclose(), 60)
    assert started[0].returncode is not None
