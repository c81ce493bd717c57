"""Turns a NeMo checkpoint into weights that the engine serves.

  svc-models import nemo FILE.nemo --name NAME --licence LICENCE [--int8]

Takes cache-aware FastConformer transducers with att_context_size [56, 13]: pure RNN-T, hybrid
RNN-T/CTC (without its CTC head) and both with a language prompt. Needs NeMo 3.0.0
(requirements-nemo.txt). Writes encoder.onnx, decoder.onnx, joiner.onnx and tokens.txt; `svc-models`
writes the manifests beside them.

Refuses a checkpoint that the engine cannot serve and lists every reason at once.
"""

import argparse
import json
import sys
import tarfile
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import onnx
import torch
import yaml
from torch import nn

from ..weights.graphs import Graphs, cache_sizes, export_graphs
from ..weights.onnx_graph import drop_unused_outputs, fold_constants
from ..weights.quantise import quantise
from ..weights.quantise_frames import quantise_frames

CONTEXT = [56, 13]  # encoder frames of 80 ms to the left and to the right
CHUNK, PRE_ENCODE, SUBSAMPLING = 112, 9, 8  # mel frames
FEATURES = (80, 128)
IR_VERSION = 10  # the newest that the engine's ONNX Runtime reads
EXTERNAL_BYTES = 1_800_000_000  # a protobuf holds 2 GiB at most


class CannotServe(Exception):
    def __init__(self, problems: list[str]):
        super().__init__("The engine cannot serve this checkpoint:\n- " + "\n- ".join(problems))
        self.problems = problems


def read_config(checkpoint: Path) -> dict:
    """Reads the configuration inside a .nemo file without loading the weights."""
    try:
        with tarfile.open(checkpoint) as archive:
            for member in archive.getmembers():
                if member.name.removeprefix("./") == "model_config.yaml":
                    return yaml.safe_load(archive.extractfile(member))
    except (OSError, tarfile.TarError) as error:
        raise CannotServe([f"{checkpoint} is not a .nemo file: {error}"]) from error
    raise CannotServe([f"{checkpoint} holds no model_config.yaml; is it a .nemo file?"])


def _contexts(encoder: dict) -> list[list[int]]:
    value = encoder.get("att_context_size") or []
    return [list(v) for v in value] if value and isinstance(value[0], list) else [list(value)]


def check_config(config: dict) -> list[str]:
    """Returns a sentence for everything in the configuration that the engine cannot serve."""
    encoder, features = config.get("encoder", {}), config.get("preprocessor", {})
    target = str(config.get("target", "")).rsplit(".", 1)[-1]
    problems = []

    def want(what: str, actual, *allowed) -> None:
        if actual not in allowed:
            names = " or ".join(map(str, allowed))
            problems.append(f"{what} is {actual}; it must be {names}")

    if "RNNT" not in target:
        problems.append(f"{target or 'the model'} is not a transducer (RNN-T or hybrid RNN-T/CTC)")
    if CONTEXT not in _contexts(encoder):
        problems.append(
            f"encoder.att_context_size is {encoder.get('att_context_size')}; train with {CONTEXT}, "
            "alone or as one of several"
        )
    want("encoder.att_context_style", encoder.get("att_context_style"), "chunked_limited")
    want("encoder.conv_context_size", encoder.get("conv_context_size"), "causal")
    want("encoder.causal_downsampling", encoder.get("causal_downsampling"), True)
    want("encoder.subsampling_factor", encoder.get("subsampling_factor"), SUBSAMPLING)
    want("preprocessor.normalize", features.get("normalize"), "NA", None)
    want("preprocessor.sample_rate", features.get("sample_rate", 16000), 16000)
    want("preprocessor.window_size", features.get("window_size"), 0.025)
    want("preprocessor.window_stride", features.get("window_stride"), 0.01)
    want("preprocessor.window", features.get("window", "hann"), "hann")
    want("preprocessor.n_fft", features.get("n_fft"), 512)
    want("preprocessor.features", features.get("features"), *FEATURES)
    if config.get("decoder", {}).get("prednet", {}).get("pred_hidden") is None:
        problems.append("decoder.prednet.pred_hidden is missing: only LSTM predictors are served")
    if (config.get("joint") or {}).get("num_extra_outputs", 0):
        problems.append("the joint has extra outputs (TDT durations); the engine reads RNN-T only")
    return problems


def has_prompt(config: dict) -> bool:
    defaults = config.get("model_defaults") or {}
    named = str(config.get("target", "")).endswith("WithPrompt")
    return named or bool(defaults.get("initialize_prompt_feature"))


def check_prompt(config: dict, model) -> list[str]:
    """A prompt model without its prompt still exports, and then ignores the language."""
    if not has_prompt(config):
        return []
    if getattr(model, "prompt_kernel", None) is None or not getattr(model, "concat", False):
        return [
            "it is a prompt model, but its prompt was dropped: there is no prompt_kernel. "
            "Save it with model_defaults.initialize_prompt_feature: true"
        ]
    if not prompts_of(config):
        return ["it is a prompt model without model_defaults.prompt_dictionary"]
    return []


def prompts_of(config: dict) -> dict[str, int]:
    return dict((config.get("model_defaults") or {}).get("prompt_dictionary") or {})


class OriginalEncoder(nn.Module):
    """NeMo's own streaming encoder, with the prompt and the joint's projection of its frames."""

    def __init__(self, model, prompted: bool):
        super().__init__()
        self.encoder, self.joint = model.encoder, model.joint.enc
        self.kernel = model.prompt_kernel if prompted else None
        self.prompts = model.num_prompts if prompted else 0

    def empty_caches(self, batch: int):
        channel, time, cached = self.encoder.get_initial_cache_state(batch_size=batch)
        return channel.transpose(0, 1), time.transpose(0, 1), cached

    def forward(self, mel, length, channel, time, cached, prompt_index=None):
        y, *rest = self.encoder.forward_for_export(mel, length, channel, time, cached)
        y = y.transpose(1, 2)
        if self.kernel is not None:
            one_hot = nn.functional.one_hot(prompt_index, self.prompts).to(y.dtype)
            prompt = one_hot[:, None].expand(-1, y.shape[1], -1)
            y = self.kernel(torch.cat([y, prompt], -1))
        return self.joint(y).transpose(1, 2), *rest


def load(checkpoint: Path):
    """Returns the model, set up to stream in chunks of 1.12 s, and its configuration."""
    config = read_config(checkpoint)
    if problems := check_config(config):
        raise CannotServe(problems)
    from nemo.collections.asr.models import ASRModel

    model = ASRModel.restore_from(str(checkpoint), map_location="cpu").eval()
    if problems := check_prompt(config, model):
        raise CannotServe(problems)
    prepare(model)
    return model, config


def prepare(model) -> None:
    model.encoder.set_default_att_context_size(CONTEXT)
    model.encoder.setup_streaming_params()
    streaming = model.encoder.streaming_cfg
    chunk, cache = _last(streaming.chunk_size), _last(streaming.pre_encode_cache_size)
    problems = []
    if chunk != CHUNK:
        problems.append(f"a chunk is {chunk} mel frames; the engine decodes {CHUNK}")
    if cache != PRE_ENCODE:
        problems.append(f"the pre-encode cache is {cache} mel frames; it must be {PRE_ENCODE}")
    if problems:
        raise CannotServe(problems)


def _last(value):
    return value[-1] if isinstance(value, list | tuple) else value


def metadata(model, config: dict, encoder: nn.Module) -> dict[str, str]:
    decoder = model.decoder
    values = {
        "vocab_size": decoder.vocab_size, "window_size": CHUNK + PRE_ENCODE, "chunk_shift": CHUNK,
        "subsampling_factor": SUBSAMPLING, "normalize_type": "",
        "feat_dim": config["preprocessor"]["features"], "att_context_size": "56,13",
        **cache_sizes(encoder),
        "pred_rnn_layers": decoder.pred_rnn_layers, "pred_hidden": decoder.pred_hidden,
        "version": "1", "model_type": type(model).__name__, "comment": "imported from NeMo",
    }  # fmt: skip
    if has_prompt(config):
        prompts = prompts_of(config)
        values["prompt_dictionary"] = json.dumps(prompts)
        values["auto_prompt_id"] = prompts.get("auto", next(iter(prompts.values())))
    return {key: str(value) for key, value in values.items()}


def choose_encoder(model, config: dict) -> tuple[nn.Module, str | None]:
    """Returns the rearranged encoder, or the original one and a sentence that says why."""
    from .rearrange_nemo import CannotRearrange, rearrange_encoder

    original = OriginalEncoder(model, has_prompt(config))
    try:
        return rearrange_encoder(model, original), None
    except CannotRearrange as reason:
        return original, (
            f"The encoder keeps NeMo's own graph, because {reason}. It computes the same, but a "
            "core serves about half as many streams."
        )


def finish(path: Path, values: dict[str, str], int8: bool, originals: bool) -> None:
    """Writes the metadata. Weights too large for one file are stored beside it."""
    model = onnx.load(path)
    drop_unused_outputs(model.graph)
    fold_constants(model.graph)
    if int8:
        (quantise if originals else quantise_frames)(model)
    del model.metadata_props[:]
    for key, value in values.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    model.ir_version = min(model.ir_version, IR_VERSION)
    # ByteSize() fails above 2 GB.
    external = sum(len(tensor.raw_data) for tensor in model.graph.initializer) > EXTERNAL_BYTES
    onnx.save(
        model, path, save_as_external_data=external, all_tensors_to_one_file=True,
        location=f"{path.stem}.data",
    )  # fmt: skip


@dataclass(frozen=True)
class Imported:
    prompts: list[str]
    notice: str | None  # why the encoder could not be rearranged
    difference: float  # the largest of a log probability, from NeMo's


@contextmanager
def stage(name: str, say: Callable[[str], None]):
    """Says that a stage begins, and how long it took."""
    say(f"{name} ...")
    began = time.monotonic()
    yield
    say(f"{name}: {time.monotonic() - began:.0f} s")


def import_checkpoint(
    checkpoint: Path, out: Path, int8: bool, say: Callable[[str], None] = lambda _: None
) -> Imported:
    if out.exists() and any(out.iterdir()):
        raise CannotServe([f"{out} is not empty; name another folder"])
    with stage("load the checkpoint", say):
        model, config = load(checkpoint)
    with stage("export its graphs", say):
        encoder, notice, beside = _export(model, config, out)
    with stage("write 8-bit weights" if int8 else "write the weights", say):
        finish(out / "decoder.onnx", {}, int8, originals=False)
        finish(out / "joiner.onnx", {}, int8, originals=False)
        values = metadata(model, config, encoder)
        finish(out / "encoder.onnx", values, int8, originals=notice is not None)
        for path in beside:
            path.unlink()
    from .compare_nemo import difference_from_nemo

    with stage("compare with NeMo", say):
        prompts = list(prompts_of(config)) if has_prompt(config) else []
        fresh, _ = load(checkpoint)  # the exporter changes modules that it traces
        original = OriginalEncoder(fresh, has_prompt(config))
        difference = difference_from_nemo(fresh, original, encoder, out)
        return Imported(prompts, notice, difference)


def _export(model, config: dict, out: Path) -> tuple[nn.Module, str | None, list[Path]]:
    """Returns the encoder, why it is the original one, and the files that the exporter left."""
    from .rearrange_nemo import rearrange_decoder, rearrange_joiner

    encoder, notice = choose_encoder(model, config)
    graphs = Graphs(
        encoder=encoder,
        decoder=rearrange_decoder(model),
        joiner=rearrange_joiner(model),
        tokens=list(model.joint.vocabulary),
        bins=config["preprocessor"]["features"],
        prompted=has_prompt(config),
    )
    export_graphs(graphs, out)
    # The exporter writes each weight of a graph over 2 GB to a file of its own.
    beside = [path for path in out.iterdir() if path.suffix not in {".onnx", ".txt"}]
    return encoder, notice, beside


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="folder for the four files")
    parser.add_argument("--int8", action="store_true", help="signed 8-bit weights")
    options = parser.parse_args()
    try:
        imported = import_checkpoint(options.checkpoint, options.out, options.int8, _say)
    except CannotServe as refusal:
        print(refusal, file=sys.stderr)
        return 1
    files = sorted(path.name for path in options.out.iterdir())
    print(json.dumps({"files": files, **asdict(imported)}))
    return 0


def _say(line: str) -> None:
    """NeMo prints on both outputs, so the lines for people have a mark."""
    print(f"import: {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
