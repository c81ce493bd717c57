"""The built wheel, installed into a clean environment, and the README's example run in it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

from .conftest import TEXT
from .emulator import ROOT, Emulator
from .speech import speech
from .test_files import write_wav

PACKAGE = ROOT / "clients/sdk-python"


@pytest.fixture(scope="session")
def clean_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clean")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    subprocess.run([*build, str(PACKAGE)], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv/bin/python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    return python


def run_clean(python: Path, *arguments: str, env: dict[str, str] | None = None) -> str:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [str(python), "-W", "error", *arguments]
    done = subprocess.run(
        command, env={**clean, **(env or {})}, capture_output=True, text=True, cwd=python.parent
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def readme_examples() -> list[str]:
    return re.findall(r"```python\n(.*?)```", (PACKAGE / "README.md").read_text(), re.DOTALL)


def test_the_wheel_is_typed_and_holds_only_the_package(clean_python: Path) -> None:
    script = "import svc_asr, pathlib; print(*sorted(p.name for p in pathlib.Path(svc_asr.__file__).parent.iterdir()))"
    names = run_clean(clean_python, "-c", script).split()
    assert "py.typed" in names
    assert "wire.py" in names
    script = "from importlib.metadata import requires; print(*requires('svc-asr'))"
    requirements = run_clean(clean_python, "-c", script).split()
    assert [re.split(r"[<>=]", name)[0] for name in requirements] == ["httpx", "websockets"]


@pytest.mark.parametrize(
    "project",
    ["clients/sdk-python", "clients/integrations/livekit-python", "clients/integrations/pipecat"],
)
def test_a_source_archive_holds_the_package_and_no_tests_or_benchmarks(
    project: str, tmp_path: Path
) -> None:
    build = [sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(tmp_path)]
    subprocess.run([*build, str(ROOT / project)], check=True, capture_output=True)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.split("/")[1] for name in files.getnames()}
    names -= {".gitignore"}  # Hatchling adds the repository's. A release builds outside of it.
    assert names == {"LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "src"}


def test_the_first_example_of_the_readme_runs(
    clean_python: Path, emulator: Emulator, tmp_path: Path
) -> None:
    write_wav(tmp_path / "recording.wav", speech(2_000))
    script = tmp_path / "example.py"
    script.write_text(
        readme_examples()[0].replace("recording.wav", str(tmp_path / "recording.wav"))
    )
    settings = {"SVC_BASE_URL": emulator.base_url, "SVC_API_KEY": emulator.api_key}
    assert run_clean(clean_python, str(script), env=settings).strip() == TEXT


def test_the_program_of_the_quickstart_without_the_package_prints_the_transcript(
    clean_python: Path, emulator: Emulator, tmp_path: Path
) -> None:
    page = (ROOT / "docs/start/quickstart.md").read_text()
    [program, *_] = re.findall(r"```python Python\n(.*?)```", page, re.DOTALL)
    pcm = tmp_path / "recording.pcm"
    pcm.write_bytes(speech(3_000))
    script = tmp_path / "transcribe.py"
    script.write_text(program.replace("recording.pcm", str(pcm)))
    settings = {"SVC_BASE_URL": emulator.base_url, "SVC_API_KEY": emulator.api_key}
    assert run_clean(clean_python, str(script), env=settings).splitlines()[-1] == TEXT


def start_streaming_example(
    python: Path, folder: Path, settings: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Starts the example with a pipe that stays open, as a microphone's does."""
    script = folder / "example.py"
    script.write_text(readme_examples()[1])
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.Popen(
        [str(python), "-u", "-W", "error", str(script)],
        env={**clean, **settings},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_the_streaming_example_of_the_readme_shows_text_while_it_sends(
    clean_python: Path, emulator: Emulator, tmp_path: Path
) -> None:
    settings = {"SVC_BASE_URL": emulator.base_url, "SVC_API_KEY": emulator.api_key}
    with start_streaming_example(clean_python, tmp_path, settings) as example:
        assert example.stdin is not None
        assert example.stdout is not None
        example.stdin.write(speech(3_000))
        example.stdin.flush()
        first = example.stdout.readline().decode()
        # The rest is sent only now: an example that shows nothing until the end would hang.
        out, err = example.communicate(bytes(320), timeout=60)
    assert example.returncode == 0, err
    assert first.startswith("... ")
    assert out.decode().splitlines()[-1] == TEXT


def test_the_streaming_example_of_the_readme_raises_a_refusal_at_once(
    clean_python: Path, emulator: Emulator, tmp_path: Path
) -> None:
    emulator.arm("no-credit")
    settings = {"SVC_BASE_URL": emulator.base_url, "SVC_API_KEY": emulator.api_key}
    with start_streaming_example(clean_python, tmp_path, settings) as example:
        assert example.stderr is not None
        err = example.stderr.read().decode()  # ends with the program, although its input stays open
    assert example.returncode == 1
    assert "insufficient_credits" in err
    assert "never retrieved" not in err


def test_the_wheel_has_the_licence(clean_python: Path) -> None:
    listed = "[each.locate() for each in files('svc-asr') if each.name == 'LICENSE']"
    script = f"from importlib.metadata import files; print(*{listed})"
    (path,) = run_clean(clean_python, "-c", script).split()
    assert Path(path).read_text() == (ROOT / "LICENSE").read_text()
