"""Compressed frames in memory in, compressed upright frames out."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, Union

from upright_policy import Event, UprightError
from upright_policy._frame import CRational, address_of, rational
from upright_policy._library import (
    AGAIN, END, Elements, Handle, encoded, encoded_events, encoded_options, encoded_policy)

from ._log import Log, logged
from ._media import LIBRARY, waited
from ._options import SessionOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

_NO_TIME = -(1 << 63)


class CStream(ctypes.Structure):
    """`upright_stream`."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("codec", ctypes.c_char_p),
        ("extradata", ctypes.POINTER(ctypes.c_char)),
        ("extradata_size", ctypes.c_size_t),
        ("width", ctypes.c_int32),
        ("height", ctypes.c_int32),
        ("sample_rate", ctypes.c_int32),
        ("channels", ctypes.c_int32),
        ("time_base", CRational),
    ]


class CPacket(ctypes.Structure):
    """`upright_packet`."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("bytes", ctypes.c_void_p),
        ("length", ctypes.c_size_t),
        ("pts", ctypes.c_int64),
        ("dts", ctypes.c_int64),
        ("duration", ctypes.c_int64),
        ("time_base", CRational),
        ("track", ctypes.c_int32),
        ("is_key", ctypes.c_int32),
        ("has_cvo", ctypes.c_int32),
        ("cvo", ctypes.c_int32),
    ]


class COutput(ctypes.Structure):
    """`upright_output`."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("kind", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("packet", CPacket),
        ("stream", CStream),
        ("json", ctypes.c_char_p),
    ]


@dataclass
class Stream:
    """A stream of packets."""

    #: Video: "h264", "hevc", "vp8", "vp9", "av1". Audio: "aac", "opus", "mp3", "pcm_alaw", "pcm_mulaw".
    codec: str
    #: Seconds per tick of the packets. Audio has ticks of a sample.
    time_base: Fraction
    #: The codec's configuration (avcC, hvcC, av1C, vpcC; AudioSpecificConfig, OpusHead); empty if it is in band.
    extradata: bytes = b""
    #: Video: the coded width and height, or `None` if only the packets tell.
    size: tuple[int, int] | None = None
    #: Audio: samples per second, and the number of channels.
    sample_rate: int = 0
    channels: int = 0


@dataclass
class Packet:
    """A compressed frame, or a packet of audio."""

    #: The access unit. H.264 and HEVC: NAL units with start codes, or with length fields if the stream has
    #: extradata. AV1: a temporal unit. VP8, VP9: a frame. Audio: an access unit without ADTS or Ogg. What is sent
    #: can be any object with the buffer protocol.
    data: Any
    #: The presentation time, in ticks.
    pts: int
    #: Seconds per tick.
    time_base: Fraction
    #: The decoding time, in ticks; `None` if it equals `pts`.
    dts: int | None = None
    #: In ticks; 0 if it isn't known.
    duration: int = 0
    #: Whether decoding can start here.
    is_key: bool = False
    track: Literal["video", "audio"] = "video"
    #: The byte of urn:3gpp:video-orientation that the frame's RTP packets carried; `None`: the last one applies.
    cvo: int | None = None

    def __bytes__(self) -> bytes:
        return bytes(self.data)


@dataclass
class FormatChange:
    """The packets from here on have this format. The next packet of video is a keyframe."""

    stream: Stream
    #: An entry of "formats" of a report.
    format: dict[str, Any]


@dataclass
class Decision:
    """An event was decided."""

    #: An entry of "events" of a report.
    decision: dict[str, Any]


@dataclass
class Refused:
    """An event makes no sense in this policy, and was left out."""

    reason: str


Output = Union[FormatChange, Packet, Decision, Refused]

_new = LIBRARY.function(
    "upright_session_new", ctypes.POINTER(CStream), ctypes.POINTER(CStream), ctypes.c_char_p, ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_void_p))
_new_rtp = LIBRARY.function(
    "upright_session_new_rtp", ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))
_events = LIBRARY.function("upright_session_events", ctypes.c_void_p, ctypes.c_char_p)
_send = LIBRARY.function("upright_session_send", ctypes.c_void_p, ctypes.POINTER(CPacket), ctypes.c_double)
_send_rtp = LIBRARY.function(
    "upright_session_send_rtp", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_double)
_receive = LIBRARY.function("upright_session_receive", ctypes.c_void_p, ctypes.c_double, ctypes.POINTER(COutput))
_event_fd = LIBRARY.function("upright_session_event_fd", ctypes.c_void_p, ctypes.POINTER(ctypes.c_int32))
_counters = LIBRARY.text_function("upright_session_counters", ctypes.c_void_p)
_request_keyframe = LIBRARY.function("upright_session_request_keyframe", ctypes.c_void_p)
_finish = LIBRARY.function("upright_session_finish", ctypes.c_void_p)
_cancel = LIBRARY.function("upright_session_cancel", ctypes.c_void_p)


class PacketSession(Elements[Output]):
    """Decodes, turns and encodes on threads of its own. All queues are bounded. `for` and `async for` receive.

    One thread sends while another receives, or one thread does both by turns with a timeout of 0. The other methods
    are called from any thread.
    """

    _free = staticmethod(LIBRARY.free("upright_session_free"))

    def __init__(
        self, video: Stream, audio: Stream | None = None, *, policy: str | Mapping[str, Any] = "phone",
        log: Log = None, **options: Unpack[SessionOptions],
    ) -> None:
        """Starts a session.

        Args:
            video: The packets of video that will be sent.
            audio: Those of audio, which come out as they went in.
            policy: The name of a built-in policy, or a policy document: a dictionary, or JSON.
            log: Receives the level and the text of FFmpeg's messages about the session, warnings and worse, on any thread;
                nothing of them is printed then. As `upright.log`, it replaces FFmpeg's log callback.

        Raises:
            UprightError: "usage" for an option, "badData" for the policy, "unavailable" if a codec isn't there.
        """
        super().__init__()
        with logged(self, log):
            _new(
                c_stream(video, "video"), None if audio is None else c_stream(audio, "audio"), encoded_policy(policy),
                encoded_options(options), self._pointer)

    @classmethod
    def rtp(
        cls, sdp: str, *, policy: str | Mapping[str, Any] = "phone", log: Log = None,
        **options: Unpack[SessionOptions],
    ) -> PacketSession:
        """Starts a session whose input is RTP packets: H.264, VP8 or VP9 with CVO, and Opus or G.711. Send them by
        `send_rtp`. Output begins with the first keyframe; video has ticks of 1/90000 s.

        Args:
            sdp: The session description: codecs, payload types, and which header extension is CVO.
            policy: The name of a built-in policy, or a policy document: a dictionary, or JSON.
            log: As for a session of packets.

        Raises:
            UprightError: "usage" for an option, "badData" for the policy or the description, "unavailable" if a codec
                isn't there.
        """
        session = cls.__new__(cls)
        Handle.__init__(session)
        with logged(session, log):
            _new_rtp(encoded(sdp, "sdp"), encoded_policy(policy), encoded_options(options), session._pointer)
        return session

    def event(self, event: Event) -> None:
        """Posts an event, several, or text in JSON Lines. "at" is a time of the packets, in seconds."""
        _events(self._handle, encoded_events(event))

    def send(self, packet: Any, timeout: float | None = None) -> bool:
        """Sends a packet, in decoding order, and copies it.

        Args:
            packet: A `Packet`, or a packet of PyAV.
            timeout: How long to wait while the session is behind, in seconds; `None`: as long as it takes.

        Returns:
            `False` if there was no room within the timeout.

        Raises:
            UprightError: What ended the session; "invalid" after `finish`.
        """
        c, view = c_packet(packet)
        status = waited(lambda seconds: _send(self._handle, c, seconds), timeout)
        del view  # The memory was in use until here.
        return status != AGAIN

    def send_rtp(self, packet: Any, timeout: float | None = None) -> bool:
        """Sends an RTP packet of either track, in the order of arrival, and copies it. For a session of `rtp`.

        Args:
            packet: An object with the buffer protocol.
            timeout: How long to wait while the session is behind, in seconds; `None`: as long as it takes.

        Returns:
            `False` if there was no room within the timeout: the packet is lost if it isn't sent again.
        """
        view = memoryview(packet)
        if not view.c_contiguous:
            raise UprightError("usage", "the bytes are not adjacent", "packet", "give a copy of them")
        address = address_of(view) if view.nbytes else None
        return waited(lambda seconds: _send_rtp(self._handle, address, view.nbytes, seconds), timeout) != AGAIN

    def receive(self, timeout: float | None = None) -> Output | None:
        """Returns the next element of the output; `None` at its end.

        Args:
            timeout: How long to wait, in seconds; `None`: as long as it takes.

        Raises:
            UprightError: What ended the session.
            TimeoutError: Nothing came within the timeout.
        """
        c = COutput(ctypes.sizeof(COutput))
        status = waited(lambda seconds: _receive(self._handle, seconds, c), timeout)
        if status == AGAIN:
            raise TimeoutError("there is no output yet")
        return None if status == END else _output(c)

    def _take(self) -> Output | None:
        return self.receive()

    def fileno(self) -> int:
        """Returns a descriptor that becomes readable when there may be space for a packet again, or output, and at the
        end: for `select` and `loop.add_reader`. Read it (8 bytes), then send and receive with a timeout of 0."""
        descriptor = ctypes.c_int32()
        _event_fd(self._handle, descriptor)
        return descriptor.value

    @property
    def counters(self) -> dict[str, int]:
        """What has gone through the session: framesIn, framesOut, keyframes, audioPackets, bytesOut, formats,
        refusedEvents."""
        found: dict[str, int] = _counters(self._handle)
        return found

    def request_keyframe(self) -> None:
        """Makes the next frame a keyframe."""
        _request_keyframe(self._handle)

    def finish(self) -> None:
        """Ends the input. The output ends after the packets of all frames."""
        _finish(self._handle)

    def cancel(self) -> None:
        """Ends the session within one frame. What waits raises "cancelled"."""
        _cancel(self._handle)


def c_stream(stream: Stream, what: str) -> CStream:
    width, height = stream.size or (0, 0)
    extradata = ctypes.create_string_buffer(bytes(stream.extradata))
    return CStream(
        ctypes.sizeof(CStream), encoded(stream.codec, what), ctypes.cast(extradata, ctypes.POINTER(ctypes.c_char)),
        len(stream.extradata), width, height, stream.sample_rate, stream.channels,
        rational(stream.time_base, f"{what}, time_base"))


def c_packet(packet: Any) -> tuple[CPacket, memoryview]:
    """Returns a packet for C, and the view that keeps its memory."""
    if isinstance(packet, Packet):
        view = memoryview(packet.data)
        track, cvo, is_key = packet.track, packet.cvo, packet.is_key
    elif hasattr(packet, "is_keyframe") and hasattr(packet, "stream"):
        view = memoryview(packet)
        track, cvo, is_key = packet.stream.type, None, packet.is_keyframe
    else:
        raise TypeError(f"a {type(packet).__name__} is neither a Packet nor a packet of PyAV")
    if not view.c_contiguous:
        raise UprightError("usage", "the bytes are not adjacent", "packet", "give a copy of them")
    if track not in ("video", "audio"):
        raise UprightError("usage", f"a track of {track!r}", "packet", "give video or audio")
    if packet.pts is None or packet.time_base is None:
        raise UprightError("usage", "the packet has no time", "packet", "leave it out if it is empty")
    times = (packet.pts, _NO_TIME if packet.dts is None else packet.dts, packet.duration or 0)
    if not all(-(1 << 63) <= time < 1 << 63 for time in times):
        raise UprightError("usage", "a time doesn't fit in 64 bits", "packet", "count from the stream's start")
    if cvo is not None and not 0 <= cvo <= 255:
        raise UprightError("usage", f"{cvo} is not a byte", "packet, cvo", "give 0 to 255")
    c = CPacket(
        ctypes.sizeof(CPacket), address_of(view) if view.nbytes else None, view.nbytes, *times,
        rational(packet.time_base, "packet, time_base"), track == "audio", is_key, cvo is not None, cvo or 0)
    return c, view


def _fraction(c: CRational) -> Fraction:
    return Fraction(c.numerator, c.denominator)


def _output(c: COutput) -> Output:
    """Copies an element of the output."""
    if c.kind == 2:
        packet = c.packet
        return Packet(
            ctypes.string_at(packet.bytes, packet.length), packet.pts, _fraction(packet.time_base),
            None if packet.dts == _NO_TIME else packet.dts, packet.duration, packet.is_key != 0,
            "audio" if packet.track == 1 else "video", packet.cvo if packet.has_cvo else None)
    value = json.loads(c.json)
    if c.kind == 1:
        stream = c.stream
        return FormatChange(
            Stream(
                stream.codec.decode(), _fraction(stream.time_base),
                ctypes.string_at(stream.extradata, stream.extradata_size), (stream.width, stream.height)),
            value)
    return Decision(value) if c.kind == 3 else Refused(value)
