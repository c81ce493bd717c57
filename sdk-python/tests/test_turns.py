"""`TurnTracker`, with virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from svc_asr import FinalEvent, ReadyEvent, ReconnectingEvent, SpeechEndedEvent, SpeechStartedEvent
from svc_asr._close import NEVER_OPENED
from svc_asr._events import StreamEvent
from svc_asr.turns import FINAL_WAIT_S, TurnTracker

from .virtual_time import VirtualTimeLoop

STARTED = SpeechStartedEvent.from_wire({})
ENDED = SpeechEndedEvent.from_wire({})
ENDPOINT = FinalEvent.from_wire({"reason": "endpoint", "text": "nĩ wega"})
FLUSHED = FinalEvent.from_wire({"reason": "flush", "text": "nĩ wega"})
READY = ReadyEvent.from_wire({})
LOST = ReconnectingEvent(why="failover", close=NEVER_OPENED, wait_ms=0)
JUST_BEFORE_S = FINAL_WAIT_S - 0.001


class Turns:
    """A tracker, its reports, and events for it."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.tracker = TurnTracker(
            on_start=lambda: self.told.append("start"), on_end=lambda: self.told.append("end")
        )

    def take(self, *events: StreamEvent) -> None:
        for event in events:
            self.tracker.before(event)
            self.tracker.after(event)


async def a_turn_ends_after_its_final(turns: Turns) -> None:
    turns.take(STARTED, ENDED)
    assert turns.told == ["start"]
    assert turns.tracker.is_open
    turns.take(ENDPOINT)
    assert turns.told == ["start", "end"]
    assert not turns.tracker.is_open


async def a_turn_in_which_nothing_was_recognised_ends_after_a_second(turns: Turns) -> None:
    turns.take(STARTED, ENDED)
    await asyncio.sleep(JUST_BEFORE_S)
    assert turns.told == ["start"]
    await asyncio.sleep(0.002)
    assert turns.told == ["start", "end"]


async def resumed_speech_belongs_to_the_same_turn(turns: Turns) -> None:
    turns.take(STARTED, ENDED)
    await asyncio.sleep(JUST_BEFORE_S)
    turns.take(STARTED)
    await asyncio.sleep(60)
    turns.take(ENDPOINT)
    assert turns.told == ["start"]
    turns.take(ENDED, ENDPOINT)
    assert turns.told == ["start", "end"]


async def text_without_speech_events_is_a_turn(turns: Turns) -> None:
    turns.take(FLUSHED)
    assert turns.told == ["start"]
    turns.take(ENDPOINT)
    assert turns.told == ["start", "end"]


async def the_final_of_a_flush_may_take_long(turns: Turns) -> None:
    turns.take(STARTED, ENDED)
    turns.tracker.on_flush()
    await asyncio.sleep(60)
    turns.take(LOST, READY)
    await asyncio.sleep(60)
    assert turns.told == ["start"]
    turns.take(FLUSHED)
    assert turns.told == ["start", "end"]


async def without_a_session_a_turn_waits(turns: Turns) -> None:
    turns.take(STARTED, ENDED, LOST)
    await asyncio.sleep(60)
    assert turns.told == ["start"]
    turns.take(READY)
    await asyncio.sleep(JUST_BEFORE_S)
    assert turns.told == ["start"]
    await asyncio.sleep(0.002)
    assert turns.told == ["start", "end"]


async def a_ready_session_ends_no_speech(turns: Turns) -> None:
    turns.take(READY, STARTED, READY)
    await asyncio.sleep(60)
    assert turns.told == ["start"]
    turns.tracker.end()
    assert turns.told == ["start", "end"]


async def ends_without_a_turn_are_ignored(turns: Turns) -> None:
    turns.take(ENDED)
    turns.take(FinalEvent.from_wire({"reason": "endpoint", "text": ""}))
    turns.tracker.end()
    assert turns.told == []


async def a_stopped_tracker_reports_nothing_more(turns: Turns) -> None:
    turns.take(STARTED, ENDED)
    turns.tracker.stop()
    await asyncio.sleep(60)
    assert turns.told == ["start"]


@pytest.mark.parametrize(
    "scenario",
    [
        a_turn_ends_after_its_final,
        a_turn_in_which_nothing_was_recognised_ends_after_a_second,
        resumed_speech_belongs_to_the_same_turn,
        text_without_speech_events_is_a_turn,
        the_final_of_a_flush_may_take_long,
        without_a_session_a_turn_waits,
        a_ready_session_ends_no_speech,
        ends_without_a_turn_are_ignored,
        a_stopped_tracker_reports_nothing_more,
    ],
    ids=lambda scenario: scenario.__name__,
)
def test_turns(scenario: Callable[[Turns], Awaitable[None]]) -> None:
    loop = VirtualTimeLoop()
    try:
        loop.run_until_complete(scenario(Turns()))
    finally:
        loop.close()
