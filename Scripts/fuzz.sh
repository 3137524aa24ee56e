#!/usr/bin/env bash
# Runs the fuzz targets of Fuzz/ and Service/Fuzz/ with libFuzzer and the address sanitizer, two at a time, and prints a
# line for each. If one of them finds an error, prints how to run that input again and exits with 1.
#
#   TIME=20       seconds for each target
#   TARGET=rtp    the targets to run, separated by spaces; the default is all of them
#   MERGE=1       afterwards, replaces their corpora with the fewest inputs that reach the same code
set -euo pipefail
cd "$(dirname "$0")/.."

build=.build-fuzz
findings=$build/findings
seconds=${TIME:-20}
read -ra targets <<<"${TARGET:-$(ls Fuzz/Corpus Service/Fuzz/Corpus | grep -v : | tr '\n' ' ')}"
limits=(-max_len=4096 -timeout=20 -rss_limit_mb=2048)
# CI uses the same inputs in every run: a finding is caused by the change, and can be repeated.
[ -z "${CI:-}" ] || limits+=(-seed=1)
# Swift's backtraces would replace the sanitizer's. libav* doesn't free its global state.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0
# Output files are synced to the disk, which is fastest in memory.
[ ! -d /dev/shm ] || export TMPDIR=/dev/shm

# The compiler uses the last of several -sanitize options, and the package manager writes them in any order.
build() {
  Scripts/quiet.py swift build "$@" --scratch-path "$build" --disable-build-manifest-caching --disable-index-store \
    -debug-info-format none --sanitize=fuzzer --sanitize=address -Xswiftc -sanitize=fuzzer,address -Xswiftc -DFUZZING
}
# Where the corpus of a target is, and the program that runs it.
corpus_of() { ls -d Fuzz/Corpus/"$1" Service/Fuzz/Corpus/"$1" 2>/dev/null; }
program_of() {
  case $(corpus_of "$1") in
    Service/*) echo "$build/debug/UprightServiceFuzzer" ;;
    *) echo "$build/debug/UprightFuzzer" ;;
  esac
}
programs=$(for target in "${targets[@]}"; do program_of "$target"; done | sort -u)
[[ $programs != */UprightFuzzer* ]] || build --product UprightFuzzer
[[ $programs != */UprightServiceFuzzer* ]] || build --package-path Service --product UprightServiceFuzzer
mkdir -p "$findings"

run() {
  local target=$1 corpus=$build/corpus/$1 log=$build/$1.log status=0 fuzzer
  fuzzer=$(program_of "$1")
  mkdir -p "$corpus"
  FUZZ_TARGET=$target "$fuzzer" "$corpus" "$(corpus_of "$target")" "${limits[@]}" \
    -max_total_time="$seconds" -artifact_prefix="$findings/$target-" >"$log" 2>&1 || status=$?
  report "$target" "$log" "$status"
  return "$status"
}

report() {
  local target=$1 log=$2 status=$3 last text file
  last=$(grep -aE '^#[0-9]+.* cov: ' "$log" | tail -n 1 || true)
  value() { sed -nE "s|.*$1 *([0-9]+).*|\1|p" <<<"$last"; }
  text=$(printf '%-11s %9s runs %6s/s  coverage %5s  corpus %4s  ' "$target" "$(value '^#')" \
    "$(value 'exec/s:')" "$(value 'cov:')" "$(value 'corp:')")
  if [ "$status" = 0 ]; then
    echo "$text""no findings"
    return
  fi
  file=$(sed -nE 's/.*Test unit written to (.*)/\1/p' "$log" | tail -n 1)
  echo "$text""FOUND
$(grep -aE 'Fatal error|ERROR: |SUMMARY: ' "$log" | head -n 4 | sed 's/^/  /')
  again: SWIFT_BACKTRACE=enable=no FUZZ_TARGET=$target $(program_of "$target") ${file:-(see $log)}"
}

failed=0 running=0
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
for target in "${targets[@]}"; do
  if [ "$running" = 2 ]; then
    wait -n || failed=1
    running=1
  fi
  run "$target" &
  running=$((running + 1))
done
while [ "$running" -gt 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done

if [ "${MERGE:-0}" = 1 ]; then
  for target in "${targets[@]}"; do
    merged=$build/merged
    rm -rf "$merged" && mkdir "$merged"
    seeds=$(corpus_of "$target")
    FUZZ_TARGET=$target "$(program_of "$target")" -set_cover_merge=1 "${limits[@]}" "$merged" \
      "$seeds" "$build/corpus/$target" >"$build/$target.merge.log" 2>&1
    rm -rf "$seeds" && mv "$merged" "$seeds"
  done
fi
exit "$failed"
