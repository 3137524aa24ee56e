#!/usr/bin/env bash
# Installs the packages of `make deb` in a clean Debian 12, uses the program and the service there, and purges them.
# Needs root for debootstrap and chroot.
#
# Usage: check-deb.sh [COMMAND [ARGUMENT...]]
#        check-deb.sh --from FOLDER
# A command is run in the system with the packages installed, instead of the checks. With --from it checks instead that
# apt upgrades the packages in a folder, of 0.2.0 or later, while the service runs: see Scripts/check-upgrade.sh.
#
# Environment:
#   DEBIAN_SUITE   a suite other than bookworm
#   DEBIAN_MIRROR  the mirror; the default is the one that apt uses on this machine, or deb.debian.org
#
# All files are in .debian/clean-SUITE. `root` is the clean system, and isn't changed: each run writes to a new
# layer above it.
set -euo pipefail
cd "$(dirname "$0")/.."

source Scripts/debian-root.sh
use_clean_system

if [ "${1:-}" != --mounted ]; then
  settings=()
  enter_namespaces "$@"
fi
shift

deb=$(echo .build/deb/upright_*.deb)
for name in upright upright-serve libupright0 libupright-dev; do
  [ -f "$(echo .build/deb/${name}_*.deb)" ] || fail "there is no package $name: run make deb"
done

mount_clean_system
mkdir -p "$root/tmp/clips"
cp Samples/clips/* "$root/tmp/clips/"
# What systemd does for the unit, as far as it works without systemd: user, folder, mask, no capabilities.
cat >"$root/tmp/unit" <<'END'
#!/bin/sh
cd /var/lib/upright
umask 027
exec setpriv --reuid=upright --regid=upright --init-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
  env -i PATH=/usr/bin:/bin HOME=/var/lib/upright USER=upright \
  $(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/upright.service)
END
chmod 755 "$root/tmp/unit"
if [ "${1:-}" = --from ]; then
  source Scripts/check-upgrade.sh "$2"
  exit
fi

# Lists the files that a package could have changed, with the contents of those in /etc and without apt's and
# dpkg's own files and backups.
list_files() {
  inside find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /run -o -path /var/cache \
    -o -path /var/log -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /root \) -prune \
    -o ! -path '/etc/*-' -printf '%y %m %u %g %p\n' | sort
  inside find /etc -type f ! -name '*-' -exec sha256sum {} + | sort -k 2
}

# The tools of the checks, and what the packages depend on. So all that is left after a purge is the packages'.
apt -y install --no-install-recommends systemd curl iproute2 man-db bash-completion gcc libc6-dev pkg-config
for name in upright upright-serve libupright0 libupright-dev; do
  cp .build/deb/${name}_*.deb "$root/tmp/$name.deb"
done
for name in upright upright-serve; do
  apt -y satisfy --no-install-recommends "$(dpkg-deb -f "$root/tmp/$name.deb" Depends)"
done
list_files >"$folder/before"

apt -y install --no-install-recommends /tmp/upright.deb
say "installed $(basename "$deb") on Debian $suite, $(inside du -sh /usr/bin/upright | cut -f 1)"
check "without upright-serve there is no service, and upright serve says what to install" '
  [ ! -e /etc/upright ]
  ! getent passwd upright || false
  status=0
  upright serve --help 2>/tmp/error || status=$?
  [ $status = 69 ] && grep "install the package upright-serve" /tmp/error'
apt -y install --no-install-recommends /tmp/upright-serve.deb
say "installed upright-serve, $(inside du -sh /usr/bin/upright-serve | cut -f 1)"

if [ $# -gt 0 ]; then
  inside "$@"
  exit
fi

check "transcode, and preview with libavfilter" '
  cd /tmp
  upright --version
  upright transcode clips/display-matrix.mp4 -o turned.mp4
  upright preview clips/turning-sensor.mp4 --frames sensor --events clips/turning-sensor.jsonl -o sheet.png
  [ -s turned.mp4 ] && [ -s sheet.png ]'

check "upright serve is upright-serve" '
  [ "$(upright serve --version)" = "$(upright-serve --version)" ]'

check "man upright-transcode, upright-serve" '
  upright --experimental-dump-help | grep -o "\"commandName\" *: *\"[a-z]*\"" | cut -d \" -f 4 | sort -u |
    while read -r name; do
      case $name in upright) page=upright ;; help) continue ;; *) page=upright-$name ;; esac
      MANWIDTH=80 man --warnings "$page" >/tmp/page 2>/tmp/warnings
      grep -q "EXIT STATUS" /tmp/page
      [ ! -s /tmp/warnings ] || { cat /tmp/warnings; exit 1; }
    done
  grep -q -e "--frames" <(man upright-transcode)
  grep -q -e "--hls-origin" <(man upright-serve)
  grep -q maxSessions <(man upright.json)'

check "completions: bash completes, those of zsh and fish are in place" '
  source /usr/share/bash-completion/bash_completion
  set +eu
  _completion_loader upright
  function=$(complete -p upright | sed "s/.* -F \([^ ]*\) .*/\1/")
  COMP_WORDS=(upright tran) COMP_CWORD=1 COMP_LINE="upright tran" COMP_POINT=12 COMP_TYPE=9
  "$function" upright tran upright
  [ "${COMPREPLY[*]% }" = transcode ] || { echo "bash: ${COMPREPLY[*]}"; exit 1; }
  for program in upright upright-serve; do
    [ -s "/usr/share/bash-completion/completions/$program" ] &&
      grep -q "^#compdef $program" "/usr/share/zsh/vendor-completions/_$program" &&
      grep -q "complete -c .*$program" "/usr/share/fish/vendor_completions.d/$program.fish" || exit 1
  done'

check "the unit is valid, not enabled, and its exposure is at most 2.0" '
  systemd-analyze verify --man=no upright.service
  ! systemctl is-enabled --quiet upright.service || false
  systemd-analyze security --offline=true --no-pager --threshold=20 /usr/lib/systemd/system/upright.service \
    >/tmp/security || { tail -n 1 /tmp/security; exit 1; }'
inside tail -n 1 /tmp/security

cat >"$root/tmp/service" <<'END'
ip link set lo up
sh /tmp/unit 2>/tmp/service.log &
service=$!
trap 'cat /tmp/service.log; kill $service' ERR
url=http://127.0.0.1:8080
curl --silent --show-error --fail --retry 60 --retry-delay 1 --retry-connrefused $url/healthz
[ "$(stat -c %U /proc/$service)" = upright ]
token=$(cat /var/lib/upright/.upright/token)
setpriv --reuid=upright --regid=upright --clear-groups cp /tmp/clips/turning-sensor.mp4 /var/lib/upright/clip.mp4
curl --silent --show-error --fail -H "Authorization: Bearer $token" $url/v1/sessions -d '{"name": "stage",
  "input": {"url": "file:clip.mp4"}, "outputs": [{"type": "hls"}, {"type": "file", "name": "take.mp4"}]}'
curl --silent --show-error --fail --retry 60 --retry-delay 1 --retry-all-errors $url/live/stage/index.m3u8
kill $service
wait $service
trap - ERR
! grep -i -e warning -e error /tmp/service.log || false
ls /var/lib/upright/recordings/stage/take.mp4
END
check "the unit's command runs as its user, with the installed configuration" \
  'unshare --net bash -Eeuo pipefail /tmp/service'

cp Samples/c/policy.c Samples/c/transcode.c "$root/tmp/"
list_files >"$folder/before-libraries"
apt -y install --no-install-recommends /tmp/libupright0.deb /tmp/libupright-dev.deb
check "C programs are built with libupright-dev, and run" '
  cd /tmp
  cc policy.c -o policy $(pkg-config --cflags --libs uprightpolicy)
  cc transcode.c -o transcode $(pkg-config --cflags --libs upright)
  ./policy phone clips/turning-sensor.jsonl | grep "encode 1280x720"
  ./transcode clips/turning-sensor.mp4 clips/turning-sensor.jsonl from-c.mp4 | grep "300 frames"'
apt -y purge libupright-dev libupright0
list_files | diff "$folder/before-libraries" - >"$folder/left" || { cat "$folder/left" >&2; fail "the libraries leave files"; }

# No systemd runs here, so the package's scripts find a program that writes down what they ask of it.
cat >"$root/tmp/systemctl" <<'END'
#!/bin/sh
echo "$*" >>/tmp/systemctl.log
END
chmod 755 "$root/tmp/systemctl"
check "the service is restarted by an upgrade and stopped by a removal, if it runs" '
  mount -t tmpfs tmpfs /run
  mkdir -p /run/systemd/system
  mount --bind /tmp/systemctl /usr/bin/systemctl
  for step in "-i /tmp/upright-serve.deb:try-restart" "--remove upright-serve:stop"; do
    rm -f /tmp/systemctl.log
    dpkg ${step%:*}
    grep -q -e "\b${step#*:} upright.service" /tmp/systemctl.log || { cat /tmp/systemctl.log; exit 1; }
  done
  umount /usr/bin/systemctl /run
  dpkg -i /tmp/upright-serve.deb'

# Compares the files with those before the installation. The argument is a pattern of what may be left.
compare() {
  list_files >"$folder/after"
  local left
  left=$(diff "$folder/before" "$folder/after" | grep '^[<>]' | grep -Ev "$1" || true)
  [ -z "$left" ] || { echo "check-deb: left after the purge:"; echo "$left"; exit 70; } >&2
}
apt -y purge upright
check "the service stays without the package upright" '[ -x /usr/bin/upright-serve ] && [ -s /etc/upright/upright.json ]'
apt -y purge upright-serve
compare ' /var/lib/upright($|/)| /etc/(passwd|group|shadow|gshadow)$| /var/lib(/systemd)?$'
check "purged: the data is left, with its user" \
  '[ "$(stat -c %U /var/lib/upright/recordings/stage/take.mp4)" = upright ]'
rm -r "$root/var/lib/upright"
apt -y install --no-install-recommends /tmp/upright.deb /tmp/upright-serve.deb
apt -y purge upright upright-serve
compare '^$'
say "purged without data: nothing is left"
