#!/usr/bin/env python3
"""Changes 16 live sessions all the time: a PATCH a second on each, some of them wrong, and outputs added, stopped,
started and removed. Every frame that was published must be in the recording of its session, at its time: no step
between frames is over 67 ms. Frames that a session left out because the machine was too slow are counted as `queue` or `shed`;
each must be missing once, and they are printed. Memory must not grow.

    changes.py             two minutes
    SHORT=1 changes.py     25 seconds
"""
import argparse
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks"))

from live_service import running  # noqa: E402

COUNT, RATE = 16, 30
# The cheapest settings: the test is for changes, not for the cost of encoding.
OPTIONS = {"size": "160x90", "speed": "ultrafast"}
# Each PATCH, with the status that it must get.
PATCHES = (
    ({"options": {"fit": "blur"}}, 200),
    ({"policy": "portrait"}, 200),
    ({"options": {"background": "#204060", "bitrate": "300k"}}, 200),
    ({"options": {"size": "720p"}}, 409),
    ({"policy": "phone", "options": {"fit": "fill"}}, 200),
    ({"options": {"fitt": "fill"}}, 422),
    ({"options": {"fit": None, "background": None, "bitrate": None}}, 200),
    ({"input": {"url": "rtmp://127.0.0.1/live/other"}}, 409),
    ({"nonsense": 1}, 400),
)
# The greatest step between two frames of a recording, in seconds: two frames at 30 per second, of which times in
# milliseconds are read.
STEP = 0.0675
# The greatest step of a session that left frames out: beyond a second of backlog it goes on at the newest keyframe.
STEP_BEHIND = 2.5
# The part of the published frames that a slow machine may leave out.
BEHIND = 0.25
# How much more memory than in the second quarter the last quarter may take, in MiB.
GROWTH = 12


class Stage:
    """A session that is changed on a thread of its own. `main` is the recording that must have every frame."""

    def __init__(self, service, index, folder, clip, seconds):
        self.name, self.http, self.index = f"s{index}", service.http, index
        self.faults = []
        service.session(
            self.name, [{"type": "file", "id": "main", "name": "main.ts"}], options=OPTIONS)
        self.connection = running.connection(self.http)
        self.extra = itertools.cycle([
            {"type": "hls"}, {"type": "file", "name": "extra.ts"},
            # Nothing listens there: the output reconnects until it is removed.
            {"type": "rtmp", "url": f"rtmp://127.0.0.1:{running.free_port()}/live/key-of-nobody"}])
        self.publisher = running.Publisher(clip, service.address(self.name))
        self.thread = threading.Thread(target=self.run, args=(seconds,), daemon=True)

    def ask(self, method, path, wanted, body=None):
        status, answer = running.ask(
            self.connection, method, f"/v1/sessions/{self.name}{path}", body)
        if status != wanted:
            self.faults.append(f"{self.name}: {method} {path} {body}: {status} {answer.decode()}")
        return json.loads(answer or b"null")

    def run(self, seconds):
        """Changes the session once a second. Every fourth second an output is added, and then used."""
        begin = time.monotonic() + self.index / COUNT
        added = None
        try:
            # Landscape with one policy, portrait with the other.
            self.ask("POST", "/events", 200, {"device": "landscapeLeft"})
            for second in range(int(seconds)):
                time.sleep(max(0, begin + second - time.monotonic()))
                body, wanted = PATCHES[(self.index + second) % len(PATCHES)]
                self.ask("PATCH", "", wanted, body)
                if second % 4 == 0:
                    added = self.ask("POST", "/outputs", 201, next(self.extra))["id"]
                elif second % 4 == 1:
                    self.ask("POST", f"/outputs/{added}/stop", 200)
                elif second % 4 == 2:
                    self.ask("POST", f"/outputs/{added}/start", 200)
                else:
                    removed = self.ask("DELETE", f"/outputs/{added}", 200)
                    if removed["dropped"] and removed["type"] != "rtmp":
                        self.faults.append(f"{self.name}: frames were dropped by {removed}")
        except (OSError, KeyError, ValueError) as error:
            self.faults.append(f"{self.name}: {error!r}")

    def check(self, service, frames):
        """Returns what is wrong with a session whose publisher has sent `frames` frames and left."""
        faults = list(self.faults)
        if not running.until(lambda: came(service.counters(self.name)) >= frames, 30):
            faults.append(f"{self.name}: frames didn't arrive")
        ended = service.delete(self.name)
        counters, main = ended["counters"], ended["outputs"][0]
        # What the output that nobody receives didn't take is counted as output.
        lost = {**counters["dropped"], "output": main["dropped"], "queue": 0, "shed": 0}
        behind = left_out(counters)
        if came(counters) != frames or any(lost.values()) or behind > frames * BEHIND:
            faults.append(f"{self.name}: {frames} frames were published: {counters}")
        if ended["state"] != "ended" or counters["inputLosses"] > 1:
            faults.append(f"{self.name}: {ended['state']}, {ended['reason']}")
        times = presented(f"{service.data}/recordings/{self.name}/main.ts")
        steps = [after - before for before, after in zip(times, times[1:])]
        # It ends with the last frame of the publisher, which others show on.
        if len(times) != frames - behind:
            faults.append(f"{self.name}: {len(times)} frames are in the recording: {counters}")
        if not steps or max(steps) > (STEP_BEHIND if behind else STEP) or min(steps) <= 0:
            faults.append(f"{self.name}: steps of {min(steps, default=0)} to {max(steps, default=0)} s")
        # Not one was repeated or left out before: the frame that was published last is in its place.
        elif not behind and abs(times[frames - 1] - times[0] - (frames - 1) / RATE) > 0.002:
            faults.append(f"{self.name}: frame {frames} is at {times[frames - 1] - times[0]} s")
        return faults, counters


def left_out(counters):
    """Returns the number of frames that a session left out because the machine was too slow: decoded, or not."""
    return sum(counters["dropped"].get(name, 0) for name in ("queue", "shed"))


def came(counters):
    """Returns the number of frames that arrived."""
    return counters["framesIn"] + counters["dropped"].get("shed", 0)


def presented(path):
    """Returns the times of the video frames of a file, in seconds, in the order of presentation."""
    found = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time",
         "-of", "csv=p=0", path], stdout=subprocess.PIPE, text=True, check=True)
    return sorted(float(line.rstrip(",")) for line in found.stdout.split() if line)


def sample(service, seconds):
    """Returns the resident memory in MiB, once a second, with its time."""
    begin, samples = time.monotonic(), []
    while (now := time.monotonic() - begin) < seconds:
        samples.append((now, running.memory(service.process.pid)[0]))
        time.sleep(1)
    return samples


def main():
    short = os.environ.get("SHORT") == "1"
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=int, default=20 if short else 120)
    seconds = parser.parse_args().seconds
    faults = []
    with tempfile.TemporaryDirectory() as folder, running.Service(folder) as service:
        # The publishers outlast the changes.
        length = seconds + 4
        clip = running.clip(folder, length, size="160x90", rate=RATE, keyframes=1)
        stages = [Stage(service, index, folder, clip, seconds) for index in range(COUNT)]
        try:
            if not running.until(lambda: all(
                    service.counters(each.name)["framesIn"] > 0 for each in stages), 30):
                raise SystemExit("changes: nothing is live: " + service.logged())
            for stage in stages:
                stage.thread.start()
            samples = sample(service, seconds)
            for stage in stages:
                stage.thread.join(30)
                stage.publisher.wait(60)
            found = [stage.check(service, length * RATE) for stage in stages]
        finally:
            for stage in stages:
                stage.publisher.kill()
        faults += [fault for each, _ in found for fault in each]
        total = {name: sum(counters[name] for _, counters in found)
                 for name in ("framesIn", "framesOut", "formatChanges")}
        early, late = (statistics.median(
            size for at, size in samples if first <= at / seconds < last)
            for first, last in ((0.25, 0.5), (0.75, 1)))
        behind = sum(left_out(counters) for _, counters in found)
        print(f"changes: {COUNT} sessions, {seconds} s, {total}, {behind} left out, RSS {early:.0f} -> {late:.0f} MiB, "
              f"load {os.getloadavg()[0]:.1f}")
        if late > early + GROWTH:
            faults.append(f"memory grew from {early:.1f} to {late:.1f} MiB")
        if total["formatChanges"] < COUNT:
            faults.append("the format never changed")
        faults += service.faults()
    running.conclude("changes", faults)


if __name__ == "__main__":
    main()
