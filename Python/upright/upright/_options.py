"""The options of the command line, as keyword arguments: hyphens are underscores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

from upright_policy._frames import Anchor, OrientingOptions

#: `dual` is of transcodes alone.
Canvas = Literal["auto", "follow", "portrait", "landscape", "initial", "majority"]

Fit = Literal["fit", "fill", "stretch", "blur"]


class SessionOptions(OrientingOptions, total=False):
    """The options of `PacketSession`."""

    #: "h264" by default.
    codec: Literal["h264", "hevc", "vp9", "av1"]
    #: Constant quality; or the bit rate, such as "1500k".
    crf: float
    bitrate: str
    #: The encoder's preset.
    speed: str
    #: "key=value:key=value".
    encoder_options: str
    #: The longest time between keyframes, 2 by default.
    keyframe_seconds: float
    #: Frames per second for the rate control, 30 by default.
    frame_rate: float


class ReaderOptions(TypedDict, total=False):
    """The options of `open`: `upright help transcode` explains them."""

    frames: str
    #: Without it, each frame has its own size.
    canvas: Canvas
    size: str
    reference: Literal["gravity", "interface"]
    fit: Fit
    anchor: Anchor
    focus_ease: float
    background: str
    gravity: Literal["android", "iio"]
    overlay: Sequence[str]
    slate: str
    level: bool
    scaler: str
    threads: int
    #: Seconds of the input to begin and end at.
    start: float
    to: float
    events_offset: float
    #: Whether damage is an error.
    strict: bool
    #: The container, if it can't be detected.
    input_format: str


class SourceOptions(TypedDict, total=False):
    """The options of `SegmentSource`: `upright help transcode` explains them."""

    frames: str
    canvas: Canvas
    #: Without it, 720x1280, and no side longer than the file's.
    size: str
    reference: Literal["gravity", "interface"]
    fit: Fit
    anchor: Anchor
    background: str
    gravity: Literal["android", "iio"]
    overlay: Sequence[str]
    level: bool
    codec: str
    crf: float
    bitrate: str
    #: "veryfast" without it.
    speed: str
    #: The number of threads decides the bytes of encoded segments; 3 without it.
    threads: int
    encoder_options: str
    events_offset: float
    #: The container, if it can't be detected.
    input_format: str


class TranscodeOptions(TypedDict, total=False):
    """The options of `Transcode` and `transcode`: `upright help transcode` explains them."""

    frames: str
    canvas: Canvas | Literal["dual"]
    reference: Literal["gravity", "interface"]
    fit: Fit
    #: Of each canvas of "dual", without `fit`.
    portrait_fit: Fit
    landscape_fit: Fit
    anchor: Anchor
    #: How long the crop takes to a new focus, in seconds.
    focus_ease: float
    background: str
    gravity: Literal["android", "iio"]
    #: A still image that is shown while the camera isn't sent.
    slate: str
    #: Still images over the frames, such as "logo.png@topTrailing:24".
    overlay: Sequence[str]
    level: bool
    size: str
    #: Further sizes of HLS, such as "720p:2M".
    ladder: Sequence[str]
    #: The output of the landscape canvas of "dual".
    landscape_output: str
    #: Whether one playlist lists both canvases of "dual".
    common_playlist: bool
    capture_size: str
    scaler: str
    codec: str
    #: FFmpeg's name, such as "libaom-av1" or "h264_vaapi", in place of `codec`.
    encoder: str
    crf: float
    bitrate: str
    speed: str
    gop: int
    #: Frames per second, such as "30000/1001", or "usual".
    constant_rate: str
    #: "live" for low latency.
    latency: str
    threads: int
    encoder_options: str
    #: The length of segments, in seconds.
    segment: float
    hls_segments: str
    split: bool
    #: Seconds of the input to begin and end at.
    start: float
    to: float
    events_offset: float
    audio: str
    upright: str
    reencode: str
    chunks: str
    #: The length of a chunk, in seconds.
    chunk_seconds: float
    strict: bool
    keep_location: bool
    keep_partial: bool
    #: Whether an existing output may be replaced.
    overwrite: bool
    #: The containers, where the names don't tell.
    input_format: str
    format: str


class LiveOptions(TypedDict, total=False):
    """The options of `LiveSession`: `upright help relay` explains them."""

    frames: str
    canvas: Canvas | Literal["dual"]
    size: str
    reference: Literal["gravity", "interface"]
    fit: Fit
    anchor: Anchor
    background: str
    gravity: Literal["android", "iio"]
    slate: str
    overlay: Sequence[str]
    codec: Literal["h264", "hevc", "vp9", "av1"]
    crf: float
    bitrate: str
    speed: str
    #: The length of segments of HLS, in seconds.
    segment: float
    #: The session ends after this time without input, in seconds; 60 by default.
    input_timeout: float


class TagOptions(TypedDict, total=False):
    """The options of `tag`: `upright help tag` explains them."""

    #: Whether SEI messages are written to H.264 and HEVC frames too.
    sei: bool
    strict: bool
    overwrite: bool
    keep_time: bool
    force: bool
    #: A file that takes the old bytes.
    record: str
    input_format: str
    format: str
