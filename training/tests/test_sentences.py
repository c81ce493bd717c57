import random

from speech.text.normaliser import normalise
from speech.text.sentences import DEV, TEST, cut, invented, split_sentences


def lists(folder, count=400):
    """Sentences of three clauses, each long enough to be cut, with two words of their own."""
    for name, word in (("kik_sentences.tsv", "mwana"), ("luo_sentences.tsv", "nyathi")):
        lines = []
        for i in range(count):
            own = [letters[i % 10] * (1 + i // 10) for letters in ("abcdefghij", "klmnopqrst")]
            lines.append(f"own\tna {word} {own[0]} ni wega, {word} {own[1]} na riu, {word} tene")
        (folder / name).write_text("\n".join(lines), encoding="utf-8")


def test_held_out_sentences_are_never_trained_on_and_stay_the_same(tmp_path):
    lists(tmp_path)
    first, second = split_sentences(tmp_path), split_sentences(tmp_path)
    for language in ("kik", "luo"):
        split = first[language]
        assert len(split.test) == TEST and len(split.dev) == DEV
        trained = {normalise(text) for text in split.train}
        assert not trained & {normalise(text) for text in split.dev + split.test}
        assert split == second[language]


def test_all_clauses_of_a_long_sentence_are_on_the_same_side(tmp_path):
    lists(tmp_path)
    split = split_sentences(tmp_path)["kik"]
    marker = {text.split()[2] for text in split.test if text.startswith("na mwana")}
    assert not marker & {word for text in split.train for word in text.split()}


def test_a_long_sentence_is_cut_at_its_punctuation():
    assert cut("moja, mbili, tatu", 13) == ["moja, mbili,", "tatu"]
    assert cut("moja, mbili", 12) == ["moja, mbili"]


def test_invented_text_is_made_of_letters_the_model_writes():
    rng = random.Random(2)
    for _ in range(50):
        text = invented(["Nĩ wega mũno", "gũthoma ibuku"], rng)
        assert text == normalise(text) and len(text.split()) >= 3
