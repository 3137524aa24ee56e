"""Messages of FFmpeg's libraries."""

from __future__ import annotations

import atexit
import ctypes
from collections.abc import Callable
from typing import Any, Literal

from upright_policy import UprightError

from ._media import LIBRARY

#: How important a message is.
Level = Literal["panic", "fatal", "error", "warning", "info", "verbose", "debug", "trace"]
_LEVELS = {"panic": 0, "fatal": 8, "error": 16, "warning": 24, "info": 32, "verbose": 40, "debug": 48, "trace": 56}

_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)
_log = LIBRARY.function("upright_log", ctypes.c_int32, _Callback, ctypes.c_void_p)
#: What threads of the library may still call.
_kept: list[Any] = []


def log(receive: Callable[[str, str], object] | None, level: Level = "warning") -> None:
    """Passes the messages of FFmpeg's libraries to a function, with their level, and nothing to standard error:

        upright.log(None)                                           # discards them
        upright.log(lambda level, line: logger.info("%s", line))

    It replaces the log callback of the FFmpeg that `upright` uses, for the whole process; PyAV has another one. Without
    it, what FFmpeg finds while it opens a damaged input is printed.

    Args:
        receive: Called on any thread. What it raises is ignored. `None` discards the messages.
        level: The least important one that is passed on.
    """
    if level not in _LEVELS:
        raise UprightError("usage", f"{level!r} is not a level", "level", "use one of " + ", ".join(_LEVELS))

    def call(context: object, number: int, line: bytes) -> None:
        name = next((name for name, value in reversed(_LEVELS.items()) if value <= number), "panic")
        assert receive is not None
        receive(name, line.decode(errors="replace"))

    callback = _Callback() if receive is None else _Callback(call)
    _kept.append(callback)
    _log(_LEVELS[level], callback, None)


@atexit.register
def _forget() -> None:
    """The interpreter ends before the threads of the library."""
    if _kept:
        log(None)
