"""What the clients in this folder are asked to do, and what they print: one JSON object a line. See order.ts."""

from __future__ import annotations

import asyncio
import json
import sys
import wave
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass

RUN_S_MAX = 60.0


@dataclass(frozen=True)
class Run:
    base_url: str
    check: str
    api_key: str
    model: str
    wav16k: str
    wav24k: str

    def speaking(self) -> None:
        """Tells the caller that audio is on its way."""
        print(json.dumps({"check": self.check, "speaking": True}), flush=True)


@dataclass(frozen=True)
class Outcome:
    """`text` is the whole transcript. `error` is the message that the program's user sees."""

    text: str
    interims: int = 0
    error: str | None = None


def pcm_of(path: str) -> bytes:
    with wave.open(path) as wav:
        return wav.readframes(wav.getnframes())


def serve(client: Callable[[Run], Awaitable[Outcome]]) -> None:
    """Runs one check after another."""
    order = json.loads(sys.argv[1])

    async def run_all() -> None:
        for each in order["runs"]:
            run = Run(
                base_url=order["baseUrl"],
                check=each["check"],
                api_key=each["apiKey"],
                model=each["model"],
                wav16k=each["wav16k"],
                wav24k=each["wav24k"],
            )
            try:
                outcome = await asyncio.wait_for(client(run), RUN_S_MAX)
            except TimeoutError:
                outcome = Outcome(text="", error="The client did not end.")
            except Exception as error:
                outcome = Outcome(text="", error=str(error))
            print(json.dumps({"check": run.check, **asdict(outcome)}), flush=True)

    asyncio.run(run_all())
