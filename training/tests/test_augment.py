import random

import numpy as np
import torch

from speech.data.augment import (
    KEY_COLUMNS,
    KEY_ROWS,
    LEVEL_DB,
    _dialling,
    disturb,
    g711,
    no_speech,
    telephone,
    warp_and_mask,
)


def tone(hz, seconds=1.0):
    t = np.arange(int(16_000 * seconds)) / 16_000
    return (0.3 * np.sin(2 * np.pi * hz * t)).astype(np.float32)


def strength(x, hz):
    spectrum = np.abs(np.fft.rfft(x * np.hanning(len(x))))
    at = round(hz * len(x) / 16_000)
    return float(spectrum[at - 3 : at + 4].max())


def test_telephone_keeps_the_voice_band_and_drops_the_rest():
    mixed = tone(60) + tone(1000) + tone(2000) + tone(5000) + tone(7000)
    heard = telephone(mixed, 300, 3400, 0.5)
    assert strength(heard, 2000) > 0.7 * strength(heard, 1000)
    for hz in (60, 5000, 7000):
        assert strength(heard, hz) < 0.03 * strength(heard, 1000)


def test_g711_is_within_its_quantisation():
    x = np.linspace(-1, 1, 2001)
    assert np.abs(g711(x) - x).max() < 0.03
    assert g711(np.zeros(3)).tolist() == [0, 0, 0]


def test_disturbed_speech_stays_within_level_and_range():
    for seed in range(40):
        x = disturb(tone(300), random.Random(seed), [tone(200), tone(500)])
        assert x.dtype == np.float32 and np.abs(x).max() <= 1
        level = 20 * np.log10(np.sqrt(np.mean(x**2)))
        assert LEVEL_DB[0] - 1 < level < LEVEL_DB[1] + 1


def test_utterances_without_a_speaker_are_finite_and_varied():
    waves = [no_speech(random.Random(seed)) for seed in range(60)]
    assert all(np.isfinite(x).all() and np.abs(x).max() <= 1 for x in waves)
    assert any(not x.any() for x in waves) and any(x.any() for x in waves)


def test_warping_and_masking_keep_the_shape():
    for seed in range(20):
        mel = torch.randn(121, 80)
        out = warp_and_mask(mel.clone(), random.Random(seed))
        assert out.shape == mel.shape and torch.isfinite(out).all()


def test_speech_at_strength_nothing_is_at_most_on_the_telephone():
    x = tone(300, 2.0)
    kept = [disturb(x, random.Random(seed), [tone(200)], 0.0) for seed in range(20)]
    clean = [y for y in kept if strength(y, 300) > 1e3 * strength(y, 1000)]
    assert len(clean) > 10


def test_keys_of_a_telephone_come_and_go_in_pairs_of_tones():
    wave = _dialling(3.0, random.Random(5))
    quiet = np.abs(wave) < 1e-6
    assert 0.3 < quiet.mean() < 0.8
    for tones in (KEY_ROWS, KEY_COLUMNS):
        assert max(strength(wave, hz) for hz in tones) > 10 * strength(wave, 3000)
