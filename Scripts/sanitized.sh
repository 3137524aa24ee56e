#!/usr/bin/env bash
# Builds the tests with a sanitizer, in a separate folder, and runs them.
# Usage: sanitized.sh thread|address check|test|slow [engine|service] [--filter REGEX]
#        sanitized.sh thread|address build [engine|service | OPTION...]    only builds: the tests, or as `swift build` with these
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

flags=(--scratch-path ".build-$kind" --sanitize="$kind" --disable-build-manifest-caching --disable-index-store)
# Reports without line numbers in CI: the build takes a fifth less.
[ -z "${CI:-}" ] || flags+=(-debug-info-format none)
if [ "$kind" = address ]; then
  # What libFuzzer needs, so that Scripts/fuzz.sh links its programs from this build.
  coverage=-sanitize-coverage=edge,indirect-calls,trace-cmp,inline-8bit-counters,pc-table
  flags+=(-Xswiftc "$coverage" -Xcc "-f${coverage#-}")
elif [ -n "${CI:-}" ]; then
  # Half of the time of this build is the optimiser's. The tests that CI selects wait more than they compute.
  flags+=(-Xswiftc -Onone)
fi
build() { Scripts/quiet.py swift build "${flags[@]}" "$@"; }

if [ "$loop" = build ] && [ $# != 0 ]; then
  build "$@"
  exit
fi
echo "$kind sanitizer:"
[ "$only" = service ] || build --build-tests
[ "$only" = engine ] || build --package-path Service --build-tests
[ "$loop" != build ] || exit 0

export SWIFT_BACKTRACE=enable=no
# Tests that count memory are skipped.
export UPRIGHT_SANITIZED=1
export TSAN_OPTIONS="halt_on_error=1 suppressions=$PWD/Tests/Slow/tsan.supp"
# A test compares addresses on the stack.
export ASAN_OPTIONS="detect_leaks=1 detect_stack_use_after_return=0" LSAN_OPTIONS="suppressions=$PWD/Tests/Slow/lsan.supp print_suppressions=0"
if [ "$kind" = thread ]; then
  clang -shared -fPIC -O2 Tests/Slow/tsan_mutex.c -o .build-thread/tsan_mutex.so
  export LD_PRELOAD=$PWD/.build-thread/tsan_mutex.so
fi
python3 Scripts/run_tests.py --build ".build-$kind" "$loop" $only "$@"
