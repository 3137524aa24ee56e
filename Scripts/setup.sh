#!/usr/bin/env bash
# Installs the Debian packages that are missing, and prints nothing if none is. With --say it installs
# nothing and needs no root: it prints the command that would, and ends with 69.
# Usage: setup.sh [--say] build|check|demo|test|call|live|samples|bench
set -euo pipefail

say=
if [ "${1:-}" = --say ]; then
  say=1
  shift
fi

build=(pkg-config libavformat-dev libavcodec-dev libavutil-dev libavfilter-dev libswscale-dev
  libswresample-dev ffmpeg)
test=("${build[@]}" python3 chromium gstreamer1.0-tools gstreamer1.0-plugins-base
  gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav
  python3-gi gir1.2-gst-rtsp-server-1.0 nginx libnginx-mod-rtmp)
# Janus is large and wants a network: not for every machine that runs the tests.
call=("${test[@]}" janus)
live=(ffmpeg python3 nginx libnginx-mod-rtmp janus)
# Debian starts these where it installs them. What is installed here is for tests and samples, which
# start their own: these are neither started now nor at the next boot.
daemons=(nginx janus)
samples=(ffmpeg fonts-dejavu-core)
bench=("${build[@]}" python3 python3-venv libyuv-dev)

case "${1:-build}" in
  build | demo) wanted=("${build[@]}") ;;
  check) wanted=("${build[@]}" python3 git) ;;
  test) wanted=("${test[@]}") ;;
  call) wanted=("${call[@]}") ;;
  live) wanted=("${live[@]}") ;;
  samples) wanted=("${samples[@]}") ;;
  bench) wanted=("${bench[@]}") ;;
  *) echo "usage: setup.sh [--say] build|check|demo|test|call|live|samples|bench" >&2; exit 64 ;;
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
if [ -n "$say" ]; then
  echo "setup: packages are missing; install them: sudo apt-get install ${missing[*]}" >&2
  exit 69
fi

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
# Says no to every start by a package (invoke-rc.d(8)); a policy of the machine's own stays.
policy=/usr/sbin/policy-rc.d made=
if [ ! -e "$policy" ] && [[ " ${missing[*]} " =~ \ (nginx|janus)\  ]]; then
  made=$policy
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
fi
leave() {
  rm -f "$log"
  [ -z "$made" ] || "${as_root[@]}" rm -f "$made"
}
trap leave EXIT
if ! { "${as_root[@]}" apt-get update -qq &&
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends \
    "${missing[@]}"; } >"$log" 2>&1; then
  cat "$log" >&2
  exit 69
fi
for daemon in "${daemons[@]}"; do
  # One that was here before is somebody's.
  if [[ " ${missing[*]} " == *" $daemon "* ]] && command -v systemctl >/dev/null; then
    "${as_root[@]}" systemctl disable "$daemon" >/dev/null 2>&1 || true
  fi
done
