#!/usr/bin/env python3
"""Creates a session of `upright serve` for each stream that is published to nginx.

nginx's RTMP module reports a publisher with a POST of form fields, and accepts it if the answer is 2xx. upright
expects JSON and a token. This adapter translates:

    on_publish       ->  POST /v1/sessions     with an input that is pulled from nginx
    on_publish_done  ->  DELETE /v1/sessions/NAME

At on_publish the stream isn't available yet, because nginx waits for the answer. The session starts nevertheless, and
tries to pull again, the first time after a quarter of a second.

    UPRIGHT_URL    the address of upright, default http://127.0.0.1:8080
    UPRIGHT_TOKEN  the admin token of upright
    RTMP_URL       the address of nginx, default rtmp://127.0.0.1:1935
    HOOK_PORT      the port for nginx's callbacks, default 8081 (loopback only)
    LIVE_KEY       the key that publishers must give as ?key=; without it everyone who can reach nginx may publish
    SESSION        a JSON object with settings for each session: {"policy": "phone", "options": {"size": "720p"}}
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
    """Sends a request to upright. Returns the status of the response, and the reason if it is an error."""
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
            status, reason = 400, "not a valid session name"
        elif self.path == "/done":
            status, reason = ask("DELETE", "/v1/sessions/" + name)
        elif not hmac.compare_digest(fields.get("key", "").encode(), KEY.encode()):
            status, reason = 403, "wrong key"
        else:
            status, reason = publish(name)
        print("%s %s: %d %s" % (self.path, name, status, reason), flush=True)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Logs nothing: the line printed by `do_POST` has more information, and doesn't contain the key."""


if __name__ == "__main__":
    # One request at a time: a session has ended before the next one with that name starts.
    HTTPServer(("127.0.0.1", PORT), Hook).serve_forever()
