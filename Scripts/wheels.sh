#!/usr/bin/env bash
# Makes two Python wheels of the C libraries, in .build/wheels: `upright-policy`, which has all that it needs, and
# `upright`, which uses the FFmpeg of the system that it was built on. docs/python.md says where they run.
# `wheels.sh debug` takes the libraries of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=${1:-release}
[ "$kind" = debug ] || Scripts/libraries.sh
python=$(Scripts/python.sh)
PATH=$(dirname "$python"):$PATH
wheels=.build/wheels
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT

for library in libuprightpolicy.so.0 libupright.so.0; do
  strip -o "$temporary/$library" ".build/$kind/lib/$library"
done
for package in upright-policy upright; do
  UPRIGHT_LIBRARIES=$temporary "$python" -m pip wheel -q --disable-pip-version-check --no-deps \
    --no-build-isolation --wheel-dir "$temporary" "Python/$package"
done
rm -rf "$wheels"
mkdir -p "$wheels"
# The tag of the oldest glibc that has all the symbols. It fails if a library is needed that systems may not have.
auditwheel repair -w "$wheels" "$temporary"/upright_policy-*.whl >"$temporary/log" 2>&1 ||
  { cat "$temporary/log" >&2; exit 70; }
# FFmpeg's libraries have another number in each release of a distribution, and no manylinux tag: linux_x86_64.
mv "$temporary"/upright-*.whl "$wheels/"
ls -sh "$wheels"
