#!/usr/bin/env bash
# Builds and runs the tests of both packages, or of one.
# Usage: test.sh check|test|slow [engine|service] [--filter REGEX]
set -euo pipefail
cd "$(dirname "$0")/.."

loop=$1
shift
only=()
if [ "${1:-}" = engine ] || [ "${1:-}" = service ]; then
  only=("$1")
  shift
fi
# While the compiler works. Without a network, the tests that need it are skipped.
[ "$loop" = check ] || Scripts/python.sh >/dev/null &
Scripts/build.sh tests "${only[@]}"
[ "${only[*]}" = service ] || Scripts/libraries.sh debug
wait
python3 Scripts/run_tests.py "$loop" "${only[@]}" "$@"
