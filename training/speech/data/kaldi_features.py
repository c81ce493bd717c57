"""The filter banks of Kaldi, on which icefall trains: 80 mels every 10 ms, samples in [-1, 1]."""

import numpy as np

RATE = 16_000
MELS = 80
HOP, WINDOW, FFT = 160, 400, 512
LOWEST_HZ, HIGHEST_HZ = 20, 7_600
FLOOR = 1.1920928955078125e-07


def _mel(hz: np.ndarray | float) -> np.ndarray:
    return 1127 * np.log1p(np.asarray(hz) / 700)


def _filters() -> np.ndarray:
    """(MELS, FFT / 2): triangles that are straight on the mel scale."""
    edges = np.linspace(_mel(LOWEST_HZ), _mel(HIGHEST_HZ), MELS + 2)
    mels = _mel(np.arange(FFT // 2) * RATE / FFT)[None]
    left, centre, right = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    rising, falling = (mels - left) / (centre - left), (right - mels) / (right - centre)
    return np.maximum(0, np.minimum(rising, falling)).astype(np.float32)


FILTERS = _filters()
POVEY = ((0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / (WINDOW - 1))) ** 0.85).astype(
    np.float32
)


def kaldi_features(samples: np.ndarray) -> np.ndarray:
    """(samples,) -> (frames, MELS). The first frame's centre is the fifth millisecond."""
    count = len(samples) // HOP
    before = WINDOW // 2 - HOP // 2
    mirrored = np.concatenate([samples[:before][::-1], samples, samples[-before:][::-1]])
    places = HOP * np.arange(count)[:, None] + np.arange(WINDOW)[None]
    frames = mirrored[places].astype(np.float32)
    frames = frames - frames.mean(1, keepdims=True)
    earlier = np.concatenate([frames[:, :1], frames[:, :-1]], 1)
    spectrum = np.fft.rfft((frames - 0.97 * earlier) * POVEY, FFT)[:, : FFT // 2]
    power = (spectrum.real**2 + spectrum.imag**2).astype(np.float32)
    return np.log(np.maximum(power @ FILTERS.T, FLOOR))
