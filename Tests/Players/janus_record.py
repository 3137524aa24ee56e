#!/usr/bin/env python3
"""Records a call of headless Chromium with Janus, as .mjr files.

    janus_record.py FOLDER [--seconds S] [--rotations 0,90,270] [--codec vp8|vp9|h264] [--layers L2T2] [--size 640x480]
                    [--room NUMBER]

Chromium sends frames with each VideoFrame.rotation of the list for an equal share of the time,
over WebRTC to Janus' Record&Play plugin; libwebrtc translates the rotation to CVO. Each frame is drawn so that it is
upright, red above green, after its rotation is applied: a frame with the rotation of its neighbour is detected. The
call has a tone as its audio.

With --room the call is published in the VideoRoom with that number, and nothing is recorded; {"janus": its HTTP API,
"orientation": the ID of CVO in the publisher's offer} is printed, on a separate line, before the first frame.

Prints one JSON object: {"video": path, "audio": path, "frames": sent, "error": null}. Exit code: 0 recorded (with
--room: published), 1 not, 77 Janus, Chromium or a network interface other than loopback is missing.
"""

import argparse
import functools
import http.server
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import chromium_play

RECORDED, FAILED, MISSING = 0, 1, 77

HTML = r"""<!doctype html><meta charset="utf-8"><title>caller</title>
<script>
const ask = __ASK__, r = {error: null, frames: 0, rotations: []};
const transaction = () => Math.random().toString(36).slice(2);
async function say(path, body) {
  const answer = await fetch(ask.janus + path, {method: "POST", body: JSON.stringify({transaction: transaction(), ...body})});
  const json = await answer.json();
  if (json.janus === "error") throw new Error(JSON.stringify(json.error));
  return json;
}
async function hear(session, wanted) {
  const end = Date.now() + 20000;
  while (Date.now() < end) {
    const answer = await (await fetch(ask.janus + "/" + session + "?maxev=1")).json();
    for (const event of Array.isArray(answer) ? answer : [answer]) if (wanted(event)) return event;
  }
  throw new Error("Janus did not answer");
}
function report(final) {
  return fetch(ask.result, {method: "POST", body: JSON.stringify({final, result: r})}).catch(() => {});
}
async function call() {
  const session = (await say("", {janus: "create"})).data.id;
  const handle = (await say("/" + session, {janus: "attach", plugin: "janus.plugin." + (ask.room ? "videoroom" : "recordplay")})).data.id;
  const there = "/" + session + "/" + handle;
  if (ask.room) {
    await say(there, {janus: "message", body: {request: "join", ptype: "publisher", room: ask.room, display: "caller"}});
    await hear(session, event => event.plugindata);
  }

  const pictures = new MediaStreamTrackGenerator({kind: "video"}), writer = pictures.writable.getWriter();
  const [width, height] = ask.size, far = width + height;
  const canvas = new OffscreenCanvas(width, height), context = canvas.getContext("2d");
  const audio = new AudioContext(), tone = audio.createOscillator(), out = audio.createMediaStreamDestination();
  tone.connect(out);
  tone.start();

  const peer = new RTCPeerConnection();
  const stream = new MediaStream([pictures, out.stream.getAudioTracks()[0]]);
  const layers = ask.layers ? {scalabilityMode: ask.layers, maxBitrate: 2000000} : {};
  peer.addTransceiver(pictures, {streams: [stream], sendEncodings: [layers]});
  peer.addTrack(stream.getAudioTracks()[0], stream);
  const connected = new Promise((ok, no) => {
    peer.onconnectionstatechange = () => {
      if (peer.connectionState === "connected") ok();
      if (peer.connectionState === "failed") no(new Error("no connection"));
    };
    setTimeout(() => no(new Error("not connected: " + peer.iceConnectionState)), 20000);
  });
  await peer.setLocalDescription(await peer.createOffer());
  await new Promise(ok => {
    if (peer.iceGatheringState === "complete") ok();
    peer.onicegatheringstatechange = () => peer.iceGatheringState === "complete" && ok();
    setTimeout(ok, 3000);
  });
  r.janus = ask.janus;
  r.orientation = +(peer.localDescription.sdp.match(/a=extmap:(\d+) urn:3gpp:video-orientation\r/) || [])[1];
  if (ask.room) await report(false);
  await say(there, {janus: "message", jsep: peer.localDescription,
    body: {request: ask.room ? "publish" : "record", name: "call", filename: "call", videocodec: ask.codec, audiocodec: "opus"}});
  const answer = await hear(session, event => event.jsep);
  await peer.setRemoteDescription(answer.jsep);
  await connected;

  const start = performance.now(), share = ask.seconds * 1000 / ask.rotations.length;
  while (performance.now() - start < ask.seconds * 1000) {
    const rotation = ask.rotations[Math.min(ask.rotations.length - 1, Math.floor((performance.now() - start) / share))];
    context.setTransform(1, 0, 0, 1, width / 2, height / 2);
    context.rotate(-rotation * Math.PI / 180);
    context.fillStyle = "#c01010";
    context.fillRect(-far, -far, 2 * far, far);
    context.fillStyle = "#10c010";
    context.fillRect(-far, 0, 2 * far, far);
    const frame = new VideoFrame(canvas, {timestamp: Math.round(performance.now() * 1000), rotation});
    if (frame.rotation !== rotation) throw new Error("this browser's VideoFrame has no rotation");
    await writer.write(frame);
    r.frames++;
    await new Promise(ok => setTimeout(ok, 50));
  }
  await say(there, {janus: "message", body: {request: ask.room ? "unpublish" : "stop"}});
  await new Promise(ok => setTimeout(ok, 500));
  peer.close();
  report(true);
}
call().catch(error => { r.error = String(error); report(true); });
</script>"""

CONFIGURATION = {
    "janus.jcfg": """general: { configs_folder = "%(folder)s"  debug_level = 4  log_to_stdout = true
  session_timeout = 60 }
nat: { full_trickle = false }
media: { }
plugins: { disable = "libjanus_audiobridge.so,libjanus_duktape.so,libjanus_echotest.so,libjanus_lua.so,libjanus_nosip.so,libjanus_sip.so,libjanus_streaming.so,libjanus_textroom.so,libjanus_videocall.so,libjanus_voicemail.so" }
transports: { disable = "libjanus_mqtt.so,libjanus_nanomsg.so,libjanus_pfunix.so,libjanus_rabbitmq.so,libjanus_websockets.so" }
""",
    "janus.plugin.recordplay.jcfg": """general: { path = "%(output)s"  events = false }
""",
    "janus.plugin.videoroom.jcfg": """room-%(room)d: { description = "call"  videocodec = "vp8,vp9,h264"  audiocodec = "opus"
  publishers = 2  fir_freq = 2  record = false }
""",
    "janus.transport.http.jcfg": """general: { json = "compact"  base_path = "/janus"  http = true  port = %(port)d
  ip = "127.0.0.1"  https = false }
admin: { admin_http = false }
""",
}


class Reports(chromium_play.Reports):
    """Prints the first report immediately, for a program that waits for the call."""

    def __call__(self, message):
        super().__call__(message)
        if not message["final"]:
            print(json.dumps({key: self.latest[key] for key in ("janus", "orientation")}), flush=True)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def has_network():
    """Returns whether there is an interface other than loopback, which WebRTC doesn't use."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # sends nothing
            return not probe.getsockname()[0].startswith("127.")
        except OSError:
            return False


def start_janus(program, folder, output, room, port=None):
    """Starts Janus with a separate configuration. Returns the process and the port once it accepts connections."""
    port = port or free_port()
    for name, text in CONFIGURATION.items():
        with open(os.path.join(folder, name), "w") as file:
            file.write(text % {"folder": folder, "output": output, "port": port, "room": room})
    log = open(os.path.join(folder, "janus.log"), "wb")
    process = subprocess.Popen([program, "-F", folder], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                               start_new_session=True, preexec_fn=chromium_play.die_with_parent)
    end = time.monotonic() + 15
    while time.monotonic() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, port
        except OSError:
            time.sleep(0.1)
    chromium_play.stop(process)
    with open(log.name, errors="replace") as text:
        raise RuntimeError("Janus did not start: " + text.read()[-800:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--rotations", default="0,90,180,270")
    parser.add_argument("--codec", default="vp8")
    parser.add_argument("--layers", help="WebRTC's scalabilityMode, such as L2T2")
    parser.add_argument("--size", default="320x240")
    parser.add_argument("--room", type=int, default=0)
    options = parser.parse_args()
    browser = next(filter(None, map(shutil.which, chromium_play.BROWSERS)), None)
    janus = shutil.which("janus")
    if not browser or not janus:
        print(json.dumps({"error": "%s is missing" % ("Janus" if browser else "Chromium")}))
        return MISSING
    if not has_network():
        print(json.dumps({"error": "there is no network interface other than loopback"}))
        return MISSING

    output = os.path.abspath(options.folder)
    os.makedirs(output, exist_ok=True)
    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sign, lambda *_: sys.exit(FAILED))
    reports, server, process = Reports(), None, None
    with tempfile.TemporaryDirectory(prefix="upright-janus-") as folder:
        try:
            process, port = start_janus(janus, folder, output, options.room or 1)
            ask = {"janus": "http://127.0.0.1:%d/janus" % port, "result": chromium_play.RESULT,
                   "seconds": options.seconds, "codec": options.codec, "layers": options.layers, "room": options.room,
                   "size": [int(word) for word in options.size.split("x")],
                   "rotations": [int(word) for word in options.rotations.split(",")]}
            page = HTML.replace("__ASK__", json.dumps(ask)).encode()
            server = chromium_play.Server(("127.0.0.1", 0), functools.partial(
                chromium_play.Handler, page=page, reports=reports, directory=folder))
            threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
            failure = chromium_play.play(browser, "http://127.0.0.1:%d%s" % (server.server_address[1], chromium_play.PAGE),
                                         reports, options.seconds + 60)
            time.sleep(0.5)
        except RuntimeError as error:
            failure = str(error)
        finally:
            if server:
                server.shutdown()
                server.server_close()
            if process:
                chromium_play.stop(process)
        if os.environ.get("UPRIGHT_JANUS_LOG"):
            shutil.copy(os.path.join(folder, "janus.log"), os.environ["UPRIGHT_JANUS_LOG"])
    result = reports.latest or {}
    result["error"] = failure or result.get("error")
    for kind in ("video", "audio"):
        path = os.path.join(output, "call-%s.mjr" % kind)
        result[kind] = path if os.path.isfile(path) else None
    if not result["error"] and not result["video"] and not options.room:
        result["error"] = "Janus wrote no recording: " + " ".join(sorted(os.listdir(output)))
    print(json.dumps(result))
    return FAILED if result["error"] else RECORDED


if __name__ == "__main__":
    sys.exit(main())
