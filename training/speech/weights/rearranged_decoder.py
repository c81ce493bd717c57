"""Predictor and joint of a transducer, rearranged for one label at a time in any batch.

The first product of the LSTM depends on the label alone, so it is a table. The joint's two
projections move to where their inputs are made: the encoder projects frames in a batch, and the
predictor projects once per label instead of once per frame. The joiner keeps its last product.
"""

from types import SimpleNamespace

import torch
from torch import Tensor, nn

from .rearranged_encoder import Product, constant

GATES = 4  # input, forget, cell, output


class RearrangedDecoder(nn.Module):
    """Targets (B, 1), states (layers, B, size) -> (B, joint, 1), lengths and the new states."""

    def __init__(self, embedding: nn.Embedding, lstm: nn.LSTM, joint: nn.Linear):
        super().__init__()
        layers = range(lstm.num_layers)
        first, *rest = (_part(lstm, "ih", layer) for layer in layers)
        self.embedding = constant(embedding.weight)
        self.from_embedding = Product(first)
        self.from_input = nn.ModuleList(map(Product, rest))
        self.from_state = nn.ModuleList(Product(_part(lstm, "hh", layer)) for layer in layers)
        self.joint = Product(joint)
        self.depth, self.size = lstm.num_layers, lstm.hidden_size

    def forward(self, targets, target_length, hidden, cell):
        table = self.from_embedding(self.embedding)  # a constant, which is folded
        from_input = table[targets[:, 0].long()]
        new_hidden, new_cell = [], []
        for at, from_state in enumerate(self.from_state):
            gates = from_input + from_state(hidden[at])
            take, forget, add, give = gates.chunk(GATES, 1)
            c = torch.sigmoid(forget) * cell[at] + torch.sigmoid(take) * torch.tanh(add)
            y = torch.sigmoid(give) * torch.tanh(c)
            new_hidden.append(y)
            new_cell.append(c)
            if at < len(self.from_input):
                from_input = self.from_input[at](y)
        predicted = self.joint(y).unsqueeze(2)
        return predicted, target_length + 0, torch.stack(new_hidden), torch.stack(new_cell)


class RearrangedJoiner(nn.Module):
    """Projected frames (B, joint, 1) and labels (B, joint, 1) -> logits (B, 1, 1, labels)."""

    def __init__(self, activation: nn.Module, out: nn.Linear):
        super().__init__()
        self.activation, self.out = activation, Product(out)

    def forward(self, encoded: Tensor, predicted: Tensor) -> Tensor:
        logits = self.out(self.activation((encoded + predicted).squeeze(2)))
        return logits.unsqueeze(1).unsqueeze(1)


def _part(lstm: nn.LSTM, kind: str, layer: int) -> SimpleNamespace:
    weight, bias = (getattr(lstm, f"{name}_{kind}_l{layer}") for name in ("weight", "bias"))
    return SimpleNamespace(weight=weight, bias=bias)
