"""Subtitles, by the vectors that the command line's rules pass too."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from svc_asr import FinalEvent, read_audio, to_srt, to_vtt

from .speech import speech
from .test_files import write_wav

ROOT = Path(__file__).parents[3]
VECTORS: list[dict[str, Any]] = json.loads(
    (ROOT / "core/protocol/vectors/captions.json").read_text("utf-8")
)


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["name"] for vector in VECTORS])
def test_makes_the_same_cues_as_the_command_line(vector: dict[str, Any]) -> None:
    finals = [FinalEvent.from_wire(final) for final in vector["finals"]]
    assert to_srt(finals) == vector["srt"]
    assert to_vtt(finals) == vector["vtt"]


async def test_reads_a_file_as_fast_as_a_microphone_would(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", speech(700))
    began = time.monotonic()
    chunks = [chunk async for chunk in read_audio(tmp_path / "a.wav", real_time=True)]
    took_s = time.monotonic() - began
    assert b"".join(chunks) == speech(700)
    # The last chunk comes when its audio would have ended.
    assert {len(chunk) for chunk in chunks} == {3_200}
    assert took_s >= 0.69
