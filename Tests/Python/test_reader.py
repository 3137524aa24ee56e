"""Upright frames out of files, compared with PyAV's."""

import asyncio
import gc
import json
import os
import pathlib
import subprocess
import sys
import threading
import time
from fractions import Fraction

import av
import numpy as np
import pytest

import upright
from upright import UprightError


def decoded(path, format):
    """The frames as PyAV has them, turned a quarter clockwise."""
    with av.open(str(path)) as container:
        return [(frame.pts, np.rot90(frame.to_ndarray(format=format), -1)) for frame in container.decode(video=0)]


def test_rgb(clips):
    clip = clips / "display-matrix.mp4"
    theirs = decoded(clip, "gray")
    with upright.open(clip) as reader:
        ours = list(reader)
    assert len(ours) == len(theirs) == 60
    for frame, (pts, _) in zip(ours, theirs):
        assert frame.pts == pts and frame.time_base == Fraction(1, 30000) and frame.turn == 6
        assert frame.numpy().shape == (640, 360, 3) and frame.size == (360, 640)
    with av.open(str(clip)) as container:
        rgb = np.rot90(next(container.decode(video=0)).to_ndarray(format="rgb24"), -1)
    # Chroma samples are between others once a frame is turned: edges differ.
    assert np.mean(np.abs(ours[0].numpy().astype(int) - rgb) > 3) < 0.02
    assert [frame.changed for frame in ours] == [True] + [False] * 59


def test_native_is_exact(clips):
    clip = clips / "display-matrix.mp4"
    with av.open(str(clip)) as container:
        for frame, theirs in zip(upright.open(clip, format="native"), container.decode(video=0)):
            assert frame.pixels == "yuv420p" and frame.planes[1].shape == (320, 180)
            planes = theirs.to_ndarray(format="yuv420p")
            assert np.array_equal(frame.planes[0], np.rot90(planes[:360], -1))
            assert np.array_equal(frame.numpy()[:640], frame.planes[0])


@pytest.mark.parametrize("format,shape,dtype", [
    ("rgb24", (640, 360, 3), np.uint8), ("chw-float", (3, 640, 360), np.float32), ("nv12", (960, 360), np.uint8),
    ("yuv420p", (960, 360), np.uint8), ("native", (960, 360), np.uint8)])
def test_formats(clips, format, shape, dtype):
    frame = next(upright.open(clips / "display-matrix.mp4", format=format))
    array = frame.numpy()
    assert array.shape == shape and array.dtype == dtype and array.flags.writeable and array.flags.c_contiguous
    assert np.array_equal(np.from_dlpack(frame), array) and np.array_equal(np.asarray(frame), array)
    if format == "chw-float":
        assert array.min() >= 0 and 0.5 < array.max() <= 1
        rgb = next(upright.open(clips / "display-matrix.mp4")).numpy()
        assert np.allclose(array.transpose(1, 2, 0) * 255, rgb, atol=0.01)
    theirs = frame.to_av()
    assert (theirs.width, theirs.height, theirs.pts, theirs.time_base) == (360, 640, 0, Fraction(1, 30000))
    assert theirs.format.name == frame.pixels
    if format != "chw-float":
        assert np.array_equal(theirs.to_ndarray(), array)


# Packed rows are lent by the library up to their last pixel; other widths, and other formats, are copied.
@pytest.mark.parametrize("size", ["360:640", "364:640", "358:640", "8:16"])
def test_each_frame_is_its_own(clips, size):
    width, height = map(int, size.split(":"))
    options = {"canvas": "follow", "size": f"{width}x{height}", "fit": "stretch"}
    clip = clips / "display-matrix.mp4"
    with upright.open(clip, **options) as reader:
        frames = list(reader)
    arrays = [frame.numpy() for frame in frames]
    del frames, reader
    gc.collect()
    wholes = [array.copy() for array in arrays]
    for array in arrays:
        assert array.shape == (height, width, 3) and array.flags.writeable and array.flags.c_contiguous
    # What is written to one reaches no other.
    arrays[0][...] = 0
    assert all(np.array_equal(array, whole) for array, whole in zip(arrays[1:], wholes[1:]))
    planes = [frame.planes for frame in upright.open(clip, format="yuv420p", **options)]
    for array, yuv in zip(wholes, planes):
        luma = (array @ [0.2126, 0.7152, 0.0722]) * 219 / 255 + 16
        # Of each column: one that wasn't written has what the memory had.
        assert np.max(np.abs(luma.mean(0) - yuv[0].mean(0))) < 8


def test_torch(clips):
    torch = pytest.importorskip("torch")
    frame = next(upright.open(clips / "display-matrix.mp4", format="chw-float"))
    tensor = frame.to_torch()
    assert tensor.shape == (3, 640, 360) and torch.equal(tensor, torch.from_dlpack(frame))


@pytest.mark.parametrize("kind", ["path", "name", "text", "list"])
def test_events(clips, kind):
    path = clips / "turning-sensor.jsonl"
    lines = path.read_text()
    events = {
        "path": path, "name": str(path), "text": lines,
        "list": [json.loads(line) for line in lines.splitlines() if line.strip()]}[kind]
    options = {"frames": "sensor", "events": events, "canvas": "follow", "size": "90x160", "format": "native"}
    frames = list(upright.open(clips / "turning-sensor.mp4", **options))
    assert [index for index, frame in enumerate(frames) if frame.changed] == [0, 100, 200]
    assert [frames[index].size for index in (0, 99, 100, 199, 200)] == [
        (90, 160), (90, 160), (160, 90), (160, 90), (90, 160)]


LOGGING = """
import sys
import upright

def probe():
    try: upright.probe(sys.argv[1])
    except upright.UprightError: pass

messages = []
upright.log(lambda level, line: messages.append((level, line)))
probe()
assert messages and all(level in ("error", "warning", "fatal") and line for level, line in messages)
upright.log(None)
count = len(messages)
probe()
assert len(messages) == count
try: upright.log(None, "loud")
except upright.UprightError as error: print(error.code)
"""


def test_messages_come_where_the_program_wants_them(tmp_path):
    damaged = tmp_path / "damaged.h264"
    damaged.write_bytes(b"\0\0\1\x65\x88\x84\x21\xa0" * 5000)
    # In a process of its own: it changes all of it.
    done = subprocess.run([sys.executable, "-c", LOGGING, damaged], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("usage\n", "")


def test_a_part_and_seeking(clips):
    reader = upright.open(clips / "with-sound.mp4", start=1, to=3)
    first = next(reader)
    assert first.time == 1 and first.changed
    reader.seek(2.5)
    assert abs(next(reader).time - 2.5) < 0.001
    assert len(list(reader)) == 14 and list(reader) == []
    assert reader.warnings == []


def test_in_an_event_loop(clips):
    async def read():
        times, beats = [], 0

        async def beat():
            nonlocal beats
            while True:
                await asyncio.sleep(0.001)
                beats += 1

        beating = asyncio.create_task(beat())
        async with upright.open(clips / "with-sound.mp4", format="native") as reader:
            async for frame in reader:
                times.append(frame.time)
                if len(times) == 10:
                    # A task that is cancelled while it waits loses no frame.
                    waiting = asyncio.create_task(anext(reader))
                    await asyncio.sleep(0)
                    waiting.cancel()
        beating.cancel()
        return times, beats

    times, beats = asyncio.run(read())
    assert times == [frame.time for frame in upright.open(clips / "with-sound.mp4", format="native")] and beats > 0


def test_errors(clips, tmp_path):
    def error(call):
        with pytest.raises(UprightError) as raised:
            call()
        return raised.value.code

    assert error(lambda: next(upright.open(tmp_path / "none.mp4"))) == "noInput"
    (tmp_path / "text.mp4").write_text("not a video")
    assert error(lambda: next(upright.open(tmp_path / "text.mp4"))) == "badData"
    for options in ({"format": "bgr"}, {"canvas": "round"}, {"start": -1}, {"nonsense": 1}, {"canvas": "dual"}):
        assert error(lambda: upright.open(clips / "display-matrix.mp4", **options)) == "usage"
    assert error(lambda: upright.open("a", events=[{"at": -1}])) == "badData"
    with pytest.raises(FileNotFoundError):
        upright.open("a", events="none.jsonl")
    with pytest.raises(TypeError):
        upright.open("a", events=7)
    reader = upright.open(clips / "display-matrix.mp4")
    next(reader)
    reader.close()
    assert error(lambda: next(reader)) == "invalid"


def no_threads():
    """Whether there are none soon: a thread that has ended stays in the list for a moment."""
    end = time.monotonic() + 10
    while threads() and time.monotonic() < end:
        time.sleep(0.01)
    return threads() == 0


def threads():
    names = []
    for task in pathlib.Path("/proc/self/task").iterdir():
        try:
            names.append((task / "comm").read_text())
        except OSError:
            pass
    return sum(name.startswith("upright-read") for name in names)


def test_closing_early_ends_the_threads(clips):
    with upright.open(clips / "turning-sensor.mp4") as reader:
        next(reader)
        assert threads() >= 2
    assert no_threads()
    for _ in upright.open(clips / "turning-sensor.mp4"):
        break
    assert no_threads()


def test_two_at_once(clips):
    results = {}

    def read(name):
        results[name] = [frame.pts for frame in upright.open(clips / "with-sound.mp4")]

    users = [threading.Thread(target=read, args=(name,)) for name in "ab"]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert results["a"] == results["b"] and len(results["a"]) == 150


def test_nothing_is_printed_and_memory_stays(clips):
    code = (
        "import sys, upright\n"
        "resident = lambda: int(open('/proc/self/statm').read().split()[1]) * 4096\n"
        "reader, before = upright.open(sys.argv[1]), 0\n"
        "for index, frame in enumerate(reader):\n"
        "    if index == 60: before = resident()\n"
        "print(resident() - before < 12 * 1280 * 720 * 3, index)\n"
        "try: next(upright.open('none'))\n"
        "except upright.UprightError: pass\n")
    done = subprocess.run(
        [sys.executable, "-c", code, clips / "turning-sensor.mp4"], capture_output=True, text=True, env=os.environ)
    assert done.stdout.split() == ["True", "299"] and done.stderr == ""
