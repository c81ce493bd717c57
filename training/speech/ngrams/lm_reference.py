"""Scores 10,000 sequences with KenLM, which the engine's own reader is tested against.

  python -m speech.ngrams.lm_reference --model words.arpa --out words.f32

Needs `pip install kenlm`, which compiles it. Sequences come from a generator that
core/engine/test/ngram-model.test.ts repeats: one word in eight is unknown.
"""

import argparse
import struct
from pathlib import Path

SEQUENCES = 10_000
UNKNOWN = "xyzzy"


def vocabulary(arpa: Path) -> list[str]:
    lines = arpa.read_text(encoding="utf-8").split("\\1-grams:\n")[1].split("\n\n")[0].splitlines()
    words = [line.split("\t")[1] for line in lines]
    return [word for word in words if not word.startswith("<")]


def sequences(words: list[str]) -> list[list[str]]:
    seed = 1

    def draw(below: int) -> int:
        nonlocal seed
        seed = (seed * 1664525 + 1013904223) % 2**32
        return (seed >> 8) % below

    def word() -> str:
        return UNKNOWN if draw(8) == 0 else words[draw(len(words))]

    return [[word() for _ in range(1 + draw(12))] for _ in range(SEQUENCES)]


def main() -> None:
    import kenlm

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True, help="an ARPA file")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    model = kenlm.Model(str(options.model))
    texts = sequences(vocabulary(options.model))
    scores = [model.score(" ".join(text), bos=True, eos=True) for text in texts]
    options.out.write_bytes(struct.pack(f"<{len(scores)}f", *scores))


if __name__ == "__main__":
    main()
