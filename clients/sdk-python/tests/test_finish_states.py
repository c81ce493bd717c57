"""`finish()` in every state of a stream, with a scripted service and virtual time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, Literal

import pytest

from svc_asr import (
    ReconnectingEvent,
    SvcError,
    SvcStream,
    _connection,
    _failover,
    _sender,
    _session_source,
    open_stream,
)
from svc_asr import stream as stream_module

from .scripted_service import (
    SESSION,
    TEXT,
    AccountBusy,
    Answering,
    Broken,
    Closing,
    ConnectionScript,
    Granted,
    Hanging,
    RateLimited,
    RefusedUpgrade,
    ScriptedService,
    SessionScript,
    Stuck,
)
from .virtual_time import VirtualTimeLoop

SECOND = bytes(32_000)
HOUR_S = 3_600.0
CASES = 150
CLOSE_CODES = (1000, 1006, 1011, 1012, 1013, 4401, 4403, 4408, 4429, 4503)
# The sum of a slow first get_session, the give-up time, a hanging get_session and a connection that never gets ready.
LIMIT_S = 90 + 120 + 120 + 30 + 45


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualTimeLoop]:
    loop = VirtualTimeLoop()
    for module in (_connection, _failover, _sender, _session_source, stream_module):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=loop.time))
    yield loop
    loop.close()


@pytest.fixture
def connect_to(monkeypatch: pytest.MonkeyPatch) -> ConnectTo:
    return ConnectTo(monkeypatch)


class ConnectTo:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch

    def __call__(
        self, sessions: Sequence[SessionScript], connections: Sequence[ConnectionScript]
    ) -> ScriptedService:
        service = ScriptedService(sessions, connections)
        self._monkeypatch.setattr(_connection, "_Connect", service.connect)
        return service


async def outcome(stream: SvcStream) -> tuple[str, float]:
    """Returns how `finish()` ended, and after how many seconds."""
    loop = asyncio.get_running_loop()
    started_at = loop.time()
    try:
        await asyncio.wait_for(stream.finish(), LIMIT_S)
        code = "finished"
    except SvcError as error:
        code = error.code
    except asyncio.TimeoutError:
        code = "pending"
    return code, loop.time() - started_at


async def tasks_left() -> list[asyncio.Task[Any]]:
    # A close handshake takes up to 3 s.
    await asyncio.sleep(5)
    return [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]


def any_session(chance: random.Random) -> SessionScript:
    scripts: list[SessionScript] = [
        Granted(chance.uniform(0, 90)),
        RateLimited(chance.uniform(0, HOUR_S)),
        Broken(),
        Hanging(),
    ]
    return chance.choice(scripts)


def any_connection(chance: random.Random) -> ConnectionScript:
    statuses: tuple[Literal[429, 503], ...] = (429, 503)
    scripts: list[ConnectionScript] = [
        RefusedUpgrade(chance.choice(statuses), chance.uniform(0, HOUR_S)),
        Stuck("opening"),
        Stuck("ready"),
        Stuck("flush"),
        Stuck("audio"),
        Closing(chance.uniform(0, 9), chance.choice(CLOSE_CODES)),
        Answering(chance.uniform(0, 9)),
    ]
    return chance.choice(scripts)


async def speak_and_finish(service: ScriptedService, seconds: int, finish_at_s: float) -> str:
    stream = open_stream(get_session=service.get_session)
    for _ in range(seconds):
        stream.write_nowait(SECOND)
    await asyncio.sleep(finish_at_s)
    code, _ = await outcome(stream)
    assert await tasks_left() == []
    return code


def test_finish_settles_in_every_state_whatever_the_service_does(
    loop: VirtualTimeLoop, connect_to: ConnectTo
) -> None:
    seen: set[str] = set()
    for case in range(CASES):
        chance = random.Random(case)
        random.seed(case)
        sessions = [any_session(chance) for _ in range(chance.randint(1, 4))]
        connections = [any_connection(chance) for _ in range(chance.randint(1, 4))]
        seconds, finish_at_s = chance.randint(0, 10), chance.uniform(0, 180)
        script = (case, sessions, connections, seconds, finish_at_s)
        service = connect_to(sessions, connections)
        code = loop.run_until_complete(speak_and_finish(service, seconds, finish_at_s))
        assert code != "pending", script
        assert service.sessions_asked < 100, script
        seen.add(code)
    # The cases cover the important endings.
    assert {"finished", "connection_lost", "get_session_timeout", "request_rate_exceeded"} <= seen


@pytest.mark.parametrize(
    ("sessions", "connections", "code", "limit_s"),
    [
        pytest.param([Granted()], [Stuck("opening")], "connection_refused", 70, id="never opens"),
        pytest.param([Granted()], [Stuck("ready")], "connection_lost", 70, id="never gets ready"),
        pytest.param([Granted()], [Stuck("flush")], "connection_lost", 145, id="answers no flush"),
        pytest.param([Granted()], [Stuck("audio")], "connection_lost", 145, id="takes no audio"),
        pytest.param([Hanging()], [Answering()], "get_session_timeout", 120.5, id="no session"),
        pytest.param(
            [RateLimited(HOUR_S)], [Answering()], "request_rate_exceeded", 45.5, id="says later"
        ),
        pytest.param(
            [Granted()],
            [RefusedUpgrade(503, HOUR_S)],
            "service_restarting",
            45.5,
            id="refuses the upgrade for an hour",
        ),
        pytest.param(
            [Granted()],
            [Closing(8, 1011)],
            "connection_lost",
            140,
            id="fails every few seconds after a stable start",
        ),
        pytest.param([Granted()], [Answering(9)], "finished", 9.5, id="answers late"),
        pytest.param(
            [Granted(), AccountBusy()],
            [RefusedUpgrade(503, 1), Answering()],
            "finished",
            2,
            id="refuses the upgrade, and the unused session blocks the account",
        ),
        pytest.param(
            [Granted(), Granted(60)],
            [RefusedUpgrade(503, 1), Answering()],
            "finished",
            5,
            id="refuses the upgrade, and the client waits until the unused session expires",
        ),
    ],
)
def test_finish_settles_in_time(
    loop: VirtualTimeLoop,
    connect_to: ConnectTo,
    sessions: Sequence[SessionScript],
    connections: Sequence[ConnectionScript],
    code: str,
    limit_s: float,
) -> None:
    service = connect_to(sessions, connections)

    async def scenario() -> None:
        stream = open_stream(get_session=service.get_session)
        for _ in range(20):
            stream.write_nowait(SECOND)
        ended, took_s = await outcome(stream)
        assert (ended, took_s <= limit_s) == (code, True), took_s
        assert stream.transcript.text == (TEXT if code == "finished" else "")
        assert await tasks_left() == []

    loop.run_until_complete(scenario())


@pytest.mark.parametrize(("code", "reason"), [(4408, ""), (1000, "max_audio_reached")])
def test_a_service_that_ends_every_session_at_once_is_not_asked_in_a_tight_loop(
    loop: VirtualTimeLoop, connect_to: ConnectTo, code: int, reason: str
) -> None:
    service = connect_to([Granted(0)], [Closing(0, code, reason)])

    async def scenario() -> None:
        stream = open_stream(get_session=service.get_session)
        stream.write_nowait(SECOND)
        info = await asyncio.wait_for(stream.wait_closed(), 180)
        assert info.code == code
        assert service.sessions_asked < 40

    loop.run_until_complete(scenario())


def test_a_service_that_falls_silent_is_reported_within_3_s_and_replaced_after_12(
    loop: VirtualTimeLoop, connect_to: ConnectTo
) -> None:
    service = connect_to([Granted()], [Stuck("flush"), Answering()])

    async def scenario() -> None:
        stream = open_stream(get_session=service.get_session)
        events = stream.events()
        for _ in range(200):
            stream.write_nowait(SECOND[:3_200])
            await asyncio.sleep(0.1)
        await stream.finish()
        seen = [event async for event in events]
        reconnecting = [each.close.reason for each in seen if isinstance(each, ReconnectingEvent)]
        assert reconnecting == ["connection_stalled", "connection_lost"]
        assert stream.transcript.text == TEXT
        assert [each and each.id for each in service.lost] == [None, SESSION.id]

    loop.run_until_complete(scenario())


def test_a_stream_that_is_silent_itself_asks_nothing(
    loop: VirtualTimeLoop, connect_to: ConnectTo
) -> None:
    service = connect_to([Granted()], [Stuck("flush")])

    async def scenario() -> None:
        stream = open_stream(get_session=service.get_session)
        await asyncio.sleep(40)
        assert service.sessions_asked == 1
        await stream.close()

    loop.run_until_complete(scenario())
