#!/usr/bin/env python3
"""Plays a file in headless Chromium and reports what was shown.

    chromium_play.py DIR FILE          serves DIR on loopback and plays FILE from it
    chromium_play.py http://HOST/ FILE plays FILE from a running server (for --snapshot and --hls-js it must allow CORS)

With --hls-js, hls.js plays it, from the wheel of a Python package that contains it.

Prints one JSON object. Times are media times in seconds:
    ended, error      whether it was played to the end (false after --until); the error, or null
    duration          the video element's duration at the end (null if it is infinite)
    sizes             [{"at", "width", "height"}] as shown: the first frame's size, then each change
    storedSizes       the same before the display matrix
    framesPresented   frames passed to the compositor (at a high rate, or on a busy machine, fewer than were decoded)
    mediaTimes        the times of the first and the last frame
    totalVideoFrames, droppedVideoFrames    getVideoPlaybackQuality(): decoded frames, as the decoder counts
    events            [[name, currentTime]]: resize, waiting, stalled, error, ended, ...
    snapshots         [{"asked", "at", "width", "height", "file"}], with --snapshot
    browser           Chromium's version

Exit code: 0 played to the end (or to --until), 1 not, 77 Chromium is missing.
"""

import argparse
import base64
import functools
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import zipfile

PLAYED, FAILED, MISSING = 0, 1, 77
BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
PAGE, RESULT, SCRIPT = "/.upright-player", "/.upright-result", "/.upright-hls.js"

HTML = r"""<!doctype html><meta charset="utf-8"><title>player</title>
<body style="margin:0;background:#000"><video id="v" muted playsinline style="width:100vw;height:100vh"></video>
<script type="module">
const ask = __ASK__, v = document.getElementById("v");
const r = {ended: false, error: null, duration: null, sizes: [], storedSizes: [], framesPresented: 0, mediaTimes: [],
           totalVideoFrames: 0, droppedVideoFrames: 0, events: [], snapshots: [],
           browser: (navigator.userAgent.match(/Chrom\w*\/[\d.]+/) || [""])[0]};
let playing = true, done = false, posting = Promise.resolve();
const round = x => Math.round(x * 1e6) / 1e6;
// A frame's metadata has its size without the display matrix. videoWidth includes the matrix, but may be one callback late.
// So the time is that of the change of the stored size, and the shown size is that of the callbacks after it.
let since = 0;
function note(m) {
  const at = round(m.mediaTime), stored = r.storedSizes[r.storedSizes.length - 1], shown = r.sizes[r.sizes.length - 1];
  if (!stored || stored.width !== m.width || stored.height !== m.height) {
    r.storedSizes.push({at, width: m.width, height: m.height});
    r.sizes.push({at, width: m.width, height: m.height});
    since = 0;
  } else if (shown.width !== v.videoWidth || shown.height !== v.videoHeight) {
    if (since < 3) Object.assign(shown, {width: v.videoWidth, height: v.videoHeight});
    else r.sizes.push({at, width: v.videoWidth, height: v.videoHeight});
  }
  since++;
}
function report(final) {
  const q = v.getVideoPlaybackQuality();
  if (playing) Object.assign(r, {totalVideoFrames: q.totalVideoFrames, droppedVideoFrames: q.droppedVideoFrames});
  r.duration = Number.isFinite(v.duration) ? v.duration : null;
  const body = JSON.stringify({final, result: r});
  posting = posting.then(() => fetch(ask.result, {method: "POST", body})).catch(() => {});
  return posting;
}
function frame(now, m) {
  if (!playing) return;
  note(m);
  r.framesPresented = m.presentedFrames;
  r.mediaTimes = [r.mediaTimes.length ? r.mediaTimes[0] : round(m.mediaTime), round(m.mediaTime)];
  v.requestVideoFrameCallback(frame);
  if (ask.until !== null && m.mediaTime >= ask.until) finish(null);
}
function fail(message) { if (!done) { done = true; r.error = message; report(true); } }
async function finish(error) {
  if (done) return;
  done = true;
  r.ended = v.ended;
  // The last frame's callback may come after "ended".
  if (v.ended) await new Promise(ok => setTimeout(ok, 150));
  await report(false);
  playing = false;
  v.pause();
  try { for (const at of ask.snapshots) await snapshot(at); } catch (e) { r.error = "snapshot: " + e; }
  report(true);
}
async function snapshot(at) {
  const shown = new Promise((ok, no) => {
    v.requestVideoFrameCallback((now, m) => ok(m));
    setTimeout(() => no(new Error("no frame at " + at)), 10000);
  });
  const seeked = new Promise(ok => v.addEventListener("seeked", ok, {once: true}));
  v.currentTime = at;
  await seeked;
  const m = await shown, c = document.createElement("canvas");
  c.width = v.videoWidth; c.height = v.videoHeight;
  c.getContext("2d").drawImage(v, 0, 0);
  r.snapshots.push({asked: at, at: round(m.mediaTime), width: c.width, height: c.height, png: c.toDataURL("image/png")});
}
for (const name of ["loadedmetadata", "playing", "resize", "waiting", "stalled", "error", "ended"])
  v.addEventListener(name, () => { if (playing) r.events.push([name, round(v.currentTime)]); });
v.addEventListener("ended", () => finish(null));
v.addEventListener("error", () => fail("media error " + v.error.code + ": " + v.error.message));
addEventListener("error", e => fail("script: " + e.message));
setInterval(() => { if (!done) report(false); }, 500);
v.requestVideoFrameCallback(frame);
if (ask.crossOrigin) v.crossOrigin = "anonymous";
if (ask.script) {
  const {Hls} = await import(ask.script), hls = new Hls({startPosition: ask.start});
  hls.on(Hls.Events.ERROR, (name, data) => {
    r.events.push([data.details, round(v.currentTime)]);
    if (data.fatal) fail("hls.js: " + data.details);
  });
  hls.loadSource(ask.source);
  hls.attachMedia(v);
} else v.src = ask.source;
v.defaultPlaybackRate = v.playbackRate = ask.rate;
v.play().catch(e => fail(v.error ? "media error " + v.error.code + ": " + v.error.message : "play: " + e.message));
</script>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a directory with byte ranges and CORS, and the player's page, and receives its reports."""

    protocol_version = "HTTP/1.1"
    extensions_map = {
        "": "application/octet-stream",
        ".m3u8": "application/vnd.apple.mpegurl",
        ".m4s": "video/iso.segment",
        ".mp4": "video/mp4",
        ".m4a": "audio/mp4",
        ".mov": "video/quicktime",
        ".ts": "video/mp2t",
        ".webm": "video/webm",
        ".mkv": "video/x-matroska",
        ".html": "text/html; charset=utf-8",
        ".json": "application/json",
    }

    def __init__(self, *args, page, reports, script=b"", **kwargs):
        self.own = {PAGE: ("text/html; charset=utf-8", page), SCRIPT: ("text/javascript", script)}
        self.reports, self.left = reports, None
        super().__init__(*args, **kwargs)

    def log_message(self, *args):
        pass

    def end_headers(self):
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Access-Control-Expose-Headers", "*")
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def empty(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_OPTIONS(self):
        self.empty(204, Access_Control_Allow_Methods="GET, HEAD, OPTIONS", Access_Control_Allow_Headers="*")

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path != RESULT:
            return self.empty(404)
        self.reports(json.loads(body))
        self.empty(204)

    def send_head(self):
        self.left = None
        if self.path in self.own:
            kind, content = self.own[self.path]
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(content)
            return None
        wanted = self.headers.get("Range", "")
        path = self.translate_path(self.path)
        if not os.path.isfile(path):
            self.empty(404)
            return None
        file = open(path, "rb")
        size = os.fstat(file.fileno()).st_size
        start, end, status = 0, size - 1, 200
        if wanted.startswith("bytes=") and "," not in wanted:
            first, _, last = wanted[6:].partition("-")
            try:
                if first:
                    start, end = int(first), min(int(last), size - 1) if last else size - 1
                else:
                    start = max(0, size - int(last))
                status = 206
            except ValueError:
                start, end = 0, size - 1
            if status == 206 and (start >= size or start > end):
                file.close()
                self.empty(416, Content_Range="bytes */%d" % size)
                return None
        file.seek(start)
        self.left = end - start + 1
        self.send_response(status)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(self.left))
        if status == 206:
            self.send_header("Content-Range", "bytes %d-%d/%d" % (start, end, size))
        self.end_headers()
        return file

    def copyfile(self, source, outputfile):
        while self.left:
            data = source.read(min(self.left, 1 << 16))
            if not data:
                self.close_connection = True  # the file shrank, and Content-Length was already sent
                return
            outputfile.write(data)
            self.left -= len(data)


def hls_module(wheel):
    """The bundle of hls.js in a wheel, as a module that exports the class Hls."""
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if not re.search(r"frontend/assets/hls[^/]*\.js$", name):
                continue
            text = archive.read(name).decode()
            found = re.search(r"(\w+)=class(?: \w+)?\{static get version", text)
            if found:
                return (re.sub(r"export\s*\{[^}]*\};?\s*$", "", text) + "\nexport {%s as Hls};" % found.group(1)).encode()
    sys.exit("no hls.js in " + wheel)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # the browser may close the connection in the middle of a file


class Reports:
    """The latest report of the page, and whether it was the final one."""

    def __init__(self):
        self.latest, self.final = None, threading.Event()

    def __call__(self, message):
        self.latest = message["result"]
        if message["final"]:
            self.final.set()


def die_with_parent():
    """Makes the process end with this script, even if the script is killed with -9 (Linux: PR_SET_PDEATHSIG = 1)."""
    try:
        import ctypes
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    except (OSError, AttributeError):
        pass


def stop(process):
    """Ends Chromium and its children, which have a separate process group."""
    for sign, timeout in ((signal.SIGTERM, 2.0), (signal.SIGKILL, 5.0)):
        try:
            os.killpg(process.pid, sign)
        except ProcessLookupError:
            break
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def play(browser, url, reports, timeout):
    """Runs Chromium on the page until its final report. Returns the error if there is none."""
    profile = tempfile.mkdtemp(prefix="upright-chromium-")
    log_path = os.path.join(profile, "stderr.log")
    environment = dict(os.environ, HOME=profile, XDG_CONFIG_HOME=profile, XDG_CACHE_HOME=profile)
    command = [
        browser, "--headless=new", "--no-sandbox", "--user-data-dir=" + os.path.join(profile, "profile"),
        "--autoplay-policy=no-user-gesture-required", "--mute-audio", "--disable-gpu", "--disable-dev-shm-usage",
        "--no-first-run", "--no-default-browser-check", "--disable-background-networking", "--disable-sync",
        "--disable-component-update", "--disable-default-apps", "--disable-extensions", "--disable-breakpad",
        "--disable-crash-reporter", "--disable-background-timer-throttling", "--disable-renderer-backgrounding",
        "--disable-backgrounding-occluded-windows", "--window-size=1280,1280", "--force-device-scale-factor=1",
        "--no-proxy-server", url,
    ]
    process = None
    try:
        with open(log_path, "wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                                       process_group=0, preexec_fn=die_with_parent)
        end = time.monotonic() + timeout
        while not reports.final.wait(0.1):
            if process.poll() is not None:
                with open(log_path, errors="replace") as log:
                    return "chromium ended with %d: %s" % (process.returncode, log.read()[-500:].strip())
            if time.monotonic() >= end:
                return "timeout after %g s" % timeout
        return None
    finally:
        if process:
            stop(process)
        for _ in range(20):  # the last child may still be writing
            shutil.rmtree(profile, ignore_errors=True)
            if not os.path.exists(profile):
                break
            time.sleep(0.1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("base", metavar="URL_OR_DIR")
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--timeout", type=float, default=60, metavar="S", help="give up after S seconds (60)")
    parser.add_argument("--rate", type=float, default=1, metavar="X", help="playback rate, up to 16")
    parser.add_argument("--until", type=float, metavar="T", help="stop at this media time, for an infinite stream")
    parser.add_argument("--snapshot", default="", metavar="T1,T2", help="afterwards seek to these times and save the frames shown")
    parser.add_argument("--hls-js", metavar="WHEEL", help="the wheel with hls.js")
    parser.add_argument("--start", type=float, default=0, metavar="T", help="where hls.js begins (0)")
    parser.add_argument("--out", default=".", metavar="DIR", help="the folder for the snapshots")
    options = parser.parse_args()
    try:
        snapshots = [float(t) for t in options.snapshot.split(",") if t.strip()]
    except ValueError:
        parser.error("--snapshot needs times in seconds, such as 1.5,4")

    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser or not shutil.which(browser):
        print(json.dumps({"ended": False, "error": "chromium is missing"}))
        return MISSING

    remote = urllib.parse.urlsplit(options.base).scheme in ("http", "https")
    if not remote and not os.path.isfile(os.path.join(options.base, options.file)):
        print(json.dumps({"ended": False, "error": "no such file: " + options.file}))
        return FAILED
    quoted = urllib.parse.quote(options.file, safe="/?&=")
    ask = {"source": urllib.parse.urljoin(options.base.rstrip("/") + "/", quoted) if remote else "/" + quoted,
           "result": RESULT, "crossOrigin": remote and bool(snapshots), "script": options.hls_js and SCRIPT,
           "rate": options.rate, "start": options.start, "until": options.until, "snapshots": snapshots}
    page = HTML.replace("__ASK__", json.dumps(ask).replace("</", "<\\/")).encode()

    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda *_: sys.exit(FAILED))  # so that play()'s finally runs
    reports = Reports()
    with tempfile.TemporaryDirectory() as nothing:
        root = nothing if remote else os.path.abspath(options.base)
        server = Server(("127.0.0.1", 0), functools.partial(
            Handler, page=page, reports=reports, script=hls_module(options.hls_js) if options.hls_js else b"", directory=root))
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            url = "http://127.0.0.1:%d%s" % (server.server_address[1], PAGE)
            failure = play(browser, url, reports, options.timeout)
        finally:
            server.shutdown()
            server.server_close()

    result = reports.latest or {"ended": False}
    result["error"] = failure or result.get("error")
    for shot in result.get("snapshots", []):
        os.makedirs(options.out, exist_ok=True)
        shot["file"] = os.path.join(options.out, "snapshot-%g.png" % shot["asked"])
        with open(shot["file"], "wb") as file:
            file.write(base64.b64decode(shot.pop("png").partition(",")[2]))
    print(json.dumps(result))
    reached = options.until is not None and (result.get("mediaTimes") or [0])[-1] >= options.until
    return PLAYED if (result["ended"] or reached) and not result["error"] else FAILED


if __name__ == "__main__":
    sys.exit(main())
