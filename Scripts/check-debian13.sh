#!/usr/bin/env bash
# Builds the package and runs its tests under Debian 13 (trixie), whose FFmpeg is 7.1, on a machine of any
# other release. Needs root for debootstrap and chroot.
#
# Usage: check-debian13.sh [COMMAND [ARGUMENT...]]
# Without a command: `make check` and the media tests. With one: runs it in the copy of the sources.
#
# Environment:
#   DEBIAN_SUITE   another suite than trixie
#   DEBIAN_MIRROR  the mirror; by default the one that apt uses here, or deb.debian.org
#
# Everything is kept in .debian/SUITE: `root` is the system, `root/src` the copy of the sources, with a
# `.build` of its own. A second run updates all three. Mounts are made in a mount namespace of this run: the
# kernel removes them with its last process, and a process namespace ends those.
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${DEBIAN_SUITE:-trixie}
folder=$PWD/.debian/$suite
root=$folder/root

fail() { echo "check-debian13: $1" >&2; exit 69; }
say() { echo "check-debian13: $1"; }

# Prints the URI of the first source of apt's with a label; nothing if there is none.
source_of() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Label: $1" 2>/dev/null | head -n 1
}

# MARK: Before the namespace: what the machine has.

if [ "${1:-}" != --mounted ]; then
  command -v swift >/dev/null || fail "there is no Swift toolchain (https://swift.org/install)"
  # A `swift` on the path may be a link or a launcher; the toolchain knows its own folder.
  resources=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
  toolchain=${resources%/usr/lib/swift}
  { [ -n "$toolchain" ] && [ -x "$toolchain/usr/bin/swift" ]; } ||
    fail "the Swift toolchain has no folder of its own that could be mounted: $resources"
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  if ! command -v debootstrap >/dev/null && [ ! -e /usr/sbin/debootstrap ]; then
    say "installing debootstrap"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
  fi
  # sudo keeps nothing of the environment.
  settings=(TOOLCHAIN="$toolchain" DEBIAN_SUITE="$suite" DEBIAN_MIRROR="${DEBIAN_MIRROR:-}"
    UPRIGHT_SHARED="${UPRIGHT_SHARED:-}"
    GIT_SETTINGS="$(git config --list --includes | grep -E '^(url|http)\.' || true)")
  for name in http_proxy https_proxy no_proxy UPRIGHT_WARNINGS_AS_ERRORS; do
    [ -z "${!name:-}" ] || settings+=("$name=${!name}")
  done
  exec "${as_root[@]}" env "${settings[@]}" \
    unshare --mount --pid --fork --kill-child "$0" --mounted "$@"
fi
shift

# MARK: In the namespace, as root.

[ -n "$DEBIAN_MIRROR" ] || DEBIAN_MIRROR=$(source_of Debian)
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
security=$(source_of Debian-Security)
security=${security:-http://deb.debian.org/debian-security}

mkdir -p "$folder"
# Two runs in one folder would undo each other's work.
exec 9>"$folder/lock"
flock --nonblock 9 || fail "another run is using $folder"

if [ ! -d "$root" ]; then
  say "installing Debian $suite into $root from $mirror"
  eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
  [ -z "${http_proxy:-}" ] || export http_proxy
  rm -rf "$root.new"
  debootstrap --variant=minbase --include=ca-certificates "$suite" "$root.new" "$mirror" \
    >"$folder/debootstrap.log" || { tail -n 20 "$folder/debootstrap.log" >&2; exit 69; }
  mv "$root.new" "$root"
fi

# What of this machine is seen inside, and read-only: the toolchain, the sources, the folder of the shared
# clips, and the folders that the machine's git takes for the packages' addresses.
show() {
  mkdir -p "$root$2"
  mount --bind "$1" "$root$2"
  mount -o remount,bind,ro "$root$2"
}
mount --make-rprivate /
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
mount --rbind /dev "$root/dev"
show "$TOOLCHAIN" /usr/local/swift
show "$PWD" /mnt/sources
passed=()
if [ -n "$UPRIGHT_SHARED" ] && [ -d "$UPRIGHT_SHARED" ]; then
  show "$UPRIGHT_SHARED" /mnt/shared
  passed+=(UPRIGHT_SHARED=/mnt/shared)
fi
rm -f "$root/etc/gitconfig"
while IFS='=' read -r key value; do
  [ -n "$key" ] || continue
  git config --file "$root/etc/gitconfig" --add "$key" "$value"
  base=${key#url.} base=${base%.*}
  if [[ $key = url.* && $base = /* && -d $base ]] && ! mountpoint -q "$root$base"; then
    show "$base" "$base"
  fi
done <<<"$GIT_SETTINGS"
# The owners of the folders that are shown are the machine's.
git config --file "$root/etc/gitconfig" --add safe.directory '*'

for name in http_proxy https_proxy no_proxy UPRIGHT_WARNINGS_AS_ERRORS; do
  [ -z "${!name:-}" ] || passed+=("$name=${!name}")
done
inside() {
  chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/swift/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    "${passed[@]}" "$@"
}

# How apt reaches its mirror is this machine's business.
cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
apt-config dump | { grep -E '^Acquire::(http|https|Check-[A-Za-z-]*)(::| )' || true; } \
  >"$root/etc/apt/apt.conf.d/90machine"
{
  echo "deb $mirror $suite main"
  case $suite in
    sid | unstable) ;;
    *)
      echo "deb $mirror $suite-updates main"
      echo "deb $security $suite-security main"
      ;;
  esac
} >"$root/etc/apt/sources.list"

apt() {
  inside apt-get -qq "$@" >"$folder/apt.log" 2>&1 || { cat "$folder/apt.log" >&2; exit 69; }
}
say "updating Debian $suite"
apt update
apt -y upgrade
# What the toolchain needs, and what copies the sources.
apt -y install --no-install-recommends make git rsync procps openssl g++ libcurl4 libedit2 \
  libncurses6 libsqlite3-0 libuuid1 libxml2 tzdata

# `.build` and what else .gitignore names is neither copied nor removed.
inside rsync -a --delete --exclude=.git --filter=':- .gitignore' /mnt/sources/ /src/
# Some scripts ask git which files there are.
inside git -C /src init -q
inside git -C /src add -A
inside /src/Scripts/setup.sh test

say "FFmpeg $(inside ffmpeg -version | sed -n '1s/^ffmpeg version \([^ ]*\).*/\1/p') on Debian $suite"
if [ $# -gt 0 ]; then
  inside env -C /src "$@"
  exit
fi
inside make -C /src check
inside env -C /src Scripts/test.sh test --filter '^UprightTests\.'
