#!/usr/bin/env bash
# Runs the tests; says how many were skipped, and why by name.
set -uo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
swift test --disable-xctest "$@" 2>&1 | tee "$log" |
  grep -vE '^(◇|✔ Test (case|".*"|[A-Za-z0-9_]+\(.*\)) |✔ Suite|\[[0-9]+/[0-9]+\]|[^ ]+: note)' |
  grep -vE '^(Building|Build complete|↳)'
status=${PIPESTATUS[0]}
if [ "$status" = 0 ]; then
  skipped=$(grep -cE '^➜ Test .* skipped' "$log")
  [ "$skipped" = 0 ] || echo "$skipped tests were skipped: they need files or programs that are not here"
  # The runner's own closing line, last.
  grep -E 'Test run with .* passed' "$log" | tail -n 1
fi
exit "$status"
