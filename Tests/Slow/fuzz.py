#!/usr/bin/env python3
"""Runs the command line with damaged media files, events and policies. Every run must end with a documented
exit status, and leave no temporary files. The seed is printed; UPRIGHT_SEED repeats a run."""
import argparse
import glob
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UPRIGHT = os.environ.get("UPRIGHT") or os.path.join(ROOT, ".build/release/upright")
CLIPS = os.path.join(ROOT, "Samples/clips")
KNOWN = {0, 64, 65, 66, 69, 73, 74}


def damage(data, random):
    """Returns `data` with a few ranges changed, removed or repeated."""
    data = bytearray(data)
    for _ in range(random.randint(1, 12)):
        if not data:
            break
        at = random.randrange(len(data))
        length = random.choice([1, 2, 4, 16, 256, 4096])
        kind = random.randrange(5)
        if kind == 0:
            data[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            data[at:at + length] = bytes(random.randrange(256) for _ in range(min(length, 256)))
        elif kind == 2:
            del data[at:at + length]
        elif kind == 3:
            data[at:at] = data[at:at + length]
        elif random.random() < 0.2:
            del data[at:]
    return bytes(data)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    arguments = parser.parse_args()
    seed = int(os.environ.get("UPRIGHT_SEED") or int.from_bytes(os.urandom(4), "big"))
    print(f"fuzz: UPRIGHT_SEED={seed}, {arguments.runs} runs")
    dice = random.Random(seed)
    events = open(os.path.join(CLIPS, "turning-sensor.jsonl"), "rb").read()
    policies = [open(path, "rb").read() for path in glob.glob(os.path.join(ROOT, "Samples/policies/*.json"))]
    clips = sorted(glob.glob(os.path.join(CLIPS, "*.mp4")))
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        short = []
        for index, clip in enumerate(clips):
            # Half a second is enough, in each of three containers.
            for extension in ["mp4", "ts", "flv"]:
                path = os.path.join(folder, f"seed{index}.{extension}")
                subprocess.run(
                    ["ffmpeg", "-v", "error", "-i", clip, "-t", "0.5", "-c", "copy", path], check=True)
                short.append(open(path, "rb").read())
                os.remove(path)
        for number in range(arguments.runs):
            source = os.path.join(folder, "in.bin")
            lines = os.path.join(folder, "in.jsonl")
            policy = os.path.join(folder, "in.json")
            kind = dice.randrange(4)
            clip = dice.choice(short)
            open(source, "wb").write(damage(clip, dice) if kind < 2 else clip)
            open(lines, "wb").write(damage(events, dice) if kind == 2 else events)
            open(policy, "wb").write(
                damage(dice.choice(policies), dice) if kind == 3 and policies else b"{}")
            output = os.path.join(folder, "out." + dice.choice(["mp4", "m3u8", "ts", "flv", "y4m", "mkv"]))
            command = [UPRIGHT, "transcode", source, "--frames", dice.choice(["sensor", "metadata"]),
                       "--events", lines, "--policy", policy, "--size", "180x320", "--speed", "ultrafast",
                       "-q", "-y", "-o", output]
            try:
                done = subprocess.run(command, capture_output=True, timeout=120)
                status = done.returncode
            except subprocess.TimeoutExpired:
                status = "no end"
            counts[status] = counts.get(status, 0) + 1
            left = [name for name in os.listdir(folder) if name.endswith(".part")]
            if status not in KNOWN or left:
                keep = f"fuzz-{seed}-{number}.bin"
                os.replace(source, keep)
                print(f"fuzz: run {number}: status {status}, left {left}; kept as {keep}")
                print("  " + " ".join(command))
                if status != "no end":
                    print("  " + done.stderr.decode(errors="replace")[-2000:])
                sys.exit(1)
    print("fuzz: " + ", ".join(f"{count} times {status}" for status, count in sorted(counts.items(), key=str)))


if __name__ == "__main__":
    main()
