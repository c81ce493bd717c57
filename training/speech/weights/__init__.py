"""From trained models to the files that the engine serves."""
