"""Synthesises the training and development speech.  SYNTHETIC SPEECH ONLY.

  python -m speech.synthesis.render --sentences DIR --out DIR --synthesiser espeak [--seed 2]

Another seed gives other texts in other voices; the held-out sentences stay the same. Shards appear
in OUT/train and OUT/dev as they are finished. Voices named in HELD_OUT are never rendered here:
they belong to the evaluation.
"""

import argparse
import multiprocessing
import random
import time
from pathlib import Path

import numpy as np
from scipy.signal import resample_poly

from ..data.shards import RATE, Utterance, write_shard
from ..text.phonemes import Accent
from ..text.sentences import Split, invented, split_sentences
from . import flite
from .espeak import Espeak, EspeakVoice
from .festival import phrase, synthesise
from .festival_voices import DiphoneVoice, diphone_voices

TRAIN_BASES = ["pt-br", "pt", "tr", "az", "te", "smj", "ug"]
PLAIN_VARIANTS = ["m1", "m2", "m3", "m4", "m5", "m6", "f1", "f2", "f3", "f4"]
# named variants: the same synthesiser with other formants and sources
NAMED_VARIANTS = (
    "klatt klatt2 klatt3 klatt4 Andy Annie Diogo Gene Jacky Lee Mario Michael Mike Storm adam "
    "antonio belinda benjamin boris caleb david ed edward grandma grandpa gustave iven john linda "
    "marcelo max michel miguel norbert pablo paul pedro quincy rob robert sandro shelby steph "
    "travis victor zac"
).split()
HELD_OUT = {"bases": ["cv"], "variants": ["m7", "m8", "f5"]}
SHARD_UTTERANCES = 400

Job = tuple[str, str, EspeakVoice, Accent]
_espeak: Espeak | None = None


def to_16k(samples: np.ndarray, rate: int) -> np.ndarray:
    if rate == RATE or not len(samples):
        return samples
    common = np.gcd(RATE, rate)
    wave = resample_poly(samples.astype(np.float32), RATE // common, rate // common)
    return np.clip(np.rint(wave), -32768, 32767).astype(np.int16)


def draw_voice(rng: random.Random, slow: int, fast: int, named: float) -> EspeakVoice:
    variants = NAMED_VARIANTS if rng.random() < named else PLAIN_VARIANTS
    return EspeakVoice(
        rng.choice(TRAIN_BASES),
        rng.choice(variants),
        rng.randint(slow, fast),
        rng.randint(20, 80),
        rng.randint(30, 70),
    )


def training_texts(split: dict[str, Split], rng: random.Random, quick: int | None) -> list:
    """Returns a shuffled list of (language, text), so that any number of shards is well mixed."""
    renders = {"kik": (5, 6000), "luo": (1, 4000)}
    texts = []
    for language, (times, made_up) in renders.items():
        train = split[language].train
        rng.shuffle(train)
        # 24,000 Dholuo texts once, 4,300 Kikuyu ones five times: about as much of each language
        real = train[:24_000] * times
        made = [invented(train, rng) for _ in range(made_up)]
        texts += [(language, text) for text in real + made]
    rng.shuffle(texts)
    return texts[:quick] if quick else texts


def render_espeak(job: Job) -> Utterance:
    global _espeak
    _espeak = _espeak or Espeak()
    language, text, voice, accent = job
    samples = to_16k(_espeak.say(text, language, voice, accent), _espeak.sample_rate)
    return Utterance(language, voice.name, text, samples)


def _shard(work: tuple[Path, str, list[Job]]) -> float:
    folder, name, jobs = work
    return write_shard(folder, name, (render_espeak(job) for job in jobs))


def espeak_work(split: dict[str, Split], out: Path, quick: int | None, seed: int) -> list:
    rng = random.Random(10 * seed + 1)
    dev = [
        (language, text, draw_voice(rng, 130, 180, 0.0), Accent())
        for language in ("kik", "luo")
        for text in split[language].dev[:quick]
    ]
    jobs = [
        (language, text, draw_voice(rng, 115, 200, 0.4), Accent.drawn(rng))
        for language, text in training_texts(split, rng, quick)
    ]
    work = [(out / "dev", "espeak", dev)]
    for i in range(0, len(jobs), SHARD_UTTERANCES):
        name = f"espeak-{i // SHARD_UTTERANCES:04d}"
        work.append((out / "train", name, jobs[i : i + SHARD_UTTERANCES]))
    return work


def _festival_shard(work: tuple[Path, str, str, DiphoneVoice, list[str]]) -> float:
    folder, name, language, voice, texts = work
    rng = random.Random(name)
    made = [phrase(text, language, voice, Accent.drawn(rng), rng) for text in texts]
    sayable = [p for p in made if p is not None]
    waves = synthesise(voice.name, [p[1] for p in sayable])
    label = f"festival-{voice.family}:{voice.name}"
    return write_shard(
        folder,
        name,
        (
            Utterance(language, label, said, to_16k(samples, rate))
            for (said, _), (samples, rate) in zip(sayable, waves, strict=True)
        ),
    )


def festival_work(split: dict[str, Split], out: Path, quick: int | None, seed: int) -> list:
    """Assigns texts to voices. Only four voices have Kikuyu's seven vowels, so each gets more."""
    each = {"kik": 4000, "luo": 1600}
    rng, work = random.Random(10 * seed + 2), []
    for voice in diphone_voices():
        for language in voice.languages:
            train = split[language].train
            texts = rng.choices(train, k=each[language] * 3 // 4)
            texts += [invented(train, rng) for _ in range(each[language] // 4)]
            for i in range(0, len(texts), SHARD_UTTERANCES):
                part = texts[i : i + SHARD_UTTERANCES][:quick]
                name = f"festival-{voice.name}-{language}-{i // SHARD_UTTERANCES:02d}"
                work.append((out / "train", name, language, voice, part))
            dev = split[language].dev[: min(20, quick or 20)]
            work.append((out / "dev", f"festival-{voice.name}-{language}", language, voice, dev))
    rng.shuffle(work)
    return work[:quick] if quick else work


def _flite_shard(work: tuple[Path, str, str, str, list[str]]) -> float:
    folder, name, language, voice, texts = work
    rng = random.Random(name)

    def spoken(text: str) -> Utterance:
        samples, rate = flite.say(voice, flite.phones(text, language, Accent.drawn(rng)), rng)
        return Utterance(language, f"flite:{voice}", text, to_16k(samples, rate))

    return write_shard(folder, name, (spoken(text) for text in texts))


def flite_work(split: dict[str, Split], out: Path, quick: int | None, seed: int) -> list:
    rng, work = random.Random(10 * seed + 3), []
    for voice in flite.VOICES:
        for language in ("kik", "luo"):
            train = split[language].train
            for i in range(5):
                texts = rng.choices(train, k=300) + [invented(train, rng) for _ in range(100)]
                name = f"flite-{voice}-{language}-{i:02d}"
                work.append((out / "train", name, language, voice, texts[:quick]))
            dev = split[language].dev[: min(20, quick or 20)]
            work.append((out / "dev", f"flite-{voice}-{language}", language, voice, dev))
    rng.shuffle(work)
    return work[:quick] if quick else work


SYNTHESISERS = {
    "espeak": (espeak_work, _shard),
    "festival": (festival_work, _festival_shard),
    "flite": (flite_work, _flite_shard),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sentences", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--synthesiser", choices=SYNTHESISERS, default="espeak")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1, help="seed for texts and voices")
    parser.add_argument("--quick", type=int, help="number of utterances, for a quick trial")
    options = parser.parse_args()
    plan, shard = SYNTHESISERS[options.synthesiser]
    work = plan(split_sentences(options.sentences), options.out, options.quick, options.seed)
    started, hours = time.monotonic(), 0.0
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        for done, written in enumerate(pool.imap_unordered(shard, work), 1):
            hours += written
            speed = hours * 3600 / (time.monotonic() - started)
            print(f"{done}/{len(work)} shards, {hours:.2f} h, {speed:.0f} x real time", flush=True)


if __name__ == "__main__":
    main()
