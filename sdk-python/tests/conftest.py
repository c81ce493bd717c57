from __future__ import annotations

from collections.abc import Iterator

import pytest

from .emulator import Emulator, run_emulator

TEXT = "nĩ wega mũno"


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
