import random
from collections import Counter

import numpy as np
import pytest

from speech.data.shards import RATE, Utterance, write_shard
from speech.transducer.batches import Batches, Draw
from speech.transducer.model import PRE_ENCODE, SHIFT
from speech.transducer.train import CALM, disturbance


@pytest.fixture
def shards(tmp_path):
    """Ninety utterances of one synthesiser, ten of another."""
    rng = np.random.default_rng(3)
    for voice, count in (("big:one", 90), ("small:two", 10)):
        noise = [rng.normal(0, 3000, 2 * RATE).astype(np.int16) for _ in range(count)]
        made = [Utterance("kik", voice, "nĩ wega", samples) for samples in noise]
        write_shard(tmp_path, voice.split(":")[0], made)
    return tmp_path


def share_of_small(folder, power):
    draw = Draw(folder, random.Random(1), power)
    drawn = Counter(draw.next().voice for _ in range(3000))
    return drawn["small:two"] / 3000


def test_a_small_synthesiser_is_heard_by_its_size_or_more_often(shards):
    assert share_of_small(shards, 1.0) == pytest.approx(0.1, abs=0.02)
    assert share_of_small(shards, 0.0) == pytest.approx(0.5, abs=0.03)
    assert 0.12 < share_of_small(shards, 0.75) < 0.2


def test_every_utterance_is_drawn_before_one_comes_again(shards):
    draw = Draw(shards, random.Random(1), 1.0)
    seen = [row.offset for row in (draw.next() for _ in range(95)) if row.voice == "big:one"]
    assert len(set(seen)) == min(90, len(seen))


def test_a_batch_is_whole_chunks_of_one_length(shards):
    source = Batches(shards, chunks=12, seed=2)
    batches = iter(source)
    for strength in (1.0, 0.0):
        source.strength = strength
        batch = next(batches)
        assert (batch.mel.shape[1] - PRE_ENCODE) % SHIFT == 0
        assert batch.targets.shape[0] == batch.mel.shape[0] >= 3
        assert batch.labels.max() <= batch.targets.shape[1]


def test_another_seed_is_another_order(shards):
    first, same, other = (next(iter(Batches(shards, 12, seed))).mel for seed in (1, 1, 2))
    assert first.equal(same)
    assert first.shape != other.shape or not first.equal(other)


def test_disturbances_weaken_only_towards_the_end():
    assert disturbance(0) == disturbance(0.5) == 1
    assert disturbance(0.5) > disturbance(0.8) > disturbance(1) == pytest.approx(CALM)
    assert disturbance(2) == pytest.approx(CALM)
