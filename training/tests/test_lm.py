import math
from itertools import product

import pytest
from test_sentences import lists

from speech import lm
from speech.kneser_ney import BEGIN, END, FALLBACK, count, estimate
from speech.normaliser import normalise
from speech.sentences import split_sentences

TEXT = ["aba", "abba", "ab", "ba", "abab", "bab", "aab", "b", "abbb", "baa"]


def probability(model, context, token):
    """The backoff formula of ARPA files."""
    ngram = context + token
    if ngram in model.probabilities[len(context)]:
        return model.probabilities[len(context)][ngram]
    if not context:
        return model.unknown
    backoff = model.backoffs[len(context) - 1].get(context, 0.0)
    return backoff + probability(model, context[1:], token)


@pytest.mark.parametrize("cut_offs", [[0, 0, 0], [0, 0, 1], [0, 1, 2]])
def test_the_probabilities_after_every_context_add_up_to_one(cut_offs):
    model = estimate(TEXT, 3, cut_offs)
    contexts = ["", BEGIN, *"ab", *(BEGIN + x for x in "ab"), *map("".join, product("ab", "ab"))]
    for context in contexts:
        known = sum(10 ** probability(model, context, token) for token in ["a", "b", END])
        unknown = 10 ** probability(model, context, "?")
        assert math.isclose(known + unknown, 1, abs_tol=1e-9), context


def test_counts_below_the_highest_order_are_those_of_different_predecessors():
    # "ab" follows BEGIN and b, "ba" follows a and b: both have two, though "ab" is more frequent.
    model = estimate(["ab", "ab", "ab", "bab", "bba", "aba"], 3, [0, 0, 0])
    raw = count(["ab", "ab", "ab", "bab", "bba", "aba"], 3)
    assert raw[1]["ab"] == 5 and raw[1]["ba"] == 3
    # Too little text for discounts of its own: those of lmplz --discount_fallback.
    one, two, three = FALLBACK
    # Three tokens: a follows BEGIN and b, b follows BEGIN, a and b, END follows a and b.
    gamma = (two + three + two) / 7
    assert math.isclose(10**model.unknown, gamma / 4)
    assert math.isclose(10 ** model.probabilities[0]["b"], (3 - three) / 7 + gamma / 4)
    assert 0 < one < two < three


def test_evaluation_sentences_are_never_counted(tmp_path):
    lists(tmp_path)
    split = split_sentences(tmp_path)["kik"]
    texts = [f" {text} " for text in lm.training_texts(tmp_path, "kik")]
    assert texts
    for held_out in [*split.dev, *split.test]:
        assert not any(f" {normalise(held_out)} " in text for text in texts)


def test_a_line_that_contains_a_sentence_of_the_recordings_is_left_out(tmp_path):
    (tmp_path / "recordings").mkdir()
    (tmp_path / "recordings/ki-1.txt").write_text("Nĩ wega mũno.\n", encoding="utf-8")
    excluded = lm.evaluation_texts([tmp_path / "recordings"])
    kept = lm.without(["nĩ wega mũno", "rĩu nĩ wega mũno ũguo", "nĩ wega mũnooo"], excluded)
    assert kept == ["nĩ wega mũnooo"]


@pytest.mark.parametrize("unit", ["character", "word"])
def test_an_arpa_file_names_its_counts_and_pruned_ngrams_are_gone(tmp_path, monkeypatch, unit):
    text, out = tmp_path / "text.txt", tmp_path / "out.arpa"
    text.write_text("ciana nĩ njega\nciana nĩ njega\nmbembe nĩ njega\n", encoding="utf-8")
    args = ["--text", text, "--language", "kik", "--unit", unit, "--order", 3, "--out", out]
    monkeypatch.setattr("sys.argv", ["lm", *map(str, args), "--cut-off", "1"])
    lm.main()
    arpa = out.read_text(encoding="utf-8")
    for n in (1, 2, 3):
        section = arpa.split(f"\\{n}-grams:\n")[1].split("\n\n")[0].splitlines()
        assert f"ngram {n}={len(section)}\n" in arpa
    rare = "<s> mbembe nĩ" if unit == "word" else "<s> m b"
    common = "<s> ciana nĩ" if unit == "word" else "▁ n ĩ"
    assert f"\t{common}\n" in arpa and f"\t{rare}\n" not in arpa
