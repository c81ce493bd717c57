"""Synthesises the held-out sentences for `npm run eval`: OUT/SET/NAME.wav and .txt.

  python -m speech.synthesis.held_out --sentences DIR --out DIR [--limit 200]
  python -m speech.synthesis.held_out --texts DIR --out DIR   (lines of DIR/kik.txt and DIR/luo.txt)

Sets: seen (training voices), unseen (a held-out espeak language and speakers), festival (held-out
Festival voices). NAME starts with the language, ki- or luo-. OUT/sources.tsv has the source of each
sentence.
Needs numpy, scipy, espeak-ng and Festival with festvox-ca-ona-hts and festvox-us-slt-hts.
"""

import argparse
import random
import shutil
import wave
from pathlib import Path

import numpy as np

from ..data.shards import RATE, trim
from ..text.normaliser import normalise
from ..text.phonemes import Accent
from ..text.sentences import sources, split_sentences
from .espeak import Espeak, EspeakVoice
from .festival import synthesise
from .festival_hts import HTS_VOICES, hts_phrase
from .render import HELD_OUT, PLAIN_VARIANTS, TRAIN_BASES, to_16k

CODES = {"kik": "ki", "luo": "luo"}


def write_wave(path: Path, samples: np.ndarray) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(samples.astype("<i2").tobytes())


def _write(folder: Path, name: str, text: str, samples: np.ndarray) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_wave(folder / f"{name}.wav", trim(samples))
    (folder / f"{name}.txt").write_text(normalise(text) + "\n", encoding="utf-8")


def render_espeak_sets(texts: dict[str, list[str]], out: Path) -> None:
    espeak, rng = Espeak(), random.Random(21)
    voices = {
        "seen": (TRAIN_BASES, PLAIN_VARIANTS),
        "unseen": (HELD_OUT["bases"], HELD_OUT["variants"]),
    }
    for language, sentences in texts.items():
        for i, text in enumerate(sentences):
            for name, (bases, variants) in voices.items():
                voice = EspeakVoice(
                    rng.choice(bases), rng.choice(variants), rng.randint(130, 180),
                    rng.randint(20, 80), rng.randint(30, 70),
                )  # fmt: skip
                spoken = espeak.say(text, language, voice, Accent())
                samples = to_16k(spoken, espeak.sample_rate)
                _write(out / name, f"{CODES[language]}-{i:03d}", text, samples)


def render_festival_set(texts: dict[str, list[str]], out: Path) -> None:
    for language, sentences in texts.items():
        voice = HTS_VOICES[language]
        made = [phrase for text in sentences if (phrase := hts_phrase(text, voice)) is not None]
        waves = synthesise(voice.name, [scheme for _, scheme in made])
        for i, ((said, _), (samples, rate)) in enumerate(zip(made, waves, strict=True)):
            if len(samples) > RATE // 2:
                name = f"{CODES[language]}-{i:03d}"
                _write(out / "festival", name, said, to_16k(samples, rate))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--sentences", type=Path)
    source.add_argument("--texts", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=200, help="sentences per language")
    options = parser.parse_args()
    if options.texts is not None:
        files = {language: options.texts / f"{language}.txt" for language in CODES}
        texts = {name: file.read_text("utf-8").splitlines() for name, file in files.items()}
    else:
        split = split_sentences(options.sentences)
        texts = {language: split[language].test[: options.limit] for language in CODES}
    render_espeak_sets(texts, options.out)
    if shutil.which("festival"):
        render_festival_set(texts, options.out)
    if options.sentences is not None:
        write_sources(options.sentences, texts, options.out)
    for folder in sorted(p for p in options.out.iterdir() if p.is_dir()):
        print(f"{folder.name}: {len(list(folder.glob('*.wav')))} utterances", flush=True)


def write_sources(folder: Path, texts: dict[str, list[str]], out: Path) -> None:
    source_of = {language: sources(folder, language) for language in CODES}
    lines = [
        f"{CODES[language]}-{i:03d}\t{source_of[language][normalise(text)]}\n"
        for language, sentences in texts.items()
        for i, text in enumerate(sentences)
    ]
    (out / "sources.tsv").write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
