import random

import pytest

from speech.synthesis.espeak import espeak_input
from speech.synthesis.festival import phrase
from speech.synthesis.festival_voices import DiphoneVoice
from speech.synthesis.flite import phones
from speech.text.phonemes import Accent, stressed, word_sounds


def sounds(word, language, **accent):
    return [sound for sound, _ in word_sounds(word, language, Accent(**accent))]


def test_letters_have_the_sounds_of_their_language():
    assert sounds("mũthee", "kik") == ["m", "o", "D", "E:"]
    assert sounds("ng'ombe", "kik") == ["N", "O", "mb", "E"]
    assert sounds("thuol", "luo", harmony="+") == ["T", "u", "o", "l"]
    assert sounds("thuol", "luo", harmony="-") == ["T", "U", "O", "l"]
    assert sounds("caa", "kik", kikuyu_c="tS") == ["tS", "a:"]


def test_a_word_keeps_its_harmony_until_another_speaker_comes():
    words = ["dhako", "piny", "chiemo", "rech", "yien", "nyathi", "loch", "kendo"]
    first, again, other = (
        [sounds(word, "luo", salt=salt) for word in words] for salt in ("", "", "x")
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("word", "language", "at"), [("mwana", "kik", 2), ("nyathi", "luo", 1), ("puonj", "luo", 2)]
)
def test_the_last_but_one_vowel_stands_out_or_the_last_before_a_consonant(word, language, at):
    assert stressed(word_sounds(word, language, Accent()), language) == at


def test_espeak_gets_clauses_with_their_marks_and_apart_sounds():
    assert espeak_input("Wega, mũno.", "kik", Accent()) == "[[w'EQa]], [[m'onO]]."


@pytest.fixture
def voice(tmp_path):
    """Returns a voice with m, a, n, i and every transition among them."""
    names = ["#", "m", "a", "n", "i"]
    pairs = [f"{a}-{b}" for a in names for b in names]
    head = f"EST_File\nNumEntries {len(pairs)}\nEST_Header_End\n"
    group = tmp_path / "own.group"
    group.write_text(head + "".join(f"{pair} 1 2\n" for pair in pairs) + "binary", "latin-1")
    own = {name: (name,) for name in names[1:]}
    return DiphoneVoice("own", "own", group, own, ("kik",), (100, 120))


def test_a_word_with_a_sound_that_the_voice_lacks_is_left_out_of_what_is_said(voice):
    said, scheme = phrase("mama kana nini mani", "kik", voice, Accent(), random.Random(1))
    assert said == "mama nini mani"
    assert "(k " not in scheme and scheme.count("(m ") == 3
    assert phrase("kaka koko", "kik", voice, Accent(), random.Random(1)) is None


def test_flite_gets_phones_between_pauses():
    assert phones("ber, ahinya", "luo", Accent(harmony="+")) == (
        "pau b ey r pau aa hh iy n y aa pau"
    )
