"""The options of the command line, as keyword arguments: hyphens are underscores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from upright_policy._frames import OrientingOptions


class SessionOptions(OrientingOptions, total=False):
    """The options of `PacketSession`."""

    #: "h264" (default), "hevc", "vp9" or "av1".
    codec: str
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
    canvas: str
    size: str
    reference: str
    fit: str
    anchor: str
    focus_ease: float
    background: str
    gravity: str
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


class TranscodeOptions(TypedDict, total=False):
    """The options of `Transcode` and `transcode`: `upright help transcode` explains them."""

    frames: str
    canvas: str
    reference: str
    fit: str
    anchor: str
    background: str
    gravity: str
    #: A still image that is shown while the camera isn't sent.
    slate: str
    #: Still images over the frames, such as "logo.png@topTrailing:24".
    overlay: Sequence[str]
    level: bool
    size: str
    capture_size: str
    scaler: str
    codec: str
    crf: float
    bitrate: str
    speed: str
    gop: int
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
    strict: bool
    keep_location: bool
    keep_partial: bool
    #: Whether an existing output may be replaced.
    overwrite: bool
    #: The containers, where the names don't tell.
    input_format: str
    format: str
