#!/usr/bin/env python3
"""Warps and blends of I420 frames: Upright's kernels against libavfilter and OpenCV, one thread each.

All three run in turn in one process, so that a change of the machine's speed meets them alike; medians of
the thread's CPU time. Beside each time stands the difference, in levels, to the exact result in double
precision, on noise, where neighbours differ most: the largest and the mean. All fill what lies outside the
source with black; samples nearer than two to the source's edge are timed, but not compared.
"""
import argparse
import ctypes
import json
import math
import os
import statistics
import subprocess
import time

import cv2
import numpy

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
KERNELS = os.path.join(ROOT, "Sources/CUprightKernels")
ONE = 1 << 28


class Map(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("u", "ux", "uy", "v", "vx", "vy")]


def build():
    """The kernels, compiled as the package compiles them, and the filter, in one library."""
    path = os.path.join(ROOT, ".build/warp_bench.so")
    sources = [os.path.join(KERNELS, name) for name in os.listdir(KERNELS) if name.endswith(".c")]
    flags = subprocess.check_output(
        ["pkg-config", "--cflags", "--libs", "libavfilter", "libavutil"], text=True).split()
    subprocess.run(
        ["clang", "-std=gnu11", "-O2", "-shared", "-fPIC", f"-I{KERNELS}/include", *sources,
         os.path.join(ROOT, "Benchmarks/filter.c"), "-o", path, *flags], check=True)
    library = ctypes.CDLL(path)
    library.filter_open.restype = ctypes.c_void_p
    return library


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


def planes(width, height, random=None):
    shapes = [(height, width), (height // 2, width // 2), (height // 2, width // 2)]
    if random is None:
        return [numpy.zeros(shape, numpy.uint8) for shape in shapes]
    return [random.integers(0, 256, shape, numpy.uint8) for shape in shapes]


class Filter:
    """libavfilter."""

    def __init__(self, library, text, inputs, width, height):
        self.library = library
        names = "".join(f"[in{i}]" for i in range(len(inputs)))
        self.filter = ctypes.c_void_p(
            library.filter_open(f"{names}{text}[out]".encode(), len(inputs), width, height))
        assert self.filter.value, text
        for index, frame in enumerate(inputs):
            packed = numpy.concatenate([plane.ravel() for plane in frame])
            assert library.filter_set(self.filter, index, pointer(packed)) == 0
        self.size = width, height

    def run(self):
        assert self.library.filter_run(self.filter) >= 0

    def result(self):
        frame = planes(*self.size)
        packed = numpy.concatenate([plane.ravel() for plane in frame])
        assert self.library.filter_get(self.filter, pointer(packed), packed.size) >= 0
        parts = numpy.split(packed, numpy.cumsum([plane.size for plane in frame])[:-1])
        return [part.reshape(plane.shape) for part, plane in zip(parts, frame)]


class Upright:
    """Upright's kernels, through their C interface."""

    def __init__(self, library, width, height):
        self.library = library
        self.table = ctypes.create_string_buffer(4096)
        library.upright_kernels_init(self.table, ctypes.c_uint32(0xFFFFFFFF))
        self.frame = planes(width, height)

    def result(self):
        return self.frame


class UprightWarp(Upright):
    def __init__(self, library, source, back, width, height):
        super().__init__(library, width, height)
        self.calls = []
        for plane, to in zip(source, self.frame):
            h, w = plane.shape
            a, b, c, d, tx, ty = back(w, h)
            mapping = Map(*(round(value * ONE) for value in (
                a / 2 + c / 2 + tx, a, c, b / 2 + d / 2 + ty, b, d)))
            size = ctypes.c_size_t
            self.calls.append((
                self.table, size(1), size(1), pointer(to), ctypes.c_ssize_t(w), size(w), size(h),
                pointer(plane), ctypes.c_ssize_t(w), size(w), size(h), ctypes.byref(mapping)))

    def run(self):
        for plane, call in zip(self.frame, self.calls):
            ctypes.memset(call[3], 0, plane.size)
            self.library.upright_warp(*call)


class UprightBlend(Upright):
    def __init__(self, library, first, second, weight, width, height):
        super().__init__(library, width, height)
        self.calls = []
        for a, b, to in zip(first, second, self.frame):
            h, w = a.shape
            stride, size = ctypes.c_ssize_t(w), ctypes.c_size_t
            self.calls.append((
                self.table, size(1), pointer(to), stride, pointer(a), stride, pointer(b), stride,
                ctypes.c_uint(weight), size(w), size(h)))

    def run(self):
        for call in self.calls:
            self.library.upright_blend(*call)


class OpenCV:
    def __init__(self, operation, *inputs):
        self.operation = operation
        self.inputs = list(zip(*inputs))
        self.frame = [numpy.zeros_like(plane) for plane in inputs[0]]

    def run(self):
        for arguments, to in zip(self.inputs, self.frame):
            self.operation(*arguments, to)

    def result(self):
        return self.frame


def turn_back(degrees):
    """From a turned plane's coordinates to the plane's, about its middle."""
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))

    def back(w, h):
        return (cosine, -sine, sine, cosine, w / 2 - cosine * w / 2 - sine * h / 2,
                h / 2 + sine * w / 2 - cosine * h / 2)
    return back


def exact_warp(plane, back):
    """Bilinear in double precision, and where it counts: NaN elsewhere."""
    h, w = plane.shape
    a, b, c, d, tx, ty = back(w, h)
    x, y = numpy.meshgrid(numpy.arange(w) + 0.5, numpy.arange(h) + 0.5)
    u, v = a * x + c * y + tx, b * x + d * y + ty
    inside = (u >= 2) & (v >= 2) & (u <= w - 2) & (v <= h - 2)
    s, t = numpy.clip(u - 0.5, 0, w - 2), numpy.clip(v - 0.5, 0, h - 2)
    i, j = s.astype(int), t.astype(int)
    s, t = s - i, t - j
    value = plane.astype(float)
    result = ((value[j, i] * (1 - s) + value[j, i + 1] * s) * (1 - t)
              + (value[j + 1, i] * (1 - s) + value[j + 1, i + 1] * s) * t)
    return numpy.where(inside, result, numpy.nan)


def warp_case(library, width, height, degrees, random):
    source, back = planes(width, height, random), turn_back(degrees)

    def warp_affine(plane, to):
        h, w = plane.shape
        a, b, c, d, tx, ty = back(w, h)
        # OpenCV's coordinates are whole at the centres.
        matrix = numpy.array([[a, c, tx + (a + c - 1) / 2], [b, d, ty + (b + d - 1) / 2]])
        cv2.warpAffine(plane, matrix, (w, h), dst=to, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)

    sides = {
        "upright": UprightWarp(library, source, back, width, height),
        "libavfilter": Filter(
            library, f"rotate=angle={math.radians(degrees)}:bilinear=1", [source], width, height),
        "opencv": OpenCV(warp_affine, source),
    }
    return f"warp {degrees} degrees", sides, [exact_warp(plane, back) for plane in source]


def blend_case(library, width, height, random):
    first, second = planes(width, height, random), planes(width, height, random)
    sides = {
        "upright": UprightBlend(library, first, second, 96, width, height),
        # Its opacity is the first input's.
        "libavfilter": Filter(
            library, "blend=all_mode=normal:all_opacity=0.625", [first, second], width, height),
        "opencv": OpenCV(lambda a, b, to: cv2.addWeighted(a, 0.625, b, 0.375, 0, dst=to),
                         first, second),
    }
    return "blend", sides, [a * 0.625 + b * 0.375 for a, b in zip(first, second)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    library = build()
    random = numpy.random.default_rng(1)

    results = []
    print(f"OpenCV {cv2.__version__}; ms a frame (largest and mean difference to the exact result)")
    for width, height, degrees in [
            (1280, 720, 7), (1280, 720, 30), (1280, 720, 60), (1920, 1080, 7), (1280, 720, None)]:
        if degrees is None:
            name, sides, exact = blend_case(library, width, height, random)
        else:
            name, sides, exact = warp_case(library, width, height, degrees, random)
        times = {side: [] for side in sides}
        for turn in range(arguments.rounds):
            names = list(sides)
            for side in names[turn % 3:] + names[:turn % 3]:
                sides[side].run()
                start = time.thread_time_ns()
                for _ in range(3):
                    sides[side].run()
                times[side].append((time.thread_time_ns() - start) / 3e6)
        line, result = f"{width}x{height} {name:16}", {"size": f"{width}x{height}", "case": name}
        for side, runner in sides.items():
            off = numpy.concatenate(
                [numpy.abs(got - want).ravel() for got, want in zip(runner.result(), exact)])
            off = off[~numpy.isnan(off)]
            median = statistics.median(times[side])
            result[side] = {"ms": median, "largest": off.max(), "mean": off.mean()}
            line += f"  {side} {median:6.2f} ({off.max():5.1f} {off.mean():.2f})"
        for side in ("libavfilter", "opencv"):
            result[f"of {side}"] = result["upright"]["ms"] / result[side]["ms"]
            line += f"  /{side} {result[f'of {side}']:.3f}"
        print(line)
        results.append(result)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(results, file, indent=2)


if __name__ == "__main__":
    main()
