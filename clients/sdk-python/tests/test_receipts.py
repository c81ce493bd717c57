"""What a stream says its sessions cost, with a scripted service and virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from svc_asr import _connection, _failover, _sender, open_stream
from svc_asr import stream as stream_module
from svc_asr._transcript import TranscriptBuilder
from svc_asr.wire import ResetAckEvent

from .scripted_service import SECOND_BYTES, SESSION, Full, Granted, ScriptedService
from .virtual_time import VirtualTimeLoop


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[VirtualTimeLoop]:
    loop = VirtualTimeLoop()
    for module in (_connection, _failover, _sender, stream_module):
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=loop.time))
    yield loop
    loop.close()


def test_counts_audio_that_a_reset_dropped_while_its_last_final_was_on_its_way(
    loop: VirtualTimeLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = ScriptedService([Granted()], [Full(final_after_s=1.0)])
    monkeypatch.setattr(_connection, "_Connect", service.connect)

    async def drop_everything() -> None:
        stream = open_stream(get_session=service.get_session)
        await stream.write(bytes(SECOND_BYTES))
        # The service has all of it, and its final comes later.
        await asyncio.sleep(0.5)
        await stream.reset()
        transcript = await stream.finish()
        assert transcript.finals == ()
        assert [(each.session_id, each.billable_ms) for each in transcript.sessions] == [
            (SESSION.id, 1_000)
        ]

    loop.run_until_complete(drop_everything())


def test_counts_audio_that_a_reset_dropped_without_a_final_after_it() -> None:
    builder = TranscriptBuilder()
    builder.begin_session(SESSION.id)
    wire = {"type": "reset_ack", "utterance": 1, "discarded_ms": 1_100, "total_audio_ms": 1_100}
    builder.on_dropped(ResetAckEvent.from_wire(wire))
    assert [each.billable_ms for each in builder.transcript.sessions] == [2_000]
