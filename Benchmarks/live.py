#!/usr/bin/env python3
"""Measures from outside what users of the live service notice: `upright serve` and ffmpeg as
publisher over RTMP, all on loopback.

    turns     from POST .../events to the first frame in the new orientation: by the service's metrics
              (from the event's arrival to the encoder's packet), and at the receiver of a UDP output (to
              the last byte of that frame in MPEG-TS with audio, by the kernel's time of arrival)
    sessions  eight of 640x360 at 30 frames per second on one port, without and with two stalled RTMP
              servers as outputs of one session: the frames sent and the frames in the recordings are
              counted, and memory is measured in the middle
    audience  500 HLS players of one session over TLS, with signed URLs, and none: the frames of the recording, the
              times of segments, and the players' responses
    blocked   1000 players of one session with low latency that wait for each part, and none: the frames of the
              recording, and for each part the time from the first answer with it to the others
    whip      a session of 1280x720 at 30 frames per second by WHIP, through Janus, and by RTMP, with the same H.264 stream:
              CPU time and memory of the service
    workers   four sessions of 640x360 at 30 frames per second in a process each, and four in the service's own, at the
              same time: CPU time for a frame, and private memory
    density   sessions of 720p at 30 frames per second on one core, until frames are missing, beside as many processes of
              ffmpeg and pipelines of GStreamer (x264enc is in gstreamer1.0-plugins-ugly): frames, CPU time and memory
    sizing    what a session, and a second of a clip, of 1080p at 30 frames per second cost
    library   a file of 1080p of a library: from the playlist's request to the first picture, and 200 seeks, beside one ffmpeg
              for each seek, as photo and video servers start it
    player    hls.js in Chromium over ten turns with low latency, and the console's preview after a turn
    back      the publisher is killed and restarted: the level of a player's buffer, and every PTS

Prints a table and writes live.json into the given folder (bench). The load is printed beside the figures, to
show whether the machine was idle.
"""
import argparse
import json
import os
import statistics
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from live_service import audience, back, blocked, browsers, density, library, many, running, sizing, turns, whip, workers  # noqa: E402
from rows.row import Row, table  # noqa: E402

INTERVAL = 1000 / 30
STEP = 1.0 / 30


def turn_rows(found):
    name = f"{found['turns']} turns, event to frame"
    bars = {"unit": "ms", "bar": 2 * INTERVAL, "aim": INTERVAL}
    outside = f"at most {found['frames before it, most']} frames before it"
    if found["own median"] is not None:
        yield Row(name, "encoded, median", 1000 * found["own median"], **bars)
        yield Row(name, "encoded, p99", 1000 * found["own p99"], **bars)
    yield Row(name, "received, median", 1000 * found["median"], unit="ms")
    yield Row(name, "received, p99", 1000 * found["p99"], unit="ms", note=outside)


def session_rows(found):
    for case, each in found.items():
        name = f"{many.COUNT} sessions, {case}"
        due = many.COUNT * each["frames sent, each"]
        yield Row(name, "frames sent and not decoded", due - sum(each["frames in"]), unit="", bar=0)
        healthy = each["dropped"][1:] if "stalled" in case else each["dropped"]
        yield Row(name, "frames dropped", sum(sum(d.values()) for d in healthy), unit="", bar=0)
        missing = sum(max(0, each["frames sent, each"] - count)
                      for count in each["frames in the outputs"])
        yield Row(name, "frames missing in the recordings", missing, unit="", bar=0)
        yield Row(name, "longest step of a recording", 1000 * each["longest step"], unit="ms",
                  bar=2 * INTERVAL + 1)
        yield Row(name, "latest segment of 2 s", each["latest segment"], unit="s",
                  note="from one file to the next, at most")
        yield Row(name, "RSS a session", each["RSS each"], unit="MiB", bar=20,
                  note=f"idle {each['idle RSS']:.0f} MiB, with all {each['RSS']:.0f}")
        yield Row(name, "PSS a session", each["PSS each"], unit="MiB", bar=20)
        yield Row(name, "cores", each["cores used"], unit="",
                  note=f"{each['threads']} threads, load {each['load']:.1f}")


def back_rows(found):
    for each in found:
        name = f"publisher away for {each['gap']} s"
        yield Row(name, "longest step", 1000 * each["longest step"], unit="ms", bar=2 * INTERVAL + 1,
                  note=f"shortest {1000 * each['shortest step']:.0f} ms")
        yield Row(name, "stock of the player, at least", each["least ahead"], unit="s", bar=0.001,
                  at_least=True, note="; ".join(each["faults"]) or "no fault")


def recording_rows(name, each):
    missing = each["frames sent"] - min(each["frames in"], each["frames in the recording"])
    yield Row(name, "frames missing in the recording", missing, unit="", bar=0)
    yield Row(name, "frames dropped", sum(each["dropped"].values()), unit="", bar=0)
    yield Row(name, "longest step of the recording", 1000 * each["longest step"], unit="ms",
              bar=2 * INTERVAL + 1)
    yield Row(name, "latest segment of 2 s", each["latest segment"], unit="s",
              note=f"encoding a frame: median below {1000 * each['encode'][0]:.0f} ms, "
              f"p99 below {1000 * each['encode'][1]:.0f} ms")
    yield Row(name, "cores", each["cores used"], unit="", note=f"load {each['load']:.1f}")


def audience_rows(found):
    for case, each in found.items():
        name = f"HLS over TLS, {case}"
        yield from recording_rows(name, each)
        players = each["players"]
        if not players:
            continue
        failed = players["not 200"] + len(players["failures"])
        yield Row(name, "requests that failed", failed, unit="", bar=0,
                  note=f"{players['requests']} requests, {players['MB']:.0f} MB")
        yield Row(name, "segments of a player, fewest", players["fewest segments"], unit="")
        yield Row(name, "response, median", 1000 * players["median"], unit="ms")
        yield Row(name, "response, p99", 1000 * players["p99"], unit="ms",
                  note=f"longest {1000 * players['longest']:.0f} ms")


def blocked_rows(found):
    for case, each in found.items():
        name = f"HLS with parts, {case}"
        yield from recording_rows(name, each)
        players = each["players"]
        if not players:
            continue
        yield Row(name, "players that failed", players["failed"], unit="", bar=0,
                  note=players["failure"] or f"{players['answers']} answers, {players['MB']:.0f} MB")
        yield Row(name, "parts that all players got", players["parts"], unit="", bar=1, at_least=True)
        yield Row(name, "after the first player, median", 1000 * players["median"], unit="ms")
        yield Row(name, "after the first player, p99", 1000 * players["p99"], unit="ms", bar=50,
                  note=f"longest {1000 * players['longest']:.0f} ms")
        yield Row(name, "CPU of an answer, with the session's", 1e6 * players["CPU of an answer"],
                  unit="us")


def whip_rows(found):
    name, other = "a session by WHIP, 720p at 30 frames per second", "the same H.264 by RTMP"
    one, two = found["whip"], found["rtmp"]
    yield Row(name, other, found["cpu ratio"], bar=1.1, ours=one["cpu"], theirs=two["cpu"],
              measured="ms of CPU per s", note=f"Janus {found['Janus cpu']:.0f}")
    yield Row(name, other, found["memory ratio"], bar=1.1, ours=one["memory"], theirs=two["memory"],
              measured="MiB", note=f"Janus {found['Janus memory']:.0f}")
    yield Row(name, "frames in a second", one["rate"], unit="", bar=29, at_least=True,
              note=f"by RTMP {two['rate']:.1f}; dropped {one['dropped']:.0f} and {two['dropped']:.0f}")


def worker_rows(found):
    name = f"{found['sessions']} sessions, a process each"
    yield Row(name, "CPU time beside one process", found["ratio"], unit="times", bar=1.05,
              note=f"{found['spent'][1]:.1f} and {found['spent'][0]:.1f} s in {found['seconds']} s, load {found['load']:.1f}")
    yield Row(name, "private memory a process, median", found["private"], unit="MiB", bar=32)
    yield Row(name, "frames dropped", sum(found["dropped"]), unit="", bar=0)


def density_rows(found):
    for kind, runs in found.items():
        name = f"720p30 on a core, {kind}"
        yield Row(name, "streams of which no frame is missing", density.knee(runs), unit="")
        for each in runs:
            yield Row(name, f"CPU of a frame, streams: {each['count']}", 1000 * each["CPU of a frame"], unit="ms",
                      note=f"{each['cores']:.2f} cores, {100 * each['frames']:.0f} % of the frames, "
                      f"PSS {each['PSS each']:.0f} MiB a stream, load {each['load']:.1f}")


def sizing_rows(found):
    for size, each in found.items():
        one, clip = each["session"], each["clip"]
        yield Row(f"a session of 1080p30 to {size}", "cores", one["cores"], unit="",
                  note=f"{3600 * one['written'] / 1e9:.1f} GB an hour written, {one['dropped']} frames dropped")
        yield Row(f"an hour of 1080p30 to {size}", "hours of a core", clip["cores"], unit="",
                  note=f"{3600 * clip['read'] / 1e9:.1f} GB read, {3600 * clip['written'] / 1e9:.1f} GB written")


def library_rows(found):
    other, against = statistics.median(found["others"]), "one ffmpeg for each seek"
    for name, value, bar in [
            ("a library's 1080p that is turned: the first picture", found["first"], 0.4),
            ("a seek in it, p50", statistics.median(found["seeks"]), 0.4),
            ("a seek in it, p99", found["seeks"][len(found["seeks"]) * 99 // 100], 1),
            ("the first picture of one that needs no turn", found["plain"], 0.05)]:
        yield Row(name, against, value, unit="s", bar=bar, note=f"{value / other:.2f} of {other:.2f} s, the median of ffmpeg's")


def player_rows(found):
    name = "low latency over ten turns, hls.js " + found["hls.js"]
    yield Row(name, "behind the clock, median", found["median"], unit="s", bar=2)
    yield Row(name, "behind the clock, p99", found["p99"], unit="s", bar=2.5)
    yield Row(name, "stalls", found["stalls"], unit="", bar=0)
    if found["turns"]:
        yield Row("the console's drawn phone", "click to turned pixels, fastest of three", found["turns"][0],
                  unit="s", bar=1.334, note=f"slowest {found['turns'][-1]} s")


GROUPS = {"turns": (turns.measure, turn_rows), "sessions": (many.measure, session_rows),
          "audience": (audience.measure, audience_rows), "blocked": (blocked.measure, blocked_rows),
          "whip": (whip.measure, whip_rows), "sizing": (sizing.measure, sizing_rows),
          "density": (density.measure, density_rows), "library": (library.measure, library_rows), "workers": (workers.measure, worker_rows),
          "player": (browsers.measure, player_rows), "back": (back.measure, back_rows)}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=GROUPS)
    parser.add_argument("--results", default=os.path.join(running.ROOT, "bench"))
    arguments = parser.parse_args()
    os.makedirs(arguments.results, exist_ok=True)
    about, found, rows = running.machine(), {}, []
    with tempfile.TemporaryDirectory() as scratch:
        for name, (measure, present) in GROUPS.items():
            if arguments.only in (None, name):
                found[name] = measure(scratch)
                rows += present(found[name])
    about["load after"] = os.getloadavg()[0]
    print(table(rows))
    print(about)
    with open(os.path.join(arguments.results, "live.json"), "w") as file:
        json.dump({"machine": about, **found, "rows": [row.json() for row in rows]}, file, indent=2)
    missed = [row for row in rows if row.verdict == "over" or row.at_least and not row.meets(row.bar)]
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
