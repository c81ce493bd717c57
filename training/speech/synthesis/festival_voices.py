"""Which sounds each Festival voice has, in its own phone names.

If a voice lacks a sound, words that need it are left out instead of teaching the model a wrong
sound. Sounds are borrowed only if no other letter uses them: in
Kikuyu [d] stands for th and [b], [g] for their fricatives, because the plain stops are written
only after a nasal.
"""

from dataclasses import dataclass, field
from pathlib import Path

VOICES = Path("/usr/share/festival/voices")

# composite units of phonemes.py taken apart
ATOMS = {
    "n^w": ("n^", "w"), "Ngw": ("N", "g", "w"), "Ng": ("N", "g"), "ndZ": ("n", "dZ"),
    "nd": ("n", "d"), "mb": ("m", "b"), "mbw": ("m", "b", "w"), "ndw": ("n", "d", "w"),
    "ndZw": ("n", "dZ", "w"), "nD": ("n", "D"), "ks": ("k", "s"),
}  # fmt: skip
KIKUYU_BORROWED = {"D": ("d",), "B": ("b",), "Q": ("g",)}


@dataclass(frozen=True)
class DiphoneVoice:
    name: str  # Festival calls it voice_NAME
    family: str
    group: Path  # the file with the recorded diphones
    sounds: dict[str, tuple[str, ...]]
    languages: tuple[str, ...]
    pitch: tuple[int, int]
    silence: str = "#"
    inventory: frozenset[str] = field(init=False)

    def __post_init__(self):
        object.__setattr__(self, "inventory", _inventory(self.group))

    def phones(self, sound: str, language: str) -> tuple[str, ...] | None:
        if sound in self.sounds:
            return self.sounds[sound]
        if language == "kik" and sound in KIKUYU_BORROWED:
            return self.sounds.get(KIKUYU_BORROWED[sound][0])
        return None


def _inventory(path: Path) -> frozenset[str]:
    """Returns the names of the diphones, from the text at the head of the group file."""
    if not path.exists():
        raise FileNotFoundError(f"{path} is missing: install the Festival voice it belongs to")
    head, _, rest = path.read_bytes().partition(b"EST_Header_End\n")
    entries = int(head.split(b"NumEntries ")[1].split()[0])
    return frozenset(line.split()[0].decode("latin-1") for line in rest.split(b"\n", entries)[:-1])


def _same(letters: str) -> dict[str, tuple[str, ...]]:
    return {letter: (letter,) for letter in letters}


_ITALIAN = {
    **_same("ieEaoOuptkbdgfsSvzmnlw"), "j": ("j",), "I": ("i",), "U": ("u",), "tS": ("tS",),
    "dZ": ("dZ",), "n^": ("J",), "N": ("ng",), "*": ("r",),
}  # fmt: skip
_CZECH = {
    **_same("ieaouptkbdgfsvzmnlhj"), "I": ("i",), "E": ("e",), "O": ("o",), "U": ("u",),
    "tS": ("c~",), "dZ": ("dz~",), "S": ("s~",), "n^": ("n~",), "N": ("n*",), "*": ("r",),
    "w": ("u",),
}  # fmt: skip
_FINNISH = {
    **_same("ieaouptkbdgfsSvmnlhjw"), "I": ("i",), "E": ("e",), "O": ("o",), "U": ("u",),
    "tS": ("t", "S"), "N": ("N",), "n^": ("n", "j"), "*": ("r",),
}  # fmt: skip
_INDIAN = {
    **_same("kgpbmnlvfshw"), "t": ("T",), "d": ("D",), "T": ("th",), "D": ("dh",), "j": ("y",),
    "tS": ("ch",), "dZ": ("j",), "S": ("sh",), "n^": ("n", "y"), "*": ("r",), "a": ("aa",),
    "i": ("iy",), "I": ("ih",), "u": ("uw",), "U": ("uh",), "e": ("ee",), "E": ("eh",),
    "o": ("oo",), "O": ("oh",),
}  # fmt: skip
ENGLISH = {
    **_same("ptkbdgfsvzmnlw"), "h": ("hh",), "j": ("y",), "tS": ("ch",), "dZ": ("jh",),
    "S": ("sh",), "D": ("dh",), "T": ("th",), "N": ("ng",), "n^": ("n", "y"), "*": ("dx",),
    "a": ("aa",), "i": ("iy",), "I": ("ih",), "u": ("uw",), "U": ("uh",), "e": ("ey",),
    "E": ("eh",), "o": ("ow",), "O": ("ao",),
}  # fmt: skip


def _voice(family, name, place, group, sounds, languages, pitch, silence="#") -> DiphoneVoice:
    path = VOICES / place / name / "group" / group
    return DiphoneVoice(name, family, path, sounds, languages, pitch, silence)


def diphone_voices() -> list[DiphoneVoice]:
    both, luo = ("kik", "luo"), ("luo",)
    return [
        _voice("italian", "lp_diphone", "italian", "lp_diphone.group", _ITALIAN, both, (150, 230)),
        _voice("italian", "pc_diphone", "italian", "pc_diphone.group", _ITALIAN, both, (85, 150)),
        _voice(
            "english", "kal_diphone", "english", "kallpc16k.group", ENGLISH, both, (85, 140), "pau"
        ),
        _voice(
            "english", "ked_diphone", "english", "kedlpc16k.group", ENGLISH, both, (85, 140), "pau"
        ),
        _voice(
            "indian", "telugu_NSK_diphone", "telugu", "NSKlpc.group", _INDIAN, luo, (90, 150), "pau"
        ),
        _voice("finnish", "suo_fi_lj_diphone", "finnish", "ljlpc.group", _FINNISH, luo, (150, 230)),
        _voice("finnish", "hy_fi_mv_diphone", "finnish", "mvlpc.group", _FINNISH, luo, (80, 140)),
        _voice("czech", "czech_dita", "czech", "dita.group", _CZECH, luo, (150, 230)),
        _voice("czech", "czech_krb", "czech", "krb.group", _CZECH, luo, (180, 260)),
        _voice("czech", "czech_machac", "czech", "machac.group", _CZECH, luo, (85, 150)),
        _voice("czech", "czech_ph", "czech", "ph.group", _CZECH, luo, (85, 150)),
    ]
