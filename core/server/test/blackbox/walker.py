"""What the sections that test docs/streaming.md share: clients, streams that are ready, and the operator."""

import dataclasses
import ssl

import httpx
from http_sections import Api
from report import Report
from stream_sections import SECOND, Stream, connect, new_session

STREAMING = "streaming.md"


@dataclasses.dataclass(frozen=True)
class Walker:
    api: Api
    tls: ssl.SSLContext
    report: Report
    speech: bytes
    # Does what only an operator can do, such as suspending an account.
    operator_url: str

    async def ready(self, who: str, seconds: int = 10) -> Stream:
        stream = await connect(await new_session(self.api, who, seconds), self.tls)
        await stream.next("ready")
        return stream

    async def last_session(self, who: str) -> dict:
        return (await self.api.usage(who)).json()["recent_sessions"][0]

    async def operate(self, action: str) -> None:
        async with httpx.AsyncClient(timeout=20) as http:
            (await http.post(f"{self.operator_url}/{action}")).raise_for_status()

    def check(self, statement: str, holds: bool, found: object = "") -> None:
        self.report.check(STREAMING, statement, holds, found)

    def equal(self, statement: str, found: object, expected: object) -> None:
        self.report.equal(STREAMING, statement, found, expected)

    def speech_of(self, ms: int) -> bytes:
        """Speech of this length."""
        length = ms * SECOND // 1000
        return (self.speech * (length // len(self.speech) + 1))[:length]


async def send_audio(stream: Stream, pcm: bytes, frame: int = 6_400) -> None:
    for at in range(0, len(pcm), frame):
        await stream.socket.send(pcm[at : at + frame])
