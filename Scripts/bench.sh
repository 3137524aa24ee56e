#!/usr/bin/env bash
# Measures ratios against libyuv, memcpy, libavfilter, OpenCV and the ffmpeg command line: medians of
# interleaved runs. Prints a table and writes bench/results.json and bench/results.svg. Arguments are passed
# to Benchmarks/bench.py.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p bench
for product in KernelBench ScaleBench FrameBench PolicyBench SessionBench; do
  Scripts/quiet.py swift build --package-path Benchmarks -c release --product "$product"
done

# What Benchmarks/python_bench.py calls.
Scripts/libraries.sh

python=.build/bench-python/bin/python
if ! "$python" -c 'import av, cv2, numpy' 2>/dev/null; then
  python3 -m venv .build/bench-python
  "$python" -m pip install -q --disable-pip-version-check numpy opencv-python-headless av
fi
"$python" Benchmarks/bench.py "$@"
[ $# -gt 0 ] || python3 Benchmarks/check_bench.py
[ $# -gt 0 ] || Benchmarks/.build/release/PolicyBench --json bench/policy.json
