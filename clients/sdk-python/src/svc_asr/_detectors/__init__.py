"""Where speech is loud, and where it pauses."""
