"""Runs an exported encoder over the features of several streams, chunk by chunk."""

import numpy as np
import onnx
import onnxruntime

from speech.nemo.import_nemo import CHUNK, PRE_ENCODE


def speech_like(seed: int, loudness: float = 3.0) -> np.ndarray:
    """Returns four chunks of features."""
    shape = (4, 80, CHUNK + PRE_ENCODE)
    return (loudness * np.random.default_rng(seed).standard_normal(shape) - 6).astype(np.float32)


def encode(model: onnx.ModelProto, streams: list[np.ndarray]) -> np.ndarray:
    """Returns the frames of each stream, encoded in one batch, chunk by chunk."""
    session, batch = onnxruntime.InferenceSession(model.SerializeToString()), len(streams)
    sizes = {entry.key: entry.value for entry in model.metadata_props}
    channel, time = (
        [int(sizes[f"cache_last_{name}_dim{at}"]) for at in (1, 2, 3)]
        for name in ("channel", "time")
    )
    caches = [np.zeros((batch, *shape), np.float32) for shape in (channel, time)]
    caches.append(np.zeros(batch, np.int64))
    length = np.full(batch, CHUNK + PRE_ENCODE)
    names, frames = [given.name for given in session.get_inputs()], []
    for chunk in zip(*streams, strict=True):
        given = [np.stack(chunk), length, *caches, np.zeros(batch, np.int64)]
        encoded, _, *caches = session.run(None, dict(zip(names, given, strict=False)))
        frames.append(encoded)
    return np.concatenate(frames, 2)
