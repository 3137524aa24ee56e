#!/usr/bin/env bash
# Makes OCI images as archives, in .build/release-artifacts: `upright` and `upright-serve`, the programs of the tarball on
# a part of Debian 13, and `upright-janus`, Janus on Debian 12. Without a daemon; only the last needs root, for mmdebstrap.
# `podman load`, `docker load` and `skopeo copy oci-archive:...` read them.
#
# Usage: images.sh [upright|upright-serve|upright-janus]...
set -euo pipefail
cd "$(dirname "$0")/.."
source Scripts/packing.sh
source Scripts/apt.sh

version=$(release_version)
tarball=$artifacts/upright-$version-linux-amd64.tar.gz
folder=.build/images
mkdir -p "$folder" "$artifacts"

# image NAME: writes the root in $folder/NAME as an image, with the configuration of standard input.
image() { Scripts/image.py "$folder/$1" "$artifacts/upright-image-${1#upright-}-$version.tar" "$1:$version"; }

# Files of a root that all have: who is who, time zones, and Debian's part that the programs load. There is no shell but
# busybox's, no package manager and nothing that sets a user ID.
debian_part() {
  local root=$folder/$1 packages=$folder/packages package
  rm -rf "$root"
  mkdir -p "$root"/{tmp,proc,sys,dev,run,etc/ssl/certs,var/lib/upright,var/lib/dpkg/status.d} "$packages"
  chmod 1777 "$root/tmp"
  for package in base-files netbase tzdata libc6 libgcc-s1 ca-certificates busybox; do
    [ -n "$(find "$packages" -name "${package}_*.deb")" ] || (cd "$packages" && apt_of trixie download "$package" >/dev/null)
    dpkg-deb --fsys-tarfile "$(find "$packages" -name "${package}_*.deb")" |
      tar -x -C "$root" --no-same-owner --exclude='./usr/share/doc/*' --exclude='./usr/share/man/*' --exclude='./usr/share/locale/*' \
        --exclude='./usr/lib/systemd/*' --exclude='./etc/update-motd.d'
    # What scanners of images read.
    dpkg-deb -f "$(find "$packages" -name "${package}_*.deb")" >"$root/var/lib/dpkg/status.d/$package"
  done
  printf '%s\n' root:x:0:0:root:/root:/sbin/nologin upright:x:10001:10001:Upright:/var/lib/upright:/sbin/nologin \
    >"$root/etc/passwd"
  printf '%s\n' root:x:0: upright:x:10001: >"$root/etc/group"
  echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
  LC_ALL=C
  cat "$root"/usr/share/ca-certificates/mozilla/*.crt >"$root/etc/ssl/certs/ca-certificates.crt"
  # OpenSSL's default name of the same file, in the program and out of Debian's package.
  mkdir -p "$root/usr/lib/ssl"
  ln -sf /etc/ssl/certs/ca-certificates.crt "$root/usr/lib/ssl/cert.pem"
}

# The programs of the tarball, with what licences ask for.
programs() {
  local root=$folder/$1
  shift
  [ -f "$tarball" ] || fail "there is no $tarball: run Scripts/tarball.sh"
  mkdir -p "$root/usr/local"
  tar -xzf "$tarball" -C "$root/usr/local" --strip-components=1 --no-same-owner
  find "$root/usr/local/bin" -type f $(printf ' ! -name %s' "$@") -delete
  rm -r "$root"/usr/local/share/{man,bash-completion,zsh,fish} "$root/usr/local/lib" "$root/usr/local/INSTALL.md"
}

make_upright() {
  debian_part upright
  programs upright upright
  image upright <<'JSON'
{"User": "10001:10001", "WorkingDir": "/work", "Entrypoint": ["/usr/local/bin/upright"], "Cmd": ["--help"],
 "Env": ["PATH=/usr/local/bin:/usr/bin", "LANG=C.UTF-8"]}
JSON
}

make_upright-serve() {
  debian_part upright-serve
  programs upright-serve upright upright-serve
  image upright-serve <<'JSON'
{"User": "10001:10001", "WorkingDir": "/var/lib/upright", "Entrypoint": ["/usr/local/bin/upright-serve"],
 "Cmd": ["--listen", "0.0.0.0:8080"], "StopSignal": "SIGTERM",
 "Env": ["PATH=/usr/local/bin:/usr/bin", "LANG=C.UTF-8", "UPRIGHT_DATA=/var/lib/upright"],
 "ExposedPorts": {"8080/tcp": {}, "1935/tcp": {}, "9000/udp": {}}, "Volumes": {"/var/lib/upright": {}},
 "Healthcheck": {"Test": ["CMD", "busybox", "wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8080/healthz"],
                 "Interval": 10000000000, "Timeout": 3000000000, "StartPeriod": 5000000000, "Retries": 3}}
JSON
}

make_upright-janus() {
  local root=$folder/upright-janus
  rm -rf "$root"
  mmdebstrap --quiet --variant=minbase --include=janus,busybox --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' bookworm "$root" \
    http://deb.debian.org/debian
  # No package manager, nor its caches: a new release is a new image.
  rm -rf "$root"/var/{cache,log,lib/apt}/* "$root"/usr/{bin/{apt,dpkg},lib/{apt,dpkg},share/bug}* "$root"/etc/{apt,dpkg,cron*,logrotate.d} \
    "$root"/usr/lib/*/libapt* "$root"/{root,home}/.[a-z]* "$root"/etc/{machine-id,resolv.conf,hostname}
  echo upright:x:10001:10001:Upright:/nonexistent:/usr/sbin/nologin >>"$root/etc/passwd"
  echo upright:x:10001: >>"$root/etc/group"
  mkdir -p "$root/etc/upright-janus"
  cp Packaging/containers/janus/*.jcfg "$root/etc/upright-janus/"
  image upright-janus <<'JSON'
{"User": "10001:10001", "WorkingDir": "/", "Entrypoint": ["/usr/bin/janus"],
 "Cmd": ["-F", "/etc/upright-janus"], "Env": ["PATH=/usr/sbin:/usr/bin"], "ExposedPorts": {"8088/tcp": {}},
 "Healthcheck": {"Test": ["CMD", "busybox", "wget", "-q", "-O", "/dev/null", "http://127.0.0.1:8088/janus/info"],
                 "Interval": 10000000000, "Timeout": 3000000000, "StartPeriod": 5000000000, "Retries": 3}}
JSON
}

[ $# -gt 0 ] || set -- upright upright-serve upright-janus
for name in "$@"; do
  [ "$(type -t "make_$name")" = function ] || { echo "usage: images.sh [upright|upright-serve|upright-janus]..." >&2; exit 64; }
  "make_$name"
done
