"""The test vectors of core/protocol/vectors, which clients/sdk/test/vectors.test.ts runs too."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from svc_asr._close import (
    CloseInfo,
    SocketEnd,
    billed,
    describe_close,
    is_node_lost,
    lost_key,
    lost_token,
)
from svc_asr._failover import Failover
from svc_asr._liveness import Liveness
from svc_asr._replay_buffer import Audio, Entry, Flush, ReplayBuffer, Settled
from svc_asr._retry import RetryLimits, retry_wait_ms
from svc_asr._session_clock import SessionClock
from svc_asr._transcript import TranscriptBuilder
from svc_asr.errors import SvcError, error_from_response
from svc_asr.wire import (
    AsrSession,
    DeltaEvent,
    ErrorEvent,
    FinalEvent,
    SpeechEndedEvent,
    SpeechStartedEvent,
)

VECTORS = Path(__file__).resolve().parents[3] / "core/protocol/vectors"


def vectors(name: str) -> pytest.MarkDecorator:
    cases = json.loads((VECTORS / f"{name}.json").read_text())["cases"]
    return pytest.mark.parametrize("case", cases, ids=[case["title"] for case in cases])


@vectors("errors")
def test_error_responses(case: dict[str, Any]) -> None:
    error = error_from_response(
        case["status"], case["body"], case["request_id"], case["retry_after"]
    )
    assert {name: getattr(error, name) for name in case["expect"]} == case["expect"]


def refusal(status: int, code: str, retry_after: str | None = None) -> SvcError:
    fields = {"type": "a_type", "code": code, "message": "A sentence.", "request_id": "r2"}
    return error_from_response(status, {"error": fields}, None, retry_after)


@vectors("retry")
def test_retries(case: dict[str, Any]) -> None:
    wait_ms = retry_wait_ms(
        refusal(**case["error"]),
        case["failures"],
        case["waited_ms"],
        RetryLimits(6, 90_000),
        lambda: float(case["random"]),
        case.get("just_closed", False),
        case.get("paced", 0),
    )
    # JavaScript rounds halves up, Python to even.
    assert (None if wait_ms is None else int(wait_ms + 0.5)) == case["expect"]


@vectors("close")
def test_closes(case: dict[str, Any]) -> None:
    end = case["end"]
    fatal = case["fatal"]
    refused = None if end["refusal"] is None else refusal(**end["refusal"])
    event = None
    if fatal is not None:
        event = ErrorEvent.from_wire({**fatal, "fatal": True, "session_id": "a session"})
    info = describe_close(
        SocketEnd(end["code"], end["reason"], refused),
        session_id="a session",
        opened=case["opened"],
        fatal=event,
    )
    actual = {**dataclasses.asdict(info), "billed": billed(info)}
    del actual["message"]
    assert actual == case["expect"]
    assert info.message


@vectors("failover")
def test_waits_between_sessions(case: dict[str, Any]) -> None:
    failover = Failover()
    waits: list[float | None] = []
    for step in case["steps"]:
        if step["do"] == "close":
            end = SocketEnd(step["code"])
            close = describe_close(end, session_id="s", opened=True, fatal=None)
            waits.append(failover.wait_ms_after_close(close))
        elif step["do"] == "end":
            failover.on_end(step["ready_for_ms"])
        elif step["do"] == "final":
            failover.on_progress()
        elif step["do"] == "handover":
            waits.append(failover.wait_ms_after_handover())
        else:
            waits.append(failover.wait_ms_after_error(session_error(step)))
    assert len(waits) == len(case["expect"])
    for wait, expected in zip(waits, case["expect"], strict=True):
        if expected is None or wait is None:
            assert wait == expected
        else:
            assert expected[0] <= wait <= expected[1]


@vectors("liveness")
def test_liveness(case: dict[str, Any]) -> None:
    liveness = Liveness(0, case["open_ms"])
    now = 0
    actual: list[tuple[int, str | None]] = []
    for step in case["steps"]:
        if step["do"] == "sent":
            liveness.on_sent(step["audio_ms"])
        elif step["do"] == "event":
            now = step["at"]
            actual.append((now, liveness.on_event(now, step["answer"])))
        elif step["do"] == "suspended":
            now = step["to"]
            actual.append((now, liveness.check(now)))
        else:
            for at in range(now // 100 * 100 + 100, step["to"] + 1, 100):
                actual.append((at, liveness.check(at)))
            now = step["to"]
    assert [[at, what] for at, what in actual if what is not None] == case["expect"]


@vectors("lost")
def test_lost_sessions(case: dict[str, Any]) -> None:
    session = AsrSession.from_wire(case["session"])
    key = lost_key(case["random"], session)
    assert {"token": lost_token(session), "key": key} == case["expect"]


def session_error(step: dict[str, Any]) -> Exception:
    if step["retryable"] is None:
        return TypeError("no route")
    after = step["retry_after_ms"]
    return SvcError("a_code", "A sentence.", retryable=step["retryable"], retry_after_ms=after)


@vectors("replay")
def test_replay_and_stitching(case: dict[str, Any]) -> None:
    replay = Replay()
    returned = [replay.take(step) for step in case["steps"]]
    transcript = replay.builder.transcript
    assert returned == case["expect"]["returned"]
    assert case["expect"]["transcript"] == {
        "text": transcript.text,
        "finals": len(transcript.finals),
        "receipts": [[each.session_id, each.billable_ms] for each in transcript.sessions],
    }


class Replay:
    def __init__(self) -> None:
        self.builder = TranscriptBuilder()
        self.buffer = ReplayBuffer()
        self.clock = SessionClock()

    def take(self, step: dict[str, Any]) -> Any:
        buffer, builder = self.buffer, self.builder
        match step["do"]:
            case "session":
                self.clock = SessionClock()
                builder.begin_session(step["id"])
                return list(buffer.rewind())
            case "write":
                buffer.write(bytes(step["bytes"]))
                return buffer.unsent_bytes
            case "skip":
                return buffer.skip(step["ms"] * 16)
            case "flush":
                return buffer.flush(step["id"])
            case "reset":
                return buffer.reset(step["id"])
            case "next":
                return self.next(step["samples_max"])
            case "delta":
                event = DeltaEvent.from_wire(step["event"])
                delta = None if buffer.is_forgotten else builder.on_delta(event)
                return None if delta is None else delta.text
            case "final":
                return self.on_final(FinalEvent.from_wire(step["event"]))
            case "speech":
                return self.on_speech(step["event"])
            case "reset_ack":
                return buffer.settle_reset()
            case "end_session":
                return builder.end_session(step["billed"])
        raise ValueError(step["do"])

    def next(self, samples_max: int | None) -> dict[str, Any] | None:
        entry = self.buffer.next(samples_max)
        if isinstance(entry, Audio):
            self.clock.advance(entry.at, entry.samples)
        return None if entry is None else present(entry)

    def on_speech(self, wire: dict[str, Any]) -> dict[str, Any] | None:
        if self.buffer.is_forgotten:
            return None
        starts = wire["type"] == "speech_started"
        event = (SpeechStartedEvent if starts else SpeechEndedEvent).from_wire(wire)
        speech = self.builder.on_speech(event, self.clock)
        if speech is None:
            return None
        return {"utterance": speech.utterance, "audio_ms": speech.audio_ms}

    def settle(self, event: FinalEvent) -> Settled | None:
        if event.reason == "flush":
            return self.buffer.settle_flush()
        if event.reason == "endpoint":
            return self.buffer.settle_up_to(event.end_ms * 16)
        return self.buffer.settle_end(event.end_ms * 16)

    def on_final(self, event: FinalEvent) -> dict[str, Any] | None:
        if event.reason == "draining":
            self.builder.on_draining(event)
            return None
        is_forgotten = self.buffer.is_forgotten
        settled = self.settle(event)
        if settled is None:
            return None
        # The final belongs to audio that the caller dropped.
        if is_forgotten:
            return {"answered": list(settled.answered)}
        final = self.builder.on_final(event, settled, self.clock)
        words = [{"text": w.text, "start_ms": w.start_ms, "end_ms": w.end_ms} for w in final.words]
        return {
            "answered": list(settled.answered),
            "text": final.text,
            "utterance": final.utterance,
            "start_ms": final.start_ms,
            "end_ms": final.end_ms,
            "words": words,
            "billable_ms": final.billable_ms,
        }


def present(entry: Entry) -> dict[str, Any]:
    if isinstance(entry, Audio):
        return {"kind": "audio", "at": entry.at, "bytes": len(entry.pcm)}
    return {"kind": "flush" if isinstance(entry, Flush) else "reset", "id": entry.id}


@pytest.mark.parametrize(
    ("code", "reason", "elsewhere"),
    [(1006, "capacity_exceeded", True), (4503, "service_unavailable", False)],
)
def test_says_whether_another_node_is_wanted(code: int, reason: str, elsewhere: bool) -> None:
    assert is_node_lost(CloseInfo(code, reason, "", True)) == elsewhere
