"""Checkpoints of NeMo: data, fine-tuning and import."""
