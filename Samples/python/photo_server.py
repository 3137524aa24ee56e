"""A photo server's video: a folder of files as HLS, upright, and nothing transcoded ahead.

    python photo_server.py FOLDER 8000            # then play http://127.0.0.1:8000/NAME.mov/master.m3u8
"""

import functools
import pathlib
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import upright

one_at_a_time = threading.Lock()


@functools.lru_cache(maxsize=8)
def source(path: pathlib.Path, changed: int) -> upright.SegmentSource:
    return upright.SegmentSource(path)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        try:
            name, file = unquote(self.path).lstrip("/").rsplit("/", 1)
            path = (folder / name).resolve(strict=True)
            path.relative_to(folder)  # No path leads out of the folder.
            with one_at_a_time:
                body, kind = self.content(source(path, path.stat().st_mtime_ns), file)
        except (ValueError, KeyError, OSError, upright.UprightError) as error:
            return self.send_error(404, explain=str(error))
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def content(self, source: upright.SegmentSource, file: str) -> "tuple[bytes, str]":
        kinds = {
            "m3u8": "application/vnd.apple.mpegurl", "mp4": "video/mp4", "m4s": "video/iso.segment", "vtt": "text/vtt",
            "jpg": "image/jpeg"}
        kind = kinds[pathlib.Path(file).suffix[1:]]
        if file == "master.m3u8":
            return source.multivariant_playlist({".": source}).encode(), kind
        return source.file(file), kind

    def log_message(self, *arguments: object) -> None:
        pass


folder = pathlib.Path(sys.argv[1]).resolve()
with ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Handler) as server:
    print(server.server_port, flush=True)
    server.serve_forever()
