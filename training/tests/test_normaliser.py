import pytest

from speech.text.normaliser import fold, normalise, undo_double_encoding, without_tilde

KIKUYU = "Nĩ wega mũno, ũrĩ mwega?"


@pytest.mark.parametrize("codec", ["cp1252", "latin-1"])
@pytest.mark.parametrize("times", [1, 2])
def test_utf8_read_in_another_encoding_is_undone(codec, times):
    damaged = KIKUYU
    for _ in range(times):
        damaged = damaged.encode().decode(codec, errors="strict")
    assert damaged != KIKUYU
    assert undo_double_encoding(damaged) == KIKUYU
    assert normalise(damaged) == "nĩ wega mũno ũrĩ mwega"


def test_sound_text_is_left_alone():
    for text in (KIKUYU, "Ber ahinya", "Ä", "café â là", ""):
        assert undo_double_encoding(text) == text


@pytest.mark.parametrize(
    "written", ["mũno", "mūno", "mûno", "mŭno", "mῦno", "mu\u0303no", "mu~no", "MŨNO", "MU\u0303NO"]
)
def test_every_look_alike_of_the_tilde_is_one_letter(written):
    assert normalise(written) == "mũno"


@pytest.mark.parametrize("mark", ["'", "’", "‘", "ʼ", "ʻ", "`", "´", "′", "ꞌ"])
def test_every_apostrophe_of_ng_is_one_sign(mark):
    assert normalise(f"ng{mark}ato") == "ng'ato"
    assert normalise(f"ng{mark}ombe") == "ng'ombe"


def test_an_apostrophe_elsewhere_is_dropped():
    assert normalise("'wuod' ma'ber") == "wuod maber"


def test_lost_apostrophes_come_back_only_in_words_that_cannot_be_without():
    assert normalise("mangeny kuom ngato", "luo") == "mang'eny kuom ng'ato"
    assert normalise("ngima mar ngware", "luo") == "ngima mar ngware"
    assert normalise("ngato", "kik") == "ngato"


def test_punctuation_digits_and_hyphens_leave_words():
    assert normalise("Nyar-gi, (ne) odhi; 3!") == "nyargi ne odhi"
    assert fold("Nyar-gi,") == "nyar-gi,"


def test_normalising_twice_changes_nothing():
    for text in (KIKUYU, "Ng’ato mang'eny", "mu~no"):
        assert normalise(normalise(text, "luo"), "luo") == normalise(text, "luo")


def test_the_second_error_figure_ignores_the_tilde():
    assert without_tilde("nĩ mũno") == "ni muno"
