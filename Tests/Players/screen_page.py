"""A page with one player for a browser on a screen, and the server of the page and its media."""

import functools
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading

import chromium_play

WHEELS = pathlib.Path(__file__).resolve().parent.parent.parent / ".build" / "players"
HLS_JS, NEXT = "/.upright-hls.mjs", "/.upright-next"

HTML = r"""<!doctype html><meta charset="utf-8"><title>player</title>
<style>body { margin: 0; background: #000; overflow: hidden; cursor: none }
video { width: 100vw; height: 100vh; object-fit: contain; display: block }</style>
<video id="v" muted playsinline></video>
<script type="module">
const ask = __ASK__, v = document.getElementById("v");
const say = (text, final = false) => fetch(ask.result, {method: "POST", body: JSON.stringify({final, result: text})}).catch(() => {});
v.addEventListener("error", () => say("media error " + v.error.code + ": " + v.error.message, true));
v.addEventListener("playing", () => say("playing"), {once: true});
v.addEventListener("ended", () => say("ended", true));
if (ask.script) {
  const {Hls} = await import(ask.script);
  say("hls.js " + Hls.version);
  const hls = new Hls({startPosition: ask.start ?? -1});
  hls.on(Hls.Events.ERROR, (name, data) => { if (data.fatal) say(data.details); });
  hls.loadSource(ask.source);
  hls.attachMedia(v);
} else {
  if (ask.isRemote) v.crossOrigin = "anonymous";
  v.src = ask.source;
}
if (ask.start !== null && !ask.script) v.addEventListener("loadedmetadata", () => { v.currentTime = ask.start; });
v.play().catch(e => say("play: " + e));
for (;;) {
  try { v.currentTime = await (await fetch(ask.next)).json(); } catch { break; }
}
</script>"""


def wheel():
    """Returns the path of a Python wheel that contains hls.js, or None if it can't be downloaded."""
    found = sorted(WHEELS.glob("gradio-*.whl"))
    if not found:
        WHEELS.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", WHEELS, "gradio==6.31.0"],
                       stderr=subprocess.DEVNULL)
        found = sorted(WHEELS.glob("gradio-*.whl"))
    return str(found[0]) if found else None


class Handler(chromium_play.Handler):
    def __init__(self, *args, script, seeks, **kwargs):
        self.script, self.seeks = script, seeks
        super().__init__(*args, **kwargs)

    def send_head(self):
        bodies = {HLS_JS: ("text/javascript", lambda: self.script), NEXT: ("application/json", self.seeks.get)}
        if self.path not in bodies:
            return super().send_head()
        kind, body = bodies[self.path]
        content = body()
        self.left = 0
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        return None


class Page:
    """Serves the page for a file or URL. `messages` has what the page says, `begun` is set when its player begins, and `over`
    when it has ended or failed."""

    def __init__(self, source, start, uses_hls_js):
        self.messages, self.over, self.begun, self.seeks = [], False, threading.Event(), queue.Queue()
        script = chromium_play.hls_module(wheel()) if uses_hls_js else b""
        is_remote = "://" in source
        ask = {"source": source if is_remote else "/" + os.path.basename(source), "isRemote": is_remote, "start": start,
               "script": HLS_JS if script else None, "result": chromium_play.RESULT, "next": NEXT}
        page = HTML.replace("__ASK__", json.dumps(ask).replace("</", "<\\/")).encode()
        handler = functools.partial(
            Handler, page=page, script=script, seeks=self.seeks, reports=self.hear,
            directory=os.path.dirname(os.path.abspath(source)))
        self.server = chromium_play.Server(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = "http://127.0.0.1:%d%s" % (self.server.server_address[1], chromium_play.PAGE)

    def url_of(self, file):
        """Returns the URL of a file beside the source."""
        return "http://127.0.0.1:%d/%s" % (self.server.server_address[1], os.path.basename(file))

    def hear(self, message):
        self.messages.append(message["result"])
        self.over = self.over or message["final"]
        if message["result"] == "playing" or self.over:
            self.begun.set()

    def seek(self, seconds):
        self.seeks.put(json.dumps(seconds).encode())

    def close(self):
        self.server.shutdown()
        self.server.server_close()
