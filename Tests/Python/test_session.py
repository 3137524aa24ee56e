"""Packets in, packets out, with PyAV as the encoder before and the decoder after."""

import asyncio
import io
import threading
import time
from fractions import Fraction

import av
import numpy as np
import pytest
from upright import Decision, FormatChange, MovieSegments, Packet, PacketSession, Refused, Stream, UprightError

CLOCK = Fraction(1, 90000)


def white(width, height):
    """Returns a frame of I420 whose top left quarter is white."""
    frame = np.full((height * 3 // 2, width), 128, np.uint8)
    frame[:height] = 16
    frame[:height // 2, :width // 2] = 235
    return frame


def encoded(count, codec="libx264", width=160, height=90):
    """Returns packets of frames whose top left quarter is white."""
    context = av.CodecContext.create(codec, "w")
    context.width, context.height, context.pix_fmt, context.time_base = width, height, "yuv420p", CLOCK
    context.gop_size, context.max_b_frames = 15, 0
    packets = []
    for index in range(count):
        frame = av.VideoFrame.from_ndarray(white(width, height), "yuv420p")
        frame.pts, frame.time_base = index * 3000, CLOCK
        packets += context.encode(frame)
    return packets + context.encode(None)


def sent(packets, cvo=lambda index: None):
    return [Packet(bytes(packet), packet.pts, CLOCK, packet.dts, is_key=packet.is_keyframe, cvo=cvo(index))
            for index, packet in enumerate(packets)]


def corner(frame):
    """Returns where a decoded frame is white."""
    luma = frame.to_ndarray(format="gray")
    height, width = luma.shape
    bright = {name for name, y, x in (("tl", 1, 1), ("tr", 1, 7), ("bl", 7, 1), ("br", 7, 7))
              if luma[y * height // 8, x * width // 8] > 128}
    return bright.pop() if len(bright) == 1 else "?"


def run(session, packets):
    """Sends and receives on two threads. Returns the output."""
    failed = []

    def send():
        try:
            for packet in packets:
                session.send(packet)
            session.finish()
        except UprightError as error:
            failed.append(error)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        return list(session)
    finally:
        thread.join()
        assert failed == []


def test_the_frames_are_upright_from_the_packet_with_the_cvo_on():
    packets = sent(encoded(60), lambda index: 1 if index < 45 else 0)
    with PacketSession(Stream("h264", CLOCK), size="360p") as session:
        output = run(session, packets)
    received = [element for element in output if isinstance(element, Packet)]
    changes = [element for element in output if isinstance(element, FormatChange)]
    assert [change.stream.size for change in changes] == [(360, 640), (640, 360)]
    assert [packet.pts for packet in received] == [packet.pts for packet in packets]
    assert all(packet.time_base == CLOCK and packet.track == "video" for packet in received)
    assert output[output.index(changes[1]) + 1].is_key
    corners, sizes = [], []
    decoder = av.CodecContext.create("h264", "r")
    for packet in received:
        for frame in decoder.decode(av.Packet(bytes(packet))):
            corners.append(corner(frame))
            sizes.append((frame.width, frame.height))
    for frame in decoder.decode(None):
        corners.append(corner(frame))
        sizes.append((frame.width, frame.height))
    assert corners == ["tr"] * 45 + ["tl"] * 15
    assert sizes == [(360, 640)] * 45 + [(640, 360)] * 15


SDP = """v=0
o=- 0 0 IN IP4 127.0.0.1
s=-
c=IN IP4 127.0.0.1
t=0 0
m=video 5004 RTP/AVP 96
a=rtpmap:96 H264/90000
a=fmtp:96 packetization-mode=1
a=extmap:3 urn:3gpp:video-orientation
"""


def rtp(packets, cvo):
    """Returns RTP packets, each NAL unit in one, with the orientation at the end of each frame."""
    number = 0
    for index, packet in enumerate(packets):
        units = [unit.strip(b"\0") for unit in bytes(packet).split(b"\0\0\1") if unit.strip(b"\0")]
        for unit in units:
            is_last = unit is units[-1]
            header = bytes([0x90 if is_last else 0x80, 96 | is_last << 7])
            header += number.to_bytes(2, "big") + packet.pts.to_bytes(4, "big") + b"\0\0\0\7"
            yield header + (bytes([0xbe, 0xde, 0, 1, 0x30, cvo(index), 0, 0]) if is_last else b"") + unit
            number += 1


def test_rtp():
    packets = encoded(60)

    async def receive(session):
        async with session:
            return [output async for output in session]

    session = PacketSession.rtp(SDP, size="180p")

    def send():
        for packet in rtp(packets, lambda index: 1 if index < 45 else 0):
            assert session.send_rtp(packet)
        session.finish()

    thread = threading.Thread(target=send)
    thread.start()
    output = asyncio.run(receive(session))
    thread.join()
    assert [change.stream.size for change in output if isinstance(change, FormatChange)] == [(180, 320), (320, 180)]
    assert sum(isinstance(element, Packet) for element in output) == 60
    with pytest.raises(UprightError) as raised:
        PacketSession(Stream("h264", CLOCK)).send_rtp(b"")
    assert raised.value.code == "invalid"
    with pytest.raises(UprightError):
        PacketSession.rtp("no description")


def test_segments():
    packets = sent(encoded(60), lambda index: 1 if index < 45 else 0)
    segments, parts = MovieSegments(CLOCK), []
    with pytest.raises(UprightError) as raised:
        segments.append(packets[0])
    assert raised.value.code == "usage"
    with PacketSession(Stream("h264", CLOCK), size="180p") as session:
        for output in run(session, packets):
            if isinstance(output, FormatChange):
                if parts:
                    parts[-1] += segments.cut()
                parts.append(segments.begin(output.stream))
            elif isinstance(output, Packet):
                segments.append(output)
        assert session.counters["framesOut"] == 60 and session.fileno() > 0
    parts[-1] += segments.cut()
    decoded = []
    for part in parts:
        with av.open(io.BytesIO(part)) as container:
            decoded.append([(frame.width, frame.height) for frame in container.decode(video=0)])
    assert decoded == [[(180, 320)] * 45, [(320, 180)] * 15]


def test_audio_that_was_not_described_is_refused():
    with PacketSession(Stream("h264", CLOCK)) as session, pytest.raises(UprightError) as raised:
        session.send(Packet(b"1234", 0, Fraction(1, 48000), track="audio"))
    assert raised.value.code == "usage"


def test_packets_of_pyav_and_events(clips):
    with av.open(str(clips / "turning-sensor.mp4")) as container:
        stream = container.streams.video[0]
        description = Stream("h264", stream.time_base, stream.codec_context.extradata, (stream.width, stream.height))
        with PacketSession(description, frames="sensor", size="180p") as session:
            session.event((clips / "turning-sensor.jsonl").read_text())
            output = run(session, (packet for packet in container.demux(stream) if packet.size))
    assert [element.stream.size for element in output if isinstance(element, FormatChange)] == [
        (180, 320), (320, 180), (180, 320)]
    assert [element.decision["decision"] for element in output if isinstance(element, Decision)] == [
        "keep", "rotate", "rotate"]
    assert sum(isinstance(element, Packet) for element in output) == 300


def test_an_event_that_makes_no_sense_is_reported():
    with PacketSession(Stream("h264", CLOCK), frames="sensor", size="180p") as session:
        session.event({"at": 0.1, "pop": "nothing"})
        output = run(session, sent(encoded(10)))
    refused = [element for element in output if isinstance(element, Refused)]
    assert len(refused) == 1 and "nothing" in refused[0].reason


def test_one_thread_with_timeouts():
    packets, received = sent(encoded(40)), 0
    with PacketSession(Stream("h264", CLOCK), frames="sensor", size="180p") as session:
        waiting = iter(packets)
        packet, is_over = next(waiting), False
        while not is_over:
            if packet is not None and session.send(packet, 0):
                packet = next(waiting, None)
                if packet is None:
                    session.finish()
            try:
                element = session.receive(0 if packet else 5)
                is_over = element is None
                received += isinstance(element, Packet)
            except TimeoutError:
                pass
    assert received == 40


def test_nothing_comes_within_the_timeout():
    with PacketSession(Stream("h264", CLOCK)) as session:
        for seconds in (0, 0.05, 0.3):
            before = time.monotonic()
            with pytest.raises(TimeoutError):
                session.receive(seconds)
            assert time.monotonic() - before >= seconds


def test_a_keyframe_is_made_on_request():
    packets = sent(encoded(20))
    with PacketSession(Stream("h264", CLOCK), frames="sensor", size="180p", keyframe_seconds=60) as session:
        for packet in packets[:10]:
            session.send(packet)
        output = []
        while not any(isinstance(element, Packet) for element in output):
            output.append(session.receive())
        session.request_keyframe()
        output += run(session, packets[10:])
    keys = [element.is_key for element in output if isinstance(element, Packet)]
    # The frames before may be encoded already.
    assert keys[0] and sum(keys) == 2


def test_cancelling_wakes_what_waits():
    with PacketSession(Stream("h264", CLOCK)) as session:
        threading.Timer(0.1, session.cancel).start()
        with pytest.raises(UprightError) as caught:
            session.receive()
        assert caught.value.code == "cancelled"


def test_closing_wakes_what_waits():
    session = PacketSession(Stream("h264", CLOCK))
    threading.Timer(0.1, session.close).start()
    with pytest.raises(UprightError) as caught:
        session.receive()
    assert caught.value.code in ("cancelled", "invalid")


def test_control_c_ends_waiting(control_c):
    session = PacketSession(Stream("h264", CLOCK))
    control_c(0.1)
    with pytest.raises(KeyboardInterrupt):
        session.receive()
    session.close()


def test_another_thread_can_send_while_one_waits():
    """Waiting in `receive` would last for ever if it had the interpreter's lock."""
    packets = sent(encoded(30))
    with PacketSession(Stream("h264", CLOCK), frames="sensor", size="180p") as session:
        first = []
        thread = threading.Thread(target=lambda: first.append(session.receive()))
        thread.start()
        for packet in packets:
            session.send(packet)
        session.finish()
        thread.join(10)
        assert len(first) == 1


def test_garbage_ends_the_session_with_an_error_or_is_left_out():
    generator = np.random.default_rng(5)
    for codec in ("h264", "hevc", "vp8", "vp9", "av1"):
        with PacketSession(Stream(codec, CLOCK)) as session:
            try:
                for index in range(20):
                    data = generator.integers(0, 256, 500, np.uint8)
                    session.send(Packet(data, index * 3000, CLOCK, is_key=index == 0))
                session.finish()
                assert not any(isinstance(element, Packet) for element in session)
            except UprightError as error:
                assert error.code in ("badData", "unavailable", "inputOutput", "noInput")


@pytest.mark.parametrize("packet", [
    Packet(b"", 0, CLOCK), Packet(b"x", None, CLOCK), Packet(b"x", 0, None), Packet(b"x", 0, Fraction(0)),
    Packet(b"x", 1 << 63, CLOCK), Packet(b"x", -(1 << 63), CLOCK), Packet(b"x", 0, CLOCK, dts=1 << 80),
    Packet(b"x", 0, CLOCK, duration=-1), Packet(b"x", 0, CLOCK, track="text"), Packet(b"x", 0, CLOCK, cvo=256),
    Packet(b"x", 0, CLOCK, cvo=-1), Packet(np.zeros(8, np.uint8)[::2], 0, CLOCK), Packet(b"x", 0, Fraction(1, 1 << 40)),
])
def test_packets_that_are_none(packet):
    with PacketSession(Stream("h264", CLOCK)) as session, pytest.raises(UprightError) as caught:
        session.send(packet)
    assert caught.value.code == "usage"


@pytest.mark.parametrize("packet", [
    None, b"bytes", 7, Packet("text", 0, CLOCK), Packet(None, 0, CLOCK), Packet(b"x", "0", CLOCK),
])
def test_objects_that_are_no_packets(packet):
    with PacketSession(Stream("h264", CLOCK)) as session, pytest.raises(TypeError):
        session.send(packet)


def test_misuse():
    for code, make in (
        ("usage", lambda: PacketSession(Stream("mpeg", CLOCK))),
        ("usage", lambda: PacketSession(Stream("h264", Fraction(0)))),
        ("usage", lambda: PacketSession(Stream("h264", CLOCK, size=(-1, 7)))),
        ("usage", lambda: PacketSession(Stream("h264", CLOCK), nonsense=1)),
        ("usage", lambda: PacketSession(Stream("h264", CLOCK), codec="cinepak")),
        ("usage", lambda: PacketSession(Stream("h264", CLOCK), policy="nobody's")),
        ("usage", lambda: PacketSession(Stream("\0", CLOCK))),
        ("usage", lambda: PacketSession(Stream("h264", CLOCK), Stream("h264", CLOCK))),
    ):
        with pytest.raises(UprightError) as caught:
            make()
        assert caught.value.code == code
    session = PacketSession(Stream("h264", CLOCK))
    session.finish()
    session.finish()
    with pytest.raises(UprightError) as caught:
        session.send(sent(encoded(1))[0])
    assert caught.value.code == "invalid"
    session.close()
    for call in (session.finish, session.cancel, session.receive, lambda: session.event({"device": "portrait"})):
        with pytest.raises(UprightError, match="closed"):
            call()


def test_audio_comes_out_as_it_went_in():
    rate = Fraction(1, 8000)
    with PacketSession(Stream("h264", CLOCK), Stream("pcm_alaw", rate, sample_rate=8000, channels=1), frames="sensor",
                       size="180p") as session:
        audio = [Packet(bytes([index] * 160), index * 160, rate, duration=160, is_key=True, track="audio")
                 for index in range(50)]
        video = sent(encoded(30))
        output = run(session, sorted(video + audio, key=lambda packet: packet.pts * packet.time_base))
    out = [element for element in output if isinstance(element, Packet) and element.track == "audio"]
    assert [(packet.data, packet.pts) for packet in out] == [(packet.data, packet.pts) for packet in audio]
