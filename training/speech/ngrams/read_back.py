"""Looks for sentences that can be read back out of a language model of characters."""

from functools import cache

from .kneser_ney import BEGIN, END, Model

# Who knows a sentence's first letters gets the rest, if it can be read back.
PROMPT = 10
SHORTEST = 20


def probability(model: Model, context: str, token: str) -> float:
    """The backoff formula of ARPA files."""
    ngram = context + token
    if ngram in model.probabilities[len(context)]:
        return model.probabilities[len(context)][ngram]
    if not context:
        return model.unknown
    backoff = model.backoffs[len(context) - 1].get(context, 0.0)
    return backoff + probability(model, context[1:], token)


def readable(model: Model, texts: list[str]) -> list[str]:
    """The texts whose end the model finds likeliest, letter by letter, after their start."""
    order = len(model.probabilities)
    tokens = sorted(set(model.probabilities[0]) - {BEGIN})

    @cache
    def likeliest(context: str) -> str:
        return max(tokens, key=lambda token: probability(model, context, token))

    def is_readable(text: str) -> bool:
        whole = BEGIN + text + END
        return all(
            likeliest(whole[max(0, at - order + 1) : at]) == whole[at]
            for at in range(PROMPT + 1, len(whole))
        )

    return [text for text in texts if len(text) >= SHORTEST and is_readable(text)]
