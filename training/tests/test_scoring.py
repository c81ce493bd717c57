import pytest

from speech.text.scoring import distance, error_rates


@pytest.mark.parametrize(
    "a, b, expected", [("", "", 0), ("abc", "", 3), ("", "ab", 2), ("kitten", "sitting", 3)]
)
def test_distance(a, b, expected):
    assert distance(a, b) == expected
    assert distance(b, a) == expected


def test_error_rates_weigh_by_length_and_count_insertions():
    wer, cer = error_rates([("a b c", "a x c"), ("d", "d e")])
    assert wer == pytest.approx(50.0)
    assert cer == pytest.approx(100 * 3 / 6)
