#!/usr/bin/env python3
"""The newest FFmpeg that can be had here, that of PyAV's wheel: a quarter turn of a frame of 1920x1080 with a change of size to
720x1280, in each order of its filters and with each engine of libswscale. Thread CPU time.

    newest_ffmpeg.py [--rounds N] --json FILE

Writes {"version": TEXT, "ms": {FILTERS: the median in milliseconds}}.
"""
import argparse
import fractions
import json
import statistics
import time

import av
import av.filter
import numpy

CHAINS = [
    chain for flags in ("bicubic", "bicubic+unstable")
    for chain in (f"scale=1280:720:flags={flags},transpose=clock", f"transpose=clock,scale=720:1280:flags={flags}")]


class Chain:
    def __init__(self, text, frame):
        self.frame, self.times = frame, []
        self.graph = av.filter.Graph()
        self.graph.threads = 1
        last = self.graph.add_buffer(width=frame.width, height=frame.height, format=frame.format, time_base=frame.time_base)
        for step in text.split(","):
            name, _, arguments = step.partition("=")
            following = self.graph.add(name, arguments)
            last.link_to(following)
            last = following
        last.link_to(self.graph.add("buffersink"))
        self.graph.configure()
        self.run()

    def run(self):
        self.graph.push(self.frame)
        return self.graph.pull()

    def measure(self):
        for _ in range(2):
            self.run()
        start = time.thread_time()
        for _ in range(5):
            self.run()
        self.times.append((time.thread_time() - start) / 5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--json", required=True)
    options = parser.parse_args()
    picture = numpy.random.default_rng(1).integers(0, 256, (1620, 1920), dtype=numpy.uint8)
    frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
    frame.pts, frame.time_base = 0, fractions.Fraction(1, 30)
    chains = {}
    for text in CHAINS:
        try:
            chains[text] = Chain(text, frame)
        except (av.FFmpegError, ValueError) as error:
            print(f"newest FFmpeg: {text}: {error}")
    for _ in range(options.rounds):
        for chain in chains.values():
            chain.measure()
    with open(options.json, "w") as file:
        json.dump({"version": av.ffmpeg_version_info,
                   "ms": {text: statistics.median(chain.times) * 1e3 for text, chain in chains.items()}}, file)


if __name__ == "__main__":
    main()
