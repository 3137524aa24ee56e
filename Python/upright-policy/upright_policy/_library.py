"""Calls of the C libraries: loading, errors, handles, strings.

`upright.h` documents every function. A function of a `CDLL` runs without the interpreter's lock.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union

from ._error import UprightError

if TYPE_CHECKING:
    from typing_extensions import Self

#: What an option of the command line can be. A list is for an option that is given several times.
Option = Union[str, int, float, bool, Sequence[str], None]
#: An event: an object as in an events file, several of them, or text in JSON Lines.
Event = Union[str, Mapping[str, Any], Iterable[Mapping[str, Any]]]

Element = TypeVar("Element")

ABI_VERSION = 0
OK, AGAIN, END = 0, 1, 2
INVALID, BUSY = 3, 4


class CError(ctypes.Structure):
    """`upright_error`."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("status", ctypes.c_int32),
        ("library_code", ctypes.c_int32),
        ("message", ctypes.c_char * 512),
        ("location", ctypes.c_char * 256),
        ("remedy", ctypes.c_char * 256),
    ]


class _Thread(threading.local):
    """What each thread has."""

    def __init__(self) -> None:
        self.error = CError(ctypes.sizeof(CError))


_thread = _Thread()


class Library:
    """A loaded library."""

    def __init__(self, package: str, name: str) -> None:
        """Loads the library beside the module file `package`, or else the one that the system has."""
        file = f"{name}.so.{ABI_VERSION}"
        bundled = os.path.join(os.path.dirname(package), file)
        self._dll = ctypes.CDLL(bundled if os.path.exists(bundled) else file)
        self._dll.upright_status_name.restype = ctypes.c_char_p
        self._dll.upright_version.restype = ctypes.c_char_p
        self._free_string = self._dll.upright_string_free
        self._free_string.argtypes, self._free_string.restype = [ctypes.c_void_p], None
        self.version: str = self._dll.upright_version().decode()

    def free(self, name: str) -> Callable[[ctypes.c_void_p], int]:
        """Returns the function that frees a kind of handle."""
        function: Callable[[ctypes.c_void_p], int] = self._typed(name, ctypes.c_void_p)
        return function

    def function(self, name: str, *types: Any) -> Callable[..., int]:
        """Returns a function that ends with an `upright_error *`. A failure is raised."""
        function = self._typed(name, *types, ctypes.POINTER(CError))

        def call(*arguments: Any) -> int:
            # Filled only if the call fails, and read at once.
            error = _thread.error
            status: int = function(*arguments, error)
            if status > END:
                raise self._described(status, error)
            return status

        return call

    def text_function(
        self, name: str, *types: Any, parse: Callable[[bytes], Any] = json.loads
    ) -> Callable[..., Any]:
        """Returns a function that ends with a `char **` and an `upright_error *`, and returns the parsed text."""
        function = self.status_text_function(name, *types, parse=parse)
        return lambda *arguments: function(*arguments)[1]

    def status_text_function(
        self, name: str, *types: Any, parse: Callable[[bytes], Any] = json.loads
    ) -> Callable[..., tuple[int, Any]]:
        """Returns the same, which returns the status too."""
        function = self.function(name, *types, ctypes.POINTER(ctypes.c_char_p))

        def call(*arguments: Any) -> tuple[int, Any]:
            text = ctypes.c_char_p()
            try:
                status = function(*arguments, text)
                return status, None if text.value is None else parse(text.value)
            finally:
                self._free_string(text)

        return call

    def _typed(self, name: str, *types: Any) -> Any:
        function = self._dll[name]
        function.argtypes, function.restype = types, ctypes.c_int32
        return function

    def _described(self, status: int, error: CError) -> UprightError:
        def text(field: bytes) -> str:
            return field.decode(errors="replace")

        # A struct of another size, which this package doesn't pass, would leave the message empty.
        return UprightError(
            self._dll.upright_status_name(status).decode(), text(error.message) or "failed",
            text(error.location), text(error.remedy), error.library_code)


#: How often the process has been forked on the way to this one. Handles don't survive it.
_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


class Handle:
    """An object of a library, which is freed when it is closed or no longer referred to."""

    _free: Callable[[ctypes.c_void_p], int]

    def __init__(self) -> None:
        # A pointer that a function of the library fills.
        self._pointer = ctypes.c_void_p()
        self._forks = _forks

    @property
    def _handle(self) -> ctypes.c_void_p:
        if self._pointer.value is None:
            raise UprightError("invalid", "it is closed", type(self).__name__, "make a new one")
        if self._forks != _forks:
            raise UprightError(
                "invalid", "it was made before a fork", type(self).__name__, "make it in the child process")
        return self._pointer

    def close(self) -> None:
        """Ends what is going on, waits for calls of other threads, and frees the memory. Again does nothing."""
        pointer = self._pointer
        if pointer.value is None or self._forks != _forks:
            return
        if type(self)._free(pointer) == BUSY:
            raise UprightError("busy", "a callback can't close it", type(self).__name__, "close it afterwards")
        self._pointer = ctypes.c_void_p()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await asyncio.to_thread(self.close)

    def __del__(self) -> None:
        # Attributes are missing if __init__ raised, and functions while the interpreter ends.
        try:
            self.close()
        except Exception:
            pass

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} can't be copied or pickled")


class Elements(Handle, Generic[Element]):
    """Elements that are waited for, in a loop of one thread or of a task."""

    _waiting: asyncio.Future[Element | None] | None = None

    def _take(self) -> Element | None:
        """Waits for the next element; `None` at the end."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Element]:
        return self

    def __next__(self) -> Element:
        element = self._take()
        if element is None:
            raise StopIteration
        return element

    def __aiter__(self) -> AsyncIterator[Element]:
        return self

    async def __anext__(self) -> Element:
        if self._waiting is None:
            self._waiting = asyncio.ensure_future(asyncio.to_thread(self._take))
        waiting = self._waiting
        try:
            # If the task is cancelled, the element is that of the next call.
            element = await asyncio.shield(waiting)
        finally:
            if waiting.done():
                self._waiting = None
        if element is None:
            raise StopAsyncIteration
        return element


def encoded(text: str, what: str) -> bytes:
    """Returns text for C."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise UprightError("usage", "the text is not Unicode", what, "leave out surrogates") from error
    if 0 in data:
        raise UprightError("usage", "the text contains a zero character", what, "leave it out")
    return data


def encoded_json(value: Any, what: str) -> bytes:
    try:
        return json.dumps(value, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise UprightError(
            "usage", f"it can't be JSON: {error}", what, "use strings, numbers, lists and dictionaries") from error


def encoded_policy(policy: str | Mapping[str, Any]) -> bytes:
    """Returns a policy for C: its name, or its document."""
    if isinstance(policy, str):
        return encoded(policy, "policy")
    if isinstance(policy, Mapping):
        return encoded_json(dict(policy), "policy")
    raise TypeError(f"a policy is a name, JSON or a dictionary, not a {type(policy).__name__}")


def encoded_events(events: Event) -> bytes:
    """Returns events for C, in JSON Lines."""
    if isinstance(events, str):
        return encoded(events, "events")
    if isinstance(events, Mapping):
        return encoded_json(dict(events), "events")
    return b"\n".join(encoded_json(event, "events") for event in events)


def encoded_options(options: Mapping[str, Any]) -> bytes:
    """Returns options for C: those that are not `None`, with hyphens in their names."""
    given = {name.replace("_", "-"): value for name, value in options.items() if value is not None}
    return encoded_json(given, "options")
