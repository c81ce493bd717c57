"""Reads exported weights back into the torch model, to continue training from a release.

  python -m speech.import_onnx --model DIR --out CHECKPOINT

The exporter keeps most parameter names; a Linear's weight becomes a nameless transposed constant,
found through the MatMul that uses it, whose node name is the module's path. The CTC head is not
exported. It starts with new weights, and at first its loss does not update the encoder.
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from .model import Transducer

PARTS = {"encoder": "encoder", "decoder": "predictor", "joiner": "joint"}


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


def _module_path(node_name: str) -> str:
    """Maps a node to its module: /layers.0/attention/query/MatMul -> layers.0.attention.query.

    A Sequential writes its own name twice. One is dropped.
    """
    parts = node_name.strip("/").split("/")[:-1]
    kept = [
        p for i, p in enumerate(parts) if not (parts[i + 1 : i + 2] or [""])[0].startswith(p + ".")
    ]
    return ".".join(kept)


def _lstm(prefix: str, node: onnx.NodeProto, constants: dict) -> dict[str, np.ndarray]:
    """Reorders the gates from ONNX (i, o, f, c) to torch (i, f, c, o)."""

    def reorder(x: np.ndarray) -> np.ndarray:
        i, o, f, c = np.split(x, 4)
        return np.concatenate([i, f, c, o])

    input_weight, state_weight, bias = (constants[name][0] for name in node.input[1:4])
    input_bias, state_bias = np.split(bias, 2)
    return {
        f"{prefix}.weight_ih_l0": reorder(input_weight),
        f"{prefix}.weight_hh_l0": reorder(state_weight),
        f"{prefix}.bias_ih_l0": reorder(input_bias),
        f"{prefix}.bias_hh_l0": reorder(state_bias),
    }


def read_parameters(path: Path) -> dict[str, np.ndarray]:
    """Returns the parameters of one exported file by their torch names within that part."""
    graph = onnx.load(path).graph
    constants = _constants(graph)
    found = {name: value for name, value in constants.items() if "::" not in name}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in constants:
            found[_module_path(node.name) + ".weight"] = constants[node.input[1]].T
        elif node.op_type == "LSTM":
            found.update(_lstm(_module_path(node.name), node, constants))
    return found


def load_exported(folder: Path, model: Transducer) -> list[str]:
    """Loads the weights into the model. Returns the names that were not loaded (the CTC head)."""
    state = model.state_dict()
    missing = []
    for file, part in PARTS.items():
        found = read_parameters(folder / f"{file}.onnx")
        for name in [n for n in state if n.startswith(part + ".")]:
            value = found.get(name, found.get(name.removeprefix(part + ".")))
            if value is None or tuple(value.shape) != tuple(state[name].shape):
                missing.append(name)
                continue
            state[name] = torch.from_numpy(np.array(value))
    if missing:
        raise ValueError(
            f"{folder} does not hold these parameters in the shape of this model: "
            f"{', '.join(missing[:5])} ({len(missing)} in all). Was it exported by speech.export "
            "from a model of the same size?"
        )
    model.load_state_dict(state)
    return [name for name in state if name.startswith("ctc.")]


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
