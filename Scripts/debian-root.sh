# Functions for scripts that work in a separate Debian system in .debian (sourced). They need root for
# debootstrap, mounts and chroot.
#
# Mounts are made in a mount namespace: the kernel removes them when its last process ends, and a PID namespace
# ends all processes with the script. The variables:
#   suite    the Debian release
#   folder   the folder of the system and its logs
#   root     the system's root
#   passed   NAME=VALUE for commands inside
# and in the environment DEBIAN_MIRROR, the mirror; the default is the one that apt uses on this machine, or
# deb.debian.org.

script=$(basename "$0" .sh)
passed=()

fail() { echo "$script: $1" >&2; exit 69; }
say() { echo "$script: $1"; }

# Prints the URI of the first source of apt with a label, or nothing if there is none.
source_of() {
  apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' "Label: $1" 2>/dev/null | head -n 1
}

# Runs this script again as root, in new namespaces, with --mounted and the arguments. The environment is
# `settings` (NAME=VALUE) and the variables that are needed here: sudo doesn't keep it.
enter_namespaces() {
  local as_root=() name
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  if ! command -v debootstrap >/dev/null && [ ! -e /usr/sbin/debootstrap ]; then
    say "installing debootstrap"
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
  fi
  settings+=(DEBIAN_SUITE="$suite" DEBIAN_MIRROR="${DEBIAN_MIRROR:-}")
  for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || settings+=("$name=${!name}")
  done
  exec "${as_root[@]}" env "${settings[@]}" \
    unshare --mount --pid --fork --kill-child "$0" --mounted "$@"
}

# Installs the system in `folder`/root if it isn't there. Arguments: packages that it has from the start.
make_system() {
  [ -n "$DEBIAN_MIRROR" ] || DEBIAN_MIRROR=$(source_of Debian)
  mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
  mkdir -p "$folder"
  # Two runs in the same folder would overwrite each other's files.
  exec 9>"$folder/lock"
  flock --nonblock 9 || fail "another run is using $folder"
  [ ! -d "$folder/root" ] || return 0
  say "installing Debian $suite into $folder/root from $mirror"
  local http_proxy=${http_proxy:-}
  [ -n "$http_proxy" ] || eval "$(apt-config shell http_proxy Acquire::http::Proxy)"
  [ -z "$http_proxy" ] || export http_proxy
  rm -rf "$folder/root.new"
  debootstrap --variant=minbase --include="$(IFS=,; echo "$*")" "$suite" "$folder/root.new" "$mirror" \
    >"$folder/debootstrap.log" || { tail -n 20 "$folder/debootstrap.log" >&2; exit 69; }
  mv "$folder/root.new" "$folder/root"
}

# Selects the clean system of a release, in which packages are tried.
use_clean_system() {
  suite=${DEBIAN_SUITE:-bookworm}
  folder=$PWD/.debian/clean-$suite
  root=$folder/system
}

# Mounts the kernel's file systems in `root`.
mount_system() {
  mount --make-rprivate /
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
}

# Mounts the clean system, which is installed if it isn't there, under a new layer that takes what this run writes,
# and updates apt's lists there.
mount_clean_system() {
  local name
  make_system ca-certificates
  mkdir -p "$folder"/{layer,work,system,archives/partial}
  rm -rf "$folder"/{layer,work}
  mkdir "$folder"/{layer,work}
  mount -t overlay overlay -o "lowerdir=$folder/root,upperdir=$folder/layer,workdir=$folder/work" "$root"
  mount_system
  # A second run downloads nothing again.
  mount --bind "$folder/archives" "$root/var/cache/apt/archives"
  for name in http_proxy https_proxy no_proxy; do
    [ -z "${!name:-}" ] || passed+=("$name=${!name}")
  done
  update_apt
}

# Runs a check inside, with a shell.
check() {
  local what=$1
  shift
  inside bash -euo pipefail -c "$@" >"$folder/check.log" 2>&1 ||
    { cat "$folder/check.log" >&2; echo "$script: failed: $what" >&2; exit 70; }
  say "$what"
}

# Runs a command inside.
inside() {
  chroot "$root" /usr/bin/env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/local/swift/usr/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    "${passed[@]}" "$@"
}

# Lets apt inside use this machine's name resolution and proxies, and updates its lists.
update_apt() {
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  apt-config dump | { grep -E '^Acquire::(http|https|Check-[A-Za-z-]*)(::| )' || true; } \
    >"$root/etc/apt/apt.conf.d/90machine"
  local security
  security=$(source_of Debian-Security)
  {
    echo "deb $mirror $suite main"
    case $suite in
      sid | unstable) ;;
      *)
        echo "deb $mirror $suite-updates main"
        echo "deb ${security:-http://deb.debian.org/debian-security} $suite-security main"
        ;;
    esac
  } >"$root/etc/apt/sources.list"
  apt update
}

# Runs apt-get inside. Its output is only printed if it fails.
apt() {
  inside apt-get -qq "$@" >"$folder/apt.log" 2>&1 || { cat "$folder/apt.log" >&2; exit 69; }
}
