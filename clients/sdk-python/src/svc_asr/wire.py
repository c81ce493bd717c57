"""The resources and events of the API. Written by `npm run docs` from core/protocol/; do not edit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

ModelId: TypeAlias = Literal["svc-asr-kikuyu-v1", "svc-asr-dholuo-v1"]
_NO_NAME: Any = ""


def _object_or_plain(read: Callable[[Mapping[str, Any]], Any], value: Any) -> Any:
    return read(value) if isinstance(value, Mapping) else value



@dataclass(frozen=True, kw_only=True, slots=True)
class AudioFormat:
    """The only audio format that streams accept."""

    encoding: Literal["pcm_s16le"] = "pcm_s16le"
    """Signed 16-bit little-endian PCM without a header."""
    sample_rate_hz: Literal[16000] = 16000
    """Samples a second. Resample other audio first."""
    channels: Literal[1] = 1
    """Mono."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> AudioFormat:
        return cls(
            encoding=wire.get("encoding", "pcm_s16le"),
            sample_rate_hz=wire.get("sample_rate_hz", 16000),
            channels=wire.get("channels", 1),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """A model that sessions can use."""

    id: Literal["svc-asr-kikuyu-v1", "svc-asr-dholuo-v1"]
    """The id of a model. It fixes the language."""
    object: Literal["model"] = "model"
    """The type of the object."""
    capability: Literal["asr.streaming"] = "asr.streaming"
    """What the model does: it transcribes streams."""
    language: str
    """The name of the language."""
    language_code: str
    """The shortest ISO 639 code of the language."""
    max_audio_seconds: Literal[300] = 300
    """The most audio that a session may have."""
    audio: AudioFormat
    """The only audio format that streams accept."""
    build: str | None = None
    """The build of the weights. Reserved: never sent, because streaming nodes may serve different ones."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Model:
        return cls(
            id=wire.get("id", _NO_NAME),
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
    """The audio format and the audio limit of a session."""

    encoding: Literal["pcm_s16le"] = "pcm_s16le"
    """Signed 16-bit little-endian PCM without a header."""
    sample_rate_hz: Literal[16000] = 16000
    """Samples a second. Resample other audio first."""
    channels: Literal[1] = 1
    """Mono."""
    max_audio_seconds: float
    """The audio limit of this session. It may be lower than requested."""
    context_size: tuple[Literal[56], Literal[13]]
    """The model's attention context in frames of 80 ms, left then right. Always [56, 13]."""

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
    """What the session reserved, and what is left."""

    unit: Literal["audio_second"] = "audio_second"
    """The unit of the other fields."""
    reserved: float
    """Seconds reserved for this session."""
    remaining: float
    """Whole seconds left for other sessions."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SessionCredits:
        return cls(
            unit=wire.get("unit", "audio_second"),
            reserved=wire.get("reserved", 0),
            remaining=wire.get("remaining", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class AsrSession:
    """A reserved session. It holds a secret: pass it to the client that streams, and never log it."""

    id: str
    """The id of the session, as in `GET /v1/usage` and `ready.session_id`."""
    object: Literal["asr.session"] = "asr.session"
    """The type of the object."""
    status: Literal["reserved"] = "reserved"
    """Reserved: credit is held until the stream opens or the time is up."""
    model: Literal["svc-asr-kikuyu-v1", "svc-asr-dholuo-v1"]
    """The id of a model. It fixes the language."""
    websocket_url: str
    """The address of the stream. Use it as it is; it may differ for each session."""
    websocket_protocols: tuple[Literal["svc.realtime.v1"], str] = field(repr=False)
    """`svc.realtime.v1`, then a single-use credential that begins `svc.auth.`. Offer both as WebSocket
    subprotocols, in this order. Never log them.
    """
    expires_at: str
    """When the credential expires: 60 seconds after creation. Open the stream before."""
    audio: SessionAudio
    """The audio format and the audio limit of a session."""
    credits: SessionCredits
    """What the session reserved, and what is left."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> AsrSession:
        return cls(
            id=wire.get("id", ""),
            object=wire.get("object", "asr.session"),
            status=wire.get("status", "reserved"),
            model=wire.get("model", _NO_NAME),
            websocket_url=wire.get("websocket_url", ""),
            websocket_protocols=wire.get("websocket_protocols", ("svc.realtime.v1", "")),
            expires_at=wire.get("expires_at", ""),
            audio=SessionAudio.from_wire(wire.get("audio", {})),
            credits=SessionCredits.from_wire(wire.get("credits", {})),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class UsageSession:
    """One session and its charge."""

    id: str
    """The id of the session."""
    model: Literal["svc-asr-kikuyu-v1", "svc-asr-dholuo-v1"]
    """The id of a model. It fixes the language."""
    status: Literal["reserved", "active", "completed", "failed", "expired"]
    """`reserved`: created, not opened yet. `active`: streaming. `completed`: ended and charged for its
    accepted audio. `failed`: ended by our fault, free. `expired`: never opened, free.
    """
    audio_ms: int
    """Accepted audio. For an active session it is at most 5 seconds old."""
    billable_ms: int
    """The charge: accepted audio, rounded up to a whole second. 0 until the session has completed."""
    created_at: str
    """When the session was created."""
    completed_at: str | None

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> UsageSession:
        return cls(
            id=wire.get("id", ""),
            model=wire.get("model", _NO_NAME),
            status=wire.get("status", _NO_NAME),
            audio_ms=wire.get("audio_ms", 0),
            billable_ms=wire.get("billable_ms", 0),
            created_at=wire.get("created_at", ""),
            completed_at=wire.get("completed_at", None),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class CreditBalance:
    """The credit of the account and its latest sessions."""

    object: Literal["credit_balance"] = "credit_balance"
    """The type of the object."""
    unit: Literal["audio_millisecond"] = "audio_millisecond"
    """The unit of the amounts."""
    available_ms: int
    """Credit that new sessions can reserve."""
    reserved_ms: int
    """Credit that reserved and active sessions hold."""
    consumed_ms: int
    """Credit that completed sessions were charged."""
    recent_sessions: tuple[UsageSession, ...]
    """The latest sessions, newest first, live ones included. At most 20."""

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
    """Progress, warnings and hints. The stream continues."""

    type: Literal["status"] = "status"
    """The type of the event."""
    message: str
    """A sentence for people. It may change."""
    code: Literal["queued", "loading", "limit_warning", "draining", "suspicious_audio", "odd_byte_carried"]
    """`queued` and `loading` come before `ready`. `limit_warning`: the stream ends soon. `draining`: the
    server restarts. `suspicious_audio`: the audio is probably not in the expected format.
    `odd_byte_carried`: a frame ended inside a sample.
    """
    hint: str | None = None
    """With `suspicious_audio`: what the audio looks like, and what to send."""
    remaining_ms: int | None = None
    """With `limit_warning`: what is left of the limit, in milliseconds."""
    limit: Literal["audio", "session_time"] | None = None
    """With `limit_warning`: the reserved audio or the time of the session is nearly used up."""
    deadline_ms: int | None = None
    """With `draining`: how long from now the stream may continue, in milliseconds."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> StatusEvent:
        return cls(
            type=wire.get("type", "status"),
            message=wire.get("message", ""),
            code=wire.get("code", _NO_NAME),
            hint=wire.get("hint"),
            remaining_ms=wire.get("remaining_ms"),
            limit=wire.get("limit"),
            deadline_ms=wire.get("deadline_ms"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class KeytermLimits:
    """The model listens for keyterms within these limits."""

    max_terms: int
    """How many keyterms one message may name."""
    max_chars: int
    """How many characters they may have together."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> KeytermLimits:
        return cls(
            max_terms=wire.get("max_terms", 0),
            max_chars=wire.get("max_chars", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadyEvent:
    """The client may send audio. It carries the limits."""

    type: Literal["ready"] = "ready"
    """The type of the event."""
    chunk_samples: Literal[17920] = 17920
    """The recogniser decodes this many samples at a time, so a delta follows about every 1.12 s of audio."""
    session_id: str
    """The `id` of the session response."""
    model: Literal["svc-asr-kikuyu-v1", "svc-asr-dholuo-v1"]
    """The id of a model. It fixes the language."""
    language_code: str
    """The ISO 639 code of the model's language."""
    encoding: Literal["pcm_s16le"] = "pcm_s16le"
    """Signed 16-bit little-endian PCM without a header."""
    sample_rate_hz: Literal[16000] = 16000
    """Samples a second. Resample other audio first."""
    channels: Literal[1] = 1
    """Mono."""
    context_size: tuple[Literal[56], Literal[13]]
    """The model's attention context in frames of 80 ms, left then right. Always [56, 13]."""
    max_audio_ms: int
    """The reserved audio. At this limit the stream ends with a final."""
    max_frame_bytes: Literal[65536] = 65536
    """The largest binary frame."""
    idle_timeout_ms: int
    """Without audio for this long, the stream ends."""
    session_time_limit_ms: int
    """The longest time that the stream may stay open."""
    keyterms: KeytermLimits | None | None = None
    """The limits of `config.keyterms`. `null`: the model ignores keyterms. Left out by older servers; some
    send `true` or `false`.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ReadyEvent:
        return cls(
            type=wire.get("type", "ready"),
            chunk_samples=wire.get("chunk_samples", 17920),
            session_id=wire.get("session_id", ""),
            model=wire.get("model", _NO_NAME),
            language_code=wire.get("language_code", ""),
            encoding=wire.get("encoding", "pcm_s16le"),
            sample_rate_hz=wire.get("sample_rate_hz", 16000),
            channels=wire.get("channels", 1),
            context_size=wire.get("context_size", (56, 13)),
            max_audio_ms=wire.get("max_audio_ms", 0),
            max_frame_bytes=wire.get("max_frame_bytes", 65536),
            idle_timeout_ms=wire.get("idle_timeout_ms", 0),
            session_time_limit_ms=wire.get("session_time_limit_ms", 0),
            keyterms=None if wire.get("keyterms") is None else _object_or_plain(KeytermLimits.from_wire, wire["keyterms"]),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointingInForce:
    """Where the server ends utterances by itself."""

    silence_ms: int
    """How long nobody must speak before the server sends a final."""
    max_utterance_ms: int
    """The longest utterance."""
    eager_ms: int | None = None
    """How long nobody must speak before `turn_eager`. Absent: off, or this model cannot."""
    detector: Literal["level", "confirmed"] | None = None
    """The detector in force, if you named one: `level` where the server has no second detector."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> EndpointingInForce:
        return cls(
            silence_ms=wire.get("silence_ms", 0),
            max_utterance_ms=wire.get("max_utterance_ms", 0),
            eager_ms=wire.get("eager_ms"),
            detector=wire.get("detector"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusedKeyterm:
    """A keyterm that is not used."""

    index: int
    """The position in your list, from 0."""
    reason: Literal["not_supported", "not_text", "empty", "unsupported_characters", "duplicate", "too_long", "too_many"]
    """`not_supported`: this model ignores keyterms. `not_text`, `empty`, `duplicate`: as named.
    `unsupported_characters`: only a to z, ĩ, ũ, the apostrophe of ng' and spaces are possible.
    `too_long`: the list has too many characters in all. `too_many`: this one and all after it are too
    many.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> RefusedKeyterm:
        return cls(
            index=wire.get("index", 0),
            reason=wire.get("reason", _NO_NAME),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class KeytermsInForce:
    """Which keyterms are used, and why others are not."""

    taken: tuple[str, ...]
    """The keyterms in force, as the models spell them."""
    refused: tuple[RefusedKeyterm, ...]
    """The others."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> KeytermsInForce:
        return cls(
            taken=tuple(wire.get("taken", ())),
            refused=tuple(RefusedKeyterm.from_wire(each) for each in wire.get("refused", ())),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ConfigAckEvent:
    """Confirms `config` and repeats the settings in force."""

    type: Literal["config_ack"] = "config_ack"
    """The type of the event."""
    id: str | float | None = None
    """The `id` of the message that this event answers, exactly as it was sent."""
    language: str
    """The ISO 639 code of the language in force."""
    context: tuple[Literal[56], Literal[13]]
    """The model's attention context in frames of 80 ms, left then right. Always [56, 13]."""
    endpointing: Literal[False] | EndpointingInForce
    """The endpointing in force. `false`: off, only flushes end utterances."""
    effective: Literal["now", "next_utterance"]
    """`next_utterance`: the keyterms of the message apply after the next final or reset. Everything else
    applies at once.
    """
    keyterms: KeytermsInForce | None = None
    """Which keyterms are used, and why others are not."""
    numbers: bool
    """Whether finals have numbers as digits."""
    ignored: tuple[str, ...]
    """Fields of the message that the server does not know."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ConfigAckEvent:
        return cls(
            type=wire.get("type", "config_ack"),
            id=wire.get("id"),
            language=wire.get("language", ""),
            context=wire.get("context", (56, 13)),
            endpointing=_object_or_plain(EndpointingInForce.from_wire, wire.get("endpointing", False)),
            effective=wire.get("effective", _NO_NAME),
            keyterms=None if wire.get("keyterms") is None else KeytermsInForce.from_wire(wire["keyterms"]),
            numbers=wire.get("numbers", False),
            ignored=tuple(wire.get("ignored", ())),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ResetAckEvent:
    """Confirms `reset`."""

    type: Literal["reset_ack"] = "reset_ack"
    """The type of the event."""
    id: str | float | None = None
    """The `id` of the message that this event answers, exactly as it was sent."""
    utterance: int
    """The number of the utterance that starts now."""
    discarded_ms: int
    """The audio since the last final, which gets no final. It is still charged. 0 if the stream ends
    before a final that was requested earlier: audio from that final on is not charged.
    """
    total_audio_ms: int
    """Audio that the session has accepted so far, in milliseconds."""
    billable_ms: int | None = None
    """What the session costs so far. Left out unless it continues a lost session, which was charged for
    some of this audio.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> ResetAckEvent:
        return cls(
            type=wire.get("type", "reset_ack"),
            id=wire.get("id"),
            utterance=wire.get("utterance", 0),
            discarded_ms=wire.get("discarded_ms", 0),
            total_audio_ms=wire.get("total_audio_ms", 0),
            billable_ms=wire.get("billable_ms"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class DeltaEvent:
    """The utterance so far."""

    type: Literal["delta"] = "delta"
    """The type of the event."""
    text: str
    """The whole current utterance: replace, never append."""
    utterance: int
    """The number of the utterance, from 0. Every final and every reset starts the next. A number may be
    skipped.
    """
    stable_chars: int
    """The first `stable_chars` characters of `text` won't change. Counted in UTF-16 code units, like
    `length` in JavaScript. The bundled models write only characters of one unit, so for them it also
    counts code points.
    """
    audio_ms: int
    """How much audio of the utterance the text covers."""

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
    """A word with its time."""

    text: str
    """The word."""
    start_ms: int
    """When it starts, from the start of the session."""
    end_ms: int
    """When it ends, from the start of the session."""
    confidence: float | None = None
    """How likely the word is right. Left out where the model does not say."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Word:
        return cls(
            text=wire.get("text", ""),
            start_ms=wire.get("start_ms", 0),
            end_ms=wire.get("end_ms", 0),
            confidence=wire.get("confidence"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class NumberEntity:
    """A number in the words of an utterance."""

    kind: Literal["number", "amount", "percent", "digits"]
    """`amount`: of money. `digits`: said one by one, like a telephone number. `number`: any other."""
    text: str
    """The number as `text_formatted` has it."""
    value: float | None
    """Its value. Null for `digits`, where a leading zero counts."""
    first_word: int
    """The index of its first word in `words`."""
    end_word: int
    """The index after its last word."""
    start_ms: int
    """When its first word starts, from the start of the session."""
    end_ms: int
    """When its last word ends, from the start of the session."""
    confidence: float | None = None
    """The lowest confidence of its words. Left out if a word has none."""
    language: Literal["ki", "luo", "sw", "en"]
    """The ISO 639 code of the language of its first word. Speakers borrow numbers."""
    currency: str | None = None
    """With `amount`: the ISO 4217 code of the currency."""
    alternatives: tuple[float, ...] | None = None
    """Other values of the same words: 25,000 and 20,005 share theirs."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> NumberEntity:
        return cls(
            kind=wire.get("kind", _NO_NAME),
            text=wire.get("text", ""),
            value=wire.get("value", None),
            first_word=wire.get("first_word", 0),
            end_word=wire.get("end_word", 0),
            start_ms=wire.get("start_ms", 0),
            end_ms=wire.get("end_ms", 0),
            confidence=wire.get("confidence"),
            language=wire.get("language", _NO_NAME),
            currency=wire.get("currency"),
            alternatives=None if wire.get("alternatives") is None else tuple(wire["alternatives"]),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class FinalEvent:
    """A finished utterance. Each flush gets exactly one."""

    type: Literal["final"] = "final"
    """The type of the event."""
    text: str
    """The finished utterance. Empty if nothing was recognised."""
    utterance: int
    """The number of the utterance, from 0. Every final and every reset starts the next. A number may be
    skipped.
    """
    reason: Literal["flush", "endpoint", "max_audio_reached", "idle_timeout", "session_time_limit", "draining", "closing"]
    """What ended the utterance. `flush`: your message. `endpoint`: a pause. `closing`: your close frame,
    an offence or a suspension. `draining`: a restart, which makes the session free. The others are
    limits.
    """
    id: str | float | None = None
    """The `id` of the message that this event answers, exactly as it was sent."""
    eager: int | None = None
    """The number of the `turn_eager` that had the same text. Absent: none did."""
    start_ms: int
    """Where the utterance starts in the session, where the previous one ended."""
    end_ms: int
    """Where the utterance ends in the session."""
    confidence: float | None = None
    """The mean confidence of the words. Left out if a word has none, or if there is no word."""
    words: tuple[Word, ...]
    """The words with their times."""
    text_formatted: str | None = None
    """Only with `config.numbers`: `text` with numbers as digits."""
    entities: tuple[NumberEntity, ...] | None = None
    """Only with `config.numbers`: the numbers of `text_formatted`."""
    audio_ms: int
    """The audio of the utterance, in milliseconds."""
    total_audio_ms: int
    """Audio that the session has accepted so far, in milliseconds."""
    billable_ms: int
    """The charge for the session so far, in whole seconds as milliseconds."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> FinalEvent:
        return cls(
            type=wire.get("type", "final"),
            text=wire.get("text", ""),
            utterance=wire.get("utterance", 0),
            reason=wire.get("reason", _NO_NAME),
            id=wire.get("id"),
            eager=wire.get("eager"),
            start_ms=wire.get("start_ms", 0),
            end_ms=wire.get("end_ms", 0),
            confidence=wire.get("confidence"),
            words=tuple(Word.from_wire(each) for each in wire.get("words", ())),
            text_formatted=wire.get("text_formatted"),
            entities=None if wire.get("entities") is None else tuple(NumberEntity.from_wire(each) for each in wire["entities"]),
            audio_ms=wire.get("audio_ms", 0),
            total_audio_ms=wire.get("total_audio_ms", 0),
            billable_ms=wire.get("billable_ms", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeechStartedEvent:
    """Speech starts. Only with endpointing."""

    type: Literal["speech_started"] = "speech_started"
    """The type of the event."""
    utterance: int
    """The number of the utterance, from 0. Every final and every reset starts the next. A number may be
    skipped.
    """
    audio_ms: int
    """Where in the session speech starts, accurate to about 100 ms."""
    confirmed: bool | None = None
    """Whether the second detector of `confirmed` heard speech too. Absent if it did not listen. Interrupt
    a voice agent unless it is `false`.
    """

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SpeechStartedEvent:
        return cls(
            type=wire.get("type", "speech_started"),
            utterance=wire.get("utterance", 0),
            audio_ms=wire.get("audio_ms", 0),
            confirmed=wire.get("confirmed"),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeechEndedEvent:
    """Speech has ended. Only with endpointing. No final follows if nothing was recognised."""

    type: Literal["speech_ended"] = "speech_ended"
    """The type of the event."""
    utterance: int
    """The number of the utterance, from 0. Every final and every reset starts the next. A number may be
    skipped.
    """
    audio_ms: int
    """Where in the session speech ends, accurate to about 100 ms."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> SpeechEndedEvent:
        return cls(
            type=wire.get("type", "speech_ended"),
            utterance=wire.get("utterance", 0),
            audio_ms=wire.get("audio_ms", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnEagerEvent:
    """The turn may be over. Only with `endpointing.eager_ms`. `turn_resumed` or the final of the utterance
    follows.
    """

    type: Literal["turn_eager"] = "turn_eager"
    """The type of the event."""
    utterance: int
    """The number of the utterance, from 0. Every final and every reset starts the next. A number may be
    skipped.
    """
    eager: int
    """The number of the event, from 1. The final repeats it if its text is the same."""
    text: str
    """The utterance so far. Never empty."""
    words: tuple[Word, ...]
    """The words with their times."""
    text_formatted: str | None = None
    """Only with `config.numbers`: `text` with numbers as digits."""
    confidence: float | None = None
    """The mean confidence of the words. Left out if a word has none."""
    audio_ms: int
    """Where in the session the pause begins, accurate to about 100 ms."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TurnEagerEvent:
        return cls(
            type=wire.get("type", "turn_eager"),
            utterance=wire.get("utterance", 0),
            eager=wire.get("eager", 0),
            text=wire.get("text", ""),
            words=tuple(Word.from_wire(each) for each in wire.get("words", ())),
            text_formatted=wire.get("text_formatted"),
            confidence=wire.get("confidence"),
            audio_ms=wire.get("audio_ms", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnResumedEvent:
    """The turn goes on, or was dropped: discard the answer to its `turn_eager`."""

    type: Literal["turn_resumed"] = "turn_resumed"
    """The type of the event."""
    utterance: int
    """The number of the utterance, from 0. Every final and every reset starts the next. A number may be
    skipped.
    """
    eager: int
    """The number of the `turn_eager` that no longer holds."""

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> TurnResumedEvent:
        return cls(
            type=wire.get("type", "turn_resumed"),
            utterance=wire.get("utterance", 0),
            eager=wire.get("eager", 0),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class ErrorEvent:
    """An error, and whether it ends the stream."""

    type: Literal["error"] = "error"
    """The type of the event."""
    message: str
    """What happened and what to do. Safe to show."""
    code: str
    """Stable. Codes may be added."""
    fatal: bool
    """Whether the server closes the stream after this event."""
    retryable: bool
    """Fatal: the failure is ours, nothing is charged, and a new session helps. Not fatal: send the message
    again.
    """
    close_code: int | None = None
    """If fatal: the code of the close frame that follows."""
    id: str | float | None = None
    """The `id` of the message that this event answers, exactly as it was sent."""
    ignored: tuple[str, ...] | None = None
    """A refused `config`: its fields. None of them was applied, whichever was not valid."""
    retry_after_ms: int | None = None
    """A refused stream: wait this long, then open the same session again."""
    session_id: str | None = None
    """The session. Left out if the stream was refused."""
    request_id: str
    """Equals `X-Request-Id` of the 101 response. Quote it to support."""

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
            ignored=None if wire.get("ignored") is None else tuple(wire["ignored"]),
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
    | TurnEagerEvent
    | TurnResumedEvent
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
    "turn_eager": TurnEagerEvent,
    "turn_resumed": TurnResumedEvent,
    "error": ErrorEvent,
}
