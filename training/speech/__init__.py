"""Synthesis, features, model, loss, training, export: everything that makes the weights."""
