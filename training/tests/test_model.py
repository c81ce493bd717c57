import pytest
import torch

from speech.transducer.batches import chunks_for, pad_to_chunks
from speech.transducer.model import PRE_ENCODE, SHIFT, WINDOW, Transducer


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(3)
    made = Transducer(width=48, layers=3, heads=4, channels=16, predictor=24, joint=24)
    return made.eval()


@torch.no_grad()
def test_streaming_chunk_by_chunk_equals_the_whole_sequence(model):
    chunks, prompts = 7, torch.tensor([0, 2])  # seven: the left context of four chunks is cut
    mel = torch.randn(2, SHIFT * chunks + PRE_ENCODE, 80)
    whole = model.encode(mel, prompts)
    caches, parts = model.encoder.empty_caches(2), []
    for k in range(chunks):
        window = mel[:, SHIFT * k : SHIFT * k + WINDOW].transpose(1, 2)
        length = torch.full((2,), WINDOW)
        part, lengths, *caches = model.encoder(window, length, *caches, prompts)
        assert lengths.tolist() == [14, 14]
        parts.append(part)
    torch.testing.assert_close(torch.cat(parts, 1), whole, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_a_frame_hears_nothing_beyond_its_own_chunk(model):
    prompts = torch.tensor([1])
    mel = torch.randn(1, SHIFT * 3 + PRE_ENCODE, 80)
    later = mel.clone()
    later[:, SHIFT + PRE_ENCODE :] += 1
    before, after = model.encode(mel, prompts), model.encode(later, prompts)
    torch.testing.assert_close(before[:, :14], after[:, :14])
    assert (before[:, 14:] - after[:, 14:]).abs().max() > 1e-3


@torch.no_grad()
def test_the_prompt_changes_what_is_heard(model):
    mel = torch.randn(1, WINDOW, 80)
    kikuyu, dholuo = (model.encode(mel, torch.tensor([p])) for p in (0, 1))
    assert (kikuyu - dholuo).abs().max() > 1e-3


@torch.no_grad()
def test_an_utterance_decodes_alike_alone_and_in_a_batch(model):
    mel = torch.randn(3, SHIFT * 2 + PRE_ENCODE, 80) * 3
    prompts = torch.tensor([0, 1, 2])
    together = model.greedy(model.encode(mel, prompts))
    alone = [model.greedy(model.encode(mel[i : i + 1], prompts[i : i + 1]))[0] for i in range(3)]
    assert together == alone


@pytest.mark.parametrize("samples", [1, 1599, 17_920, 19_360, 19_361, 100_000])
def test_every_sample_is_covered_by_whole_chunks(samples):
    chunks = chunks_for(samples)
    padded = pad_to_chunks(torch.ones(samples).numpy(), chunks)
    assert len(padded) == (SHIFT * chunks + PRE_ENCODE) * 160
    assert int(padded.sum()) == min(samples, len(padded))
    assert samples - len(padded) < 80  # less than half a hop may be cut
