"""Greedy RNN-T decoding of shards in torch, for the development error during training."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import torch

from ..data.features import log_mel
from ..data.shards import Audio, read_rows
from ..text.scoring import error_rates
from ..text.tokens import PROMPT_OF, decode
from .batches import chunks_for, pad_to_chunks
from .model import Transducer

BATCH = 24


@torch.no_grad()
def evaluate(model: Transducer, folder: Path) -> dict[str, tuple[float, float]]:
    """Returns {"espeak kik": (WER, CER), ...}, one entry per synthesiser and language."""
    model.eval()
    audio, groups, pairs = Audio(folder), defaultdict(list), defaultdict(list)
    for row in read_rows(folder):
        groups[chunks_for(row.samples)].append(row)
    for chunks, rows in groups.items():
        for i in range(0, len(rows), BATCH):
            some = rows[i : i + BATCH]
            wave = np.stack([pad_to_chunks(audio.read(row), chunks) for row in some])
            prompts = torch.tensor([PROMPT_OF[row.language] for row in some])
            encoded = model.encode(log_mel(torch.from_numpy(wave)), prompts)
            for row, ids in zip(some, model.greedy(encoded), strict=True):
                key = f"{row.voice.split(':')[0]} {row.language}"
                pairs[key].append((row.text, decode(ids)))
    return {key: error_rates(found) for key, found in sorted(pairs.items())}
