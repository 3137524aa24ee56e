#!/usr/bin/env bash
# Starts Janus, upright, and nginx with TLS in front of it, and prints a link that publishes from a phone's browser.
# Ctrl-C stops all three.
#
#   HOST=...            the name or address in the link; default: the address of this machine
#   HTTPS_PORT=8443 HTTP_PORT=8080 JANUS_PORT=8088
#   CERTIFICATE=... KEY=...    PEM files; without them a certificate is made, which browsers warn about
#   SESSION='{...}'     settings of the session: {"policy": "phone", "options": {"size": "720p"}}
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

export HTTPS_PORT=${HTTPS_PORT:-8443} HTTP_PORT=${HTTP_PORT:-8080} JANUS_PORT=${JANUS_PORT:-8088}
PATH=$PATH:/usr/sbin
upright=${UPRIGHT:-$(command -v upright || echo "$here/../../../.build/release/upright")}
host=${HOST:-$(hostname -I 2>/dev/null | cut -d' ' -f1)}
host=${host:-localhost}

for program in janus nginx openssl python3; do
  command -v "$program" >/dev/null || { echo "webrtc: $program is missing: Scripts/setup.sh live" >&2; exit 69; }
done
[ -x "$upright" ] || { echo "webrtc: upright is missing: make build" >&2; exit 69; }

name=webrtc
. "$here/../programs.sh"
need_ports HTTPS_PORT HTTP_PORT JANUS_PORT

random() { python3 -c 'import secrets; print(secrets.token_urlsafe(24))'; }

umask 077
random >"$scratch/secret"
for file in janus.jcfg janus.transport.http.jcfg nginx.conf; do
  sed -e "s|@FOLDER@|$scratch|" -e "s|@SECRET@|$(cat "$scratch/secret")|" -e "s|@JANUS_PORT@|$JANUS_PORT|" \
    -e "s|@HTTP_PORT@|$HTTP_PORT|" -e "s|@HTTPS_PORT@|$HTTPS_PORT|" "$here/$file" >"$scratch/$file"
done
begin janus -F "$scratch"
await "$JANUS_PORT"

if [ -n "${CERTIFICATE:-}" ]; then
  cp "$CERTIFICATE" "$scratch/certificate.pem"
  cp "$KEY" "$scratch/key.pem"
else
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj "/CN=$host" \
    -keyout "$scratch/key.pem" -out "$scratch/certificate.pem" 2>/dev/null
fi
begin nginx -p "$scratch" -e stderr -c "$scratch/nginx.conf"
await "$HTTPS_PORT"

export UPRIGHT_TOKEN=${UPRIGHT_TOKEN:-$(random)}
export UPRIGHT_PUBLIC_URL=https://$host:$HTTPS_PORT
export UPRIGHT_WEBRTC_SECRET_FILE=$scratch/secret
begin_upright serve --listen "127.0.0.1:$HTTP_PORT" --data "${DATA:-$scratch/data}" \
  --webrtc "http://127.0.0.1:$JANUS_PORT/janus"
await "$HTTP_PORT"

link=$(SESSION=${SESSION:-} python3 - <<'PYTHON'
import json, os, urllib.request

def ask(path, body):
    request = urllib.request.Request("http://127.0.0.1:%s/v1/sessions%s" % (os.environ["HTTP_PORT"], path), method="POST",
                                     data=json.dumps(body).encode(),
                                     headers={"Authorization": "Bearer " + os.environ["UPRIGHT_TOKEN"]})
    return json.load(urllib.request.urlopen(request, timeout=30))

settings = {"options": {"frames": "metadata"}, "inputTimeout": 600, **json.loads(os.environ["SESSION"] or "{}")}
ask("", {"name": "phone", "input": {"whip": {}}, **settings})
print(ask("/phone/publish-url", {"seconds": 86400})["url"])
PYTHON
)
cat <<TEXT
webrtc: publish   $link   (works once)
webrtc: watch     $UPRIGHT_PUBLIC_URL/live/phone/index.m3u8
webrtc: UPRIGHT_TOKEN=$UPRIGHT_TOKEN
TEXT
await_end
