"""The formats of pixels: FFmpeg's names, the library's numbers, and the planes of each."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

from ._error import UprightError


class Plane(NamedTuple):
    """How a plane is smaller than its frame."""

    #: The frame's width and height are divided by these, and rounded up.
    across: int
    down: int
    #: How many samples a pixel of the plane has.
    samples: int


class Pixels(NamedTuple):
    """A format of pixels."""

    number: int
    planes: tuple[Plane, ...]
    #: Bytes of a sample.
    bytes: int


class Geometry(NamedTuple):
    """The planes of a frame of a format and size."""

    number: int
    width: int
    height: int
    #: Bytes of a sample.
    bytes: int
    #: Of each plane, the bytes of a row and the number of rows.
    planes: tuple[tuple[int, int], ...]
    #: Of each plane, rows, pixels of a row, and the samples of a pixel if there are several.
    shapes: tuple[tuple[int, ...], ...]


_full = Plane(1, 1, 1)


def _planar(across: int, down: int) -> tuple[Plane, ...]:
    return (_full, Plane(across, down, 1), Plane(across, down, 1))


_halved = (_full, Plane(2, 2, 2))
_quads = (Plane(1, 1, 4),)

#: By FFmpeg's name of the format, on a little-endian CPU.
FORMATS = {
    "yuv420p": Pixels(1, _planar(2, 2), 1),
    "yuv422p": Pixels(2, _planar(2, 1), 1),
    "yuv440p": Pixels(3, _planar(1, 2), 1),
    "yuv444p": Pixels(4, _planar(1, 1), 1),
    "nv12": Pixels(5, _halved, 1),
    "gray": Pixels(6, (_full,), 1),
    "rgba": Pixels(7, _quads, 1),
    "bgra": Pixels(8, _quads, 1),
    "p010le": Pixels(9, _halved, 2),
    "yuv420p10le": Pixels(10, _planar(2, 2), 2),
    "yuv422p10le": Pixels(11, _planar(2, 1), 2),
    "yuv440p10le": Pixels(12, _planar(1, 2), 2),
    "yuv444p10le": Pixels(13, _planar(1, 1), 2),
    "yuv420p12le": Pixels(14, _planar(2, 2), 2),
    "yuv422p12le": Pixels(15, _planar(2, 1), 2),
    "yuv440p12le": Pixels(16, _planar(1, 2), 2),
    "yuv444p12le": Pixels(17, _planar(1, 1), 2),
    "rgb24": Pixels(18, (Plane(1, 1, 3),), 1),
    "gray10le": Pixels(19, (_full,), 2),
    "bgr24": Pixels(20, (Plane(1, 1, 3),), 1),
    "gbrp": Pixels(21, _planar(1, 1), 1),
    "nv21": Pixels(22, _halved, 1),
    # Packed: two pixels in four samples. They are only read.
    "yuyv422": Pixels(23, (Plane(2, 1, 4),), 1),
    "yvyu422": Pixels(24, (Plane(2, 1, 4),), 1),
}
NAMES = {pixels.number: name for name, pixels in FORMATS.items()}

#: FFmpeg's older names of full-range formats.
FULL_RANGE = {name.replace("yuv", "yuvj"): name for name in ("yuv420p", "yuv422p", "yuv440p", "yuv444p")}


#: What a frame can be converted to, with the name that the library has for it.
TARGETS = {"rgb24": "rgb24", "chw-float": "rgb24", "nv12": "nv12", "yuv420p": "yuv420p", "native": "native"}


def format_of(format: str) -> str:
    if format not in TARGETS:
        raise UprightError("usage", f"{format!r} is not a format", "format", "use one of " + ", ".join(TARGETS))
    return TARGETS[format]


def channels_of(pixels: Any) -> Any:
    """Returns 3 x height x width floats, 0 to 1, of height x width x 3 bytes."""
    import numpy

    channels = numpy.ascontiguousarray(pixels.transpose(2, 0, 1), numpy.float32)
    channels *= numpy.float32(1 / 255)
    return channels


def pixels_of(name: str) -> Pixels:
    try:
        return FORMATS[name]
    except (KeyError, TypeError):
        raise UprightError(
            "usage", f"{name!r} is not a supported format", "pixels",
            "convert the frame to one of " + ", ".join(FORMATS)) from None


@lru_cache(maxsize=64)
def geometry_of(name: str, width: int, height: int) -> Geometry:
    pixels = pixels_of(name)
    if not 1 <= width <= 65535 or not 1 <= height <= 65535:
        raise UprightError("usage", f"a frame of {width}x{height}", "size", "give 1 to 65535 pixels")
    shapes = []
    for across, down, samples in pixels.planes:
        shape = (-(-height // down), -(-width // across))
        shapes.append(shape if samples == 1 else (*shape, samples))
    planes = tuple((math.prod(shape[1:]) * pixels.bytes, shape[0]) for shape in shapes)
    return Geometry(pixels.number, width, height, pixels.bytes, planes, tuple(shapes))
