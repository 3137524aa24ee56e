#!/usr/bin/env python3
"""Sends one clip as different publishers do, over RTMP, SRT and UDP: each kind of publisher in several variants, by random
figures. Each frame has a number, and each second begins with a beep of its own pitch. The recordings are decoded by
FFmpeg: the frames and the beeps that are shown and heard are counted, and the distance of each beep from the frame of its
second is at most 45 ms. Prints a row for each kind, and what was wrong. The seed is printed; UPRIGHT_SEED repeats it.

    publishers.py [--variants 10] [--kinds still,gaps] [--transports rtmp,srt,udp]

Needs numpy and PyAV (Scripts/python.sh).
"""
import argparse
import ctypes
import os
import random
import socket
import struct
import sys
import tempfile
import threading
import time
from fractions import Fraction

import av
import numpy

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks"))

from live_service import running  # noqa: E402
from tables import table  # noqa: E402

RATE, SECONDS, SIZE, SOUND = 25, 8, (320, 180), 44100
VIDEO, AUDIO, SCRIPT = 9, 8, 18
APART = 0.045


class Unit:
    """A frame or its configuration: what it is, its bytes, the time that it has, the one that is right and its arrival, in
    ms."""

    def __init__(self, kind, data, time, key=False, setup=False):
        self.kind, self.data, self.time, self.key, self.setup = kind, data, time, key, setup
        self.right = self.arrival = time
        self.number = None


def picture(number):
    """A frame with its number as ten bars."""
    frame = numpy.full((SIZE[1] * 3 // 2, SIZE[0]), 128, numpy.uint8)
    for bit in range(10):
        frame[20:120, 10 + 30 * bit:40 + 30 * bit] = 220 if number >> (9 - bit) & 1 else 30
    return av.VideoFrame.from_ndarray(frame, format="yuv420p")


def encoded_video(codec="libx264", every=RATE):
    context = av.CodecContext.create(codec, "w")
    context.width, context.height, context.pix_fmt = *SIZE, "yuv420p"
    context.time_base, context.framerate = Fraction(1, RATE), Fraction(RATE)
    context.options = {"preset": "ultrafast", "tune": "zerolatency", "g": str(every)}
    context.flags |= 1 << 22
    packets = []
    for number in range(SECONDS * RATE):
        frame = picture(number)
        frame.pts, frame.time_base = number, context.time_base
        packets += context.encode(frame)
    return bytes(context.extradata), [bytes(each) for each in packets + context.encode(None)]


def encoded_audio():
    context = av.CodecContext.create("aac", "w")
    context.sample_rate, context.layout, context.format = SOUND, "mono", "fltp"
    context.bit_rate, context.time_base = 64000, Fraction(1, SOUND)
    context.flags |= 1 << 22
    times = numpy.arange(SECONDS * SOUND) / SOUND
    second = numpy.floor(times)
    tone = numpy.sin(2 * numpy.pi * (600 + 150 * second) * times) * 0.8
    samples = numpy.where(times - second < 0.06, tone, 0).astype(numpy.float32)
    packets = []
    for at in range(0, len(samples) - 1023, 1024):
        frame = av.AudioFrame.from_ndarray(samples[None, at:at + 1024], format="fltp", layout="mono")
        frame.sample_rate, frame.pts = SOUND, at
        packets += context.encode(frame)
    # The first packet is the encoder's priming.
    return bytes(context.extradata), [bytes(each) for each in packets[1:]]


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


class Clip:
    def __init__(self):
        self.sets, frames = encoded_video()
        self.config, audio = encoded_audio()
        self.still_sets, self.still = encoded_video(every=1)
        self.units = [self.frame(number, data, number % RATE == 0) for number, data in enumerate(frames)]
        self.units += [Unit(AUDIO, data, round(index * 1024000 / SOUND)) for index, data in enumerate(audio)]

    def frame(self, number, data, key):
        unit = Unit(VIDEO, data, number * 1000 // RATE, key)
        unit.number = number
        return unit

    def copy(self, is_intra=False):
        """Returns the units of a publisher, in order of their arrival."""
        found = []
        for unit in self.units:
            data = self.still[unit.number] if is_intra and unit.number is not None else unit.data
            each = Unit(unit.kind, data, unit.time, unit.key or is_intra)
            each.number = unit.number
            found.append(each)
        return found


# MARK: kinds. Each changes the units of a publisher, and returns what is left out of its frames and beeps on purpose.


def of(units, kind):
    return [unit for unit in units if unit.kind == kind]


def audio_later(units, draw):
    """The audio begins later."""
    start = draw.uniform(100, 4000)
    return [u for u in units if u.kind == VIDEO or u.time >= start]


def video_later(units, draw):
    """The video begins later."""
    start = draw.randint(3, 45) * 1000 // RATE
    shifted = []
    for unit in units:
        if unit.kind == VIDEO:
            if unit.time + start >= SECONDS * 1000:
                continue
            unit.time += start
            unit.right = unit.arrival = unit.time
        shifted.append(unit)
    return shifted


def audio_behind(units, draw):
    """The audio arrives behind the video."""
    late = draw.uniform(200, 1500)
    for unit in of(units, AUDIO):
        unit.arrival += late
    return [u for u in units if u.arrival < SECONDS * 1000]


def video_behind(units, draw):
    """The video arrives behind the audio."""
    late = draw.uniform(200, 2000)
    for unit in of(units, VIDEO):
        unit.arrival += late
    return [u for u in units if u.arrival < SECONDS * 1000]


def still(units, draw):
    """No frame comes for a while, once or twice."""
    for _ in range(draw.randint(1, 2)):
        start, length = draw.uniform(500, 4000), draw.uniform(300, 3000)
        units = [u for u in units if u.kind == AUDIO or not start < u.time < start + length]
    return units


def slow(units, draw):
    """Few frames a second, at irregular times."""
    step, kept, due = draw.uniform(200, 2500), [], 0
    for unit in units:
        if unit.kind == VIDEO:
            if unit.time < due:
                continue
            due = unit.time + step * draw.uniform(0.8, 1.2)
        kept.append(unit)
    return kept


def bursts(units, draw):
    """The network delivers in bursts."""
    for _ in range(draw.randint(2, 6)):
        start, length = draw.uniform(0, 7000), draw.uniform(100, 900)
        for unit in units:
            if start < unit.arrival < start + length:
                unit.arrival = start + length
    return units


def steps_back(units, draw):
    """The times of frames step back by up to two frames."""
    every, size = draw.randint(2, 20), draw.uniform(20, 75)
    for unit in of(units, VIDEO):
        if unit.number % every == every - 1:
            unit.time = max(0, int(unit.time - size))
    return units


def jitter(units, draw):
    """The times of frames are off."""
    for unit in of(units, VIDEO):
        unit.time = max(0, int(unit.time + draw.uniform(-19, 19)))
    return units


def offset(units, draw):
    """Times begin anywhere, and may wrap around."""
    start = draw.choice([2**31, 2**32, 2**33 // 90, 3600_000]) - draw.randint(0, 6000)
    for unit in units:
        unit.time += start
    return units


def jump(units, draw):
    """The times of both tracks jump."""
    at, by = draw.uniform(1000, 6000), draw.choice([-1, 1]) * draw.uniform(3000, 10_000_000)
    for unit in units:
        if unit.time >= at:
            unit.time = int(unit.time + by) % 2**31
    return units


def drift(units, draw):
    """The publisher's clock is slow or fast."""
    factor = draw.choice([0.1, 0.3, 0.5, 0.97, 1.03, 1.3, 2, 4, 10])
    for unit in units:
        unit.time = int(unit.time * factor)
    return units


KINDS = {each.__name__: each for each in (
    audio_later, video_later, audio_behind, video_behind, still, slow, bursts, steps_back, jitter, offset, jump, drift)}


# MARK: transports


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


# MARK: a run


def read(path):
    """Decodes a recording. Returns the first time of each frame's number, and the time of each second's beep."""
    frames, sound, start = {}, [], None
    with av.open(path) as file:
        for frame in file.decode(*file.streams):
            if isinstance(frame, av.VideoFrame):
                luma = frame.to_ndarray(format="gray")
                scale = frame.width / SIZE[0]
                bars = [luma[int(60 * scale):int(80 * scale),
                             int((16 + 30 * bit) * scale):int((34 + 30 * bit) * scale)].mean() for bit in range(10)]
                number = sum((level > 125) << (9 - bit) for bit, level in enumerate(bars))
                frames.setdefault(number, float(frame.time))
            else:
                if start is None:
                    start = float(frame.time)
                sound.append(frame.to_ndarray()[0])
    return frames, beeps_in(numpy.concatenate(sound), start) if sound else {}


def beeps_in(samples, start, rate=48000):
    beeps, step = {}, rate // 200
    levels = numpy.abs(samples[:len(samples) // step * step]).reshape(-1, step).max(1) > 0.15
    at = 0
    while at < len(levels):
        if not levels[at]:
            at += 1
            continue
        end = at
        while end < len(levels) and levels[end:end + 3].any():
            end += 1
        part = samples[at * step:end * step]
        if len(part) > rate // 50:
            spectrum = numpy.abs(numpy.fft.rfft(part * numpy.hanning(len(part)), 1 << 15))
            pitch = numpy.argmax(spectrum) * rate / (1 << 15)
            beeps.setdefault(round((pitch - 600) / 150), start + at * step / rate)
        at = end
    return beeps


class Run:
    def __init__(self, service, clip, kind, transport, index, seed):
        self.name = f"{kind}-{transport}-{index}".replace("_", "")
        self.service, self.transport, self.kind = service, transport, kind
        draw = random.Random(f"{seed} {self.name}")
        units = clip.copy(is_intra=kind in ("slow", "still"))
        self.units = KINDS[kind](sorted(units, key=lambda unit: unit.time), draw)
        self.units.sort(key=lambda unit: unit.arrival)
        for name, data in ((VIDEO, avc_record(clip.still_sets if kind in ("slow", "still") else clip.sets)),
                           (AUDIO, clip.config)):
            first = next(i for i, unit in enumerate(self.units) if unit.kind == name)
            setup = Unit(name, data, self.units[first].time, True, True)
            setup.arrival = self.units[first].arrival
            self.units.insert(first, setup)
        self.sets = clip.still_sets if kind in ("slow", "still") else clip.sets
        self.port = running.free_port(socket.SOCK_DGRAM)
        url = {"rtmp": service.address(self.name), "udp": f"udp://127.0.0.1:{self.port}",
               "srt": f"srt://127.0.0.1:{self.port}?streamid={self.name}"}[transport]
        service.session(self.name, [{"type": "file", "name": "take.mp4"}], input={"url": url},
                        options={"frames": "upright", "size": "320x180", "speed": "ultrafast"})
        self.error = self.reason = None
        self.thread = threading.Thread(target=self.send)

    def output(self):
        if self.transport == "rtmp":
            return RTMP(self.service.rtmp, f"key-{self.name}")
        if self.transport == "udp":
            # The port is open only once the session's process has begun.
            time.sleep(2)
            return TransportStream(UDP(self.port), self.sets)
        return TransportStream(SRT(self.port, self.name), self.sets)

    def send(self):
        try:
            output = self.output()
            start = time.monotonic()
            for unit in self.units:
                wait = unit.arrival / 1000 - (time.monotonic() - start)
                if wait > 0:
                    time.sleep(wait)
                output.send(unit)
            output.close()
        except OSError as error:
            self.error = str(error)

    def result(self):
        """Ends the session. Returns a row, and what is wrong."""
        self.thread.join()
        self.reason = self.service.state(self.name).get("reason")
        state = self.service.delete(self.name)
        path = os.path.join(self.service.data, "recordings", self.name, "take.mp4")
        running.until(lambda: os.path.exists(path), 5)
        frames, beeps = read(path) if os.path.exists(path) else ({}, {})
        sent = {unit.number: unit.right for unit in self.units if unit.number is not None}
        heard = {int(unit.right // 1000) for unit in self.units
                 if unit.kind == AUDIO and not unit.setup and unit.right % 1000 < 25}
        apart = [at - frames[number] for second, at in beeps.items() for number in sent
                 if number in frames and sent[number] == second * 1000]
        row = {"run": self.name, "frames sent": len(sent), "shown": len(set(sent) & set(frames)), "beeps sent": len(heard),
               "heard": len(heard & set(beeps)), "apart, ms": round(1000 * max(map(abs, apart), default=0)),
               "dropped": state["counters"]["dropped"], "seconds": state.get("seconds"), "reason": "; ".join(
                   filter(None, [self.error, self.reason]))}
        # A decoder of MPEG-TS has the last two frames only when another one follows.
        few = row["shown"] < row["frames sent"] - 3 or row["heard"] < row["beeps sent"] - 1
        return row, few or row["apart, ms"] > APART * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--variants", type=int, default=10)
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--transports", default="rtmp,srt,udp")
    arguments = parser.parse_args()
    seed = os.environ.get("UPRIGHT_SEED") or str(random.randrange(10**6))
    print("seed", seed)
    clip, rows, faults = Clip(), [], []
    with tempfile.TemporaryDirectory() as folder, running.Service(folder) as service:
        for transport in arguments.transports.split(","):
            for kind in arguments.kinds.split(","):
                runs = [Run(service, clip, kind, transport, i, seed) for i in range(arguments.variants)]
                for run in runs:
                    run.thread.start()
                found = [run.result() for run in runs]
                faults += [str(row) for row, is_wrong in found if is_wrong]
                rows.append(summary(kind, transport, found))
                print(rows[-1], "load", os.getloadavg()[0], flush=True)
        faults += service.faults()
    print(table(rows))
    running.conclude("publishers", faults)


def summary(kind, transport, found):
    def total(name):
        return str(sum(row[name] for row, _ in found))

    return {"kind": kind, "over": transport, "right": f"{sum(not is_wrong for _, is_wrong in found)} of {len(found)}",
            "frames": total("shown") + " of " + total("frames sent"), "beeps": total("heard") + " of " + total("beeps sent"),
            "farthest beep, ms": max(row["apart, ms"] for row, _ in found),
            "reasons": "; ".join(sorted({row["reason"] for row, _ in found if row["reason"]}))}


if __name__ == "__main__":
    main()
