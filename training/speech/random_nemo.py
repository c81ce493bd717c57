"""Builds NeMo checkpoints of the three classes with random weights, to test and measure the import.

  python -m speech.random_nemo --kind hybrid --size 114m --out large.nemo

Size `tiny` exports in seconds and is for tests. Size `114m` has the dimensions of NVIDIA's large
streaming models, so its encoder costs the same; it writes nothing. docs/guides/weights.md
has the benchmark.
"""

import argparse
import random
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import sentencepiece
import torch
from nemo.collections.asr import models
from omegaconf import OmegaConf

from .vocabulary import sentence

CLASSES = {
    "rnnt": models.EncDecRNNTBPEModel,
    "hybrid": models.EncDecHybridRNNTCTCBPEModel,
    "prompt": models.EncDecRNNTBPEModelWithPrompt,
}
PROMPTS = {"ki-KE": 0, "luo-KE": 1, "auto": 2}


@dataclass(frozen=True)
class Size:
    layers: int
    width: int
    expansion: int
    heads: int
    channels: int
    predictor: int
    joint: int
    pieces: int


SIZES = {
    "tiny": Size(2, 64, 2, 4, 32, 48, 48, 96),
    "114m": Size(17, 512, 4, 8, 256, 640, 640, 512),
}


def tokenizer(folder: Path, pieces: int) -> Path:
    rng = random.Random(3)
    lines = [sentence(language, rng) for language in ("kik", "luo") for _ in range(300)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text.txt"), model_prefix=str(folder / "tokenizer"), vocab_size=pieces,
        model_type="bpe", character_coverage=1.0, minloglevel=2,
    )  # fmt: skip
    vocabulary = (folder / "tokenizer.vocab").read_text(encoding="utf-8").splitlines()
    found = [line.split("\t")[0] for line in vocabulary][1:]
    (folder / "vocab.txt").write_text("\n".join(f"##{p}" for p in found), encoding="utf-8")
    return folder


def config(kind: str, size: Size, folder: Path, **changes) -> dict:
    defaults = {
        "enc_hidden": size.width, "pred_hidden": size.predictor, "joint_hidden": size.joint,
    }  # fmt: skip
    if kind == "prompt":
        defaults |= {
            "initialize_prompt_feature": True, "num_prompts": 8, "prompt_dictionary": PROMPTS,
        }  # fmt: skip
    encoder = {
        "_target_": "nemo.collections.asr.modules.ConformerEncoder", "feat_in": 80, "feat_out": -1,
        "n_layers": size.layers, "d_model": size.width, "n_heads": size.heads,
        "subsampling": "dw_striding", "subsampling_factor": 8,
        "subsampling_conv_channels": size.channels, "causal_downsampling": True,
        "ff_expansion_factor": size.expansion,
        "self_attention_model": "rel_pos", "att_context_size": [[70, 13], [56, 13]],
        "att_context_style": "chunked_limited", "xscaling": False, "untie_biases": True,
        "conv_kernel_size": 9, "conv_norm_type": "layer_norm", "conv_context_size": "causal",
        "dropout": 0.0, "dropout_pre_encoder": 0.0, "dropout_emb": 0.0, "dropout_att": 0.0,
    }  # fmt: skip
    preprocessor = {
        "_target_": "nemo.collections.asr.modules.AudioToMelSpectrogramPreprocessor",
        "sample_rate": 16000, "normalize": "NA", "window_size": 0.025, "window_stride": 0.01,
        "window": "hann", "features": 80, "n_fft": 512, "frame_splicing": 1, "dither": 0.0,
        "pad_to": 0,
    }  # fmt: skip
    made = {
        "sample_rate": 16000, "log_prediction": False, "model_defaults": defaults,
        "tokenizer": {"dir": str(folder), "type": "bpe"}, "preprocessor": preprocessor,
        "encoder": encoder,
        "decoder": {
            "_target_": "nemo.collections.asr.modules.RNNTDecoder", "normalization_mode": None,
            "random_state_sampling": False, "blank_as_pad": True,
            "prednet": {"pred_hidden": size.predictor, "pred_rnn_layers": 1, "dropout": 0.0},
        },
        "joint": {
            "_target_": "nemo.collections.asr.modules.RNNTJoint", "log_softmax": None,
            "preserve_memory": False, "fuse_loss_wer": False, "fused_batch_size": 1,
            "jointnet": {"joint_hidden": size.joint, "activation": "relu", "dropout": 0.0},
        },
        "decoding": {"strategy": "greedy", "greedy": {"max_symbols": 10}},
        "loss": {"loss_name": "default"},
    }  # fmt: skip
    if kind == "hybrid":
        made["aux_ctc"] = {
            "ctc_loss_weight": 0.3, "use_cer": False,
            "decoder": {
                "_target_": "nemo.collections.asr.modules.ConvASRDecoder", "feat_in": None,
                "num_classes": -1, "vocabulary": [],
            },
            "decoding": {"strategy": "greedy"},
        }  # fmt: skip
    for key, value in changes.items():
        place, name = key.split("__")
        made[place][name] = value
    return made


def build(kind: str, folder: Path, size: str = "tiny", **changes) -> Path:
    """Saves a checkpoint. `encoder__subsampling_factor=4` changes one value of its config."""
    torch.manual_seed({"rnnt": 1, "hybrid": 2, "prompt": 3}[kind])
    words = tokenizer(folder / "tokenizer", SIZES[size].pieces)
    made = OmegaConf.create(config(kind, SIZES[size], words, **changes))
    model = CLASSES[kind](cfg=made).eval()
    # New weights give the same output for any audio. Larger weights do not.
    for parameter in (*model.joint.parameters(), *model.decoder.parameters()):
        parameter.data = 2.5 * torch.randn_like(parameter) / parameter.shape[-1] ** 0.5
    if size != "tiny":
        # Random weights write ten tokens a frame, thirty times as many as speech has. Write none.
        model.joint.joint_net[-1].bias.data[-1] = 1000
    model.decoder.prediction["embed"].weight.data[-1] = 0  # the blank, as in trained weights
    if getattr(model, "prompt_kernel", None) is not None:
        for parameter in model.prompt_kernel.parameters():
            parameter.data *= 2
    path = folder / f"{kind}.nemo"
    model.save_to(str(path))
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kind", choices=CLASSES, default="hybrid")
    parser.add_argument("--size", choices=SIZES, default="114m")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        shutil.move(build(options.kind, Path(folder), options.size), options.out)


if __name__ == "__main__":
    main()
