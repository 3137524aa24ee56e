#!/usr/bin/env bash
# Makes Debian packages of the release build in .build/deb: `upright`, `upright-serve` if the service was built, and
# `libupright0` and `libupright-dev` if `make libraries` built the libraries. They depend on the FFmpeg that the
# program was built with. Doesn't need root. UPRIGHT names another program.
set -euo pipefail
cd "$(dirname "$0")/.."

program=${UPRIGHT:-.build/release/upright}
export UPRIGHT=$program DEB_FOLDER=$PWD/.build/deb
[ -x "$program" ] || { echo "deb: $program isn't built: run make build" >&2; exit 69; }
number=$("$program" --version | sed -n '1s/^upright //p')
packaged=$(dpkg-parsechangelog --show-field Version)
[ "${packaged%-*}" = "$number" ] ||
  { echo "deb: debian/changelog has version $packaged, the program $number" >&2; exit 65; }
serve=$(dirname "$program")/upright-serve
[ ! -x "$serve" ] || [ "$("$serve" --version)" = "upright-serve $number" ] ||
  { echo "deb: $serve has another version than $program: run make build" >&2; exit 65; }

rm -rf "$DEB_FOLDER"
mkdir -p "$DEB_FOLDER"
# dh_clean would also remove editors' backups in the whole tree.
clean() {
  rm -rf debian/{.debhelper,tmp,upright,upright-serve,libupright0,libupright-dev,files,debhelper-build-stamp} \
    debian/*.{debhelper,debhelper.log,substvars} debian/upright-serve.upright.service
}
trap clean EXIT
clean
debian/rules binary >"$DEB_FOLDER/log" 2>&1 || { tail -n 40 "$DEB_FOLDER/log" >&2; exit 70; }
ls -sh "$DEB_FOLDER"/*.deb
