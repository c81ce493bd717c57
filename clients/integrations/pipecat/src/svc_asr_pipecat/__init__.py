"""Kikuyu and Dholuo speech-to-text for Pipecat."""

from .stt import SvcSTTService

__all__ = ["SvcSTTService"]
