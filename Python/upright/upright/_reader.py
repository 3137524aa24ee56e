"""Upright frames out of files."""

from __future__ import annotations

import builtins
import ctypes
import importlib
import os
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Union

from upright_policy import Event, UprightError
from upright_policy._frame import CFrame
from upright_policy._frames import ReadFormat
from upright_policy._library import END, Elements, Handle, encoded_options
from upright_policy._pixels import NAMES, Geometry, channels_of, format_of, geometry_of
from upright_policy._policy import ORIENTATIONS

from ._log import Log, logged
from ._media import LIBRARY
from ._options import ReaderOptions
from ._transcode import Name, Policy, _encoded_name

if TYPE_CHECKING:
    from typing_extensions import Unpack



class CReadFrame(ctypes.Structure):
    """`upright_read_frame`."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("changed", ctypes.c_int32),
        ("turn", ctypes.c_int32),
        ("app_orientation", ctypes.c_int32),
        ("primaries", ctypes.c_int32),
        ("transfer", ctypes.c_int32),
        ("writable", ctypes.c_int32),
        ("seconds", ctypes.c_double),
        ("duration", ctypes.c_int64),
        ("frame", CFrame),
    ]


_new = LIBRARY.function(
    "upright_reader_new", ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))
_next = LIBRARY.function("upright_reader_next", ctypes.c_void_p, ctypes.POINTER(CReadFrame))
_keep = LIBRARY.function("upright_reader_keep", ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
_seek = LIBRARY.function("upright_reader_seek", ctypes.c_void_p, ctypes.c_double)
_warnings = LIBRARY.text_function("upright_reader_warnings", ctypes.c_void_p)


class _Kept(Handle):
    """Planes that the library lends."""

    _free = staticmethod(LIBRARY.free("upright_kept_frame_free"))


class ReadFrame:
    """An upright frame, in memory of its own."""

    __slots__ = (
        "_format", "_geometry", "_samples", "app_orientation", "changed", "chroma", "duration", "full_range", "matrix",
        "pixels", "primaries", "pts", "time", "time_base", "transfer", "turn")

    def __init__(self, c: CReadFrame, format: str, reader: ctypes.c_void_p) -> None:
        frame = c.frame
        self._format = format
        #: The format by FFmpeg's name: "rgb24" also for "chw-float".
        self.pixels: str = NAMES[frame.pixels]
        self._geometry: Geometry = geometry_of(self.pixels, frame.width, frame.height)
        #: The planes one behind the other, without padding.
        self._samples = _lent(c, self._geometry, reader) or _copied(frame, self._geometry)
        #: The presentation time in ticks of the input, and seconds per tick. The clocks of MPEG-TS begin at zero.
        self.pts: int = frame.pts
        self.time_base = Fraction(frame.time_base.numerator, frame.time_base.denominator)
        #: In ticks; 0 if it isn't known.
        self.duration: int = c.duration
        #: The time from the first frame of the input, in seconds.
        self.time: float = c.seconds
        #: What turned the stored frame upright, as in EXIF: 1 (nothing) to 8.
        self.turn: int = c.turn
        #: Whether an encoder has to be opened anew: the first frame, and where the size or format differs.
        self.changed: bool = c.changed != 0
        #: The orientation of the app, which the policy decides.
        self.app_orientation: str = ORIENTATIONS[c.app_orientation]
        #: Where the chroma samples are (AVChromaLocation), and the code points of ISO/IEC 23091-2.
        self.chroma: int = frame.chroma
        self.matrix: int = frame.matrix
        self.primaries: int = c.primaries
        self.transfer: int = c.transfer
        self.full_range: bool = frame.full_range != 0

    @property
    def width(self) -> int:
        return self._geometry.width

    @property
    def height(self) -> int:
        return self._geometry.height

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return (self._geometry.width, self._geometry.height)

    @property
    def planes(self) -> list[Any]:
        """An array of numpy for each plane: rows, samples, and components if a sample has several. Not copies."""
        import numpy

        planes, first = [], 0
        for (row, rows), shape in zip(self._geometry.planes, self._geometry.shapes):
            part = numpy.frombuffer(self._samples, numpy.uint8, row * rows, first)
            planes.append(part.view(numpy.uint16 if self._geometry.bytes == 2 else numpy.uint8).reshape(shape))
            first += row * rows
        return planes

    def numpy(self) -> Any:
        """Returns an array: not a copy, except for "chw-float".

        "rgb24": height x width x 3. "chw-float": 3 x height x width, 0 to 1. Gray: height x width. 4:4:4: 3 x height x
        width. 4:2:0 of even sizes: height * 3/2 x width, as in PyAV.

        Raises:
            UprightError: "usage" for planes that don't fit in one array: see `planes`.
        """
        import numpy

        planes = self.planes
        if self._format == "chw-float":
            return channels_of(planes[0])
        if len(planes) == 1:
            return planes[0]
        whole = numpy.frombuffer(self._samples, planes[0].dtype)
        if all(plane.shape == planes[0].shape for plane in planes):
            return whole.reshape(3, self.height, self.width)
        if whole.size * 2 == self.width * self.height * 3 and self.height % 2 == 0:
            return whole.reshape(self.height * 3 // 2, self.width)
        raise UprightError("usage", f"{self.pixels} of {self.width}x{self.height} is no array", "numpy", "use planes")

    def to_torch(self) -> Any:
        """Returns a tensor with the shape and memory of `numpy()`."""
        # Without an import statement: type checkers need not have it.
        torch: Any = importlib.import_module("torch")
        return torch.from_numpy(self.numpy())

    def to_av(self) -> Any:
        """Returns a frame of PyAV, with its time and colours: a copy."""
        import av
        import numpy

        frame = av.VideoFrame(self.width, self.height, self.pixels)
        planes: Any = frame.planes
        for plane, own, (row, rows) in zip(planes, self.planes, self._geometry.planes):
            target = numpy.frombuffer(plane, numpy.uint8)
            view = numpy.lib.stride_tricks.as_strided(target, (rows, row), (plane.line_size, 1))
            view[...] = own.view(numpy.uint8).reshape(rows, row)
        frame.pts, frame.time_base = self.pts, self.time_base
        frame.colorspace, frame.color_range = self.matrix, 2 if self.full_range else 1
        frame.color_primaries, frame.color_trc = self.primaries, self.transfer
        return frame

    def __dlpack__(self, **options: Any) -> Any:
        """Exports `numpy()`: torch.from_dlpack(frame), jax.dlpack.from_dlpack(frame), ..."""
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # kDLCPU

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = self.numpy() if dtype is None else self.numpy().astype(dtype, copy=False)
        return array.copy() if copy else array

    def __repr__(self) -> str:
        return f"ReadFrame({self.width}x{self.height}, {self.pixels}, pts={self.pts}, turn={self.turn})"


class Reader(Elements[ReadFrame]):
    """Reads the frames of a file, upright, a few ahead on threads of its own, for `for` and `async for`. See `open`."""

    _free = staticmethod(LIBRARY.free("upright_reader_free"))

    def __init__(
        self, input: Name, *, format: ReadFormat = "rgb24", policy: Policy = "phone",
        events: Event | os.PathLike[str] | None = None, log: Log = None, **options: Unpack[ReaderOptions],
    ) -> None:
        """Prepares a reader, and opens nothing. See `open`."""
        super().__init__()
        self._format = format
        self._c = CReadFrame(ctypes.sizeof(CReadFrame))
        given = {**options, "pixels": format_of(format), "policy": _document(policy), "events": _events(events)}
        with logged(self, log):
            _new(_encoded_name(input, "input"), encoded_options(given), self._pointer)

    def _take(self) -> ReadFrame | None:
        reader = self._handle
        return None if _next(reader, self._c) == END else ReadFrame(self._c, self._format, reader)

    def seek(self, seconds: float) -> None:
        """Goes to another time: the next frame is the one that is shown at `seconds` from the first frame."""
        _seek(self._handle, seconds)

    @property
    def warnings(self) -> list[str]:
        """What a user should know of what was read, such as damage; complete at the end."""
        found: list[str] = _warnings(self._handle)
        return found


def open(
    input: Name, *, format: ReadFormat = "rgb24", policy: Policy = "phone",
    events: Event | os.PathLike[str] | None = None, log: Log = None, **options: Unpack[ReaderOptions],
) -> Reader:
    """Reads the frames of a file, upright, from the exact frame of each signal on:

        for frame in upright.open("take.mov"): ...

    `async for` waits without blocking the event loop. Each frame has its own size, or that of a `canvas` and a `size`. Nothing is opened yet: what is wrong with the input
    is raised with the first frame. The reader is a context manager too, and ends with its last reference.

    Args:
        input: A path or URL.
        format: "rgb24", "chw-float" (3 x height x width, 0 to 1), "nv12", "yuv420p", or "native": the input's.
        policy: The name of a built-in policy, or a policy document: a dictionary, or JSON.
        events: Events in seconds from the first frame: dictionaries, text in JSON Lines, or the path of a file of it.
        log: Receives the level and the text of FFmpeg's messages about the input, warnings and worse, on any thread;
            nothing of them is printed then. As `upright.log`, it replaces FFmpeg's log callback.
        frames, canvas, size, fit, anchor, start, to, strict, ...: The options of `ReaderOptions`.

    Raises:
        UprightError: "usage" for options that are invalid or contradict each other, "badData" for the policy or an
            event.
    """
    return Reader(input, format=format, policy=policy, events=events, log=log, **options)


def _document(policy: Policy) -> Union[str, dict[str, Any]]:
    if isinstance(policy, str):
        return policy
    if isinstance(policy, Mapping):
        return dict(policy)
    raise TypeError(f"a policy is a name, JSON or a dictionary, not a {type(policy).__name__}")


def _events(events: Event | os.PathLike[str] | None) -> Union[str, list[Any], None]:
    """Returns events as text in JSON Lines, or a list of objects. Text without an object is the path of a file."""
    if events is None:
        return None
    if isinstance(events, os.PathLike) or isinstance(events, str) and events.strip() and "{" not in events:
        with builtins.open(events, encoding="utf-8") as file:
            return file.read()
    if isinstance(events, str):
        return events
    if isinstance(events, Mapping):
        return [dict(events)]
    if isinstance(events, Iterable):
        return [dict(event) for event in events]
    raise TypeError(f"events are dictionaries, text or a path, not a {type(events).__name__}")


def _lent(c: CReadFrame, geometry: Geometry, reader: ctypes.c_void_p) -> Any:
    """Returns the library's memory, or None if others use it too or it isn't one plane without padding."""
    row, rows = geometry.planes[0]
    if not c.writable or len(geometry.planes) > 1 or c.frame.strides[0] != row:
        return None
    kept = _Kept()
    _keep(reader, kept._pointer)
    samples = (ctypes.c_uint8 * (row * rows)).from_address(c.frame.planes[0])
    # Every array that is made of them refers to them.
    samples.kept = kept  # type: ignore[attr-defined]
    return samples


def _copied(frame: Any, geometry: Geometry) -> Any:
    """Returns a writable buffer of the planes, one behind the other. The library's are valid until the next call."""
    try:
        import numpy
    except ImportError:
        lines = (
            ctypes.string_at(frame.planes[index] + y * frame.strides[index], row)
            for index, (row, count) in enumerate(geometry.planes) for y in range(count))
        return bytearray(b"".join(lines))
    samples = numpy.empty(sum(row * rows for row, rows in geometry.planes), numpy.uint8)
    first = 0
    for index, (row, rows) in enumerate(geometry.planes):
        stride = frame.strides[index]
        memory = (ctypes.c_uint8 * (stride * (rows - 1) + row)).from_address(frame.planes[index])
        source = numpy.ndarray((rows, row), numpy.uint8, memory, 0, (stride, 1))
        samples[first:first + row * rows].reshape(rows, row)[...] = source
        first += row * rows
    return samples
