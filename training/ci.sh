#!/usr/bin/env bash
# Lints and tests the training room. Among the tests are a tiny training run from speech to the engine and the import of
# NeMo checkpoints.
set -euo pipefail
cd "$(dirname "$0")"
# The tests start the engine with Node 24.
export PATH="$PWD/../node_modules/.bin:$PATH"

bash environment.sh
python=../.cache/training/bin/python
"$python" -m ruff check .
"$python" -m ruff format --check .
exec "$python" -m pytest "$@"
