#!/usr/bin/env bash
# Builds the package and runs its media tests under another release of Debian, with that release's FFmpeg.
# Needs root for debootstrap and chroot.
#
# Usage: check-debian.sh SUITE [COMMAND [ARGUMENT...]]
# SUITE is trixie (Debian 13, FFmpeg 7.1), sid (the newest FFmpeg in Debian) or another one. Without a command it
# runs the engine's tests that decode and compare media. A command is run in the copy of the sources.
#
# Environment:
#   DEBIAN_MIRROR  the mirror; the default is the one that apt uses on this machine, or deb.debian.org
#
# All files are in .debian/SUITE: `root` is the system, `root/src` the copy of the sources, with a separate
# `.build`. A second run updates all three.
set -euo pipefail
cd "$(dirname "$0")/.."

mounted=
if [ "${1:-}" = --mounted ]; then
  mounted=1 suite=$DEBIAN_SUITE
else
  suite=${1:?name a release of Debian, such as trixie or sid}
fi
shift
folder=$PWD/.debian/$suite
root=$folder/root

source Scripts/debian-root.sh

# MARK: Before the namespace: find the toolchain, install debootstrap.

if [ -z "$mounted" ]; then
  command -v swift >/dev/null || fail "no Swift toolchain found (https://swift.org/install)"
  # `swift` on the path may be a link or a launcher, so the folder is taken from the toolchain's output.
  resources=$(swift -print-target-info | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
  toolchain=${resources%/usr/lib/swift}
  { [ -n "$toolchain" ] && [ -x "$toolchain/usr/bin/swift" ]; } ||
    fail "the Swift toolchain isn't in a separate folder that can be mounted: $resources"
  settings=(TOOLCHAIN="$toolchain" UPRIGHT_SHARED="${UPRIGHT_SHARED:-}"
    GIT_SETTINGS="$(git config --list --includes | grep -E '^(url|http)\.' || true)")
  enter_namespaces "$@"
fi

# MARK: In the namespace, as root.

make_system ca-certificates
mount_system

# These folders of the machine are mounted inside, read-only: the toolchain, the sources, the folder of the
# shared files, and the folders that the machine's git configuration substitutes for the packages' URLs.
show() {
  mkdir -p "$root$2"
  mount --bind "$1" "$root$2"
  mount -o remount,bind,ro "$root$2"
}
show "$TOOLCHAIN" /usr/local/swift
show "$PWD" /mnt/sources
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

for name in http_proxy https_proxy no_proxy; do
  [ -z "${!name:-}" ] || passed+=("$name=${!name}")
done
# Authorities that this machine trusts beside Debian's, such as a proxy's. pip downloads over HTTPS.
authorities=/usr/local/share/ca-certificates
[ ! -d $authorities ] || show $authorities $authorities

say "updating Debian $suite"
update_apt
apt -y upgrade
# The packages that the toolchain needs, and those for copying the sources.
apt -y install --no-install-recommends make git rsync procps openssl g++ libcurl4 libedit2 \
  libncurses6 libsqlite3-0 libuuid1 tzdata
inside update-ca-certificates >/dev/null

# Libraries of this machine that the toolchain needs and the release has only under another name.
lent=$root/usr/local/lib/toolchain
mkdir -p "$lent"
echo /usr/local/lib/toolchain >"$root/etc/ld.so.conf.d/toolchain.conf"
ldd "$TOOLCHAIN"/usr/bin/{swift-build,swift-frontend,swift-driver,clang} | awk '/=> \// { print $3 }' | sort -u |
  while IFS= read -r library; do
    case $library in "$TOOLCHAIN"/*) continue ;; esac
    [ -n "$(find "$root"/{usr/lib,usr/local/lib} -name "$(basename "$library")" -print -quit)" ] ||
      cp -L "$library" "$lent/"
  done
inside ldconfig

# `.build` and other paths in .gitignore are neither copied nor removed.
inside rsync -a --delete --exclude=.git --filter=':- .gitignore' /mnt/sources/ /src/
# Some scripts list the files with git.
inside git -C /src init -q
inside git -C /src add -A
inside /src/Scripts/setup.sh media

say "FFmpeg $(inside ffmpeg -version | sed -n '1s/^ffmpeg version \([^ ]*\).*/\1/p') on Debian $suite"
if [ $# -gt 0 ]; then
  inside env -C /src "$@"
  exit
fi
# In CI a warning is an error: a function of FFmpeg that is going to be removed is one.
inside env -C /src CI=true Scripts/build.sh tests engine
inside env -C /src Scripts/test.sh test engine --filter '^(UprightTests|UprightCLITests|CUprightTests)\.'
