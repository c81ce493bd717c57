"""Built wheels of this repository's packages, installed beside the packages of the running environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from .emulator import ROOT, Emulator

RUN_S_MAX = 240


class Wheels:
    """Wheels of the SDK and of a package on top of it, and a folder with nothing but their contents."""

    def __init__(self, folder: Path, package: str) -> None:
        build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(folder)]
        for source in ("clients/sdk-python", package):
            subprocess.run([*build, str(ROOT / source)], check=True, capture_output=True)
        self._wheels = sorted(str(path) for path in folder.glob("*.whl"))
        self._folder = folder
        self.installed = folder / "installed"
        self._pip("--no-deps", "--target", str(self.installed))

    @property
    def names(self) -> set[str]:
        """The packages, such as `svc-asr-0.1.0`."""
        files = (Path(wheel).name.split("-") for wheel in self._wheels)
        return {f"{name.replace('_', '-')}-{version}" for name, version, *_ in files}

    def would_install(self) -> set[str]:
        """What pip would install here with dependencies. Fails if a dependency is neither here nor a wheel."""
        lines = self._pip("--dry-run", "--no-index").splitlines()
        (names,) = [line.removeprefix("Would install ") for line in lines if "Would" in line]
        return set(names.split())

    def run(self, script: str, emulator: Emulator, *arguments: str) -> str:
        """Runs a script with the wheels, and without this repository's sources. Returns its output."""
        path = self._folder / "script.py"
        path.write_text(script)
        settings = {"SVC_BASE_URL": emulator.base_url, "SVC_API_KEY": emulator.api_key}
        done = subprocess.run(
            [sys.executable, str(path), *arguments],
            env={**os.environ, **settings, "PYTHONPATH": str(self.installed)},
            capture_output=True,
            text=True,
            cwd=self._folder,
            timeout=RUN_S_MAX,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def _pip(self, *options: str) -> str:
        command = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
        done = subprocess.run([*command, *options, *self._wheels], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout
