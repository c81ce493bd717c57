"""Converts shards to NeMo's format: a .wav per utterance, two manifests and a tokenizer.

  python -m speech.nemo.nemo_data --data DATA --out NEMO [--pieces 512]

Each line of a manifest is {"audio_filepath", "duration", "text", "lang", "target_lang"}; NeMo's
prompt models read the last field. The tokenizer is made from the training text alone.
"""

import argparse
import json
from pathlib import Path

import sentencepiece

from ..data.shards import RATE, Audio, read_rows
from ..synthesis.held_out import write_wave

CODES = {"kik": "ki-KE", "luo": "luo-KE"}


def write_side(data: Path, out: Path, side: str) -> list[str]:
    audio, lines = Audio(data / side), []
    folder = out / "audio" / side
    folder.mkdir(parents=True, exist_ok=True)
    rows = read_rows(data / side)
    for i, row in enumerate(rows):
        path = folder / f"{i:07d}.wav"
        write_wave(path, audio.read(row) * 32768)
        code = CODES[row.language]
        entry = {"audio_filepath": str(path.resolve()), "duration": row.samples / RATE}
        lines.append({**entry, "text": row.text, "lang": code, "target_lang": code})
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    (out / f"{side}.json").write_text(text, encoding="utf-8")
    return [row.text for row in rows]


def write_tokenizer(texts: list[str], folder: Path, pieces: int) -> None:
    """Writes the tokenizer in the layout of NeMo's `tokenizer.dir`."""
    folder.mkdir(parents=True, exist_ok=True)
    corpus = folder / "document.txt"
    corpus.write_text("\n".join(texts), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(folder / "tokenizer"), vocab_size=pieces,
        model_type="bpe", character_coverage=1.0, minloglevel=2,
    )  # fmt: skip
    vocabulary = (folder / "tokenizer.vocab").read_text(encoding="utf-8").splitlines()
    found = [line.split("\t")[0] for line in vocabulary][1:]
    (folder / "vocab.txt").write_text("\n".join(f"##{p}" for p in found), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="shards of speech.data.corpus")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--pieces", type=int, default=512, help="word pieces of the tokenizer")
    options = parser.parse_args()
    texts = write_side(options.data, options.out, "train")
    write_side(options.data, options.out, "dev")
    write_tokenizer(texts, options.out / "tokenizer", options.pieces)
    print(f"{len(texts)} utterances for training in {options.out}")


if __name__ == "__main__":
    main()
