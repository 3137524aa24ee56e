#!/usr/bin/env bash
# Builds and runs the tests. Usage: test.sh check|test|slow [--filter REGEX]
set -euo pipefail
cd "$(dirname "$0")/.."

# While the compiler works. Without a network, the tests that need it are skipped.
[ "$1" = check ] || Scripts/python.sh >/dev/null &
Scripts/build.sh tests
Scripts/libraries.sh debug
wait
python3 Scripts/run_tests.py "$@"
