#!/usr/bin/env python3
"""Makes each stream that is published to nginx a session of `upright serve`.

nginx's RTMP module tells of a publisher by a POST of form fields and lets it in where the answer is 2xx. upright
wants JSON and a token. This stands between the two:

    on_publish       ->  POST /v1/sessions     whose input is pulled from nginx
    on_publish_done  ->  DELETE /v1/sessions/NAME

At on_publish the stream is not there yet: nginx waits for the answer. The session begins all the same, finds nothing
to pull, and tries again, at first after a quarter of a second.

    UPRIGHT_URL    where upright serves, http://127.0.0.1:8080
    UPRIGHT_TOKEN  its admin token
    RTMP_URL       where nginx listens, rtmp://127.0.0.1:1935
    HOOK_PORT      where nginx asks, 8081 (loopback alone)
    LIVE_KEY       what publishers must give as ?key=; without it anyone may publish who reaches nginx
    SESSION        a JSON object with more of the session: {"policy": "phone", "options": {"size": "720p"}}
"""

import hmac
import json
import os
import re
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

UPRIGHT = os.environ.get("UPRIGHT_URL", "http://127.0.0.1:8080").rstrip("/")
TOKEN = os.environ.get("UPRIGHT_TOKEN", "")
RTMP = os.environ.get("RTMP_URL", "rtmp://127.0.0.1:1935").rstrip("/")
PORT = int(os.environ.get("HOOK_PORT", "8081"))
KEY = os.environ.get("LIVE_KEY", "")
MORE = json.loads(os.environ.get("SESSION") or "{}")


def ask(method, path, body=None):
    """Asks upright; the status of its answer, and why where it refuses."""
    request = urllib.request.Request(UPRIGHT + path, method=method, data=body and json.dumps(body).encode(),
                                     headers={"Authorization": "Bearer " + TOKEN})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, ""
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode(errors="replace")
    except OSError as error:
        return 502, str(error)


def publish(name):
    return ask("POST", "/v1/sessions", {
        "name": name,
        "input": {"url": "%s/live/%s" % (RTMP, name), "mode": "pull"},
        "outputs": [{"type": "hls"}, {"type": "rtmp", "url": "%s/upright/%s" % (RTMP, name)}],
        **MORE})


class Hook(BaseHTTPRequestHandler):
    def do_POST(self):
        length = min(int(self.headers.get("Content-Length") or 0), 65536)
        fields = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode(errors="replace")))
        name = fields.get("name", "")
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", name):
            status, reason = 400, "no name for a session"
        elif self.path == "/done":
            status, reason = ask("DELETE", "/v1/sessions/" + name)
        elif not hmac.compare_digest(fields.get("key", "").encode(), KEY.encode()):
            status, reason = 403, "a wrong key"
        else:
            status, reason = publish(name)
        print("%s %s: %d %s" % (self.path, name, status, reason), flush=True)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """The lines above say more, and not the key."""


if __name__ == "__main__":
    # One after the other: what is over is over before the next of that name begins.
    HTTPServer(("127.0.0.1", PORT), Hook).serve_forever()
