"""The built wheels, without this repository's sources, beside the LiveKit of this environment.

LiveKit and its dependencies are hundreds of megabytes, so they are not installed again. The SDK's own test installs its
wheel with dependencies into a clean environment.
"""

from __future__ import annotations

import re

import pytest
from tests.conftest import TEXT
from tests.emulator import ROOT, Emulator
from tests.wheels import Wheels

AGENT = """
import asyncio, sys, wave
from livekit import rtc
from livekit.agents import NOT_GIVEN, stt

def frames(path):
    with wave.open(path) as wav:
        pcm = wav.readframes(wav.getnframes()) + bytes(32_000)
    for at in range(0, len(pcm), 640):
        piece = pcm[at : at + 640]
        yield rtc.AudioFrame(piece, 16_000, 1, len(piece) // 2)

{example}

async def main():
    session = agent_session(NOT_GIVEN, NOT_GIVEN)
    stream = session.stt.stream()
    for frame in frames(sys.argv[1]):
        stream.push_frame(frame)
    async for event in stream:
        if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
            print(event.alternatives[0].text)
        if event.type == stt.SpeechEventType.END_OF_SPEECH:
            break
    await stream.aclose()

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    return Wheels(tmp_path_factory.mktemp("wheels"), "clients/integrations/livekit-python")


def test_the_whole_example_of_the_readme_runs_from_the_wheels_with_the_installed_livekit(
    emulator: Emulator, wheels: Wheels
) -> None:
    readme = (ROOT / "clients/integrations/livekit-python/README.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    agent = AGENT.replace("{example}", example)
    recording = str(ROOT / "core/models/fixtures/kikuyu-2.wav")
    assert wheels.run(agent, emulator, recording) == TEXT


def test_the_installed_livekit_and_its_dependencies_are_all_that_the_wheels_need(
    wheels: Wheels,
) -> None:
    assert wheels.would_install() == wheels.names
    assert (wheels.installed / "svc_asr_livekit/py.typed").exists()
    licences = [path.read_text() for path in wheels.installed.glob("svc_asr*/licenses/LICENSE")]
    assert licences == [(ROOT / "LICENSE").read_text()] * 2
