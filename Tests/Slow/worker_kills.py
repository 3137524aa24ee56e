#!/usr/bin/env python3
"""Kills the processes of sessions at random while publishers send. A killed session is live again within seconds, with
its publisher still connected, and its playlists obey all rules at every reload. The sessions that are never killed have
every frame, and drop none. The private memory of each process is printed. The seed is printed; UPRIGHT_SEED repeats the
choices.

    worker_kills.py             12 sessions, 5 minutes, a kill every 2 s
    SHORT=1 worker_kills.py     4 sessions, 30 seconds
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks"))
os.environ["UPRIGHT_WORKERS"] = "process"

from live_service import running  # noqa: E402
from processes import children, private  # noqa: E402

RATE = 30


def workers(service):
    """Returns the processes of sessions. The one that the service has in reserve has only one thread."""
    return {process for process in children(service.process.pid) if threads(process) > 1}


def threads(process):
    try:
        return len(os.listdir(f"/proc/{process}/task"))
    except OSError:
        return 0


class Stage:
    """A session with a publisher, whose playlist is checked at every reload."""

    def __init__(self, service, name, clip, is_calm):
        self.service, self.name, self.is_calm = service, name, is_calm
        before = workers(service)
        outputs = [{"type": "hls"}] + ([{"type": "file", "name": "all.mp4"}] if is_calm else [])
        service.session(name, outputs, options={"size": "320x180", "speed": "ultrafast"})
        # The process begins with the publisher.
        self.publisher = running.Publisher(clip, service.address(name), loops=-1)
        if not running.until(lambda: workers(service) - before, 10):
            raise SystemExit("worker kills: the session has no process: " + service.logged())
        self.process = (workers(service) - before).pop()

    def check(self, seconds):
        self.broken, self.loads = [], 0
        self.checker = threading.Thread(target=self.reload, args=(seconds,), daemon=True)
        self.checker.start()

    def reload(self, seconds):
        url = f"http://127.0.0.1:{self.service.http}/live/{self.name}/index.m3u8"
        check = subprocess.run(
            [running.UPRIGHT, "check", url, "--reload", str(seconds), "--json"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            report = json.loads(check.stdout)
        except ValueError:
            self.broken.append(f"upright check: {check.returncode}: {check.stderr.strip()}")
            return
        self.loads = report["loads"]
        self.broken += map(json.dumps, report["violations"])

    def kill(self):
        """Kills the process. Returns the seconds until the session is live again; None if that takes too long."""
        before = workers(self.service)
        restarts = self.service.counters(self.name)["restarts"]
        begin = time.monotonic()
        os.kill(self.process, signal.SIGSEGV)

        def is_back():
            state = self.service.state(self.name)
            return state["counters"]["restarts"] > restarts and state["state"] == "live"
        if not running.until(is_back, 20):
            return None
        seconds = time.monotonic() - begin
        self.process = (workers(self.service) - before).pop()
        return seconds

    def gaps(self):
        """Returns the number of frames of a calm session's recording, and the times at which some are missing."""
        path = os.path.join(self.service.data, "recordings", self.name, "all.mp4")
        text = subprocess.run(
            ["ffprobe", "-v", "error", "-select_streams", "v", "-show_entries", "packet=pts_time", "-of",
             "csv=p=0", path], stdout=subprocess.PIPE, check=True, text=True).stdout
        times = sorted(float(line.strip(",")) for line in text.split() if line.strip(","))
        return len(times), [one for one, other in zip(times, times[1:]) if other - one > 1.5 / RATE]


def storm(stages, seconds, interval, dice):
    """Kills processes. Returns the seconds until each session was live again."""
    victims = [stage for stage in stages if not stage.is_calm]
    back, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        due = time.monotonic() + interval
        back.append(dice.choice(victims).kill())
        time.sleep(max(0, due - time.monotonic()))
    return back


def main():
    short = os.environ.get("SHORT") == "1"
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sessions", type=int, default=4 if short else 12)
    parser.add_argument("--seconds", type=float, default=30 if short else 300)
    parser.add_argument("--interval", type=float, default=2)
    arguments = parser.parse_args()
    seed = int(os.environ.get("UPRIGHT_SEED") or int.from_bytes(os.urandom(4), "big"))
    print(f"worker kills: UPRIGHT_SEED={seed}, {arguments.sessions} sessions")
    faults = []
    with tempfile.TemporaryDirectory() as folder, running.Service(folder) as service:
        clip = running.clip(folder, 20, size="320x180", rate=RATE, keyframes=1)
        stages = [Stage(service, f"s{index}", clip, index % 4 == 0) for index in range(arguments.sessions)]
        try:
            if not running.until(lambda: all(service.state(each.name)["state"] == "live" for each in stages), 60):
                raise SystemExit("worker kills: not all are live: " + service.logged())
            # A playlist lists its first segment.
            time.sleep(3)
            for each in stages:
                each.check(arguments.seconds)
            back = storm(stages, arguments.seconds, arguments.interval, random.Random(seed))
            memory = [size for each in stages if (size := private(each.process)) is not None]
            states = {each.name: service.state(each.name) for each in stages}
            if "publisher disconnected" in service.logged():
                faults.append("a publisher was disconnected")
            for each in stages:
                each.checker.join(30)
        finally:
            for each in stages:
                each.publisher.kill()
        for each in stages:
            service.delete(each.name)
            faults += [f"{each.name}: {fault}" for fault in each.broken[:3]]
            if each.loads < arguments.seconds / 4:
                faults.append(f"{each.name}: the playlist was loaded {each.loads} times")
            counters = states[each.name]["counters"]
            if not each.is_calm:
                continue
            frames, gaps = each.gaps()
            print(f"worker kills: {each.name}, not killed: {frames} frames, {len(gaps)} gaps, dropped {counters['dropped']}")
            if gaps or counters["restarts"] or any(counters["dropped"].values()):
                faults.append(f"{each.name}: frames are missing at {gaps[:5]}, dropped {counters['dropped']}")
        times = sorted(seconds for seconds in back if seconds is not None)
        if len(times) < len(back) or not times:
            faults.append(f"{len(back) - len(times)} of {len(back)} sessions were not live again")
        else:
            print(f"worker kills: {len(times)} kills, live again after {times[len(times) // 2]:.2f} s (median), "
                  f"{times[min(len(times) - 1, len(times) * 99 // 100)]:.2f} s (p99)")
        print(f"worker kills: private memory {', '.join(f'{size:.1f}' for size in sorted(memory))} MiB")
        faults += service.faults()
    running.conclude("worker kills", faults, f", load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
