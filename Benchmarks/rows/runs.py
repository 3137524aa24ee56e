"""Runs commands in turn and keeps what they took."""
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UPRIGHT = os.path.join(ROOT, ".build/release/upright")


@dataclass
class Run:
    wall: float
    # User and system time of the process, its threads among them, in seconds.
    cpu: float
    # Its highest resident memory in MiB.
    peak: float
    output: str = ""


def run(command, core=None, **environment):
    """One child to its end, on one core where that is given; the suite stops where it fails."""
    start = time.monotonic()
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
        preexec_fn=None if core is None else lambda: os.sched_setaffinity(0, {core}))
    output = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        sys.exit(f"{' '.join(command)}: status {status}\n{output}")
    return Run(
        time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output)


def alternate(commands, rounds, core=None):
    """Every command once a round, a different one first each time; once before that, uncounted, so that
    files are in memory. The runs of each, in the order of the rounds."""
    for command in commands:
        run(command, core)
    runs = [[] for _ in commands]
    for turn in range(rounds):
        for step in range(len(commands)):
            index = (step + turn) % len(commands)
            runs[index].append(run(commands[index], core))
    return runs


def median(runs, of):
    return statistics.median(of(each) for each in runs)


def ratio(ours, theirs, of):
    """The median of the ratios of runs of one round: both met the same machine."""
    return statistics.median(of(mine) / of(other) for mine, other in zip(ours, theirs))
