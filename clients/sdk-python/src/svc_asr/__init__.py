"""Streaming speech recognition for Kikuyu and Dholuo."""

from ._close import CloseInfo
from ._events import ReconnectingEvent, StreamEvent, WaitingEvent
from ._transcript import SessionReceipt, Transcript
from .client import SvcClient
from .errors import SvcError
from .files import read_audio, transcribe, transcribe_file
from .stream import Endpointing, SvcStream, open_stream
from .subtitles import to_srt, to_vtt
from .wire import (
    AsrSession,
    ConfigAckEvent,
    CreditBalance,
    DeltaEvent,
    ErrorEvent,
    FinalEvent,
    Model,
    ModelId,
    NumberEntity,
    ReadyEvent,
    SpeechEndedEvent,
    SpeechStartedEvent,
    StatusEvent,
    TurnEagerEvent,
    TurnResumedEvent,
    UsageSession,
    Word,
)

__all__ = [
    "AsrSession",
    "CloseInfo",
    "ConfigAckEvent",
    "CreditBalance",
    "DeltaEvent",
    "Endpointing",
    "ErrorEvent",
    "FinalEvent",
    "Model",
    "ModelId",
    "NumberEntity",
    "ReadyEvent",
    "ReconnectingEvent",
    "SessionReceipt",
    "SpeechEndedEvent",
    "SpeechStartedEvent",
    "StatusEvent",
    "StreamEvent",
    "SvcClient",
    "SvcError",
    "SvcStream",
    "Transcript",
    "TurnEagerEvent",
    "TurnResumedEvent",
    "UsageSession",
    "WaitingEvent",
    "Word",
    "open_stream",
    "read_audio",
    "to_srt",
    "to_vtt",
    "transcribe",
    "transcribe_file",
]
