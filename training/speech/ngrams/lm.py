"""Estimates an n-gram language model and writes it as an ARPA file.

  python -m speech.ngrams.lm --sentences DIR --language kik --order 6 --out kik.arpa
  python -m speech.ngrams.lm --text corpus.txt --unit word --order 3 --out luo.arpa --exclude DIR

--sentences takes the lists of `sentences.py` without their development and test sentences. --text
takes a file with a sentence per line. --exclude takes files or folders of evaluation texts; no
line that contains one of their sentences is counted. Character models write ▁ for the space
between words. --binary writes KenLM's probing format as well, which loads faster; the engine reads
both. --leave-out takes sources of the lists, whose sentences are then not counted: it shows what to
expect of text about other things. --forbid-read-back fails if a sentence can be read back out of
the model (`read_back.py`).
"""

import argparse
from collections.abc import Iterable
from pathlib import Path

from ..text.normaliser import normalise
from ..text.sentences import sources, split_sentences
from .kenlm_binary import write_binary
from .kneser_ney import BEGIN, END, Model, estimate
from .read_back import readable

SPACE = "▁"
FIRST_WORD = 0x10000
DEFAULT_ORDER = {"character": 6, "word": 3}


def evaluation_texts(paths: Iterable[Path]) -> set[str]:
    """The normalised sentences of files, or of all .txt files below folders."""
    texts = set()
    for path in paths:
        files = sorted(path.rglob("*.txt")) if path.is_dir() else [path]
        for file in files:
            texts |= {normalise(line) for line in file.read_text(encoding="utf-8").splitlines()}
    return texts - {""}


def without(texts: Iterable[str], excluded: set[str]) -> list[str]:
    """Drops texts that contain an excluded sentence, whole words only."""
    by_first: dict[str, list[str]] = {}
    for sentence in excluded:
        by_first.setdefault(sentence.split()[0], []).append(f" {sentence} ")

    def is_clean(text: str) -> bool:
        padded = f" {text} "
        return not any(s in padded for word in set(text.split()) for s in by_first.get(word, ()))

    return [text for text in texts if is_clean(text)]


def training_texts(folder: Path, language: str, leave_out: Iterable[str] = ()) -> list[str]:
    """The lists' sentences for training. Development and test sentences stay out."""
    split = split_sentences(folder)[language]
    source_of, left_out = sources(folder, language), set(leave_out)
    held_out = {normalise(text, language) for text in [*split.dev, *split.test]} - {""}
    texts = [
        normalise(text, language)
        for text in split.train
        if source_of[normalise(text)] not in left_out
    ]
    return without(texts, held_out)


def _encode(texts: list[str], unit: str) -> tuple[list[str], dict[str, str]]:
    """Sentences with one character per token, and the name of each character."""
    if unit == "character":
        letters = {c for text in texts for c in text}
        names = {c: SPACE if c == " " else c for c in letters}
        return texts, names
    ids: dict[str, str] = {}
    sentences = [
        "".join(ids.setdefault(word, chr(FIRST_WORD + len(ids))) for word in text.split())
        for text in texts
    ]
    return sentences, {character: word for word, character in ids.items()}


def write_arpa(model: Model, names: dict[str, str], out: Path) -> None:
    with out.open("w", encoding="utf-8") as file:
        file.write("\\data\\\n")
        for n, level in enumerate(model.probabilities, start=1):
            file.write(f"ngram {n}={len(level) + (n == 1)}\n")
        for n, level in enumerate(model.probabilities, start=1):
            file.write(f"\n\\{n}-grams:\n")
            if n == 1:
                file.write(f"{model.unknown:.7g}\t<unk>\t0\n")
            backoffs = model.backoffs[n - 1] if n <= len(model.backoffs) else None
            for ngram in sorted(level):
                words = " ".join(names[token] for token in ngram)
                file.write(f"{level[ngram]:.7g}\t{words}")
                file.write("\n" if backoffs is None else f"\t{backoffs[ngram]:.7g}\n")
        file.write("\n\\end\\\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--sentences", type=Path)
    source.add_argument("--text", type=Path)
    parser.add_argument("--language", choices=["kik", "luo"], required=True)
    parser.add_argument("--unit", choices=["character", "word"], default="character")
    parser.add_argument("--order", type=int)
    parser.add_argument("--cut-off", type=int, default=0, help="prunes rarer n-grams, order 3 up")
    parser.add_argument("--exclude", type=Path, nargs="*", default=[])
    parser.add_argument("--leave-out", nargs="*", default=[], metavar="SOURCE")
    parser.add_argument("--forbid-read-back", action="store_true")
    parser.add_argument("--binary", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    order = options.order or DEFAULT_ORDER[options.unit]
    if not 2 <= order <= 10:
        parser.error("--order must be 2 to 10")
    if options.sentences:
        texts = training_texts(options.sentences, options.language, options.leave_out)
    else:
        lines = options.text.read_text(encoding="utf-8").splitlines()
        texts = [normalise(line, options.language) for line in lines]
    texts = without((text for text in texts if text), evaluation_texts(options.exclude))
    if not texts:
        parser.error("no sentences are left")
    sentences, names = _encode(texts, options.unit)
    model = estimate(sentences, order, [0, 0, *[options.cut_off] * (order - 2)])
    if options.forbid_read_back:
        found = readable(model, texts) if options.unit == "character" else texts
        if found:
            parser.error(f"{len(found):,} sentences can be read back; use a higher --cut-off")
    names = {**names, BEGIN: "<s>", END: "</s>"}
    write_arpa(model, names, options.out)
    if options.binary:
        write_binary(model, names, options.binary)
    sizes = ", ".join(f"{len(level):,}" for level in model.probabilities)
    print(f"{len(texts):,} sentences; n-grams per order: {sizes}", flush=True)


if __name__ == "__main__":
    main()
