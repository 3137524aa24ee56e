"""Segments that are made one by one."""

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


def test_turns(clips):
    source = upright.SegmentSource(
        clips / "turning-sensor.mp4", frames="sensor", events=clips / "turning-sensor.jsonl", size="180p")
    assert max(segment.format for segment in source.segments) == 2
    assert source.init_segment(2) != source.init_segment(0)


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
