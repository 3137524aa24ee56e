"""Where FFmpeg's messages go."""

import random
import subprocess
import sys

import pytest
import upright


@pytest.fixture
def damaged(clips, tmp_path):
    """Returns a function that writes a damaged copy of a clip, whose index is whole."""

    def write(name):
        data = bytearray((clips / "display-matrix.mp4").read_bytes())
        first = data.index(b"mdat") + 2000
        last = data.index(b"moov") if data.index(b"moov") > first else len(data)
        random_bytes = random.Random(name)
        for _ in range(200):
            data[random_bytes.randrange(first, last)] ^= 0x55
        path = tmp_path / name
        path.write_bytes(data)
        return path

    return write


def read(reader):
    try:
        return sum(1 for _ in reader)
    except upright.UprightError:
        return 0


def test_each_session_has_its_own_messages(clips, damaged, tmp_path, capfd):
    lines = {name: [] for name in ("a", "b", "whole", "out")}
    note = {name: lambda level, line, name=name: lines[name].append((level, line)) for name in lines}
    with upright.open(damaged("a.mp4"), log=note["a"]) as a, upright.open(damaged("b.mp4"), log=note["b"]) as b, \
            upright.open(clips / "display-matrix.mp4", log=note["whole"]) as whole:
        # By turns, so that all are open at once.
        for _ in zip(a, b, whole):
            pass
        read(a), read(b), read(whole)
    assert lines["a"] and lines["b"] and not lines["whole"]
    assert {level for level, _ in lines["a"]} <= {"panic", "fatal", "error", "warning"}
    try:
        upright.transcode(damaged("c.mp4"), tmp_path / "out.mp4", log=note["out"], speed="ultrafast")
    except upright.UprightError:
        pass
    assert lines["out"]
    assert capfd.readouterr().err == ""


def test_a_parser_without_a_name_is_heard(tmp_path, capfd):
    """It prints where there is no log."""
    path = tmp_path / "noise.h264"
    path.write_bytes(b"\0\0\0\1\x67\x42\0\x1e" + random.Random(1).randbytes(20_000))
    lines = []
    assert read(upright.open(path, log=lambda level, line: lines.append(line))) == 0
    assert lines
    assert capfd.readouterr().err == ""


def test_what_a_log_raises_ends_nothing(damaged, monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: raised.append(found.exc_value))

    def fails(level, line):
        raise RuntimeError("of the log")

    assert read(upright.open(damaged("a.mp4"), log=fails)) > 0
    assert str(raised[0]) == "of the log"


def test_a_session_that_is_left_open_ends_with_the_interpreter(damaged):
    program = (
        "import sys, upright\n"
        "kept = [upright.open(sys.argv[1], log=lambda level, line: None) for _ in range(4)]\n"
        "for reader in kept: next(iter(reader))\n")
    result = subprocess.run(
        [sys.executable, "-c", program, str(damaged("a.mp4"))], capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stderr) == (0, "")
