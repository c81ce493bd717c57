"""Synthesised speech: voices, and the sets made with them."""
