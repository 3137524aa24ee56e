#!/usr/bin/env bash
# Builds into .build:
#
#   build.sh upright        the command line as it is released: the engine's package alone
#   build.sh serve          upright-serve as it is released, beside it
#   build.sh tests          the tests of the engine and of the service; `tests engine` or `tests service` of one
#   build.sh library        the modules of the engine's products
#   build.sh libraries      those of the C libraries as released; `libraries policy` of the one without FFmpeg
#
# The service is a package of its own, in Service, that uses this one by its products. Both are built in the same
# folder, so that the engine is compiled once.
#
# CI starts without a build and builds once for all, as the tests are built. Without debug information this
# takes a fifth less, and without an index for editors another sixth. A backtrace has names without lines:
# `swift build --build-tests` makes a build for the debugger.
set -euo pipefail
cd "$(dirname "$0")/.."

what=$1
# SwiftPM would take the other package's plan for its own.
flags=(--disable-build-manifest-caching)
if [ "$what" != libraries ] && { [ -n "${CI:-}" ] || [[ $what != upright && $what != serve ]]; }; then
  # Optimised, with all assertions: see Package.swift.
  flags+=(--disable-index-store -debug-info-format none)
else
  # Swift's libraries are linked statically: the program starts faster and runs without a toolchain.
  flags+=(-c release --static-swift-stdlib --disable-local-rpath)
fi
service=(--package-path Service --scratch-path .build)
build() { Scripts/quiet.py swift build "${flags[@]}" "$@"; }
case $what in
  upright) build --product upright ;;
  serve) build "${service[@]}" --product upright-serve ;;
  tests)
    [ "${2:-engine}" != engine ] || build --build-tests
    [ "${2:-service}" != service ] || build "${service[@]}" --build-tests
    ;;
  library) build --target Upright ;;
  libraries) build --target "CUpright${2:+Policy}" ;;
esac
