#!/usr/bin/env python3
"""Draws the scene of the console's sample, as a phone's sensor delivers it, and writes the four streams that the service repeats.

    sample_scene.py [FOLDER]        default: Service/Sources/Console/Sample

The scene lasts eight seconds: a house, a sun, a clock whose hand goes round once, and the seconds in digits. It is drawn for a tall and for a
wide view. `portrait.flv`, `portraitUpsideDown.flv`, `landscapeLeft.flv` and `landscapeRight.flv` have it as it lies on the sensor of a phone that
is held in that orientation. All have the same size, frame rate and parameter sets, and a keyframe each fifth of a second, where the service
may pass from one to another. `portrait.flv` has the sound too: a tick each second over a quiet chord.

Needs ffmpeg with libx264, and NumPy.
"""

import math
import subprocess
import sys
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

Frame = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
Colour = tuple[int, int, int]

SECONDS, RATE, GROUP, AUDIO_RATE = 8, 25, 5, 48000
LONG, SHORT = 640, 360
# How often each view is turned counter-clockwise by 90 degrees to lie as the sensor delivers it.
STREAMS = {"portrait": (False, 1), "landscapeLeft": (True, 0), "portraitUpsideDown": (False, 3), "landscapeRight": (True, 2)}
# The segments of a digit: top, upper left, upper right, middle, lower left, lower right, bottom.
DIGITS = ["1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011"]


class View:
    """A picture that is drawn shape by shape."""

    def __init__(self, width: int, height: int) -> None:
        self.pixels: Frame = np.zeros((height, width, 3), np.uint8)
        self.y, self.x = np.mgrid[0:height, 0:width].astype(np.float64)

    def fill(self, mask: Mask, colour: Colour) -> None:
        self.pixels[mask] = colour

    def box(self, left: float, top: float, width: float, height: float, colour: Colour) -> None:
        self.fill((self.x >= left) & (self.x < left + width) & (self.y >= top) & (self.y < top + height), colour)

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        self.fill((self.x - x) ** 2 + (self.y - y) ** 2 < radius ** 2, colour)

    def polygon(self, points: list[tuple[float, float]], colour: Colour) -> None:
        """Fills a convex polygon, whose points go clockwise."""
        mask = np.ones(self.x.shape, np.bool_)
        for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
            mask &= (x1 - x0) * (self.y - y0) - (y1 - y0) * (self.x - x0) >= 0
        self.fill(mask, colour)

    def hand(self, x: float, y: float, turn: float, length: float, width: float, colour: Colour) -> None:
        """Draws a clock's hand at a part of a clockwise turn from the top."""
        dx, dy = math.sin(2 * math.pi * turn), -math.cos(2 * math.pi * turn)
        along = (self.x - x) * dx + (self.y - y) * dy
        across = np.abs((self.x - x) * dy - (self.y - y) * dx)
        self.fill((along > -4) & (along < length) & (across < width), colour)

    def digit(self, value: int, left: float, top: float, size: float, colour: Colour) -> None:
        thick, wide = size / 7, size / 2
        places = [(0, 0, wide, thick), (0, 0, thick, size / 2), (wide - thick, 0, thick, size / 2), (0, size / 2 - thick / 2, wide, thick),
                  (0, size / 2, thick, size / 2), (wide - thick, size / 2, thick, size / 2), (0, size - thick, wide, thick)]
        for lit, (x, y, width, height) in zip(DIGITS[value], places):
            if lit == "1":
                self.box(left + x, top + y, width, height, colour)


def clock(width: int, height: int) -> tuple[float, float]:
    """Where the middle of the clock is."""
    return (width * 0.5, height * 0.16) if width < height else (width * 0.31, height * 0.19)


def background(width: int, height: int) -> View:
    """What doesn't move. The house stands in the middle, on the ground."""
    view = View(width, height)
    ground = height * 0.74
    view.box(0, 0, width, ground, (126, 190, 232))
    view.box(0, ground, width, height - ground, (96, 160, 84))
    view.disc(width * 0.84, height * 0.14, 30, (250, 214, 90))
    middle = width * 0.5
    view.box(middle - 75, ground - 110, 150, 116, (236, 226, 206))
    view.box(middle + 40, ground - 178, 20, 50, (120, 90, 80))
    view.polygon([(middle, ground - 185), (middle + 98, ground - 108), (middle - 98, ground - 108)], (176, 66, 52))
    view.box(middle - 17, ground - 58, 34, 64, (112, 76, 50))
    for left in (middle - 62, middle + 34):
        view.box(left, ground - 88, 28, 28, (70, 110, 150))
    # A tree on one side only, so that a mirrored picture is seen.
    tree = middle - (130 if width < height else 210)
    view.box(tree - 7, ground - 50, 14, 60, (112, 76, 50))
    view.disc(tree, ground - 76, 40, (58, 124, 62))
    x, y = clock(width, height)
    view.disc(x, y, 48, (40, 44, 52))
    view.disc(x, y, 44, (250, 250, 246))
    for mark in range(8):
        angle = 2 * math.pi * mark / 8
        view.disc(x + 37 * math.sin(angle), y - 37 * math.cos(angle), 3, (40, 44, 52))
    return view


def frame(view: View, still: Frame, seconds: float) -> Frame:
    """Returns the upright picture at a time."""
    height, width = still.shape[:2]
    view.pixels = still.copy()
    x, y = clock(width, height)
    view.hand(x, y, seconds / SECONDS, 34, 3, (200, 50, 40))
    view.disc(x, y, 5, (40, 44, 52))
    whole, tenth = int(seconds + 1e-6), int(seconds * 10 + 1e-6) % 10
    left, top = width * 0.5 - 34, height * 0.74 + 22
    view.digit(whole, left, top, 44, (255, 255, 255))
    view.box(left + 29, top + 37, 7, 7, (255, 255, 255))
    view.digit(tenth, left + 44, top, 44, (255, 255, 255))
    return view.pixels


def sound() -> bytes:
    """A tick each second, over a chord whose notes have a whole number of periods in the scene, so that it repeats without a click."""
    time = np.arange(SECONDS * AUDIO_RATE) / AUDIO_RATE
    chord = sum(np.sin(2 * np.pi * hertz * time) for hertz in (220.0, 277.125, 330.0)) * 0.03
    within = time % 1
    tick = np.sin(2 * np.pi * 880 * within) * np.exp(-within * 40) * 0.5
    return (np.clip(chord + tick, -1, 1) * 32767).astype("<i2").tobytes()


def encode(path: Path, frames: list[Frame], turns: int, audio: Path | None) -> None:
    """Writes a stream: no frame depends on a later one, and none on one of another group."""
    sounds = ["-f", "s16le", "-ar", str(AUDIO_RATE), "-ac", "1", "-i", str(audio)] if audio else []
    command = ["ffmpeg", "-nostdin", "-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", "%dx%d" % (LONG, SHORT), "-r", str(RATE),
               "-i", "-", *sounds, "-vf", "scale=out_color_matrix=bt709:out_range=tv", "-pix_fmt", "yuv420p", "-color_range", "tv",
               "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-c:v", "libx264", "-preset", "veryslow",
               "-tune", "animation", "-crf", "30", "-bf", "0", "-refs", "1", "-level", "3.1", "-profile:v", "main", "-g", str(GROUP),
               "-keyint_min", str(GROUP), "-sc_threshold", "0", "-c:a", "aac", "-b:a", "48k", "-flvflags", "no_duration_filesize",
               "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact", "-t", str(SECONDS), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as encoder:
        pipe: IO[bytes] | None = encoder.stdin
        assert pipe
        for one in frames:
            pipe.write(np.ascontiguousarray(np.rot90(one, turns)).tobytes())
        pipe.close()
    if encoder.returncode:
        sys.exit("ffmpeg failed: %s" % path)


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "Service/Sources/Console/Sample")
    folder.mkdir(parents=True, exist_ok=True)
    audio = folder / "sound.raw"
    audio.write_bytes(sound())
    views: dict[bool, list[Frame]] = {}
    for is_wide in (False, True):
        view = background(LONG if is_wide else SHORT, SHORT if is_wide else LONG)
        still = view.pixels
        views[is_wide] = [frame(view, still, number / RATE) for number in range(SECONDS * RATE)]
    for name, (is_wide, turns) in STREAMS.items():
        encode(folder / (name + ".flv"), views[is_wide], turns, audio if name == "portrait" else None)
    audio.unlink()


if __name__ == "__main__":
    main()
