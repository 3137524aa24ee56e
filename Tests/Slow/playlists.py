#!/usr/bin/env python3
"""Runs the command line with random HLS playlists: multivariant ones with renditions, media playlists, and mixtures,
that refer to each other and to real segments. libavformat crashes with some that are nearly valid. Every run must end
with a documented exit status, within 30 s. The seed is printed; UPRIGHT_SEED repeats a run."""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UPRIGHT = os.environ.get("UPRIGHT") or os.path.join(ROOT, ".build/release/upright")
KNOWN = {0, 64, 65, 66, 69, 73, 74}
LISTS = 4


def media(dice):
    """Returns the lines of a media playlist."""
    some = lambda share: dice.random() < share
    lines = []
    if some(0.9):
        lines.append(f"#EXT-X-TARGETDURATION:{dice.choice([0, 1, 6, 99999999999])}")
    if some(0.2):
        lines.append(f"#EXT-X-MEDIA-SEQUENCE:{dice.choice(['0', '5', '-3', '9' * 19])}")
    if some(0.2):
        lines.append(f"#EXT-X-PLAYLIST-TYPE:{dice.choice(['VOD', 'EVENT'])}")
    fragments = some(0.4)
    if fragments and some(0.8):
        span = dice.choice(["", "", ',BYTERANGE="10@0"', ',BYTERANGE="99999999999@5"'])
        lines.append(f'#EXT-X-MAP:URI="{dice.choice(["init.mp4", "init.mp4", "a.ts", "none"])}"{span}')
    for index in range(dice.choice([0, 0, 1, 1, 2, 3, 4])):
        if some(0.15):
            method = dice.choice(["AES-128", "SAMPLE-AES", "NONE", "OTHER"])
            vector = dice.choice(["", ",IV=0x01", ",IV=0x" + "1" * 32])
            key = dice.choice(["key", "key", "none", "a.ts", "0.m3u8"])
            lines.append(f'#EXT-X-KEY:METHOD={method},URI="{key}"{vector}')
        if some(0.1):
            lines.append("#EXT-X-DISCONTINUITY")
        if some(0.1):
            lines.append(f'#EXT-X-MAP:URI="{dice.choice(["init.mp4", "a.ts", "0.m4s"])}"')
        if some(0.1):
            lines.append(f"#EXT-X-BYTERANGE:{dice.choice(['100@0', '5640', '-1@-1', '999999999999999999@1'])}")
        lines.append(f"#EXTINF:{dice.choice(['0.8', '0', '-1', '1e30', 'nan', ''])},")
        others = ["a.ts", "a.ts", "a.ts", "none.ts", "0.m3u8", "init.mp4", "key", "text.vtt"]
        lines.append(f"{index % 2}.m4s" if fragments else dice.choice(others))
        if some(0.05):
            lines.append("#EXT-X-STREAM-INF:BANDWIDTH=1")
    if some(0.6):
        lines.append("#EXT-X-ENDLIST")
    return lines


def multivariant(dice):
    """Returns the lines of a multivariant playlist."""
    place = lambda: dice.choice([f"{dice.randrange(LISTS)}.m3u8"] * 6 + ["in.m3u8", "a.ts", "none.m3u8"])
    lines = []
    for index in range(dice.choice([0, 1, 1, 2, 3])):
        kind = dice.choice(["AUDIO", "AUDIO", "VIDEO", "SUBTITLES", "CLOSED-CAPTIONS"])
        uri = dice.choice([f',URI="{place()}"'] * 5 + ["", ',URI=""'])
        more = dice.choice(["", ",DEFAULT=YES", ',LANGUAGE="en"'])
        lines.append(f'#EXT-X-MEDIA:TYPE={kind},GROUP-ID="{dice.choice("ab")}",NAME="{index}"{more}{uri}')
    for _ in range(dice.choice([0, 1, 1, 2, 3])):
        groups = "".join(f',{kind}="{dice.choice("abc")}"' for kind in ["AUDIO", "VIDEO", "SUBTITLES"]
                         if dice.random() < 0.4)
        lines.append(f"#EXT-X-STREAM-INF:BANDWIDTH={dice.choice(['1', '0', '-5', '999999999999'])}{groups}")
        if dice.random() < 0.9:
            lines.append(place())
    if dice.random() < 0.1:
        lines += media(dice)
    if dice.random() < 0.2:
        dice.shuffle(lines)
    return lines


def write(path, lines, dice):
    with open(path, "w") as file:
        file.write("\n".join(["#EXTM3U"] + lines) + ("\n" if dice.random() < 0.9 else ""))


def segments(folder):
    """Makes a.ts, and init.mp4 with 0.m4s and 1.m4s, all with video and audio, and a key."""
    source = ["-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=1", "-f", "lavfi", "-i", "sine=d=1:r=48000"]
    run = lambda *words: subprocess.run(["ffmpeg", "-v", "error", *words], check=True, cwd=folder)
    run(*source, "-c:v", "libx264", "-g", "5", "-c:a", "aac", "a.ts")
    run(*source, "-c:v", "libx264", "-g", "5", "-c:a", "aac", "-f", "hls", "-hls_segment_type", "fmp4", "-hls_time",
        "0.5", "-hls_fmp4_init_filename", "init.mp4", "-hls_segment_filename", "%d.m4s", "made.m3u8")
    open(os.path.join(folder, "key"), "wb").write(bytes(range(16)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    arguments = parser.parse_args()
    seed = int(os.environ.get("UPRIGHT_SEED") or int.from_bytes(os.urandom(4), "big"))
    print(f"playlists: UPRIGHT_SEED={seed}, {arguments.runs} runs")
    dice = random.Random(seed)
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        segments(folder)
        source, output = os.path.join(folder, "in.m3u8"), os.path.join(folder, "out.mp4")
        for number in range(arguments.runs):
            for index in range(LISTS):
                kind = media if dice.random() < 0.85 else multivariant
                write(os.path.join(folder, f"{index}.m3u8"), kind(dice), dice)
            write(source, multivariant(dice) if dice.random() < 0.7 else media(dice), dice)
            command = dice.choice([["probe", source], ["transcode", source, "-q", "-y", "-o", output]])
            try:
                done = subprocess.run([UPRIGHT] + command, capture_output=True, timeout=30)
                status = done.returncode
            except subprocess.TimeoutExpired:
                status = "no end"
            counts[status] = counts.get(status, 0) + 1
            if status not in KNOWN:
                keep = f"playlists-{seed}-{number}"
                shutil.copytree(folder, keep)
                print(f"playlists: run {number}: {command[0]} ended with {status}; kept as {keep}")
                sys.exit(1)
    print("playlists: " + ", ".join(f"{count} times {status}" for status, count in sorted(counts.items(), key=str)))


if __name__ == "__main__":
    main()
