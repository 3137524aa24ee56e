#!/usr/bin/env python3
"""Turns 1080p frames with `Frames` of Python, as FrameBench does with FrameAdapter: at their size and to 720x1280.

    python_bench.py [--json FILE] [--rounds N]

Needs numpy, the packages of Python/ on PYTHONPATH, and the library of `make libraries` on LD_LIBRARY_PATH. Times
are those of the thread. The last figure is how many times as many frames two threads turn as one, in wall time.
"""
import argparse
import json
import statistics
import threading
import time

import numpy
from upright_policy import Frame, Frames

#: FrameBench's name, FFmpeg's, the shapes of the planes and their samples.
CASES = [
    ("i420", "yuv420p", [(1080, 1920), (540, 960), (540, 960)], "B"),
    ("nv12", "nv12", [(1080, 1920), (540, 960, 2)], "B"),
    ("p010", "p010le", [(1080, 1920), (540, 960, 2)], "H"),
]
SIZES = [("turn", "1080x1920"), ("turn to 720x1280", "720x1280")]
CALLS = 5


def plane(shape, samples):
    """Returns a plane in memory like that of FrameBench: rows begin at multiples of 64 bytes."""
    row = shape[1] * (shape[2] if len(shape) == 3 else 1) * numpy.dtype(samples).itemsize
    stride = -(-row // 64) * 64
    memory = numpy.ones(shape[0] * stride + 63, "B")
    first = -memory.ctypes.data % 64
    rows = memory[first:first + shape[0] * stride].reshape(shape[0], stride)[:, :row].view(samples)
    return rows if len(shape) == 2 else numpy.lib.stride_tricks.as_strided(
        rows, shape, (stride, shape[2] * rows.itemsize, rows.itemsize))


class Stream:
    """A stream of frames in the same memory."""

    def __init__(self, pixels, shapes, samples, size):
        self.frames = Frames("phone", frames="sensor", size=size)
        self.source = Frame([plane(shape, samples) for shape in shapes], pixels)
        turned = self.frames.turn(self.source, time=0).frame
        self.target = Frame([plane(each.shape, samples) for each in turned.planes], turned.pixels)
        self.count = 0

    def turn(self):
        self.count += 1
        self.frames.turn(self.source, self.target, time=self.count / 30)


def milliseconds(body):
    start = time.thread_time_ns()
    for _ in range(CALLS):
        body()
    return (time.thread_time_ns() - start) / 1e6 / CALLS


def frames_per_second(streams, seconds=1.0):
    """Turns frames of all streams at once, a thread for each."""
    counts, end = [0] * len(streams), time.monotonic() + seconds

    def run(index):
        while time.monotonic() < end:
            streams[index].turn()
            counts[index] += 1

    threads = [threading.Thread(target=run, args=(index,)) for index in range(len(streams))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts) / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json")
    parser.add_argument("--rounds", type=int, default=101)
    options = parser.parse_args()
    rows = []
    for layout, pixels, shapes, samples in CASES:
        for operation, size in SIZES:
            stream = Stream(pixels, shapes, samples, size)
            stream.turn()
            times = [milliseconds(stream.turn) for _ in range(options.rounds)]
            rows.append({"layout": layout, "operation": operation, "python": statistics.median(times)})
            print(f"{layout:6}{operation:18}{rows[-1]['python']:.3f} ms a frame")
    _, pixels, shapes, samples = CASES[0]
    pair = [Stream(pixels, shapes, samples, SIZES[1][1]) for _ in range(2)]
    ratios = []
    for _ in range(5):
        alone = frames_per_second(pair[:1])
        ratios.append(frames_per_second(pair) / alone)
    scaling = statistics.median(ratios)
    print(f"two threads turn {scaling:.2f} times as many frames as one")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"rows": rows, "scaling": scaling}, file, indent=2)


if __name__ == "__main__":
    main()
