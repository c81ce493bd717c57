#!/usr/bin/env bash
# Lint and tests of the training room, a tiny training from speech to the engine among them (minutes).
# Uses the Python at hand if it has all that is needed and the pinned torch, else makes training/.venv with requirements.txt.
set -euo pipefail
cd "$(dirname "$0")"

if ! python3 -c 'import torch, onnx, onnxruntime, scipy, pytest, ruff; assert torch.__version__.startswith("2.13.0")' 2>/dev/null; then
  [ -d .venv ] || python3 -m venv .venv
  . .venv/bin/activate
  pip install --quiet --requirement requirements.txt
fi
python3 -m ruff check .
python3 -m ruff format --check .
exec python3 -m pytest
