#!/usr/bin/env python3
"""Plays a live HLS stream in headless Chromium, and measures how far it is behind the clock in its frames.

    hls_latency.py URL SECONDS                    with Chromium's own HLS
    hls_latency.py URL SECONDS --hls-js WHEEL     with hls.js, from the wheel of a Python package that contains it

--throttle 12:700,30:0 limits the bandwidth of the page to 700 kbit/s from 12 s on, and doesn't limit it from 30 s on.
--high-latency plays with hls.js without its low-latency mode. With --half-life, hls.js forgets half of the bandwidth that it
has measured after this time; by default it needs nine seconds of downloads. With --catch-up, hls.js plays up to so much faster
while it is farther behind than the playlist's hold-back; by default it never catches up.

The frames have 16 by 9 blocks. The top row is white, black, twelve binary digits with the lowest first, their parity, and
white; the digits count 1/25 s of the wall clock. In a portrait frame the row is along the right edge.

Prints one JSON object. Times are in seconds:
    error             the error, or null
    version           of hls.js or of Chromium
    latencies         of each frame that was shown and could be read, from one second after the start on
    frames, unread    frames that were shown; those whose clock could not be read
    stalls            how often playback waited, a second after the first frame or later: before, a player may seek
    restarts          errors of the player from which it recovered by starting again
    sizes             [[width, height, seconds since the start]] as shown, in order
    loads, blocked    media playlists that hls.js has loaded; those whose request waited for a segment or part
    events            [[name, seconds since the start, detail]]
"""

import argparse
import functools
import json
import os
import shutil
import sys
import threading
import time

import browser_pipe
import chromium_play


HTML = r"""<!doctype html><meta charset="utf-8"><title>latency</title>
<body style="margin:0;background:#000"><video id="v" muted playsinline style="width:100vw;height:100vh"></video>
<script type="module">
const ask = __ASK__, v = document.getElementById("v"), start = performance.now();
const r = {error: null, version: (navigator.userAgent.match(/Chrom\w*\/[\d.]+/) || [""])[0], latencies: [], frames: 0,
           unread: 0, stalls: 0, restarts: 0, sizes: [], loads: 0, blocked: 0, events: []};
const canvas = document.createElement("canvas"), side = 144;
canvas.width = canvas.height = side;
const context = canvas.getContext("2d", {willReadFrequently: true});
const round = x => Math.round(x * 1000) / 1000;
let done = false, firstShown = null;
function seconds() { return round((performance.now() - start) / 1000); }
function note(name, detail) { r.events.push([name, seconds(), detail || ""]); }
function finish(error) {
  if (done) return;
  done = true;
  r.error = error;
  fetch(ask.result, {method: "POST", body: JSON.stringify({final: true, result: r})}).catch(() => {});
}
// Returns the clock of the frame that is shown, or null.
function read(isPortrait) {
  context.drawImage(v, 0, 0, side, side);
  const data = context.getImageData(0, 0, side, side).data;
  const isWhite = column => {
    const along = Math.floor((2 * column + 1) * side / 32), across = Math.floor(side / 18);
    const [x, y] = isPortrait ? [side - 1 - across, along] : [along, across];
    return data[4 * (y * side + x) + 1] > 128;
  };
  if (!isWhite(0) || isWhite(1) || !isWhite(15)) return null;
  let code = 0, ones = 0;
  for (let digit = 0; digit < 12; digit++) if (isWhite(digit + 2)) { code += 1 << digit; ones++; }
  return (ones % 2 === 1) === isWhite(14) ? code : null;
}
function frame(now, metadata) {
  if (done) return;
  v.requestVideoFrameCallback(frame);
  r.frames++;
  const {width, height} = metadata, last = r.sizes[r.sizes.length - 1];
  if (!last || last[0] !== width || last[1] !== height) r.sizes.push([width, height, seconds()]);
  if (firstShown === null) { firstShown = performance.now(); note("first frame"); }
  const code = read(height > width);
  if (code === null) { r.unread++; return; }
  const behind = (Date.now() / 40 - code) % 4096 / 25;
  if (performance.now() - firstShown > 1000) r.latencies.push(round(behind));
}
v.requestVideoFrameCallback(frame);
v.addEventListener("waiting", () => {
  note("waiting", v.currentTime);
  if (firstShown !== null && performance.now() - firstShown > 1000) r.stalls++;
});
v.addEventListener("playing", () => note("playing", v.currentTime));
v.addEventListener("error", () => finish("media error " + v.error.code + ": " + v.error.message));
setTimeout(() => finish(null), ask.seconds * 1000);
if (ask.script) {
  const {Hls} = await import(ask.script);
  r.version = Hls.version;
  const settings = {lowLatencyMode: ask.isLow};
  if (ask.halfLife) settings.abrEwmaFastLive = settings.abrEwmaSlowLive = ask.halfLife;
  if (ask.catchUp) settings.maxLiveSyncPlaybackRate = ask.catchUp;
  const hls = new Hls(settings);
  hls.on(Hls.Events.ERROR, (name, data) => {
    note(data.details, String(data.error || data.reason || ""));
    if (data.details === "bufferStalledError") r.stalls++;
    if (!data.fatal) return;
    r.restarts++;
    if (data.type === "mediaError") hls.recoverMediaError(); else hls.startLoad();
  });
  hls.on(Hls.Events.LEVEL_LOADED, (name, data) => {
    r.loads++;
    if (/[?&]_HLS_msn=/.test((data.networkDetails || {}).responseURL)) r.blocked++;
  });
  hls.loadSource(ask.source);
  hls.attachMedia(v);
} else {
  v.crossOrigin = "anonymous";
  v.src = ask.source;
}
v.play().catch(e => note("play", String(e)));
</script>"""


def play(program, address, reports, seconds, throttle):
    """Runs Chromium on the page until its final report, with the bandwidths of `throttle`: [[seconds, kbit/s]]. Returns the
    error if there is none."""
    browser = browser_pipe.Browser(
        program, "--autoplay-policy=no-user-gesture-required", "--disable-background-timer-throttling",
        "--disable-renderer-backgrounding", "--disable-backgrounding-occluded-windows", size=(640, 640))
    try:
        browser.ask("Network.enable")
        browser.open(address)
        start, waiting = time.monotonic(), list(throttle)
        while not reports.final.wait(0.2):
            if time.monotonic() > start + seconds:
                return "timeout after %g s" % seconds
            if waiting and time.monotonic() >= start + waiting[0][0]:
                rate = waiting.pop(0)[1]
                browser.ask("Network.emulateNetworkConditions", offline=False, latency=20 if rate else 0,
                            downloadThroughput=rate * 125 if rate else -1, uploadThroughput=-1)
            # Reads the events, so that the browser doesn't wait for it.
            browser.run("0")
            browser.events.clear()
        return None
    except (RuntimeError, OSError) as error:
        return str(error)
    finally:
        browser.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("url", metavar="URL")
    parser.add_argument("seconds", type=float, metavar="SECONDS")
    parser.add_argument("--hls-js", metavar="WHEEL")
    parser.add_argument("--throttle", default="", metavar="AT:KBITS,...")
    parser.add_argument("--high-latency", action="store_true")
    parser.add_argument("--half-life", type=float, metavar="S")
    parser.add_argument("--catch-up", type=float, metavar="RATE")
    options = parser.parse_args()
    throttle = [[float(number) for number in each.split(":")] for each in options.throttle.split(",") if each]
    browser = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, chromium_play.BROWSERS)), None)
    if not browser:
        print(json.dumps({"error": "chromium is missing"}))
        return chromium_play.MISSING
    script = chromium_play.hls_module(options.hls_js) if options.hls_js else b""
    ask = {"source": options.url, "seconds": options.seconds, "result": chromium_play.RESULT,
           "script": chromium_play.SCRIPT if script else None, "isLow": not options.high_latency, "halfLife": options.half_life,
           "catchUp": options.catch_up}
    page = HTML.replace("__ASK__", json.dumps(ask).replace("</", "<\\/")).encode()
    reports = chromium_play.Reports()
    handler = functools.partial(chromium_play.Handler, page=page, reports=reports, script=script, directory="/nonexistent")
    server = chromium_play.Server(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = "http://127.0.0.1:%d%s" % (server.server_address[1], chromium_play.PAGE)
    timeout = options.seconds + 30
    error = play(browser, address, reports, timeout, throttle) if throttle else chromium_play.play(
        browser, address, reports, timeout)
    server.shutdown()
    result = reports.latest or {}
    result["error"] = error or result.get("error")
    print(json.dumps(result))
    return chromium_play.FAILED if result["error"] else chromium_play.PLAYED


if __name__ == "__main__":
    sys.exit(main())
