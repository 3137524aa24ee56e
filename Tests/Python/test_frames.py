"""Frames in memory: exact samples, memory that isn't copied, and misuse."""

import ctypes
import gc
import os
import pickle
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
import upright_policy
from upright_policy import Frame, Frames, UprightError

#: How each plane is smaller than the frame, and its samples per pixel.
LAYOUTS = {
    "420": [(1, 1, 1), (2, 2, 1), (2, 2, 1)],
    "422": [(1, 1, 1), (1, 2, 1), (1, 2, 1)],
    "440": [(1, 1, 1), (2, 1, 1), (2, 1, 1)],
    "444": [(1, 1, 1), (1, 1, 1), (1, 1, 1)],
    "halved": [(1, 1, 1), (2, 2, 2)],
    "gray": [(1, 1, 1)],
    "quads": [(1, 1, 4)],
}
FORMATS = {
    **{f"yuv{kind}p{depth}": (LAYOUTS[kind], depth) for kind in ("420", "422", "440", "444")
       for depth in ("", "10le", "12le")},
    "nv12": (LAYOUTS["halved"], ""), "p010le": (LAYOUTS["halved"], "10le"), "gray": (LAYOUTS["gray"], ""),
    "rgba": (LAYOUTS["quads"], ""), "bgra": (LAYOUTS["quads"], ""),
}
TRANSPOSED = {"yuv422p": "yuv440p", "yuv440p": "yuv422p"}
#: What turns a stored frame of an EXIF orientation upright.
EXIF = {
    1: lambda a: a, 2: lambda a: a[:, ::-1], 3: lambda a: a[::-1, ::-1], 4: lambda a: a[::-1],
    5: lambda a: a.swapaxes(0, 1), 6: lambda a: np.rot90(a, -1), 7: lambda a: np.rot90(a, 2).swapaxes(0, 1),
    8: lambda a: np.rot90(a),
}


def noise(name, width, height, seed=1):
    """Returns planes of random samples."""
    planes, depth = FORMATS[name]
    generator = np.random.default_rng(seed)
    made = []
    for down, across, samples in planes:
        shape = (-(-height // down), -(-width // across))
        shape = shape if samples == 1 else (*shape, samples)
        if depth == "":
            made.append(generator.integers(0, 256, shape, np.uint8))
        else:
            made.append(generator.integers(0, 1 << int(depth[:2]), shape, np.uint16))
    return made


def assert_same(actual, expected):
    """Compares planes, and names the first sample that differs."""
    assert len(actual) == len(expected)
    for index, (one, other) in enumerate(zip(actual, expected)):
        one = np.asarray(one)
        assert one.shape == other.shape, f"plane {index}"
        if not np.array_equal(one, other):
            at = tuple(np.argwhere(one != other)[0])
            raise AssertionError(f"plane {index} at {at}: {one[at]} instead of {other[at]}")


def sensor(width, height):
    """Turns frames of a phone's sensor, which is held in portrait, without scaling them."""
    return Frames("phone", frames="sensor", size=f"{height}x{width}")


def refused(code, call, *arguments, **options):
    with pytest.raises(UprightError) as caught:
        call(*arguments, **options)
    assert caught.value.code == code
    assert caught.value.message
    return caught.value


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_turned_exactly(name):
    planes = noise(name, 64, 48)
    turned = sensor(64, 48).turn(Frame(planes, name), time=0)
    base = name[:7]
    assert turned.pixels == TRANSPOSED.get(base, base) + name[7:]
    assert (turned.width, turned.height, turned.changed) == (48, 64, True)
    assert_same(turned.frame.planes, [np.rot90(plane, -1) for plane in planes])


@pytest.mark.parametrize("orientation", EXIF)
def test_every_orientation(orientation):
    (plane,) = noise("rgba", 64, 48)
    expected = EXIF[orientation](plane)
    height, width = expected.shape[:2]
    frames = Frames(canvas="landscape" if width > height else "portrait", size=f"{width}x{height}")
    turned = frames.turn(Frame(plane, "rgba", orientation=orientation), time=0)
    assert turned.layout.turn == orientation
    assert_same(turned.frame.planes, [expected])


def test_events_turn_at_their_time():
    (plane,) = noise("gray", 64, 48)
    frames = sensor(64, 48)
    frames.event({"at": 0.5, "device": "landscapeLeft"})
    sizes = []
    for index in range(4):
        turned = frames.turn(Frame(plane, "gray", pts=index, time_base=Fraction(1, 4)))
        sizes.append((turned.width, turned.height, turned.changed))
    assert sizes == [(48, 64, True), (48, 64, False), (64, 48, True), (64, 48, False)]
    assert_same(turned.frame.planes, [plane])
    assert [decision["decision"] for decision in frames.decisions()][-1] == "rotate"
    assert frames.decisions() == []


def test_an_array_gives_an_array():
    (plane,) = noise("rgba", 64, 48)
    turned = sensor(64, 48).turn(plane, time=0)
    assert type(turned.frame) is np.ndarray
    assert_same([turned.frame], [np.rot90(plane, -1)])
    assert_same([sensor(64, 48).turn(plane[:, :, 0].copy(), time=0).frame], [np.rot90(plane[:, :, 0], -1)])


def test_an_array_of_rgb():
    array = np.random.default_rng(2).integers(0, 256, (48, 64, 3), np.uint8)
    turned = Frames(frames="sensor", canvas="frame").turn(array, time=0)
    assert turned.pixels == "rgb24" and np.array_equal(turned.frame, np.rot90(array, -1))


class Tensor:
    """Memory that is reached by DLPack alone."""

    def __init__(self, array, device=1):
        self.array, self.device = array, device

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return (self.device, 0)


def test_a_tensor_is_read_where_it_is():
    array = np.random.default_rng(2).integers(0, 256, (48, 64, 3), np.uint8)
    turned = Frames(frames="sensor", canvas="frame").turn(Tensor(array), time=0)
    assert np.array_equal(turned.frame, np.rot90(array, -1))
    into = np.zeros((64, 48, 3), np.uint8)
    assert Frames(frames="sensor", canvas="frame").turn(array, Tensor(into), time=0).frame.array is into
    assert np.array_equal(into, np.rot90(array, -1))
    refused("usage", Frames().turn, Tensor(array, device=2), time=0)
    refused("usage", Frames().turn, Tensor(array.astype(np.float32)), time=0)


def test_a_tensor_of_torch_gives_one():
    torch = pytest.importorskip("torch")
    tensor = torch.randint(0, 256, (48, 64, 3), dtype=torch.uint8)
    turned = Frames(frames="sensor", canvas="frame").turn(tensor, time=0)
    assert torch.equal(turned.frame, torch.rot90(tensor, -1))


def test_a_format_before_the_first_frame():
    frames, stored = Frames(frames="sensor", canvas="follow", size="180p"), np.zeros((48, 64), np.uint8)
    frames.event({"at": 0, "device": "landscapeLeft"})
    assert (frames.peek(stored, time=0).width, frames.peek(stored, time=0).changed) == (180, True)
    assert frames.layout(stored, time=0).changed and frames.peek(stored, time=0).width == 320
    assert not frames.peek(stored, time=0.1).changed


def test_the_size_of_the_source():
    stored = np.zeros((49, 64), np.uint8)
    assert Frames(frames="sensor", size="source").layout(stored, time=0).width == 49
    refused("usage", Frames, size="source", canvas="portrait")


def test_gravity_in_other_units():
    for unit in (1, 9.8):
        frames, stored = Frames(frames="sensor", canvas="follow"), np.zeros((48, 64), np.uint8)
        for index in range(90):
            frames.event({"gravity": [-0.99 * unit, 0, 0.1 * unit]})
            layout = frames.layout(stored, time=index / 30)
        assert layout.app_orientation == "landscapeRight"


def test_nothing_to_do_is_said():
    stored = np.zeros((48, 64), np.uint8)
    assert Frames().layout(stored, time=0).is_identity
    assert not Frames(frames="sensor").layout(stored, time=0).is_identity
    assert not Frames(canvas="landscape", size="96x64").layout(stored, time=0).is_identity


@pytest.mark.parametrize("matrix", range(18))
def test_every_matrix_is_taken(matrix):
    assert Frames().layout(Frame(np.zeros((48, 64), np.uint8), "gray", matrix=matrix), time=0).width == 64


def test_pixels_that_are_not_square():
    stored = np.zeros((480, 640), np.uint8)
    frames = Frames(frames="upright", canvas="landscape", size="720p", sample_aspect_ratio=Fraction(2))
    _, _, width, height = frames.layout(stored, time=0).target_rect
    assert width == 1280 and height == 480
    # A frame that says it keeps its own.
    _, _, width, height = frames.layout(Frame(stored, "gray", sample_aspect_ratio=Fraction(1)), time=0.1).target_rect
    assert (width, height) == (960, 720)
    assert (frames.layout(Frame(stored, "gray"), time=0.2).target_rect[3]) == 480
    refused("usage", Frames, sample_aspect_ratio=0)


def test_a_view_gives_a_view():
    (plane,) = noise("rgba", 64, 48)
    turned = sensor(64, 48).turn(memoryview(plane), time=0)
    assert type(turned.frame) is memoryview
    assert_same([turned.frame], [np.rot90(plane, -1)])


def test_rows_with_gaps_and_rows_stored_bottom_up():
    whole = noise("rgba", 80, 48)[0]
    for part in (whole[:, 8:72], whole[::-1, :64], whole[::-1][:, 16:]):
        assert_same([sensor(64, 48).turn(part, time=0).frame], [np.rot90(part, -1)])


def test_only_the_samples_of_the_target_are_written():
    (plane,) = noise("rgba", 64, 48)
    for flipped in (False, True):
        whole = np.full((66, 52, 4), 7, np.uint8)
        inner = whole[1:65, 2:50]
        into = inner[::-1] if flipped else inner
        turned = sensor(64, 48).turn(plane, into, time=0)
        assert turned.frame is into
        assert_same([into], [np.rot90(plane, -1)])
        inner[:] = 7
        assert (whole == 7).all()


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, "array", "ctypes"])
def test_anything_with_the_buffer_protocol(kind):
    planes = noise("yuv420p", 64, 48)
    flat = b"".join(plane.tobytes() for plane in planes)
    if kind == "array":
        import array

        memory = array.array("B", flat)
    elif kind == "ctypes":
        memory = (ctypes.c_ubyte * len(flat)).from_buffer_copy(flat)
    else:
        memory = kind(flat)
    turned = sensor(64, 48).turn(Frame(memory, "yuv420p", (64, 48)), time=0)
    assert_same(turned.frame.planes, [np.rot90(plane, -1) for plane in planes])


def test_strides_of_bytes():
    planes = noise("yuv420p", 64, 48)
    padded, strides = [], []
    for plane in planes:
        wide = np.pad(plane, ((0, 0), (0, 5)))
        # The last row needs no gap behind it.
        padded.append(wide.tobytes()[:-5])
        strides.append(wide.shape[1])
    expected = [np.rot90(plane, -1) for plane in planes]
    turned = sensor(64, 48).turn(Frame(padded, "yuv420p", (64, 48), strides), time=0)
    assert_same(turned.frame.planes, expected)
    stored = [plane[::-1].tobytes() for plane in planes]
    turned = sensor(64, 48).turn(Frame(stored, "yuv420p", (64, 48), [-64, -32, -32]), time=0)
    assert_same(turned.frame.planes, expected)


def test_a_frame_that_is_kept_is_read_again():
    (plane,) = noise("gray", 64, 48)
    frames, frame, into = sensor(64, 48), Frame(plane, "gray"), np.zeros((64, 48), np.uint8)
    for index in range(3):
        plane[:] = noise("gray", 64, 48, index)[0]
        frames.turn(frame, into, time=index)
        assert_same([into], [np.rot90(plane, -1)])


def test_a_frame_is_rescaled_in_one_pass():
    plane = np.zeros((480, 640), np.uint8)
    plane[:240, :320] = 255
    turned = Frames(frames="sensor", size="120x160").turn(plane, time=0)
    expected = np.rot90(plane, -1)[2::4, 2::4]
    difference = np.abs(np.asarray(turned.frame).astype(int) - expected)
    # Bicubic rings beside the edges of the white quarter, and nowhere else.
    assert (difference > 64).sum() == 0 and (difference > 0).mean() < 0.1


def test_layout_then_draw():
    (plane,) = noise("rgba", 64, 48)
    frames = sensor(64, 48)
    refused("invalid", frames.draw, plane, np.zeros((64, 48, 4), np.uint8))
    layout = frames.layout(plane, time=0)
    assert (layout.changed, layout.width, layout.height, layout.turn) == (True, 48, 64, 6)
    assert (layout.app_orientation, layout.capture_enabled) == ("portrait", True)
    assert (layout.source_rect, layout.target_rect) == ((0, 0, 64, 48), (0, 0, 48, 64))
    a, b, c, d, tx, ty = layout.transform
    assert (a * 1 + c * 2 + tx, b * 1 + d * 2 + ty) == (46, 1)
    into = np.zeros((64, 48, 4), np.uint8)
    frames.draw(plane, into)
    assert_same([into], [np.rot90(plane, -1)])


def test_a_change_is_not_lost_with_a_frame_that_is_not_drawn():
    (plane,) = noise("gray", 64, 48)
    frames = sensor(64, 48)
    refused("usage", frames.turn, plane, np.zeros((48, 64), np.uint8), time=0)
    assert frames.turn(plane, time=1).changed
    assert not frames.turn(plane, time=2).changed


# Misuse: an exception, and nothing else.

READ_ONLY = np.zeros((64, 48), np.uint8)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize("into", [
    np.zeros((48, 64), np.uint8), np.zeros((64, 47), np.uint8), np.zeros((64, 48), np.uint16),
    np.zeros((64, 48), np.int8), np.zeros((64, 48), bool), np.zeros((64, 48), np.float32),
    np.zeros((64, 48, 4), np.uint8),
    np.zeros((64, 96), np.uint8)[:, ::2], np.zeros((48, 64), np.uint8).T, np.zeros((0, 48), np.uint8), READ_ONLY,
    np.broadcast_to(np.zeros((1, 48), np.uint8), (64, 48)), Frame(bytes(64 * 48), "gray", (48, 64)),
    Frame(bytearray(64 * 48 - 1), "gray", (48, 64)), Frame(bytearray(64 * 48), "nv12", (48, 64)),
    Frame([np.zeros((64, 48), np.uint8)] * 2, "gray"),
])
def test_targets_that_do_not_fit(into):
    (plane,) = noise("gray", 64, 48)
    before = bytes(np.ascontiguousarray(into)) if isinstance(into, np.ndarray) else None
    refused("usage", sensor(64, 48).turn, plane, into, time=0)
    assert before is None or bytes(np.ascontiguousarray(into)) == before


@pytest.mark.parametrize("frame", [
    np.zeros((48, 64, 2), np.uint8), np.zeros(48 * 64, np.uint8), np.zeros((48, 64), np.uint16),
    np.zeros((48, 64), ">u2"), np.zeros((48, 64), np.float64), np.zeros((48, 64, 4, 1), np.uint8),
    np.zeros((48, 128), np.uint8)[:, ::2], np.zeros((64, 48), np.uint8).T, np.zeros((48, 64), np.uint8)[:, ::-1],
    np.broadcast_to(np.zeros((1, 64), np.uint8), (48, 64)), np.zeros((0, 64), np.uint8), np.zeros((48, 0), np.uint8),
    np.array(7, np.uint8), b"", b"123",
    Frame(b"", "gray", (64, 48)), Frame(bytes(64 * 48 * 3), "yuv420p", (64, 48)), Frame(bytes(64 * 48), "gray"),
    Frame(bytes(64 * 48), "gray", (0, 48)), Frame(bytes(64 * 48), "gray", (-64, -48)),
    Frame(bytes(64 * 48), "gray", (1 << 40, 1 << 40)), Frame(bytes(64 * 48), "gray", (64, 48), [63]),
    Frame([bytes(64 * 48)], "gray", (64, 48), [63]), Frame([bytes(64 * 48)], "gray", (64, 48), [1 << 70]),
    Frame([bytes(64 * 48)], "gray", (64, 48), [0]), Frame([bytes(64 * 48)], "gray", (64, 48), [64, 64]),
    Frame([bytes(64 * 48)], "gray", (64, 48), [-65]), Frame([], "gray", (64, 48)), Frame([], "gray"),
    Frame(np.zeros((48, 64), np.uint8), "gray", (64, 48), [64]), Frame(np.zeros((48, 64), np.uint8), "gray", (62, 48)),
    Frame(bytes(64 * 48), "yuv999p", (64, 48)), Frame(bytes(64 * 48), "bgr8", (32, 32)), Frame(bytes(9), None, (3, 3)),
    Frame(noise("yuv420p", 64, 48)[:2], "yuv420p"), Frame(noise("yuv420p10le", 64, 48), "yuv420p"),
    Frame(noise("yuv422p", 64, 48), "yuv420p"), Frame(noise("nv12", 64, 48), "p010le"),
    Frame(np.zeros((48, 64), np.uint8), "gray", orientation=9), Frame(np.zeros((48, 64), np.uint8), "gray", chroma=99),
    Frame(np.zeros((48, 64), np.uint8), "gray", orientation=-1),
    Frame(np.zeros((48, 64), np.uint8), "gray", sample_aspect_ratio=Fraction(-1)),
    Frame(np.zeros((48, 64), np.uint8), "gray", sample_aspect_ratio=Fraction(1, 1 << 40)),
    Frame(np.zeros((48, 64), np.uint8), "gray", pts=1 << 64, time_base=Fraction(1, 30)),
    Frame(np.zeros((48, 64), np.uint8), "gray", pts=1, time_base=Fraction(0)),
    Frame(np.zeros((48, 64), np.uint8), "gray", pts=1, time_base=Fraction(-1, 30)),
])
def test_frames_that_are_none(frame):
    refused("usage", sensor(64, 48).turn, frame, time=0)


@pytest.mark.parametrize("frame", [
    None, 7, "frame", object(), [1, 2], {}, Frame(None, "gray", (1, 1)), Frame([7], "gray"),
])
def test_objects_that_are_no_frames(frame):
    with pytest.raises(TypeError):
        sensor(64, 48).turn(frame, time=0)
    if frame is not None:
        with pytest.raises(TypeError):
            sensor(64, 48).turn(np.zeros((48, 64), np.uint8), frame, time=0)


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 1e300, -1e300, None])
def test_times_that_are_none(seconds):
    refused("usage", sensor(64, 48).turn, np.zeros((48, 64), np.uint8), time=seconds)


def test_frames_that_share_memory():
    square = np.zeros((64, 64), np.uint8)
    frames = Frames(frames="sensor", size="64x64")
    for source, into in ((square, square), (square, square[::-1]), (square[:, :32], square[:, 32:])):
        refused("usage", frames.turn, source, into, time=0)
    memory = bytearray(2 * 64 * 64)
    view = memoryview(memory)
    source = Frame(view[:4096], "gray", (64, 64))
    refused("usage", frames.turn, source, Frame(view[4095:8191], "gray", (64, 64)), time=0)
    frames.turn(source, Frame(view[4096:], "gray", (64, 64)), time=0)


@pytest.mark.parametrize("events", [
    "garbage", "{", "[]", "7", '{"at": -1e999, "device": "portrait"}', '{"device": "sideways"}', {"device": 7},
    {"at": "soon"}, {}, [{"device": "portrait"}, {"device": "sideways"}], [7], [None], "\x01",
    '{"device": "portrait"} garbage',
])
def test_events_that_are_none(events):
    frames = sensor(64, 48)
    refused("badData", frames.event, events)
    frames.turn(np.zeros((48, 64), np.uint8), time=1)


@pytest.mark.parametrize("events", ["\0", "\ud800", {"at": float("nan"), "device": "portrait"}, {"device": object()}])
def test_events_that_are_no_text(events):
    refused("usage", sensor(64, 48).event, events)


def test_an_event_that_makes_no_sense_is_left_out():
    frames = sensor(64, 48)
    frames.event({"at": 1, "pop": "nothing"})
    frames.turn(np.zeros((48, 64), np.uint8), time=0)
    refused("badData", frames.turn, np.zeros((48, 64), np.uint8), time=1)
    frames.turn(np.zeros((48, 64), np.uint8), time=1)


def test_events_are_bounded():
    frames = sensor(64, 48)
    frames.event([{"at": 1, "device": "portrait"}] * 10_000)
    refused("usage", frames.event, {"at": 1, "device": "portrait"})


@pytest.mark.parametrize("options", [
    {"frames": "upside"}, {"size": "0x0"}, {"size": "big"}, {"fit": 7}, {"canvas": []}, {"nonsense": 1},
    {"background": "red"}, {"frames": object()}, {"size": float("nan")},
])
def test_options_that_are_none(options):
    error = refused("usage", Frames, **options)
    assert str(error).startswith(error.message)


def test_policies_that_are_none():
    refused("usage", Frames, "no-such-policy")
    refused("badData", Frames, "{")
    refused("badData", Frames, {"start": 7})
    with pytest.raises(TypeError):
        Frames(7)


def test_options_that_are_none_count_as_absent():
    Frames(size=None, fit="fill").close()


def test_every_option_is_known():
    for option in upright_policy.FrameOptions.__annotations__:
        error = refused("usage", Frames, **{option: {}})
        assert "no such option" not in error.message


def test_closed():
    frames = sensor(64, 48)
    with frames:
        frames.turn(np.zeros((48, 64), np.uint8), time=0)
    frames.close()
    for call in (
        lambda: frames.turn(np.zeros((48, 64), np.uint8), time=0), frames.decisions,
        lambda: frames.event({"device": "portrait"}), lambda: frames.draw(READ_ONLY, np.zeros((64, 48), np.uint8)),
    ):
        assert "closed" in refused("invalid", call).message


def test_no_copies():
    with pytest.raises(TypeError):
        pickle.dumps(sensor(64, 48))


def test_errors_can_be_pickled():
    error = refused("usage", Frames, size="big")
    again = pickle.loads(pickle.dumps(error))
    assert (again.code, str(again)) == (error.code, str(error))


def test_a_child_process_is_told():
    frames = sensor(64, 48)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            frames.decisions()
        except UprightError as error:
            status = 0 if error.code == "invalid" and "fork" in error.message else 2
        frames.close()
        os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    frames.turn(np.zeros((48, 64), np.uint8), time=0)


# Threads.


def test_the_interpreter_is_free_while_a_frame_is_drawn():
    # Far longer than the interpreter's switch interval, 5 ms.
    plane = np.zeros((6000, 8000), np.uint8)
    frames = Frames(frames="sensor", size="3000x4000", filter="lanczos")
    into = np.empty((4000, 3000), np.uint8)
    frames.turn(plane, into, time=0)
    source, target = upright_policy._frame.source_of(plane), upright_policy._frame.target_of(into)
    span, most = [], 0

    def draw():
        before = time.perf_counter()
        upright_policy._frames._draw(frames._handle, source.c, target.c)
        span[:] = before, time.perf_counter()

    # If the call had the lock, this thread would see nothing within it, however often it is repeated. A busy
    # machine may stop this thread for the whole of one.
    for _ in range(50):
        thread, seen = threading.Thread(target=draw), []
        thread.start()
        while thread.is_alive():
            seen.append(time.perf_counter())
            time.sleep(0.0002)
        start, end = span
        assert end - start > 0.01
        most = max(most, sum(start + 0.002 < moment < end - 0.002 for moment in seen))
        if most > 3:
            break
    assert most > 3


def test_a_second_thread_is_refused():
    plane = np.zeros((6000, 8000), np.uint8)
    frames = Frames(frames="sensor", size="3000x4000", filter="lanczos")
    into = np.empty((4000, 3000), np.uint8)
    codes = set()

    def turn():
        for index in range(200):
            if not codes:
                frames.turn(plane, into, time=index)

    thread = threading.Thread(target=turn)
    thread.start()
    while thread.is_alive() and not codes:
        try:
            frames.decisions()
        except UprightError as error:
            codes.add(error.code)
    # Events are allowed meanwhile, and closing waits.
    frames.event({"device": "portrait"})
    thread.join()
    assert codes == {"busy"}


def test_closing_waits_for_another_thread():
    plane, ended = np.zeros((6000, 8000), np.uint8), []
    frames = Frames(frames="sensor", size="3000x4000", filter="lanczos")
    into = np.empty((4000, 3000), np.uint8)
    started = threading.Event()

    def turn():
        try:
            for index in range(1000):
                frames.turn(plane, into, time=index)
                started.set()
        except UprightError as error:
            ended.append(error.code)

    thread = threading.Thread(target=turn)
    thread.start()
    started.wait()
    frames.close()
    thread.join()
    assert ended == ["invalid"]


def test_streams_on_several_threads():
    planes = [noise("yuv420p", 64, 48, seed) for seed in range(4)]
    wrong = []

    def run(mine):
        frames = sensor(64, 48)
        expected = [np.rot90(plane, -1) for plane in mine]
        for index in range(200):
            turned = frames.turn(Frame(mine, "yuv420p"), time=index)
            if not all(np.array_equal(a, b) for a, b in zip(turned.frame.planes, expected)):
                wrong.append(index)

    threads = [threading.Thread(target=run, args=(mine,)) for mine in planes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_memory_is_held_and_released():
    class Counted(np.ndarray):
        alive = 0

        def __del__(self):
            Counted.alive -= 1

    frames = sensor(64, 48)
    for index in range(50):
        plane = np.zeros((48, 64), np.uint8).view(Counted)
        Counted.alive += 1
        frames.turn(Frame(plane, "gray"), time=index)
        del plane
    gc.collect()
    assert Counted.alive == 0
    memory = bytearray(48 * 64)
    frame = Frame(memory, "gray", (64, 48))
    frames.turn(frame, time=100)
    with pytest.raises(BufferError):
        memory.extend(b"more")
    del frame
    gc.collect()
    memory.extend(b"more")
