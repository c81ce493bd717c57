"""The recipes for tests in docs/guides/python.md, as the page shows them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from .emulator import Emulator
from .speech import speech
from .test_files import write_wav

ROOT = Path(__file__).parents[3]


def test_the_fixture_arms_a_fault_and_notices_if_nothing_met_it(
    emulator: Emulator, tmp_path: Path
) -> None:
    page = (ROOT / "docs/guides/python.md").read_text("utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    fixture = next(block for block in blocks if "def fault():" in block)
    used = next(block for block in blocks if "def test_survives" in block)
    (tmp_path / "conftest.py").write_text(fixture, "utf-8")
    unmet = 'def test_meets_nothing(fault):\n    fault("restart", ms=500)\n'
    (tmp_path / "test_service.py").write_text(f"{used}\n\n{unmet}", "utf-8")
    write_wav(tmp_path / "greeting.wav", speech(3_000))
    environment = {
        **os.environ,
        "SVC_BASE_URL": emulator.base_url,
        "SVC_API_KEY": emulator.api_key,
        "SVC_EMULATOR_URL": emulator.control_url,
        "PYTHONPATH": str(ROOT / "clients/sdk-python/src"),
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    result = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "2 passed, 1 error" in result.stdout, result.stdout
