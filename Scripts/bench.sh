#!/usr/bin/env bash
# Ratios against libyuv, memcpy and the ffmpeg command line, interleaved in one run, medians.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p bench
(cd Benchmarks && swift run -c release KernelBench --json ../bench/kernels.json)
(cd Benchmarks && swift run -c release PolicyBench --json ../bench/policy.json)
python3 Benchmarks/clip_bench.py --json bench/clips.json
