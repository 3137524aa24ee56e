#!/usr/bin/env bash
# Makes two Python wheels of the C libraries, in .build/wheels: `upright-policy`, which has all that it needs, and
# `upright`, which uses the FFmpeg of the system that it was built on. docs/python.md says where they run.
# `wheels.sh static` puts the FFmpeg of the tarball into the second: see build.sh. `wheels.sh debug` takes the libraries of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:-release}
lib=.build/$kind/lib media=.build/$kind/lib
[ "$kind" = debug ] || Scripts/libraries.sh
if [ "$kind" = static ]; then
  Scripts/libraries.sh static
  lib=.build/release/lib media=.build/static/build/release/lib
  export UPRIGHT_LICENCES=$PWD/.build/static/linked/licences
fi
python=$(Scripts/python.sh)
PATH=$(dirname "$python"):$PATH
wheels=.build/wheels
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

for library in "$lib/libuprightpolicy.so.0" "$media/libupright.so.0"; do
  strip -o "$temporary/${library##*/}" "$library"
done
for package in upright-policy upright; do
  UPRIGHT_LIBRARIES=$temporary "$python" -m pip wheel -q --disable-pip-version-check --no-deps \
    --no-build-isolation --wheel-dir "$temporary" "Python/$package"
done
rm -rf "$wheels"
mkdir -p "$wheels"
# The tag of the oldest glibc that has all the symbols. It fails if a library is needed that systems may not have: FFmpeg's
# have another number in each release of a distribution, so without one of its own the wheel keeps linux_x86_64.
[ "$kind" = static ] || mv "$temporary"/upright-*.whl "$wheels/"
for wheel in "$temporary"/*.whl; do
  auditwheel repair -w "$wheels" "$wheel" >"$temporary/log" 2>&1 || { cat "$temporary/log" >&2; exit 70; }
done
ls -sh "$wheels"
