"""A minimal MPEG-TS (ISO/IEC 13818-1) parser, which finds the frame at which a live stream changes its size."""
import socket
import struct
from typing import NamedTuple

PACKET = 188
# linux/socket.h: the kernel's time of arrival, so that a busy reader adds no delay.
SO_TIMESTAMPNS = 35


class Unit(NamedTuple):
    """A frame: the arrival time of its last byte (seconds since 1970), its PTS in ticks of 1/90000 s, and its
    coded width."""
    arrival: float
    pts: int
    width: int | None


class Receiver:
    """MPEG-TS over UDP on loopback, split into frames."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.units = []
        self.pid, self.unit, self.arrival, self.width = None, [], 0.0, None

    def receive(self, seconds):
        """Receives a datagram within the timeout. Returns the units that it completes, or None if nothing was
        received."""
        before = len(self.units)
        self.socket.settimeout(seconds)
        try:
            data, extra, _, _ = self.socket.recvmsg(1 << 16, 64)
        except (TimeoutError, BlockingIOError, socket.timeout):
            return None
        for level, kind, value in extra:
            if level == socket.SOL_SOCKET and kind == SO_TIMESTAMPNS:
                whole, nano = struct.unpack("qq", value[:16])
                self.take(data, whole + nano / 1e9)
        return self.units[before:]

    def take(self, data, arrival):
        for start in range(0, len(data) - PACKET + 1, PACKET):
            packet = data[start:start + PACKET]
            # 2.4.3.2: sync byte, payload_unit_start_indicator, PID, adaptation_field_control.
            if packet[0] != 0x47 or not packet[3] & 0x10:
                continue
            pid = (packet[1] & 0x1F) << 8 | packet[2]
            payload = packet[4 + (1 + packet[4] if packet[3] & 0x20 else 0):]
            # 2.4.3.6: a PES packet of a video stream with a PTS.
            if packet[1] & 0x40 and payload[:3] == b"\0\0\1" and payload[3] & 0xF0 == 0xE0:
                self.close()
                self.pid, self.unit = pid, [payload]
            elif pid == self.pid:
                self.unit.append(payload)
            else:
                continue
            self.arrival = arrival

    def close(self):
        """Ends a unit, when the next one starts. Its time is that of its last byte."""
        if not self.unit:
            return
        whole = b"".join(self.unit)
        fields = whole[9:14]
        pts = ((fields[0] >> 1 & 7) << 30 | fields[1] << 22 | (fields[2] >> 1) << 15
               | fields[3] << 7 | fields[4] >> 1)
        self.width = width(whole[9 + whole[8]:]) or self.width
        self.units.append(Unit(self.arrival, pts, self.width))


class Bits:
    def __init__(self, data):
        # ISO/IEC 14496-10, 7.4.1: without the emulation prevention bytes.
        self.data, self.place = data.replace(b"\0\0\3", b"\0\0"), 0

    def read(self, count):
        value = 0
        for _ in range(count):
            value = value << 1 | self.data[self.place >> 3] >> (7 - (self.place & 7)) & 1
            self.place += 1
        return value

    def golomb(self):
        """Reads ue(v), 9.1."""
        zeros = 0
        while not self.read(1):
            zeros += 1
        return (1 << zeros) - 1 + self.read(zeros)


def width(unit):
    """Returns the coded width in the access unit's sequence parameter set; None without one."""
    place = unit.find(b"\0\0\1\x67")
    if place < 0:
        return None
    bits = Bits(unit[place + 4:place + 60])
    profile = bits.read(8)
    bits.read(16)
    bits.golomb()
    if profile in (100, 110, 122, 244):
        # 7.3.2.1.1: chroma format, bit depths, bypass, no scaling matrix in what x264 writes here.
        if bits.golomb() == 3:
            bits.read(1)
        bits.golomb()
        bits.golomb()
        bits.read(1)
        if bits.read(1):
            return None
    bits.golomb()
    kind = bits.golomb()
    if kind != 0:
        if kind != 2:
            return None
    else:
        bits.golomb()
    bits.golomb()
    bits.read(1)
    return 16 * (bits.golomb() + 1)
