#!/usr/bin/env python3
"""Checks that the peak memory doesn't grow with the duration of the input: compares a long 720p file with a
short one."""
import argparse
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UPRIGHT = os.environ.get("UPRIGHT") or os.path.join(ROOT, ".build/release/upright")
BAR = 1.10


def make(folder, seconds):
    """Creates a 720p file with audio of `seconds` seconds, by repeating one encoded second. Returns its path."""
    one = os.path.join(folder, "one.mp4")
    if not os.path.exists(one):
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=1280x720:rate=30:duration=1",
             "-f", "lavfi", "-i", "sine=duration=1", "-c:v", "libx264", "-preset", "ultrafast",
             "-pix_fmt", "yuv420p", "-c:a", "aac", one], check=True)
    clip = os.path.join(folder, f"{seconds}.mp4")
    subprocess.run(
        ["ffmpeg", "-v", "error", "-stream_loop", str(seconds - 1), "-i", one, "-c", "copy", clip],
        check=True)
    return clip


def peak(clip, output):
    """Returns the peak resident memory, in MiB, of a transcode that turns every frame."""
    process = subprocess.Popen(
        [UPRIGHT, "transcode", clip, "--frames", "sensor", "--speed", "ultrafast", "-q", "-y", "-o", output])
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"memory: transcode of {clip} ended with status {status}")
    return usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short-seconds", type=int, default=60)
    parser.add_argument("--long-seconds", type=int, default=600)
    arguments = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        short = make(folder, arguments.short_seconds)
        long = make(folder, arguments.long_seconds)
        for name in ["out.mp4", "out.m3u8", "out.ts"]:
            few = peak(short, os.path.join(folder, name))
            many = peak(long, os.path.join(folder, name))
            ratio = many / few
            failed |= ratio > BAR
            print(
                f"memory: {name:9} {arguments.short_seconds} s {few:6.1f} MiB, "
                f"{arguments.long_seconds} s {many:6.1f} MiB, ratio {ratio:.3f} (bar {BAR})")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
