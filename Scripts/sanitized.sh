#!/usr/bin/env bash
# Builds the tests with a sanitizer, in a separate folder, and runs them.
# Usage: sanitized.sh thread|address check|test|slow [--filter REGEX]
# FFmpeg and the codec libraries are not instrumented: Tests/Slow/*.supp suppress their reports.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=$1
shift
export SWIFT_BACKTRACE=enable=no
# Kernels and what compares pixels are optimised; the rest isn't, which builds faster.
export UPRIGHT_UNDER_TEST=1 UPRIGHT_SANITIZED=1
export TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/Tests/Slow/tsan.supp"
# A test compares addresses on the stack.
export ASAN_OPTIONS="detect_leaks=1 detect_stack_use_after_return=0" LSAN_OPTIONS="suppressions=$PWD/Tests/Slow/lsan.supp print_suppressions=0"
echo "$kind sanitizer:"
# Reports without line numbers in CI: the build takes a fifth less.
debugging=()
[ -z "${CI:-}" ] || debugging=(-debug-info-format none)
Scripts/quiet.py swift build --build-tests --scratch-path ".build-$kind" --sanitize="$kind" \
  --disable-index-store "${debugging[@]}"
if [ "$kind" = thread ]; then
  clang -shared -fPIC -O2 Tests/Slow/tsan_mutex.c -o .build-thread/tsan_mutex.so
  export LD_PRELOAD=$PWD/.build-thread/tsan_mutex.so
fi
python3 Scripts/run_tests.py --binary ".build-$kind/debug/uprightPackageTests.xctest" "$@"
