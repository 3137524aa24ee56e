"""A live session that is published by RTMP and turned by events, as a context manager.

    with Stream(upright, clip, events, latency="low") as stream:
        play(stream.url)

The publisher sends `clip` in real time from the moment at which the session accepts it. `url` is that of the playlist, which has
three segments then.
"""

import json
import os
import pathlib
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

TOKEN, KEY = "a-token-of-this-run", "key-of-this-run"


def free_ports(count):
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


class Stream:
    def __init__(self, upright, clip, events, latency=None, segments="fmp4"):
        self.upright, self.clip, self.latency, self.segments = upright, clip, latency, segments
        self.events = [json.loads(line) for line in pathlib.Path(events).read_text().splitlines()]
        self.scratch, self.processes = tempfile.TemporaryDirectory(), []
        self.http, self.rtmp = free_ports(2)
        self.base = "http://127.0.0.1:%d" % self.http
        self.url = self.base + "/live/turns/index.m3u8"

    def __enter__(self):
        session = {"name": "turns", "input": {"url": "rtmp://127.0.0.1:%d/live/%s" % (self.rtmp, KEY)},
                   "outputs": [{"type": "hls"}], "options": {
                       "frames": "sensor", "canvas": "follow", "size": "360x640", "speed": "veryfast",
                       "hls-segments": self.segments}}
        if self.latency:
            session["latency"] = self.latency
        config = pathlib.Path(self.scratch.name) / "upright.json"
        config.write_text(json.dumps({"listen": "127.0.0.1:%d" % self.http, "data": self.scratch.name + "/data",
                                      "sessions": [session]}))
        self.log = open(self.scratch.name + "/log", "wb")
        self.begin([self.upright, "serve", "--config", config], dict(os.environ, UPRIGHT_TOKEN=TOKEN))
        try:
            self.until(lambda: self.ask("/v1/sessions/turns"))
            self.ask("/v1/sessions/turns/events", self.events)
            self.begin(["ffmpeg", "-v", "error", "-re", "-i", self.clip, "-c", "copy", "-f", "flv",
                        "rtmp://127.0.0.1:%d/live/%s" % (self.rtmp, KEY)], None)
            self.until(self.check_segments)
        except BaseException:
            self.__exit__()
            raise
        return self

    def check_segments(self):
        """Fails while there are fewer than three segments: Chromium's own player rejects such a live playlist."""
        if self.ask("/live/turns/index.m3u8").count(b"#EXTINF") < 3:
            raise ConnectionError("fewer than three segments")

    def begin(self, words, environment):
        self.processes.append(subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log))

    def ask(self, path, body=None):
        request = urllib.request.Request(
            self.base + path, data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read()

    def until(self, condition, seconds=30):
        end = time.monotonic() + seconds
        while True:
            try:
                return condition()
            except (urllib.error.URLError, ConnectionError) as error:
                if time.monotonic() > end:
                    self.log.flush()
                    reason = error.read().decode() if isinstance(error, urllib.error.HTTPError) else str(error)
                    log = pathlib.Path(self.log.name).read_text(errors="replace")
                    raise RuntimeError(reason + "\n" + log[-2000:]) from error
                time.sleep(0.1)

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        self.log.close()
        self.scratch.cleanup()
