"""Word and character error rates."""

from collections.abc import Sequence


def distance(a: Sequence, b: Sequence) -> int:
    """Returns the number of insertions, deletions and substitutions that turn a into b."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def error_rates(pairs: list[tuple[str, str]]) -> tuple[float, float]:
    """Returns WER and CER in percent for (reference, hypothesis) pairs."""
    words = sum(len(r.split()) for r, _ in pairs)
    characters = sum(len(r) for r, _ in pairs)
    word_errors = sum(distance(r.split(), h.split()) for r, h in pairs)
    character_errors = sum(distance(r, h) for r, h in pairs)
    return 100 * word_errors / max(1, words), 100 * character_errors / max(1, characters)
