"""Reads exported weights back into the torch model, to continue training from a release.

  python -m speech.weights.import_onnx --model DIR --out CHECKPOINT

The exporter keeps the parameter names of the rearranged modules (rearranged_encoder.py). The CTC
head is not exported. It starts with new weights, and at first its loss does not update the encoder.
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor

from ..transducer.model import Transducer


def _constants(graph: onnx.GraphProto) -> dict[str, np.ndarray]:
    """Returns the initialisers as float32, also those that are stored as fp16 with a Cast."""
    found = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    for node in graph.node:
        if node.op_type == "Cast" and node.input[0] in found:
            found[node.output[0]] = found[node.input[0]]
    return {
        name: value.astype(np.float32) if value.dtype.kind == "f" else value
        for name, value in found.items()
    }


class Graph:
    """The constants of one exported file by the names of the rearranged modules."""

    def __init__(self, path: Path):
        self._values = _constants(onnx.load(path).graph)

    def value(self, name: str) -> Tensor:
        if name not in self._values:
            raise NotExported(name)
        return torch.from_numpy(np.array(self._values[name]))

    def product(self, name: str, into: str, factor: float = 1.0) -> dict[str, Tensor]:
        return {
            f"{into}.weight": factor * self.value(f"{name}.weight").t(),
            f"{into}.bias": factor * self.value(f"{name}.bias"),
        }

    def norm(self, name: str, into: str) -> dict[str, Tensor]:
        return {
            f"{into}.weight": self.value(f"{name}.gamma"),
            f"{into}.bias": self.value(f"{name}.beta"),
        }


class NotExported(Exception):
    pass


def _layer(graph: Graph, name: str) -> dict[str, Tensor]:
    attention, convolution = f"{name}.attention", f"{name}.convolution"
    found = {}
    for norm in ("norm_feed_in", "norm_attention", "norm_conv", "norm_feed_out", "norm_out"):
        found |= graph.norm(f"{name}.{norm}", f"{name}.{norm}")
    for feed in (f"{name}.feed_in", f"{name}.feed_out"):
        found |= graph.product(f"{feed}.up", f"{feed}.up")
        found |= graph.product(f"{feed}.down", f"{feed}.down", factor=2.0)
    for kind, values in graph.product(f"{attention}.qkv", "qkv").items():
        for part, value in zip(("query", "key", "value"), values.chunk(3), strict=True):
            found[f"{attention}.{part}.{kind.removeprefix('qkv.')}"] = value
    found |= graph.product(f"{attention}.out", f"{attention}.out")
    found[f"{attention}.position.weight"] = graph.value(f"{attention}.position.weight").t()
    for bias in ("content_bias", "position_bias"):
        found[f"{attention}.{bias}"] = graph.value(f"{attention}.{bias}")[0, :, 0]
    for part in ("pointwise_in", "pointwise_out"):
        found |= graph.product(f"{convolution}.{part}", f"{name}.{part}")
    found |= graph.norm(f"{convolution}.norm", f"{name}.norm_depthwise")
    found[f"{name}.depthwise.weight"] = graph.value(f"{convolution}.depthwise").squeeze(2)
    found[f"{name}.depthwise.bias"] = graph.value(f"{convolution}.depthwise_bias")
    return found


def _encoder(graph: Graph, layers: int) -> dict[str, Tensor]:
    found = {name: graph.value(name) for name in ("mean", "std")}
    for at, part in enumerate(("first", "second", "third")):
        for kind in ("weight", "bias"):
            value = graph.value(f"subsampling.{2 * at}.{kind}")
            found[f"subsampling.{part}.conv.{kind}"] = value
    found |= graph.product("project", "subsampling.out")
    for at in range(layers):
        found |= _layer(graph, f"layers.{at}")
    found |= graph.product("prompt.first", "prompted.0") | graph.product(
        "prompt.second", "prompted.2"
    )
    table = graph.value("prompt.table").t()
    found["prompted.0.weight"] = torch.cat([found["prompted.0.weight"], table], 1)
    return found


def _predictor(graph: Graph) -> dict[str, Tensor]:
    found = {"embedding.weight": graph.value("embedding")}
    for name, kind in (("from_embedding", "ih"), ("from_state.0", "hh")):
        for part, value in graph.product(name, "part").items():
            found[f"lstm.{part.removeprefix('part.')}_{kind}_l0"] = value
    return found


def read_parameters(folder: Path, layers: int) -> dict[str, Tensor]:
    """Returns the parameters of an export by their names in the torch model."""
    encoder, decoder, joiner = (
        Graph(folder / f"{name}.onnx") for name in ("encoder", "decoder", "joiner")
    )
    return {
        **{f"encoder.{name}": value for name, value in _encoder(encoder, layers).items()},
        **{f"predictor.{name}": value for name, value in _predictor(decoder).items()},
        **encoder.product("joint", "joint.from_encoder"),
        **decoder.product("joint", "joint.from_predictor"),
        **joiner.product("out", "joint.out"),
    }


def load_exported(folder: Path, model: Transducer) -> list[str]:
    """Loads the weights into the model. Returns the names that were not loaded (the CTC head)."""
    state = model.state_dict()
    constants = {"encoder.positions", "encoder.slots", "encoder.prompts"}
    try:
        found = read_parameters(folder, model.encoder.depth)
    except NotExported as missing:
        raise _other_model(folder, f"it lacks {missing}") from missing
    other = [name for name, value in found.items() if value.shape != state[name].shape]
    if other:
        raise _other_model(folder, f"{', '.join(other[:5])} ({len(other)} in all) differ in shape")
    model.load_state_dict(state | found)
    return [name for name in state if name not in found and name not in constants]


def _other_model(folder: Path, why: str) -> ValueError:
    return ValueError(
        f"{folder} does not hold the parameters of this model: {why}. Was it exported by "
        "speech.weights.export from a model of the same size?"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    model = Transducer()
    fresh = load_exported(options.model, model)
    checkpoint = {"model": model.state_dict(), "config": model.config, "step": 0, "audio_s": 0.0}
    torch.save(checkpoint, options.out)
    print(f"{options.out}: weights of {options.model}; not in an export: {', '.join(fresh)}")


if __name__ == "__main__":
    main()
