"""Compares our features with those of the engine.

The engine runs a probe model whose output tokens are quantised log-mel values, so the transcript
shows the features of the engine's own front end.
"""

import json
import subprocess
import wave
from pathlib import Path

import numpy as np
import torch
from torch import nn

from speech.data.features import log_mel
from speech.transducer.model import SHIFT, WINDOW
from speech.weights.export import finish
from speech.weights.graphs import export_graph

ROOT = Path(__file__).resolve().parents[2]
LEVELS, STEP, LOWEST = 4096, 0.005, -16.5
FRAMES = [9 + 8 * i if i else 0 for i in range(14)]
BINS = [(37 * i + 5) % 80 for i in range(14)]
LABELS_PER_FRAME = 10  # the engine's limit: the probe never says blank


class ProbeEncoder(nn.Module):
    def forward(self, mel, length, frames, conv, cached):
        values = torch.stack([mel[:, b, f] for f, b in zip(FRAMES, BINS, strict=True)], 1)
        level = torch.clamp((values - LOWEST) / STEP, 0, LEVELS - 1)
        closeness = -(torch.arange(LEVELS).float()[None, :, None] - level.unsqueeze(1)).abs()
        never_blank = torch.full_like(closeness[:, :1], -1e6)
        return torch.cat([closeness, never_blank], 1), length, frames + 0, conv + 0, cached + 14


class ProbePredictor(nn.Module):
    def forward(self, label, length, hidden, cell):
        return label.float().unsqueeze(1), length + 0, hidden + 0, cell + 0


class ProbeJoint(nn.Module):
    def forward(self, encoded, predicted):
        return encoded.transpose(1, 2).unsqueeze(2) + 0 * predicted.unsqueeze(3)


def write_probe(folder):
    one = torch.ones(1, dtype=torch.int64)
    names = ["audio_signal", "length", "frames", "conv", "cached"]
    outputs = ["outputs", "lengths", "frames_next", "conv_next", "cached_next"]
    caches = (torch.zeros(1, 1, 56, 4), torch.zeros(1, 1, 4, 8), one * 0)
    inputs = (torch.randn(1, 80, WINDOW), one * WINDOW, *caches)
    axes = {name: {0: "batch"} for name in names + outputs}
    export_graph(ProbeEncoder(), inputs, folder / "encoder.onnx", names, outputs, axes)
    state, label = torch.zeros(1, 1, 4), torch.zeros(1, 1, dtype=torch.int32)
    inputs = (label, torch.ones(1, dtype=torch.int32), state, state)
    names, outputs = ["label", "length", "h", "c"], ["out", "length_next", "h_next", "c_next"]
    export_graph(ProbePredictor(), inputs, folder / "decoder.onnx", names, outputs, {})
    inputs = (torch.zeros(1, LEVELS + 1, 1), torch.zeros(1, 1, 1))
    export_graph(ProbeJoint(), inputs, folder / "joiner.onnx", ["e", "p"], ["out"], {})
    caches = {"cache_last_channel_dim1": 1, "cache_last_channel_dim2": 56}
    caches |= {"cache_last_channel_dim3": 4, "cache_last_time_dim1": 1}
    caches |= {"cache_last_time_dim2": 4, "cache_last_time_dim3": 8}
    values = {"vocab_size": LEVELS, "window_size": WINDOW, "chunk_shift": SHIFT}
    values |= {"subsampling_factor": 8, "normalize_type": "", "pred_rnn_layers": 1}
    values |= {"feat_dim": 80, "pred_hidden": 4, "model_type": "EncDecRNNTBPEModel", **caches}
    finish(folder / "encoder.onnx", {k: str(v) for k, v in values.items()}, half=False)
    tokens = [f"v{level} {level}\n" for level in range(LEVELS)]
    (folder / "tokens.txt").write_text("".join(tokens) + f"<blk> {LEVELS}\n")


def write_sound(path):
    """Writes twelve seconds of swelling sweeps, so that every bin is loud and quiet in turn."""
    count, random = 16_000 * 12, np.random.default_rng(0)
    at = np.arange(count)
    noise = random.standard_normal(count) * 0.05 * (1 + np.sin(at / 9000))
    sweep = 0.1 * np.sin(np.cumsum(0.02 + 0.3 * at / count))
    samples = (np.clip(noise + sweep, -1, 1) * 32767).astype("<i2")
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(samples.tobytes())
    return samples.astype(np.float32) / 32768


def test_the_engine_computes_the_features_the_model_was_trained_on(tmp_path):
    write_probe(tmp_path)
    samples = write_sound(tmp_path / "sound.wav")
    script = Path(__file__).parent / "stream.mjs"
    command = ["node", str(script), str(ROOT / "core/engine"), str(tmp_path), "sound.wav"]
    answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    tokens = json.loads(answer.splitlines()[-1])["tokens"][::LABELS_PER_FRAME]
    heard = np.array([int(token[1:]) for token in tokens]) * STEP + LOWEST
    chunks = len(heard) // 14
    padded = np.concatenate([samples, np.zeros(20_800, np.float32)])  # as stream.mjs ends it
    mel = log_mel(torch.from_numpy(padded)).numpy()
    places = [(SHIFT * k + f, b) for k in range(chunks) for f, b in zip(FRAMES, BINS, strict=True)]
    ours = np.array([mel[frame, bin] for frame, bin in places])
    assert chunks >= 8
    assert ours.max() - ours.min() > 5, "the sound must exercise the features"
    # half a quantisation step, and what fp32 leaves
    assert np.abs(heard - ours).max() < STEP / 2 + 0.002
