"""Fragmented MP4 in memory."""

from __future__ import annotations

import ctypes
from fractions import Fraction
from typing import Any

from upright_policy._frame import CRational, rational
from upright_policy._library import Handle

from ._media import LIBRARY
from ._session import CPacket, CStream, Stream, c_packet, c_stream

_Bytes = ctypes.POINTER(ctypes.c_void_p)
_Length = ctypes.POINTER(ctypes.c_size_t)
_new = LIBRARY.function(
    "upright_segments_new", CRational, ctypes.POINTER(CStream), ctypes.POINTER(ctypes.c_void_p))
_begin = LIBRARY.function("upright_segments_begin", ctypes.c_void_p, ctypes.POINTER(CStream), _Bytes, _Length)
_append = LIBRARY.function("upright_segments_append", ctypes.c_void_p, ctypes.POINTER(CPacket))
_cut = LIBRARY.function("upright_segments_cut", ctypes.c_void_p, _Bytes, _Length)


class MovieSegments(Handle):
    """Packs packets into fragmented MP4: an initialization segment for each format, and media segments."""

    _free = staticmethod(LIBRARY.free("upright_segments_free"))

    def __init__(self, time_base: Fraction, audio: Stream | None = None) -> None:
        """Makes a packer.

        Args:
            time_base: Seconds per tick of the packets of video.
            audio: The audio track; `None` if there is none.
        """
        super().__init__()
        _new(rational(time_base, "time_base"), None if audio is None else c_stream(audio, "audio"), self._pointer)

    def begin(self, video: Stream) -> bytes:
        """Begins a format, such as that of a `FormatChange`, and returns its initialization segment. `cut` the segment
        before it first."""
        return self._bytes(_begin, c_stream(video, "video"))

    def append(self, packet: Any) -> None:
        """Adds a packet of either track to the segment: a `Packet`, or a packet of PyAV.

        Raises:
            UprightError: "usage" if no format was begun, "badData" if MP4 can't have the packet.
        """
        c, view = c_packet(packet)
        _append(self._handle, c)
        del view  # The memory was in use until here.

    def cut(self) -> bytes:
        """Ends the segment, which a keyframe should follow, and returns it."""
        return self._bytes(_cut)

    def _bytes(self, call: Any, *arguments: Any) -> bytes:
        start, length = ctypes.c_void_p(), ctypes.c_size_t()
        call(self._handle, *arguments, start, length)
        return ctypes.string_at(start, length.value) if start.value else b""
