"""RNN-T loss in plain torch: the recursion runs over anti-diagonals, the gradient is closed form.

Only two log-probabilities of a lattice cell (blank, next label) enter the recursion. The gradient
of the logits is softmax x occupancy minus the occupancy of the two arcs. It is computed in place,
so autograd never keeps a second (B, T, U, V) tensor.
"""

import torch
from torch import Tensor

_NEVER = -1e30


def _skew(x: Tensor) -> Tensor:
    """(B, T, W) -> (T + W - 1, B, W) with out[n, :, u] = x[:, n - u, u]"""
    batch, frames, width = x.shape
    n = torch.arange(frames + width - 1)[:, None] - torch.arange(width)[None]
    skewed = x.gather(1, n.clamp(0, frames - 1)[None].expand(batch, -1, -1))
    outside = ((n < 0) | (n >= frames))[None]
    return skewed.masked_fill(outside, _NEVER).transpose(0, 1).contiguous()


def _unskew(x: Tensor, frames: int) -> Tensor:
    n = torch.arange(frames)[:, None] + torch.arange(x.shape[2])[None]
    return x.transpose(0, 1).gather(1, n[None].expand(x.shape[1], -1, -1))


def occupancy(blank: Tensor, label: Tensor, frames: Tensor, labels: Tensor):
    """Returns log-likelihood (B,) and occupancies (B, T, U + 1) of the blank and label arcs."""
    batch, longest, width = blank.shape
    u, b = torch.arange(width)[None, None], torch.arange(batch)
    late = (torch.arange(longest)[None] >= frames[:, None])[..., None]
    label = label.masked_fill(late | (u >= labels[:, None, None]), _NEVER)
    blank = blank.masked_fill(late | (u > labels[:, None, None]), _NEVER)
    final = blank[b, frames - 1, labels]  # every path ends with this blank
    blanks, steps, diagonals = _skew(blank), _skew(label), longest + width - 1
    forward, backward = (torch.empty(diagonals, batch, width) for _ in range(2))
    edge = torch.full((batch, 1), _NEVER)
    a = torch.full((batch, width), _NEVER)
    a[:, 0] = 0
    forward[0] = a
    for n in range(1, diagonals):
        shifted = torch.cat([edge, (a + steps[n - 1])[:, :-1]], 1)
        a = torch.logaddexp(a + blanks[n - 1], shifted).clamp(min=_NEVER)
        forward[n] = a
    last = frames - 1 + labels  # the diagonal of an utterance's last cell
    end = torch.zeros(batch, width, dtype=torch.bool)
    end[b, labels] = True
    z = torch.full((batch, width), _NEVER)
    for n in range(diagonals - 1, -1, -1):
        if n < diagonals - 1:
            shifted = steps[n] + torch.cat([z[:, 1:], edge], 1)
            z = torch.logaddexp(blanks[n] + z, shifted).clamp(min=_NEVER)
        z = torch.where(end & (last == n)[:, None], final[:, None], z)
        backward[n] = z
    likelihood = forward[last, b, labels] + final
    following = torch.cat([backward[1:], torch.full((1, batch, width), _NEVER)], 0)
    above = torch.cat([following[:, :, 1:], torch.full((diagonals, batch, 1), _NEVER)], 2)
    reached = forward - likelihood[None, :, None]
    by_blank = torch.exp((reached + blanks + following).clamp(max=0))
    by_label = torch.exp((reached + steps + above).clamp(max=0))
    by_blank[last, b, labels] = 1.0
    return likelihood, _unskew(by_blank, longest), _unskew(by_label, longest)


class _Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, targets, frames, labels):
        batch, longest, width, _ = logits.shape
        p = logits.to(torch.float32, copy=True)
        following = torch.cat([targets, targets.new_zeros(batch, 1)], 1)
        index = following[:, None, :, None].expand(batch, longest, width, 1)
        p.sub_(torch.logsumexp(p, -1, keepdim=True))
        label = p.gather(-1, index)[..., 0]
        likelihood, by_blank, by_label = occupancy(p[..., -1], label, frames, labels)
        if ctx.needs_input_grad[0]:
            p.exp_().mul_((by_blank + by_label).unsqueeze(-1))
            p[..., -1] -= by_blank
            p.scatter_add_(-1, index, -by_label.unsqueeze(-1))
            ctx.save_for_backward(p.to(logits.dtype))
        return -likelihood

    @staticmethod
    def backward(ctx, grad):
        (p,) = ctx.saved_tensors
        return p * grad[:, None, None, None].to(p.dtype), None, None, None


def rnnt_loss(logits: Tensor, targets: Tensor, frames: Tensor, labels: Tensor) -> Tensor:
    """logits (B, T, U + 1, V + 1) with the blank last; targets (B, U); lengths (B,) -> (B,)"""
    return _Loss.apply(logits, targets, frames, labels)
