"""Audio, flushes and resets since the last final, in order. After a failure the next session receives them again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

SAMPLE_RATE_HZ = 16_000
BYTES_PER_SAMPLE = 2
SAMPLES_PER_MS = SAMPLE_RATE_HZ // 1000
BYTES_PER_SECOND = SAMPLE_RATE_HZ * BYTES_PER_SAMPLE
# At most a second per frame: efficient for files, and a lost frame costs little.
FRAME_BYTES = BYTES_PER_SECOND


@dataclass(frozen=True)
class Audio:
    """``at`` is the first sample's position in the caller's time, which continues across sessions."""

    at: int
    pcm: bytes
    #: The list that applied when the audio was written.
    keyterms: tuple[str, ...] | None = None

    @property
    def samples(self) -> int:
        return len(self.pcm) // BYTES_PER_SAMPLE


@dataclass(frozen=True)
class Flush:
    id: int


@dataclass(frozen=True)
class Reset:
    id: int


Entry: TypeAlias = Audio | Flush | Reset


@dataclass(frozen=True)
class Settled:
    """The flushes and resets that a final answers, and its audio in the caller's time."""

    answered: tuple[int, ...]
    start_sample: int | None
    end_sample: int | None


class ReplayBuffer:
    def __init__(self, keyterms: tuple[str, ...] | None = None) -> None:
        #: Of audio that is written from now on.
        self.keyterms = keyterms
        self._entries: list[Entry] = []
        # Entries before it were sent to the current session.
        self._cursor = 0
        self._end_sample = 0
        # How many samples of the current session lie before the first entry.
        self._settled_samples = 0
        # Samples that were sent and then dropped, by the id of the reset that dropped them.
        self._dropped_samples: dict[int, int] = {}
        self._unsent_bytes = 0
        self._odd_byte = b""

    @property
    def unsent_bytes(self) -> int:
        return self._unsent_bytes

    @property
    def end_sample(self) -> int:
        return self._end_sample

    @property
    def is_empty(self) -> bool:
        return not self._entries

    @property
    def is_sent(self) -> bool:
        return self._cursor == len(self._entries)

    @property
    def is_forgotten(self) -> bool:
        """Whether events still concern audio that a reset has discarded."""
        first = next((entry for entry in self._entries if not isinstance(entry, Audio)), None)
        return isinstance(first, Reset)

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Copies the audio. An odd byte waits for its other half."""
        whole = self._odd_byte + bytes(data)
        even = len(whole) - len(whole) % BYTES_PER_SAMPLE
        self._odd_byte = whole[even:]
        for start in range(0, even, FRAME_BYTES):
            pcm = whole[start : min(even, start + FRAME_BYTES)]
            frame = Audio(self._end_sample, pcm, self.keyterms)
            self._entries.append(frame)
            self._end_sample += frame.samples
            self._unsent_bytes += len(frame.pcm)

    def skip(self, samples: int) -> None:
        self._end_sample += samples

    def flush(self, id: int) -> None:
        self._entries.append(Flush(id))

    def flush_sent(self, id: int) -> None:
        """Inserts a flush before all unsent entries. It ends the utterance that the session has received so far."""
        self._entries.insert(self._cursor, Flush(id))

    def reset(self, id: int) -> bool:
        """Drops the audio after the last flush. Returns whether the service received some of it."""
        keep = len(self._entries)
        while keep > 0 and isinstance(self._entries[keep - 1], Audio):
            keep -= 1
        sent = self._entries[keep : self._cursor]
        self._cut(keep, len(self._entries))
        if sent:
            self._entries.append(Reset(id))
            self._dropped_samples[id] = sum(_samples_in(entry) for entry in sent)
        return bool(sent)

    def peek(self) -> Entry | None:
        return self._entries[self._cursor] if self._cursor < len(self._entries) else None

    def next(self, samples_max: int | None = None) -> Entry | None:
        """Returns the next entry, with at most this many samples of audio, and marks it as sent."""
        entry = self.peek()
        if isinstance(entry, Audio) and samples_max is not None and entry.samples > samples_max:
            entry = self._split(self._cursor, samples_max)
        if entry is None:
            return None
        self._cursor += 1
        if isinstance(entry, Audio):
            self._unsent_bytes -= len(entry.pcm)
        return entry

    def settle_flush(self) -> Settled | None:
        """Removes everything up to the oldest flush, which has its final. None if no flush was sent."""
        at = self._find(Flush)
        return None if at is None else self._settle(at + 1)

    def settle_reset(self) -> int | None:
        at = self._find(Reset)
        if at is None:
            return None
        answered = self._settle(at + 1).answered
        return answered[-1] if answered else None

    def settle_end(self, session_sample: int) -> Settled:
        """Removes everything up to a sample of the session: the session's last final covered it.

        Flushes and resets right behind are answered too. Audio that was on its way when the service stopped
        reading stays.
        """
        left = session_sample - self._settled_samples
        to = 0
        while to < self._cursor:
            entry = self._entries[to]
            if isinstance(entry, Audio):
                if left <= 0:
                    return self._settle(to)
                if entry.samples > left:
                    entry = self._split(to, left)
                    self._cursor += 1
            left -= self._sent_samples_of(entry)
            to += 1
        while to < len(self._entries) and not isinstance(self._entries[to], Audio):
            to += 1
        return self._settle(to)

    def settle_up_to(self, session_sample: int) -> Settled:
        """Removes audio up to a sample of the session: an endpoint's final covered it. Later audio stays."""
        left = session_sample - self._settled_samples
        to = 0
        while to < self._cursor and left > 0:
            entry = self._entries[to]
            if not isinstance(entry, Audio):
                break
            if entry.samples > left:
                entry = self._split(to, left)
                self._cursor += 1
            left -= entry.samples
            to += 1
        return self._settle(to)

    def rewind(self) -> tuple[int, ...]:
        """Marks everything as unsent for a new session. Returns the ids of the resets, which are no longer needed."""
        resets = tuple(entry.id for entry in self._entries if isinstance(entry, Reset))
        self._entries = [entry for entry in self._entries if not isinstance(entry, Reset)]
        self._cursor = 0
        self._settled_samples = 0
        self._dropped_samples.clear()
        self._unsent_bytes = sum(
            len(entry.pcm) for entry in self._entries if isinstance(entry, Audio)
        )
        return resets

    def _split(self, at: int, samples: int) -> Audio:
        whole = self._entries[at]
        assert isinstance(whole, Audio)
        cut = samples * BYTES_PER_SAMPLE
        head = replace(whole, pcm=whole.pcm[:cut])
        tail = replace(whole, at=whole.at + samples, pcm=whole.pcm[cut:])
        self._entries[at : at + 1] = [head, tail]
        return head

    def _find(self, kind: type[Flush] | type[Reset]) -> int | None:
        for at in range(self._cursor):
            if isinstance(self._entries[at], kind):
                return at
        return None

    def _settle(self, to: int) -> Settled:
        done = self._entries[:to]
        audio = [entry for entry in done if isinstance(entry, Audio)]
        for entry in done:
            self._settled_samples += self._sent_samples_of(entry)
            if isinstance(entry, Reset):
                self._dropped_samples.pop(entry.id, None)
        self._cut(0, to)
        return Settled(
            answered=tuple(entry.id for entry in done if not isinstance(entry, Audio)),
            start_sample=audio[0].at if audio else None,
            end_sample=audio[-1].at + audio[-1].samples if audio else None,
        )

    def _sent_samples_of(self, entry: Entry) -> int:
        """Samples of the entry itself, or those that a reset dropped."""
        if isinstance(entry, Reset):
            return self._dropped_samples.get(entry.id, 0)
        return _samples_in(entry)

    def _cut(self, start: int, end: int) -> None:
        for entry in self._entries[max(start, self._cursor) : end]:
            if isinstance(entry, Audio):
                self._unsent_bytes -= len(entry.pcm)
        del self._entries[start:end]
        if self._cursor > start:
            self._cursor = max(start, self._cursor - (end - start))


def _samples_in(entry: Entry) -> int:
    return entry.samples if isinstance(entry, Audio) else 0
