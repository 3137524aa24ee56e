#!/usr/bin/env bash
# Builds the tests and runs them. Usage: test.sh check|test|slow [--filter REGEX]
set -euo pipefail
cd "$(dirname "$0")/.."

# See Package.swift: optimised, with every assertion.
export UPRIGHT_UNDER_TEST=1
plain=()
[ -z "${CI:-}" ] || plain=(-debug-info-format none)
Scripts/quiet.py swift build --build-tests "${plain[@]}"
python3 Scripts/run_tests.py "$@"
