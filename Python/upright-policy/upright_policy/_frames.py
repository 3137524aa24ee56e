"""Frames in memory in, upright frames out."""

from __future__ import annotations

import ctypes
import importlib
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Literal, TypedDict, TypeVar

from ._error import UprightError
from ._frame import Borrowed, CFrame, Frame, is_av, is_tensor, rational, source_of, target_of
from ._library import Event, Handle, encoded_events, encoded_options, encoded_policy
from ._pixels import FULL_RANGE, NAMES, channels_of, format_of, geometry_of
from ._policy import LIBRARY, ORIENTATIONS

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: A PyAV frame, a numpy array, a tensor, a `memoryview` or a `Frame`.
AnyFrame = TypeVar("AnyFrame")


#: The format of the samples that `Frames` and `upright.open` return. "chw-float": 3 x height x width, 0 to 1.
ReadFormat = Literal["rgb24", "chw-float", "nv12", "yuv420p", "native"]

Anchor = Literal[
    "center", "top", "bottom", "leading", "trailing", "topLeading", "topTrailing", "bottomLeading", "bottomTrailing"]


class OrientingOptions(TypedDict, total=False):
    """The options of all that turns frames, which are those of the command line."""

    #: What the frames are: "metadata" (default): as the stream says; "sensor", "sensor:90,front,mirror": as a
    #: camera's sensor has them; or "upright".
    frames: str
    reference: Literal["gravity", "interface"]
    #: "follow", "portrait", "landscape", "initial" or "frame" (each upright frame's own size). By default, `Frames`
    #: without a size here or in the policy has "frame", unless the frames are a sensor's; else it is "follow".
    canvas: Literal["follow", "portrait", "landscape", "initial", "frame"]
    #: Such as "720x1280", or a preset such as "720p".
    size: str
    #: "fit" by default.
    fit: Literal["fit", "fill", "stretch"]
    #: "center" by default.
    anchor: Anchor
    #: "RRGGBB".
    background: str
    #: "android" by default.
    gravity: Literal["android", "iio"]


class FrameOptions(OrientingOptions, total=False):
    """The options of `Frames`."""

    #: "bicubic" by default.
    filter: Literal["bicubic", "bilinear", "lanczos", "area"]


class CLayout(ctypes.Structure):
    """`upright_layout`."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("changed", ctypes.c_int32),
        ("pixels", ctypes.c_int32),
        ("width", ctypes.c_int32),
        ("height", ctypes.c_int32),
        ("chroma", ctypes.c_int32),
        ("turn", ctypes.c_int32),
        ("app_orientation", ctypes.c_int32),
        ("capture_enabled", ctypes.c_int32),
        ("capture_width", ctypes.c_int32),
        ("capture_height", ctypes.c_int32),
        ("source_rect", ctypes.c_int32 * 4),
        ("target_rect", ctypes.c_int32 * 4),
        ("transform", ctypes.c_double * 6),
        ("is_identity", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
    ]


@dataclass(frozen=True)
class Layout:
    """What becomes of a frame."""

    #: Whether the encoder has to be opened anew, and to begin with a keyframe: the first frame, and where the
    #: format differs from the last frame's.
    changed: bool
    #: The format of the upright frame. Its pixels are square.
    pixels: str
    width: int
    height: int
    #: Where its chroma samples are (AVChromaLocation).
    chroma: int
    #: What turns the stored frame upright, as in EXIF: 1 (nothing) to 8.
    turn: int
    #: The orientation of the app: "portrait", "portraitUpsideDown", "landscapeLeft" or "landscapeRight".
    app_orientation: str
    #: Whether the camera is sent; if not, the background is drawn.
    capture_enabled: bool
    #: Width and height that the app is told to capture.
    capture_size: tuple[int, int]
    #: Which part of the source is shown: x, y, width, height in stored pixels.
    source_rect: tuple[int, ...]
    #: Where it is shown: x, y, width, height.
    target_rect: tuple[int, ...]
    #: Maps a position in the stored frame to one in the upright frame: x' = a x + c y + tx, y' = b x + d y + ty,
    #: in the order a, b, c, d, tx, ty.
    transform: tuple[float, ...]
    #: Whether the upright frame is the stored one, and a program can use that.
    is_identity: bool


class Turned(Generic[AnyFrame]):
    """An upright frame."""

    __slots__ = ("changed", "frame", "layout")

    def __init__(self, frame: AnyFrame, layout: Layout, changed: bool) -> None:
        #: Of the same kind as the frame that was turned, or what was given as `into`.
        self.frame = frame
        self.layout = layout
        #: Whether the encoder has to be opened anew, as `Layout.changed`.
        self.changed = changed

    @property
    def width(self) -> int:
        return self.layout.width

    @property
    def height(self) -> int:
        return self.layout.height

    @property
    def pixels(self) -> str:
        """The format, by FFmpeg's name."""
        return self.layout.pixels

    def __repr__(self) -> str:
        return f"Turned({self.width}x{self.height}, {self.pixels}, changed={self.changed})"


_event = LIBRARY.function("upright_frames_events", ctypes.c_void_p, ctypes.c_char_p)
_new = LIBRARY.function("upright_frames_new", ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))
_layout = LIBRARY.function(
    "upright_frames_layout", ctypes.c_void_p, ctypes.POINTER(CFrame), ctypes.POINTER(CLayout))
_peek = LIBRARY.function("upright_frames_peek", ctypes.c_void_p, ctypes.POINTER(CFrame), ctypes.POINTER(CLayout))
_draw = LIBRARY.function("upright_frames_draw", ctypes.c_void_p, ctypes.POINTER(CFrame), ctypes.POINTER(CFrame))
_decisions = LIBRARY.text_function("upright_frames_decisions", ctypes.c_void_p)


class Frames(Handle):
    """Orients the frames of one stream.

    One thread at a time turns frames; the interpreter's lock is free meanwhile, so that streams on several threads
    use several cores. Events come from any thread.
    """

    _free = staticmethod(LIBRARY.free("upright_frames_free"))

    def __init__(
        self, policy: str | Mapping[str, Any] = "phone", *, sample_aspect_ratio: Fraction | int | None = None,
        format: ReadFormat = "native", **options: Unpack[FrameOptions],
    ) -> None:
        """Makes an adapter. Without a canvas and a size, each frame is turned by its own signal, and has its own size.

        Args:
            policy: The name of a built-in policy, or a policy document: a dictionary, or JSON.
            sample_aspect_ratio: The width of a pixel over its height, of frames that don't say it. Frames of PyAV don't:
                give `stream.sample_aspect_ratio`. `None` for square pixels.
            format: That of the upright frames: "native" (the input's, after the turn); "rgb24" or "chw-float" (an array
                of 3 x height x width floats, 0 to 1), of YUV, gray or RGB samples of 8 bits; "nv12" or "yuv420p", of
                YUV samples of 8 bits.
            frames: What the frames are: "metadata" (default): as the stream says; "sensor", "sensor:90,front,mirror": as
                a camera's sensor has them; or "upright".
            reference: What a device's orientation is relative to: "gravity" or "interface".
            canvas: "follow", "portrait", "landscape", "initial" or "frame".
            size: Such as "720x1280", or a preset such as "720p".
            fit: "fit" (default), "fill" or "stretch".
            anchor: Where a frame is that doesn't fill its canvas: "center" (default), "top", "bottomLeading", ...
            background: The colour around it, "RRGGBB".
            filter: "bicubic" (default), "bilinear", "lanczos" or "area".
            gravity: How readings of gravity are classified: "android" (default) or "iio".

        Raises:
            UprightError: "usage" for an option, "badData" for the policy.
        """
        super().__init__()
        self._ratio = None if sample_aspect_ratio is None else rational(
            Fraction(sample_aspect_ratio), "sample_aspect_ratio")
        self._alone = _Alone()
        self._c = CLayout(ctypes.sizeof(CLayout))
        # Whether a format has changed with a frame that wasn't drawn.
        self._is_changed = False
        self._kept = b""
        self._last: Layout
        self._is_float = format == "chw-float"
        _new(encoded_policy(policy), encoded_options({**options, "pixels": format_of(format)}), self._pointer)

    def event(self, event: Event) -> None:
        """Posts an event, several, or text in JSON Lines. From any thread.

        "at" is a time of the stream, in seconds. An event without it takes effect at the next frame, as one whose
        frame has passed.

        Raises:
            UprightError: "badData" for what isn't an event, "usage" if 10 000 events wait. None is posted then.
        """
        _event(self._handle, encoded_events(event))

    def layout(self, frame: Any, *, time: float | None = None) -> Layout:
        """Tells what a frame becomes, without reading its samples. Frames come in the order of their times.

        Args:
            frame: As for `turn`.
            time: The frame's time in seconds, instead of its own.

        Raises:
            UprightError: "badData" for an event that makes no sense in the policy and whose time has come: it is
                left out, and the call can be repeated. "unavailable" if the frame can't be rescaled as it must be.
        """
        with self._alone:
            return self._ask(source_of(frame).at(time, self._ratio))

    def peek(self, frame: Any, *, time: float | None = None) -> Layout:
        """Tells what a frame would become, as far as the events that took effect tell, and changes nothing: for a
        program that has to name a format before the first frame. As `layout`."""
        with self._alone:
            c = CLayout(ctypes.sizeof(CLayout))
            _peek(self._handle, source_of(frame).at(time, self._ratio), c)
            return _layout_of(c)

    def draw(self, frame: Any, into: Any) -> None:
        """Draws a frame into another as the last layout says: each sample is written once, and nothing between rows.

        Args:
            frame: As for `turn`.
            into: A frame of the layout's format and size, which doesn't overlap `frame`.
        """
        with self._alone:
            self._put(source_of(frame), target_of(into))

    def turn(
        self, frame: AnyFrame, into: Any = None, *, time: float | None = None
    ) -> Turned[AnyFrame]:
        """Returns an upright frame: `layout` and `draw` in one call.

        Args:
            frame: A PyAV frame; a numpy array, a tensor of torch or another one with DLPack, or a `memoryview` (height x
                width is gray, height x width x 3 RGB, 4 RGBA); or a `Frame`. It is only read.
            into: The frame to draw into, as for `draw`. Without it there is a new one of the same kind. With the format
                "chw-float", an RGB array, and the result is another.
            time: The frame's time in seconds, instead of its own.

        Raises:
            UprightError: As `layout` and `draw`. If the frame wasn't drawn, the next one that is has `changed`.
            TypeError: `frame` or `into` isn't a frame.
        """
        with self._alone:
            source = source_of(frame)
            layout = self._ask(source.at(time, self._ratio))
            self._is_changed = self._is_changed or layout.changed
            result: Any = into
            if into is None:
                result = _made_array(layout) if self._is_float else _made_like(frame, layout)
            self._put(source, target_of(result))
            if self._is_float:
                result = channels_of(result)
            turned: Turned[AnyFrame] = Turned(result, layout, self._is_changed)
            self._is_changed = False
            return turned

    def decisions(self) -> list[dict[str, Any]]:
        """Removes the decisions since the last call, as in a report. They are kept until then."""
        with self._alone:
            return _decisions(self._handle) or []

    def _ask(self, source: CFrame) -> Layout:
        _layout(self._handle, source, self._c)
        # Most frames have the layout of the last one.
        kept = bytes(self._c)
        if kept != self._kept:
            self._kept, self._last = kept, _layout_of(self._c)
        return self._last

    def _put(self, source: Borrowed, target: Borrowed) -> None:
        if target.overlaps(source):
            raise UprightError("usage", "the frames share memory", "into", "give memory of its own")
        _draw(self._handle, source.c, target.c)


class _Alone:
    """One call at a time; a second one is refused as in C."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise UprightError("busy", "another call is using it", "Frames", "use it on one thread at a time")

    def __exit__(self, *exception: object) -> None:
        self._lock.release()


def _layout_of(c: CLayout) -> Layout:
    return Layout(
        c.changed != 0, NAMES[c.pixels], c.width, c.height, c.chroma, c.turn, ORIENTATIONS[c.app_orientation],
        c.capture_enabled != 0, (c.capture_width, c.capture_height), tuple(c.source_rect), tuple(c.target_rect),
        tuple(c.transform), c.is_identity != 0)


def _made_like(frame: Any, layout: Layout) -> Any:
    """Makes a frame for `layout` of the same kind as `frame`."""
    if is_av(frame):
        return _made_av(frame, layout)
    geometry = geometry_of(layout.pixels, layout.width, layout.height)
    if not isinstance(frame, Frame):
        return _made_plane(frame, geometry.shapes[0], 1)
    first = frame.planes[0] if isinstance(frame.planes, tuple) else frame.planes
    planes = tuple(_made_plane(first, shape, geometry.bytes) for shape in geometry.shapes)
    return Frame(
        planes, layout.pixels, (layout.width, layout.height), None, frame.pts, frame.time_base, 1, layout.chroma,
        frame.matrix, frame.full_range, Fraction(1))


def _made_array(layout: Layout) -> Any:
    import numpy

    return numpy.empty(geometry_of(layout.pixels, layout.width, layout.height).shapes[0], "B")


def _made_plane(like: Any, shape: tuple[int, ...], size: int) -> Any:
    """Makes a plane: a tensor of torch or an array of numpy if `like` is one, else a view of new memory."""
    samples = "H" if size == 2 else "B"
    if type(like).__module__ == "torch":
        # Without an import statement: type checkers need not have it.
        torch: Any = importlib.import_module("torch")
        return torch.empty(shape, dtype=torch.uint16 if size == 2 else torch.uint8)
    if type(like).__module__ == "numpy" or is_tensor(like):
        import numpy

        return numpy.empty(shape, samples)
    view: Any = memoryview(bytearray(math.prod(shape) * size))
    return view.cast(samples, shape)


def _made_av(frame: Any, layout: Layout) -> Any:
    name = frame.format.name
    pixels = layout.pixels.replace("yuv", "yuvj") if name in FULL_RANGE else layout.pixels
    made = type(frame)(layout.width, layout.height, pixels)
    if frame.time_base is not None:
        made.pts, made.time_base = frame.pts, frame.time_base
    if not layout.pixels.startswith("rgb"):
        made.colorspace, made.color_range = frame.colorspace, frame.color_range
    made.color_primaries, made.color_trc = frame.color_primaries, frame.color_trc
    return made
