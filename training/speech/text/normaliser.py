"""Normalises Kikuyu and Dholuo text to the model's spelling: lower case, ĩ and ũ, ng'.

Real corpora are damaged in a few known ways, and a model learns the spelling it is trained on:
- UTF-8 read as Windows-1252 or Latin-1 and saved again, once or twice (ĩ becomes "Ä©");
- look-alikes for the tilde: macron, circumflex, Greek letters, a combining tilde, "i~";
- seven kinds of apostrophe for the one in ng', or none because a tool dropped it (Dholuo).
"""

import re
import unicodedata

LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzĩũ")
LANGUAGES = ("kik", "luo")

_LOOK_ALIKES = str.maketrans(
    {
        "ī": "ĩ", "ū": "ũ", "î": "ĩ", "û": "ũ", "ῖ": "ĩ", "ῦ": "ũ", "ĭ": "ĩ", "ŭ": "ũ",
        "’": "'", "‘": "'", "ʼ": "'", "ʻ": "'", "`": "'", "´": "'", "′": "'", "ꞌ": "'",
    }
)  # fmt: skip
_DOUBLE_ENCODED = re.compile(
    "[ÃÄÅâ][\u0080-\u00bf\u0152-\u0178\u02c6\u02dc\u2013-\u203a\u20ac\u2122]"
)
# Dholuo words that only exist with ng': the velar nasal at a word's start before these endings.
# A short list on purpose: a wrong "repair" of ng (as in "ng'wech" / "ngware") would be worse.
_LOST_APOSTROPHE = {
    "ngato": "ng'ato", "ngeyo": "ng'eyo", "ongeyo": "ong'eyo", "ingeyo": "ing'eyo",
    "angeyo": "ang'eyo", "wangeyo": "wang'eyo", "mangeny": "mang'eny", "ngeny": "ng'eny",
    "ngado": "ng'ado", "ongado": "ong'ado", "nongado": "nong'ado", "ngwech": "ng'wech",
    "mangongo": "mang'ongo", "ongere": "ong'ere",
}  # fmt: skip


def undo_double_encoding(text: str) -> str:
    """Reverses UTF-8 that was read as Windows-1252 or Latin-1, once or several times."""
    for _ in range(3):
        if not _DOUBLE_ENCODED.search(text):
            return text
        repaired = _reread(text)
        if repaired is None:
            return text
        text = repaired
    return text


def _reread(text: str) -> str | None:
    """Decodes as UTF-8 again. Bytes that Windows-1252 leaves undefined count as Latin-1."""
    data = bytearray()
    for character in text:
        try:
            data += character.encode("cp1252")
        except UnicodeEncodeError:
            if ord(character) > 0xFF:
                return None
            data.append(ord(character))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def fold(text: str) -> str:
    """Maps each letter and the apostrophe to one spelling. Keeps punctuation."""
    text = undo_double_encoding(text)
    text = re.sub("([iuIU])~", "\\1\u0303", text)
    return unicodedata.normalize("NFC", text.lower()).translate(_LOOK_ALIKES)


def normalise(text: str, language: str | None = None) -> str:
    """Returns training text: letters, single spaces, and the apostrophe only after ng."""
    text = fold(text).replace("-", "")
    text = re.sub(r"(?<!ng)'", "", text)
    text = "".join(c if c in LETTERS or c == "'" else " " for c in text)
    words = text.split()
    if language == "luo":
        words = [_LOST_APOSTROPHE.get(word, word) for word in words]
    return " ".join(words)


def without_tilde(text: str) -> str:
    """Removes tildes, for the second error rate. Much Kikuyu is typed without them."""
    return text.replace("ĩ", "i").replace("ũ", "u")
