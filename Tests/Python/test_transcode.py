"""Whole files."""

import asyncio
import re
import threading
import time

import av
import pytest
import upright
from upright import Transcode, UprightError, probe, transcode, transcode_async

TURNING = {"frames": "sensor", "size": "180p", "canvas": "landscape"}


@pytest.fixture
def clip(clips):
    return clips / "turning-sensor.mp4"


@pytest.fixture
def events(clips):
    return (clips / "turning-sensor.jsonl").read_text()


def sizes(path):
    with av.open(str(path)) as container:
        return [(frame.width, frame.height) for frame in container.decode(video=0)]


def test_a_file(clip, events, tmp_path):
    output, updates, threads = tmp_path / "out.mp4", [], set()

    def on_update(update):
        updates.append(update)
        threads.add(threading.current_thread())

    report = transcode(clip, output, events=events, on_update=on_update, **TURNING)
    assert sizes(output) == [(320, 180)] * 300
    assert [decision["decision"] for decision in report["events"]] == ["keep", "rotate", "rotate"]
    assert (report["output"]["frames"], report["output"]["encoded_frames"]) == (300, 300)
    progress = [update for update in updates if update.kind == "progress"]
    assert progress[-1].frames == 300 and progress[-1].duration == pytest.approx(10, abs=0.1)
    assert [update.frames for update in progress] == sorted(update.frames for update in progress)
    decisions = [update.details["decision"] for update in updates if update.kind == "decision"]
    assert decisions == ["keep", "rotate", "rotate"]
    assert threads == {threading.current_thread()}


def test_the_plan_writes_nothing(clip, events, tmp_path):
    with Transcode(clip, tmp_path / "out.mp4", events=events, **TURNING) as planned:
        assert planned.plan()
    assert list(tmp_path.iterdir()) == []


def test_a_probe(clips):
    found = probe(clips / "display-matrix.mp4")
    assert found["streams"] and found["signals"]
    with pytest.raises(UprightError) as caught:
        probe("/no/such/file")
    assert caught.value.code == "noInput" and caught.value.library_code == -2
    with pytest.raises(UprightError):
        probe(clips / "turning-sensor.jsonl")


def test_errors_have_their_parts(clip, tmp_path):
    with pytest.raises(UprightError) as caught:
        transcode("/no/such/file.mp4", tmp_path / "out.mp4")
    error = caught.value
    assert (error.code, error.location, error.library_code) == ("noInput", "/no/such/file.mp4", -2)
    assert error.message and error.remedy and str(error) == f"{error.message}: {error.location}: {error.remedy}"
    (tmp_path / "there.mp4").write_bytes(b"mine")
    for code, make in (
        ("usage", lambda: transcode(clip, tmp_path / "out.mp4", nonsense=1)),
        ("usage", lambda: transcode(clip, tmp_path / "out.mp4", crf=23, bitrate="1M")),
        ("usage", lambda: transcode(clip, tmp_path / "out.nothing")),
        ("badData", lambda: transcode(clip, tmp_path / "out.mp4", events="garbage")),
        ("usage", lambda: transcode("a\0b", tmp_path / "out.mp4")),
        ("usage", lambda: transcode("\udc80", tmp_path / "out.mp4")),
        ("cannotCreate", lambda: transcode(clip, "/proc/out.mp4", **TURNING)),
        ("cannotCreate", lambda: transcode(clip, tmp_path / "there.mp4", **TURNING)),
    ):
        with pytest.raises(UprightError) as caught:
            make()
        assert caught.value.code == code, str(caught.value)
        # Options are named as the caller gives them.
        assert not re.search("--|(^| )-[a-z]", str(caught.value)), str(caught.value)
    assert caught.value.remedy.startswith("add overwrite")
    assert (tmp_path / "there.mp4").read_bytes() == b"mine"
    with pytest.raises(TypeError):
        transcode(7, tmp_path / "out.mp4")


def test_every_option_is_known(clip):
    for options, make in (
        (upright.TranscodeOptions, lambda **options: Transcode(clip, "out.mp4", **options)),
        (upright.SessionOptions,
         lambda **options: upright.PacketSession(upright.Stream("h264", upright._session.Fraction(1)), **options)),
    ):
        for option in options.__annotations__:
            with pytest.raises(UprightError) as caught:
                make(**{option: {}})
            assert "no such option" not in caught.value.message, option


def test_an_exception_of_the_callback_cancels(clip, tmp_path):
    def raising(update):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        transcode(clip, tmp_path / "out.mp4", on_update=raising, **TURNING)
    assert list(tmp_path.iterdir()) == []


def test_cancelled_and_stopped_from_another_thread(clip, tmp_path):
    with Transcode(clip, tmp_path / "out.mp4", frames="sensor") as running:
        threading.Timer(0.3, running.cancel).start()
        with pytest.raises(UprightError) as caught:
            running.run()
    assert caught.value.code == "cancelled"
    assert list(tmp_path.iterdir()) == []
    with Transcode(clip, tmp_path / "out.mp4", frames="sensor", speed="veryslow", threads=1) as running:
        report = running.run(lambda update: running.stop() if update.frames else None)
    assert report["output"]["path"] == str(tmp_path / "out.partial.mp4")
    assert 0 < len(sizes(tmp_path / "out.partial.mp4")) == report["output"]["frames"] < 300
    with pytest.raises(UprightError, match="closed"):
        running.run()


def test_control_c_cancels(control_c, clip, tmp_path):
    control_c(0.3)
    with pytest.raises(KeyboardInterrupt):
        transcode(clip, tmp_path / "out.mp4", frames="sensor", speed="veryslow")
    assert list(tmp_path.iterdir()) == []


def test_a_transcode_is_run_once(clip, tmp_path):
    with Transcode(clip, tmp_path / "out.mp4", to=0.2, **TURNING) as running:
        running.run()
        with pytest.raises(UprightError) as caught:
            running.run()
    assert caught.value.code == "invalid"


def test_async(clip, events, tmp_path):
    async def both():
        ticks, kinds = 0, set()

        async def tick():
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        async def on_update(update):
            await asyncio.sleep(0)
            kinds.add(update.kind)

        ticking = asyncio.create_task(tick())
        await asyncio.gather(
            transcode_async(clip, tmp_path / "1.mp4", events=events, on_update=on_update, **TURNING),
            transcode_async(clip, tmp_path / "2.mp4", events=events, on_update=lambda update: kinds.add(update.kind),
                            **TURNING))
        ticking.cancel()
        return ticks, kinds

    ticks, kinds = asyncio.run(both())
    assert ticks > 5 and kinds == {"progress", "decision", "format"}
    assert sizes(tmp_path / "1.mp4") == sizes(tmp_path / "2.mp4") == [(320, 180)] * 300


def test_a_cancelled_task(clip, tmp_path):
    async def main():
        task = asyncio.create_task(transcode_async(clip, tmp_path / "out.mp4", frames="sensor", speed="veryslow"))
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # It has ended: nothing is written any more.
        return list(tmp_path.iterdir())

    assert asyncio.run(main()) == []


def test_an_exception_of_an_async_callback(clip, tmp_path):
    async def raising(update):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        asyncio.run(transcode_async(clip, tmp_path / "out.mp4", on_update=raising, **TURNING))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UprightError):
        asyncio.run(transcode_async("/no/such/file", tmp_path / "out.mp4"))


def test_a_tag_changes_the_orientation_alone(clips, tmp_path):
    output = tmp_path / "tagged.mp4"
    report = upright.tag(clips / "with-sound.mp4", output, orientation=6)
    assert report["formats"][0]["turn"] == "right"
    before, after = (clips / "with-sound.mp4").read_bytes(), output.read_bytes()
    assert len(before) == len(after) and 0 < sum(a != b for a, b in zip(before, after)) <= 36
    assert next(upright.open(output)).turn == 6
    with pytest.raises(UprightError) as raised:
        upright.tag(clips / "with-sound.mp4", tmp_path / "b.mp4", orientation=9)
    assert raised.value.code == "usage"


def test_the_rules_of_playlists():
    whole = "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXTINF:2.0,\na.ts\n#EXT-X-ENDLIST\n"
    assert [entry for entry in upright.check(whole) if entry["level"] == "must"] == []
    assert any(entry["line"] and entry["clause"] for entry in upright.check(whole.replace("2.0,", "9.5,")))
