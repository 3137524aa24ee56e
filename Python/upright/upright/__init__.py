"""Orients video by a rotation policy: frames, packets and whole files.

    report = upright.transcode("raw.mp4", "live.m3u8", frames="sensor", events=open("turns.jsonl").read())

The policy and frames in memory are those of the package `upright_policy`, which works without FFmpeg.
"""

from upright_policy import (
    Event, Format, Frame, FrameOptions, Frames, Layout, Option, Policy, Turned, UprightError, __version__, explain)

from ._options import SessionOptions, TranscodeOptions
from ._session import Decision, FormatChange, Output, Packet, PacketSession, Refused, Stream
from ._transcode import Transcode, Update, probe, transcode, transcode_async

__all__ = [
    "Decision",
    "Event",
    "Format",
    "FormatChange",
    "Frame",
    "FrameOptions",
    "Frames",
    "Layout",
    "Option",
    "Output",
    "Packet",
    "PacketSession",
    "Policy",
    "Refused",
    "SessionOptions",
    "Stream",
    "Transcode",
    "TranscodeOptions",
    "Turned",
    "Update",
    "UprightError",
    "__version__",
    "explain",
    "probe",
    "transcode",
    "transcode_async",
]
