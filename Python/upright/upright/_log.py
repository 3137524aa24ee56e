"""Messages of FFmpeg's libraries."""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any, Literal, Optional

from upright_policy import UprightError
from upright_policy._library import Handle

from ._media import LIBRARY

#: How important a message is.
Level = Literal["panic", "fatal", "error", "warning", "info", "verbose", "debug", "trace"]
_LEVELS = {"panic": 0, "fatal": 8, "error": 16, "warning": 24, "info": 32, "verbose": 40, "debug": 48, "trace": 56}

#: Receives the level and one line, on any thread. What it raises is ignored.
Log = Optional[Callable[[str, str], object]]

_Callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p)
_log = LIBRARY.function("upright_log", ctypes.c_int32, _Callback, ctypes.c_void_p)
_Release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_scope = LIBRARY.function("upright_log_scope", ctypes.c_int32, _Callback, ctypes.c_void_p, _Release)
#: What threads of the library may still call; of sessions by their numbers, until they have ended.
_kept: list[Any] = []
_kept_of_sessions: dict[int, Any] = {}
_numbers = itertools.count(1)
#: Objects with a log.
_logged: weakref.WeakSet[Handle] = weakref.WeakSet()


def log(receive: Log, level: Level = "warning") -> None:
    """Passes the messages of FFmpeg's libraries to a function, with their level, and nothing to standard error:

        upright.log(None)                                           # discards them
        upright.log(lambda level, line: logger.info("%s", line))

    It replaces the log callback of the FFmpeg that `upright` uses, for the whole process; PyAV has another one. Without
    it, what FFmpeg finds while it opens a damaged input is printed. The messages of one session go to the function that
    is its `log`.

    Args:
        receive: Called on any thread. What it raises is ignored. `None` discards the messages.
        level: The least important one that is passed on.
    """
    if level not in _LEVELS:
        raise UprightError("usage", f"{level!r} is not a level", "level", "use one of " + ", ".join(_LEVELS))

    callback = _Callback() if receive is None else _callback(receive)
    _kept.append(callback)
    _log(_LEVELS[level], callback, None)


def _callback(receive: Callable[[str, str], object]) -> Any:
    def call(context: object, number: int, line: bytes) -> None:
        name = next((name for name, value in reversed(_LEVELS.items()) if value <= number), "panic")
        receive(name, line.decode(errors="replace"))

    return _Callback(call)


def _release(number: Any) -> None:
    _kept_of_sessions.pop(number, None)


_released = _Release(_release)


@contextlib.contextmanager
def logged(handle: Handle, receive: Log) -> Iterator[None]:
    """While it lasts, the object of a handle is made, whose messages, warnings and worse, go to a function."""
    if receive is None:
        yield
        return
    number = next(_numbers)
    _kept_of_sessions[number] = callback = _callback(receive)
    _logged.add(handle)
    _scope(_LEVELS["warning"], callback, number, _released)
    try:
        yield
    finally:
        _scope(_LEVELS["warning"], _Callback(), None, _Release())


@atexit.register
def _forget() -> None:
    """The interpreter ends before the threads of the library."""
    for handle in list(_logged):
        handle.close()
    if _kept:
        log(None)
