"""Kikuyu and Dholuo letters to sounds, written in espeak-ng's mnemonics.

Every synthesiser is driven by these sounds, never by its own spelling rules. A sound is a
(mnemonic, is_vowel) pair; a long vowel ends in ":".
"""

import hashlib
import random
import re

from .normaliser import fold

VOWELS = frozenset("aeiouĩũ")
KIKUYU_VOWELS = {"a": "a", "e": "E", "i": "i", "ĩ": "e", "o": "O", "u": "u", "ũ": "o"}
# Dholuo has nine vowels in two harmony sets and five letters: the set of a word is not written.
DHOLUO_VOWELS = {
    "+": {"a": "a", "e": "e", "i": "i", "o": "o", "u": "u"},
    "-": {"a": "a", "e": "E", "i": "I", "o": "O", "u": "U"},
}
_BOTH = [("ng'", "N"), ("nyw", "n^w"), ("ngw", "Ngw"), ("ng", "Ng"), ("ny", "n^"), ("nj", "ndZ")]
_BOTH += [("nd", "nd"), ("mb", "mb"), ("ch", "tS"), ("sh", "S"), ("j", "dZ"), ("r", "*")]
_BOTH += [("y", "j"), ("q", "k"), ("x", "ks")] + [(c, c) for c in "dfhklmnpstvwz"]
_KIKUYU = [("mbw", "mbw"), ("ndw", "ndw"), ("njw", "ndZw"), ("nth", "nD"), ("th", "D")]
_KIKUYU += [("b", "B"), ("c", "S"), ("g", "Q")]
_DHOLUO = [("ndh", "nD"), ("dh", "D"), ("th", "T"), ("b", "b"), ("c", "k"), ("g", "g")]


def _longest_first(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted(pairs, key=lambda pair: -len(pair[0]))


CONSONANTS = {"kik": _longest_first(_BOTH + _KIKUYU), "luo": _longest_first(_BOTH + _DHOLUO)}


class Accent:
    """The speaker's choices where the spelling is ambiguous, drawn once per utterance."""

    def __init__(self, kikuyu_c: str = "S", harmony: str = "", salt: str = ""):
        self.kikuyu_c = kikuyu_c  # "S" or "tS", by region
        self.harmony = harmony  # "+" or "-" for every Dholuo word, "" for one fixed by the word
        self.salt = salt  # other speakers, other words in the other set

    @classmethod
    def drawn(cls, rng: random.Random) -> "Accent":
        harmony = rng.choice(["", "", "", "+", "-"])
        salt = str(rng.random()) if rng.random() < 0.4 else ""
        return cls("tS" if rng.random() < 0.25 else "S", harmony, salt)

    def vowels(self, word: str, language: str) -> dict[str, str]:
        if language == "kik":
            return KIKUYU_VOWELS
        drawn = "+-"[hashlib.md5((word + self.salt).encode()).digest()[0] & 1]
        return DHOLUO_VOWELS[self.harmony or drawn]


def word_sounds(word: str, language: str, accent: Accent) -> list[tuple[str, bool]]:
    vowels = accent.vowels(word, language)
    sounds, i = [], 0
    while i < len(word):
        letter = word[i]
        if letter in VOWELS:
            sound = vowels.get(letter) or KIKUYU_VOWELS[letter]
            double = word[i + 1 : i + 2] == letter
            sounds.append((sound + ":" if double else sound, True))
            i += 2 if double else 1
            continue
        for spelling, sound in CONSONANTS[language]:
            if word.startswith(spelling, i):
                if language == "kik" and spelling == "c":
                    sound = accent.kikuyu_c
                sounds.append((sound, False))
                i += len(spelling)
                break
        else:
            i += 1  # an apostrophe on its own is silent
    return sounds


def stressed(sounds: list[tuple[str, bool]], language: str) -> int | None:
    """Returns the index of the stressed vowel: the last but one, or the last if a Dholuo word
    ends in a consonant."""
    vowels = [i for i, (_, is_vowel) in enumerate(sounds) if is_vowel]
    if not vowels:
        return None
    if (language == "kik" or sounds[-1][1]) and len(vowels) > 1:
        return vowels[-2]
    return vowels[-1]


def words(text: str) -> list[str]:
    found = re.findall(r"[a-zĩũ']+", fold(text).replace("-", ""))
    return [w for w in (w if w.endswith("ng'") else w.strip("'") for w in found) if w]


def clauses(text: str) -> list[tuple[list[str], str]]:
    """Returns (words, punctuation) of each clause, so that pauses follow the punctuation."""
    parts = re.findall(r"([^,.;:?!]+)([,.;:?!]*)", fold(text).replace("-", ""))
    return [(words(chunk), mark[:1]) for chunk, mark in parts if words(chunk)]
