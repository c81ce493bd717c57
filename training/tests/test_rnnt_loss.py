import torch

from speech.transducer.rnnt_loss import rnnt_loss


def reference(logits, targets, frames, labels):
    """Computes the loss with the textbook recursion, cell by cell."""
    log_p, losses = logits.double().log_softmax(-1), []
    blank = logits.shape[-1] - 1
    for b in range(len(labels)):
        alpha = {}
        for t in range(frames[b]):
            for u in range(labels[b] + 1):
                ways = [torch.zeros((), dtype=torch.float64)] if t == u == 0 else []
                if t:
                    ways.append(alpha[t - 1, u] + log_p[b, t - 1, u, blank])
                if u:
                    ways.append(alpha[t, u - 1] + log_p[b, t, u - 1, targets[b, u - 1]])
                alpha[t, u] = torch.logsumexp(torch.stack(ways), 0)
        t, u = int(frames[b]) - 1, int(labels[b])
        losses.append(-(alpha[t, u] + log_p[b, t, u, blank]))
    return torch.stack(losses)


def test_values_and_gradients_equal_the_textbook_recursion():
    torch.manual_seed(0)
    logits = torch.randn(4, 6, 5, 7, requires_grad=True)
    targets = torch.randint(0, 6, (4, 4))
    frames, labels = torch.tensor([6, 5, 3, 1]), torch.tensor([4, 2, 0, 3])
    weight = torch.tensor([1.0, 2.0, 0.5, 1.5])
    expected = reference(logits, targets, frames, labels)
    (expected_grad,) = torch.autograd.grad((expected * weight).sum(), logits)
    got = rnnt_loss(logits, targets, frames, labels)
    (grad,) = torch.autograd.grad((got * weight).sum(), logits)
    torch.testing.assert_close(got, expected.float(), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(grad, expected_grad.float(), atol=1e-5, rtol=1e-4)


def test_padding_beyond_an_utterance_gets_no_gradient():
    torch.manual_seed(1)
    logits = torch.randn(1, 6, 5, 7, requires_grad=True)
    frames, labels = torch.tensor([4]), torch.tensor([2])
    rnnt_loss(logits, torch.zeros(1, 4, dtype=torch.long), frames, labels).sum().backward()
    assert logits.grad[0, 4:].abs().max() == 0
    assert logits.grad[0, :, 3:].abs().max() == 0
    assert logits.grad[0, :4, :3].abs().max() > 0
