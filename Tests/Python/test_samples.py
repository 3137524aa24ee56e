"""The programs of Samples/python."""

import asyncio
import subprocess
import sys
import urllib.error
import urllib.request

import aioice.ice
import av
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, VideoStreamTrack
from conftest import ROOT
from test_session import corner, white

SAMPLES = ROOT / "Samples" / "python"
SHORT = ROOT / "Samples" / "short"


def sample(name, *arguments):
    result = subprocess.run(
        [sys.executable, SAMPLES / f"{name}.py", *arguments], capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_policy(clips):
    assert sample("policy", "phone", clips / "turning-sensor.jsonl") == [
        "0.0 keep portrait", "3.333333 rotate landscapeRight", "6.666667 rotate portrait"]


def test_frames(clips, tmp_path):
    lines = sample("frames", clips / "turning-sensor.mp4", clips / "turning-sensor.jsonl", tmp_path / "out")
    assert lines == ["0.00 s: 360x640", "3.33 s: 640x360", "6.67 s: 360x640"]
    for index, size in enumerate([(360, 640), (640, 360), (360, 640)]):
        with av.open(str(tmp_path / f"out-{index}.mp4")) as container:
            assert [(frame.width, frame.height) for frame in container.decode(video=0)] == [size] * 100


def test_reader(clips):
    assert sample("reader", clips / "display-matrix.mp4") == ["0.00 s: (640, 360, 3), turned 6"]


def test_transcode(clips, tmp_path):
    output = str(tmp_path / "out.mp4")
    lines = sample("transcode", clips / "turning-sensor.mp4", clips / "turning-sensor.jsonl", output)
    assert lines == [f"300 frames in {output}"]


def test_photo_server(clips, tmp_path):
    (tmp_path / "clip.mp4").write_bytes((clips / "display-matrix.mp4").read_bytes())
    server = subprocess.Popen(
        [sys.executable, SAMPLES / "photo_server.py", tmp_path, "0"], stdout=subprocess.PIPE, text=True)
    try:
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        with av.open(f"{url}/clip.mp4/index.m3u8") as container:
            frames = list(container.decode(video=0))
        assert len(frames) == 60 and {(frame.width, frame.height) for frame in frames} == {(360, 640)}
        for path in ("none.mp4/index.m3u8", "%2e%2e/clip.mp4/index.m3u8", "clip.mp4/99.m4s", "clip.mp4/x"):
            with pytest.raises(urllib.error.HTTPError):
                urllib.request.urlopen(f"{url}/{path}", timeout=20)
    finally:
        server.kill()
        server.communicate()


def short(name, *arguments, **options):
    result = subprocess.run(
        [sys.executable, SHORT / f"{name}.py", *arguments], capture_output=True, text=True, timeout=120, **options)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout.splitlines()


def test_short_brightness(clips):
    lines = short("brightness", clips / "display-matrix.mp4")
    assert len(lines) == 2 and lines[0].startswith("0.00 s: ")


def test_short_camera():
    assert short("camera") == ["frame 0: 720x1280", "frame 30: 1280x720"]


def test_short_dataset(clips):
    pytest.importorskip("torch")
    lines = short("dataset", clips / "display-matrix.mp4", clips / "with-sound.mp4")
    assert len(lines) == 7 and lines.count("(32, 3, 160, 90)") == 5


def test_short_relay(clips, tmp_path):
    lines = short(
        "relay", clips / "display-matrix.mp4", f"{tmp_path}/live/", input='{"at": 1, "device": "landscapeLeft"}\n')
    assert lines == ["360x640", "640x360"]
    assert (tmp_path / "live" / "index.m3u8").exists()


class Camera(VideoStreamTrack):
    """The sensor of a phone: the top left quarter is white."""

    def __init__(self):
        super().__init__()
        self.sent = 0

    async def recv(self):
        frame = av.VideoFrame.from_ndarray(white(640, 360), "yuv420p")
        frame.pts, frame.time_base = await self.next_timestamp()
        self.sent += 1
        return frame


def test_recorder(tmp_path, monkeypatch):
    monkeypatch.setattr(aioice.ice, "get_host_addresses", lambda **_: ["127.0.0.1"])
    monkeypatch.syspath_prepend(str(SAMPLES))
    import recorder

    path, refusals = str(tmp_path / "out.mp4"), []

    async def call():
        # No STUN server: nothing leaves this machine.
        phone, server = (RTCPeerConnection(RTCConfiguration(iceServers=[])) for _ in range(2))
        recording = asyncio.create_task(recorder.record(server, path))
        await asyncio.sleep(0)
        camera, channel, is_open = Camera(), phone.createDataChannel("events"), asyncio.Event()
        channel.on("open", is_open.set)
        channel.on("message", refusals.append)
        phone.addTrack(camera)
        await phone.setLocalDescription(await phone.createOffer())
        await server.setRemoteDescription(phone.localDescription)
        await server.setLocalDescription(await server.createAnswer())
        await phone.setRemoteDescription(server.localDescription)
        await is_open.wait()
        start = camera.sent
        while camera.sent < start + 30:
            await asyncio.sleep(0.02)
        channel.send("garbage")
        channel.send('{"device": "landscapeLeft"}')
        while camera.sent < start + 60:
            await asyncio.sleep(0.02)
        await phone.close()
        await recording
        await server.close()

    asyncio.run(asyncio.wait_for(call(), 60))
    assert len(refusals) == 1 and "garbage" in refusals[0]
    with av.open(path) as container:
        frames = list(container.decode(video=0))
    # In portrait the frame is turned, with bars beside it: white in the middle of the top, right of the centre.
    assert {(frame.width, frame.height) for frame in frames} == {(640, 360)}
    corners = [corner(frame) for frame in frames]
    portrait, landscape = corners.count("?"), corners.count("tl")
    assert corners == ["?"] * portrait + ["tl"] * landscape and portrait > 10 and landscape > 10
    times = [frame.pts for frame in frames]
    assert times == sorted(set(times)) and times[0] == 0


@pytest.mark.parametrize("name", ["policy", "frames", "reader", "recorder", "transcode"])
def test_arguments_that_are_none(name):
    result = subprocess.run([sys.executable, SAMPLES / f"{name}.py"], capture_output=True, text=True)
    assert result.returncode == 1 and "missing" in result.stderr
