"""Writes encoder, decoder, joiner and tokens to the engine's contract (NeMo streaming transducer).

  python -m speech.weights.export --checkpoint RUN/average.pt --out DIR

Weights are stored in half precision, each followed by a Cast. ONNX Runtime folds the casts when it
loads, so files are half the size and arithmetic stays fp32.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from ..text.tokens import PROMPTS, TOKENS
from ..transducer.model import (
    CHUNK,
    LEFT,
    SHIFT,
    SUBSAMPLING,
    WINDOW,
    ConformerLayer,
    Encoder,
    Transducer,
)
from .graphs import Graphs, cache_sizes, export_graphs
from .onnx_graph import drop_unused_outputs
from .rearranged_decoder import RearrangedDecoder, RearrangedJoiner
from .rearranged_encoder import EncoderParts, LayerParts, RearrangedEncoder

SMALLEST_HALVED = 1024  # values; scales, biases and feature statistics stay whole


def rearrange(model: Transducer) -> Graphs:
    joint, predictor = model.joint, model.predictor
    return Graphs(
        encoder=RearrangedEncoder(encoder_parts(model.encoder), joint.from_encoder),
        decoder=RearrangedDecoder(predictor.embedding, predictor.lstm, joint.from_predictor),
        joiner=RearrangedJoiner(nn.ReLU(), joint.out),
        tokens=TOKENS,
    )


def encoder_parts(encoder: Encoder) -> EncoderParts:
    parts = encoder.subsampling
    subsampling = (parts.first, parts.second, parts.third)
    return EncoderParts(
        subsampling=[part for conv in subsampling for part in (conv.conv, nn.ReLU())],
        project=encoder.subsampling.out,
        layers=[layer_parts(layer) for layer in encoder.layers],
        positions=encoder.positions,
        prompt=(encoder.prompted[0], encoder.prompted[2]),
        mean=encoder.mean,
        std=encoder.std,
    )


def layer_parts(layer: ConformerLayer) -> LayerParts:
    attention = layer.attention
    return LayerParts(
        heads=attention.heads,
        norm_feed_in=layer.norm_feed_in,
        feed_in=(layer.feed_in.up, layer.feed_in.down),
        norm_attention=layer.norm_attention,
        query=attention.query,
        key=attention.key,
        value=attention.value,
        out=attention.out,
        position=attention.position,
        content_bias=attention.content_bias,
        position_bias=attention.position_bias,
        norm_conv=layer.norm_conv,
        pointwise_in=layer.pointwise_in,
        depthwise=layer.depthwise,
        norm_depthwise=layer.norm_depthwise,
        pointwise_out=layer.pointwise_out,
        norm_feed_out=layer.norm_feed_out,
        feed_out=(layer.feed_out.up, layer.feed_out.down),
        norm_out=layer.norm_out,
    )


def metadata(model: Transducer, encoder: RearrangedEncoder, comment: str) -> dict[str, str]:
    values = {
        "vocab_size": len(TOKENS), "window_size": WINDOW, "chunk_shift": SHIFT,
        "chunk_size_ms": CHUNK * 80, "subsampling_factor": SUBSAMPLING, "normalize_type": "",
        "feat_dim": 80, "att_context_size": f"{LEFT},{CHUNK - 1}",
        **cache_sizes(encoder),
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
    drop_unused_outputs(model.graph)
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
    graphs = rearrange(model.eval())
    export_graphs(graphs, out)
    finish(out / "encoder.onnx", metadata(model, graphs.encoder, comment), half)
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
