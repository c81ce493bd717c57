#!/usr/bin/env bash
# Prints the section of CHANGELOG.md for VERSION. Fails if there is none.
# usage: .github/release-notes.sh VERSION
set -euo pipefail
version=$1
notes=$(awk -v heading="## $version - " '
  index($0, heading) == 1 { found = 1; next }
  /^## / { found = 0 }
  found
' "$(dirname "$0")/../CHANGELOG.md")
if [ -z "$notes" ]; then
  echo "CHANGELOG.md has no section for $version. Run node release/changelog.ts $version DATE in the release pull request." >&2
  exit 1
fi
echo "$notes"
