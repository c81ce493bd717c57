"""Thirty characters; the blank is one past the last, as the engine expects (<blk> comes last)."""

TOKENS = ["▁", "'", *"abcdefghijklmnopqrstuvwxyz", "ĩ", "ũ"]
BLANK = len(TOKENS)
PROMPTS = {"ki-KE": 0, "luo-KE": 1, "auto": 2}
PROMPT_OF = {"kik": PROMPTS["ki-KE"], "luo": PROMPTS["luo-KE"]}

_IDS = {token: i for i, token in enumerate(TOKENS)}


def encode(text: str) -> list[int]:
    """Encodes text. Words start with ▁; empty text gives no tokens."""
    return [_IDS[c] for c in "▁" + text.replace(" ", "▁")] if text else []


def decode(ids: list[int]) -> str:
    return "".join(TOKENS[i] for i in ids).replace("▁", " ").strip()
