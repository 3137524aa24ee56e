"""The packages: versions, types, and what an import says where FFmpeg is missing."""

import ctypes
import importlib.metadata
import subprocess
import sys

import pytest
from conftest import ROOT

import upright
import upright_policy

USE = '''
from fractions import Fraction
import numpy as np
import upright

frames = upright.Frames(policy="phone", frames="sensor")
frames.event({"at": 3.2, "device": "landscapeLeft"})
turned = frames.turn(np.zeros((48, 64, 4), np.uint8), time=0)
array: np.ndarray[tuple[int, int, int], np.dtype[np.uint8]] = turned.frame
size: tuple[int, int] = (turned.width, turned.height)
report = upright.transcode("a", "b", frames="sensor", crf=23)
for frame in upright.open("a", canvas="follow", size="source", format="nv12"):
    time: float = frame.time + frame.pts * frame.time_base
with upright.PacketSession(upright.Stream("h264", Fraction(1, 90000))) as session:
    for output in session:
        if isinstance(output, upright.Packet):
            reveal_type(output.pts)
'''
MISUSE = '''
import upright

upright.Frames(nonsense=1)
upright.transcode("a", "b", crf="low")
upright.Frames().turn(7).height.nothing
'''


def mypy(*arguments):
    cache = ROOT / ".build" / "mypy"
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, *arguments], capture_output=True, text=True)


def test_the_versions_are_the_librarys():
    for package in ("upright", "upright-policy"):
        try:
            assert importlib.metadata.version(package) == upright.__version__
        except importlib.metadata.PackageNotFoundError:
            text = (ROOT / "Python" / package / "pyproject.toml").read_text()
            assert f'\nversion = "{upright.__version__}"\n' in text
    text = (ROOT / "Python" / "upright" / "pyproject.toml").read_text()
    assert f'"upright-policy=={upright.__version__}"' in text


def test_one_frames_for_both_packages():
    assert upright.Frames is upright_policy.Frames
    assert set(upright_policy.__all__) <= set(upright.__all__)


def test_the_packages_are_strictly_typed():
    sources = ROOT / "Python"
    result = mypy(sources / "upright-policy" / "upright_policy", sources / "upright" / "upright")
    assert result.returncode == 0, result.stdout


def test_users_see_the_types(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    result = mypy(str(tmp_path / "use.py"))
    assert result.returncode == 0, result.stdout
    assert 'Revealed type is "int"' in result.stdout or "builtins.int" in result.stdout
    (tmp_path / "misuse.py").write_text(MISUSE)
    result = mypy(str(tmp_path / "misuse.py"))
    assert "Found 3 errors" in result.stdout, result.stdout


@pytest.mark.parametrize("missing, packages", [
    ("libavformat.so.59", "libavformat59"), ("libavformat.so.61", "libavformat61"), ("libavcodec.so.77", "ffmpeg")])
def test_an_import_without_ffmpeg_says_what_to_install(monkeypatch, missing, packages):
    def load(name, *arguments):
        raise OSError(f"{missing}: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(ctypes, "CDLL", load)
    with pytest.raises(ImportError) as caught:
        upright._media._load()
    assert missing in str(caught.value) and packages in str(caught.value) and "upright-policy" in str(caught.value)


def test_the_imports_have_no_side_effects():
    """No thread, no signal handler, no variable, and nothing printed."""
    code = (
        "import os, signal, threading\n"
        "before = dict(os.environ), [signal.getsignal(number) for number in signal.valid_signals()]\n"
        "import upright\n"
        "after = dict(os.environ), [signal.getsignal(number) for number in signal.valid_signals()]\n"
        "assert before == after and len(os.listdir('/proc/self/task')) == 1\n")
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
