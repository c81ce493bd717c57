"""The resources and events of the API. Written by `npm run docs` from protocol/; do not edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

ModelId: TypeAlias = Literal["svc-asr-kikuyu-v1", "svc-asr-dholuo-v1"]


def _object_or_plain(read: Callable[[Mapping[str, Any]], Any], value: Any) -> Any:
    return read(value) if isinstance(value, Mapping) else value



@dataclass(frozen=True, kw_only=True, slots=True)
class AudioFormat:
    encoding: Literal["pcm_s16le"] = "pcm_s16le"
    sample_rate_hz: Literal[16000] = 16000
    channels: Literal[1] = 1

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> AudioFormat:
        return cls(
            encoding=wire.get("encoding", "pcm_s16le"),
            sample_rate_hz=wire.get("sample_rate_hz", 16000),
            channels=wire.get("channels", 1),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    id: Literal["svc-asr-kikuyu-v1", "svc-asr-dholuo-v1"]
    object: Literal["model"] = "model"
    capability: Literal["asr.streaming"] = "asr.streaming"
    language: str
    language_code: str
    max_audio_seconds: Literal[300] = 300
    audio: AudioFormat
    build: str | None = None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Model:
        return cls(
            id=wire.get("id", "svc-asr-kikuyu-v1"),
            object=wire.get("object", "model"),
            capability=wire.get("capability", "asr.streaming"),
            language=wire.get("language", ""),
            language_code=wire.get("language_code", ""),
            max_audio_seconds=wire.get("max_audio_seconds", 300),
            audio=AudioFormat.from_wire(wire.get("audio", {})),
            build=wire.get("build"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionAudio:
    encoding: Literal["pcm_s16le"] = "pcm_s16le"
    sample_rate_hz: Literal[16000] = 16000
    channels: Literal[1] = 1
    max_audio_seconds: float
    context_size: tuple[Literal[56], Literal[13]]

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SessionAudio:
        return cls(
            encoding=wire.get("encoding", "pcm_s16le"),
            sample_rate_hz=wire.get("sample_rate_hz", 16000),
            channels=wire.get("channels", 1),
            max_audio_seconds=wire.get("max_audio_seconds", 0),
            context_size=wire.get("context_size", (56, 13)),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionCredits:
    unit: Literal["audio_second"] = "audio_second"
    reserved: float
    remaining: float

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SessionCredits:
        return cls(
            unit=wire.get("unit", "audio_second"),
            reserved=wire.get("reserved", 0),
            remaining=wire.get("remaining", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class AsrSession:
    id: str
    object: Literal["asr.session"] = "asr.session"
    status: Literal["reserved"] = "reserved"
    model: Literal["svc-asr-kikuyu-v1", "svc-asr-dholuo-v1"]
    websocket_url: str
    websocket_protocols: tuple[Literal["svc.realtime.v1"], str] = field(repr=False)
    expires_at: str
    audio: SessionAudio
    credits: SessionCredits

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> AsrSession:
        return cls(
            id=wire.get("id", ""),
            object=wire.get("object", "asr.session"),
            status=wire.get("status", "reserved"),
            model=wire.get("model", "svc-asr-kikuyu-v1"),
            websocket_url=wire.get("websocket_url", ""),
            websocket_protocols=wire.get("websocket_protocols", ("svc.realtime.v1", "")),
            expires_at=wire.get("expires_at", ""),
            audio=SessionAudio.from_wire(wire.get("audio", {})),
            credits=SessionCredits.from_wire(wire.get("credits", {})),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageSession:
    id: str
    model: Literal["svc-asr-kikuyu-v1", "svc-asr-dholuo-v1"]
    status: Literal["reserved", "active", "completed", "failed", "expired"]
    audio_ms: int
    billable_ms: int
    created_at: str
    completed_at: str | None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> UsageSession:
        return cls(
            id=wire.get("id", ""),
            model=wire.get("model", "svc-asr-kikuyu-v1"),
            status=wire.get("status", "reserved"),
            audio_ms=wire.get("audio_ms", 0),
            billable_ms=wire.get("billable_ms", 0),
            created_at=wire.get("created_at", ""),
            completed_at=wire.get("completed_at", None),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CreditBalance:
    object: Literal["credit_balance"] = "credit_balance"
    unit: Literal["audio_millisecond"] = "audio_millisecond"
    available_ms: int
    reserved_ms: int
    consumed_ms: int
    recent_sessions: tuple[UsageSession, ...]

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> CreditBalance:
        return cls(
            object=wire.get("object", "credit_balance"),
            unit=wire.get("unit", "audio_millisecond"),
            available_ms=wire.get("available_ms", 0),
            reserved_ms=wire.get("reserved_ms", 0),
            consumed_ms=wire.get("consumed_ms", 0),
            recent_sessions=tuple(UsageSession.from_wire(each) for each in wire.get("recent_sessions", ())),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusEvent:
    type: Literal["status"] = "status"
    message: str
    code: Literal["queued", "loading", "limit_warning", "draining", "suspicious_audio", "odd_byte_carried"]
    hint: str | None = None
    remaining_ms: int | None = None
    limit: Literal["audio", "session_time"] | None = None
    deadline_ms: int | None = None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> StatusEvent:
        return cls(
            type=wire.get("type", "status"),
            message=wire.get("message", ""),
            code=wire.get("code", "queued"),
            hint=wire.get("hint"),
            remaining_ms=wire.get("remaining_ms"),
            limit=wire.get("limit"),
            deadline_ms=wire.get("deadline_ms"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadyEvent:
    type: Literal["ready"] = "ready"
    chunk_samples: Literal[17920] = 17920
    session_id: str
    model: Literal["svc-asr-kikuyu-v1", "svc-asr-dholuo-v1"]
    language_code: str
    encoding: Literal["pcm_s16le"] = "pcm_s16le"
    sample_rate_hz: Literal[16000] = 16000
    channels: Literal[1] = 1
    context_size: tuple[Literal[56], Literal[13]]
    max_audio_ms: int
    max_frame_bytes: Literal[65536] = 65536
    idle_timeout_ms: int
    session_time_limit_ms: int

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ReadyEvent:
        return cls(
            type=wire.get("type", "ready"),
            chunk_samples=wire.get("chunk_samples", 17920),
            session_id=wire.get("session_id", ""),
            model=wire.get("model", "svc-asr-kikuyu-v1"),
            language_code=wire.get("language_code", ""),
            encoding=wire.get("encoding", "pcm_s16le"),
            sample_rate_hz=wire.get("sample_rate_hz", 16000),
            channels=wire.get("channels", 1),
            context_size=wire.get("context_size", (56, 13)),
            max_audio_ms=wire.get("max_audio_ms", 0),
            max_frame_bytes=wire.get("max_frame_bytes", 65536),
            idle_timeout_ms=wire.get("idle_timeout_ms", 0),
            session_time_limit_ms=wire.get("session_time_limit_ms", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointingInForce:
    silence_ms: int
    max_utterance_ms: int

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> EndpointingInForce:
        return cls(
            silence_ms=wire.get("silence_ms", 0),
            max_utterance_ms=wire.get("max_utterance_ms", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfigAckEvent:
    type: Literal["config_ack"] = "config_ack"
    id: str | float | None = None
    language: str
    context: tuple[Literal[56], Literal[13]]
    endpointing: Literal[False] | EndpointingInForce
    effective: Literal["now", "next_utterance"]
    ignored: tuple[str, ...]

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ConfigAckEvent:
        return cls(
            type=wire.get("type", "config_ack"),
            id=wire.get("id"),
            language=wire.get("language", ""),
            context=wire.get("context", (56, 13)),
            endpointing=_object_or_plain(EndpointingInForce.from_wire, wire.get("endpointing", False)),
            effective=wire.get("effective", "now"),
            ignored=tuple(wire.get("ignored", ())),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ResetAckEvent:
    type: Literal["reset_ack"] = "reset_ack"
    id: str | float | None = None
    utterance: int
    discarded_ms: int
    total_audio_ms: int

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ResetAckEvent:
        return cls(
            type=wire.get("type", "reset_ack"),
            id=wire.get("id"),
            utterance=wire.get("utterance", 0),
            discarded_ms=wire.get("discarded_ms", 0),
            total_audio_ms=wire.get("total_audio_ms", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class DeltaEvent:
    type: Literal["delta"] = "delta"
    text: str
    utterance: int
    stable_chars: int
    audio_ms: int

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> DeltaEvent:
        return cls(
            type=wire.get("type", "delta"),
            text=wire.get("text", ""),
            utterance=wire.get("utterance", 0),
            stable_chars=wire.get("stable_chars", 0),
            audio_ms=wire.get("audio_ms", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Word:
    text: str
    start_ms: int
    end_ms: int
    confidence: float | None = None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Word:
        return cls(
            text=wire.get("text", ""),
            start_ms=wire.get("start_ms", 0),
            end_ms=wire.get("end_ms", 0),
            confidence=wire.get("confidence"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class FinalEvent:
    type: Literal["final"] = "final"
    text: str
    utterance: int
    reason: Literal["flush", "endpoint", "max_audio_reached", "idle_timeout", "session_time_limit", "draining", "closing"]
    id: str | float | None = None
    start_ms: int
    end_ms: int
    confidence: float | None = None
    words: tuple[Word, ...]
    audio_ms: int
    total_audio_ms: int
    billable_ms: int

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FinalEvent:
        return cls(
            type=wire.get("type", "final"),
            text=wire.get("text", ""),
            utterance=wire.get("utterance", 0),
            reason=wire.get("reason", "flush"),
            id=wire.get("id"),
            start_ms=wire.get("start_ms", 0),
            end_ms=wire.get("end_ms", 0),
            confidence=wire.get("confidence"),
            words=tuple(Word.from_wire(each) for each in wire.get("words", ())),
            audio_ms=wire.get("audio_ms", 0),
            total_audio_ms=wire.get("total_audio_ms", 0),
            billable_ms=wire.get("billable_ms", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeechStartedEvent:
    type: Literal["speech_started"] = "speech_started"
    utterance: int
    audio_ms: int

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SpeechStartedEvent:
        return cls(
            type=wire.get("type", "speech_started"),
            utterance=wire.get("utterance", 0),
            audio_ms=wire.get("audio_ms", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeechEndedEvent:
    type: Literal["speech_ended"] = "speech_ended"
    utterance: int
    audio_ms: int

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SpeechEndedEvent:
        return cls(
            type=wire.get("type", "speech_ended"),
            utterance=wire.get("utterance", 0),
            audio_ms=wire.get("audio_ms", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorEvent:
    type: Literal["error"] = "error"
    message: str
    code: str
    fatal: bool
    retryable: bool
    close_code: int | None = None
    id: str | float | None = None
    retry_after_ms: int | None = None
    session_id: str | None = None
    request_id: str

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ErrorEvent:
        return cls(
            type=wire.get("type", "error"),
            message=wire.get("message", ""),
            code=wire.get("code", ""),
            fatal=wire.get("fatal", False),
            retryable=wire.get("retryable", False),
            close_code=wire.get("close_code"),
            id=wire.get("id"),
            retry_after_ms=wire.get("retry_after_ms"),
            session_id=wire.get("session_id"),
            request_id=wire.get("request_id", ""),
        )


ServerEvent: TypeAlias = (
    StatusEvent
    | ReadyEvent
    | ConfigAckEvent
    | ResetAckEvent
    | DeltaEvent
    | FinalEvent
    | SpeechStartedEvent
    | SpeechEndedEvent
    | ErrorEvent
)
EVENT_CLASSES: Mapping[str, type[ServerEvent]] = {
    "status": StatusEvent,
    "ready": ReadyEvent,
    "config_ack": ConfigAckEvent,
    "reset_ack": ResetAckEvent,
    "delta": DeltaEvent,
    "final": FinalEvent,
    "speech_started": SpeechStartedEvent,
    "speech_ended": SpeechEndedEvent,
    "error": ErrorEvent,
}
