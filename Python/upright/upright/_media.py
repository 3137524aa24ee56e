"""The library with FFmpeg."""

from __future__ import annotations

import time
from collections.abc import Callable

from upright_policy import __version__ as _policy_version
from upright_policy._library import AGAIN, Library

#: The Debian packages that have the libraries, by the number of FFmpeg's libavformat.
_PACKAGES = {
    "59": "libavformat59 libavfilter8 libswscale6 libswresample4",
    "61": "libavformat61 libavfilter10 libswscale8 libswresample5",
}


def _load() -> Library:
    try:
        library = Library(__file__, "libupright")
    except OSError as error:
        # "libavformat.so.59: cannot open shared object file: No such file or directory"
        missing = str(error).partition(":")[0]
        number = missing.rpartition(".")[2]
        if not missing.startswith(("libav", "libsw")):
            raise ImportError(f"upright can't load its library: {error}") from error
        raise ImportError(
            f"upright needs FFmpeg's libraries, and {missing} is missing. On Debian: apt-get install "
            + _PACKAGES.get(number, "ffmpeg")
            + ". The package upright-policy (Policy, Frames, explain) works without FFmpeg.") from error
    if library.version != _policy_version:
        raise ImportError(
            f"upright {library.version} doesn't fit upright-policy {_policy_version}: install the same version of both")
    return library


LIBRARY = _load()

#: The longest time in C, in seconds: signals, such as that of Ctrl-C, are handled between two calls.
_SLICE = 0.2


def waited(call: Callable[[float], int], timeout: float | None) -> int:
    """Repeats a call that waits for some seconds, until it isn't "again" or the timeout has passed."""
    end = float("inf") if timeout is None else time.monotonic() + timeout
    while True:
        left = end - time.monotonic()
        status = call(min(max(left, 0), _SLICE))
        if status != AGAIN or left <= _SLICE:
            return status
