"""Segments that are made one by one."""

import re

import av
import pytest
import upright


def test_segments_play_and_are_the_same_in_any_order(clips, tmp_path):
    source = upright.SegmentSource(clips / "display-matrix.mp4", size="source")
    assert source.duration == pytest.approx(2, abs=0.01) and source.warnings == []
    assert all(segment.size == (360, 640) and segment.reason for segment in source.segments)
    assert source.segments[0].start == 0 and source.segments[0].format == 0
    made = [source.segment(index) for index in range(len(source.segments))]
    again = upright.SegmentSource(clips / "display-matrix.mp4", size="source")
    assert again.playlist == source.playlist
    assert [again.segment(index) for index in reversed(range(len(made)))] == made[::-1]
    assert source.playlist_in("x").count("x/") == len(made) + 1
    whole = tmp_path / "whole.mp4"
    whole.write_bytes(source.init_segment() + b"".join(made))
    with av.open(str(whole)) as container:
        assert [(frame.width, frame.height) for frame in container.decode(video=0)] == [(360, 640)] * 60


def test_files_of_all_renditions(clips, tmp_path):
    sizes = {size: upright.SegmentSource(clips / "with-sound.mp4", size=size) for size in ("360p", "180p")}
    for folder, source in sizes.items():
        (tmp_path / folder).mkdir()
        assert source.file("index.m3u8").decode() == source.playlist
        assert source.file("0.m4s") == source.segment(0)
        for playlist in ("video.m3u8", "audio-0.m3u8", "keyframes.m3u8", "sprites.vtt"):
            text = source.file(playlist).decode()
            (tmp_path / folder / playlist).write_text(text)
            for name in re.findall(r'[a-z0-9-]+\.(?:m4s|mp4|jpg)', text):
                (tmp_path / folder / name).write_bytes(source.file(name))
    master = tmp_path / "master.m3u8"
    master.write_text(upright.SegmentSource.multivariant_playlist(sizes))
    with av.open(str(master)) as container:
        assert [stream.width for stream in container.streams.video] == [640, 320]
        assert sum(1 for _ in container.decode(video=0)) == 150
    for name in ("audio-1.m3u8", "captions-0.m3u8", "x", "../0.m4s"):
        with pytest.raises(upright.UprightError) as caught:
            sizes["180p"].file(name)
        assert caught.value.code == "usage"
    with pytest.raises(upright.UprightError):
        upright.SegmentSource.multivariant_playlist({})


def test_turns(clips):
    source = upright.SegmentSource(
        clips / "turning-sensor.mp4", frames="sensor", events=clips / "turning-sensor.jsonl", size="180p")
    assert max(segment.format for segment in source.segments) == 2
    # Portrait again.
    assert source.init_segment(1) != source.init_segment(0) == source.init_segment(2)


def test_refusals(clips, tmp_path):
    source = upright.SegmentSource(clips / "display-matrix.mp4")
    for number in (-1, len(source.segments)):
        with pytest.raises(upright.UprightError, match="segment"):
            source.segment(number)
    with pytest.raises(upright.UprightError) as caught:
        upright.SegmentSource(clips / "display-matrix.mp4", canvas="dual")
    assert caught.value.code == "usage"
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(bytes(4096))
    with pytest.raises(upright.UprightError):
        upright.SegmentSource(broken)
