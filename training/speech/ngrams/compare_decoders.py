"""Compares the engine's beam search with pyctcdecode on the same logits and language model.

  node proof/eval/src/decoding.ts --folder DIR --model proof/testing/stand-in --ki ki.arpa \\
    --unit word --alpha 0.5 --beta 1.5 --beam 100 --prune-labels 5 --dump DUMP
  python -m speech.ngrams.compare_decoders --dump DUMP --tokens proof/testing/stand-in/tokens.txt \\
    --lm ki.arpa --alpha 0.5 --beta 1.5 --beam 100

Both take `--unigrams FILE` and `--unk-score-offset=N`. Needs `pip install pyctcdecode kenlm`. Only
word models: pyctcdecode has no others. For each difference it says whether pyctcdecode writes our
text once its decode() keeps texts that differ only in earlier words, or else which of the two texts
has the higher exact score.
"""

import argparse
import json
from collections import Counter
from pathlib import Path

import numpy as np


def labels(tokens: Path) -> list[str]:
    """Label 0 is the blank, which pyctcdecode writes as an empty string."""
    names = [line.rsplit(" ", 1)[0] for line in tokens.read_text("utf-8").splitlines()]
    return ["", *(f"<{i}>" if n.startswith("<") else n or " " for i, n in enumerate(names[1:]))]


def main() -> None:
    from pyctcdecode import build_ctcdecoder

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("dump", "tokens", "lm"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--alpha", type=float, default=0.5)
    parser.add_argument("--beta", type=float, default=1.5)
    parser.add_argument("--beam", type=int, default=100)
    parser.add_argument("--unigrams", type=Path)
    parser.add_argument("--unk-score-offset", type=float, default=-10.0)
    options = parser.parse_args()
    names = labels(options.tokens)
    words = options.unigrams and options.unigrams.read_text("utf-8").split("\n")
    decoder = build_ctcdecoder(
        names, str(options.lm), words, alpha=options.alpha, beta=options.beta,
        unk_score_offset=options.unk_score_offset,
    )  # fmt: skip
    special = [i for i, name in enumerate(names) if name.startswith("<")]
    same, causes = 0, Counter()
    files = sorted(options.dump.glob("*.json"))
    for file in files:
        ours = json.loads(file.read_text("utf-8"))
        logits = np.fromfile(file.with_suffix(".f32"), "<f4").reshape(-1, ours["width"])
        logits[:, special] = -1e4
        text = decoder.decode(logits.astype(np.float64), beam_width=options.beam)
        if text == ours["text"]:
            same += 1
            continue
        scored = {one: total(decoder, logits, one) for one in (text, ours["text"])}
        beams = decoder.decode_beams(logits.astype(np.float64), beam_width=options.beam)
        cause = cause_of(ours["text"], text, beams[0][0], scored)
        causes[cause] += 1
        print(f"{file.stem}: {cause}\n  ours   {scored[ours['text']]:.3f} {ours['text']}")
        print(f"  theirs {scored[text]:.3f} {text}")
    print(f"{len(files)} utterances, the same text in {same} ({100 * same / len(files):.1f} %)")
    for cause, count in causes.most_common():
        print(f"{count} {cause}")


def cause_of(ours: str, theirs: str, unpruned: str, scored: dict[str, float]) -> str:
    if unpruned == ours:
        return "decode() drops texts that differ only in earlier words"
    better = "ours" if scored[ours] > scored[theirs] else "theirs"
    return f"width of the beam: {better} has the higher exact score"


def total(decoder, logits: np.ndarray, text: str) -> float:
    """The exact score of a text: all its alignments (CTC forward) and the language model."""
    scores = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    ids = {name: i for i, name in decoder._idx2vocab.items()}
    states = [0]
    for letter in text:
        states += [ids[letter], 0]
    alpha = np.full(len(states), -np.inf)
    alpha[:2] = scores[0, states[:2]]
    for row in scores[1:]:
        before = np.concatenate([[-np.inf], alpha[:-1]])
        skip = np.concatenate([[-np.inf, -np.inf], alpha[:-2]])
        for i, label in enumerate(states):
            if label == 0 or (i >= 2 and states[i - 2] == label):
                skip[i] = -np.inf
        alpha = np.logaddexp(np.logaddexp(alpha, before), skip) + row[states]
    acoustic = np.logaddexp(alpha[-1], alpha[-2]) if len(alpha) > 1 else alpha[-1]
    model, language = decoder._language_model, 0.0
    state = model.get_start_state()
    words = text.split()
    for i, word in enumerate(words):
        score, state = model.score(state, word, is_last_word=i == len(words) - 1)
        language += score
    return float(acoustic + language)


if __name__ == "__main__":
    main()
