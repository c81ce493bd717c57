"""Speech on disk and as features."""
