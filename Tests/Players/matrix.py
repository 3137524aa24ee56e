#!/usr/bin/env python3
"""Plays outputs that turn in players, and prints a table of what is on the screen.

    matrix.py [--seeks N] [--players vlc,mpv,...] [--outputs NAME,...]

The outputs are made from Samples/clips/turning-sensor.mp4, which turns at frames 100 and 200 of 300. A cell says `ok`, what is
wrong, or `not tried` for a player that isn't installed. With --seeks, each player is also started at N places, and the cell
says by how many frames the first picture is off at most. Takes 15 s a cell, and 5 s a seek. UPRIGHT is the program.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CLIPS = ROOT / "Samples" / "clips"
UPRIGHT = os.environ.get("UPRIGHT") or ROOT / ".build/release/upright"
FRAMES, TURNS, RATE = 300, (100, 200), 30
PLAYERS = ["vlc", "mpv", "ffplay", "gstreamer", "chromium"]
OUTPUTS = {
    "HLS": ("out.m3u8", []),
    "HLS of TS": ("out.m3u8", ["--hls-segments", "ts"]),
    "TS": ("out.ts", []),
    "FLV": ("out.flv", []),
    "MP4": ("out.mp4", []),
    "MOV": ("out.mov", []),
}


def make(folder, name, options):
    folder.mkdir()
    subprocess.run([UPRIGHT, "transcode", CLIPS / "turning-sensor.mp4", "-q", "--frames", "sensor", "--canvas", "follow", "--events",
                    CLIPS / "turning-sensor.jsonl", "--size", "360x640", *options, "-o", folder / name], check=True)
    folder.chmod(0o755)
    return folder / name


def run(script, *words):
    done = subprocess.run([sys.executable, HERE / script, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return None if done.returncode == 77 else json.loads(done.stdout)


def screen(player, path, seeks):
    shown = run("screen_play.py", player, path)
    if shown is None:
        return "not tried"
    numbers, wrong = shown["numbers"], []
    if not numbers:
        return "no picture"
    if numbers[-1] < FRAMES - 15:
        wrong.append("ends at %.1f s" % (numbers[-1] / RATE))
    shapes = [turn["shape"] for turn in shown["turns"]]
    if shapes != ["tall", "wide", "tall"][:1 + sum(numbers[-1] >= at for at in TURNS)]:
        wrong.append("shapes: " + ", ".join(shapes))
    if shown["unread"] > 10:
        wrong.append("%d pictures squeezed or torn" % shown["unread"])
    if shown["longest"] > 0.5:
        wrong.append("stands %.1f s" % shown["longest"])
    wrong += seeking(player, path, seeks)
    return ", ".join(wrong) or "ok"


def seeking(player, path, seeks):
    worst = 0
    for place in range(seeks):
        at = (place + 0.5) * FRAMES / RATE / seeks
        numbers = run("screen_play.py", player, path, "--seek", at, "--seconds", 4)["numbers"]
        if not numbers:
            return ["no picture after a seek to %.1f s" % at]
        worst = max(worst, abs(numbers[0] - round(at * RATE)))
    # A picture is on the screen for a moment before it is recorded.
    return ["seeks %d frames off" % worst] if worst > 5 else []


def gstreamer(path):
    shown = run("gst_play.py", path)
    if shown is None:
        return "not tried"
    if shown["error"] or shown["frames"] != FRAMES:
        return shown["error"] or "%d frames" % shown["frames"]
    widths = [size["width"] for size in shown["sizes"]]
    return "ok" if widths == [360, 640, 360] else "widths: %s" % widths


def chromium(path):
    shown = run("chromium_play.py", path.parent, path.name)
    if shown is None:
        return "not tried"
    if shown["error"]:
        return shown["error"].splitlines()[0]
    widths = [size["width"] for size in shown["sizes"]]
    return "ok" if widths == [360, 640, 360] else "widths: %s" % widths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeks", type=int, default=0)
    parser.add_argument("--players", default=",".join(PLAYERS))
    parser.add_argument("--outputs", default=",".join(OUTPUTS))
    arguments = parser.parse_args()
    players = arguments.players.split(",")
    print("| output | " + " | ".join(players) + " |\n|---" + "|---" * len(players) + "|")
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        for number, title in enumerate(arguments.outputs.split(",")):
            path = make(pathlib.Path(scratch) / str(number), *OUTPUTS[title])
            cells = []
            for player in players:
                plays = {"gstreamer": gstreamer, "chromium": chromium}.get(player)
                cells.append(plays(path) if plays else screen(player, path, arguments.seeks))
            print("| %s | %s |" % (title, " | ".join(cells)), flush=True)


if __name__ == "__main__":
    main()
