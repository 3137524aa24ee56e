#!/usr/bin/env bash
# Passes on warnings of our own, errors and the last line of a build; a failed build is passed on whole.
set -uo pipefail
log=$(mktemp)
trap 'rm -f "$log"' EXIT
cat >"$log"
if grep -qE '(^|: )error:' "$log"; then
  cat "$log"
else
  grep -E 'warning:' "$log" | grep -vE "^warning: '|/swift_static/" | sort -u
  tail -n 1 "$log"
fi
