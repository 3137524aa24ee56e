#!/usr/bin/env bash
# Ratios against libyuv, memcpy, libavfilter, OpenCV and the ffmpeg command line, interleaved in one
# run, medians.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p bench
(cd Benchmarks && swift run -c release KernelBench --json ../bench/kernels.json)

python=.build/bench-python/bin/python
if ! "$python" -c 'import cv2, numpy' 2>/dev/null; then
  python3 -m venv .build/bench-python
  "$python" -m pip install -q --disable-pip-version-check numpy opencv-python-headless
fi
"$python" Benchmarks/warp_bench.py --json bench/warps.json

(cd Benchmarks && swift run -c release PolicyBench --json ../bench/policy.json)
python3 Benchmarks/clip_bench.py --json bench/clips.json
