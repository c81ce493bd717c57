from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .emulator import Emulator, run_emulator

TEXT = "nĩ wega mũno"

# Clients read them, and a developer's shell may have those of `npm run dev`.
os.environ.pop("SVC_BASE_URL", None)
os.environ.pop("SVC_API_KEY", None)


@pytest.fixture(scope="session")
def shared_emulator() -> Iterator[Emulator]:
    with run_emulator("--say", TEXT) as emulator:
        yield emulator


@pytest.fixture
def emulator(shared_emulator: Emulator) -> Iterator[Emulator]:
    yield shared_emulator
    # A test whose fault never happened has tested nothing.
    assert shared_emulator.clear() == []
    shared_emulator.say(TEXT)
