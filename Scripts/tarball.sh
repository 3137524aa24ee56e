#!/usr/bin/env bash
# Makes the tarball of both programs with an FFmpeg of their own, in .build/release-artifacts. All they load is the C
# library, 2.31 or later. It is unpacked anywhere, or over /usr/local.
#
#   tarball.sh        upright-VERSION-linux-amd64.tar.gz, with x264: under the GPL 3
#   tarball.sh lgpl   upright-VERSION-linux-amd64-lgpl.tar.gz, which can't encode H.264: its FFmpeg is under the LGPL 3
#
# `build.sh static` makes the programs.
set -euo pipefail
cd "$(dirname "$0")/.."
source Scripts/packing.sh

kind=${1:-gpl}
built=.build/static/$kind/bin
[ -x "$built/upright-serve" ] || fail "$built/upright-serve isn't built: run Scripts/build.sh static $kind"
version=$(release_version)
name=upright-$version-linux-amd64
[ "$kind" = gpl ] || name=$name-lgpl
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
folder=$temporary/$name

DESTDIR=$temporary/root UPRIGHT=$built/upright Scripts/install.sh upright serve
mv "$temporary/root/usr/local" "$folder"
# The C library is the system's, all else is inside.
for program in "$folder"/bin/*; do
  needed=$(objdump -p "$program" | sed -n 's/^ *NEEDED *//p' | grep -vE '^(lib(c|m|dl|rt|pthread|util)\.so\.[0-9]|ld-linux)' || true)
  [ -z "$needed" ] || fail "$program needs $needed"
  newest=$(objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sort -Vu | tail -n 1)
  [ "$(printf '%s\n' GLIBC_2.31 "$newest" | sort -V | tail -n 1)" = GLIBC_2.31 ] || fail "$program needs $newest"
done
mkdir -p "$folder/share/doc/upright/licences"
cp ".build/static/$kind/licences/"* "$folder/share/doc/upright/licences/"
cp "$(dirname "$(dirname "$(readlink -f "$(command -v swift)")")")/share/swift/LICENSE.txt" "$folder/share/doc/upright/licences/swift-runtime"
for checkout in .build/static/build/checkouts/*/; do
  # Tests alone use it.
  [ "$(basename "$checkout")" != Yams ] || continue
  find "$checkout" -maxdepth 1 \( -name 'LICENSE*' -o -name 'NOTICE*' \) | LC_ALL=C sort | xargs -d '\n' cat \
    >"$folder/share/doc/upright/licences/$(basename "$checkout")"
done
cp ".build/static/$kind/ffmpeg-configuration" "$folder/share/doc/upright/"
cp Packaging/tarball.md "$folder/INSTALL.md"
Scripts/sbom.py "$kind" "$folder" "$version" >"$temporary/sbom"
mv "$temporary/sbom" "$folder/share/doc/upright/sbom.spdx.json"
mkdir -p "$artifacts"
pack "$folder" | gzip -n9 >"$artifacts/$name.tar.gz"
ls -sh "$artifacts/$name.tar.gz"
