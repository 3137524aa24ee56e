#!/usr/bin/env bash
# Runs the checks that take too long for every run: sanitizers, fuzzing, memory of long files, damaged input,
# the live service for half an hour, while it is changed all the time and with publishers of every kind, a library of many
# files, the API from its description, the metrics with Prometheus, chunks and sessions on several machines, the kernels for
# aarch64, every combination of containers and players, calls that Janus records and forwards, the wheels and the packages in a
# clean system.
# SHORT=1 runs a shorter form, for CI, whose random inputs are the same each time, so that a finding is one of the
# change. Needs both programs: `make check-slow` builds them.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${SHORT:-0}" = 1 ]; then
  export UPRIGHT_SEED=${UPRIGHT_SEED:-1}
  python3 Tests/Slow/memory.py --short-seconds 10 --long-seconds 60
  python3 Tests/Slow/fuzz.py --runs 60
  python3 Tests/Slow/playlists.py --runs 200
  python3 Tests/Slow/batch_kills.py
  SHORT=1 python3 Tests/Slow/worker_kills.py
  SHORT=1 python3 Tests/Slow/library_load.py
  SHORT=1 python3 Tests/Slow/floods.py
  SHORT=1 python3 Tests/Slow/soak.py
  SHORT=1 python3 Tests/Slow/changes.py
  SHORT=1 python3 Tests/Slow/api.py
  python3 Tests/Slow/prometheus.py
  SHORT=1 Scripts/check-scale.sh
  # Each sanitizer is a build of its own, so here is one of them, for the engine. The fuzzers' known inputs are among its tests.
  Scripts/sanitized.sh address check engine \
    --filter '^(Fuzz|PixelKernels|Signals|UprightFrames|Upright)Tests\.'
else
  python3 Tests/Slow/memory.py --short-seconds 60 --long-seconds 600
  python3 Tests/Slow/fuzz.py --runs 1000
  python3 Tests/Slow/playlists.py --runs 3000
  python3 Tests/Slow/batch_kills.py --files 200
  python3 Tests/Slow/worker_kills.py
  python3 Tests/Slow/library_load.py
  python3 Tests/Slow/library.py Samples/clips
  python3 Tests/Slow/floods.py
  python3 Tests/Slow/soak.py
  python3 Tests/Slow/changes.py
  # Its long form has kinds that a busy machine gets wrong.
  SHORT=1 "$(Scripts/python.sh)" Tests/Slow/publishers.py
  python3 Tests/Slow/api.py
  python3 Tests/Slow/prometheus.py
  Scripts/check-scale.sh
  TIME=300 Scripts/fuzz.sh
  Scripts/check-embedding.sh
  Scripts/check-arm.sh
  Scripts/wheels.sh
  Scripts/check-wheels.sh
  Scripts/setup.sh deb
  Scripts/deb.sh
  Scripts/check-deb.sh
  Scripts/test.sh slow
  for kind in address thread; do Scripts/sanitized.sh "$kind" test; done
fi
echo "check-slow: clean"
