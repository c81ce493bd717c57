"""Reads sentence lists and splits them before any other step.

A list is a .tsv of "source<TAB>sentence". Whole sentences are held out: when a long one is cut
into clauses, all its clauses are on the same side. Seed and order must not change, or sentences
held out from released weights would enter the next training.
"""

import hashlib
import random
import re
from dataclasses import dataclass
from pathlib import Path

from .normaliser import normalise

FILES = {"kik": "kik_sentences.tsv", "luo": "luo_sentences.tsv"}
LENGTHS = {"kik": (12, 105), "luo": (15, 95)}
DEV, TEST, SEED = 60, 200, 1


@dataclass(frozen=True)
class Split:
    train: list[str]
    dev: list[str]
    test: list[str]


def cut(sentence: str, limit: int) -> list[str]:
    """Splits long sentences at their punctuation, so that utterances stay short."""
    if len(sentence) <= limit:
        return [sentence]
    clauses, current = [], ""
    for part in re.findall(r"[^,;:.?!]+[,;:.?!]*\s*", sentence):
        if current and len(current) + len(part) > limit:
            clauses.append(current.strip())
            current = ""
        current += part
    return [c for c in [*clauses, current.strip()] if c]


def _load(path: Path, shortest: int, longest: int) -> list[tuple[str, str]]:
    seen, rows = set(), []
    for line in path.read_text(encoding="utf-8").splitlines():
        sentence = line.split("\t")[1]
        if re.search(r"\d", sentence):
            continue
        parent = hashlib.md5(normalise(sentence).encode()).hexdigest()
        for clause in cut(sentence, longest):
            text = normalise(clause)
            if shortest <= len(text) <= longest and text not in seen:
                seen.add(text)
                rows.append((parent, clause))
    return rows


def sources(folder: Path, language: str) -> dict[str, str]:
    """The list's first column by normalised clause."""
    found: dict[str, str] = {}
    for line in (folder / FILES[language]).read_text(encoding="utf-8").splitlines():
        source, sentence = line.split("\t")[:2]
        for clause in cut(sentence, LENGTHS[language][1]):
            found.setdefault(normalise(clause), source)
    return found


def _split(rows: list[tuple[str, str]], rng: random.Random) -> Split:
    keys = sorted({key for key, _ in rows})
    rng.shuffle(keys)
    test, dev = set(keys[:TEST]), set(keys[TEST : TEST + DEV])

    def one_clause_each(wanted: set[str]) -> list[str]:
        return list({key: clause for key, clause in rows if key in wanted}.values())

    train = [clause for key, clause in rows if key not in test and key not in dev]
    return Split(train, one_clause_each(dev), one_clause_each(test))


def split_sentences(folder: Path) -> dict[str, Split]:
    rng = random.Random(SEED)
    return {
        language: _split(_load(folder / FILES[language], *LENGTHS[language]), rng)
        for language in ("kik", "luo")
    }


def _syllables(word: str) -> list[str]:
    return re.findall(r"[^aeiouĩũ]*[aeiouĩũ]+(?:[^aeiouĩũ]+$)?", word)


def invented(texts: list[str], rng: random.Random) -> str:
    """Returns words of several sentences in random order, half of them with another word's ending.

    Without these the predictor memorises the few thousand sentences.
    """
    chosen = []
    for _ in range(rng.randint(3, 9)):
        word = rng.choice(normalise(rng.choice(texts)).split() or ["na"])
        if rng.random() < 0.5:
            head = _syllables(word)
            tail = _syllables(rng.choice(normalise(rng.choice(texts)).split() or ["na"]))
            if len(head) > 1 and len(tail) > 1:
                word = "".join(head[: len(head) // 2 + 1] + tail[len(tail) // 2 :])[:17]
        chosen.append(word)
    return " ".join(chosen)
