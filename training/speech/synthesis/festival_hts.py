"""Festival's two HTS voices, held out from training to evaluate on unknown voices.

The Catalan woman speaks Kikuyu (seven vowels; no h, no ng'), the American one Dholuo. An HTS voice
derives its prosody from words, so our words are added to its lexicon under invented names.
"""

from dataclasses import dataclass

from ..text.phonemes import Accent, clauses, stressed, word_sounds
from .festival_voices import ATOMS, ENGLISH, KIKUYU_BORROWED

_CATALAN = {
    **{c: (c,) for c in "ptkbdgfsSzmnlrw"}, "n^": ("J",), "N": ("n",), "tS": ("t", "S"),
    "dZ": ("Z",), "*": ("r",), "j": ("j",),
    **{vowel: (f"{vowel}1",) for vowel in "aeEioOu"},
}  # fmt: skip


@dataclass(frozen=True)
class HtsVoice:
    name: str
    language: str
    sounds: dict[str, tuple[str, ...]]
    by_text: bool  # the American voice crashes on bare words, the Catalan one spells text its way

    def utterance(self, names: list[str]) -> str:
        joined = " ".join(names)
        return f'(Utterance Text "{joined}")' if self.by_text else f"(Utterance Words ({joined}))"


HTS_VOICES = {
    "kik": HtsVoice("upc_ca_ona_hts", "kik", _CATALAN, by_text=False),
    "luo": HtsVoice("cmu_us_slt_arctic_hts", "luo", {**ENGLISH, "*": ("r",)}, by_text=True),
}


def _phones(voice: HtsVoice, unit: str) -> list[str] | None:
    if unit == "N" and voice.language == "kik":
        return None  # [n] stands in before g only; ng' on its own would be a wrong sound
    phones: list[str] = []
    for sound in ATOMS.get(unit, (unit.rstrip(":"),)):
        borrowed = KIKUYU_BORROWED.get(sound, (sound,))[0]
        found = voice.sounds.get(sound) or voice.sounds.get(borrowed)
        if found is None:
            return None
        phones.extend(found)
    return phones


def _syllables(voice: HtsVoice, word: str) -> str | None:
    """Returns one syllable per vowel, with the consonants before it: ((n i1) 0) ((k a1) 1)."""
    sounds = word_sounds(word, voice.language, Accent())
    prominent = stressed(sounds, voice.language)
    syllables, onset = [], []
    for i, (unit, is_vowel) in enumerate(sounds):
        phones = _phones(voice, unit)
        if phones is None:
            return None
        if not is_vowel:
            onset += phones
            continue
        syllables.append([onset + phones, int(i == prominent)])
        if unit.endswith(":"):
            syllables.append([phones, 0])
        onset = []
    if not syllables:
        return None
    syllables[-1][0] += onset
    return " ".join(f"(({' '.join(phones)}) {stress})" for phones, stress in syllables)


def hts_phrase(text: str, voice: HtsVoice) -> tuple[str, str] | None:
    """Returns (spoken text, Festival input) without the words that need a sound the voice lacks."""
    said, entries, names = [], [], []
    for words, _ in clauses(text):
        for word in words:
            syllables = _syllables(voice, word)
            if syllables is None:
                continue
            name = "kk" + "".join(chr(97 + int(digit)) for digit in str(len(names)))
            entries.append(f'(lex.add.entry \'("{name}" nil ({syllables})))')
            names.append(name)
            said.append(word)
    if len(said) < 2:
        return None
    return " ".join(said), f"(begin {' '.join(entries)} {voice.utterance(names)})"
