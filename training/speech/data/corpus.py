"""Converts recordings to shards: a manifest of audio and text -> OUT/train and OUT/dev.

  python -m speech.data.corpus --manifest clips.tsv --language luo --name commonvoice --out DATA

The manifest is a .tsv with a header that names at least `path` and `sentence` (such as
validated.tsv of Common Voice) and optionally `client_id` or `speaker`, or a NeMo manifest (.json),
such as labels.json of `svc-models label`; lines with "check": true wait for a person and are
skipped. Paths are relative to --audio. ffmpeg reads the audio, so any format and rate works. Text
is normalised. Lines are skipped and counted if their text is empty or has digits, or if their audio
is unreadable, too short or too long. Sentences in the dev share, chosen by hash, are never trained
on.
"""

import argparse
import csv
import hashlib
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..text.normaliser import LANGUAGES, normalise
from .shards import RATE, Utterance, write_shard

SHARD_UTTERANCES = 400
LIMITS_S = (0.8, 20.0)
SPEAKER_COLUMNS = ("speaker", "client_id", "speaker_id")
LANGUAGE_CODES = {"ki-KE": "kik", "luo-KE": "luo"}


@dataclass(frozen=True)
class Line:
    path: Path
    text: str
    speaker: str


def read_nemo(path: Path, audio: Path, language: str, dropped: Counter) -> list[Line]:
    """Lines of a NeMo manifest in this language. Those that a person should check are left out."""
    lines = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        row = json.loads(line)
        missing = {"audio_filepath", "text"} - set(row)
        if missing:
            raise ValueError(f"{path}:{number} has no {' and no '.join(sorted(missing))}")
        if LANGUAGE_CODES.get(row.get("lang"), language) != language:
            continue
        text = normalise(row["text"], language)
        if row.get("check"):
            dropped["unchecked"] += 1
        elif not text or re.search(r"\d", row["text"]):
            dropped["text"] += 1
        else:
            speaker = str(row.get("speaker") or "unknown")
            lines.append(Line(audio / row["audio_filepath"], text, speaker[:12]))
    return lines


def read_manifest(path: Path, audio: Path, language: str, dropped: Counter) -> list[Line]:
    if path.suffix in (".json", ".jsonl"):
        return read_nemo(path, audio, language, dropped)
    lines = []
    with open(path, encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        missing = {"path", "sentence"} - set(reader.fieldnames or [])
        if missing:
            raise ValueError(f"{path} has no column {' and no column '.join(sorted(missing))}")
        for row in reader:
            text = normalise(row["sentence"] or "", language)
            if not text or re.search(r"\d", row["sentence"]):
                dropped["text"] += 1
                continue
            speaker = next((row[c] for c in SPEAKER_COLUMNS if row.get(c)), "unknown")
            lines.append(Line(audio / row["path"], text, speaker[:12]))
    return lines


def read_audio(path: Path) -> np.ndarray:
    """Returns int16 samples at 16 kHz, empty if ffmpeg cannot read the file."""
    command = ["ffmpeg", "-v", "error", "-i", str(path), "-f", "s16le", "-ac", "1"]
    done = subprocess.run([*command, "-ar", str(RATE), "-"], capture_output=True, check=False)
    return np.frombuffer(done.stdout if done.returncode == 0 else b"", "<i2")


def in_dev(text: str, share: float) -> bool:
    return int(hashlib.md5(text.encode()).hexdigest()[:8], 16) < share * 2**32


def utterances(
    lines: list[Line], language: str, name: str, dropped: Counter
) -> Iterator[Utterance]:
    for line in lines:
        samples = read_audio(line.path)
        if not LIMITS_S[0] * RATE <= len(samples) <= LIMITS_S[1] * RATE:
            dropped["audio"] += 1
            continue
        yield Utterance(language, f"{name}:{line.speaker}", line.text, samples)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--manifest", type=Path, required=True)
    parser.add_argument(
        "--audio", type=Path, help="base folder of the paths (default: the manifest's folder)"
    )
    parser.add_argument("--language", choices=LANGUAGES, required=True)
    parser.add_argument("--name", required=True, help="name of the corpus, sampled as one source")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--dev-share", type=float, default=0.02)
    options = parser.parse_args()
    dropped: Counter = Counter()
    audio = options.audio or options.manifest.parent
    lines = read_manifest(options.manifest, audio, options.language, dropped)
    sides = {"dev": [], "train": []}
    for line in lines:
        sides["dev" if in_dev(line.text, options.dev_share) else "train"].append(line)
    for side, some in sides.items():
        hours = 0.0
        for i in range(0, len(some), SHARD_UTTERANCES):
            name = f"{options.name}-{options.language}-{i // SHARD_UTTERANCES:05d}"
            part = some[i : i + SHARD_UTTERANCES]
            spoken = utterances(part, options.language, options.name, dropped)
            hours += write_shard(options.out / side, name, spoken, *LIMITS_S)
        print(f"{side}: {len(some)} lines, {hours:.2f} h", flush=True)
    print(f"skipped: {dropped['text']} for their text, {dropped['audio']} for their audio")
    if dropped["unchecked"]:
        print(f"{dropped['unchecked']} lines wait to be checked by a person")


if __name__ == "__main__":
    main()
