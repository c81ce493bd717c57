"""Compares imported weights with NeMo's own inference."""

from pathlib import Path

import numpy as np
import onnxruntime
import torch

from ..transducer.model import WINDOW

CHUNKS = 4
LABELS_PER_FRAME = 10


@torch.no_grad()
def difference_from_nemo(model, original, exported, folder: Path) -> float:
    """Returns the largest difference of a log probability along NeMo's greedy path.

    `exported` is the encoder in `folder`, whose caches can have another layout than the original's.
    """
    names = ("encoder", "decoder", "joiner")
    encoder, decoder, joiner = (_session(folder / f"{name}.onnx") for name in names)
    numbers = torch.Generator().manual_seed(7)
    prompt = (torch.tensor([0]),) if original.prompts else ()
    length = torch.tensor([WINDOW])
    ours = original.empty_caches(1)
    theirs = [cache.numpy() for cache in exported.empty_caches(1)]
    blank = model.decoder.blank_idx
    one, label = np.ones(1, np.int32), np.full((1, 1), blank, np.int32)
    predicted, state = model.decoder.predict(None, None, add_sos=False)
    zeros = np.zeros(state[0].shape, np.float32)
    output, _, *kept = decoder(label, one, zeros, zeros)
    worst = 0.0
    for _ in range(CHUNKS):
        # as loud as log-mel features of speech
        mel = 3 * torch.randn(1, model.cfg.preprocessor.features, WINDOW, generator=numbers) - 6
        wanted, _, *ours = original(mel, length, *ours, *prompt)
        heard, _, *theirs = encoder(mel.numpy(), length.numpy(), *theirs, *map(np.asarray, prompt))
        frames = wanted.transpose(1, 2)
        for t in range(frames.shape[1]):
            for _ in range(LABELS_PER_FRAME):
                projected = model.joint.project_prednet(predicted)
                joined = model.joint.joint_after_projection(frames[:, t : t + 1], projected)
                expected = joined.flatten().log_softmax(-1)
                (logits,) = joiner(heard[:, :, t : t + 1], output)
                actual = torch.from_numpy(logits).flatten().log_softmax(-1)
                worst = max(worst, float((expected - actual).abs().max()))
                best = int(expected.argmax())
                if best == blank:
                    break
                predicted, state = model.decoder.predict(
                    torch.tensor([[best]]), state, add_sos=False
                )
                output, _, *kept = decoder(np.full((1, 1), best, np.int32), one, *kept)
    return worst


def _session(path: Path):
    session = onnxruntime.InferenceSession(str(path))
    names = [i.name for i in session.get_inputs()]
    return lambda *inputs: session.run(None, dict(zip(names, inputs, strict=True)))
