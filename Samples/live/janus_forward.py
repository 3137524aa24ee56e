#!/usr/bin/env python3
"""Creates a session of `upright serve` for each publisher of a Janus VideoRoom.

    janus_forward.py ROOM --orientation-id N [--codec h264|vp8|vp9] [--secret WORD]

Lists the publishers twice a second. For each one it creates a session whose input is RTP on a free port of loopback,
and makes Janus forward the publisher's video and audio to it (rtp_forward). When a publisher leaves, it ends the session.

Janus forwards the packets unchanged, including header extensions and their IDs, so that a phone's CVO arrives. The
ID is the one in the publisher's offer, a=extmap:N urn:3gpp:video-orientation. Janus doesn't report it to the forwarder,
so it must be given here. In the page that publishes, it is in peer.localDescription.sdp.

    JANUS_URL      the address of Janus, default http://127.0.0.1:8088/janus
    UPRIGHT_URL    the address of upright, default http://127.0.0.1:8080
    UPRIGHT_TOKEN  the admin token of upright
    SESSION        a JSON object with settings for each session: {"policy": "phone", "options": {"size": "720p"}}
"""

import argparse
import json
import os
import signal
import socket
import sys
import time
import urllib.error
import urllib.request

JANUS = os.environ.get("JANUS_URL", "http://127.0.0.1:8088/janus").rstrip("/")
UPRIGHT = os.environ.get("UPRIGHT_URL", "http://127.0.0.1:8080").rstrip("/")
TOKEN = os.environ.get("UPRIGHT_TOKEN", "")
MORE = json.loads(os.environ.get("SESSION") or "{}")


def ask(method, url, body=None, token=None):
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = "Bearer " + token
    request = urllib.request.Request(url, method=method, headers=headers, data=body and json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        raise RuntimeError("%s: %s" % (url, error.read().decode(errors="replace"))) from error


class Room:
    """A handle of Janus' VideoRoom plugin."""

    def __init__(self, options):
        self.common = {"room": options.room}
        if options.secret:
            self.common["secret"] = options.secret
        session = self.say("", {"janus": "create"})["data"]["id"]
        self.path = "/%d" % session
        self.path += "/%d" % self.say(self.path, {"janus": "attach", "plugin": "janus.plugin.videoroom"})["data"]["id"]

    def say(self, path, body):
        answer = ask("POST", JANUS + path, {"transaction": "upright", **body})
        if answer.get("janus") == "error":
            raise RuntimeError("Janus: " + json.dumps(answer["error"]))
        return answer

    def do(self, request, **more):
        answer = self.say(self.path, {"janus": "message", "body": {"request": request, **self.common, **more}})
        data = answer["plugindata"]["data"]
        if "error" in data:
            raise RuntimeError("Janus: %s: %s" % (request, data["error"]))
        return data

    def publishers(self):
        return {entry["id"] for entry in self.do("listparticipants")["participants"] if entry.get("publisher")}


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def begin(room, publisher, options):
    """Creates the session, then starts the forwarding: packets can be received once the POST is answered."""
    name, video, audio = "room-%s-%s" % (options.room, publisher), free_port(), free_port()
    description = ["v=0", "o=- 0 0 IN IP4 127.0.0.1", "s=" + name, "c=IN IP4 127.0.0.1", "t=0 0",
                   "m=video %d RTP/AVP 96" % video, "a=rtpmap:96 %s/90000" % options.codec.upper(),
                   "a=extmap:%d urn:3gpp:video-orientation" % options.orientation_id,
                   "m=audio %d RTP/AVP 97" % audio, "a=rtpmap:97 opus/48000/2"]
    ask("POST", UPRIGHT + "/v1/sessions", {"name": name, "input": {"sdp": "\r\n".join(description)}, **MORE}, TOKEN)
    room.do("rtp_forward", publisher_id=publisher, host="127.0.0.1", host_family="ipv4", video_port=video,
            video_pt=96, audio_port=audio, audio_pt=97)
    print("%s/live/%s/index.m3u8" % (UPRIGHT, name), flush=True)
    return name


def end(name):
    try:
        ask("DELETE", UPRIGHT + "/v1/sessions/" + name, token=TOKEN)
    except (RuntimeError, OSError) as error:
        print(error, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("room", type=int, metavar="ROOM")
    parser.add_argument("--codec", default="h264", choices=["h264", "vp8", "vp9"], help="the room's videocodec")
    parser.add_argument("--orientation-id", type=int, required=True, metavar="N", help="the extmap ID of CVO in the offer")
    parser.add_argument("--secret", help="the room's secret, if it has one")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sessions = {}
    try:
        room = Room(options)
        while True:
            there = room.publishers()
            for publisher in there - sessions.keys():
                sessions[publisher] = begin(room, publisher, options)
            for publisher in sessions.keys() - there:
                end(sessions.pop(publisher))
            # Each request also keeps the Janus session alive.
            time.sleep(0.5)
    except KeyboardInterrupt:
        sys.exit(130)
    except (RuntimeError, OSError) as error:
        sys.exit("janus_forward: %s" % error)
    finally:
        for name in sessions.values():
            end(name)


if __name__ == "__main__":
    main()
