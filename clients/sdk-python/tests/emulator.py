"""The emulator: the real server with a scripted recogniser and faults on demand."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[3]
NODE = ROOT / "node_modules/.bin/node"
START_S_MAX = 60.0


class Emulator:
    def __init__(self, settings: dict[str, str]) -> None:
        self.base_url = settings["SVC_BASE_URL"]
        self.api_key = settings["SVC_API_KEY"]
        self.control_url = settings["SVC_EMULATOR_URL"]

    def arm(self, name: str, *, ms: int = 1_500, times: int = 1) -> None:
        body = {"name": name, "ms": ms, "times": times}
        httpx.post(f"{self.control_url}/faults", json=body).raise_for_status()

    def clear(self) -> list[str]:
        """Disarms all faults and returns the names of those that never happened."""
        answer = httpx.delete(f"{self.control_url}/faults").raise_for_status()
        return [fault["name"] for fault in answer.json()["never_met"]]

    def say(self, *texts: str) -> None:
        httpx.post(f"{self.control_url}/texts", json={"texts": texts}).raise_for_status()

    def restart(self, idle_ms: int) -> None:
        body = {"idle_ms": idle_ms}
        httpx.post(f"{self.control_url}/restart", json=body, timeout=30).raise_for_status()


@contextmanager
def run_emulator(*options: str) -> Iterator[Emulator]:
    """Starts an emulator of its own and stops it afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        env_file = Path(folder, "env")
        command = [
            str(NODE),
            str(ROOT / "clients/emulator/src/main.ts"),
            "--port",
            "0",
            "--control-port",
            "0",
        ]
        process = subprocess.Popen(
            [*command, "--write-env", str(env_file), *options],
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PATH": f"{NODE.parent}:{os.environ['PATH']}"},
        )
        try:
            yield Emulator(_read_settings(env_file, process))
        finally:
            process.terminate()
            process.wait(30)


def _read_settings(env_file: Path, process: subprocess.Popen[bytes]) -> dict[str, str]:
    until = time.monotonic() + START_S_MAX
    while time.monotonic() < until and process.poll() is None:
        if env_file.exists() and env_file.read_text().endswith("\n"):
            lines = env_file.read_text().splitlines()
            return dict(line.split("=", 1) for line in lines)
        time.sleep(0.05)
    raise RuntimeError("The emulator did not start.")
