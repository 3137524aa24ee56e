"""A clip whose frames have numbers and whose seconds begin with beeps: it is encoded here, and read from what came of it.

The frames have 16 by 9 blocks, as those of hls_latency.py: the top row is white, black, twelve binary digits with the lowest
first, their parity, and white. The beep of each second has a pitch of its own.
"""
from fractions import Fraction

import av
import numpy

RATE, SIZE, SOUND = 25, (320, 180), 44100
COLUMNS, ROWS, DIGITS = 16, 9, 12
# The pitch of the first beep and the step to the next, in Hz; the duration of a beep, in seconds.
PITCH, BEEP = (600, 150), 0.06


def row_of(number):
    """Returns the top row: whether each block is white."""
    digits = [number >> digit & 1 for digit in range(DIGITS)]
    return [1, 0, *digits, sum(digits) % 2, 1]


def picture(number):
    width, height = SIZE[0] // COLUMNS, SIZE[1] // ROWS
    frame = numpy.full((SIZE[1] * 3 // 2, SIZE[0]), 128, numpy.uint8)
    frame[:SIZE[1]] = 30
    frame[:height] = numpy.repeat(numpy.array(row_of(number), numpy.uint8) * 190 + 30, width)
    return av.VideoFrame.from_ndarray(frame, format="yuv420p")


def number_in(luma):
    """Returns the number of a frame; None if it has none."""
    width, height = luma.shape[1] / COLUMNS, luma.shape[0] / ROWS
    row = [int(luma[int(height * 0.3):int(height * 0.7),
                    int((column + 0.3) * width):int((column + 0.7) * width)].mean() > 125) for column in range(COLUMNS)]
    number = sum(lit << digit for digit, lit in enumerate(row[2:2 + DIGITS]))
    return number if row == row_of(number) else None


def encoded_video(seconds, codec="libx264", every=RATE):
    """Returns the parameter sets, and each frame in Annex B."""
    context = av.CodecContext.create(codec, "w")
    context.width, context.height, context.pix_fmt = *SIZE, "yuv420p"
    context.time_base, context.framerate = Fraction(1, RATE), Fraction(RATE)
    context.options = {"preset": "ultrafast", "tune": "zerolatency", "g": str(every)}
    context.flags |= 1 << 22
    packets = []
    for number in range(seconds * RATE):
        frame = picture(number)
        frame.pts, frame.time_base = number, context.time_base
        packets += context.encode(frame)
    return bytes(context.extradata), [bytes(each) for each in packets + context.encode(None)]


def encoded_audio(seconds):
    """Returns the AAC configuration, and each frame of 1024 samples."""
    context = av.CodecContext.create("aac", "w")
    context.sample_rate, context.layout, context.format = SOUND, "mono", "fltp"
    context.bit_rate, context.time_base = 64000, Fraction(1, SOUND)
    context.flags |= 1 << 22
    times = numpy.arange(seconds * SOUND) / SOUND
    second = numpy.floor(times)
    tone = numpy.sin(2 * numpy.pi * (PITCH[0] + PITCH[1] * second) * times) * 0.8
    samples = numpy.where(times - second < BEEP, tone, 0).astype(numpy.float32)
    packets = []
    for at in range(0, len(samples) - 1023, 1024):
        frame = av.AudioFrame.from_ndarray(samples[None, at:at + 1024], format="fltp", layout="mono")
        frame.sample_rate, frame.pts = SOUND, at
        packets += context.encode(frame)
    # The first packet is the encoder's priming.
    return bytes(context.extradata), [bytes(each) for each in packets[1:]]


def read(path):
    """Decodes a recording. Returns the first time of each frame's number, and the time of each second's beep."""
    frames, sound, start = {}, [], None
    with av.open(path) as file:
        for frame in file.decode(*file.streams):
            if isinstance(frame, av.VideoFrame):
                number = number_in(frame.to_ndarray(format="gray"))
                if number is not None:
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
            beeps.setdefault(round((pitch - PITCH[0]) / PITCH[1]), start + at * step / rate)
        at = end
    return beeps
