"""`VoiceGate`. same-samples.python.test.ts checks that it passes the samples that the JavaScript SDK passes."""

from __future__ import annotations

import pytest

from svc_asr.voice_gate import Send, Skip, VoiceGate

from .speech import recording

SENTENCE = recording("kikuyu-2")


def silence(ms: int) -> bytes:
    return bytes(32 * ms)


def pass_gate(pcm: bytes, cut: int = 3_200) -> list[tuple[int, bytes]]:
    """Returns the audio that passed the gate, each piece with its time in bytes."""
    gate = VoiceGate()
    outputs = [each for at in range(0, len(pcm), cut) for each in gate.push(pcm[at : at + cut])]
    passed: list[tuple[int, bytes]] = []
    at = 0
    for output in [*outputs, *gate.end()]:
        if isinstance(output, Skip):
            at += output.ms * 32
        else:
            passed.append((at, output.pcm))
            at += len(output.pcm)
    return passed


def test_nothing_of_a_silent_room_is_sent() -> None:
    assert pass_gate(silence(20_000)) == []


def test_speech_in_the_first_second_is_sent_with_everything_before_it() -> None:
    pcm = silence(800) + SENTENCE
    assert b"".join(piece for _, piece in pass_gate(pcm)) == pcm


def test_later_speech_is_sent_with_300_ms_from_before_it() -> None:
    before = 5_000
    first, _ = pass_gate(silence(before) + SENTENCE)[0]
    assert before - 300 <= first / 32 < before + 100


@pytest.mark.parametrize("cut", [2, 641, 3_200, 100_000])
def test_samples_are_sent_unchanged_at_their_times_for_any_chunk_sizes(cut: int) -> None:
    pcm = silence(200) + SENTENCE + silence(3_000) + SENTENCE + silence(1_000)
    passed = pass_gate(pcm, cut)
    assert passed == pass_gate(pcm)
    for at, piece in passed:
        assert piece == pcm[at : at + len(piece)]
    assert sum(len(piece) for _, piece in passed) < len(pcm) - 32 * 2_000


def test_an_open_gate_sends_the_last_samples() -> None:
    gate = VoiceGate()
    gate.push(SENTENCE[:32_000])
    gate.push(b"\1\0")
    assert gate.end() == [Send(b"\1\0")]
    assert gate.end() == []
