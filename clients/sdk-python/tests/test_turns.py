"""`TurnTracker`, with virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from svc_asr import (
    DeltaEvent,
    FinalEvent,
    ReadyEvent,
    ReconnectingEvent,
    SpeechEndedEvent,
    SpeechStartedEvent,
    SvcError,
)
from svc_asr._close import NEVER_OPENED
from svc_asr._events import StreamEvent
from svc_asr.turns import FINAL_WAIT_S, TurnTracker

from .virtual_time import VirtualTimeLoop

STARTED = SpeechStartedEvent.from_wire({"audio_ms": 0})
ENDED = SpeechEndedEvent.from_wire({"audio_ms": 1_000})
ENDPOINT = FinalEvent.from_wire({"reason": "endpoint", "text": "nĩ wega", "end_ms": 1_700})
FLUSHED = FinalEvent.from_wire({"reason": "flush", "text": "nĩ wega", "end_ms": 1_700})
INTERIM = DeltaEvent.from_wire({"text": "nĩ"})
READY = ReadyEvent.from_wire({})
LOST = ReconnectingEvent(why="failover", close=NEVER_OPENED, wait_ms=0)
JUST_BEFORE_S = FINAL_WAIT_S - 0.001


def speech(start_ms: int, end_ms: int) -> tuple[StreamEvent, StreamEvent]:
    started = SpeechStartedEvent.from_wire({"audio_ms": start_ms})
    return started, SpeechEndedEvent.from_wire({"audio_ms": end_ms})


def endpoint(end_ms: int) -> FinalEvent:
    return FinalEvent.from_wire({"reason": "endpoint", "text": "nĩ wega", "end_ms": end_ms})


class Turns:
    """A tracker, its reports, its flushes, and events for it."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.ends_ms: list[int | None] = []
        self.flushes: list[asyncio.Future[FinalEvent]] = []
        self.tracker = TurnTracker(on_start=lambda: self.told.append("start"), on_end=self._on_end)
        self.tracker.start(self.request_final)

    def _on_end(self, end_ms: int | None) -> None:
        self.told.append("end")
        self.ends_ms.append(end_ms)

    def request_final(self) -> asyncio.Future[FinalEvent]:
        self.flushes.append(asyncio.get_running_loop().create_future())
        return self.flushes[-1]

    def answer(self, flush: int, text: str = "", end_ms: int = 1_700) -> None:
        """Answers a flush as a stream does: with the event that it also reports."""
        final = FinalEvent.from_wire({"reason": "flush", "text": text, "end_ms": end_ms})
        self.flushes[flush].set_result(final)
        self.take(final)

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
    assert turns.ends_ms == [ENDED.audio_ms]
    assert not turns.tracker.is_open


async def unconfirmed_speech_starts_no_turn_until_it_has_text(turns: Turns) -> None:
    unconfirmed = SpeechStartedEvent.from_wire({"audio_ms": 0, "confirmed": False})
    turns.take(unconfirmed, ENDED)
    assert turns.told == []
    turns.take(ENDPOINT)
    assert turns.told == ["start", "end"]
    turns.take(SpeechStartedEvent.from_wire({"audio_ms": 3_000, "confirmed": True}))
    assert turns.told == ["start", "end", "start"]


async def a_late_final_is_asked_for_and_ends_the_turn_however_late_it_is(turns: Turns) -> None:
    turns.take(STARTED, ENDED)
    await asyncio.sleep(JUST_BEFORE_S)
    assert turns.flushes == []
    await asyncio.sleep(60)
    assert len(turns.flushes) == 1
    assert turns.told == ["start"]
    turns.answer(0)
    assert turns.told == ["start", "end"]


async def a_late_final_of_an_endpoint_ends_the_turn_once(turns: Turns) -> None:
    turns.take(STARTED, ENDED)
    await asyncio.sleep(60)
    turns.take(ENDPOINT)
    assert turns.told == ["start", "end"]
    turns.answer(0)
    assert turns.told == ["start", "end"]


async def the_flush_of_one_turn_does_not_end_the_next(turns: Turns) -> None:
    turns.take(STARTED, ENDED)
    await asyncio.sleep(60)
    turns.take(ENDPOINT, *speech(2_000, 3_000))
    turns.answer(0)
    assert turns.told == ["start", "end", "start"]
    await asyncio.sleep(60)
    turns.answer(1, end_ms=3_700)
    assert turns.told == ["start", "end", "start", "end"]


async def turns_replayed_at_once_after_an_outage_stay_separate(turns: Turns) -> None:
    turns.take(*speech(0, 2_000), *speech(3_000, 5_000), *speech(6_000, 8_000))
    for end_ms in (2_700, 5_700, 8_700):
        turns.take(INTERIM, endpoint(end_ms))
    assert turns.told == ["start", "end"] * 3
    await asyncio.sleep(60)
    assert turns.flushes == []


async def turns_that_share_a_final_are_one_turn(turns: Turns) -> None:
    turns.take(*speech(0, 200), *speech(900, 2_000), endpoint(2_700))
    assert turns.told == ["start", "end"]


async def interim_text_never_comes_before_the_start_of_its_turn(turns: Turns) -> None:
    turns.take(INTERIM)
    assert turns.told == ["start"]
    turns.take(*speech(0, 1_000), FLUSHED, SpeechStartedEvent.from_wire({"audio_ms": 2_000}))
    # The final came for another reason than the end of the turn, such as a full session.
    turns.take(INTERIM)
    assert turns.told == ["start", "end", "start"]


async def a_flush_before_the_service_reports_the_speech_ends_its_turn(turns: Turns) -> None:
    turns.tracker.flush()
    turns.take(STARTED, ENDED)
    await asyncio.sleep(60)
    assert len(turns.flushes) == 1
    turns.answer(0)
    assert turns.told == ["start", "end"]


async def a_flush_answered_during_resumed_speech_ends_no_turn(turns: Turns) -> None:
    turns.take(STARTED, ENDED)
    await asyncio.sleep(60)
    turns.take(STARTED)
    turns.answer(0)
    assert turns.told == ["start"]
    turns.take(ENDED)
    await asyncio.sleep(60)
    turns.answer(1)
    assert turns.told == ["start", "end"]


async def a_flush_with_nothing_left_to_recognise_ends_the_turn_at_once(turns: Turns) -> None:
    done: asyncio.Future[FinalEvent] = asyncio.get_running_loop().create_future()
    done.set_result(FLUSHED)
    turns.tracker.start(lambda: done)
    turns.take(STARTED)
    turns.tracker.flush()
    assert turns.told == ["start", "end"]


async def a_stream_that_ends_before_its_flush_is_answered_ends_no_turn(turns: Turns) -> None:
    def refuse() -> asyncio.Future[FinalEvent]:
        raise SvcError("stream_closed", "The stream is closed. Open a new one.")

    turns.take(STARTED, ENDED)
    await asyncio.sleep(60)
    turns.flushes[0].set_exception(SvcError("aborted", "The stream's event loop ended."))
    turns.take(FLUSHED)
    assert turns.told == ["start"]
    turns.tracker.start(refuse)
    turns.tracker.flush()
    assert turns.told == ["start"]


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
    turns.tracker.flush()
    await asyncio.sleep(60)
    turns.take(LOST, READY)
    await asyncio.sleep(60)
    assert turns.told == ["start"]
    assert len(turns.flushes) == 1
    turns.answer(0, "nĩ wega")
    assert turns.told == ["start", "end"]


async def without_a_session_a_turn_waits(turns: Turns) -> None:
    turns.take(STARTED, ENDED, LOST)
    await asyncio.sleep(60)
    turns.take(READY)
    await asyncio.sleep(JUST_BEFORE_S)
    assert turns.flushes == []
    await asyncio.sleep(0.002)
    assert len(turns.flushes) == 1
    assert turns.told == ["start"]


async def after_a_stop_the_next_stream_continues_the_turn(turns: Turns) -> None:
    turns.take(STARTED, ENDED)
    await asyncio.sleep(60)
    turns.tracker.stop()
    turns.tracker.start(turns.request_final)
    turns.take(READY)
    await asyncio.sleep(60)
    assert turns.told == ["start"]
    turns.answer(1)
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
    turns.tracker.flush()
    assert turns.told == ["start"]
    assert turns.flushes == []


@pytest.mark.parametrize(
    "scenario",
    [
        a_turn_ends_after_its_final,
        unconfirmed_speech_starts_no_turn_until_it_has_text,
        a_late_final_is_asked_for_and_ends_the_turn_however_late_it_is,
        a_late_final_of_an_endpoint_ends_the_turn_once,
        the_flush_of_one_turn_does_not_end_the_next,
        a_flush_answered_during_resumed_speech_ends_no_turn,
        a_flush_with_nothing_left_to_recognise_ends_the_turn_at_once,
        a_stream_that_ends_before_its_flush_is_answered_ends_no_turn,
        resumed_speech_belongs_to_the_same_turn,
        text_without_speech_events_is_a_turn,
        the_final_of_a_flush_may_take_long,
        turns_replayed_at_once_after_an_outage_stay_separate,
        turns_that_share_a_final_are_one_turn,
        interim_text_never_comes_before_the_start_of_its_turn,
        a_flush_before_the_service_reports_the_speech_ends_its_turn,
        without_a_session_a_turn_waits,
        after_a_stop_the_next_stream_continues_the_turn,
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
