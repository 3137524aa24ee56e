#!/usr/bin/env bash
# Starts upright, nginx in front of it, and the adapter between them. Ctrl-C stops all three.
#
#   RTMP_PORT=1935 HTTP_PORT=8080 HOOK_PORT=8081   ports, all on loopback
#   LIVE_KEY=...        the key that publishers must give as ?key=
#   SESSION='{...}'     settings for each session: {"policy": "phone", "options": {"size": "720p"}}
#   UPRIGHT_URL=... UPRIGHT_TOKEN=...              uses a running service instead of starting one
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

export RTMP_PORT=${RTMP_PORT:-1935} HTTP_PORT=${HTTP_PORT:-8080} HOOK_PORT=${HOOK_PORT:-8081}
export RTMP_URL=rtmp://127.0.0.1:$RTMP_PORT
# Debian installs nginx in /usr/sbin, which isn't on every user's path.
PATH=$PATH:/usr/sbin
module=${NGINX_RTMP_MODULE:-/usr/lib/nginx/modules/ngx_rtmp_module.so}
upright=${UPRIGHT:-$(command -v upright || echo "$here/../../.build/release/upright")}

missing() { echo "live: $1 is missing: $2" >&2; exit 69; }
command -v nginx >/dev/null && [ -f "$module" ] || missing "nginx with its RTMP module" "Scripts/setup.sh live"
command -v python3 >/dev/null || missing python3 "Scripts/setup.sh live"
[ -n "${UPRIGHT_URL:-}" ] || [ -x "$upright" ] || missing upright "make build"

answers() { (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
taken() { echo "live: port $1 is in use: stop the program that uses it, or set $2 to another port" >&2; exit 69; }
! answers "$RTMP_PORT" || taken "$RTMP_PORT" RTMP_PORT
! answers "$HOOK_PORT" || taken "$HOOK_PORT" HOOK_PORT
[ -n "${UPRIGHT_URL:-}" ] || ! answers "$HTTP_PORT" || taken "$HTTP_PORT" HTTP_PORT

scratch=$(mktemp -d)
started=()
stop() {
  trap - EXIT
  # upright is stopped first, so that it can close its outputs while nginx still runs.
  for process in "${started[@]}"; do
    kill "$process" 2>/dev/null || true
    wait "$process" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Starts a program that ends with this script, even if the script is killed.
begin() {
  setpriv --pdeathsig TERM "$@" &
  started+=($!)
}

# Waits until the program that was started last accepts connections on a port of loopback, or has ended.
await() {
  local deadline=$((SECONDS + 30))
  while [ $SECONDS -lt $deadline ]; do
    ! answers "$1" || return 0
    kill -0 "${started[-1]}" 2>/dev/null || break
    sleep 0.1
  done
  echo "live: no program accepts connections on port $1" >&2
  exit 69
}

if [ -z "${UPRIGHT_URL:-}" ]; then
  export UPRIGHT_URL=http://127.0.0.1:$HTTP_PORT
  if [ -z "${UPRIGHT_TOKEN:-}" ]; then
    UPRIGHT_TOKEN=$(python3 -c 'import secrets; print(secrets.token_urlsafe(24))')
    echo "live: UPRIGHT_TOKEN=$UPRIGHT_TOKEN   (for this run)"
  fi
  export UPRIGHT_TOKEN
  begin "$upright" serve --listen "127.0.0.1:$HTTP_PORT" --data "${DATA:-$scratch/data}"
  await "$HTTP_PORT"
fi

sed -e "s|@MODULE@|$module|" -e "s|@RTMP_PORT@|$RTMP_PORT|" -e "s|@HOOK_PORT@|$HOOK_PORT|" \
  "$here/nginx.conf" >"$scratch/nginx.conf"
begin python3 "$here/on_publish.py"
await "$HOOK_PORT"
begin nginx -p "$scratch" -e stderr -c "$scratch/nginx.conf"
await "$RTMP_PORT"

cat <<TEXT
live: publish to  $RTMP_URL/live/NAME${LIVE_KEY:+?key=$LIVE_KEY}
live: watch       $UPRIGHT_URL/live/NAME/index.m3u8   or   $RTMP_URL/upright/NAME
live: turn        curl -H "Authorization: Bearer \$UPRIGHT_TOKEN" -d '{"device": "landscapeLeft"}' \\
live:               $UPRIGHT_URL/v1/sessions/NAME/events
TEXT
wait -n "${started[@]}" || true
echo "live: one of the programs ended; the others are stopped" >&2
exit 1
