"""Audio augmentation for synthesised speech.

Resampling (a cheap new speaker), room, tilt, band limit, telephone, level, noise, babble; and
utterances without speech, so that the model learns to return nothing for silence, noise and tones.
"""

import random

import numpy as np

RATE = 16_000
LEVEL_DB = (-45.0, -8.0)
# the two tones of a telephone key (DTMF)
KEY_ROWS, KEY_COLUMNS = (697, 770, 852, 941), (1209, 1336, 1477, 1633)


def _numbers(rng: random.Random) -> np.random.Generator:
    return np.random.default_rng(rng.randrange(1 << 30))


def _rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x**2)) + 1e-7)


def resample(x: np.ndarray, ratio: float) -> np.ndarray:
    at = np.arange(0, len(x) - 1, ratio)
    return np.interp(at, np.arange(len(x)), x).astype(np.float32)


def coloured_noise(length: int, rng: random.Random) -> np.ndarray:
    """Returns white, dull or pink-like noise, or noise with mains hum; its power is about one."""
    noise = _numbers(rng).standard_normal(length, np.float32)
    kind = rng.random()
    if kind < 0.3:
        noise[1:] += 0.9 * noise[:-1]
    elif kind < 0.6:
        size = 1 << (length - 1).bit_length()
        spectrum = np.fft.rfft(noise, size)
        hz = np.arange(len(spectrum)) * (RATE / size)
        spectrum *= np.maximum(hz, 40.0) ** -rng.uniform(0.3, 1.0)
        noise = np.fft.irfft(spectrum, size)[:length].astype(np.float32)
    noise /= _rms(noise)
    if rng.random() < 0.1:
        t = np.arange(length, dtype=np.float32) / RATE
        noise += np.sin(2 * np.pi * rng.choice([50, 60, 100, 120]) * t).astype(np.float32)
    return noise


def room_and_band(x: np.ndarray, rng: random.Random) -> np.ndarray:
    """Applies reverberation, a tilt of up to 6 dB per octave and a low-pass, in one product."""
    size = -(-(len(x) + 4000) // 8192) * 8192
    response = np.ones(size // 2 + 1, np.complex64)
    if rng.random() < 0.6:
        length = int(rng.uniform(0.08, 0.5) * RATE)
        tail = _numbers(rng).standard_normal(length, np.float32)
        tail *= np.exp(np.linspace(0, -6.9, length, dtype=np.float32)) * rng.uniform(0.02, 0.12)
        tail[0] = 1
        response = np.fft.rfft(tail, size).astype(np.complex64)
    hz = np.arange(size // 2 + 1, dtype=np.float32) * (RATE / size)
    response = response * np.exp(rng.uniform(-1, 1) * np.log(np.maximum(hz, 100) / 1000))
    if rng.random() < 0.4:
        response = response / np.sqrt(1 + (hz / rng.uniform(3200, 7000)) ** 16)
    return np.fft.irfft(np.fft.rfft(x, size) * response, size)[: len(x)].astype(np.float32)


def g711(x: np.ndarray) -> np.ndarray:
    """Encodes to 8-bit mu-law and back, on the continuous curve."""
    compressed = np.sign(x) * np.log1p(255 * np.abs(x)) / np.log(256)
    steps = np.round(compressed * 127) / 127
    return np.sign(steps) * np.expm1(np.abs(steps) * np.log(256)) / 255


def telephone(x: np.ndarray, low: float, high: float, peak: float) -> np.ndarray:
    """Simulates a telephone: band-pass, 8 kHz, G.711, back to 16 kHz."""
    size = -(-len(x) // 4096) * 4096
    spectrum = np.fft.rfft(x, size)
    hz = np.arange(size // 2 + 1) * (RATE / size)
    spectrum *= 1 / np.sqrt(1 + (np.maximum(hz, 1) / low) ** -8)
    spectrum *= 1 / np.sqrt(1 + (hz / high) ** 24)
    narrow = np.fft.irfft(spectrum[: size // 4 + 1], size // 2) * 0.5
    narrow = g711(narrow * (peak / (np.abs(narrow).max() + 1e-6)))
    wide = np.zeros(size // 2 + 1, np.complex128)
    wide[: size // 4 + 1] = np.fft.rfft(narrow)
    wide[size // 4] = 0
    return (np.fft.irfft(wide, size)[: len(x)] * 2).astype(np.float32)


def set_level(x: np.ndarray, rng: random.Random) -> np.ndarray:
    return x * (10 ** (rng.uniform(*LEVEL_DB) / 20) / _rms(x))


def disturb(
    x: np.ndarray, rng: random.Random, others: list[np.ndarray], strength: float = 1.0
) -> np.ndarray:
    """Applies random augmentation. `others` are voices for babble. `strength` scales how often and
    how much, except for the telephone and the level."""
    lead = rng.uniform(0.3, 1.5) if rng.random() < 0.1 else rng.uniform(0, 0.4)
    tail = rng.uniform(0.3, 1.5) if rng.random() < 0.1 else rng.uniform(0.05, 0.4)
    pause = [np.zeros(int(s * RATE), np.float32) for s in (lead, tail)]
    ratio = rng.uniform(1 - 0.15 * strength, 1 + 0.17 * strength)
    x = np.concatenate([pause[0], resample(x, ratio), pause[1]])
    if rng.random() < 0.45 * strength:
        x = room_and_band(x, rng)
    kind = rng.random()
    if kind < 0.45 * strength:
        x = x + coloured_noise(len(x), rng) * (_rms(x) * 10 ** (-rng.uniform(6, 40) / 20))
    elif kind < 0.57 * strength and others:
        babble = np.zeros_like(x)
        for _ in range(rng.randint(3, 7)):
            babble += np.resize(rng.choice(others), len(x)) * rng.uniform(0.5, 1)
        x = x + babble * (_rms(x) / _rms(babble) * 10 ** (-rng.uniform(10, 30) / 20))
    if rng.random() < 0.25:
        peak = 10 ** (-rng.uniform(2, 30) / 20)
        x = telephone(x, rng.uniform(100, 330), rng.uniform(3200, 3800), peak)
    return np.clip(set_level(x, rng), -1, 1)


def _tone(seconds: float, rng: random.Random) -> np.ndarray:
    t = np.arange(int(seconds * RATE), dtype=np.float32) / RATE
    wave = np.zeros_like(t)
    for _ in range(rng.randint(1, 4)):
        start, slide = rng.uniform(60, 3500), rng.choice([0, 0, 0, rng.uniform(-300, 300)])
        wave += np.sin(2 * np.pi * (start * t + slide * t**2 / 2)).astype(np.float32)
    if rng.random() < 0.5:  # ringing, engaged
        period = rng.choice([rng.uniform(0.1, 0.6), rng.uniform(0.6, 3)])
        wave *= (t % period) < period * rng.uniform(0.3, 0.7)
    return wave


def _dialling(seconds: float, rng: random.Random) -> np.ndarray:
    """Returns DTMF tones at an even pace: a number, or one key repeated."""
    t = np.arange(int(seconds * RATE)) / RATE
    period, keys = rng.uniform(0.1, 0.6), rng.choice([1, 10])
    rows, columns = (
        np.array([rng.choice(tones) for _ in range(keys)]) for tones in (KEY_ROWS, KEY_COLUMNS)
    )
    key = (t // period).astype(int) % keys
    wave = np.sin(2 * np.pi * rows[key] * t) + np.sin(2 * np.pi * columns[key] * t)
    return (wave * ((t % period) < period * rng.uniform(0.3, 0.7))).astype(np.float32)


def no_speech(rng: random.Random) -> np.ndarray:
    """Returns silence, noise, tones or clicks. The correct transcript is empty."""
    seconds = rng.uniform(0.8, 7)
    length = int(seconds * RATE)
    kind = rng.random()
    if kind < 0.1:
        return np.zeros(length, np.float32)
    if kind < 0.4:
        x = coloured_noise(length, rng)
        if rng.random() < 0.3:  # gusts
            x = x * np.interp(np.arange(length), np.linspace(0, length, 9), _numbers(rng).random(9))
    elif kind < 0.88:
        x = _tone(seconds, rng) if kind < 0.65 else _dialling(seconds, rng)
        if rng.random() < 0.4:
            x = x + coloured_noise(len(x), rng) * 10 ** rng.uniform(-2, 0)
    else:
        x = np.where(_numbers(rng).random(length) < rng.uniform(1e-5, 1e-3), 1.0, 0.0)
        x = x + coloured_noise(length, rng) * 10 ** rng.uniform(-4, -2)
    x = x.astype(np.float32)
    if rng.random() < 0.3:
        x = room_and_band(x, rng)
    return np.clip(x * (10 ** (rng.uniform(-75, -8) / 20) / _rms(x)), -1, 1).astype(np.float32)


def warp_and_mask(mel, rng: random.Random, strength: float = 1.0):
    """Warps the frequency axis of (T, 80) features (vocal tracts differ). Masks a band and gap."""
    if rng.random() < 0.5 * strength:
        mel = _warp(mel, rng.uniform(0.9, 1.1))
    if rng.random() < 0.5 * strength:
        width = rng.randint(1, 10)
        at = rng.randint(0, 80 - width)
        mel[:, at : at + width] = mel.mean()
    if rng.random() < 0.5 * strength:
        width = rng.randint(1, 12)
        at = rng.randint(0, len(mel) - width)
        mel[at : at + width] = mel.mean()
    return mel


def _warp(mel, ratio: float):
    bins = mel.shape[1]
    at = np.clip(np.arange(bins) * ratio, 0, bins - 1.001)
    low = at.astype(np.int64)
    part = mel.new_tensor(at - low)
    return mel[:, low] * (1 - part) + mel[:, low + 1] * part
