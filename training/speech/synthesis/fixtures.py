"""Synthesises the project's own sentences, sentences.tsv, as NAME.wav and NAME.txt.

python -m speech.synthesis.fixtures ../core/models/fixtures
"""

import sys
import wave
from pathlib import Path

from ..data.shards import RATE, trim
from ..text.phonemes import Accent
from .espeak import Espeak, EspeakVoice
from .render import to_16k


def main() -> None:
    folder = Path(sys.argv[1])
    espeak = Espeak()
    for line in (folder / "sentences.tsv").read_text(encoding="utf-8").splitlines():
        name, language, voice, text = line.split("\t")
        spoken = espeak.say(text, language, EspeakVoice(*voice.split("+")), Accent())
        with wave.open(str(folder / f"{name}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(trim(to_16k(spoken, espeak.sample_rate)).astype("<i2").tobytes())
        (folder / f"{name}.txt").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
