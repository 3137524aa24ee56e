#!/usr/bin/env python3
"""Times whole clips: `upright transcode` against the same work by the ffmpeg command line.

Runs of the two alternate, so that a change of the machine's speed meets both; medians and the median of
the pairwise ratios are printed. The work: raw 1080p sensor frames turned upright to 720x1280, H.264
veryfast, crf 23.
"""
import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
UPRIGHT = os.path.join(ROOT, ".build/release/upright")


def run(command):
    """Wall seconds, CPU seconds and peak memory in MiB of one child."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - start
    if status != 0:
        sys.exit(f"{' '.join(command)}: status {status}\n{errors.decode(errors='replace')}")
    del before
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--json")
    arguments = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        clip = os.path.join(folder, "clip.mp4")
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i",
             f"testsrc2=size=1920x1080:rate=30:duration={arguments.seconds}", "-vf", "noise=alls=6",
             "-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-pix_fmt", "yuv420p", clip],
            check=True)
        ours = [UPRIGHT, "transcode", clip, "--frames", "sensor", "--size", "720x1280", "-q", "-y",
                "-o", os.path.join(folder, "ours.mp4")]
        theirs = ["ffmpeg", "-v", "error", "-y", "-i", clip, "-vf", "transpose=clock,scale=720:1280",
                  "-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p",
                  "-movflags", "+faststart", os.path.join(folder, "theirs.mp4")]
        run(ours), run(theirs)
        pairs = [(run(ours), run(theirs)) for _ in range(arguments.runs)]

    results = {}
    for index, name in enumerate(["wall s", "cpu s", "peak MiB"]):
        mine = statistics.median(pair[0][index] for pair in pairs)
        other = statistics.median(pair[1][index] for pair in pairs)
        ratio = statistics.median(pair[0][index] / pair[1][index] for pair in pairs)
        results[name] = {"upright": mine, "ffmpeg": other, "ratio": ratio}
        print(f"1080p sensor -> 720x1280 mp4   {name:9} upright {mine:8.2f}   ffmpeg {other:8.2f}   ratio {ratio:.2f}")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
