"""The model for a language."""

from __future__ import annotations

from typing import Literal, TypeAlias

from .errors import SvcError
from .wire import ModelId

Language: TypeAlias = Literal["ki", "luo"]

MODELS: dict[Language, ModelId] = {"ki": "svc-asr-kikuyu-v1", "luo": "svc-asr-dholuo-v1"}
# ISO 639 codes, with or without a region.
CODES: dict[str, Language] = {"ki": "ki", "kik": "ki", "luo": "luo"}


def model_of(*, model: ModelId | None = None, language: str | None = None) -> ModelId:
    """Returns the model that the arguments name, directly or by language. Raises if they name none, or two."""
    if language is None:
        if model is None:
            raise _misuse("Pass a language, ki (Kikuyu) or luo (Dholuo), or a model.")
        return model
    known = CODES.get(language.lower().split("-")[0])
    if known is None:
        raise _misuse("Unsupported language. Use ki (Kikuyu) or luo (Dholuo).")
    if model is not None and model != MODELS[known]:
        raise _misuse("The model recognises another language. Pass only one of model and language.")
    return MODELS[known]


def language_of(model: ModelId) -> Language:
    return "ki" if model == MODELS["ki"] else "luo"


def _misuse(message: str) -> SvcError:
    return SvcError("invalid_language", message)
