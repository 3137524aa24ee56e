"""How publishers send their frames: RTMP, MPEG-TS over SRT and UDP, and cameras with RTSP.

Each class takes `Unit`s. The bytes are made here, because no library sends what a publisher does wrong.
"""
import base64
import ctypes
import os
import random
import re
import socket
import struct
import threading
import time

from numbered_clip import RATE, SIZE, SOUND

VIDEO, AUDIO, SCRIPT = 9, 8, 18


class Unit:
    """A frame or its configuration: what it is, its bytes, the time that it has, the one that is right and its arrival, in
    ms."""

    def __init__(self, kind, data, time, key=False, setup=False):
        self.kind, self.data, self.time, self.key, self.setup = kind, data, time, key, setup
        self.right = self.arrival = time
        self.number = None


def units_of(stream):
    """Divides Annex B."""
    parts = stream.replace(b"\0\0\0\1", b"\0\0\1").split(b"\0\0\1")
    return [part for part in parts if part]


def prefixed(stream):
    return b"".join(struct.pack(">I", len(unit)) + unit for unit in units_of(stream))


def avc_record(extradata):
    sets = units_of(extradata)
    sps, pps = [next(s for s in sets if s[0] & 31 == kind) for kind in (7, 8)]
    return (bytes([1]) + sps[1:4] + b"\xff\xe1" + struct.pack(">H", len(sps)) + sps + b"\1"
            + struct.pack(">H", len(pps)) + pps)


def amf(*values):
    out = b""
    for value in values:
        if value is None:
            out += b"\5"
        elif isinstance(value, dict):
            out += b"\3" + b"".join(
                struct.pack(">H", len(key)) + key.encode() + amf(each) for key, each in value.items()) + b"\0\0\x09"
        elif isinstance(value, str):
            out += b"\2" + struct.pack(">H", len(value)) + value.encode()
        else:
            out += b"\0" + struct.pack(">d", value)
    return out


class RTMP:
    def __init__(self, port, name):
        self.socket = socket.create_connection(("127.0.0.1", port), 5)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(b"\3" + bytes(8) + os.urandom(1528))
        self.take(1537)
        self.socket.sendall(self.take(1536))
        threading.Thread(target=self.drain, daemon=True).start()
        self.chunk = 128
        self.message(2, 1, 0, struct.pack(">I", 60000), 0)
        self.chunk = 60000
        self.message(3, 20, 0, amf("connect", 1, {"app": "live", "tcUrl": f"rtmp://127.0.0.1:{port}/live"}), 0)
        self.message(3, 20, 0, amf("createStream", 4, None), 0)
        self.message(3, 20, 0, amf("publish", 5, None, name, "live"), 1)
        time.sleep(0.3)
        self.message(5, SCRIPT, 0, amf("@setDataFrame", "onMetaData", {
            "width": SIZE[0], "height": SIZE[1], "framerate": RATE, "videocodecid": 7, "audiocodecid": 10}), 1)

    def take(self, count):
        found = b""
        while len(found) < count:
            piece = self.socket.recv(count - len(found))
            if not piece:
                raise ConnectionError("closed")
            found += piece
        return found

    def drain(self):
        try:
            while self.socket.recv(65536):
                pass
        except OSError:
            pass

    def message(self, stream, kind, stamp, body, number):
        extended = struct.pack(">I", stamp & 0xFFFFFFFF) if stamp >= 0xFFFFFF else b""
        out = (bytes([stream]) + min(stamp, 0xFFFFFF).to_bytes(3, "big") + len(body).to_bytes(3, "big")
               + bytes([kind]) + struct.pack("<I", number) + extended + body[:self.chunk])
        for at in range(self.chunk, len(body), self.chunk):
            out += bytes([0xC0 | stream]) + extended + body[at:at + self.chunk]
        self.socket.sendall(out)

    def send(self, unit):
        if unit.kind == VIDEO:
            head = bytes([0x17 if unit.key else 0x27, 0 if unit.setup else 1, 0, 0, 0])
            body = unit.data if unit.setup else prefixed(unit.data)
        else:
            head, body = bytes([0xAE, 0 if unit.setup else 1]), unit.data
        self.message(6 if unit.kind == VIDEO else 4, unit.kind, unit.time, head + body, 1)

    def close(self):
        self.socket.close()


def checksum(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte << 24
        for _ in range(8):
            value = (value << 1 ^ 0x04C11DB7 if value & 0x80000000 else value << 1) & 0xFFFFFFFF
    return struct.pack(">I", value)


class TransportStream:
    """Writes MPEG-TS to `output`, 1316 bytes at a time."""
    # The access unit delimiter of H.264.
    delimiter = b"\0\0\0\1\x09\xf0"

    def __init__(self, output, sets):
        self.output, self.sets, self.counts, self.latest = output, sets, {}, None
        self.tables = [(0, 0, 1, struct.pack(">HH", 1, 0xF000)), (0x1000, 2, 1, struct.pack(
            ">HHBHHBHH", 0xE100, 0xF000, 0x1B, 0xE100, 0xF000, 0x0F, 0xE101, 0xF000))]

    def packets(self, pid, payload, clock=None):
        out, is_first = b"", True
        while payload or is_first:
            field = b""
            if is_first and clock is not None:
                field = b"\x10" + ((clock % 2**33) << 15 | 0x7E00).to_bytes(6, "big")
            room = 183 - len(field) if field else 184
            part, payload = payload[:room], payload[room:]
            missing = room - len(part)
            if missing and not field:
                field = None if missing == 1 else b"\0" + b"\xff" * (missing - 2)
            elif missing:
                field += b"\xff" * missing
            adapted = b"\0" if field is None else bytes([len(field)]) + field if field else b""
            count = self.counts.get(pid, 0)
            self.counts[pid] = count + 1 & 15
            out += bytes([0x47, (0x40 if is_first else 0) | pid >> 8, pid & 255,
                          (0x30 if adapted else 0x10) | count]) + adapted + part
            is_first = False
        return out

    def send(self, unit):
        if unit.setup:
            return
        out, stamp = b"", 90 * unit.time + 126000
        if unit.kind == VIDEO and (unit.key or self.latest is None or unit.arrival - self.latest > 100):
            self.latest = unit.arrival
            for pid, table, number, body in self.tables:
                section = (bytes([table]) + (0xB000 | len(body) + 9).to_bytes(2, "big")
                           + number.to_bytes(2, "big") + b"\xc1\0\0" + body)
                out += self.packets(pid, (b"\0" + section + checksum(section)).ljust(184, b"\xff"))
        if unit.kind == VIDEO:
            data = self.delimiter + (self.sets if unit.key else b"") + unit.data
        else:
            size = len(unit.data) + 7
            data = bytes([0xFF, 0xF1, 0x50, 0x40 | size >> 11, size >> 3 & 255, (size & 7) << 5 | 31, 0xFC]) + unit.data
        t = stamp % 2**33
        head = bytes([0x80, 0x80, 5, 0x21 | t >> 29 & 14]) + struct.pack(
            ">HH", t >> 14 & 0xFFFE | 1, t << 1 & 0xFFFE | 1)
        length = 0 if unit.kind == VIDEO else len(data) + len(head)
        start = b"\0\0\1" + bytes([0xE0 if unit.kind == VIDEO else 0xC0]) + struct.pack(">H", length)
        is_video = unit.kind == VIDEO
        out += self.packets(
            0x100 if is_video else 0x101, start + head + data, stamp - 63000 if is_video else None)
        for at in range(0, len(out), 1316):
            self.output.send(out[at:at + 1316])

    def close(self):
        self.output.close()


class UDP:
    def __init__(self, port):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", port))

    def send(self, data):
        try:
            self.socket.send(data)
        except ConnectionRefusedError:
            pass

    def close(self):
        self.socket.close()


class SRT:
    """A caller, by libsrt."""
    library = None

    def __init__(self, port, name):
        if SRT.library is None:
            SRT.library = ctypes.CDLL("libsrt-gnutls.so.1.5")
            SRT.library.srt_startup()
        self.number = SRT.library.srt_create_socket()
        name = name.encode()
        SRT.library.srt_setsockflag(self.number, 46, name, len(name))
        address = struct.pack("=H", socket.AF_INET) + struct.pack(">H", port) + bytes([127, 0, 0, 1]) + bytes(8)
        if SRT.library.srt_connect(self.number, address, len(address)) != 0:
            raise ConnectionError(f"SRT: reason {SRT.library.srt_getrejectreason(self.number)}")

    def send(self, data):
        if SRT.library.srt_send(self.number, data, len(data)) < 0:
            raise ConnectionError("SRT: the connection is broken")

    def close(self):
        # What was sent last arrives within the latency.
        time.sleep(0.5)
        SRT.library.srt_close(self.number)


class Camera:
    """An RTSP server for one client, with RTP over the same connection (RFC 2326, 10.12)."""
    PAYLOADS = {VIDEO: (0, 96, 90000), AUDIO: (1, 97, SOUND)}

    def __init__(self, sets, config, reports=True):
        self.sets, self.config, self.reports = sets, config, reports
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.counts, self.starts = [100, 500], [random.getrandbits(32), random.getrandbits(32)]
        self.told = set()

    def description(self):
        sets = ",".join(base64.b64encode(each).decode() for each in units_of(self.sets))
        return (
            "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=camera\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\n"
            "m=video 0 RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
            f"a=fmtp:96 packetization-mode=1;sprop-parameter-sets={sets}\r\na=control:track0\r\n"
            f"m=audio 0 RTP/AVP 97\r\na=rtpmap:97 MPEG4-GENERIC/{SOUND}/1\r\na=fmtp:97 streamtype=5;"
            "profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;"
            f"config={self.config.hex()}\r\na=control:track1\r\n")

    def accept(self):
        """Answers the requests of a client until it plays."""
        self.listener.settimeout(10)
        self.socket = self.listener.accept()[0]
        self.socket.settimeout(10)
        waiting, method = b"", ""
        while method != "PLAY":
            while b"\r\n\r\n" not in waiting:
                piece = self.socket.recv(4096)
                if not piece:
                    raise ConnectionError("closed")
                waiting += piece
            request, waiting = waiting.split(b"\r\n\r\n", 1)
            request = request.decode()
            method, url = request.split()[:2]
            fields, body = [re.search(r"CSeq: *\d+", request, re.I)[0], "Session: 1;timeout=60"], ""
            if method == "OPTIONS":
                fields.append("Public: DESCRIBE, SETUP, PLAY, TEARDOWN")
            elif method == "DESCRIBE":
                body = self.description()
                fields += ["Content-Type: application/sdp", f"Content-Base: {url}/", f"Content-Length: {len(body)}"]
            elif method == "SETUP":
                track = int(url[-1])
                fields.append(f"Transport: RTP/AVP/TCP;unicast;interleaved={2 * track}-{2 * track + 1}")
            self.socket.sendall(("\r\n".join(["RTSP/1.0 200 OK", *fields]) + "\r\n\r\n" + body).encode())
        return self

    def frame(self, channel, data):
        self.socket.sendall(b"$" + bytes([channel]) + struct.pack(">H", len(data)) + data)

    def packet(self, kind, stamp, payload, is_last):
        track, number, _ = self.PAYLOADS[kind]
        self.frame(2 * track, bytes([0x80, is_last << 7 | number]) + struct.pack(
            ">HII", self.counts[track] & 0xFFFF, stamp, 1 + track) + payload)
        self.counts[track] += 1

    def send(self, unit):
        if unit.setup:
            return
        track, _, rate = self.PAYLOADS[unit.kind]

        def stamp(time):
            return (self.starts[track] + round(time * rate / 1000)) & 0xFFFFFFFF

        if self.reports and unit.kind not in self.told:
            # A sender report (RFC 3550, 6.4.1) relates the track to the other one. Small errors of times aren't in it.
            self.told.add(unit.kind)
            time = unit.right if abs(unit.time - unit.right) < 100 else unit.time
            self.frame(2 * track + 1, bytes([0x80, 200, 0, 6]) + struct.pack(
                ">IQIII", 1 + track, int((3_900_000_000 + unit.right / 1000) * 2**32), stamp(time), 1, 1))
        if unit.kind == AUDIO:
            # RFC 3640, 3.3.6.
            return self.packet(AUDIO, stamp(unit.time), struct.pack(">HH", 16, len(unit.data) << 3) + unit.data, True)
        payloads = []
        for each in (units_of(self.sets) if unit.key else []) + units_of(unit.data):
            if len(each) <= 1300:
                payloads.append(each)
                continue
            # FU-A (RFC 6184, 5.8).
            rest = each[1:]
            for at in range(0, len(rest), 1300):
                ends = 0x80 * (at == 0) | 0x40 * (at + 1300 >= len(rest))
                payloads.append(bytes([each[0] & 0xE0 | 28, ends | each[0] & 31]) + rest[at:at + 1300])
        for index, payload in enumerate(payloads):
            self.packet(VIDEO, stamp(unit.time), payload, index == len(payloads) - 1)

    def close(self):
        self.socket.close()
        self.listener.close()
