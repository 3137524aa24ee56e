#!/usr/bin/env bash
# Installs the Debian packages that are missing, and prints nothing if none is missing. With --say it only
# prints the command that would install them, doesn't need root, and exits with 69.
# Usage: setup.sh [--say] build|service|check|demo|media|test|players|slow|scale|site|live|samples|bench|arm|deb|tarball|release
set -euo pipefail

say=
if [ "${1:-}" = --say ]; then
  say=1
  shift
fi

build=(pkg-config libavformat-dev libavcodec-dev libavutil-dev libavfilter-dev libswscale-dev
  libswresample-dev ffmpeg)
service=("${build[@]}" zlib1g-dev libqrencode-dev libsrt-gnutls-dev)
# What the engine's tests of media need.
media=("${service[@]}" python3 python3-venv git gcc g++ binutils groff-base gstreamer1.0-tools
  gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-libav
  python3-gi gir1.2-gst-rtsp-server-1.0)
# A player for the desktop, and a screen with a window manager for it.
screen=(vlc-bin vlc-plugin-base vlc-plugin-video-output xvfb openbox)
test=("${media[@]}" "${screen[@]}" valgrind golang-go chromium nginx libnginx-mod-rtmp janus python3-aiortc nats-server)
# Nodes in network namespaces.
scale=("${test[@]}" iproute2)
# Prometheus reads the metrics.
slow=("${scale[@]}" prometheus)
# A player that the documents name.
site=("${scale[@]}" mpv)
players=("${media[@]}" "${screen[@]}" gstreamer1.0-x chromium firefox-esr mpv fonts-dejavu-core)
live=(ffmpeg python3 openssl nginx libnginx-mod-rtmp janus)
# Debian starts these services when it installs them. Tests and samples start separate processes, so the
# services are started neither now nor at the next boot.
daemons=(nginx janus prometheus nats-server)
# Not in every release: Debian 13 has none. The tests that need them are skipped there, with the reason.
optional=(janus)
samples=(ffmpeg fonts-dejavu-core)
bench=("${service[@]}" python3 python3-venv libyuv-dev)
deb=("${service[@]}" python3 debhelper dpkg-dev)
# What compiles FFmpeg and its assembly, and makes the images' roots.
tarball=("${deb[@]}" nasm curl mmdebstrap)
# What unpacks and runs the images of a release, and publishes to them.
release=(debootstrap skopeo umoci runc nginx ffmpeg chromium iproute2 python3-venv)
# The C library of aarch64, and the emulator of its programs.
arm=(libc6-dev-arm64-cross qemu-user)

purpose=${1:-build}
case "$purpose" in
  build | demo) wanted=("${build[@]}") ;;
  service) wanted=("${service[@]}") ;;
  check) wanted=("${service[@]}" python3 git groff-base) ;;
  media) wanted=("${media[@]}") ;;
  test) wanted=("${test[@]}") ;;
  players) wanted=("${players[@]}") ;;
  slow) wanted=("${slow[@]}") ;;
  scale) wanted=("${scale[@]}") ;;
  site) wanted=("${site[@]}") ;;
  live) wanted=("${live[@]}") ;;
  samples) wanted=("${samples[@]}") ;;
  bench) wanted=("${bench[@]}") ;;
  arm) wanted=("${arm[@]}") ;;
  deb) wanted=("${deb[@]}") ;;
  tarball) wanted=("${tarball[@]}") ;;
  release) wanted=("${release[@]}") ;;
  *) echo "usage: setup.sh [--say] build|service|check|demo|media|test|players|slow|scale|site|live|samples|bench|arm|deb|tarball|release" >&2; exit 64 ;;
esac

if ! command -v swift >/dev/null; then
  echo "setup: no Swift toolchain found: install Swift 6.3 or later (https://swift.org/install)" >&2
  exit 69
fi

missing=()
for package in "${wanted[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done

# Removes what this release doesn't have from `missing`. A system whose package lists were never fetched knows of
# no package.
leave_out() {
  compgen -G '/var/lib/apt/lists/*_Packages*' >/dev/null || return 0
  [[ $purpose = test || $purpose = slow || $purpose = scale || $purpose = site ]] || return 0
  local package left=()
  for package in "${missing[@]}"; do
    if [[ " ${optional[*]} " == *" $package "* ]] &&
      [[ $(apt-cache policy "$package") != *"Candidate: "[0-9]* ]]; then
      echo "setup: this release has no $package: the tests that need it are skipped"
    else
      left+=("$package")
    fi
  done
  missing=("${left[@]}")
}

leave_out
[ ${#missing[@]} -gt 0 ] || exit 0
if [ -n "$say" ]; then
  echo "setup: packages are missing; install them: sudo apt-get install ${missing[*]}" >&2
  exit 69
fi

as_root=()
if [ "$(id -u)" != 0 ]; then
  command -v sudo >/dev/null || {
    echo "setup: run as root: apt-get install ${missing[*]}" >&2
    exit 69
  }
  as_root=(sudo)
fi
echo "setup: installing ${#missing[@]} packages, about a minute: ${missing[*]}"
log=$(mktemp)
# Denies every start of a service by a package (invoke-rc.d(8)). An existing policy-rc.d is kept.
policy=/usr/sbin/policy-rc.d made=
if [ ! -e "$policy" ] && [[ " ${missing[*]} " =~ \ (nginx|janus|prometheus|nats-server)\  ]]; then
  made=$policy
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" install -m 755 /dev/stdin "$policy"
fi
leave() {
  rm -f "$log"
  [ -z "$made" ] || "${as_root[@]}" rm -f "$made"
}
trap leave EXIT
apt() {
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get -qq "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    exit 69
  }
}
apt update

leave_out
[ ${#missing[@]} -eq 0 ] || apt install -y --no-install-recommends "${missing[@]}"
for daemon in "${daemons[@]}"; do
  # A service that was already installed is left as it is.
  if [[ " ${missing[*]} " == *" $daemon "* ]] && command -v systemctl >/dev/null; then
    "${as_root[@]}" systemctl disable "$daemon" >/dev/null 2>&1 || true
  fi
done
