"""A file as HLS on demand."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from upright_policy import Event
from upright_policy._library import Handle, encoded_options

from ._media import LIBRARY
from ._options import SourceOptions
from ._reader import _document, _events
from ._transcode import Name, Policy, _encoded_name

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Bytes = ctypes.POINTER(ctypes.c_void_p)
_Length = ctypes.POINTER(ctypes.c_size_t)
_new = LIBRARY.function(
    "upright_source_new", ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))
_description = LIBRARY.text_function("upright_source_description", ctypes.c_void_p, ctypes.c_char_p)
_segment = LIBRARY.function("upright_source_segment", ctypes.c_void_p, ctypes.c_int64, _Bytes, _Length)
_init_segment = LIBRARY.function("upright_source_init_segment", ctypes.c_void_p, ctypes.c_int64, _Bytes, _Length)
_file = LIBRARY.function("upright_source_file", ctypes.c_void_p, ctypes.c_char_p, _Bytes, _Length)
_multivariant = LIBRARY.text_function(
    "upright_source_multivariant", ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_char_p), ctypes.c_size_t,
    parse=bytes.decode)


@dataclass(frozen=True)
class Segment:
    """A segment of a playlist."""

    #: The time of its first frame from the first frame of the file, and its duration, in seconds.
    start: float
    duration: float
    #: The number of its format, from 0, which has an init segment of its own.
    format: int
    #: Width and height of its frames.
    size: tuple[int, int]
    #: Why its frames are encoded; `None` if they are copied.
    reason: str | None


class SegmentSource(Handle):
    """A file as HLS on demand: each segment is made when it is asked for, with the same bytes in any order and process.

        source = upright.SegmentSource("clip.mov")
        source.playlist        # lists init-0.mp4, 0.m4s, 1.m4s ...
        source.segment(17)
    """

    _free = staticmethod(LIBRARY.free("upright_source_free"))

    def __init__(
        self, input: Name, *, policy: Policy = "phone", events: Event | os.PathLike[str] | None = None,
        **options: Unpack[SourceOptions],
    ) -> None:
        """Reads the packets of a file.

        Args:
            input: A path, or a URL of a seekable file.
            policy: The name of a built-in policy, or a policy document: a dictionary, or JSON.
            events: Events in seconds from the first frame: dictionaries, text in JSON Lines, or the path of a file of it.
            size, frames, fit, ...: The options of `SourceOptions`. Without a size, 720x1280, and no side longer than the
                file's.

        Raises:
            UprightError: "usage" for options that segments can't have, and for a file that can't be divided; "noInput" or
                "badData" for one that can't be read.
        """
        super().__init__()
        given = {**options, "policy": _document(policy), "events": _events(events)}
        _new(_encoded_name(input, "input"), encoded_options(given), self._pointer)
        described = _description(self._handle, None)
        #: The media playlist. It names segment N `N.m4s`, and the init segment of format F `init-F.mp4`.
        self.playlist: str = described["playlist"]
        #: The duration of the video, in seconds.
        self.duration: float = described["duration"]
        #: What a user should know: about the orientation signals, and what the segments lack.
        self.warnings: list[str] = described["warnings"]
        self.segments = [
            Segment(
                entry["start"], entry["duration"], entry["format"], (entry["size"]["width"], entry["size"]["height"]),
                entry["reason"])
            for entry in described["segments"]]

    def playlist_in(self, folder: str) -> str:
        """Returns the playlist with its files in a folder: `FOLDER/N.m4s`."""
        found: str = _description(self._handle, folder.encode())["playlist"]
        return found

    def segment(self, index: int) -> bytes:
        """Returns a segment. Waits while it is made; for two at a time, make two sources.

        Raises:
            UprightError: "usage" if there is no such segment, "badData" if the file has changed or can't be decoded.
        """
        return self._bytes(_segment, index)

    def init_segment(self, format: int = 0) -> bytes:
        """Returns the init segment of a format."""
        return self._bytes(_init_segment, format)

    def file(self, name: str) -> bytes:
        """Returns any file that a playlist names: `index.m3u8` and its segments, `video.m3u8`, `audio-0.m3u8`,
        `captions-0.m3u8` and `keyframes.m3u8` with theirs, and `sprites.vtt`, the list of small pictures for a seek bar, with
        its sheets.

        Raises:
            UprightError: "usage" if there is no such file; otherwise as `segment`.
        """
        return self._bytes(_file, name.encode())

    @staticmethod
    def multivariant_playlist(sources: dict[str, SegmentSource]) -> str:
        """Returns the multivariant playlist of sources of one file in several sizes.

        Args:
            sources: By the folder of their files. Audio and captions are those of the first one.
        """
        count = len(sources)
        handles = (ctypes.c_void_p * count)(*(source._handle for source in sources.values()))
        folders = (ctypes.c_char_p * count)(*(folder.encode() for folder in sources))
        text: str = _multivariant(handles, folders, count)
        return text

    def _bytes(self, call: Any, file: int | bytes) -> bytes:
        start, length = ctypes.c_void_p(), ctypes.c_size_t()
        call(self._handle, file, start, length)
        return ctypes.string_at(start, length.value) if start.value else b""
