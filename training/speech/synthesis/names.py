"""Synthesises sentences with rare names for the keyterms of `npm run eval -- --decoding`.

  python -m speech.synthesis.names --out DIR [--sentences 50] [--plain 200]

Writes DIR/names/HALF/NAME.wav and .txt, and HALF/keyterms-LANGUAGE with one name per line. HALF is
design (training voices, to choose the boost on) or judge (other voices and other names, to judge it
on). DIR/plain/HALF has sentences without names, in which every keyterm is a false one. The
templates below make all sentences. Needs numpy, scipy and espeak-ng.
"""

import argparse
import random
from itertools import product
from pathlib import Path

from ..text.phonemes import Accent
from .espeak import Espeak, EspeakVoice
from .held_out import CODES, _write
from .render import HELD_OUT, PLAIN_VARIANTS, TRAIN_BASES, to_16k

NAMES = {
    "kik": (
        "wanjirũ kĩambu mũchiri njoki kamau wambũi gĩthũnguri njũgũna mwangi nyeri waithĩra "
        "kariũki mũrang'a nyokabi gathoni karatina ndũng'ũ wairimũ kĩnyanjui othaya mũthoni "
        "gĩcũhĩ wangarĩ thika mũriũki nyambura kĩhara warũgũrũ ng'ang'a ngũgĩ limuru macharia "
        "waweru kĩriaini wanjikũ gatũndũ mbũgua njeri kabete mũkami"
    ),
    "luo": (
        "otieno achieng ochieng' atieno kisumu omondi akinyi odhiambo adhiambo siaya okoth awuor "
        "bondo onyango anyango ugenya ouma apiyo oginga homabay okello akoth nyando ojwang' migori "
        "auma opiyo rongo odongo adongo oduor awiti karachuonyo owino wasonga ahero obiero akeyo "
        "ndhiwa oloo"
    ),
}
WITH_NAME = {
    "kik": [
        "{} nĩarathiĩ ndũnyũ rũciũ",
        "ndĩrenda kwaria na {} ũmũthĩ",
        "nĩ {} ũrĩma mũgũnda ũyũ",
        "tũkuonana na {} hwaĩ",
        "ĩta {} acoke mũciĩ",
        "ngari ya {} ĩrĩ njĩra",
        "mwana wa {} nĩarathoma",
        "{} na mũtumia nĩmokire ira",
    ],
    "luo": [
        "{} nodhi chiro nyoro",
        "adwaro wuoyo gi {} kawuono",
        "{} ema puro puodho ni",
        "wabiro neno {} kiny",
        "luong {} oduog dala",
        "nyathi {} dhi skul",
        "mar {} ni but nam",
        "{} gi chiege nobiro ka",
    ],
}
WITHOUT_NAME = {
    "kik": (
        ["mũrĩmi", "mwarimũ", "mũtumia ũyũ", "mũthuri wakwa", "mwana", "mũrata waku"],
        ["nĩarathiĩ", "nĩokire", "nĩarenda gũcoka", "ndarĩ", "nĩaraikara"],
        ["mũgũnda", "ndũnyũ", "mũciĩ", "cukuru", "hakuhĩ na rũũĩ"],
        ["ũmũthĩ", "rũciũ", "ira", "hwaĩ mũno"],
    ),
    "luo": (
        ["japur", "japuonj", "dhakono", "wuoro", "nyathi", "osiepni"],
        ["nodhi", "nobiro", "dwaro dok", "onge", "odak"],
        ["puodho", "chiro", "dala", "skul", "but nam"],
        ["kawuono", "kiny", "nyoro", "gokinyi"],
    ),
}
VOICES = {
    "design": (TRAIN_BASES, PLAIN_VARIANTS),
    "judge": (HELD_OUT["bases"], HELD_OUT["variants"]),
}


def halves(language: str) -> dict[str, list[str]]:
    """No name is in both halves."""
    names = NAMES[language].split()
    return {"design": names[::2], "judge": names[1::2]}


def named(language: str, names: list[str], count: int) -> list[str]:
    """Every name about equally often, in different templates."""
    templates = WITH_NAME[language]
    return [
        templates[(i + i // len(names)) % len(templates)].format(names[i % len(names)])
        for i in range(count)
    ]


def plain(language: str, half: str, count: int) -> list[str]:
    """Sentences without a name. No sentence is in both halves."""
    names = set(NAMES[language].split())
    everything = [" ".join(parts) for parts in product(*WITHOUT_NAME[language])]
    texts = [text for text in everything if not names & set(text.split())]
    random.Random(17).shuffle(texts)
    own = texts[::2] if half == "design" else texts[1::2]
    return own[:count]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=50, help="per language and half")
    parser.add_argument("--plain", type=int, default=200, help="per language and half")
    options = parser.parse_args()
    espeak, rng = Espeak(), random.Random(31)
    for language, half in product(CODES, VOICES):
        names = halves(language)[half]
        bases, variants = VOICES[half]
        sets = {
            "names": named(language, names, options.sentences),
            "plain": plain(language, half, options.plain),
        }
        for name, texts in sets.items():
            folder = options.out / name / half
            for i, text in enumerate(texts):
                voice = EspeakVoice(
                    rng.choice(bases), rng.choice(variants), rng.randint(130, 180),
                    rng.randint(20, 80), rng.randint(30, 70),
                )  # fmt: skip
                spoken = espeak.say(text, language, voice, Accent())
                samples = to_16k(spoken, espeak.sample_rate)
                _write(folder, f"{CODES[language]}-{i:03d}", text, samples)
        listed = options.out / "names" / half / f"keyterms-{CODES[language]}"
        listed.write_text("\n".join(names) + "\n", encoding="utf-8")
        print(f"{language} {half}: {len(sets['names'])} with names, {len(sets['plain'])} without")


if __name__ == "__main__":
    main()
