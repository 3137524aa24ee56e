"""Memory of many live sessions: Upright in one process, ffmpeg in one process each."""
import os
import statistics
import subprocess
import time

from . import clips
from .row import Row
from .runs import ROOT

COUNT = 8


def memory(pid):
    """Returns the resident and proportional set size in MiB; None if the process has ended."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            sizes = {line.split(":")[0]: line.split()[1] for line in file if line.endswith("kB\n")}
        return int(sizes["Rss"]) / 1024, int(sizes["Pss"]) / 1024
    except (FileNotFoundError, ProcessLookupError, KeyError):
        return None


def steady(commands):
    """Runs the commands in parallel. Returns the medians of the sums of their memory over the middle half of the
    time in which all of them ran."""
    # FFmpeg's log lines are discarded.
    children = [subprocess.Popen(each, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL) for each in commands]
    samples = []
    while all(child.poll() is None for child in children):
        sizes = [memory(child.pid) for child in children]
        if all(sizes):
            samples.append([sum(column) for column in zip(*sizes)])
        time.sleep(0.1)
    for child in children:
        if child.wait() != 0:
            raise SystemExit(f"{child.args}: status {child.returncode}")
    middle = samples[len(samples) // 4:len(samples) * 3 // 4] or samples
    return [statistics.median(column) for column in zip(*middle)]


def rows():
    clip = clips.published()
    ours = [os.path.join(ROOT, "Benchmarks/.build/release/SessionBench"), clip, str(COUNT)]
    theirs = ["ffmpeg", "-v", "error", "-threads", "1", "-i", clip, "-filter_threads", "1",
              "-vf", "transpose=clock,scale=720:1280", "-c:v", "libx264", "-preset", "veryfast",
              "-crf", "23", "-tune", "zerolatency", "-threads", "1", "-f", "mpegts", "-y", "/dev/null"]
    # Other load does not affect memory: one run is enough.
    (rss, pss), (other_rss, other_pss) = (
        [size / COUNT for size in steady(each)] for each in ([ours], [theirs] * COUNT))
    name = f"{COUNT} live sessions of one process, a session"
    yield Row(name, "an ffmpeg process each, RSS", rss / other_rss, bar=0.5, aim=0.25, ours=rss,
              theirs=other_rss, measured="MiB")
    yield Row(name, "an ffmpeg process each, PSS", pss / other_pss, ours=pss, theirs=other_pss,
              measured="MiB", note="what processes share is divided among them")
