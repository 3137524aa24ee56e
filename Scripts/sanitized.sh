#!/usr/bin/env bash
# Builds the tests with a sanitizer, in a separate folder, and runs them.
# Usage: sanitized.sh thread|address check|test|slow [engine|service] [--filter REGEX]
# FFmpeg and the codec libraries are not instrumented: Tests/Slow/*.supp suppress their reports.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=$1 loop=$2
shift 2
only=
if [ "${1:-}" = engine ] || [ "${1:-}" = service ]; then
  only=$1
  shift
fi
export SWIFT_BACKTRACE=enable=no
# Tests that count memory are skipped.
export UPRIGHT_SANITIZED=1
export TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/Tests/Slow/tsan.supp"
# A test compares addresses on the stack.
export ASAN_OPTIONS="detect_leaks=1 detect_stack_use_after_return=0" LSAN_OPTIONS="suppressions=$PWD/Tests/Slow/lsan.supp print_suppressions=0"
echo "$kind sanitizer:"
# Reports without line numbers in CI: the build takes a fifth less.
debugging=()
[ -z "${CI:-}" ] || debugging=(-debug-info-format none)
for package in ${only:-engine service}; do
  folder=()
  [ $package = engine ] || folder=(--package-path Service)
  Scripts/quiet.py swift build "${folder[@]}" --build-tests --scratch-path ".build-$kind" --sanitize="$kind" \
    --disable-build-manifest-caching --disable-index-store "${debugging[@]}"
done
if [ "$kind" = thread ]; then
  clang -shared -fPIC -O2 Tests/Slow/tsan_mutex.c -o .build-thread/tsan_mutex.so
  export LD_PRELOAD=$PWD/.build-thread/tsan_mutex.so
fi
python3 Scripts/run_tests.py --build ".build-$kind" "$loop" $only "$@"
