#!/usr/bin/env bash
# Collects what users get in .build/release-artifacts: the tarballs, the Debian packages, the wheels, the images, the section of
# CHANGELOG.md, and SHA256SUMS. `make release` builds all of them before.
#
# With --twice it packs again, in another folder, and fails if a file differs. With --short it only makes the Debian packages of
# UPRIGHT twice, as CI does with what its tests built.
set -euo pipefail
cd "$(dirname "$0")/.."
source Scripts/packing.sh

version=$(release_version)
[ -z "$(git status --porcelain --untracked-files=no)" ] || say "some files aren't committed"

# A kind that wasn't built is left out, and named.
collect() {
  rm -rf "$artifacts"
  mkdir -p "$artifacts"
  local kind
  for kind in gpl lgpl; do
    if [ -x ".build/static/$kind/bin/upright-serve" ]; then
      Scripts/tarball.sh "$kind"
    else
      say "no tarball: run Scripts/build.sh static $kind"
    fi
  done
  if [ -f "$artifacts/upright-$version-linux-amd64.tar.gz" ]; then
    Scripts/images.sh
  else
    say "no images of the programs"
    Scripts/images.sh upright-janus
  fi
  if [ -x .build/release/upright ]; then
    Scripts/deb.sh
    cp .build/deb/*.deb "$artifacts/"
  else
    say "no packages: run make build libraries"
  fi
  if [ -e .build/static/gpl/bin/upright-serve ] && [ -e .build/release/lib/upright.h ]; then
    ln -sfn gpl .build/static/linked
    Scripts/wheels.sh static
    cp .build/wheels/*.whl "$artifacts/"
  else
    say "no wheels: run make libraries, Scripts/build.sh static"
  fi
  sed -n "/^## $version/,/^## /p" CHANGELOG.md | sed '1b;/^## /d' >"$artifacts/CHANGES.md"
  (cd "$artifacts" && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
}

if [ "${1:-}" = --short ]; then
  # Whether they are the same doesn't depend on it.
  export DPKG_DEB_COMPRESSOR_LEVEL=0
  for sums in first second; do
    Scripts/deb.sh >/dev/null
    (cd .build/deb && sha256sum ./*.deb) >".build/deb-$sums"
  done
  diff .build/deb-first .build/deb-second || fail "the second time these packages differ"
  say "packages of $version, made twice with the same bytes"
  exit
fi

collect
if [ "${1:-}" = --twice ]; then
  first=$artifacts
  artifacts=$first.again
  export ARTIFACTS=$artifacts
  collect
  diff "$first/SHA256SUMS" "$artifacts/SHA256SUMS" || fail "the second time these files differ"
  rm -rf "$artifacts"
  artifacts=$first
  say "packed twice, the same bytes"
fi
cat "$artifacts/SHA256SUMS"
