#!/usr/bin/env python3
"""Decodes a file with FFmpeg and reads the frame numbers of the sample files (see Samples/README.md).

    ffmpeg_play.py FILE [--stored] [--timeout S]

Prints one JSON object. Times are PTS in seconds:
    ended, error      whether it was decoded to the end without an error; FFmpeg's first error, or null
    frames            the number of decoded frames
    times             the time of each frame
    numbers           the number read in each frame, or null if it can't be read
    sizes             [{"frame", "at", "width", "height"}]: the first frame's size, then each change
    lies              [{"frame", "at", "orientation"}]: the orientation of the frame, 1...8 as in EXIF (1 upright, 6 must
                      be turned 90 degrees clockwise, ...), then each change
    lost, repeated, unordered    the missing numbers between the first and the last, the numbers that occur more than
                      once, and how often a number was followed by a lower one
    backwards         the number of frames whose time isn't after that of the frame before
    errors            FFmpeg's error messages

The display matrix is applied, as by a player; --stored ignores it.

Exit code: 0 decoded to the end, 1 not, 77 FFmpeg is missing. The caller checks the numbers.
"""

import argparse
import collections
import json
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading

PLAYED, FAILED, MISSING = 0, 1, 77
SIDE = 720  # every frame is fitted into a square of this side
INFO = re.compile(r"\] n: *\d+ pts: *(\S+) pts_time:\S+ .*? s:(\d+)x(\d+) ")
BASE = re.compile(r"config in time_base: (\d+)/(\d+)")
# EXIF orientation to the directions of the scene's right and down in the stored frame (x right, y down).
AXES = {1: ((1, 0), (0, 1)), 2: ((-1, 0), (0, 1)), 3: ((-1, 0), (0, -1)), 4: ((1, 0), (0, -1)),
        5: ((0, 1), (1, 0)), 6: ((0, -1), (1, 0)), 7: ((0, -1), (-1, 0)), 8: ((0, 1), (-1, 0))}
# The short side of the scene in a canvas of 16:9 or 9:16, as a fraction of the canvas's short side: with the same shape,
# fitted into the other shape, filling the other shape.
SCALES = (1.0, 9 / 16, 16 / 9)


def read_number(luma, width, height, orientation, scale):
    """Returns the number in a frame of width x height centred in the square, or None if it hasn't this orientation."""
    unit = min(width, height) * scale / 720
    (rx, ry), (dx, dy) = AXES[orientation]

    def square(place, row):
        """Returns the mean of the 3x3 pixels around the centre of a square, or None outside of the frame."""
        right, down = (place - 4.5) * 56 * unit, row * 28 * unit
        x, y = right * rx + down * dx, right * ry + down * dy
        if abs(x) > width / 2 - 2 or abs(y) > height / 2 - 2:
            return None
        x, y = int(SIDE / 2 + x), int(SIDE / 2 + y)
        return sum(sum(luma[(y + i) * SIDE + x - 1:(y + i) * SIDE + x + 2]) for i in (-1, 0, 1)) / 9

    def contrast(place):
        above, below = square(place, -1), square(place, 1)
        return None if above is None or below is None else above - below

    mark, empty = contrast(-1), contrast(10)
    if mark is None or mark < 100 or (empty is not None and abs(empty) > 30):
        return None
    number = 0
    for place in range(10):
        bit = contrast(place)
        if bit is None or abs(bit) < 100:
            return None
        number = 2 * number + (bit > 0)
    return number


def read_any(luma, size, guess):
    """Returns the number and its (orientation, scale), trying those of the frame before first."""
    fit = SIDE / max(size)
    width, height = size[0] * fit, size[1] * fit
    for orientation, scale in ([guess] if guess else []) + [(o, s) for s in SCALES for o in AXES]:
        number = read_number(luma, width, height, orientation, scale)
        if number is not None:
            return number, (orientation, scale)
    return None, None


def decode(path, stored, timeout, frame):
    """Calls frame(luma, time, width, height) for each frame. Returns the exit code (None: timeout) and FFmpeg's errors."""
    # Scaled in the filter graph, because ffmpeg's automatic scaling would stretch every frame to the first one's size.
    graph = ("showinfo,scale=%d:%d:force_original_aspect_ratio=decrease:flags=area,setsar=1,"
             "pad=%d:%d:-1:-1,format=gray") % ((SIDE,) * 4)
    command = ["ffmpeg", "-nostdin", "-hide_banner", "-nostats", "-v", "level+info"]
    command += ["-noautorotate"] if stored else []
    command += ["-copyts", "-i", path, "-map", "v:0", "-vf", graph, "-fps_mode", "passthrough", "-f", "rawvideo", "-"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    infos, errors, late = queue.Queue(), [], threading.Event()

    def listen():
        tick = 0.0
        for line in process.stderr:
            line = line.decode(errors="replace").rstrip()
            if match := INFO.search(line):  # the time is computed, because pts_time has only six digits
                at = None if match[1] == "NOPTS" else round(int(match[1]) * tick, 6)
                infos.put((at, int(match[2]), int(match[3])))
            elif match := BASE.search(line):
                tick = int(match[1]) / int(match[2])
            elif ("[error]" in line or "[fatal]" in line) and not line.startswith("[rawvideo @"):
                # Errors of this script's output about timestamps are left out: "backwards" counts them.
                errors.append(line)

    def end():
        late.set()
        process.kill()

    listener, timer = threading.Thread(target=listen, daemon=True), threading.Timer(timeout, end)
    listener.start()
    timer.start()
    try:
        while len(luma := process.stdout.read(SIDE * SIDE)) == SIDE * SIDE:
            frame(luma, *infos.get(timeout=timeout))  # the line about a frame is written before the frame
        code = process.wait()
        listener.join()
    finally:
        timer.cancel()
        if process.poll() is None:
            process.kill()
            process.wait()
    return None if late.is_set() else code, errors


class Film:
    """The results, frame by frame."""

    def __init__(self):
        self.times, self.numbers, self.sizes, self.lies, self.guess = [], [], [], [], None

    def frame(self, luma, at, width, height):
        index = len(self.times)
        self.times.append(at)
        number, self.guess = read_any(luma, (width, height), self.guess)
        self.numbers.append(number)
        self.change(self.sizes, index, at, {"width": width, "height": height})
        self.change(self.lies, index, at, {"orientation": self.guess[0] if self.guess else None})

    @staticmethod
    def change(changes, index, at, values):
        if not changes or any(changes[-1][key] != value for key, value in values.items()):
            changes.append({"frame": index, "at": at, **values})

    def result(self):
        read = [number for number in self.numbers if number is not None]
        seen = collections.Counter(read)
        return {
            "frames": len(self.times), "times": self.times, "numbers": self.numbers, "sizes": self.sizes, "lies": self.lies,
            "lost": sorted(set(range(min(read), max(read) + 1)) - set(read)) if read else [],
            "repeated": sorted(number for number, times in seen.items() if times > 1),
            "unordered": sum(b < a for a, b in zip(read, read[1:])),
            "backwards": sum(None not in pair and pair[1] <= pair[0] for pair in zip(self.times, self.times[1:])),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("input", metavar="FILE")
    parser.add_argument("--stored", action="store_true", help="ignore the display matrix")
    parser.add_argument("--timeout", type=float, default=120, metavar="S", help="give up after S seconds (120)")
    options = parser.parse_args()
    if not shutil.which("ffmpeg"):
        print(json.dumps({"ended": False, "error": "ffmpeg is missing"}))
        return MISSING
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(FAILED))
    film = Film()
    code, errors = decode(options.input, options.stored, options.timeout, film.frame)
    error = errors[0] if errors else None
    if code is None:
        error = "timeout after %g s" % options.timeout
    elif code and not error:
        error = "ffmpeg ended with %d" % code
    elif not film.times and not error:
        error = "no video"
    print(json.dumps({"ended": code == 0, "error": error, **film.result(), "errors": errors}))
    return PLAYED if code == 0 and not error else FAILED


if __name__ == "__main__":
    sys.exit(main())
