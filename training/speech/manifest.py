"""Writes a manifest for each model id beside exported weights, with their hashes.

python -m speech.manifest --models ../models --weights demo --build demo-2026-11
"""

import argparse
import hashlib
import json
from pathlib import Path

from .model import CHUNK, LEFT

MODELS = {"svc-asr-kikuyu-v1": "ki-KE", "svc-asr-dholuo-v1": "luo-KE"}
FILES = {"encoder": "encoder.onnx", "decoder": "decoder.onnx", "joiner": "joiner.onnx"}
FRAME_SAMPLES = 1280
NORMALISER = "kikuyu-dholuo-1"
LICENCE = "CC-BY-SA-4.0"  # of the text the weights were trained on


def manifest(models: Path, weights: str, model: str, build: str) -> dict:
    def entry(name: str) -> dict[str, str]:
        path = f"{weights}/{name}"
        return {"path": path, "sha256": hashlib.sha256((models / path).read_bytes()).hexdigest()}

    return {
        "id": model,
        "build": build,
        "language": MODELS[model],
        "sample_rate": 16_000,
        "chunk_samples": CHUNK * FRAME_SAMPLES,
        "context_size": [LEFT, CHUNK - 1],
        "normaliser": NORMALISER,
        "licence": LICENCE,
        "files": {
            **{part: entry(name) for part, name in FILES.items()},
            "tokens": entry("tokens.txt"),
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=Path, required=True, help="folder of the manifests")
    parser.add_argument("--weights", required=True, help="folder of the weights inside it")
    parser.add_argument("--build", required=True, help="a name for exactly these weights")
    options = parser.parse_args()
    for model in MODELS:
        content = manifest(options.models, options.weights, model, options.build)
        text = json.dumps(content, indent=2).replace("[\n    56,\n    13\n  ]", "[56, 13]")
        (options.models / f"{model}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
