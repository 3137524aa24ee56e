#!/usr/bin/env bash
# Goes from nothing to a turned clip with each artifact of `make release`, in clean systems without a toolchain, by the
# commands of docs/start.md: seconds and bytes. Of the image, the files are run as its user on a read-only root. Needs root
# for debootstrap, mounts and chroot. Then the files of Packaging/containers are run: see Tests/Release/containers.py.
#
# Usage: check-release.sh [SUITE...]      default: bullseye bookworm trixie
#
# DEBIAN_MIRROR is that of check-deb.sh, whose clean systems are used.
set -euo pipefail
cd "$(dirname "$0")/.."

source Scripts/debian-root.sh
artifacts=${ARTIFACTS:-$PWD/.build/release-artifacts}

if [ "${1:-}" != --mounted ]; then
  [ $# -gt 0 ] || set -- bullseye bookworm trixie
  for DEBIAN_SUITE in "$@"; do
    export DEBIAN_SUITE
    (use_clean_system && settings=(ARTIFACTS="$artifacts") && enter_namespaces)
  done
  "$(Scripts/python.sh)" Tests/Release/containers.py "$artifacts"
  exit
fi
use_clean_system
mount_clean_system

# from_nothing WAY FILES...: runs the commands of one way in an empty folder with a clip. Everything that apt installs is part of
# it. A release that can't have the artifact says so, and that is all that is right there.
from_nothing() {
  local way=$1 began bytes refused
  shift
  rm -rf "$root/tmp/first" && mkdir -p "$root/tmp/first"
  cp "$@" "$root/tmp/first/"
  cp Samples/clips/display-matrix.mp4 "$root/tmp/first/take.mp4"
  bytes=$(cat "$@" | wc -c)
  began=$(date +%s.%N)
  if ! inside env -C /tmp/first bash -euo pipefail /tmp/commands >"$folder/check.log" 2>&1; then
    refused=$(grep -m 1 -E 'Depends: lib|no version|requires a different Python|is not a supported wheel|ImportError: .*lib' "$folder/check.log" || true)
    [ -n "$refused" ] || { tail -n 30 "$folder/check.log" >&2; fail "$way on $suite"; }
    printf '%-9s %-8s not for this release: %s\n' "$suite" "$way" "$refused"
    return 0
  fi
  printf '%-9s %-8s %5.1f s %12d bytes\n' "$suite" "$way" "$(date +%s.%N | awk "{ print \$1 - $began }")" "$bytes"
  # Another program says which way up it is: 320x180, stored on its side.
  turned=$(ffprobe -v error -select_streams v -show_entries stream=width,height:stream_side_data=rotation -of csv=p=0 \
    "$root/tmp/first/take.upright.mp4")
  [ "$turned" = "$(cat "$folder/turned" 2>/dev/null || echo "$turned")" ] || fail "$way turned to $turned"
  echo "$turned" >"$folder/turned"
}
rm -f "$folder/turned"

version=$(sed -n 's/.*current = "\(.*\)".*/\1/p' Sources/Orientation/UprightVersion.swift)
Scripts/blocks.py docs/start.md 'run: tarball' >"$root/tmp/commands"
from_nothing tarball "$artifacts/upright-$version-linux-amd64.tar.gz"
inside /tmp/first/upright-"$version"-linux-amd64/bin/upright-serve --version

# In a chroot no program may make a namespace of users, as engines and bubblewrap do: this is what they do there.
cat >"$root/tmp/commands" <<'END'
apt-get -qq -y install --no-install-recommends skopeo umoci
skopeo copy --insecure-policy oci-archive:$(echo upright-image-upright-*.tar) oci:image:upright
umoci unpack --image image:upright bundle
mkdir bundle/rootfs/work
chown 10001 .
mount --bind bundle/rootfs bundle/rootfs
mount -o remount,bind,ro bundle/rootfs
mount --bind . bundle/rootfs/work
mount -t proc proc bundle/rootfs/proc
chroot --userspec=10001:10001 bundle/rootfs /usr/bin/busybox sh -c 'cd /work && exec /usr/local/bin/upright transcode take.mp4'
umount bundle/rootfs/{work,proc} bundle/rootfs
END
from_nothing image "$artifacts/upright-image-upright-$version.tar"

if [ -f "$(echo "$artifacts"/upright_"$version"-*.deb)" ]; then
  Scripts/blocks.py docs/start.md 'run: deb' >"$root/tmp/commands"
  from_nothing deb "$artifacts"/upright{,-serve}_"$version"-*.deb
  inside apt-get -qq -y purge upright upright-serve >"$folder/apt.log" 2>&1 || true
fi
if [ -f "$(echo "$artifacts"/upright-"$version"-*.whl)" ]; then
  {
    echo 'apt-get -qq -y install --no-install-recommends python3 python3-pip python3-venv'
    Scripts/blocks.py docs/start.md 'run: wheel'
  } >"$root/tmp/commands"
  from_nothing wheel "$artifacts"/upright{,_policy}-"$version"-*.whl
fi
