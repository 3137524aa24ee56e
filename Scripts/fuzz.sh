#!/usr/bin/env bash
# Runs the fuzz targets of Fuzz/ with libFuzzer and the address sanitizer, two at a time, and prints a
# line for each. If one of them finds an error, prints how to run that input again and exits with 1.
#
#   TIME=20       seconds for each target
#   TARGET=rtp    the targets to run, separated by spaces; the default is all of them
#   MERGE=1       afterwards, replaces Fuzz/Corpus with the fewest inputs that reach the same code
set -euo pipefail
cd "$(dirname "$0")/.."

build=.build-fuzz
fuzzer=$build/release/Fuzzer
findings=$build/findings
seconds=${TIME:-20}
read -ra targets <<<"${TARGET:-$(ls Fuzz/Corpus | tr '\n' ' ')}"
limits=(-max_len=4096 -timeout=20 -rss_limit_mb=2048)
# CI uses the same inputs in every run: a finding is caused by the change, and can be repeated.
[ -z "${CI:-}" ] || limits+=(-seed=1)
# Swift's backtraces would replace the sanitizer's. libav* doesn't free its global state.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0
# Output files are synced to the disk, which is fastest in memory.
[ ! -d /dev/shm ] || export TMPDIR=/dev/shm

# The compiler uses the last of several -sanitize options, and the package manager writes them in any order.
UPRIGHT_FUZZ=1 Scripts/quiet.py swift build -c release --scratch-path "$build" \
  --sanitize=fuzzer --sanitize=address -Xswiftc -sanitize=fuzzer,address -Xswiftc -enable-testing \
  --product Fuzzer
mkdir -p "$findings"

run() {
  local target=$1 corpus=$build/corpus/$1 log=$build/$1.log status=0
  mkdir -p "$corpus"
  FUZZ_TARGET=$target "$fuzzer" "$corpus" "Fuzz/Corpus/$target" "${limits[@]}" \
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
  again: SWIFT_BACKTRACE=enable=no FUZZ_TARGET=$target $fuzzer ${file:-(see $log)}"
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
    FUZZ_TARGET=$target "$fuzzer" -set_cover_merge=1 "${limits[@]}" "$merged" \
      "Fuzz/Corpus/$target" "$build/corpus/$target" >"$build/$target.merge.log" 2>&1
    rm -rf "Fuzz/Corpus/$target" && mv "$merged" "Fuzz/Corpus/$target"
  done
fi
exit "$failed"
