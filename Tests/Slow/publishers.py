#!/usr/bin/env python3
"""Sends one clip as different publishers do, over RTMP, SRT, UDP and RTSP: each kind of publisher in several variants, by
random figures. Each frame has a number, and each second begins with a beep of its own pitch. The recordings are decoded by
FFmpeg: the frames and the beeps that are shown and heard are counted, and the distance of each beep from the frame of its
second is at most 45 ms. Prints a row for each kind, and what was wrong. The seed is printed; UPRIGHT_SEED repeats it.

    publishers.py [--variants 10] [--kinds still,gaps] [--transports rtmp,srt,udp,rtsp]
    SHORT=1 publishers.py     few kinds, one variant of each, all at once

Needs numpy and PyAV (Scripts/python.sh).
"""
import argparse
import os
import random
import socket
import sys
import tempfile
import threading
import time

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks"))

from live_service import running  # noqa: E402
from numbered_clip import RATE, SOUND, encoded_audio, encoded_video, read  # noqa: E402
from publisher_wires import (  # noqa: E402
    AUDIO, RTMP, SRT, UDP, VIDEO, Camera, TransportStream, Unit, avc_record)
from tables import table  # noqa: E402

SECONDS, APART = 8, 0.045
# How many publish at the same time: two cores encode as many for two outputs each, whatever they send.
TOGETHER = 5
TRANSPORTS = ("rtmp", "srt", "udp", "rtsp")
# What a short run has of each transport.
SHORT_KINDS = ("audio_behind", "still", "jump")


class Clip:
    def __init__(self):
        self.sets, frames = encoded_video(SECONDS)
        self.config, audio = encoded_audio(SECONDS)
        self.still_sets, self.still = encoded_video(SECONDS, every=1)
        self.units = [self.frame(number, data, number % RATE == 0) for number, data in enumerate(frames)]
        self.units += [Unit(AUDIO, data, round(index * 1024000 / SOUND)) for index, data in enumerate(audio)]

    def frame(self, number, data, key):
        unit = Unit(VIDEO, data, number * 1000 // RATE, key)
        unit.number = number
        return unit

    def copy(self, is_intra=False):
        """Returns the units of a publisher, in order of their arrival."""
        found = []
        for unit in self.units:
            data = self.still[unit.number] if is_intra and unit.number is not None else unit.data
            each = Unit(unit.kind, data, unit.time, unit.key or is_intra)
            each.number = unit.number
            found.append(each)
        return found


# MARK: kinds. Each changes the units of a publisher, and returns what is left out of its frames and beeps on purpose.


def of(units, kind):
    return [unit for unit in units if unit.kind == kind]


def audio_later(units, draw):
    """The audio begins later."""
    start = draw.uniform(100, 4000)
    return [u for u in units if u.kind == VIDEO or u.time >= start]


def video_later(units, draw):
    """The video begins later."""
    start = draw.randint(3, 45) * 1000 // RATE
    shifted = []
    for unit in units:
        if unit.kind == VIDEO:
            if unit.time + start >= SECONDS * 1000:
                continue
            unit.time += start
            unit.right = unit.arrival = unit.time
        shifted.append(unit)
    return shifted


def audio_behind(units, draw):
    """The audio arrives behind the video."""
    late = draw.uniform(200, 3000)
    for unit in of(units, AUDIO):
        unit.arrival += late
    return [u for u in units if u.arrival < SECONDS * 1000]


def video_behind(units, draw):
    """The video arrives behind the audio."""
    late = draw.uniform(200, 2000)
    for unit in of(units, VIDEO):
        unit.arrival += late
    return [u for u in units if u.arrival < SECONDS * 1000]


def still(units, draw):
    """No frame comes for a while, once or twice."""
    for _ in range(draw.randint(1, 2)):
        start, length = draw.uniform(500, 4000), draw.uniform(300, 3000)
        units = [u for u in units if u.kind == AUDIO or not start < u.time < start + length]
    return units


def slow(units, draw):
    """Few frames a second, at irregular times."""
    step, kept, due = draw.uniform(200, 2500), [], 0
    for unit in units:
        if unit.kind == VIDEO:
            if unit.time < due:
                continue
            due = unit.time + step * draw.uniform(0.8, 1.2)
        kept.append(unit)
    return kept


def bursts(units, draw):
    """The network delivers in bursts."""
    # A second without a frame is a loss of the input.
    for second in draw.sample(range(7), draw.randint(2, 6)):
        start, length = 1000 * second + draw.uniform(0, 100), draw.uniform(100, 850)
        for unit in units:
            if start < unit.arrival < start + length:
                unit.arrival = start + length
    return units


def steps_back(units, draw):
    """The times of frames step back by up to two frames."""
    every, size = draw.randint(2, 20), draw.uniform(20, 75)
    for unit in of(units, VIDEO):
        if unit.number % every == every - 1:
            unit.time = max(0, int(unit.time - size))
    return units


def jitter(units, draw):
    """The times of frames are off."""
    for unit in of(units, VIDEO):
        unit.time = max(0, int(unit.time + draw.uniform(-19, 19)))
    return units


def offset(units, draw):
    """Times begin anywhere, and may wrap around."""
    start = draw.choice([2**31, 2**32, 2**33 // 90, 3600_000]) - draw.randint(0, 6000)
    for unit in units:
        unit.time += start
    return units


def jump(units, draw):
    """The times of both tracks jump."""
    at, by = draw.uniform(1000, 6000), draw.choice([-1, 1]) * draw.uniform(3000, 10_000_000)
    for unit in units:
        if unit.time >= at:
            unit.time = int(unit.time + by) % 2**31
    return units


def drift(units, draw):
    """The publisher's clock is slow or fast."""
    factor = draw.choice([0.1, 0.3, 0.5, 0.97, 1.03, 1.3, 2, 4, 10])
    for unit in units:
        unit.time = int(unit.time * factor)
    return units


KINDS = {each.__name__: each for each in (
    audio_later, video_later, audio_behind, video_behind, still, slow, bursts, steps_back, jitter, offset, jump, drift)}


# MARK: a run


class Run:
    def __init__(self, service, clip, kind, transport, index, seed):
        self.name = f"{kind}-{transport}-{index}".replace("_", "")
        self.service, self.transport, self.kind = service, transport, kind
        draw = random.Random(f"{seed} {self.name}")
        units = clip.copy(is_intra=kind in ("slow", "still"))
        self.units = KINDS[kind](sorted(units, key=lambda unit: unit.time), draw)
        self.units.sort(key=lambda unit: unit.arrival)
        for name, data in ((VIDEO, avc_record(clip.still_sets if kind in ("slow", "still") else clip.sets)),
                           (AUDIO, clip.config)):
            first = next(i for i, unit in enumerate(self.units) if unit.kind == name)
            setup = Unit(name, data, self.units[first].time, True, True)
            setup.arrival = self.units[first].arrival
            self.units.insert(first, setup)
        self.sets = clip.still_sets if kind in ("slow", "still") else clip.sets
        # Every second camera whose tracks don't begin together sends no reports: their arrival relates them.
        self.camera = None if transport != "rtsp" else Camera(
            self.sets, clip.config, reports=kind not in ("audio_later", "video_later") or index % 2 == 0)
        self.port = self.camera.port if self.camera else running.free_port(socket.SOCK_DGRAM)
        url = {"rtmp": service.address(self.name), "udp": f"udp://127.0.0.1:{self.port}",
               "srt": f"srt://127.0.0.1:{self.port}?streamid={self.name}",
               "rtsp": f"rtsp://127.0.0.1:{self.port}/clip"}[transport]
        # HLS waits less for its tracks than the recording does.
        service.session(self.name, [{"type": "file", "name": "take.mp4"}, {"type": "hls"}], input={"url": url},
                        options={"frames": "upright", "size": "320x180", "speed": "ultrafast"})
        self.error = self.reason = None
        self.thread = threading.Thread(target=self.send)

    def output(self):
        if self.transport == "rtmp":
            return RTMP(self.service.rtmp, f"key-{self.name}")
        if self.camera:
            return self.camera.accept()
        if self.transport == "udp":
            # The port is open only once the session's process has begun.
            time.sleep(2)
            return TransportStream(UDP(self.port), self.sets)
        return TransportStream(SRT(self.port, self.name), self.sets)

    def send(self):
        try:
            output = self.output()
            start = time.monotonic()
            for unit in self.units:
                wait = unit.arrival / 1000 - (time.monotonic() - start)
                if wait > 0:
                    time.sleep(wait)
                output.send(unit)
            output.close()
        except OSError as error:
            self.error = str(error)

    def result(self):
        """Ends the session. Returns a row, and what is wrong."""
        self.reason = self.service.state(self.name).get("reason")
        state = self.service.delete(self.name)
        path = os.path.join(self.service.data, "recordings", self.name, "take.mp4")
        running.until(lambda: os.path.exists(path), 5)
        frames, beeps = read(path) if os.path.exists(path) else ({}, {})
        sent = {unit.number: unit.right for unit in self.units if unit.number is not None}
        # A recording begins with the first frame and ends with the last one. Nothing says that a stream over UDP has ended, so
        # that its last two frames aren't known to be complete; libavformat gives the first one over RTSP no time.
        shown = [unit.right for unit in self.units if unit.number is not None]
        shown = shown[self.transport == "rtsp":-2 if self.transport == "udp" else None]
        heard = {int(unit.right // 1000) for unit in self.units if unit.kind == AUDIO and not unit.setup
                 and unit.right % 1000 < 25 and min(shown) <= unit.right + 25 <= max(shown)}
        apart = [at - frames[number] for second, at in beeps.items() for number in sent
                 if number in frames and sent[number] == second * 1000]
        row = {"run": self.name, "frames sent": len(sent), "shown": len(set(sent) & set(frames)), "beeps sent": len(heard),
               "heard": len(heard & set(beeps)), "apart, ms": round(1000 * max(map(abs, apart), default=0)),
               "dropped": state["counters"]["dropped"], "seconds": state.get("seconds"), "reason": "; ".join(
                   filter(None, [self.error, self.reason]))}
        # A decoder of MPEG-TS has the last two frames only when another one follows. The last one before each of two pauses comes
        # after frames that were repeated.
        held = 5 if self.kind == "still" else 3
        few = row["shown"] < row["frames sent"] - held or row["heard"] < row["beeps sent"] - 1
        return row, few or row["apart, ms"] > APART * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=int, default=10)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--transports", default=",".join(TRANSPORTS))
    arguments = parser.parse_args()
    # A clock that isn't real time is known by the frame rate that a publisher declares, which only RTMP does.
    pairs = [(kind, transport) for transport in arguments.transports.split(",") for kind in arguments.kinds.split(",")
             if kind != "drift" or transport == "rtmp"]
    groups = [[(*pair, index) for index in range(arguments.variants)] for pair in pairs]
    if os.environ.get("SHORT") == "1":
        groups = [[(*pair, 0) for pair in pairs if pair[0] in SHORT_KINDS]]
    seed = os.environ.get("UPRIGHT_SEED") or str(random.randrange(10**6))
    print("seed", seed)
    clip, rows, faults = Clip(), [], []
    with tempfile.TemporaryDirectory() as folder, running.Service(folder) as service:
        for group in groups:
            found = {}
            for first in range(0, len(group), TOGETHER):
                runs = [Run(service, clip, *each, seed) for each in group[first:first + TOGETHER]]
                for run in runs:
                    run.thread.start()
                for run in runs:
                    run.thread.join()
                for run in runs:
                    found.setdefault((run.kind, run.transport), []).append(run.result())
            for pair, results in found.items():
                faults += [str(row) for row, is_wrong in results if is_wrong]
                rows.append(summary(*pair, results))
                print(rows[-1], "load", os.getloadavg()[0], flush=True)
        faults += service.faults()
    print(table(rows))
    running.conclude("publishers", faults)


def summary(kind, transport, found):
    def total(name):
        return str(sum(row[name] for row, _ in found))

    return {"kind": kind, "over": transport, "right": f"{sum(not is_wrong for _, is_wrong in found)} of {len(found)}",
            "frames": total("shown") + " of " + total("frames sent"), "beeps": total("heard") + " of " + total("beeps sent"),
            "farthest beep, ms": max(row["apart, ms"] for row, _ in found),
            "reasons": "; ".join(sorted({row["reason"] for row, _ in found if row["reason"]}))}


if __name__ == "__main__":
    main()
