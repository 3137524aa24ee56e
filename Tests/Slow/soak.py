#!/usr/bin/env python3
"""Runs the live service for a long time, with four sessions that rotate and whose publishers are killed at random and
return after a random time; two of them have low latency, and the HLS output of one is stopped and started. At the end,
memory, threads and descriptors must be the same as after the warm-up, HLS must play, its playlists must have obeyed all
rules at every reload, and the log must have no errors. The seed is printed; UPRIGHT_SEED repeats it.

    soak.py             30 minutes, a rotation every 5 s, a reconnect every 20 s, an output stopped every 30 s
    SHORT=1 soak.py     1 minute, a rotation every second, a reconnect every 8 s, an output stopped every 8 s
"""
import argparse
import itertools
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks"))

from live_service import running  # noqa: E402
from live_service.player import Player  # noqa: E402

# By session: the latency, and whether the HLS output is stopped and started.
SESSIONS = (("low", False), ("normal", False), ("normal", False), ("low", True))
# For how long an output is stopped, in seconds.
STOP = 1.5
# For how long a publisher is away, in seconds.
AWAY = (0.05, 8)
# Each measure: how its samples of the two quarters become one number, and the allowed increase. Memory is
# compared by medians, because the allocator decides where its pages are. Threads of a pool and sockets come
# and go: a leak shows even in the lowest number of the last quarter. A pool may grow by one thread under
# load; a thread leaked per reconnect makes at least two, even in the short form.
MEASURES = (
    ("RSS MiB", statistics.median, statistics.median, 8),
    ("PSS MiB", statistics.median, statistics.median, None),
    ("threads", max, min, 1),
    ("descriptors", max, min, 0),
)
# Device orientations that change the shape of the frames each time.
DEVICES = ("landscapeLeft", "portrait")


class Stage:
    """A session, its publisher and its player."""

    def __init__(self, service, name, clip, folder, latency, restarts):
        self.service, self.name, self.clip = service, name, clip
        self.restarts, self.is_stopped, self.stops = restarts, False, 0
        # The cheapest settings: the test is for leaks, not for the cost of encoding.
        service.session(name, [{"type": "hls"}], options={"size": "320x180", "speed": "ultrafast"},
                        latency=latency)
        self.url = f"http://127.0.0.1:{service.http}/live/{name}/index.m3u8"
        # While the output is stopped, nothing comes that could be played.
        self.player = Player(self.url, os.path.join(folder, name), keeps=False, runs_dry=restarts)
        self.player.start()
        self.devices = itertools.cycle(DEVICES)
        self.publisher, self.returns = None, None
        self.publish()

    def publish(self):
        self.publisher = running.Publisher(self.clip, self.service.address(self.name), loops=-1)

    def check(self, seconds):
        """Starts to check the playlist at every reload."""
        self.loads, self.broken = [], []
        self.checker = threading.Thread(target=self.reload, args=(seconds,), daemon=True)
        self.checker.start()

    def reload(self, seconds):
        """Checks the playlist again each time that it ends, because a stopped output ends its playlist."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            check = subprocess.run(
                [running.UPRIGHT, "check", self.url, "--reload", str(left), "--json"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            try:
                report = json.loads(check.stdout)
            except ValueError:
                self.broken.append(f"upright check: {check.returncode}: {check.stderr.strip()}")
                return
            self.loads.append(report["loads"])
            self.broken += map(json.dumps, report["violations"])
            time.sleep(0.5)

    def checked(self, seconds):
        """Waits for the end of the check. Returns what it has found."""
        self.checker.join(60)
        # A check that finds an ended playlist loads it once.
        runs = sum(each > 1 for each in self.loads)
        print(f"soak: {self.name}: {len(self.broken)} violations in {sum(self.loads)} loads, {runs} runs of the output")
        if self.checker.is_alive():
            return ["the check has not ended"]
        # A segment every two seconds; a player with low latency loads the playlist for each part.
        if sum(self.loads) < seconds / 2 or runs < max(1, self.stops):
            return self.broken[:5] + ["the check was too short"]
        return self.broken[:5]

    def turn(self):
        self.service.event(self.name, {"device": next(self.devices)})

    def toggle(self):
        """Stops the HLS output, or starts it again."""
        verb = "start" if self.is_stopped else "stop"
        status, body = self.service.ask(
            "POST", f"/v1/sessions/{self.name}/outputs/hls/{verb}")
        if status != 200:
            raise SystemExit(f"soak: {verb}: {status} {body.decode()}")
        self.is_stopped = not self.is_stopped
        self.stops += self.is_stopped

    def leave(self, seconds):
        """Kills the publisher, for so long."""
        self.publisher.kill()
        self.returns = time.monotonic() + seconds

    def come(self, now):
        """Publishes again if that is due, and after a refusal: the service may have the one before it still."""
        if self.returns is None and self.publisher.process.poll() is not None:
            self.returns = now + 1
        if self.returns is not None and now >= self.returns:
            self.returns = None
            self.publish()


def at_random(stages):
    """Yields the stages without end, each once in each round."""
    while True:
        yield from random.sample(stages, len(stages))


def sample(pid):
    return (*running.memory(pid), running.threads(pid), running.descriptors(pid))


def soak(service, stages, seconds, turn, reconnect, restart):
    """Runs the sessions. Returns samples of memory, threads and descriptors, each with its time."""
    begin = time.monotonic()
    due = {"turn": begin + turn, "reconnect": begin + reconnect, "sample": begin,
           "restart": begin + restart}
    lost = at_random(stages)
    restarted = next(each for each in stages if each.restarts)
    samples = []
    while time.monotonic() < begin + seconds:
        now = time.monotonic()
        if now >= due["turn"]:
            due["turn"] += turn
            for stage in stages:
                stage.turn()
        if now >= due["reconnect"]:
            due["reconnect"] += reconnect * random.uniform(0.4, 1.6)
            stage = next(lost)
            if stage.returns is None:
                stage.leave(random.uniform(*AWAY))
        for stage in stages:
            stage.come(now)
        if now >= due["restart"]:
            restarted.toggle()
            due["restart"] += STOP if restarted.is_stopped else restart - STOP
        if now >= due["sample"]:
            due["sample"] += 1
            samples.append((now - begin, *sample(service.process.pid)))
        time.sleep(0.05)
    if restarted.is_stopped:
        restarted.toggle()
    for stage in stages:
        stage.come(float("inf"))
    return samples


def compare(samples, seconds):
    """Compares the last quarter with the second one. Returns the increases that are too large."""
    early = [each[1:] for each in samples if seconds * 0.25 <= each[0] < seconds * 0.5]
    late = [each[1:] for each in samples if each[0] >= seconds * 0.75]
    faults = []
    for (name, of_early, of_late, more), before, after in zip(MEASURES, zip(*early), zip(*late)):
        was, now = of_early(before), of_late(after)
        print(f"soak: {name:11} {was:7.1f} -> {now:7.1f}"
              + (f" (at most {more:g} more)" if more is not None else ""))
        if more is not None and now > was + more:
            faults.append(f"{name} grew from {was:.1f} to {now:.1f}")
    return faults


def main():
    short = os.environ.get("SHORT") == "1"
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, default=60 if short else 1800)
    parser.add_argument("--turn", type=float, default=1 if short else 5)
    parser.add_argument("--reconnect", type=float, default=8 if short else 20)
    parser.add_argument("--restart", type=float, default=8 if short else 30)
    arguments = parser.parse_args()
    faults = []
    seed = os.environ.get("UPRIGHT_SEED") or str(random.randrange(1 << 32))
    print("soak: seed", seed)
    random.seed(seed)
    with tempfile.TemporaryDirectory() as folder, running.Service(folder) as service:
        clip = running.clip(folder, 20, size="320x180", keyframes=1)
        stages = [Stage(service, f"s{index}", clip, folder, *each)
                  for index, each in enumerate(SESSIONS)]
        try:
            if not running.until(lambda: all(each.player.begun for each in stages), 60):
                raise SystemExit("soak: nothing plays: " + service.logged())
            for each in stages:
                each.check(arguments.seconds)
            samples = soak(
                service, stages, arguments.seconds, arguments.turn, arguments.reconnect,
                arguments.restart)
            before = [max(each.player.segments) for each in stages]
            if not running.until(
                    lambda: all(max(each.player.segments) > last
                                for each, last in zip(stages, before)), 20):
                faults.append("HLS has stopped")
            for each in stages:
                faults += [f"{each.name}: {fault}" for fault in each.checked(arguments.seconds)]
            running.until(lambda: all(service.state(each.name)["state"] == "live" for each in stages))
            states = [service.state(each.name) for each in stages]
        finally:
            for each in stages:
                each.publisher.kill()
                each.player.end()
        for each, state in zip(stages, states):
            counters = state["counters"]
            print(f"soak: {each.name}: {state['state']}, {counters['framesIn']} in, "
                  f"{counters['framesOut']} out, {counters['formatChanges']} formats, "
                  f"{counters['inputLosses']} losses, dropped {counters['dropped']}, "
                  f"at least {each.player.least:.1f} s ahead")
            faults += [f"{each.name}: {fault}" for fault in each.player.faults]
            if state["state"] != "live":
                faults.append(f"{each.name} is {state['state']}: {state['reason']}")
            if counters["formatChanges"] == 0 or counters["inputLosses"] == 0:
                faults.append(f"{each.name} never turned, or never lost its publisher")
        faults += compare(samples, arguments.seconds)
        faults += service.faults(("error", "critical"))
    running.conclude("soak", faults, f", load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
