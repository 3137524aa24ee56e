#!/usr/bin/env python3
"""Plays a library of many files with many players at once, each of which chooses a file and seeks in it. Every answer is a
segment with the bytes that the same address had before, or 429; the cache stays within its bound, the processes are few, and
their memory is bounded. Then: 50 clients who ask for one segment cost the processor time of one, and a segment whose client
leaves ends early. The figures are printed; UPRIGHT_SEED repeats the choices.

    library_load.py             1000 files, 50 players, 60 s
    SHORT=1 library_load.py     100 files, 20 players, 8 s
"""
import concurrent.futures
import hashlib
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks"))

from live_service import running  # noqa: E402
from processes import children, private  # noqa: E402

SHORT = os.environ.get("SHORT") == "1"
FILES, PLAYERS, SECONDS = (100, 20, 8) if SHORT else (1000, 50, 60)
CACHE = (8 if SHORT else 24) << 20
# Those of eight files, those in use, the one that describes files, and one that is started ahead.
PROCESSES = 8 + len(os.sched_getaffinity(0)) + 2
# The memory of one process, in MiB.
MEMORY = 120
# What of a whole render's processor time one may cost whose client has left.
CANCELLED = 0.5


def clip(path, seconds, size, gop):
    """Makes a clip that has to be turned."""
    upright = path + ".mkv"
    subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=s={size}:r=30", "-f", "lavfi", "-i", "sine", "-t",
         str(seconds), "-c:v", "libx264", "-preset", "ultrafast", "-g", str(gop), "-keyint_min", str(gop), "-sc_threshold", "0",
         "-c:a", "aac", upright], check=True)
    subprocess.run(["ffmpeg", "-nostdin", "-v", "error", "-i", upright, "-c", "copy", "-metadata:s:v", "rotate=90", path], check=True)
    os.remove(upright)


def library(folder):
    path = os.path.join(folder, "library")
    os.mkdir(path)
    first = os.path.join(path, "0.mp4")
    clip(first, 6, "320x180", 30)
    for index in range(1, FILES):
        shutil.copy(first, os.path.join(path, f"{index}.mp4"))
    for name in ("one", "shared", "left"):
        clip(os.path.join(path, f"{name}.mp4"), 24, "1280x720", 720)
    return path


def size(folder):
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except OSError:
                pass
    return total


class Player:
    def __init__(self, service, seed, digests, faults):
        self.service, self.random = service, random.Random(seed)
        self.connection = running.connection(service.http)
        self.digests, self.faults, self.answers, self.refused = digests, faults, 0, 0

    def get(self, path):
        """Returns the body; None if the service is busy."""
        status, body = running.ask(self.connection, "GET", path)
        if status == 429:
            self.refused += 1
            time.sleep(1)
            return None
        if status != 200:
            self.faults.append(f"{path}: {status} {body[:200]!r}")
        self.answers += 1
        return body

    def run(self, end):
        while time.monotonic() < end:
            # Half of the players choose among a few.
            name = self.random.randrange(10 if self.random.random() < 0.5 else FILES)
            playlist = self.get(f"/vod/{name}.mp4/index.m3u8")
            if playlist is None:
                continue
            names = [line for line in playlist.decode().splitlines() if line.endswith(".m4s")]
            for _ in range(self.random.randrange(1, 4)):
                path = f"/vod/{name}.mp4/{self.random.choice(names)}"
                body = self.get(path)
                if body is None or time.monotonic() > end:
                    break
                digest = hashlib.sha256(body).digest()
                if self.digests.setdefault(path, digest) != digest:
                    self.faults.append(f"{path}: other bytes")


def play(service, cache, faults):
    """All players at once. Returns the figures."""
    seed = int(os.environ.get("UPRIGHT_SEED") or time.time())
    print(f"library load: UPRIGHT_SEED={seed}", flush=True)
    end = time.monotonic() + SECONDS
    digests = {}
    players = [Player(service, f"{seed} {index}", digests, faults) for index in range(PLAYERS)]
    threads = [threading.Thread(target=player.run, args=(end,), daemon=True) for player in players]
    for thread in threads:
        thread.start()
    most = {"processes": 0, "cache": 0, "memory": 0}
    while any(thread.is_alive() for thread in threads):
        found = children(service.process.pid)
        most["processes"] = max(most["processes"], len(found))
        most["cache"] = max(most["cache"], size(cache))
        most["memory"] = max([most["memory"], *(private(process) or 0 for process in found)])
        time.sleep(0.2)
    # A segment may be written before others are removed.
    if most["cache"] > CACHE + (2 << 20):
        faults.append(f"the cache has {most['cache']} bytes")
    if most["processes"] > PROCESSES:
        faults.append(f"{most['processes']} processes")
    if most["memory"] > MEMORY:
        faults.append(f"a process of {most['memory']:.0f} MiB")
    answers = sum(player.answers for player in players)
    if answers < PLAYERS:
        faults.append(f"{answers} answers")
    print(f"library load: {answers} answers, {sum(player.refused for player in players)} times busy, {len(digests)} segments, cache "
          f"{most['cache'] / 2 ** 20:.1f} of {CACHE >> 20} MiB, {most['processes']} processes, the largest {most['memory']:.0f} MiB", flush=True)


def last_segment(service, name):
    playlist = service.get(f"/vod/{name}.mp4/index.m3u8")[1].decode()
    time.sleep(3)  # The first segments are made ahead.
    folder, file = [line for line in playlist.splitlines() if line.endswith(".m4s")][-1].split("/")
    # The video alone, which nobody has asked for.
    return f"/vod/{name}.mp4/{folder}/video-{file}"


def cost(service, body):
    """Returns the processor time of what `body` does, until nothing is done any more."""
    def spent():
        return running.processor(service.process.pid)
    start = spent()
    body()
    last = None
    while last is None or spent() - last > 0.02:
        last = spent()
        time.sleep(0.5)
    return spent() - start


def leave(service, path):
    """Asks for a segment, and leaves while it is made."""
    with socket.create_connection(("127.0.0.1", service.http)) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {running.TOKEN}\r\n\r\n".encode())
        time.sleep(0.3)


def ask_at_once(service, path, count, faults):
    def ask(_):
        return running.ask(running.connection(service.http), "GET", path)
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        answers = list(pool.map(ask, range(count)))
    if len(set(answers)) != 1 or answers[0][0] != 200:
        faults.append(f"{path}: {sorted({status for status, _ in answers})}, {len(set(answers))} answers")


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        path = library(folder)
        with running.Service(more=("--library", path, "--cache-size", str(CACHE))) as service:
            play(service, os.path.join(service.data, "vod"), faults)
            costs = {}
            for name, body in (("one", lambda path: ask_at_once(service, path, 1, faults)),
                               ("shared", lambda path: ask_at_once(service, path, 50, faults)),
                               ("left", lambda path: leave(service, path))):
                segment = last_segment(service, name)
                costs[name] = cost(service, lambda: body(segment))
            print("library load: the last segment of a GOP of 24 s costs %.2f s of a processor, 50 clients at once %.2f, one whose client leaves %.2f"
                  % tuple(costs.values()), flush=True)
            if costs["shared"] > 1.5 * costs["one"]:
                faults.append("a segment is made several times")
            if costs["left"] > CANCELLED * costs["one"]:
                faults.append("a segment is made to its end for nobody")
            faults += service.faults(("critical", "error"))
    for fault in faults[:20]:
        print("library load: " + fault)
    if faults:
        sys.exit(1)
    print("library load: clean")


if __name__ == "__main__":
    main()
