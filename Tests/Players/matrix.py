#!/usr/bin/env python3
"""Plays outputs that turn in players, and prints a table of what is on the screen.

    matrix.py [--live] [--seeks N] [--at-once N] [--players vlc,mpv,...] [--outputs NAME,...] [--keep FOLDER]

The outputs are made from a clip of 33 s in which a phone is turned twelve times (make-samples.sh --turns). A cell says `ok`,
what is wrong, or `not tried` for a player that isn't installed. With --seeks, each player is also sent to N places while it
plays, and the cell says by how many frames the first pictures there are off: the middle and the largest. With --live, the
outputs are playlists of a live session, published by RTMP and turned by events. Takes a minute a cell, two with seeks; with
--at-once, N cells are played at the same time. --keep leaves the results as JSON there, with pictures of each turn. UPRIGHT is
the program.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from turning_stream import Stream

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
UPRIGHT = os.environ.get("UPRIGHT") or ROOT / ".build/release/upright"
FRAMES, TURNS, RATE = 1000, range(330, 990, 55), 30
PLAYERS = ["vlc", "mpv", "ffplay", "playbin", "playbin3", "chromium", "firefox", "chromium-hls.js", "firefox-hls.js"]
OUTPUTS = {
    "HLS": ("out.m3u8", []),
    "HLS of TS": ("out.m3u8", ["--hls-segments", "ts"]),
    "TS": ("out.ts", []),
    "FLV": ("out.flv", []),
    "MP4": ("out.mp4", []),
    "MOV": ("out.mov", []),
}
STREAMS = {"HLS": {}, "LL-HLS": {"latency": "low"}, "HLS of TS": {"segments": "ts"}}


def make(clips, folder, name, options):
    folder.mkdir()
    subprocess.run([UPRIGHT, "transcode", clips / "turns.mp4", "-q", "--frames", "sensor", "--canvas", "follow", "--events",
                    clips / "turns.jsonl", "--size", "360x640", *options, "-o", folder / name], check=True)
    folder.chmod(0o755)
    return str(folder / name)


def watch(player, source, title, keep, *words):
    """Returns what a player has shown, or None if it isn't installed."""
    name = "%s in %s%s" % (title, player, words[0] if words else "")
    pictures = ["--pictures", keep / name] if keep else []
    done = subprocess.run([sys.executable, HERE / "screen_play.py", player, source, "--seconds", "42", *pictures, *words],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if not done.stdout:
        raise RuntimeError(done.stderr.decode(errors="replace").strip().split("\n")[-1])
    if keep:
        (keep / (name + ".json")).write_bytes(done.stdout)
    return None if done.returncode == 77 else json.loads(done.stdout)


def faults(shown):
    """Returns what is wrong with what a player has shown."""
    numbers, wrong = shown["numbers"], []
    if not numbers:
        return ["no picture"]
    if numbers[-1] < FRAMES - 30:
        wrong.append("ends at %.1f s" % (numbers[-1] / RATE))
    turns = shown["turns"][1:]
    expected = ["wide" if index % 2 == 0 else "tall" for index, at in enumerate(TURNS) if numbers[0] < at <= numbers[-1]]
    if [turn["shape"] for turn in turns] != expected[-len(turns):] or len(turns) != len(expected):
        wrong.append("%d of %d turns" % (len(turns), len(expected)))
    # A window needs up to 0.2 s to take a new shape.
    if shown["unread"] > 6 * len(turns) + 10:
        wrong.append("%d pictures squeezed or torn" % shown["unread"])
    if shown["black"] > 6 * len(turns) + 10:
        wrong.append("%.1f s black at a turn" % (shown["black"] / RATE / len(turns)))
    late = [turn["later"] for turn in turns if turn["later"] is not None]
    if late and abs(statistics.median(late)) > 0.15:
        middle = statistics.median(late)
        wrong.append("%.1f s %s at a turn" % (abs(middle), "lost" if middle < 0 else "late"))
    if shown["longest"] > 0.5:
        wrong.append("stands %.1f s" % shown["longest"])
    return wrong


def seeking(player, source, title, keep, count):
    """Returns how far off seeks to places in an order that goes back and forth are."""
    places = [(index * 7 % count + 0.5) * 30 / count for index in range(count)]
    if player == "ffplay":  # it has no remote control
        shown = [watch(player, source, title, None, "--seek", str(at), "--seconds", "6")["numbers"] for at in places[::4]]
        offs = [numbers[0] - round(at * RATE) if numbers else None for at, numbers in zip(places[::4], shown)]
    else:
        shown = watch(player, source, title, keep, "--seeks", ",".join(map(str, places)), "--every", "5" if player == "vlc" else "2")
        offs = [seek["off"] for seek in shown.get("seeks", [])] or [None]
    found = [off for off in offs if off is not None]
    said = ["%d of %d seeks show nothing" % (len(offs) - len(found), len(offs))] if len(found) < len(offs) else []
    return said + (["seeks %+d frames off, %+d at most" % (statistics.median_low(found), max(found, key=abs))] if found else [])


def cell(player, source, title, keep, seeks=0):
    if player.endswith("-hls.js") and not source.endswith(".m3u8"):
        return ""
    shown = watch(player, source, title, keep)
    if shown is None:
        return "not tried"
    wrong = faults(shown)
    return "; ".join([", ".join(wrong) or "ok"] + (seeking(player, source, title, keep, seeks) if seeks and shown["numbers"] else []))


def text(future):
    """Returns the text of a cell. A cell that can't be made doesn't cost the others."""
    error = future.exception()
    return "failed: %s" % error if error else future.result()


def live(player, clips, title, keep):
    with Stream(UPRIGHT, clips / "turns.mp4", clips / "turns.jsonl", **STREAMS[title]) as stream:
        return cell(player, stream.url, "live " + title, keep)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--seeks", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--players", default=",".join(PLAYERS))
    parser.add_argument("--outputs")
    parser.add_argument("--keep", type=pathlib.Path)
    arguments = parser.parse_args()
    kinds = STREAMS if arguments.live else OUTPUTS
    players = arguments.players.split(",")
    if arguments.keep:
        arguments.keep.mkdir(parents=True, exist_ok=True)
    print("| output | " + " | ".join(players) + " |\n|---" + "|---" * len(players) + "|")
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)
        clips = pathlib.Path(scratch) / "clips"
        subprocess.run([ROOT / "Samples/make-samples.sh", "--turns", clips], check=True)
        titles = (arguments.outputs or ",".join(kinds)).split(",")
        paths = {} if arguments.live else {title: make(clips, pathlib.Path(scratch) / title, *OUTPUTS[title]) for title in titles}
        with concurrent.futures.ThreadPoolExecutor(arguments.at_once) as pool:
            rows = [[pool.submit(live, player, clips, title, arguments.keep) if arguments.live else
                     pool.submit(cell, player, paths[title], title, arguments.keep, arguments.seeks) for player in players]
                    for title in titles]
            for title, row in zip(titles, rows):
                print("| %s | %s |" % (title, " | ".join(text(each) for each in row)), flush=True)


if __name__ == "__main__":
    main()
