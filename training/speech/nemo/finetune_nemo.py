"""Fine-tunes a cache-aware FastConformer transducer in NeMo with the engine's context.

  python -m speech.nemo.finetune_nemo --base BASE.nemo --data NEMO --out OUT.nemo --steps 40000

BASE is a pure or hybrid transducer, for example NVIDIA's 114 M streaming hybrid. Its letters are
replaced by the tokenizer of speech.nemo.nemo_data; encoder weights stay. The result has
att_context_size [56, 13] and goes to `svc-models import nemo`. docs/guides/fine-tuning.md describes
all steps.
"""

import argparse
import sys
from pathlib import Path

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from nemo.collections.asr.models import ASRModel
from omegaconf import OmegaConf, open_dict

from ..transducer.rnnt_loss import rnnt_loss
from .import_nemo import CONTEXT, has_prompt


def dataset(manifest: Path, batch: int, shuffle: bool) -> dict:
    return {
        "manifest_filepath": str(manifest), "sample_rate": 16000, "batch_size": batch,
        "shuffle": shuffle, "max_duration": 20.0, "min_duration": 0.5, "num_workers": 4,
        "pin_memory": True, "trim_silence": False,
    }  # fmt: skip


def prepare(model, tokenizer: Path) -> None:
    """Sets our tokenizer and our context in the model and in the saved configuration."""
    model.change_vocabulary(new_tokenizer_dir=str(tokenizer), new_tokenizer_type="bpe")
    model.encoder.att_context_size_all = [CONTEXT]
    model.encoder.att_context_probs = [1.0]
    model.encoder.set_default_att_context_size(CONTEXT)
    with open_dict(model.cfg):
        model.cfg.encoder.att_context_size = CONTEXT
        model.cfg.encoder.att_context_probs = None


class CpuLoss(torch.nn.Module):
    """Our transducer loss in place of NeMo's, which takes seconds a batch without a GPU."""

    def forward(self, *, log_probs, targets, input_lengths, target_lengths) -> torch.Tensor:
        lengths = input_lengths.long(), target_lengths.long()
        return rnnt_loss(log_probs, targets.long(), *lengths).mean()


class Progress(pl.Callback):
    def on_validation_end(self, trainer, pl_module) -> None:
        wer = 100 * float(trainer.callback_metrics["val_wer"])
        print(f"step {trainer.global_step}: development WER {wer:.1f} %", flush=True)


def callbacks(options) -> list[pl.Callback]:
    if options.checkpoints is None:
        return [Progress()]
    every = {"every_n_train_steps": options.validate_every, "save_last": True, "save_top_k": 0}
    return [Progress(), ModelCheckpoint(options.checkpoints, **every)]


def last_checkpoint(folder: Path | None) -> Path | None:
    path = None if folder is None else folder / "last.ckpt"
    return path if path is not None and path.exists() else None


def finetune(options) -> None:
    trainer = pl.Trainer(
        devices=1, accelerator="auto", max_steps=options.steps, precision=options.precision,
        accumulate_grad_batches=options.accumulate, gradient_clip_val=1.0, logger=False,
        enable_checkpointing=options.checkpoints is not None, num_sanity_val_steps=0,
        val_check_interval=options.validate_every * options.accumulate,
        check_val_every_n_epoch=None, callbacks=callbacks(options),
        enable_progress_bar=sys.stderr.isatty(),
    )  # fmt: skip
    model = ASRModel.restore_from(str(options.base), map_location="cpu", trainer=trainer)
    if has_prompt(OmegaConf.to_container(model.cfg)):
        raise SystemExit("Prompt models need NeMo's Lhotse data; see docs/guides/fine-tuning.md")
    prepare(model, options.data / "tokenizer")
    if not torch.cuda.is_available():
        model.loss = CpuLoss()
    train = dataset(options.data / "train.json", options.batch, shuffle=True)
    dev = dataset(options.data / "dev.json", options.batch, shuffle=False)
    model.setup_training_data(OmegaConf.create(train))
    model.setup_validation_data(OmegaConf.create(dev))
    rate = {"name": "adamw", "lr": options.rate, "betas": [0.9, 0.98], "weight_decay": 1e-3}
    schedule = {"name": "CosineAnnealing", "warmup_steps": options.steps // 20, "min_lr": 1e-6}
    schedule["max_steps"] = options.steps
    model.setup_optimization(OmegaConf.create({**rate, "sched": schedule}))
    trainer.fit(model, ckpt_path=last_checkpoint(options.checkpoints))
    model.save_to(str(options.out))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="output of speech.nemo.nemo_data")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=40_000)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--rate", type=float, default=2e-4)
    parser.add_argument("--precision", default="bf16-mixed")
    parser.add_argument("--validate-every", type=int, default=1000, help="steps")
    parser.add_argument("--checkpoints", type=Path, help="folder; a stopped run resumes from it")
    finetune(parser.parse_args())


if __name__ == "__main__":
    main()
