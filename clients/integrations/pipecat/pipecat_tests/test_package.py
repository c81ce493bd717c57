"""The built wheels, without this repository's sources, beside the Pipecat of this environment.

Pipecat and its dependencies are hundreds of megabytes, so they are not installed again. The SDK's own test installs its
wheel with dependencies into a clean environment.
"""

from __future__ import annotations

import re

import pytest
from tests.conftest import TEXT
from tests.emulator import ROOT, Emulator
from tests.wheels import Wheels

# The parts of an agent that the README's example needs. Its LLM prints the user's text and ends the call.
AGENT = """
import asyncio, time
from pipecat.frames.frames import (
    EndWorkerFrame, InputAudioRawFrame, LLMContextFrame, VADUserStartedSpeakingFrame, VADUserStoppedSpeakingFrame
)
from pipecat.processors.aggregators.llm_context import LLMContext
from pipecat.processors.aggregators.llm_response_universal import (
    LLMContextAggregatorPair, LLMUserAggregatorParams
)
from pipecat.processors.filters.identity_filter import IdentityFilter
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.tests.utils import run_test
from pipecat.transports.base_transport import BaseTransport
from pipecat.turns.user_stop import SpeechTimeoutUserTurnStopStrategy
from pipecat.turns.user_turn_strategies import UserTurnStrategies

class Line(BaseTransport):
    def input(self):
        return IdentityFilter()
    def output(self):
        return IdentityFilter()

class PrintingLLM(FrameProcessor):
    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        await self.push_frame(frame, direction)
        if isinstance(frame, LLMContextFrame):
            print(frame.context.messages[-1]["content"])
            await self.push_frame(EndWorkerFrame())

{example}

async def main():
    turn_ends = SpeechTimeoutUserTurnStopStrategy(user_speech_timeout=0.1)
    context_aggregator = LLMContextAggregatorPair(
        LLMContext(),
        user_params=LLMUserAggregatorParams(user_turn_strategies=UserTurnStrategies(stop=[turn_ends])),
    )
    audio = [InputAudioRawFrame(audio=bytes(640), sample_rate=16000, num_channels=1)] * 100
    turn = [
        VADUserStartedSpeakingFrame(start_secs=0.2),
        *audio,
        VADUserStoppedSpeakingFrame(stop_secs=0.2, timestamp=time.time()),
    ]
    # The LLM ends the pipeline, so the turn must end by itself.
    agent = pipeline(Line(), context_aggregator, PrintingLLM(), IdentityFilter())
    await run_test(agent, frames_to_send=turn, send_end_frame=False, start_timeout=10)

asyncio.run(main())
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    return Wheels(tmp_path_factory.mktemp("wheels"), "clients/integrations/pipecat")


def test_the_whole_example_of_the_readme_runs_from_the_wheels_with_the_installed_pipecat(
    emulator: Emulator, wheels: Wheels
) -> None:
    readme = (ROOT / "clients/integrations/pipecat/README.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    agent = AGENT.replace("{example}", example)
    assert wheels.run(agent, emulator) == TEXT


def test_the_installed_pipecat_and_its_dependencies_are_all_that_the_wheels_need(
    wheels: Wheels,
) -> None:
    assert wheels.would_install() == wheels.names
    assert (wheels.installed / "svc_asr_pipecat/py.typed").exists()
    licences = [path.read_text() for path in wheels.installed.glob("svc_asr*/licenses/LICENSE")]
    assert licences == [(ROOT / "LICENSE").read_text()] * 2
