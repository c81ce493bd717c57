"""Synthesises recordings to rehearse labelling and fine-tuning.  SYNTHETIC SPEECH ONLY.

  python -m speech.synthesis.rehearsal --language luo --out DIR [--recordings 2400]

DIR/audio has recordings for `svc-models label`. DIR/held-out has other sentences by other speakers,
to judge the student on. Each folder has NAME.wav, NAME.txt and speakers.tsv; labelling ignores the
texts. The sentences are random words of speech.text.vocabulary. Needs numpy, scipy and espeak-ng.
"""

import argparse
import random
from pathlib import Path

from ..text.phonemes import Accent
from ..text.vocabulary import sentence
from .espeak import EspeakVoice
from .held_out import CODES, _write
from .render import HELD_OUT, PLAIN_VARIANTS, render_espeak

BASES = ["pt-br", "tr"]  # those of speech.stand_ins.offline_ctc, the teacher
HELD_OUT_RECORDINGS = 120


def sentences(language: str, counts: list[int], rng: random.Random) -> list[list[str]]:
    """Returns a list for each count. No sentence occurs twice."""
    drawn: dict[str, None] = {}
    while len(drawn) < sum(counts):
        drawn.setdefault(sentence(language, rng))
    texts = iter(drawn)
    return [[next(texts) for _ in range(count)] for count in counts]


def render(folder: Path, texts: list[str], variants: list[str], language: str, seed: int) -> None:
    rng, speakers = random.Random(seed), []
    for i, text in enumerate(texts):
        base, variant = rng.choice(BASES), rng.choice(variants)
        voice = EspeakVoice(base, variant, rng.randint(130, 170), rng.randint(35, 65))
        name = f"{CODES[language]}-{i:05d}"
        _write(folder, name, text, render_espeak((language, text, voice, Accent())).samples)
        speakers.append(f"{name}\t{base}-{variant}\n")
    (folder / "speakers.tsv").write_text("".join(speakers), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--language", choices=CODES, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--recordings", type=int, default=2400, help="recordings to label")
    options = parser.parse_args()
    counts = [options.recordings, HELD_OUT_RECORDINGS]
    own, held_out = sentences(options.language, counts, random.Random(41))
    render(options.out / "audio", own, PLAIN_VARIANTS, options.language, 42)
    render(options.out / "held-out", held_out, HELD_OUT["variants"], options.language, 43)
    print(f"{len(own)} recordings to label, {len(held_out)} held out in {options.out}")


if __name__ == "__main__":
    main()
