#!/usr/bin/env python3
"""Publishes to `upright serve` by WHIP, through Janus, from another network namespace (--client page: from the same one).

    webrtc_stage.py UPRIGHT FOLDER [--client aiortc|chromium|page] [--codec h264|vp8|vp9] [--seconds S] [--rotations 0,90,180,270]
                    [--second h264|vp8] [--restart] [--restart-ice] [--mirrored] [--loss PERCENT] [--jitter MS] [--all-outputs]

Starts Janus and `UPRIGHT serve --data FOLDER`, creates the session "cam" with HLS, and publishes frames with CVO: each is
red above green, with its number as a bar code below the middle, after its rotation is applied. Chromium also sends a flash
and a beep each second, at the same time. With --mirrored, aiortc sends frames that CVO says to flip. With --second, the
publisher leaves and another one comes with that codec; with
--restart, Janus is killed and restarted in between. --loss and --jitter: of the UDP packets between the namespaces, each way.

Prints one JSON object: {"sent": frames, "rotations": of each frame, "flashes": their first frames, "lost": UDP packets, "states": [[seconds, state, reason]], "returned": seconds until the session was live
again, "rooms": rooms at Janus while publishing and at the end, "conflict": the status of a second publisher, "session": its last
state, "error": null}. The HLS output is in FOLDER/live/cam, all frames are in FOLDER/recordings/cam/take.ts.

Exit code: 0 done, 1 not, 77 Janus, the client or a network namespace is missing. Needs root.
"""

import argparse
import asyncio
import functools
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import chromium_play
import janus_record
import lossy_network

DONE, FAILED, MISSING = 0, 1, 77
TOKEN = "admin-token-of-the-stage"
CVO = "urn:3gpp:video-orientation"


def ask(method, url, body=None, headers=None, timeout=30):
    """Returns the status, the headers and the text of an answer."""
    request = urllib.request.Request(url, method=method, data=body and body.encode(), headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode(errors="replace")


class Stage:
    """Janus and the service."""

    def __init__(self, upright, folder, scratch, network):
        self.upright, self.folder, self.scratch, self.network = upright, folder, scratch, network
        self.start = time.monotonic()
        self.janus = self.service = self.receiver = None
        self.states, self.lock = [], threading.Lock()
        self.port, self.api = janus_record.free_port(), None

    def start_janus(self):
        folder = os.path.join(self.scratch, "janus")
        os.makedirs(folder, exist_ok=True)
        self.janus, self.api = self.network.near.submit(
            janus_record.start_janus, shutil.which("janus"), folder, folder, 1, self.api).result()

    def stop_janus(self):
        if self.janus:
            os.killpg(self.janus.pid, signal.SIGKILL)
            self.janus.wait()
            self.janus = None

    def start_service(self):
        log = open(os.path.join(self.scratch, "serve.log"), "wb")
        self.service = subprocess.Popen(
            [self.upright, "serve", "--listen", "0.0.0.0:%d" % self.port, "--data", self.folder,
             "--webrtc", "http://127.0.0.1:%d/janus" % self.api],
            env=dict(os.environ, UPRIGHT_TOKEN=TOKEN), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            preexec_fn=chromium_play.die_with_parent)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            try:
                if self.request("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                time.sleep(0.1)
        raise RuntimeError("the service did not start")

    @property
    def url(self):
        return "http://%s:%d" % (lossy_network.NEAR, self.port)

    def request(self, method, path, body=None, **headers):
        fields = {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"}
        fields.update({name.replace("_", "-"): value for name, value in headers.items()})
        return ask(method, self.url + path, body, fields)

    def session(self):
        """Returns the session, and notes its state."""
        with self.lock:
            session = json.loads(self.request("GET", "/v1/sessions/cam")[2])
            if not self.states or self.states[-1][1] != session.get("state"):
                seconds = round(time.monotonic() - self.start, 2)
                self.states.append([seconds, session.get("state"), session.get("reason")])
        return session

    def watch(self):
        """Notes the states of the session until it has ended."""
        while True:
            try:
                session = self.session()
            except OSError:
                return
            if session.get("state") in ("ended", "failed", None):
                return
            time.sleep(0.1)

    def wait_for(self, state, timeout=30):
        """Returns the seconds until the session is in a state."""
        start = time.monotonic()
        while time.monotonic() < start + timeout:
            if self.session().get("state") == state:
                return round(time.monotonic() - start, 2)
            time.sleep(0.05)
        raise RuntimeError("the session did not become %s: %s" % (state, self.session()))

    def rooms(self):
        """Returns the number of rooms of the service at Janus."""
        return self.network.near.submit(self.count_rooms).result()

    def count_rooms(self):
        api = "http://127.0.0.1:%d/janus" % self.api
        say = lambda path, **body: json.loads(ask("POST", api + path, json.dumps({"transaction": "x", **body}))[2])
        session = "/%d" % say("", janus="create")["data"]["id"]
        handle = "%s/%d" % (session, say(session, janus="attach", plugin="janus.plugin.videoroom")["data"]["id"])
        rooms = say(handle, janus="message", body={"request": "list"})["plugindata"]["data"]["list"]
        say(session, janus="destroy")
        return sum(room["description"].startswith("upright ") for room in rooms)

    def receive_rtmp(self, path):
        """Starts a program that stores the first stream which arrives at the URL that this returns."""
        url = "rtmp://127.0.0.1:%d/live/cam" % janus_record.free_port()
        self.receiver = subprocess.Popen(
            ["ffmpeg", "-nostdin", "-v", "error", "-y", "-listen", "1", "-i", url, "-c", "copy", path],
            stdin=subprocess.DEVNULL, preexec_fn=chromium_play.die_with_parent)
        return url

    def stop(self):
        if self.receiver:
            self.receiver.terminate()
            self.receiver.wait()
        if self.service:
            self.service.send_signal(signal.SIGTERM)
            self.service.wait(30)
        self.stop_janus()


# MARK: aiortc


def patch_aiortc(aiortc, state):
    """Adds CVO to the header extensions that aiortc offers and sends."""
    import aiortc.codecs
    import aiortc.rtp
    from aiortc.rtcrtpparameters import RTCRtpHeaderExtensionParameters
    aiortc.codecs.HEADER_EXTENSIONS["video"].append(RTCRtpHeaderExtensionParameters(id=9, uri=CVO))
    pack = aiortc.rtp.pack_header_extensions

    class Map(aiortc.rtp.HeaderExtensionsMap):
        def configure(self, parameters):
            super().configure(parameters)
            self.orientation = next((e.id for e in parameters.headerExtensions if e.uri == CVO), None)

        def set(self, values):
            self_id, elements = getattr(self, "orientation", None), []
            aiortc.rtp.pack_header_extensions = lambda list: elements.extend(list) or pack(list)
            try:
                packed = super().set(values)
            finally:
                aiortc.rtp.pack_header_extensions = pack
            return pack(elements + [(self_id, bytes([state["cvo"]]))]) if self_id else packed

    import aiortc.rtcrtpsender
    aiortc.rtp.HeaderExtensionsMap = aiortc.rtcrtpsender.HeaderExtensionsMap = Map


def sensor_frame(number, size, turn, mirrored):
    """Returns RGB as a sensor that is turned and mirrored delivers the frame with a number."""
    import numpy
    width, height = size if turn in (0, 180) else size[::-1]
    upright = numpy.zeros((height, width, 3), numpy.uint8)
    upright[:height // 2], upright[height // 2:] = (192, 16, 16), (16, 192, 16)
    # The same code as Chromium's frames have: a white cell, ten bits, a black cell.
    left, top = width // 2 - 96, height // 2 + 20
    for cell in range(12):
        bit = cell == 0 or (cell < 11 and number >> (10 - cell) & 1)
        upright[top:top + 24, left + 16 * cell:left + 16 * cell + 16] = 240 if bit else 16
    # The receiver flips a frame, then turns it clockwise.
    frame = numpy.rot90(upright, turn // 90)
    return numpy.ascontiguousarray(frame[:, ::-1] if mirrored else frame)


async def publish_with_aiortc(stage, codec, seconds, rotations, mirrored, during=None):
    """Publishes for some seconds. Returns the rotations of the frames, and the seconds from the offer to the live session."""
    import aiortc
    import aiortc.mediastreams
    import av
    import fractions
    state = publish_with_aiortc.state
    sent, size, rate = [], (320, 240), 20

    class Pictures(aiortc.VideoStreamTrack):
        def __init__(self):
            super().__init__()
            self.begun = None

        async def recv(self):
            self.begun = self.begun or time.monotonic()
            at = len(sent) / rate
            await asyncio.sleep(max(0, self.begun + at - time.monotonic()))
            turn = rotations[min(len(rotations) - 1, int(at / seconds * len(rotations)))]
            # CVO is clockwise: the receiver turns the frame by it.
            state["cvo"] = turn // 90 | (4 if mirrored else 0)
            frame = av.VideoFrame.from_ndarray(sensor_frame(state["count"], size, turn, mirrored))
            frame.pts, frame.time_base = int(at * 90000), fractions.Fraction(1, 90000)
            sent.append(turn)
            state["count"] += 1
            return frame

    peer = aiortc.RTCPeerConnection()
    transceiver = peer.addTransceiver(Pictures(), direction="sendonly")
    wanted = [c for c in aiortc.RTCRtpSender.getCapabilities("video").codecs if c.mimeType.lower() == "video/" + codec]
    transceiver.setCodecPreferences(wanted)
    peer.addTransceiver(aiortc.mediastreams.AudioStreamTrack(), direction="sendonly")
    await peer.setLocalDescription(await peer.createOffer())
    start = time.monotonic()
    status, headers, answer = await asyncio.to_thread(
        stage.request, "POST", "/whip/cam", peer.localDescription.sdp, Content_Type="application/sdp")
    if status != 201:
        await peer.close()
        raise RuntimeError("WHIP: %d %s" % (status, answer))
    await peer.setRemoteDescription(aiortc.RTCSessionDescription(answer, "answer"))
    await asyncio.to_thread(stage.wait_for, "live")
    live = time.monotonic() - start
    if during:
        await asyncio.to_thread(during, peer.localDescription.sdp)
    await asyncio.sleep(max(0, start + seconds - time.monotonic()))
    if publish_with_aiortc.leaves:
        await asyncio.to_thread(stage.request, "DELETE", headers["Location"])
    await peer.close()
    return sent, round(live, 2)


# MARK: Chromium

HTML = r"""<!doctype html><meta charset="utf-8"><title>publisher</title>
<script>
const ask = __ASK__, r = {error: null, sent: [], flashes: []};
// Restarts ICE (RFC 9725, 4.3.2).
async function restart(peer, place, headers) {
  const value = (text, name) => text.match(new RegExp("a=" + name + ":(\\S+)"))[1], old = peer.remoteDescription.sdp;
  peer.restartIce();
  await peer.setLocalDescription();
  const own = peer.localDescription.sdp;
  const answer = await fetch(place, {method: "PATCH", body: "a=ice-ufrag:" + value(own, "ice-ufrag") + "\r\na=ice-pwd:" +
    value(own, "ice-pwd") + "\r\n", headers: {...headers, "Content-Type": "application/trickle-ice-sdpfrag", "If-Match": "*"}});
  const text = await answer.text();
  if (answer.status !== 200) throw new Error("ICE restart: " + answer.status + " " + text);
  const sdp = old.replace(/a=ice-ufrag:.*/g, "a=ice-ufrag:" + value(text, "ice-ufrag").trim())
    .replace(/a=ice-pwd:.*/g, "a=ice-pwd:" + value(text, "ice-pwd").trim());
  await peer.setRemoteDescription({type: "answer", sdp});
  r.restarted = value(text, "ice-ufrag") !== value(old, "ice-ufrag");
}
const report = final => fetch(ask.result, {method: "POST", body: JSON.stringify({final, result: r})}).catch(() => {});
async function call() {
  const pictures = new MediaStreamTrackGenerator({kind: "video"}), writer = pictures.writable.getWriter();
  const [width, height] = ask.size, far = width + height;
  const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d");
  const sound = new AudioContext(), tone = sound.createOscillator(), level = sound.createGain();
  const out = sound.createMediaStreamDestination();
  tone.connect(level).connect(out);
  level.gain.value = 0;
  tone.start();
  const peer = new RTCPeerConnection();
  const video = peer.addTransceiver(pictures, {direction: "sendonly"});
  video.setCodecPreferences(RTCRtpSender.getCapabilities("video").codecs.filter(
    codec => codec.mimeType.toLowerCase() === "video/" + ask.codec));
  peer.addTransceiver(out.stream.getAudioTracks()[0], {direction: "sendonly"});
  const connected = new Promise((ok, no) => {
    peer.onconnectionstatechange = () => {
      if (peer.connectionState === "connected") ok();
      if (peer.connectionState === "failed") no(new Error("no connection"));
    };
    setTimeout(() => no(new Error("not connected: " + peer.iceConnectionState)), 20000);
  });
  // Candidates are sent afterwards.
  const candidates = [];
  peer.onicecandidate = event => candidates.push(event.candidate);
  await peer.setLocalDescription();
  const headers = {Authorization: "Bearer " + ask.token};
  const answer = await fetch(ask.whip, {method: "POST", body: peer.localDescription.sdp,
    headers: {...headers, "Content-Type": "application/sdp"}});
  if (answer.status !== 201) throw new Error("WHIP: " + answer.status + " " + await answer.text());
  const place = new URL(answer.headers.get("Location"), ask.whip), tag = answer.headers.get("ETag");
  await peer.setRemoteDescription({type: "answer", sdp: await answer.text()});
  while (candidates[candidates.length - 1] !== null) await new Promise(ok => setTimeout(ok, 50));
  const lines = candidates.map(one => one && one.candidate ? "a=mid:" + one.sdpMid + "\r\na=" + one.candidate : "").filter(line => line);
  const fragment = lines.join("\r\n") + "\r\na=end-of-candidates\r\n";
  const patched = await fetch(place, {method: "PATCH", body: fragment,
    headers: {...headers, "Content-Type": "application/trickle-ice-sdpfrag", "If-Match": tag}});
  if (patched.status !== 204) throw new Error("trickle: " + patched.status + " " + await patched.text());
  await connected;
  if (ask.restart) setTimeout(() => restart(peer, place, headers).catch(error => { r.error = String(error); }), ask.seconds * 500);
  const start = performance.now(), share = ask.seconds * 1000 / ask.rotations.length;
  let flashes = 0;
  while (performance.now() - start < ask.seconds * 1000) {
    const now = performance.now() - start;
    const rotation = ask.rotations[Math.min(ask.rotations.length - 1, Math.floor(now / share))];
    context.setTransform(1, 0, 0, 1, width / 2, height / 2);
    context.rotate(-rotation * Math.PI / 180);
    context.fillStyle = "#c01010";
    context.fillRect(-far, -far, 2 * far, far);
    context.fillStyle = "#10c010";
    context.fillRect(-far, 0, 2 * far, far);
    // The frame's number: a white cell, ten bits, a black cell.
    for (let cell = 0; cell < 12; cell++) {
      const bit = cell === 0 || cell < 11 && r.sent.length >> (10 - cell) & 1;
      context.fillStyle = bit ? "#f0f0f0" : "#101010";
      context.fillRect(-96 + 16 * cell, 20, 16, 24);
    }
    // A flash and a beep each second, at the same time.
    const isFlash = Math.floor(now / 1000) > flashes;
    if (isFlash) {
      flashes = Math.floor(now / 1000);
      r.flashes.push(r.sent.length);
    }
    if (now - flashes * 1000 < 100 && flashes > 0) {
      context.fillStyle = "#fff";
      context.fillRect(-40, -60, 80, 50);
    }
    if (isFlash) {
      level.gain.setValueAtTime(0.5, sound.currentTime);
      level.gain.setValueAtTime(0, sound.currentTime + 0.1);
    }
    await writer.write(new VideoFrame(canvas, {timestamp: Math.round(performance.now() * 1000), rotation}));
    r.sent.push(rotation);
    await new Promise(ok => setTimeout(ok, 50));
  }
  await fetch(place, {method: "DELETE", headers});
  peer.close();
  report(true);
}
call().catch(error => { r.error = String(error); report(true); });
</script>"""


def publish_with_chromium(stage, browser, codec, seconds, rotations, restarts):
    """Publishes from a page of another origin. Returns what the page has noted."""
    ask = {"whip": stage.url + "/whip/cam", "token": TOKEN, "result": chromium_play.RESULT, "seconds": seconds, "codec": codec,
           "rotations": rotations, "size": [320, 240], "restart": restarts}
    reports = chromium_play.Reports()
    server = chromium_play.Server(("127.0.0.1", 0), functools.partial(
        chromium_play.Handler, page=HTML.replace("__ASK__", json.dumps(ask)).encode(), reports=reports, directory=stage.scratch))
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    failure = chromium_play.play(browser, "http://127.0.0.1:%d%s" % (server.server_address[1], chromium_play.PAGE), reports, seconds + 60)
    server.shutdown()
    server.server_close()
    failure = failure or (reports.latest or {}).get("error")
    if failure:
        raise RuntimeError(failure)
    return reports.latest


# MARK: The page


FAKE = ("--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream")


def open_page(stage, program, result):
    """Publishes with the page of the service, from a link, with the keyboard. Notes what it says in `result`."""
    import browser_pipe
    pictures = os.path.join(stage.folder, "page")
    # Only pages of loopback and over TLS have a camera.
    base = "http://127.0.0.1:%d" % stage.port
    os.makedirs(pictures)

    def link():
        return base + "/publish/cam#" + json.loads(
            stage.request("POST", "/v1/sessions/cam/publish-url", '{"seconds": 60}')[2])["url"].split("#")[1]

    def status(browser):
        return browser.run('document.getElementById("status").textContent')

    said = result["said"] = {}
    used = link()
    browser = browser_pipe.Browser(program, *FAKE)
    try:
        browser.open(used)
        browser.wait('document.getElementById("status")?.textContent.startsWith("Ready")')
        said["ready"] = status(browser)
        result["address"] = browser.run("location.href")
        result["width"] = browser.run("document.documentElement.scrollWidth")
        result["tree"] = browser.tree()
        browser.screenshot(pictures + "/ready.png")
        browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
        browser.screenshot(pictures + "/dark.png")
        browser.ask("Emulation.setEmulatedMedia", features=[])
        for _ in range(4):
            browser.press("Tab", "Tab", 9)
        result["focus"] = browser.run("document.activeElement.id")
        browser.press("Enter", "Enter", 13)
        browser.wait('document.getElementById("status").textContent === "You are live."')
        said["live"] = status(browser)
        stage.wait_for("live")
        browser.wait('!document.getElementById("bitrate").textContent.startsWith("0 ")')
        result["bitrate"] = browser.run('document.getElementById("bitrate").textContent')
        browser.screenshot(pictures + "/live.png")
        # A reload keeps the key.
        browser.open(base + "/publish/cam")
        browser.wait('document.getElementById("status")?.textContent.startsWith("Ready")')
        said["reloaded"] = status(browser)
        browser.run('document.getElementById("toggle").click()')
        stage.wait_for("live")
        stage.stop_janus()
        browser.wait('document.getElementById("status").textContent.includes("Trying again")')
        said["lost"] = status(browser)
        browser.screenshot(pictures + "/lost.png")
        stage.start_janus()
        browser.wait('document.getElementById("status").textContent === "You are live."', 40)
        said["back"] = status(browser)
        result["returned"] = stage.wait_for("live")
        browser.run('document.getElementById("toggle").click()')
        stage.wait_for("inputLost")
        said["stopped"] = status(browser)
        result["messages"] = [event["params"]["entry"]["text"] for event in browser.events
                              if event.get("method") == "Log.entryAdded" and "Content Security" in str(event)]
    finally:
        browser.close()
    for name, flags, url in (("used", FAKE, used), ("none", FAKE, base + "/publish/cam"), ("camera", FAKE[1:], link()),
                             ("denied", FAKE[:1] + ("--deny-permission-prompts",), link())):
        browser = browser_pipe.Browser(program, *flags)
        try:
            browser.open(url)
            browser.wait('document.getElementById("status")?.className === "error"')
            said[name] = status(browser)
            browser.screenshot(pictures + "/%s.png" % name)
        finally:
            browser.close()


# MARK: The play


def play(stage, options, browser):
    result = {"error": None}
    rotations = [int(word) for word in options.rotations.split(",")]

    def conflict(offer):
        result["conflict"] = stage.request("POST", "/whip/cam", offer, Content_Type="application/sdp")[0]
        result["rooms"] = [stage.rooms()]

    stage.start_janus()
    stage.start_service()
    outputs = [{"type": "hls"}, {"type": "file", "name": "take.ts"}]
    if options.all_outputs:
        outputs += [{"type": "file", "name": "take.mp4"},
                    {"type": "rtmp", "url": stage.receive_rtmp(os.path.join(stage.folder, "rtmp.flv"))}]
    status, _, text = stage.request("POST", "/v1/sessions", json.dumps({
        "name": "cam", "input": {"whip": {}}, "outputs": outputs, "policy": "pad",
        "options": {"frames": "metadata", "size": options.size, "segment": 1, "speed": "ultrafast"}}))
    if status != 201:
        raise RuntimeError("the session was not created: " + text)
    watcher = threading.Thread(target=stage.watch)
    watcher.start()
    if options.client == "page":
        open_page(stage, browser, result)
    elif browser:
        noted = stage.network.far.submit(
            publish_with_chromium, stage, browser, options.codec, options.seconds, rotations, options.restart_ice).result()
        result.update(rotations=noted["sent"], flashes=noted["flashes"], restarted=noted.get("restarted"))
        result["rooms"] = [stage.rooms()]
    else:
        publish_with_aiortc.state = {"cvo": 0, "count": 0}
        publish_with_aiortc.leaves = not options.restart
        patch_aiortc(sys.modules["aiortc"], publish_with_aiortc.state)
        publish = lambda codec, during: stage.network.far.submit(asyncio.run, publish_with_aiortc(
            stage, codec, options.seconds, rotations, options.mirrored, during)).result()
        result["rotations"], _ = publish(options.codec, conflict)
        if options.restart:
            stage.stop_janus()
            stage.wait_for("inputLost")
            result["away"] = stage.request("POST", "/whip/cam", aiortc_offer(), Content_Type="application/sdp")[0]
            stage.start_janus()
        if options.second:
            stage.wait_for("inputLost")
            publish_with_aiortc.leaves = True
            again, result["returned"] = publish(options.second, None)
            result["rotations"] += again
            result["rooms"].append(stage.rooms())
    stage.wait_for("inputLost")
    result["session"] = json.loads(stage.request("DELETE", "/v1/sessions/cam")[2])
    watcher.join(10)
    if stage.receiver:
        stage.receiver.wait(20)
    result.update(states=stage.states, lost=stage.network.packets_lost, sent=len(result.get("rotations", [])))
    return result


def aiortc_offer():
    """Returns an offer without a publisher."""
    return "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\na=mid:0\r\na=sendonly\r\na=rtpmap:96 VP8/90000\r\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("upright", metavar="UPRIGHT")
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--client", choices=["aiortc", "chromium", "page"], default="aiortc")
    parser.add_argument("--codec", default="h264")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--rotations", default="0,90,180,270")
    parser.add_argument("--size", default="320x240")
    parser.add_argument("--second")
    parser.add_argument("--restart", action="store_true")
    parser.add_argument("--mirrored", action="store_true")
    parser.add_argument("--restart-ice", action="store_true")
    parser.add_argument("--all-outputs", action="store_true")
    parser.add_argument("--loss", type=float, default=0)
    parser.add_argument("--jitter", type=float, default=0)
    options = parser.parse_args()
    browser = None
    if options.client != "aiortc":
        browser = next(filter(None, map(shutil.which, chromium_play.BROWSERS)), None)
    elif importlib.util.find_spec("aiortc"):
        import aiortc  # noqa: F401
    missing = (None if shutil.which("janus") else "Janus") or (
        None if browser or "aiortc" in sys.modules else options.client)
    if not missing:
        try:
            network = lossy_network.Network(options.loss, options.jitter)
        except (OSError, subprocess.CalledProcessError):
            missing = "a network namespace, or TUN,"
    if missing:
        print(json.dumps({"error": missing + " is missing"}))
        return MISSING
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda *_: sys.exit(FAILED))
    with tempfile.TemporaryDirectory(prefix="upright-stage-") as scratch:
        stage = Stage(options.upright, os.path.abspath(options.folder), scratch, network)
        try:
            result = play(stage, options, browser)
        except Exception as error:  # printed, with the log
            with open(os.path.join(scratch, "serve.log"), errors="replace") as log:
                result = {"error": "%s: %s" % (type(error).__name__, error), "log": log.read()[-3000:], "states": stage.states}
        finally:
            stage.stop()
    print(json.dumps(result))
    return FAILED if result["error"] else DONE


if __name__ == "__main__":
    sys.exit(main())
