#!/usr/bin/env bash
# Installs the Debian packages that are missing, and says nothing where none is.
# Usage: setup.sh lint|build|test|call|samples|bench
set -euo pipefail

build=(pkg-config libavformat-dev libavcodec-dev libavutil-dev libavfilter-dev libswscale-dev
  libswresample-dev ffmpeg)
test=("${build[@]}" python3 chromium gstreamer1.0-tools gstreamer1.0-plugins-base
  gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav)
# A service that starts by itself where it is installed: not for every machine that runs the tests.
call=("${test[@]}" janus)
samples=(ffmpeg fonts-dejavu-core)
bench=("${build[@]}" python3 python3-venv libyuv-dev)

case "${1:-build}" in
  lint) wanted=(python3 git) ;;
  build) wanted=("${build[@]}") ;;
  test) wanted=("${test[@]}") ;;
  call) wanted=("${call[@]}") ;;
  samples) wanted=("${samples[@]}") ;;
  bench) wanted=("${bench[@]}") ;;
  *) echo "usage: setup.sh lint|build|test|call|samples|bench" >&2; exit 64 ;;
esac

if ! command -v swift >/dev/null; then
  echo "setup: there is no Swift toolchain: install Swift 6.2 or later (https://swift.org/install)" >&2
  exit 69
fi

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: become root and run: apt-get install ${missing[*]}" >&2
    exit 69
  }
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { "${as_root[@]}" apt-get update -qq &&
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 69
fi
