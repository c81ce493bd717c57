"""Log-mel features with exactly the options the engine sets for NeMo transducers.

Samples in [-1, 1]; 25 ms periodic Hann; 10 ms hop; frame t centred on sample 160 t + 80, mirrored
at the ends; no DC removal; no dither; pre-emphasis 0.97 within each frame; 512-point power
spectrum; 80 Slaney mel filters with Slaney area norm, 0..8000 Hz; natural log floored at
FLT_EPSILON (-15.94). tests/test_feature_parity.py compares with the engine.
"""

import math

import numpy as np
import torch

RATE, HOP, WINDOW_SAMPLES, FFT, BINS = 16_000, 160, 400, 512, 80
FLOOR = float(np.finfo(np.float32).eps)


def _to_mel(hz):
    hz = np.asarray(hz, np.float64)
    above = 15 + 27 * np.log(np.maximum(hz, 1e-9) / 1000) / math.log(6.4)
    return np.where(hz < 1000, hz * 3 / 200, above)


def _to_hz(mel):
    return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp(math.log(6.4) / 27 * (mel - 15)))


def mel_filters() -> np.ndarray:
    """(80, 257)"""
    edges = _to_hz(np.linspace(_to_mel(0.0), _to_mel(8000.0), BINS + 2))
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    hz = np.arange(FFT // 2 + 1)[None] * RATE / FFT
    rising, falling = (hz - left) / (centre - left), (right - hz) / (right - centre)
    area = 2 / (right - left)
    return (np.maximum(0, np.minimum(rising, falling)) * area).astype(np.float32)


_FILTERS = torch.from_numpy(mel_filters().T.copy())
_HANN = torch.from_numpy(
    (0.5 - 0.5 * np.cos(2 * math.pi * np.arange(WINDOW_SAMPLES) / WINDOW_SAMPLES)).astype("f4")
)


def log_mel(samples: torch.Tensor) -> torch.Tensor:
    """(..., samples) in [-1, 1] -> (..., (samples + 80) // 160, 80)"""
    count = (samples.shape[-1] + HOP // 2) // HOP
    before = WINDOW_SAMPLES // 2 - HOP // 2  # frame 0 starts before the signal
    after = (count - 1) * HOP - before + WINDOW_SAMPLES - samples.shape[-1]
    parts = [samples[..., :before].flip(-1), samples]
    if after > 0:
        parts.append(samples[..., -after:].flip(-1))
    frames = torch.cat(parts, -1).unfold(-1, WINDOW_SAMPLES, HOP)[..., :count, :]
    emphasised = frames[..., 1:] - 0.97 * frames[..., :-1]
    frames = torch.cat([frames[..., :1] * 0.03, emphasised], -1) * _HANN
    spectrum = torch.fft.rfft(frames, FFT)
    power = spectrum.real**2 + spectrum.imag**2
    return torch.log(torch.clamp(power @ _FILTERS, min=FLOOR))
