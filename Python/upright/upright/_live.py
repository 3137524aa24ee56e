"""Live sessions: a stream from a network or a file to networks, files and HLS."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from upright_policy import Event
from upright_policy._library import AGAIN, Elements, encoded, encoded_events, encoded_options

from ._log import Log, logged
from ._media import LIBRARY, waited
from ._options import LiveOptions
from ._transcode import Name, Policy

if TYPE_CHECKING:
    from typing_extensions import Unpack

_new = LIBRARY.function(
    "upright_live_new", ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))
_events = LIBRARY.function("upright_live_events", ctypes.c_void_p, ctypes.c_char_p)
_next = LIBRARY.status_text_function("upright_live_next", ctypes.c_void_p, ctypes.c_double)
_snapshot = LIBRARY.text_function("upright_live_snapshot", ctypes.c_void_p)
_stop = LIBRARY.function("upright_live_stop", ctypes.c_void_p)

#: What happens: a dictionary with "state" ("waiting", "live", "inputLost", "ended", "failed"), "decision", "format",
#: "change", "output", "recording" or "outputRemoved".
Update = dict[str, Any]


class LiveSession(Elements[Update]):
    """Turns a live stream, on threads of its own. `for` and `async for` give its updates, until it has ended.

        async with upright.LiveSession("rtmp://host/live/cam", "live/", frames="sensor") as session:
            session.event({"device": "landscapeLeft"})
            async for update in session: print(update)
    """

    _free = staticmethod(LIBRARY.free("upright_live_free"))

    def __init__(
        self, input: Name, outputs: Name | Sequence[Name], *, policy: Policy = "phone", log: Log = None,
        **options: Unpack[LiveOptions],
    ) -> None:
        """Starts a session.

        Args:
            input: An rtmp, rtsp, srt, udp or http URL; the path of a file, which is read at the speed of its timestamps;
                or a session description of RTP.
            outputs: URLs, folders of HLS (with a / at the end) and files.
            policy: The name of a built-in policy, or a policy document: a dictionary, or JSON.
            log: Receives the level and the text of FFmpeg's messages about the session, warnings and worse, on any thread;
                nothing of them is printed then. As `upright.log`, it replaces FFmpeg's log callback.
            frames, canvas, size, ...: The options of `LiveOptions`.

        Raises:
            UprightError: "usage" for an option, "badData" for the policy or a description, "cannotCreate" for a file that
                exists.
        """
        super().__init__()
        names = [outputs] if isinstance(outputs, (str, os.PathLike)) else outputs
        given = {**options, "policy": policy if isinstance(policy, str) else dict(policy)}
        with logged(self, log):
            _new(
                encoded(os.fspath(input), "input"), b"\n".join(encoded(os.fspath(name), "outputs") for name in names),
                encoded_options(given), self._pointer)

    def event(self, event: Event) -> None:
        """Posts an event, several, or text in JSON Lines. "at" is a media time of the session, in seconds; an event
        without it takes effect at the next frame. From any thread."""
        _events(self._handle, encoded_events(event))

    def receive(self, timeout: float | None = None) -> Update | None:
        """Returns what happens next; `None` when the session has ended.

        Args:
            timeout: How long to wait, in seconds; `None`: as long as it takes.

        Raises:
            UprightError: What ended the session.
            TimeoutError: Nothing happened within the timeout.
        """
        update: Update | None = None

        def call(seconds: float) -> int:
            nonlocal update
            status, update = _next(self._handle, seconds)
            return status

        if waited(call, timeout) == AGAIN:
            raise TimeoutError("nothing has happened yet")
        return update

    def _take(self) -> Update | None:
        return self.receive()

    @property
    def snapshot(self) -> dict[str, Any]:
        """The state, the counters and the outputs."""
        found: dict[str, Any] = _snapshot(self._handle)
        return found

    def stop(self) -> None:
        """Ends the input. Every output is closed so that it is playable. From any thread."""
        _stop(self._handle)
