# Shared by .ci/check and .ci/nightly: runs named steps and shows the time of each. Every step runs even if an earlier one failed.
# The script that sources it defines and exports `run NAME`.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PWD/node_modules/.bin:$PATH"
# The steps start hundreds of Node processes, which would compile the same files again.
export NODE_COMPILE_CACHE="$PWD/.cache/compiled"
output=$(mktemp -d)
export output
trap 'rm -rf "$output"' EXIT
pattern=${1:-.}

# The names that match the pattern.
chosen() {
  printf '%s\n' "$@" | grep -E -- "$pattern"
}

step() {
  local began=$SECONDS result=passed
  echo "── $1"
  run "$1" 2>&1 | tee "$output/$1" || result=FAILED
  times >"$output/$1.times"
  echo "── $1: $result ($((SECONDS - began)) s, CPU $(cpu_seconds <"$output/$1.times") s)" | tee -a "$output/results"
}

# The second line of `times`: user and system time of the processes that have ended, such as "1m2.345s 0m6.789s".
cpu_seconds() {
  awk -F '[ms ]+' 'NR == 2 { print int($1 * 60 + $2 + $3 * 60 + $4) }'
}

# Reads names and runs them one after the other.
alone() {
  while read -r name; do (step "$name" </dev/null); done
}

# Reads names and runs so many at a time. Shows the output of each when it ends, so that it isn't mixed with that of others.
together() {
  xargs -P "$1" -I NAME bash -o pipefail -c 'step "NAME" >"$output/NAME.log" 2>&1; flock "$output" cat "$output/NAME.log"'
}
export -f step cpu_seconds together

# Reads the names of all steps. Repeats the last output of failed ones at the end of the log, and counts them.
judge() {
  local steps passed name
  steps=$(wc -l)
  passed=$(grep -c ': passed (' "$output/results")
  sed -n 's/^── \(.*\): FAILED (.*/\1/p' "$output/results" | while read -r name; do
    tail -n 80 "$output/$name"
    echo "── $name: FAILED"
  done
  echo "$passed passed, $((steps - passed)) failed"
  [ "$passed" = "$steps" ]
}
