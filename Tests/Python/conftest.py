import os
import pathlib
import re
import signal
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture
def clips():
    return ROOT / "Samples" / "clips"


@pytest.fixture(autouse=True)
def nothing_is_printed(capfd):
    """The libraries print nothing, whatever is done with them.

    A parser within libavformat, whose context has no name, says what it finds in an input that is damaged, or whose
    reading is cancelled within a frame.
    """
    yield
    said = capfd.readouterr().err
    assert re.sub(r"(?m)^\[NULL @ 0x[0-9a-f]+\] .*\n", "", said) == ""


@pytest.fixture
def control_c():
    """Returns a function that sends Ctrl-C after some seconds."""
    # Who runs the tests can have it ignored or blocked.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
    yield lambda seconds: threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()
    signal.signal(signal.SIGINT, before)
