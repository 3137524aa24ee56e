#!/usr/bin/env bash
# Builds into .build: `build.sh upright` builds the program as it is released, `build.sh tests` the tests,
# `build.sh library` the modules of the products, `build.sh libraries` those of the C libraries as released.
#
# CI starts without a build and builds once for both, as the tests are built. Without debug information this
# takes a fifth less, and without an index for editors another sixth. A backtrace has names without lines:
# `swift build --build-tests` makes a build for the debugger.
set -euo pipefail
cd "$(dirname "$0")/.."

what=$1
flags=()
if [ "$what" != libraries ] && { [ -n "${CI:-}" ] || [ "$what" != upright ]; }; then
  # Optimised, with all assertions: see Package.swift.
  export UPRIGHT_UNDER_TEST=1
  flags=(--disable-index-store -debug-info-format none)
else
  # Swift's libraries are linked statically: the program starts faster and runs without a toolchain.
  flags=(-c release --static-swift-stdlib --disable-local-rpath)
fi
case $what in
  upright) flags+=(--product upright) ;;
  tests) flags+=(--build-tests) ;;
  library) flags+=(--target Upright) ;;
  libraries) flags+=(--target CUpright) ;;
esac
exec Scripts/quiet.py swift build "${flags[@]}"
