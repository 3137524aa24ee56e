"""PyAV, which has an FFmpeg of its own in the same process."""

from fractions import Fraction

import av
import numpy as np
import pytest
from test_frames import EXIF, assert_same, refused, sensor
from upright_policy import Frame, Frames

FORMATS = ["yuv420p", "yuv422p", "yuv440p", "yuv444p", "yuv420p10le", "yuv422p10le", "nv12", "p010le", "gray", "rgba",
           "bgra", "nv21", "rgb24", "bgr24", "gbrp"]


def planes_of(frame):
    """Returns views of the samples of a PyAV frame."""
    name, views = frame.format.name, []
    for index, plane in enumerate(frame.planes):
        samples = 4 if name in ("rgba", "bgra") else 3 if name in ("rgb24", "bgr24") else 1
        if name in ("nv12", "nv21", "p010le") and index:
            samples = 2
        rows = np.frombuffer(plane, np.uint16 if name.endswith("10le") else np.uint8).reshape(plane.height, -1)
        rows = rows[:, :plane.width * samples]
        views.append(rows.reshape(plane.height, plane.width, samples) if samples > 1 else rows)
    return views


def noisy(name, width=64, height=48):
    frame = av.VideoFrame(width, height, name)
    generator = np.random.default_rng(3)
    for plane in planes_of(frame):
        plane[:] = generator.integers(0, 1 << (10 if plane.dtype == np.uint16 else 8), plane.shape)
    frame.pts, frame.time_base = 7, Fraction(1, 30)
    return frame


@pytest.mark.parametrize("name", FORMATS)
def test_every_format(name):
    frame = noisy(name)
    turned = sensor(64, 48).turn(frame)
    assert type(turned.frame) is av.VideoFrame
    assert (turned.frame.width, turned.frame.height) == (turned.width, turned.height) == (48, 64)
    assert turned.frame.format.name == turned.pixels
    assert (turned.frame.pts, turned.frame.time_base) == (7, Fraction(1, 30))
    assert_same(planes_of(turned.frame), [np.rot90(plane, -1) for plane in planes_of(frame)])


@pytest.mark.parametrize("name, cb", [("yuyv422", 1), ("yvyu422", 3)])
def test_packed_frames_of_cameras(name, cb):
    planar = noisy("yuv422p")
    luma, *chroma = planes_of(planar)
    bytes = np.empty((48, 32, 4), np.uint8)
    bytes[:, :, 0::2] = luma.reshape(48, 32, 2)
    bytes[:, :, cb], bytes[:, :, 4 - cb] = chroma
    packed = av.VideoFrame(64, 48, name)
    row = np.frombuffer(packed.planes[0], np.uint8).reshape(48, -1)
    row[:, :128] = bytes.reshape(48, 128)
    packed.pts, packed.time_base = planar.pts, planar.time_base
    expected = planes_of(sensor(64, 48).turn(planar, time=0).frame)
    turned = sensor(64, 48).turn(packed, time=0)
    assert turned.pixels == "yuv440p"
    assert_same(planes_of(turned.frame), expected)
    # Arrays by pixels, by pairs of pixels and by bytes: the size is that of the pixels.
    for shape in ((48, 64, 2), (48, 32, 4), (48, 128)):
        turned = sensor(64, 48).turn(Frame(bytes.reshape(shape), name), time=0)
        assert_same(turned.frame.planes, expected)
    refused("usage", sensor(64, 48).turn, packed, packed, time=0)


def test_full_range_and_colours_are_kept():
    frame = noisy("yuvj420p")
    frame.colorspace, frame.color_range, frame.color_primaries, frame.color_trc = 1, 2, 1, 1
    turned = sensor(64, 48).turn(frame, time=0).frame
    assert turned.format.name == "yuvj420p"
    assert (turned.colorspace, turned.color_range, turned.color_primaries, turned.color_trc) == (1, 2, 1, 1)
    # The background is black of the full range.
    wide = Frames(frames="sensor", size="96x64", canvas="portrait").turn(frame, time=0).frame
    assert planes_of(wide)[0][0, 0] == 0
    frame = noisy("yuv420p")
    wide = Frames(frames="sensor", size="96x64", canvas="portrait").turn(frame, time=0).frame
    assert planes_of(wide)[0][0, 0] == 16


def test_into_frames_of_another_kind():
    frame = noisy("yuv420p")
    expected = [np.rot90(plane, -1) for plane in planes_of(frame)]
    into = av.VideoFrame(48, 64, "yuv420p")
    turned = sensor(64, 48).turn(frame, into, time=0)
    assert turned.frame is into
    assert_same(planes_of(into), expected)
    arrays = [np.zeros(plane.shape, np.uint8) for plane in expected]
    sensor(64, 48).turn(frame, Frame(arrays, "yuv420p"), time=0)
    assert_same(arrays, expected)
    refused("usage", sensor(64, 48).turn, frame, av.VideoFrame(64, 48, "yuv420p"), time=0)
    refused("usage", sensor(64, 48).turn, frame, av.VideoFrame(48, 64, "nv12"), time=0)
    refused("usage", sensor(64, 48).turn, frame, frame, time=0)


def test_frames_that_are_none():
    for name in ("bgr8", "yuv410p", "pal8"):
        refused("usage", sensor(64, 48).turn, av.VideoFrame(64, 48, name), time=0)
    refused("usage", sensor(64, 48).turn, av.VideoFrame(), time=0)
    with pytest.raises(TypeError):
        sensor(64, 48).turn(av.AudioFrame(), time=0)
    # No time, neither its own nor another.
    refused("usage", sensor(64, 48).turn, av.VideoFrame(64, 48, "yuv420p"))


def test_the_display_matrix_of_a_file_is_followed(clips):
    with av.open(str(clips / "display-matrix.mp4")) as container:
        frames = Frames(size="360x640")
        for count, frame in enumerate(container.decode(video=0), 1):
            turned = frames.turn(frame)
            assert (turned.layout.turn, turned.changed) == (6, count == 1)
            assert_same(planes_of(turned.frame), [np.rot90(plane, -1) for plane in planes_of(frame)])
    assert count > 10


def test_every_display_matrix(tmp_path):
    """PyAV writes rotations only, and they are clockwise."""
    for degrees, orientation in ((0, 1), (90, 8), (180, 3), (-90, 6)):
        path = str(tmp_path / f"{degrees}.mp4")
        with av.open(path, "w") as container:
            stream = container.add_stream("libx264", rate=30)
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            stream.set_display_rotation(degrees)
            container.mux(stream.encode(noisy("yuv420p")))
            container.mux(stream.encode(None))
        with av.open(path) as container:
            frame = next(container.decode(video=0))
        upright = "landscape" if degrees in (0, 180) else "portrait"
        frames = Frames(canvas=upright, size="64x48" if upright == "landscape" else "48x64")
        turned = frames.turn(frame)
        assert turned.layout.turn == orientation
        assert_same(planes_of(turned.frame), [EXIF[orientation](plane) for plane in planes_of(frame)])


def test_decoded_turned_and_encoded_again(clips, tmp_path):
    """The white corner of each decoded frame is where the truth has it."""
    frames = Frames("phone", frames="sensor", size="180p")
    frames.event((clips / "turning-sensor.jsonl").read_text())
    sizes = []
    with av.open(str(clips / "turning-sensor.mp4")) as container:
        for frame in container.decode(video=0):
            turned = frames.turn(frame)
            if turned.changed:
                sizes.append((frame.pts * frame.time_base, turned.width, turned.height))
                path = str(tmp_path / f"{len(sizes)}.mp4")
                output = av.open(path, "w")
                stream = output.add_stream("libx264", rate=30)
                stream.width, stream.height, stream.pix_fmt = turned.width, turned.height, turned.pixels
            output.mux(stream.encode(turned.frame))
    assert [(round(float(at), 2), width, height) for at, width, height in sizes] == [
        (0, 180, 320), (3.33, 320, 180), (6.67, 180, 320)]


@pytest.mark.parametrize("name", ["yuv420p", "yuv422p", "yuv444p", "nv12", "rgba", "bgr24", "yuyv422"])
def test_the_format_that_is_asked_for(name):
    smooth = np.add.outer(np.arange(48), np.arange(64)).astype(np.uint8) * 2
    image = np.stack([smooth, 255 - smooth, smooth // 2 + 40], axis=2)
    frame = av.VideoFrame.from_ndarray(image, format="rgb24").reformat(format=name)
    frame.pts, frame.time_base = 7, Fraction(1, 30)
    turned = Frames(frames="sensor:90", canvas="frame", format="rgb24").turn(frame)
    assert (turned.pixels, turned.frame.format.name, turned.frame.pts) == ("rgb24", "rgb24", 7)
    found = turned.frame.to_ndarray(format="rgb24")
    # libswscale's chroma is filtered, and some rounding is its own.
    assert np.abs(found.astype(int) - np.rot90(image, -1)).max() <= 12
    assert np.abs(found.astype(int) - np.rot90(image, -1)).mean() < 3
    floats = Frames(frames="sensor:90", canvas="frame", format="chw-float").turn(frame).frame
    assert (floats.shape, floats.dtype) == ((3, 64, 48), np.float32)
    assert np.abs(floats - found.transpose(2, 0, 1) / np.float32(255)).max() < 1e-6
    if name in ("rgba", "bgr24"):
        refused("unavailable", Frames(format="nv12").turn, frame)
        return
    planar = Frames(format="yuv420p").turn(frame)
    halved = Frames(format="nv12").turn(frame)
    assert (planar.frame.format.name, halved.frame.format.name) == ("yuv420p", "nv12")
    luma, cb, cr = planes_of(planar.frame)
    assert_same(planes_of(halved.frame), [luma, np.stack([cb, cr], axis=2)])


def test_formats_that_are_none():
    refused("usage", Frames, format="rgb48")
    refused("unavailable", Frames(format="rgb24").turn, noisy("yuv420p10le"))
    # A frame without a time base, with a time of the caller's.
    untimed = av.VideoFrame(64, 48, "nv12")
    assert Frames(format="rgb24").turn(untimed, time=0).frame.time_base is None
    # The array of the caller's is drawn into.
    into = np.empty((64, 48, 3), np.uint8)
    turned = Frames(frames="sensor:90", canvas="frame", format="chw-float").turn(noisy("yuv420p"), into)
    assert np.abs(turned.frame - into.transpose(2, 0, 1) / np.float32(255)).max() < 1e-6
