#!/usr/bin/env python3
"""Transcodes several files while the processes that work on them are killed at random. Each kill costs one file at
most: it has failed with 70, and all others have all their frames. No temporary file is left. The seed is printed;
UPRIGHT_SEED repeats the choice of processes and signals."""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

from processes import children

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UPRIGHT = os.environ.get("UPRIGHT") or os.path.join(ROOT, ".build/release/upright")
FRAMES = 150


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=40)
    arguments = parser.parse_args()
    seed = int(os.environ.get("UPRIGHT_SEED") or int.from_bytes(os.urandom(4), "big"))
    print(f"batch kills: UPRIGHT_SEED={seed}, {arguments.files} files")
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        first = os.path.join(folder, "0.mp4")
        source = f"testsrc2=s=320x180:r=30:d={FRAMES / 30}"
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", source, "-c:v", "libx264", "-preset", "ultrafast",
                        first], check=True)
        inputs = [first] + [os.path.join(folder, f"{index}.mp4") for index in range(1, arguments.files)]
        for path in inputs[1:]:
            os.link(first, path)
        output = os.path.join(folder, "out")
        # A Swift program that prints its backtrace goes on after a signal that was sent to it.
        command = [UPRIGHT, "transcode", *inputs, "-o", output, "--reencode", "always", "--jobs", "4", "-q",
                   "--report", "-"]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
        kills = 0
        while run.poll() is None and kills < arguments.files // 2:
            time.sleep(dice.uniform(0.2, 0.8))
            living = children(run.pid)
            if living:
                try:
                    os.kill(dice.choice(living), dice.choice([signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL]))
                    kills += 1
                except ProcessLookupError:
                    pass
        report, errors = run.communicate(timeout=600)
        entries = json.loads(report)
        failed = [entry for entry in entries if "error" in entry]
        complete = [entry for entry in entries if entry.get("output", {}).get("frames") == FRAMES]
        left = [name for name in os.listdir(output) if name.endswith(".part")]
        print(f"batch kills: {kills} kills, {len(failed)} failed, {len(complete)} complete")
        if (len(entries) != arguments.files or len(failed) + len(complete) != arguments.files or len(failed) > kills
                or any(entry["error"]["exit"] != 70 for entry in failed) or left or kills == 0
                or run.returncode != (70 if failed else 0)):
            print(f"batch kills: exit status {run.returncode}, left {left}\n{errors[-2000:]}")
            sys.exit(1)


if __name__ == "__main__":
    main()
