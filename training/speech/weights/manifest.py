"""Writes a manifest for each model id beside exported weights, with their hashes.

python -m speech.weights.manifest --models ../models --weights demo --build demo-2026-11
"""

import argparse
import hashlib
import json
from pathlib import Path

import onnx

MODELS = {"svc-asr-kikuyu-v1": "kikuyu_prompt", "svc-asr-dholuo-v1": "dholuo_prompt"}
FILES = {"encoder": "encoder.onnx", "decoder": "decoder.onnx", "joiner": "joiner.onnx"}
FRAME_SAMPLES = 1280  # 80 ms
NORMALISER = "kikuyu-dholuo-1"


def context_size(encoder: Path) -> tuple[int, int]:
    """Returns the left and right context in encoder frames, from the engine's own metadata."""
    props = onnx.load(encoder).metadata_props
    values = {entry.key: entry.value for entry in props}
    chunk = int(values["chunk_shift"]) // int(values["subsampling_factor"])
    return int(values["cache_last_channel_dim2"]), chunk - 1


def manifest(models: Path, weights: str, model: str, options) -> dict:
    left, right = context_size(models / weights / FILES["encoder"])

    def entry(name: str) -> dict[str, str]:
        path = f"{weights}/{name}"
        return {"path": path, "sha256": hashlib.sha256((models / path).read_bytes()).hexdigest()}

    return {
        "id": model,
        "build": options.build,
        "language": getattr(options, MODELS[model]),
        "sample_rate": 16_000,
        "chunk_samples": (right + 1) * FRAME_SAMPLES,
        "context_size": [left, right],
        "batch": "safe",
        "normaliser": NORMALISER,
        "licence": options.licence,
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
    parser.add_argument("--licence", default="CC-BY-SA-4.0", help="of the weights")
    parser.add_argument("--kikuyu-prompt", default="ki-KE", help="in their prompt_dictionary")
    parser.add_argument("--dholuo-prompt", default="luo-KE")
    options = parser.parse_args()
    for model in MODELS:
        content = manifest(options.models, options.weights, model, options)
        context = json.dumps(content["context_size"])
        text = json.dumps({**content, "context_size": "CONTEXT"}, indent=2)
        text = text.replace('"CONTEXT"', context)  # on one line, as the formatter wants it
        (options.models / f"{model}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
