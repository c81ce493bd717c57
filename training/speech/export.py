"""Writes encoder, decoder, joiner and tokens to the engine's contract (NeMo streaming transducer).

  python -m speech.export --checkpoint RUN/average.pt --out DIR

The order of inputs matters, their names do not, except prompt_index; <blk> comes last in tokens.
Weights are stored in half precision, each followed by a Cast. ONNX Runtime folds the casts when it
loads, so files are half the size and arithmetic stays fp32. Dynamic int8 is not used: it has one
scale for a whole batch, so one stream's audio could change another's text.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from .model import CHUNK, LEFT, SHIFT, SUBSAMPLING, WINDOW, Transducer
from .tokens import PROMPTS, TOKENS

OPSET = 17
SMALLEST_HALVED = 1024  # values; scales, biases and feature statistics stay whole
INPUTS = [
    "audio_signal", "length", "cache_last_channel", "cache_last_time", "cache_last_channel_len",
    "prompt_index",
]  # fmt: skip
OUTPUTS = [
    "outputs", "encoded_lengths", "cache_last_channel_next", "cache_last_time_next",
    "cache_last_channel_next_len",
]  # fmt: skip


class StreamingEncoder(nn.Module):
    """Returns (B, D, 14), the layout that the engine reads."""

    def __init__(self, encoder: nn.Module):
        super().__init__()
        self.encoder = encoder

    def forward(self, mel, length, frames, conv, cached, prompt):
        y, *rest = self.encoder(mel, length, frames, conv, cached, prompt)
        return y.transpose(1, 2), *rest


def export_graph(module, inputs, path: Path, names, outputs, axes) -> None:
    torch.onnx.export(
        module, inputs, str(path), input_names=names, output_names=outputs,
        dynamic_axes=axes, opset_version=OPSET, dynamo=False,
    )  # fmt: skip


def export_parts(model: Transducer, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    model.eval()
    encoder, one = model.encoder, torch.ones(1, dtype=torch.int64)
    batch = {name: {0: "batch"} for name in INPUTS + OUTPUTS}
    mel = torch.randn(1, 80, WINDOW)
    inputs = (mel, one * WINDOW, *encoder.empty_caches(1), one * 0)
    export_graph(StreamingEncoder(encoder), inputs, out / "encoder.onnx", INPUTS, OUTPUTS, batch)

    state = torch.zeros(1, 1, model.predictor.size)
    targets = torch.zeros(1, 1, dtype=torch.int32)
    names = ["targets", "target_length", "h", "c"]
    outputs = ["outputs", "prednet_lengths", "h_next", "c_next"]
    axes = {n: {1 if n[0] in "hc" else 0: "batch"} for n in (*names, "outputs", *outputs[2:])}
    inputs = (targets, torch.ones(1, dtype=torch.int32), state, state)
    export_graph(model.predictor, inputs, out / "decoder.onnx", names, outputs, axes)

    names = ["encoder_outputs", "decoder_outputs"]
    axes = {names[0]: {0: "batch", 2: "t"}, names[1]: {0: "batch", 2: "u"}, "outputs": {0: "batch"}}
    inputs = (torch.zeros(1, encoder.width, 1), torch.zeros(1, model.predictor.size, 1))
    export_graph(model.joint, inputs, out / "joiner.onnx", names, ["outputs"], axes)

    lines = [f"{token} {i}\n" for i, token in enumerate([*TOKENS, "<blk>"])]
    (out / "tokens.txt").write_text("".join(lines), encoding="utf-8")


def metadata(model: Transducer, comment: str) -> dict[str, str]:
    encoder = model.encoder
    values = {
        "vocab_size": len(TOKENS), "window_size": WINDOW, "chunk_shift": SHIFT,
        "chunk_size_ms": CHUNK * 80, "subsampling_factor": SUBSAMPLING, "normalize_type": "",
        "feat_dim": 80, "att_context_size": f"{LEFT},{CHUNK - 1}",
        "cache_last_channel_dim1": encoder.depth, "cache_last_channel_dim2": LEFT,
        "cache_last_channel_dim3": encoder.width, "cache_last_time_dim1": encoder.depth,
        "cache_last_time_dim2": encoder.width, "cache_last_time_dim3": encoder.kernel - 1,
        "pred_rnn_layers": 1, "pred_hidden": model.predictor.size,
        "prompt_dictionary": json.dumps(PROMPTS), "auto_prompt_id": PROMPTS["auto"],
        "version": "1", "model_type": "EncDecRNNTBPEModelWithPrompt",
        "model_author": "trained on synthetic speech only", "comment": comment,
    }  # fmt: skip
    return {key: str(value) for key, value in values.items()}


def halve(graph: onnx.GraphProto) -> None:
    """Stores large fp32 initialisers as fp16 with a Cast back, whose output keeps the name."""
    casts = []
    for tensor in graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.size < SMALLEST_HALVED:
            continue
        name = tensor.name
        tensor.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}.half"))
        casts.append(helper.make_node("Cast", [f"{name}.half"], [name], to=TensorProto.FLOAT))
    nodes = [*casts, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def finish(path: Path, values: dict[str, str], half: bool) -> None:
    model = onnx.load(path)
    if half:
        halve(model.graph)
    del model.metadata_props[:]
    for key, value in values.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    onnx.checker.check_model(model)
    onnx.save(model, path)


def export(checkpoint: dict, out: Path, half: bool = True) -> None:
    model = Transducer(**checkpoint["config"])
    model.load_state_dict(checkpoint["model"])
    hours = checkpoint["audio_s"] / 3600
    comment = f"step {checkpoint['step']}, {hours:.1f} h of synthetic audio"
    with torch.no_grad():
        export_parts(model, out)
    finish(out / "encoder.onnx", metadata(model, comment), half)
    finish(out / "decoder.onnx", {}, half)
    finish(out / "joiner.onnx", {}, half)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--whole", action="store_true", help="store fp32 weights (twice the size)")
    options = parser.parse_args()
    export(torch.load(options.checkpoint, map_location="cpu"), options.out, not options.whole)
    size = sum(path.stat().st_size for path in options.out.iterdir())
    print(f"{options.out}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
