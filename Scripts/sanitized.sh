#!/usr/bin/env bash
# Runs the tests that match a filter under a sanitizer, in a build folder of its own; on failure all that
# was said is shown. Usage: sanitized.sh thread|address FILTER
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if swift test --disable-xctest --scratch-path ".build-$1" --sanitize="$1" --filter "$2" >"$log" 2>&1; then
  echo "$1 sanitizer: $(grep -E 'Test run with' "$log" | tail -n 1)"
else
  cat "$log"
  echo "$1 sanitizer: failed" >&2
  exit 1
fi
