import pytest

from speech.synthesis import names


@pytest.mark.parametrize("language", ["kik", "luo"])
def test_no_name_and_no_sentence_is_in_both_halves(language):
    halves = names.halves(language)
    assert not set(halves["design"]) & set(halves["judge"])
    assert len(halves["design"]) + len(halves["judge"]) == 40
    design, judge = (set(names.plain(language, half, 200)) for half in ("design", "judge"))
    assert len(design) == len(judge) == 200
    assert not design & judge


@pytest.mark.parametrize("language", ["kik", "luo"])
def test_sentences_have_one_name_of_their_half_or_none(language):
    everyone = set(names.NAMES[language].split())
    for own in names.halves(language).values():
        texts = names.named(language, own, 50)
        assert len(set(texts)) == 50
        found = [everyone & set(text.split()) for text in texts]
        assert all(len(each) == 1 and each <= set(own) for each in found)
        assert set().union(*found) == set(own)
    for half in names.VOICES:
        assert not any(everyone & set(text.split()) for text in names.plain(language, half, 300))
