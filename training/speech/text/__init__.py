"""Spelling, sentences, sounds and error rates of Kikuyu and Dholuo."""
