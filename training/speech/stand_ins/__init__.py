"""Small or random models for tests and measurements."""
