# The upgrade from older packages, in the clean system of check-deb.sh, which sources this file with their folder.
#
# apt upgrades from one repository to another, while the old service runs. Afterwards the new service runs, and has
# its user, token, recordings and changed configuration.

old=$1
[ -f "$(echo "$old"/upright_*.deb)" ] || fail "there is no package upright in $old"
new=$(dpkg-deb -f "$deb" Version)
version=$(dpkg-deb -f "$old"/upright_*.deb Version)

# A folder of packages as a repository of apt, and its line in sources.list.
repository() {
  mkdir -p "$root/tmp/$1"
  cp "$2"/*.deb "$root/tmp/$1/"
  (cd "$root/tmp/$1" && dpkg-scanpackages --multiversion . 2>/dev/null >Packages)
  echo "deb [trusted=yes] file:/tmp/$1 ./" >"$root/tmp/$1.list"
}
repository old "$old"
repository new .build/deb
select_repository() {
  cp "$root/tmp/$1.list" "$root/etc/apt/sources.list.d/upright.list"
  apt update
}

apt -y install --no-install-recommends systemd curl iproute2
# No systemd runs here, so the packages' scripts find a program that restarts the service as systemd would.
cat >"$root/tmp/systemctl" <<'END'
#!/bin/sh
echo "$*" >>/tmp/systemctl.log
case "$*" in
  *try-restart*upright.service*)
    kill -0 "$(cat /tmp/service.pid)" || exit 0
    kill "$(cat /tmp/service.pid)"
    while kill -0 "$(cat /tmp/service.pid)" 2>/dev/null; do sleep 0.1; done
    /tmp/start-service
    ;;
esac
END
cat >"$root/tmp/start-service" <<'END'
#!/bin/sh
setsid sh /tmp/unit >>/tmp/service.log 2>&1 </dev/null &
echo $! >/tmp/service.pid
END
chmod 755 "$root/tmp/systemctl" "$root/tmp/start-service"

# Functions for the scripts inside.
cat >"$root/tmp/functions" <<'END'
url=http://127.0.0.1:8080
trap 'cat /tmp/service.log /tmp/systemctl.log; dpkg -l | grep upright' ERR
request() {
  curl --silent --show-error --fail -H "Authorization: Bearer $(cat /var/lib/upright/.upright/token)" "$url$1" "${@:2}"
}
wait_until_it_runs() {
  curl --silent --fail --output /dev/null --retry 240 --retry-delay 1 --retry-connrefused $url/healthz
}
program() { readlink "/proc/$(cat /tmp/service.pid)/exe"; }
# The configuration, the token and the recordings: names, owners, modes, contents.
list_kept() {
  find /etc/upright /var/lib/upright/.upright /var/lib/upright/recordings ! -name lock -printf '%y %m %u %g %p\n' | sort
  sha256sum /etc/upright/upright.json /var/lib/upright/.upright/token /var/lib/upright/recordings/*/*.mp4
}
# apt with the repository of packages alone: there is no network, and Debian's own packages stay as they are.
only_ours() {
  apt-get -qq -y -o Dir::Etc::SourceList=/dev/null -o APT::Get::List-Cleanup=0 -o Dpkg::Options::=--force-confold "$@" \
    </dev/null
}
END

# An administrator's system: the configuration is changed, the service is enabled and has recorded.
cat >"$root/tmp/used" <<'END'
source /tmp/functions
ip link set lo up
sed -i 's/"maxSessions" *: *[0-9]*/"maxSessions" : 7/' /etc/upright/upright.json
grep -q '"maxSessions" : 7' /etc/upright/upright.json
systemctl enable upright.service
/tmp/start-service
wait_until_it_runs
setpriv --reuid=upright --regid=upright --clear-groups cp /tmp/clips/turning-sensor.mp4 /var/lib/upright/clip.mp4
request /v1/sessions -d '{"name": "stage",
  "input": {"url": "file:clip.mp4"}, "outputs": [{"type": "file", "name": "take.mp4"}]}'
for _ in $(seq 240); do
  [[ $(request /v1/recordings) != *'"finished"'* ]] || break
  sleep 1
done
[ -s /var/lib/upright/recordings/stage/take.mp4 ]
list_kept >/tmp/kept
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/system
mount --bind /tmp/systemctl /usr/bin/systemctl
: >/tmp/systemctl.log
END
# What is there after the upgrade.
cat >"$root/tmp/upgraded" <<'END'
wait_until_it_runs
[ "$(program)" = /usr/bin/upright-serve ]
[ "$(stat -c %U "/proc/$(cat /tmp/service.pid)")" = upright ]
list_kept | diff /tmp/kept -
request /v1/recordings | grep finished
[ -e /etc/systemd/system/multi-user.target.wants/upright.service ]
DPKG_MAINTSCRIPT_PACKAGE=upright-serve deb-systemd-helper was-enabled upright.service
dpkg-query -W -f '${Conffiles}\n' upright-serve | grep upright.json
# dpkg lists it for upright too, as obsolete, and leaves it to the other package at the purge.
apt-get -qq -y purge upright
list_kept | diff /tmp/kept -
[ "$(program)" = /usr/bin/upright-serve ]
umount /usr/bin/systemctl /run
kill "$(cat /tmp/service.pid)"
END

install_old() {
  select_repository old
  apt -y install --no-install-recommends --allow-downgrades "upright=$version"
}
remove_all() {
  apt -y purge '^upright(-serve)?$'
  rm -rf "$root"/var/lib/upright "$root"/etc/upright "$root"/tmp/{service.*,kept}
  inside sh -c '! getent passwd upright >/dev/null || userdel upright'
}
# upgrade_check WHAT COMMANDS: uses the old service, runs commands that upgrade, and looks what is there.
upgrade_check() {
  install_old
  cp "$root/tmp/new.list" "$root/etc/apt/sources.list.d/upright.list"
  { cat "$root/tmp/used"; echo 'only_ours update'; echo "$2"; cat "$root/tmp/upgraded"; } >"$root/tmp/steps"
  check "$1" 'unshare --net --mount bash -Eeuxo pipefail /tmp/steps'
  remove_all
}

say "from $version to $new on Debian $suite"
upgrade_check "apt-get dist-upgrade brings the service along: its user, token, recordings and configuration" \
  'only_ours dist-upgrade'
upgrade_check "apt upgrade does too" 'only_ours --with-new-pkgs upgrade'
upgrade_check "apt-get upgrade, which installs no new package, keeps the old version" "
  only_ours upgrade
  [ \"\$(dpkg-query -W -f '\${Version}' upright)\" = $version ]
  request /healthz
  only_ours dist-upgrade"
upgrade_check "without recommended packages the service runs on, and is upgraded when upright-serve is installed" '
  only_ours --no-install-recommends upgrade >/tmp/apt 2>&1
  grep "apt install upright-serve" /tmp/apt
  [ ! -e /usr/bin/upright-serve ]
  request /healthz
  only_ours install upright-serve'
install_old
check "who has no service enabled is told nothing" '
  source /tmp/functions
  cp /tmp/new.list /etc/apt/sources.list.d/upright.list
  only_ours update
  only_ours --no-install-recommends upgrade >/tmp/apt 2>&1
  ! grep "apt install upright-serve" /tmp/apt'
