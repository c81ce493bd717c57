"""Joins the events of all sessions into one transcript in the caller's time."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from ._replay_buffer import Settled
from ._session_clock import Origin, SessionClock, ceil_ms, floor_ms
from .wire import (
    DeltaEvent,
    FinalEvent,
    NumberEntity,
    ResetAckEvent,
    SpeechEndedEvent,
    SpeechStartedEvent,
    TurnEagerEvent,
    TurnResumedEvent,
    Word,
)

Part = TypeVar("Part", Word, NumberEntity)
SpeechEvent = TypeVar("SpeechEvent", bound=SpeechStartedEvent | SpeechEndedEvent)


@dataclass(frozen=True)
class SessionReceipt:
    """What one session cost. None if the connection was lost; usage.get() has the figure."""

    session_id: str
    billable_ms: int | None


@dataclass(frozen=True)
class Transcript:
    """The recognised text of all sessions, in the caller's time."""

    text: str
    finals: tuple[FinalEvent, ...]
    words: tuple[Word, ...]
    sessions: tuple[SessionReceipt, ...]


class TranscriptBuilder:
    def __init__(self) -> None:
        self._finals: list[FinalEvent] = []
        self._receipts: list[SessionReceipt] = []
        self._shown_ms = 0
        self._end_ms = 0
        # How many eager ends of turn were reported, and whether the last one is open. Sessions number their own.
        self._eagers = 0
        self._is_eager = False
        self._is_speaking = False
        # Where the last reported speech ended.
        self._speech_end_ms = -1
        # The session's utterance in which that was, and where the speech before it ended.
        self._last_end: tuple[int, int] | None = None

    def begin_session(self, session_id: str) -> None:
        self._last_end = None
        self._receipts.append(SessionReceipt(session_id, 0))

    def end_session(self, billed: Literal["as_told", "nothing", "unknown"]) -> None:
        if billed != "as_told":
            self._set_receipt(0 if billed == "nothing" else None)

    def on_delta(self, event: DeltaEvent) -> DeltaEvent | None:
        """Returns None for text the caller has seen: a new session receives the open utterance from its start."""
        if event.audio_ms < self._shown_ms:
            return None
        self._shown_ms = event.audio_ms
        return replace(event, text=_nfc(event.text), utterance=len(self._finals))

    def on_charged(self, event: FinalEvent) -> None:
        """The caller dropped the audio of this final. It is charged all the same."""
        self._set_receipt(event.billable_ms)

    def on_dropped(self, event: ResetAckEvent) -> None:
        """Dropped audio is charged by the started second, even if no final follows in this session."""
        charged_ms = -(-event.total_audio_ms // 1000) * 1000
        told_ms = self._receipts[-1].billable_ms if self._receipts else None
        self._set_receipt(max(told_ms or 0, charged_ms))

    def on_eager(self, event: TurnEagerEvent, clock: SessionClock) -> TurnEagerEvent | None:
        """Returns None while another is open."""
        if self._is_eager:
            return None
        self._is_eager = True
        self._eagers += 1
        return replace(
            event,
            text=_nfc(event.text),
            utterance=len(self._finals),
            eager=self._eagers,
            words=tuple(
                replace(
                    word,
                    text=_nfc(word.text),
                    start_ms=clock.caller_ms(word.start_ms),
                    end_ms=clock.caller_ms(word.end_ms),
                )
                for word in event.words
            ),
            audio_ms=clock.caller_ms(event.audio_ms),
        )

    def on_resumed(self) -> TurnResumedEvent | None:
        """Returns None if none is open."""
        if not self._is_eager:
            return None
        self._is_eager = False
        return TurnResumedEvent(utterance=len(self._finals), eager=self._eagers)

    def on_final(self, event: FinalEvent, settled: Settled, clock: SessionClock) -> FinalEvent:
        self._shown_ms = 0
        self._is_eager = False
        self._set_receipt(event.billable_ms)
        # The samples sent are known exactly. An utterance without audio lies where the last one ended.
        start_ms = self._end_ms if settled.start_sample is None else floor_ms(settled.start_sample)
        end_ms = self._end_ms if settled.end_sample is None else ceil_ms(settled.end_sample)
        origin = Origin(event.start_ms, start_ms)
        self._end_ms = end_ms

        def in_caller_time(part: Part) -> Part:
            return replace(
                part,
                text=_nfc(part.text),
                start_ms=min(end_ms, clock.to_caller(part.start_ms, origin, "start")),
                end_ms=min(end_ms, clock.to_caller(part.end_ms, origin, "end")),
            )

        final = replace(
            event,
            text=_nfc(event.text),
            utterance=len(self._finals),
            eager=None if event.eager is None else self._eagers,
            start_ms=start_ms,
            end_ms=end_ms,
            words=tuple(map(in_caller_time, event.words)),
            entities=None if event.entities is None else tuple(map(in_caller_time, event.entities)),
            total_audio_ms=end_ms,
            billable_ms=self._billable_ms(),
        )
        self._finals.append(final)
        return final

    def on_speech(self, event: SpeechEvent, clock: SessionClock) -> SpeechEvent | None:
        """Returns None for speech that was already reported: a new session replays the open utterance."""
        starts = isinstance(event, SpeechStartedEvent)
        audio_ms = clock.caller_ms(event.audio_ms)
        if starts == self._is_speaking or audio_ms <= self._speech_end_ms:
            return None
        self._is_speaking = starts
        if not starts:
            self._last_end = (event.utterance, self._speech_end_ms)
            self._speech_end_ms = audio_ms
        return replace(event, utterance=len(self._finals), audio_ms=audio_ms)

    def on_draining(self, event: FinalEvent) -> None:
        """Speech that a restarting server cut continues in the next session, which reports its start again."""
        if self._last_end is not None and self._last_end[0] == event.utterance:
            self._speech_end_ms = self._last_end[1]

    def on_reset(self) -> None:
        self._shown_ms = 0

    def empty_final(self, at_ms: int) -> FinalEvent:
        """The final of a flush without audio. It is not part of the transcript."""
        return FinalEvent(
            text="",
            utterance=len(self._finals),
            reason="flush",
            start_ms=at_ms,
            end_ms=at_ms,
            words=(),
            audio_ms=0,
            total_audio_ms=at_ms,
            billable_ms=self._billable_ms(),
        )

    @property
    def transcript(self) -> Transcript:
        return Transcript(
            text=" ".join(final.text for final in self._finals if final.text),
            finals=tuple(self._finals),
            words=tuple(word for final in self._finals for word in final.words),
            sessions=tuple(self._receipts),
        )

    def _set_receipt(self, billable_ms: int | None) -> None:
        if self._receipts:
            self._receipts[-1] = replace(self._receipts[-1], billable_ms=billable_ms)

    def _billable_ms(self) -> int:
        return sum(receipt.billable_ms or 0 for receipt in self._receipts)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)
