"""Makes subtitles of a transcript, by the rules of ``svc transcribe``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from .wire import FinalEvent

# Broadcast rules: at most two lines of 42 letters and six seconds per cue.
CUE_LETTERS_MAX = 84
LINE_LETTERS_MAX = 42
CUE_MS_MAX = 6_000
# A turn that the service did not end at a pause, because its length was limited, is cut there.
CUE_PAUSE_MS = 800
CUE_MS_MIN = 700


class _Said(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def start_ms(self) -> int: ...
    @property
    def end_ms(self) -> int: ...


_Words = Sequence[_Said]


def to_srt(finals: Iterable[FinalEvent]) -> str:
    """SubRip text of a transcript's finals: one cue for each turn, and several for a long one."""
    cues = [f"{at}\n{span}\n{text}\n" for at, (span, text) in enumerate(_cues(finals, ","), 1)]
    return "\n".join(cues)


def to_vtt(finals: Iterable[FinalEvent]) -> str:
    """WebVTT text of a transcript's finals."""
    return "\n".join(["WEBVTT\n", *(f"{span}\n{text}\n" for span, text in _cues(finals, "."))])


def _cues(finals: Iterable[FinalEvent], point: str) -> list[tuple[str, str]]:
    groups = [group for final in finals for group in _split(_shown(final))]
    cues: list[tuple[str, str]] = []
    for at, words in enumerate(groups):
        start_ms = words[0].start_ms
        # Long enough to read, but never into the next cue.
        shortest_ms = start_ms + CUE_MS_MIN
        if at + 1 < len(groups):
            shortest_ms = min(shortest_ms, groups[at + 1][0].start_ms)
        end_ms = max(words[-1].end_ms, shortest_ms)
        span = f"{_timestamp(start_ms, point)} --> {_timestamp(end_ms, point)}"
        cues.append((span, _wrap(" ".join(word.text for word in words))))
    return cues


def _shown(final: FinalEvent) -> _Words:
    """The words of a final for display: a number stands in place of its words."""
    shown: list[_Said] = []
    at = 0
    for entity in final.entities or ():
        shown += [*final.words[at : entity.first_word], entity]
        at = entity.end_word
    return [*shown, *final.words[at:]]


def _split(words: _Words) -> list[_Words]:
    if not words:
        return []
    if _fits(words) or len(words) == 1:
        return [words]
    at = _split_point(words)
    return [*_split(words[:at]), *_split(words[at:])]


def _fits(words: _Words) -> bool:
    ms = words[-1].end_ms - words[0].start_ms
    longest = max(_pause_before(words, at) for at in range(len(words)))
    return _letters(words) <= CUE_LETTERS_MAX and ms <= CUE_MS_MAX and longest < CUE_PAUSE_MS


def _split_point(words: _Words) -> int:
    """The longest pause that leaves both parts a quarter of the letters, so that no word is left alone."""
    letters = _letters(words)

    def rank(at: int) -> tuple[bool, bool, int, float]:
        pause_ms = _pause_before(words, at)
        share = _letters(words[:at]) / letters
        is_central = 0.25 <= share <= 0.75
        return (pause_ms < CUE_PAUSE_MS, not is_central, -pause_ms, abs(share - 0.5))

    return min(range(1, len(words)), key=rank)


def _pause_before(words: _Words, at: int) -> int:
    return 0 if at == 0 else words[at].start_ms - words[at - 1].end_ms


def _letters(words: _Words) -> int:
    return sum(len(word.text) + 1 for word in words) - 1


def _timestamp(ms: int, point: str) -> str:
    seconds = ms // 1000
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{point}{ms % 1000:03}"


def _wrap(text: str) -> str:
    """Breaks a text into two lines of similar length."""
    if len(text) <= LINE_LETTERS_MAX:
        return text
    spaces = [at for at, letter in enumerate(text) if letter == " "]
    if not spaces:
        return text
    best = min(spaces, key=lambda at: abs(at - len(text) / 2))
    return f"{text[:best]}\n{text[best + 1 :]}"
