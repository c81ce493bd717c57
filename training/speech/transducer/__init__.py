"""The demonstration model and its training."""
