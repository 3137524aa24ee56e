#!/usr/bin/env python3
"""A small HTTP origin for `--hls-origin`, in memory: PUT, GET, HEAD and DELETE with If-Match and If-None-Match.

For trying things out and for tests. In production use an object store or a web server with conditional PUT.

    UPRIGHT_ORIGIN_TOKEN=... origin.py --listen 127.0.0.1:8000 [--log writes.jsonl]
"""
import argparse
import hashlib
import hmac
import json
import os
import time

from aiohttp import web

TYPES = {"m3u8": "application/vnd.apple.mpegurl", "m4s": "video/iso.segment", "mp4": "video/mp4", "ts": "video/mp2t"}
LARGEST = 64 << 20


class Origin:
    def __init__(self, token, log):
        self.files = {}
        self.token = token
        self.log = log

    def note(self, request, status, body=b""):
        if self.log is None:
            return
        entry = {"at": time.monotonic(), "method": request.method, "path": request.path, "status": status, "size": len(body)}
        if request.path.endswith(".m3u8") and request.method == "PUT":
            entry["text"] = body.decode("utf-8", "replace")
        self.log.write(json.dumps(entry) + "\n")

    def is_allowed(self, request):
        given = request.headers.get("Authorization", "").encode()
        return self.token is None or hmac.compare_digest(given, f"Bearer {self.token}".encode())

    def holds(self, request):
        """Whether the request's conditions hold (RFC 9110, 13.1)."""
        found = self.files.get(request.path)
        match, none = request.headers.get("If-Match"), request.headers.get("If-None-Match")
        if match is not None and (found is None or match not in ("*", found[1])):
            return False
        return not (none == "*" and found is not None)

    async def put(self, request):
        # The body is read first: nothing may happen between the check of a condition and the write.
        body = await request.read()
        status = 204
        if not self.is_allowed(request):
            status = 401
        elif not self.holds(request):
            status = 412
        self.note(request, status, body)
        if status != 204:
            return web.Response(status=status)
        tag = f'"{hashlib.sha256(body).hexdigest()[:24]}-{time.monotonic_ns():x}"'
        self.files[request.path] = (body, tag)
        return web.Response(status=204, headers={"ETag": tag})

    async def delete(self, request):
        status = 204 if self.is_allowed(request) else 401
        if status == 204:
            self.files.pop(request.path, None)
        self.note(request, status)
        return web.Response(status=status)

    async def get(self, request):
        found = self.files.get(request.path)
        if found is None:
            return web.Response(status=404)
        body, tag = found
        name = request.path.rpartition(".")[2]
        headers = {
            "ETag": tag, "Access-Control-Allow-Origin": "*",
            "Cache-Control": "no-cache" if name == "m3u8" else "public, max-age=31536000, immutable"}
        if request.headers.get("If-None-Match") == tag:
            return web.Response(status=304, headers=headers)
        return web.Response(body=body, content_type=TYPES.get(name, "application/octet-stream"), headers=headers)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listen", default="127.0.0.1:8000", metavar="HOST:PORT")
    parser.add_argument("--log", metavar="FILE", help="writes all that changes something to this file, in JSON Lines")
    arguments = parser.parse_args()
    host, _, port = arguments.listen.rpartition(":")
    log = open(arguments.log, "w", buffering=1) if arguments.log else None
    origin = Origin(os.environ.get("UPRIGHT_ORIGIN_TOKEN"), log)
    application = web.Application(client_max_size=LARGEST)
    application.router.add_route("PUT", "/{path:.+}", origin.put)
    application.router.add_route("DELETE", "/{path:.+}", origin.delete)
    # aiohttp answers HEAD with GET's handler.
    application.router.add_get("/{path:.+}", origin.get)
    web.run_app(application, host=host, port=int(port), print=None, access_log=None)


if __name__ == "__main__":
    main()
