"""Language models for beam search."""
