#!/usr/bin/env bash
# Builds and runs the tests. Usage: test.sh check|test|slow [--filter REGEX]
set -euo pipefail
cd "$(dirname "$0")/.."

Scripts/build.sh tests
Scripts/libraries.sh debug
# Without a network, the tests that need it are skipped.
[ "$1" = check ] || Scripts/python.sh >/dev/null || true
python3 Scripts/run_tests.py "$@"
