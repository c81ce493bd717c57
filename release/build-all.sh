#!/usr/bin/env bash
# Builds every package of a release: npm packages into NPM, wheels and source archives of the Python packages into PYTHON.
# usage: release/build-all.sh NPM PYTHON
set -euo pipefail
npm=$1 python=$2
cd "$(dirname "$0")/.."
mkdir -p "$npm" "$python"
for name in sdk cli emulator compatible livekit telephony; do
  npm pack --silent --pack-destination "$npm" "$(node release/build-package.ts "@svc-asr/$name")"
done
for project in clients/sdk-python clients/integrations/livekit-python clients/integrations/pipecat; do
  # Its LICENSE is a link, which a source archive would keep as one.
  copy=$(mktemp -d)
  cp -rL "$project/." "$copy"
  pipx run --spec build==1.6.1 pyproject-build --outdir "$python" "$copy"
  rm -r "$copy"
done
pipx run --spec twine==7.0.0 twine check --strict "$python"/*
