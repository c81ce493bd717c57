"""Kikuyu and Dholuo speech-to-text for LiveKit Agents."""

from .stt import SvcSpeechStream, SvcSTT

__all__ = ["SvcSTT", "SvcSpeechStream"]
