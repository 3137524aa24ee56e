#!/usr/bin/env bash
# Runs the tests; says how many were skipped, and why by name.
set -uo pipefail
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() {
  swift test --disable-xctest "$@" 2>&1 | tee -a "$log" |
    grep -vE '^(◇|✔ Test (case|".*"|[A-Za-z0-9_]+\(.*\)) |✔ Suite|\[[0-9]+/[0-9]+\]|[^ ]+: note)' |
    grep -vE '^(Building|Build complete|↳)'
  return "${PIPESTATUS[0]}"
}

status=0
if [ $# = 0 ]; then
  # The service works in real time, with real publishers and players, and answers on the threads of
  # Swift's concurrency, as many as there are cores. So its tests have a process of their own, and each
  # the machine for itself.
  run --skip UprightServiceTests || status=$?
  run --skip-build --no-parallel --filter UprightServiceTests || status=$?
else
  run "$@" || status=$?
fi
if [ "$status" = 0 ]; then
  skipped=$(grep -cE '^➜ Test .* skipped' "$log")
  [ "$skipped" = 0 ] || echo "$skipped tests were skipped: they need files or programs that are not here"
  # The runner's own closing lines, last.
  grep -E 'Test run with .* passed' "$log"
fi
exit "$status"
