"""Writes an n-gram model in the layout of KenLM's probing files, format 5.

The engine loads them in milliseconds. KenLM's own programs keep flags in these files that the
engine doesn't need, so make files for them with `build_binary`.
"""

import struct
from pathlib import Path

from .kneser_ney import Model

MAGIC = b"mmap lm http://kheafield.com/code format version 5\n\0"
MULTIPLIER = 1.25
MASK = (1 << 64) - 1
UNKNOWN = "<unk>"
OLDER_FACTOR, WORD_FACTOR = 8978948897894561157, 17894857484156487943


def murmur_hash(data: bytes) -> int:
    """MurmurHash64A with seed 0."""
    factor = 0xC6A4A7935BD1E995

    def fold(value: int) -> int:
        return value ^ (value >> 47)

    value = len(data) * factor & MASK
    whole = len(data) - len(data) % 8
    for (block,) in struct.iter_unpack("<Q", data[:whole]):
        value = (value ^ fold(block * factor & MASK) * factor & MASK) * factor & MASK
    if whole < len(data):
        value = (value ^ int.from_bytes(data[whole:], "little")) * factor & MASK
    return fold(fold(value) * factor & MASK)


def ngram_key(ids: list[int]) -> int:
    """From the newest word to the oldest."""
    key = ids[-1]
    for older in reversed(ids[:-1]):
        key = (key * OLDER_FACTOR & MASK) ^ ((older + 1) * WORD_FACTOR & MASK)
    return key


def _buckets(entries: int) -> int:
    return max(entries + 1, int(MULTIPLIER * entries))


def _table(entries: dict[int, bytes], buckets: int) -> bytes:
    """Key 0 marks an empty bucket."""
    size = 8 + len(next(iter(entries.values())))
    table = bytearray(buckets * size)
    for key, values in entries.items():
        at = key % buckets
        while table[at * size : at * size + 8] != bytes(8):
            at = (at + 1) % buckets
        table[at * size : (at + 1) * size] = struct.pack("<Q", key) + values
    return bytes(table)


def write_binary(model: Model, names: dict[str, str], out: Path) -> None:
    words = {token: at + 1 for at, token in enumerate(sorted(names))}
    order = len(model.probabilities)
    counts = [len(words) + 1, *(len(level) for level in model.probabilities[1:])]
    header = bytearray(MAGIC.ljust(56, b"\0"))
    header += struct.pack("<fffIIIQ", 0, 1, -0.5, 1, 0xFFFFFFFF, 0, 1)
    header += struct.pack("<B3xfIB3xI", order, MULTIPLIER, 0, 1, 0)
    header += struct.pack(f"<{order}Q", *counts)
    header += bytes(-len(header) % 8) + struct.pack("<II", 0, counts[0])
    vocabulary = {murmur_hash(names[t].encode()): struct.pack("<I", i) for t, i in words.items()}
    unigrams = struct.pack("<ff", model.unknown, 0)
    for token in words:
        backoff = model.backoffs[0].get(token, 0.0)
        unigrams += struct.pack("<ff", model.probabilities[0][token], backoff)
    unigrams += bytes(8)
    body = _table(vocabulary, _buckets(counts[0])) + unigrams
    for n, level in enumerate(model.probabilities[1:], start=1):
        backoffs = model.backoffs[n] if n < len(model.backoffs) else None
        entries = {}
        for ngram, probability in level.items():
            values = (probability,) if backoffs is None else (probability, backoffs[ngram])
            key = ngram_key([words[token] for token in ngram])
            entries[key] = struct.pack(f"<{len(values)}f", *values)
        assert len(entries) == len(level), "two n-grams have the same key"
        body += _table(entries, _buckets(counts[n]))
    listed = [UNKNOWN, *(names[token] for token in words)]
    out.write_bytes(bytes(header) + body + b"".join(w.encode() + b"\0" for w in listed))
