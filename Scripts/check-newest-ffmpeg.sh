#!/usr/bin/env bash
# Compiles MediaIO, the only target that uses FFmpeg, with the headers of the newest FFmpeg in Debian, from
# the packages of a suite that this machine doesn't need to run. Warnings are errors. Doesn't need root.
#
# Environment:
#   DEBIAN_SUITE   a suite other than sid
#   DEBIAN_MIRROR  the mirror; the default is the one that apt uses on this machine, or deb.debian.org
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${DEBIAN_SUITE:-sid}
folder=$PWD/.debian/$suite-headers
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
packages=(libavcodec-dev libavfilter-dev libavformat-dev libavutil-dev libswresample-dev libswscale-dev)

fail() { echo "check-newest-ffmpeg: $1" >&2; exit 69; }

command -v swift >/dev/null || fail "no Swift toolchain found (https://swift.org/install)"
for tool in apt-get dpkg-deb; do command -v "$tool" >/dev/null || fail "$tool is missing"; done
[ -e "$keyring" ] || fail "$keyring is missing: apt-get install debian-archive-keyring"

mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' \
  'Created-By: Packages' 'Label: Debian' 2>/dev/null | head -n 1)}
mirror=${mirror:-http://deb.debian.org/debian}

# A separate configuration of apt, with the machine's proxies but without its sources and packages.
mkdir -p "$folder"/apt/{lists,cache/archives}/partial
touch "$folder/apt/status"
echo "deb [signed-by=$keyring] $mirror $suite main" >"$folder/apt/sources.list"
cat >"$folder/apt/apt.conf" <<END
Dir::Etc::SourceList "$folder/apt/sources.list";
Dir::Etc::SourceParts "-";
Dir::State::Lists "$folder/apt/lists";
Dir::State::Status "$folder/apt/status";
Dir::Cache "$folder/apt/cache";
APT::Sandbox::User "root";
END
export APT_CONFIG=$folder/apt/apt.conf
run_apt() { apt-get -qq "$@" >"$folder/apt.log" 2>&1 || { cat "$folder/apt.log" >&2; exit 69; }; }
run_apt update
version=$(apt-cache show --no-all-versions libavcodec-dev | sed -n 's/^Version: //p')
[ -n "$version" ] || fail "$mirror has no libavcodec-dev in $suite"

if [ "$(cat "$folder/version" 2>/dev/null)" != "$version" ]; then
  rm -rf "$folder/debs" "$folder/root" "$folder/build" "$folder/version"
  mkdir -p "$folder/debs"
  (cd "$folder/debs" && run_apt download "${packages[@]}")
  for deb in "$folder"/debs/*.deb; do dpkg-deb -x "$deb" "$folder/root"; done
  # The .pc files contain the paths of installed packages.
  find "$folder/root" -name '*.pc' -exec sed -i "s#=/usr#=$folder/root/usr#" {} +
  echo "$version" >"$folder/version"
fi

echo "check-newest-ffmpeg: compiling with FFmpeg $version of Debian $suite"
pkgconfig=$(dirname "$(find "$folder/root" -name libavformat.pc)")
unset APT_CONFIG
# --warn-error is -Werror, which SwiftPM doesn't pass on.
PKG_CONFIG_PATH=$pkgconfig CI=true Scripts/quiet.py \
  swift build --target UprightMediaIO --scratch-path "$folder/build" -Xcc --warn-error
echo "check-newest-ffmpeg: clean"
