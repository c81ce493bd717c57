"""Interpolated modified Kneser-Ney smoothing, by the formulae that KenLM's lmplz documents.

Heafield et al., "Scalable Modified Kneser-Ney Language Model Estimation" (ACL 2013), section 3:
adjusted counts, three discounts per order, interpolation down to the uniform distribution. N-grams
whose corpus count is at most their order's cut-off are pruned after counting; their mass goes to
the backoff.

A token is one character of a Python string here, so an n-gram is a slice, which keeps counting
fast. `lm.py` maps words to characters.
"""

import math
from collections import Counter, defaultdict
from dataclasses import dataclass

BEGIN, END = "\ue000", "\ue001"
# Used where a small corpus gives no valid discounts (lmplz: --discount_fallback).
FALLBACK = (0.5, 1.0, 1.5)


@dataclass(frozen=True)
class Model:
    """Probabilities and backoffs (base-10 logarithms) per order. `unknown` is that of <unk>."""

    probabilities: list[dict[str, float]]
    backoffs: list[dict[str, float]]
    unknown: float


def count(sentences: list[str], order: int) -> list[Counter[str]]:
    """Corpus counts of orders 1 to `order`, with one BEGIN and one END per sentence."""
    counts: list[Counter[str]] = [Counter() for _ in range(order)]
    for sentence in sentences:
        text = f"{BEGIN}{sentence}{END}"
        for n in range(1, order + 1):
            counts[n - 1].update(text[i : i + n] for i in range(len(text) - n + 1))
    return counts


def _adjusted(counts: list[Counter[str]]) -> list[dict[str, int]]:
    """Below the highest order: how many different tokens precede the n-gram.

    Nothing precedes BEGIN, so n-grams that start with it keep their counts.
    """
    adjusted: list[dict[str, int]] = []
    for n, here in enumerate(counts[:-1], start=1):
        before = Counter(ngram[1:] for ngram in counts[n])
        adjusted.append({g: c if g[0] == BEGIN else before[g] for g, c in here.items()})
    adjusted[0].pop(BEGIN)
    return [*adjusted, dict(counts[-1])]


def _discounts(adjusted: dict[str, int]) -> tuple[float, float, float]:
    singles = Counter(c for c in adjusted.values() if c <= 4)
    n = [singles[k] for k in range(5)]
    if not all(n[1:]):
        return FALLBACK
    y = n[1] / (n[1] + 2 * n[2])
    one, two, three = (k - (k + 1) * y * n[k + 1] / n[k] for k in (1, 2, 3))
    if not (0 <= one <= 1 and 0 <= two <= 2 and 0 <= three <= 3):
        return FALLBACK
    return one, two, three


def estimate(sentences: list[str], order: int, cut_offs: list[int]) -> Model:
    """Prunes n-grams whose corpus count is at most their order's cut-off, if that is not 0."""
    counts = count(sentences, order)
    adjusted = _adjusted(counts)
    uniform = 1 / (len(adjusted[0]) + 1)  # every token, END and <unk>, but not BEGIN
    probabilities: list[dict[str, float]] = []
    backoffs: list[dict[str, float]] = []
    for n in range(order):
        discount = (0.0, *_discounts(adjusted[n]))
        total: defaultdict[str, int] = defaultdict(int)
        left: defaultdict[str, float] = defaultdict(float)
        kept = {}
        for ngram, c in adjusted[n].items():
            context = ngram[:-1]
            total[context] += c
            if n > 0 and counts[n][ngram] <= cut_offs[n]:
                left[context] += c
                continue
            d = discount[min(c, 3)]
            left[context] += d
            kept[ngram] = c - d
        gamma = {context: left[context] / total[context] for context in total}
        if n == 0:
            unknown = gamma[""] * uniform
            probabilities.append({g: c / total[""] + unknown for g, c in kept.items()})
        else:
            lower = probabilities[n - 1]
            probabilities.append(
                {g: c / total[g[:-1]] + gamma[g[:-1]] * lower[g[1:]] for g, c in kept.items()}
            )
            backoffs.append(gamma)
    log = [{g: math.log10(p) for g, p in level.items()} for level in probabilities]
    log[0][BEGIN] = 0.0
    kept_backoffs = [
        {g: math.log10(b[g]) if b.get(g) else 0.0 for g in level}
        for level, b in zip(log, backoffs, strict=False)
    ]
    return Model(log, kept_backoffs, math.log10(unknown))
