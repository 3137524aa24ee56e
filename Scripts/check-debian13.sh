#!/usr/bin/env bash
# Builds the package and runs its tests under Debian 13 (trixie), whose FFmpeg is 7.1, on a machine with
# another release. Needs root for debootstrap and chroot.
#
# Usage: check-debian13.sh [COMMAND [ARGUMENT...]]
# Without a command it runs `make check` and the media tests. A command is run in the copy of the sources.
#
# Environment:
#   DEBIAN_SUITE   a suite other than trixie
#   DEBIAN_MIRROR  the mirror; the default is the one that apt uses on this machine, or deb.debian.org
#
# All files are in .debian/SUITE: `root` is the system, `root/src` the copy of the sources, with a separate
# `.build`. A second run updates all three. Mounts are made in a mount namespace: the kernel removes them
# when its last process ends, and a PID namespace ends all processes with this script.
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${DEBIAN_SUITE:-trixie}
folder=$PWD/.debian/$suite
root=$folder/root

fail() { echo "check-debian13: $1" >&2; exit 69; }
say() { echo "check-debian13: $1"; }

# Prints the URI of the first source of apt with a label, or nothing if there is none.
source_of() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Label: $1" 2>/dev/null | head -n 1
}

# MARK: Before the namespace: find the toolchain, install debootstrap.

if [ "${1:-}" != --mounted ]; then
  command -v swift >/dev/null || fail "no Swift toolchain found (https://swift.org/install)"
  # `swift` on the path may be a link or a launcher, so the folder is taken from the toolchain's output.
  resources=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
  toolchain=${resources%/usr/lib/swift}
  { [ -n "$toolchain" ] && [ -x "$toolchain/usr/bin/swift" ]; } ||
    fail "the Swift toolchain isn't in a separate folder that can be mounted: $resources"
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  if ! command -v debootstrap >/dev/null && [ ! -e /usr/sbin/debootstrap ]; then
    say "installing debootstrap"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
  fi
  # sudo doesn't keep the environment.
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
# Two runs in the same folder would overwrite each other's files.
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

# These folders of the machine are mounted inside, read-only: the toolchain, the sources, the folder of the
# shared files, and the folders that the machine's git configuration substitutes for the packages' URLs.
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
# The mounted folders keep their owners, which git would refuse.
git config --file "$root/etc/gitconfig" --add safe.directory '*'

for name in http_proxy https_proxy no_proxy UPRIGHT_WARNINGS_AS_ERRORS; do
  [ -z "${!name:-}" ] || passed+=("$name=${!name}")
done
inside() {
  chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/swift/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    "${passed[@]}" "$@"
}

# apt inside uses this machine's name resolution and proxies.
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
# The packages that the toolchain needs, and those for copying the sources.
apt -y install --no-install-recommends make git rsync procps openssl g++ libcurl4 libedit2 \
  libncurses6 libsqlite3-0 libuuid1 libxml2 tzdata

# `.build` and other paths in .gitignore are neither copied nor removed.
inside rsync -a --delete --exclude=.git --filter=':- .gitignore' /mnt/sources/ /src/
# Some scripts list the files with git.
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
