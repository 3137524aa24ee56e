"""The policy: events in, decisions and stream formats out."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ._library import Event, Handle, Library, encoded_events, encoded_policy

LIBRARY = Library(__file__, "libuprightpolicy")

#: The orientations of an app's interface, by the library's numbers.
ORIENTATIONS = {1: "portrait", 2: "portraitUpsideDown", 3: "landscapeRight", 4: "landscapeLeft"}


class CFormat(ctypes.Structure):
    """`upright_format`."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("app_orientation", ctypes.c_int32),
        ("capture_enabled", ctypes.c_int32),
        ("capture_width", ctypes.c_int32),
        ("capture_height", ctypes.c_int32),
        ("encode_width", ctypes.c_int32),
        ("encode_height", ctypes.c_int32),
    ]


@dataclass
class Format:
    """What an app's interface and its stream are like at a time."""

    #: The orientation of the app: "portrait", "portraitUpsideDown", "landscapeLeft" or "landscapeRight".
    app_orientation: str
    #: Whether the camera is sent.
    capture_enabled: bool
    #: Width and height that the app is told to capture.
    capture_size: tuple[int, int]
    #: Width and height that the stream is encoded in.
    encode_size: tuple[int, int]


_new = LIBRARY.function("upright_plan_new", ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))
_events = LIBRARY.function("upright_plan_events", ctypes.c_void_p, ctypes.c_char_p)
_advance = LIBRARY.function("upright_plan_advance", ctypes.c_void_p, ctypes.c_double)
_finish = LIBRARY.function("upright_plan_finish", ctypes.c_void_p)
_format = LIBRARY.function("upright_plan_format", ctypes.c_void_p, ctypes.c_double, ctypes.POINTER(CFormat))
_take = LIBRARY.text_function("upright_plan_take", ctypes.c_void_p)
_explain = LIBRARY.text_function("upright_explain", ctypes.c_char_p, ctypes.c_char_p)


class Policy(Handle):
    """The decisions of a policy over time, without video. One thread at a time."""

    _free = staticmethod(LIBRARY.free("upright_plan_free"))

    def __init__(self, policy: str | Mapping[str, Any] = "phone") -> None:
        """Starts a policy.

        Args:
            policy: The name of a built-in policy, or a policy document: a dictionary, or JSON.

        Raises:
            UprightError: "badData" for a policy that is malformed or can't start.
        """
        super().__init__()
        _new(encoded_policy(policy), self._pointer)

    def event(self, event: Event) -> None:
        """Adds an event, several, or text in JSON Lines. Their times, "at" in seconds, don't go backwards.

        Raises:
            UprightError: "badData" for what isn't an event: then none is added; or for an event that makes no sense
                in this policy: then those before it are added.
        """
        _events(self._handle, encoded_events(event))

    def advance(self, time: float) -> None:
        """Completes the rotations that end by `time`, in seconds, and forgets what is only needed before."""
        _advance(self._handle, time)

    def finish(self) -> None:
        """Completes all rotations, so that every event has its decision."""
        _finish(self._handle)

    def format(self, time: float) -> Format:
        """Returns what the stream is like at `time`, in seconds, as far as the events so far tell."""
        c = CFormat(ctypes.sizeof(CFormat))
        _format(self._handle, time, c)
        return Format(
            ORIENTATIONS[c.app_orientation], c.capture_enabled != 0, (c.capture_width, c.capture_height),
            (c.encode_width, c.encode_height))

    def take(self) -> dict[str, Any]:
        """Removes what was decided since the last call: {"events": [...], "formats": [...]}, as in a report."""
        decided: dict[str, Any] = _take(self._handle)
        return decided


def explain(policy: str | Mapping[str, Any] = "phone", events: Event = "") -> dict[str, Any]:
    """Returns what a policy decides for events, from start to end, as `upright explain --json` prints it."""
    explained: dict[str, Any] = _explain(encoded_policy(policy), encoded_events(events))
    return explained
