"""Runs commands in alternation and measures them."""
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UPRIGHT = os.environ.get("UPRIGHT") or os.path.join(ROOT, ".build/release/upright")


@dataclass
class Run:
    wall: float
    # User and system time of the process with all its threads, in seconds.
    cpu: float
    # Its peak resident memory, in MiB.
    peak: float
    output: str = ""


def begin(command, core=None, **environment):
    return subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
        preexec_fn=None if core is None else lambda: os.sched_setaffinity(0, {core}))


def end(process, start):
    """Runs a command and returns its measurements. The suite stops if it fails."""
    output = process.stdout.read().decode(errors="replace")
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    if status != 0:
        sys.exit(f"{' '.join(process.args)}: status {status}\n{output}")
    return Run(
        time.monotonic() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output)


def run(command, **environment):
    """Waits for one child process."""
    start = time.monotonic()
    return end(begin(command, **environment), start)


def beside(commands, rounds):
    """Runs all commands at the same time on one core, in rotating order, after one round that is not counted. The
    runs of each command are returned in the order of the rounds.

    The speed of a virtual machine changes by a tenth from second to second, and two of its cores may share
    one. The scheduler switches every few milliseconds, so that the conditions are the same for all commands.
    Only CPU time and memory are valid."""
    core = max(os.sched_getaffinity(0))
    runs = [[] for _ in commands]
    for turn in range(rounds + 1):
        order = [(step + turn) % len(commands) for step in range(len(commands))]
        started = {index: (begin(commands[index], core), time.monotonic()) for index in order}
        for index in order:
            finished = end(*started[index])
            if turn > 0:
                runs[index].append(finished)
    return runs


def alternate(commands, rounds):
    """Runs each command once per round, in rotating order, after one round that is not counted, so that files
    are cached. Returns the runs of each command, in the order of the rounds."""
    for command in commands:
        run(command)
    runs = [[] for _ in commands]
    for turn in range(rounds):
        for step in range(len(commands)):
            index = (step + turn) % len(commands)
            runs[index].append(run(commands[index]))
    return runs


def median(runs, of):
    return statistics.median(of(each) for each in runs)


def ratio(ours, theirs, of):
    """Returns the median of the ratios of runs in the same round, under the same conditions."""
    return statistics.median(of(mine) / of(other) for mine, other in zip(ours, theirs))
