#!/usr/bin/env bash
# Starts upright and nginx in front of it. Ctrl-C stops both.
#
#   RTMP_PORT=1935 HTTP_PORT=8080      where to publish and to watch, on loopback
#   UPRIGHT_PORT=1936 CHECK_PORT=8081  between nginx and upright, and for nginx itself, on loopback
#   LIVE_KEY=...        the key that publishers must give as ?key=, of letters and digits; without it there is none
#   CONFIG=FILE         the configuration of upright, with words between @ as in upright.json beside this script
#   UPRIGHT_TOKEN=...   upright's admin token; without it, upright makes one and prints it
#   DATA=FOLDER         upright's data folder; without it, a temporary one
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

RTMP_PORT=${RTMP_PORT:-1935} HTTP_PORT=${HTTP_PORT:-8080}
UPRIGHT_PORT=${UPRIGHT_PORT:-1936} CHECK_PORT=${CHECK_PORT:-8081}
# Debian installs nginx in /usr/sbin, which isn't on every user's path.
PATH=$PATH:/usr/sbin
module=${NGINX_RTMP_MODULE:-/usr/lib/nginx/modules/ngx_rtmp_module.so}
upright=${UPRIGHT:-$(command -v upright || echo "$here/../../.build/release/upright")}

missing() { echo "live: $1 is missing: $2" >&2; exit 69; }
command -v nginx >/dev/null && [ -f "$module" ] || missing "nginx with its RTMP module" "Scripts/setup.sh live"
[ -x "$upright" ] || missing upright "make build"
[[ ${LIVE_KEY:=} =~ ^[A-Za-z0-9._-]*$ ]] || { echo "live: LIVE_KEY has characters other than A-Z a-z 0-9 . _ -" >&2; exit 64; }

name=live
. "$here/programs.sh"
need_ports RTMP_PORT HTTP_PORT UPRIGHT_PORT CHECK_PORT

# Replaces the words between @ in a file.
filled() {
  sed -e "s|@MODULE@|$module|" -e "s|@RTMP_PORT@|$RTMP_PORT|" -e "s|@HTTP_PORT@|$HTTP_PORT|" \
    -e "s|@UPRIGHT_PORT@|$UPRIGHT_PORT|" -e "s|@CHECK_PORT@|$CHECK_PORT|" -e "s|@LIVE_KEY@|$LIVE_KEY|" \
    -e "s|@DATA@|${DATA:-$scratch/data}|" "$1"
}
filled "${CONFIG:-$here/upright.json}" >"$scratch/upright.json"
filled "$here/nginx.conf" >"$scratch/nginx.conf"
begin_upright serve --config "$scratch/upright.json"
await "$HTTP_PORT"
await "$UPRIGHT_PORT"
begin nginx -p "$scratch" -e stderr -c "$scratch/nginx.conf"
await "$RTMP_PORT"

cat <<TEXT
live: publish to  rtmp://127.0.0.1:$RTMP_PORT/live/NAME${LIVE_KEY:+?key=$LIVE_KEY}
live: watch       http://127.0.0.1:$HTTP_PORT/live/NAME/index.m3u8   or   rtmp://127.0.0.1:$RTMP_PORT/upright/NAME
live: turn        curl -H "Authorization: Bearer \$UPRIGHT_TOKEN" -d '{"device": "landscapeLeft"}' \\
live:               http://127.0.0.1:$HTTP_PORT/v1/sessions/NAME/events
TEXT
await_end
