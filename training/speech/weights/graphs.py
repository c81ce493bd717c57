"""Exports the three graphs of a transducer to the engine's contract (NeMo streaming transducer).

The order of inputs matters, their names do not, except prompt_index; <blk> comes last in tokens.
"""

from dataclasses import dataclass
from pathlib import Path

import torch
from torch import nn

from ..transducer.model import WINDOW
from .rearranged_decoder import RearrangedDecoder, RearrangedJoiner

OPSET = 17
OPSETS = {"com.microsoft": 1}
INPUTS = [
    "audio_signal", "length", "cache_last_channel", "cache_last_time", "cache_last_channel_len",
]  # fmt: skip
PROMPT = "prompt_index"
OUTPUTS = [
    "outputs", "encoded_lengths", "cache_last_channel_next", "cache_last_time_next",
    "cache_last_channel_next_len",
]  # fmt: skip


@dataclass(frozen=True)
class Graphs:
    """The three modules of a transducer as the engine runs them."""

    encoder: nn.Module  # with empty_caches()
    decoder: RearrangedDecoder
    joiner: RearrangedJoiner
    tokens: list[str]
    bins: int = 80
    prompted: bool = True


@torch.no_grad()
def export_graphs(graphs: Graphs, out: Path) -> None:
    """Writes the three graphs, each for any batch, and the tokens."""
    out.mkdir(parents=True, exist_ok=True)
    one = torch.ones(1, dtype=torch.int64)
    inputs = (torch.randn(1, graphs.bins, WINDOW), one * WINDOW, *graphs.encoder.empty_caches(1))
    names = [*INPUTS, PROMPT] if graphs.prompted else INPUTS
    inputs = (*inputs, one * 0) if graphs.prompted else inputs
    axes = {name: {0: "batch"} for name in (*names, *OUTPUTS)}
    export_graph(graphs.encoder, inputs, out / "encoder.onnx", names, OUTPUTS, axes)

    decoder = graphs.decoder
    state = torch.zeros(decoder.depth, 1, decoder.size)
    inputs = (torch.zeros(1, 1, dtype=torch.int32), one.int(), state, state)
    names = ["targets", "target_length", "h", "c"]
    outputs = ["outputs", "prednet_lengths", "h_next", "c_next"]
    axes = {n: {1 if n[0] in "hc" else 0: "batch"} for n in (*names, *outputs)}
    export_graph(decoder, inputs, out / "decoder.onnx", names, outputs, axes)

    frame = torch.zeros(1, decoder.joint.weight.shape[1], 1)
    names = ["encoder_outputs", "decoder_outputs"]
    axes = {name: {0: "batch"} for name in (*names, "outputs")}
    export_graph(graphs.joiner, (frame, frame), out / "joiner.onnx", names, ["outputs"], axes)

    lines = [f"{token} {i}\n" for i, token in enumerate([*graphs.tokens, "<blk>"])]
    (out / "tokens.txt").write_text("".join(lines), encoding="utf-8")


def export_graph(module, inputs, path: Path, names, outputs, axes) -> None:
    torch.onnx.export(
        module, inputs, str(path), input_names=names, output_names=outputs,
        dynamic_axes=axes, opset_version=OPSET, custom_opsets=OPSETS, dynamo=False,
    )  # fmt: skip


def cache_sizes(encoder: nn.Module) -> dict[str, int]:
    """Returns the metadata with which the engine makes empty caches."""
    channel, time, _ = encoder.empty_caches(1)
    return {
        f"cache_last_{name}_dim{at}": cache.shape[at]
        for name, cache in (("channel", channel), ("time", time))
        for at in (1, 2, 3)
    }
