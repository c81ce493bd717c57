from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.conftest import TEXT, emulator
from tests.emulator import Emulator, run_emulator

__all__ = ["emulator"]


@pytest.fixture(scope="session")
def shared_emulator() -> Iterator[Emulator]:
    # The recogniser must return no text for the silence after a turn.
    with run_emulator("--say", TEXT, "--shortest-ms", "1000") as running:
        yield running
