#!/usr/bin/env bash
# The live service measured from outside: a table and bench/live.json. Arguments go to
# Benchmarks/live.py.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in ffmpeg ffprobe python3; do
  command -v "$tool" >/dev/null || { echo "bench-live: $tool is missing" >&2; exit 69; }
done
python3 Benchmarks/live.py "$@"
