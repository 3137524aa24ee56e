"""Orients video by a rotation policy: frames, files and packets.

    for frame in upright.open("take.mov"): print(frame.numpy().shape)
    report = upright.transcode("raw.mp4", "live.m3u8", frames="sensor", events={"at": 3.2, "device": "landscapeLeft"})

The policy and frames in memory are those of the package `upright_policy`, which works without FFmpeg.
"""

from upright_policy import (
    Event, Format, Frame, FrameOptions, Frames, Layout, Option, Policy, Turned, UprightError, __version__, explain)

from ._live import LiveSession
from ._log import log
from ._options import LiveOptions, ReaderOptions, SessionOptions, SourceOptions, TagOptions, TranscodeOptions
from ._reader import Reader, ReadFrame, open
from ._segments import MovieSegments
from ._session import Decision, FormatChange, Output, Packet, PacketSession, Refused, Stream
from ._source import Segment, SegmentSource
from ._transcode import Transcode, Update, check, probe, tag, transcode, transcode_async

__all__ = [
    "Decision",
    "Event",
    "Format",
    "FormatChange",
    "Frame",
    "FrameOptions",
    "Frames",
    "Layout",
    "LiveOptions",
    "LiveSession",
    "MovieSegments",
    "Option",
    "Output",
    "Packet",
    "PacketSession",
    "Policy",
    "ReadFrame",
    "Reader",
    "ReaderOptions",
    "Refused",
    "Segment",
    "SegmentSource",
    "SessionOptions",
    "SourceOptions",
    "Stream",
    "TagOptions",
    "Transcode",
    "TranscodeOptions",
    "Turned",
    "Update",
    "UprightError",
    "__version__",
    "check",
    "explain",
    "log",
    "open",
    "probe",
    "tag",
    "transcode",
    "transcode_async",
]
