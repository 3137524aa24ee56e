#!/usr/bin/env bash
# Measures the live service over its interfaces. Prints a table and writes bench/live.json. Arguments are
# passed to Benchmarks/live.py. `upright serve` becomes the upright-serve beside it: `make build` builds both.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in ffmpeg ffprobe openssl python3 cc; do
  command -v "$tool" >/dev/null || { echo "bench-live: $tool is missing" >&2; exit 69; }
done
# The players' figures are those of browser tests.
Scripts/build.sh tests service
python3 Benchmarks/live.py "$@"
