"""Orients video by a rotation policy: events in, decisions out; frames in, upright frames out.

    frames = upright_policy.Frames(policy="phone", frames="sensor")
    frames.event({"at": 3.2, "device": "landscapeLeft"})
    for frame in container.decode(video=0):
        upright = frames.turn(frame)
        if upright.changed:
            encoder = open_encoder(upright.width, upright.height)

Files and packets are in the package `upright`.
"""

from ._error import UprightError
from ._frame import Frame
from ._frames import FrameOptions, Frames, Layout, Turned
from ._library import Event, Option
from ._policy import LIBRARY as _LIBRARY
from ._policy import Format, Policy, explain

__version__ = _LIBRARY.version

__all__ = [
    "Event",
    "Format",
    "Frame",
    "FrameOptions",
    "Frames",
    "Layout",
    "Option",
    "Policy",
    "Turned",
    "UprightError",
    "explain",
]
