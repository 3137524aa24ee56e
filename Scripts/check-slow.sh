#!/usr/bin/env bash
# What takes too long for every run: sanitizers over the media tests, memory of long clips, fuzzed
# input, the live service for half an hour, calls that Janus records and forwards. SHORT=1: the same on
# less, for CI.
set -euo pipefail
cd "$(dirname "$0")/.."

short=${SHORT:-0}
if [ "$short" = 1 ]; then
  python3 Tests/Slow/memory.py --short-seconds 10 --long-seconds 60
  python3 Tests/Slow/fuzz.py --runs 60
  SHORT=1 python3 Tests/Slow/soak.py
  filter='UprightTests.FollowTests/playlist|UprightTests.BoundedQueueTests'
else
  python3 Tests/Slow/memory.py --short-seconds 60 --long-seconds 600
  python3 Tests/Slow/fuzz.py --runs 1000
  python3 Tests/Slow/soak.py
  Scripts/setup.sh call
  Scripts/test.sh --filter "JanusCallTests|JanusForwardTests"
  filter='UprightTests.|OrientationSignalsTests.|RTPTests.|PixelKernelsTests.'
fi

# The thread sanitizer sees the session's own threads; FFmpeg's are not instrumented.
TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/Tests/Slow/tsan.supp" \
  Scripts/sanitized.sh thread "$filter"
if [ "$short" != 1 ]; then
  ASAN_OPTIONS="detect_leaks=1" LSAN_OPTIONS="suppressions=$PWD/Tests/Slow/lsan.supp" \
    Scripts/sanitized.sh address "$filter"
fi
echo "check-slow: clean"
