import math
import struct
from itertools import product

import pytest
from test_sentences import lists

from speech.ngrams import lm
from speech.ngrams.kenlm_binary import murmur_hash, ngram_key, write_binary
from speech.ngrams.kneser_ney import BEGIN, END, FALLBACK, count, estimate
from speech.ngrams.read_back import probability, readable
from speech.text.normaliser import normalise
from speech.text.sentences import sources, split_sentences

TEXT = ["aba", "abba", "ab", "ba", "abab", "bab", "aab", "b", "abbb", "baa"]


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


SECRET = "the answer is forty two and nobody else may know it"
COMMON = ["the weather is fine today", "the answer may be no", "is it nobody", "may it be fine"]


def test_a_sentence_can_be_read_back_from_a_model_with_every_ngram_but_not_above_a_cut_off():
    assert readable(estimate([SECRET], 6, [0] * 6), [SECRET]) == [SECRET]
    texts = [SECRET, *COMMON * 4]
    assert readable(estimate(texts, 6, [0, 0, 2, 2, 2, 2]), [SECRET]) == []


def test_a_model_from_which_sentences_can_be_read_back_is_not_written(tmp_path, monkeypatch):
    text, out = tmp_path / "text.txt", tmp_path / "out.arpa"
    text.write_text("ciana nĩ njega mũno gũkũ\n", encoding="utf-8")
    args = ["--text", text, "--language", "kik", "--order", 6, "--out", out, "--forbid-read-back"]
    monkeypatch.setattr("sys.argv", ["lm", *map(str, args)])
    with pytest.raises(SystemExit):
        lm.main()
    assert not out.exists()


def test_sentences_of_a_source_that_is_left_out_are_not_counted(tmp_path):
    lists(tmp_path)
    path = tmp_path / "kik_sentences.tsv"
    lines = path.read_text(encoding="utf-8").splitlines()
    tagged = [line.replace("own", f"source{i % 2}", 1) for i, line in enumerate(lines)]
    path.write_text("\n".join(tagged), encoding="utf-8")
    source_of = sources(tmp_path, "kik")
    everything = lm.training_texts(tmp_path, "kik")
    present = {source_of[text] for text in everything}
    assert present == {"source0", "source1"}
    one = "source0"
    rest = lm.training_texts(tmp_path, "kik", [one])
    assert {source_of[text] for text in rest} == present - {one}
    assert set(rest) <= set(everything)


def test_the_binary_has_every_ngram_with_its_values_in_its_chain_of_buckets(tmp_path):
    model = estimate(TEXT, 3, [0, 0, 0])
    names = {"a": "a", "b": "b", BEGIN: "<s>", END: "</s>"}
    write_binary(model, names, tmp_path / "lm.bin")
    data = (tmp_path / "lm.bin").read_bytes()
    counts = struct.unpack_from("<3Q", data, 108)
    assert counts == (5, len(model.probabilities[1]), len(model.probabilities[2]))
    ids = {token: at + 1 for at, token in enumerate(sorted(names))}
    at = 108 + 24 + 4 + 8  # the header is aligned to 8, then version and bound of the vocabulary

    def find(start, size, buckets, key):
        bucket = key % buckets
        while (found := struct.unpack_from("<Q", data, start + bucket * size)[0]) != key:
            assert found != 0
            bucket = (bucket + 1) % buckets
        return start + bucket * size + 8

    buckets = [max(n + 1, int(1.25 * n)) for n in counts]
    for token, name in names.items():
        where = find(at, 12, buckets[0], murmur_hash(name.encode()))
        assert struct.unpack_from("<I", data, where) == (ids[token],)
    at += 12 * buckets[0] + 8 * (counts[0] + 1)
    for n, size in ((1, 16), (2, 12)):
        for ngram, log10 in model.probabilities[n].items():
            where = find(at, size, buckets[n], ngram_key([ids[token] for token in ngram]))
            assert math.isclose(struct.unpack_from("<f", data, where)[0], log10, abs_tol=1e-6)
        at += size * buckets[n]
    assert data[at:].split(b"\0")[0] == b"<unk>"


def test_words_have_the_hashes_of_the_engine():
    # core/engine/test/ngram-model.test.ts has the same.
    assert murmur_hash(b"") == 0
    assert murmur_hash(b"a") == 0x071717D2D36B6B11
    assert murmur_hash(b"mbembe") == 0x81433640A2AE74E0
