"""Frames in memory: of numpy, of PyAV, and of anything with the buffer protocol."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ._error import UprightError
from ._pixels import FULL_RANGE, Geometry, Plane, geometry_of, pixels_of


class CRational(ctypes.Structure):
    """`upright_rational`."""

    _fields_ = [("numerator", ctypes.c_int32), ("denominator", ctypes.c_int32)]


def rational(fraction: Fraction, what: str) -> CRational:
    """Returns a fraction for C."""
    numerator, denominator = fraction.numerator, fraction.denominator
    if not 0 < numerator < 1 << 31 or denominator >= 1 << 31:
        raise UprightError("usage", f"a fraction of {numerator}/{denominator}", what, "give one above 0 of 32 bits")
    return CRational(numerator, denominator)


class CFrame(ctypes.Structure):
    """`upright_frame`."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("pixels", ctypes.c_int32),
        ("width", ctypes.c_int32),
        ("height", ctypes.c_int32),
        ("chroma", ctypes.c_int32),
        ("matrix", ctypes.c_int32),
        ("full_range", ctypes.c_int32),
        ("sample_aspect_ratio", CRational),
        ("pts", ctypes.c_int64),
        ("time_base", CRational),
        ("orientation", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("planes", ctypes.c_void_p * 4),
        ("strides", ctypes.c_ssize_t * 4),
    ]


class _PyBuffer(ctypes.Structure):
    """`Py_buffer`, of which only the address is used: a `memoryview` tells the rest."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_void_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes, _release_buffer.restype = [ctypes.POINTER(_PyBuffer)], None
_FULL_READ_ONLY = 0x11C

_NANOSECOND = CRational(1, 1_000_000_000)
_NO_TIME = CRational(0, 1)
_NO_RATIO = CRational(0, 0)


def address_of(view: memoryview) -> int:
    """Returns the address of a view's first element, also if it can't be written."""
    buffer = _PyBuffer()
    _get_buffer(view, buffer, _FULL_READ_ONLY)
    address: int = buffer.buf
    _release_buffer(buffer)
    return address


def _extent(view: memoryview) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the shape and the strides of a view."""
    return view.shape or (), view.strides or ()


@dataclass(frozen=True)
class Frame:
    """A frame in memory that doesn't describe itself.

    Nothing is copied: the planes are read, or written, where they are. A program that uses the same memory for many
    frames keeps the `Frame` too, and gives the time with each call.
    """

    #: An object with the buffer protocol for each plane; or one for all, which are one behind the other then. A
    #: plane of rows (2 dimensions, or 3 with the components of a pixel) can have gaps between its rows and be
    #: stored bottom-up; the bytes of a row are adjacent.
    planes: Any
    #: FFmpeg's name of the format, such as "yuv420p", "nv12", "gray", "rgba" or "yuv420p10le".
    pixels: str
    #: Width and height. Needed if the first plane is a run of bytes, or all planes are in one object.
    size: tuple[int, int] | None = None
    #: Bytes from a row to the next, for planes that are runs of bytes. Negative: the first row is the last stored.
    strides: Sequence[int] | None = None
    #: The presentation time in ticks, and seconds per tick. A time that is given with the call replaces it.
    pts: int | None = None
    time_base: Fraction | None = None
    #: The frame's orientation as in EXIF, 1 (upright) to 8; 0 if it isn't known. For `frames="metadata"`.
    orientation: int = 0
    #: Where the chroma samples are (AVChromaLocation), and the matrix (ISO/IEC 23091-2); 0 and 2: not known.
    chroma: int = 0
    matrix: int = 2
    full_range: bool = False
    #: The width of a pixel over its height; `None` for that of `Frames`.
    sample_aspect_ratio: Fraction | None = None

    def __post_init__(self) -> None:
        if isinstance(self.planes, list):
            object.__setattr__(self, "planes", tuple(self.planes))

    @cached_property
    def _borrowed(self) -> Borrowed:
        return _borrowed_planes(self)


class Borrowed:
    """A frame as C sees it. The memory stays where it is while this object is referred to."""

    __slots__ = ("c", "end", "first", "has_time", "is_writable", "memory", "owners")

    def __init__(
        self, geometry: Geometry, planes: Sequence[tuple[int, int]], owners: Any, is_writable: bool,
        chroma: int, matrix: int, full_range: bool, ratio: CRational, orientation: int, where: str,
    ) -> None:
        """Makes a frame of planes: the address of the first row, and the bytes from a row to the next."""
        pointers, strides = [0, 0, 0, 0], [0, 0, 0, 0]
        #: The address of the first byte of each plane, and of the byte after its last.
        self.memory: list[tuple[int, int]] = []
        for index, (first, stride) in enumerate(planes):
            row, rows = geometry.planes[index]
            if abs(stride) < row and rows > 1:
                raise UprightError(
                    "usage", f"rows of {row} bytes are {stride} bytes apart", f"{where}, plane {index}",
                    "give a larger stride")
            pointers[index], strides[index] = first, stride
            last = first + (rows - 1) * stride
            self.memory.append((first, last + row) if stride >= 0 else (last, first + row))
        self.c = CFrame(
            ctypes.sizeof(CFrame), geometry.number, geometry.width, geometry.height, chroma, matrix, full_range, ratio,
            0, _NO_TIME, orientation, 0, tuple(pointers), tuple(strides))
        self.first = min(first for first, _ in self.memory)
        self.end = max(end for _, end in self.memory)
        self.has_time = False
        self.is_writable = is_writable
        #: What keeps the memory.
        self.owners = owners

    def at(self, seconds: float | None, ratio: CRational | None = None) -> CFrame:
        """Returns the frame as C sees it, at a time in seconds, or else at its own.

        `ratio` is the aspect ratio of pixels, of a frame that doesn't have its own.
        """
        if seconds is None and not self.has_time:
            raise UprightError("usage", "the frame has no time", "frame", "give time, in seconds")
        if seconds is not None and not abs(seconds) < 1e9:
            raise UprightError("usage", f"a time of {seconds} s", "frame", "give seconds from the stream's start")
        needs_ratio = ratio is not None and self.c.sample_aspect_ratio.denominator == 0
        if seconds is None and not needs_ratio:
            return self.c
        # A copy: other threads can use the same frame at another time.
        c = CFrame.from_buffer_copy(self.c)
        if seconds is not None:
            c.pts = round(seconds * 1_000_000_000)
            c.time_base = _NANOSECOND
        if needs_ratio:
            c.sample_aspect_ratio = ratio
        return c

    def set_pts(self, pts: int, time_base: CRational) -> None:
        if not -(1 << 63) < pts < 1 << 63:
            raise UprightError("usage", f"a time of {pts} ticks", "frame", "give 64 bits")
        self.c.pts, self.c.time_base = pts, time_base
        self.has_time = True

    def overlaps(self, other: Borrowed) -> bool:
        if self.end <= other.first or other.end <= self.first:
            return False
        return any(first < other_end and other_first < end
                   for first, end in self.memory for other_first, other_end in other.memory)


def is_av(frame: Any) -> bool:
    """Whether an object is a frame of PyAV, which isn't imported for it."""
    # Not its planes: they are made by asking for them.
    return hasattr(frame, "colorspace") and hasattr(frame, "make_writable")


def source_of(frame: Any) -> Borrowed:
    """Borrows a frame for reading."""
    if isinstance(frame, Frame):
        return frame._borrowed
    return _borrowed_av(frame) if is_av(frame) else _described(frame)._borrowed


def target_of(frame: Any) -> Borrowed:
    """Borrows a frame for writing."""
    if not isinstance(frame, Frame) and is_av(frame):
        # An encoder can still refer to the memory.
        frame.make_writable()
    target = source_of(frame)
    if not target.is_writable:
        raise UprightError("usage", "the memory is read-only", "into", "give memory that can be written")
    return target


def _borrowed_av(frame: Any) -> Borrowed:
    """Borrows a frame of PyAV."""
    name = frame.format.name
    geometry = geometry_of(FULL_RANGE.get(name, name), frame.width, frame.height)
    planes = frame.planes
    if len(planes) != len(geometry.planes):
        raise UprightError("usage", f"a frame of {len(planes)} planes", name, "give a frame in memory")
    starts = []
    for plane, (row, rows) in zip(planes, geometry.planes):
        stride = plane.line_size
        if stride * (rows - 1) + row > plane.buffer_size:
            raise UprightError("usage", "the plane is too short", name, "give a frame in memory")
        starts.append((plane.buffer_ptr, stride))
    borrowed = Borrowed(
        geometry, starts, planes, True, 0, frame.colorspace,
        frame.color_range == 2 or name in FULL_RANGE, _NO_RATIO, _display_orientation(frame), name)
    pts, time_base = frame.pts, frame.time_base
    if pts is not None and time_base:
        borrowed.set_pts(pts, rational(time_base, "time_base"))
    return borrowed


def _borrowed_planes(frame: Frame) -> Borrowed:
    """Borrows memory that a `Frame` describes."""
    pixels = pixels_of(frame.pixels)
    is_one = not isinstance(frame.planes, tuple)
    is_whole = is_one and len(pixels.planes) > 1
    views = [_view(plane) for plane in ((frame.planes,) if is_one else frame.planes)]
    if frame.size is not None:
        width, height = frame.size
    elif views and views[0].ndim > 1 and not is_whole:
        height, width = _size(views[0], pixels.planes[0])
    else:
        raise UprightError("usage", "the frame's size is not known", "Frame", "give it a size")
    geometry = geometry_of(frame.pixels, width, height)
    if is_whole:
        planes = _starts(views[0], geometry)
    elif len(views) != len(pixels.planes):
        raise UprightError(
            "usage", f"{len(views)} planes, but {frame.pixels} has {len(pixels.planes)}", "Frame",
            "give a buffer for each plane")
    else:
        strides = [None] * len(views) if frame.strides is None else frame.strides
        if len(strides) != len(views):
            raise UprightError("usage", f"{len(strides)} strides for {len(views)} planes", "Frame", "give one for each")
        planes = [_start(index, view, stride, geometry) for index, (view, stride) in enumerate(zip(views, strides))]
    borrowed = Borrowed(
        geometry, planes, views, not any(view.readonly for view in views), frame.chroma, frame.matrix,
        frame.full_range, _ratio(frame.sample_aspect_ratio), frame.orientation, "Frame")
    if frame.pts is not None and frame.time_base is not None:
        borrowed.set_pts(frame.pts, rational(frame.time_base, "time_base"))
    return borrowed


def _size(view: memoryview, plane: Plane) -> tuple[int, int]:
    """Returns the height and width of a frame by the shape of its first plane, which packed formats have in several."""
    shape = _extent(view)[0]
    width = shape[1] if plane.across == 1 else math.prod(shape[1:]) * plane.across // plane.samples
    return shape[0], width


def _ratio(ratio: Fraction | None) -> CRational:
    return _NO_RATIO if ratio is None else rational(ratio, "sample_aspect_ratio")


def is_tensor(array: Any) -> bool:
    """Whether an object has its memory by DLPack alone: a tensor of torch or jax."""
    return hasattr(array, "__dlpack__") and type(array).__module__ != "numpy"


def _view(plane: Any) -> memoryview:
    view = memoryview(_array(plane) if is_tensor(plane) else plane)
    if view.suboffsets:
        raise UprightError("usage", "the memory is in pieces", "Frame", "give a copy of it")
    return view


def _array(tensor: Any) -> Any:
    """Returns an array of numpy on the memory of a tensor."""
    import numpy

    if tensor.__dlpack_device__()[0] != 1:
        raise UprightError("usage", "the tensor is not in the CPU's memory", "frame", "copy it to the CPU")
    # What torch exports by DLPack is read-only to numpy before 2.1.
    return tensor.numpy() if type(tensor).__module__ == "torch" else numpy.from_dlpack(tensor)


def _starts(view: memoryview, geometry: Geometry) -> list[tuple[int, int]]:
    """Returns the planes of a buffer that has them one behind the other."""
    total = sum(row * rows for row, rows in geometry.planes)
    if not view.c_contiguous or view.nbytes != total:
        raise UprightError(
            "usage", f"{geometry.width}x{geometry.height} pixels are {total} adjacent bytes, not {view.nbytes}",
            "Frame", "give a buffer for each plane")
    _check_samples(view, geometry, "Frame")
    first, planes = address_of(view), []
    for row, rows in geometry.planes:
        planes.append((first, row))
        first += row * rows
    return planes


def _start(index: int, view: memoryview, stride: int | None, geometry: Geometry) -> tuple[int, int]:
    """Returns a plane that has a buffer of its own."""
    name = f"Frame, plane {index}"
    row, rows = geometry.planes[index]
    if view.ndim != 1 or view.itemsize > 1:
        _check_samples(view, geometry, name)
    if view.ndim == 1:
        stride = row if stride is None else stride
        if not view.c_contiguous or abs(stride) * (rows - 1) + row > view.nbytes:
            raise UprightError(
                "usage", f"{rows} rows of {stride} bytes are not in {view.nbytes} adjacent bytes", name,
                "give a longer buffer")
        return address_of(view) + max(0, (1 - rows) * stride), stride
    shape, strides = _extent(view)
    if stride is not None:
        raise UprightError("usage", "the rows have a stride of their own", name, "leave out strides")
    if len(shape) not in (2, 3) or math.prod(shape[1:]) * view.itemsize != row or shape[0] != rows:
        raise UprightError(
            "usage", f"a shape of {shape} instead of {rows} rows of {row} bytes", name,
            "give planes of the frame's format and size")
    if strides[-1] != view.itemsize or (len(shape) == 3 and strides[1] != view.itemsize * shape[2]):
        raise UprightError("usage", "the samples of a row are not adjacent", name, "give a copy of it")
    return address_of(view), strides[0]


def _check_samples(view: memoryview, geometry: Geometry, name: str) -> None:
    # numpy's booleans and signed integers have other letters.
    if view.format.lstrip("@=<") != ("B" if geometry.bytes == 1 else "H"):
        raise UprightError(
            "usage", f"samples of type {view.format!r}", name, f"give unsigned integers of {geometry.bytes * 8} bits")


def _described(array: Any) -> Frame:
    """Describes an array by its shape."""
    try:
        view = _view(array)
    except TypeError:
        raise TypeError(
            f"a {type(array).__name__} is neither a PyAV frame, a numpy array, a tensor nor a Frame") from None
    shape, _ = _extent(view)
    if len(shape) == 2:
        return Frame(view, "gray")
    if len(shape) == 3 and shape[2] in (3, 4):
        return Frame(view, "rgb24" if shape[2] == 3 else "rgba")
    raise UprightError(
        "usage", f"an array of shape {shape} doesn't tell its format", "frame",
        "give height x width (gray), height x width x 3 (RGB) or 4 (RGBA), or a Frame")


#: EXIF orientations by the signs of a display matrix: those of a, b, c and d.
_EXIF = {
    (1, 0, 0, 1): 1, (-1, 0, 0, 1): 2, (-1, 0, 0, -1): 3, (1, 0, 0, -1): 4,
    (0, 1, 1, 0): 5, (0, 1, -1, 0): 6, (0, -1, -1, 0): 7, (0, -1, 1, 0): 8,
}


def _display_orientation(frame: Any) -> int:
    """Returns the orientation of a PyAV frame's display matrix; 0 if it has none, or one of another angle."""
    side_data = frame.side_data
    # Most frames have none, and looking it up costs as much as all else.
    data = side_data.get("DISPLAYMATRIX") if len(side_data) > 0 else None
    if data is None:
        return 0
    numbers = memoryview(bytes(data)).cast("i")
    a, b, c, d = ((numbers[index] > 0) - (numbers[index] < 0) for index in (0, 1, 3, 4))
    return _EXIF.get((a, b, c, d), 0)
