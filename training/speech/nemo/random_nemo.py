"""Builds NeMo checkpoints of the three classes with random weights, to test and measure the import.

  python -m speech.nemo.random_nemo --kind hybrid --size 114m --out large.nemo

Size `tiny` exports in seconds and is for tests. Sizes `114m` and `0.6b` have the dimensions of
NVIDIA's streaming models and write nonsense at the rate of speech, so they cost the same.
docs/guides/weights.md has the benchmark.
"""

import argparse
import random
import shutil
import tempfile
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import sentencepiece
import torch
from nemo.collections.asr import models
from omegaconf import OmegaConf

from ..data.features import log_mel
from ..text.vocabulary import sentence
from .import_nemo import CHUNK, PRE_ENCODE, OriginalEncoder, prepare

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
    "0.6b": Size(24, 1024, 4, 8, 256, 640, 640, 512),
}
# Three words a second of about 1.5 word pieces, in frames of 80 ms.
PIECES_PER_FRAME = 0.36
SEARCHES = 12
SUPPRESSED, OPEN = 20.0, 5.0
WINDOW = CHUNK + PRE_ENCODE
UNUSUAL, WARM_UP = 28, 70  # frames until the caches of the encoder are nearly full, and full
VARIED = 128
SILENCED = 0.97  # of the pieces, after each one
SPEECH = Path(__file__).resolve().parents[3] / "core/models/fixtures"


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
    model.decoder.prediction["embed"].weight.data[-1] = 0  # the blank, as in trained weights
    if getattr(model, "prompt_kernel", None) is not None:
        for parameter in model.prompt_kernel.parameters():
            parameter.data *= 2
    if size != "tiny":
        speak_at_the_rate_of_speech(model)
        model.encoder.set_default_att_context_size(made.encoder.att_context_size[0])
    path = folder / f"{kind}.nemo"
    model.save_to(str(path))
    return path


@torch.no_grad()
def speak_at_the_rate_of_speech(model) -> None:
    """Makes the joint write pieces as often as people speak, whatever the encoder hears.

    Random predictors write nothing, or the same piece for ever. So each piece has a unit of the
    joint, which random directions of the encoder's frames excite. The predictor passes the last
    piece on, which silences it and most others, so that a frame has few pieces and the next ones
    have some. Every product is computed as in other weights.
    """
    joint, prediction, pieces = model.joint, model.decoder.prediction, model.decoder.blank_idx
    all_frames = speech_frames(model)
    frames = all_frames[WARM_UP:]
    # The first frames are far from all others and would excite every unit.
    unusual = torch.linalg.qr((all_frames[:UNUSUAL] - frames.mean(0)).T).Q
    centred = frames - frames.mean(0)
    centred -= centred @ unusual @ unusual.T
    # Where frames hardly vary, the errors of 8-bit weights would count more than the audio.
    varied = torch.linalg.svd(centred, full_matrices=False).Vh[:VARIED]
    directions = torch.randn(pieces, len(varied)) @ varied
    directions /= (centred @ directions.T).std(0)[:, None]
    embedding, lstm = prediction["embed"], prediction["dec_rnn"].lstm
    for part in (*joint.parameters(), embedding.weight, *lstm.parameters()):
        part.zero_()
    joint.enc.weight[:pieces] = directions
    joint.enc.bias[:pieces] = -directions @ frames.mean(0)
    silenced = (torch.rand(pieces, pieces) < SILENCED).float().fill_diagonal_(1)
    joint.pred.weight[:pieces, :pieces] = -SUPPRESSED * silenced
    joint.joint_net[-1].weight[:pieces, :pieces] = torch.eye(pieces)
    embedding.weight[:pieces, :pieces] = torch.eye(pieces)
    take, forget, _, give = lstm.bias_ih_l0.chunk(4)
    take += OPEN
    forget -= OPEN
    give += OPEN
    lstm.weight_ih_l0.chunk(4)[2][:pieces, :pieces] = OPEN * torch.eye(pieces)
    low, high = 0.0, SUPPRESSED
    for _ in range(SEARCHES):
        joint.joint_net[-1].bias[-1] = (low + high) / 2
        if pieces_per_frame(model, frames) > PIECES_PER_FRAME:
            low = (low + high) / 2
        else:
            high = (low + high) / 2


def speech_frames(model) -> torch.Tensor:
    """Returns the frames of recorded speech, encoded chunk by chunk as the engine does."""
    prepare(model)
    encoder = OriginalEncoder(model, getattr(model, "prompt_kernel", None) is not None)
    encoder.joint = torch.nn.Identity()
    prompt = () if encoder.kernel is None else (torch.zeros(1, dtype=torch.int64),)
    samples = [read_wave(path) for path in sorted(SPEECH.glob("*.wav"))]
    mel = log_mel(torch.from_numpy(np.concatenate(samples))[None]).transpose(1, 2)
    caches, frames = encoder.empty_caches(1), []
    for at in range(0, mel.shape[2] - WINDOW + 1, CHUNK):
        window = mel[:, :, at : at + WINDOW]
        encoded, _, *caches = encoder(window, torch.tensor([WINDOW]), *caches, *prompt)
        frames.append(encoded[0].T)
    return torch.cat(frames)


def read_wave(path: Path) -> np.ndarray:
    with wave.open(str(path)) as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2").astype(np.float32) / 32768


def pieces_per_frame(model, frames: torch.Tensor) -> float:
    blank, written = model.decoder.blank_idx, 0
    predicted, state = model.decoder.predict(None, None, add_sos=False, batch_size=1)
    for frame in model.joint.project_encoder(frames[None])[0]:
        for _ in range(10):
            label = model.joint.project_prednet(predicted)
            best = int(model.joint.joint_after_projection(frame[None, None], label).argmax())
            if best == blank:
                break
            written += 1
            predicted, state = model.decoder.predict(torch.tensor([[best]]), state, add_sos=False)
    return written / len(frames)


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
