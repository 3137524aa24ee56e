"""Many players of a session with low latency, each of which waits for the next part: when are they answered?

The players are Tests/Players/blocked_players.c. The delay of an answer is the time since the first player got a
playlist with that part, each at the time when the kernel had received it. The players have a lower priority than the
service, because they stand for players on other machines.
"""
import json
import os
import subprocess

from . import audience, running

PLAYERS = 1000
PATH = f"/live/{audience.NAME}/index.m3u8"


def program(folder):
    """Compiles the players. Returns the path of the program."""
    path = os.path.join(folder, "blocked_players")
    source = os.path.join(running.ROOT, "Tests/Players/blocked_players.c")
    subprocess.run(["cc", "-O2", "-o", path, source], check=True)
    return path


def measure(scratch, seconds=40):
    """Measures without players and with them."""
    clip, players = running.clip(scratch, seconds), program(scratch)

    def everyone(service, seconds):
        before = running.processor(service.process.pid)
        process = subprocess.run(
            [players, str(service.http), PATH, str(PLAYERS), str(seconds)],
            stdout=subprocess.PIPE, check=True, preexec_fn=lambda: os.nice(10))
        spent = running.processor(service.process.pid) - before
        found = json.loads(process.stdout)
        return {
            **{name: found[name] for name in
               ("answers", "failed", "failure", "median", "p99", "longest")},
            "parts": sum(part[2] == PLAYERS for part in found["parts"]),
            "MB": found["bytes"] / 1e6, "CPU of an answer": spent / max(1, found["answers"])}

    return {case: audience.run(clip, seconds, play, latency="low")
            for case, play in (
                ("no players", audience.nobody), (f"{PLAYERS} players", everyone))}
