#!/usr/bin/env bash
# Builds into .build: `build.sh upright` the program as it is shipped, `build.sh tests` the tests.
#
# CI, which starts with nothing, builds once for both: a release with every assertion, which takes as long
# as either alone. Debug information would be a fifth of it.
set -euo pipefail
cd "$(dirname "$0")/.."

what=$1
flags=()
if [ -n "${CI:-}" ]; then
  export UPRIGHT_UNDER_TEST=1
  flags=(-c release -debug-info-format none -Xswiftc -enable-testing)
elif [ "$what" = tests ]; then
  # See Package.swift: optimised, with every assertion.
  export UPRIGHT_UNDER_TEST=1
else
  # Swift's own libraries are linked in: the program starts sooner and runs where there is no toolchain.
  flags=(-c release --static-swift-stdlib)
fi
case $what in
  upright) flags+=(--product upright) ;;
  tests) flags+=(--build-tests) ;;
esac
exec Scripts/quiet.py swift build "${flags[@]}"
