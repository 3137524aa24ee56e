"""Whole files: transcoding with progress, and probing."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import inspect
import json
import os
import queue
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Union

from upright_policy import Event, UprightError
from upright_policy._library import Handle, encoded, encoded_events, encoded_options, encoded_policy

from ._log import Log, logged
from ._media import LIBRARY
from ._options import TagOptions, TranscodeOptions

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: The name of a file, or a URL.
Name = Union[str, "os.PathLike[str]"]
Policy = Union[str, Mapping[str, Any]]


class CUpdate(ctypes.Structure):
    """`upright_update`."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("kind", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("frames", ctypes.c_int64),
        ("seconds", ctypes.c_double),
        ("duration", ctypes.c_double),
        ("elapsed", ctypes.c_double),
        ("json", ctypes.c_char_p),
    ]


@dataclass
class Update:
    """What happens during a transcode."""

    #: "progress", or what was decided: "decision" or "format".
    kind: Literal["progress", "decision", "format"]
    #: Frames that were read. 0 for a decision or format, as the times.
    frames: int = 0
    #: The time of the last frame, in seconds.
    seconds: float = 0
    #: The duration of the input, in seconds; `None` if it isn't known.
    duration: float | None = None
    #: Seconds since the start.
    elapsed: float = 0
    #: An entry of "events" or "formats" of a report; `None` for progress.
    details: dict[str, Any] | None = None


_Callback = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(CUpdate))
_new = LIBRARY.function(
    "upright_transcode_new", ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p,
    ctypes.POINTER(ctypes.c_void_p))
_run = LIBRARY.text_function("upright_transcode_run", ctypes.c_void_p, _Callback, ctypes.c_void_p)
_plan = LIBRARY.text_function("upright_transcode_plan", ctypes.c_void_p)
_stop = LIBRARY.function("upright_transcode_stop", ctypes.c_void_p)
_cancel = LIBRARY.function("upright_transcode_cancel", ctypes.c_void_p)
_tag = LIBRARY.text_function(
    "upright_tag", ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_char_p)
_check = LIBRARY.text_function("upright_check", ctypes.c_char_p)
_probe = LIBRARY.text_function("upright_probe", ctypes.c_char_p)


class Transcode(Handle):
    """A transcode of one file, which is run once."""

    _free = staticmethod(LIBRARY.free("upright_transcode_free"))

    def __init__(
        self, input: Name, output: Name, *, policy: Policy = "phone", events: Event | None = None,
        log: Log = None, **options: Unpack[TranscodeOptions],
    ) -> None:
        """Prepares a transcode, and opens nothing.

        Args:
            input: A path or URL.
            output: A path or URL. Its name determines the container.
            policy: The name of a built-in policy, or a policy document: a dictionary, or JSON.
            events: Events in seconds from the first frame: dictionaries, or text in JSON Lines.
            log: Receives the level and the text of FFmpeg's messages about the files, warnings and worse, on any thread;
                nothing of them is printed then. As `upright.log`, it replaces FFmpeg's log callback.

        Raises:
            UprightError: "usage" for options that are invalid or contradict each other, "badData" for the policy or
                an event.
        """
        super().__init__()
        with logged(self, log):
            _new(
                _encoded_name(input, "input"), _encoded_name(output, "output"), encoded_policy(policy),
                None if events is None else encoded_events(events), encoded_options(options), self._pointer)

    def run(self, on_update: Callable[[Update], object] | None = None) -> dict[str, Any]:
        """Transcodes, and returns the report.

        Args:
            on_update: Called with updates, on this thread. An exception that it raises, or Ctrl-C, cancels the
                transcode and is raised again.

        Raises:
            UprightError: "cancelled" if it was cancelled. Nothing is left under the output's name.
        """
        results: queue.SimpleQueue[Any] = queue.SimpleQueue()
        thread = self._start(results.put, on_update is not None)
        try:
            # Not in the library's call, which signals don't interrupt.
            while isinstance(result := results.get(), Update):
                if on_update is not None:
                    on_update(result)
        except BaseException:
            self.cancel()
            raise
        finally:
            thread.join()
        return _report(result)

    async def run_async(self, on_update: Callable[[Update], object] | None = None) -> dict[str, Any]:
        """Transcodes as `run`, while the event loop goes on.

        Args:
            on_update: Called with updates, on the event loop; or a coroutine function. An exception that it raises,
                or a cancelled task, cancels the transcode and is raised again when that has ended.
        """
        loop = asyncio.get_running_loop()
        results: asyncio.Queue[Any] = asyncio.Queue()
        ended = loop.create_future()

        def put(result: Any) -> None:
            # Raised if the loop was closed meanwhile: nobody waits then.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(results.put_nowait, result)
                if not isinstance(result, Update):
                    loop.call_soon_threadsafe(ended.set_result, None)

        self._start(put, on_update is not None)
        try:
            while isinstance(result := await results.get(), Update):
                if on_update is not None and inspect.isawaitable(answer := on_update(result)):
                    await answer
        except BaseException:
            self.cancel()
            await asyncio.shield(ended)
            raise
        return _report(result)

    def plan(self) -> dict[str, Any]:
        """Returns what a run would do, and writes nothing. Reads the input as far as a run has to."""
        planned: dict[str, Any] = _plan(self._handle)
        return planned

    def stop(self) -> None:
        """Ends a run early: what was read is finished, and the report names the partial output. From any thread."""
        _stop(self._handle)

    def cancel(self) -> None:
        """Ends a run at the next frame, without an output. From any thread."""
        _cancel(self._handle)

    def _start(self, put: Callable[[Any], None], wants_updates: bool) -> threading.Thread:
        """Runs on another thread, which puts updates, and at last the report or an exception."""

        def receive(context: object, c: Any) -> int:
            update = c.contents
            details = None if update.json is None else json.loads(update.json)
            if update.kind == 1:
                duration = None if update.duration < 0 else update.duration
                put(Update("progress", update.frames, update.seconds, duration, update.elapsed))
            else:
                put(Update("decision" if update.kind == 2 else "format", details=details))
            return 0

        callback = _Callback(receive) if wants_updates else _Callback()
        handle = self._handle

        def work() -> None:
            try:
                result: Any = _run(handle, callback, None)
            except BaseException as error:
                result = error
            put(result)

        thread = threading.Thread(target=work, name="upright-transcode", daemon=True)
        thread.start()
        return thread


def _report(result: Any) -> dict[str, Any]:
    if isinstance(result, BaseException):
        raise result
    report: dict[str, Any] = result
    return report


def _encoded_name(name: Name, what: str) -> bytes:
    return encoded(os.fspath(name), what)


def transcode(
    input: Name, output: Name, *, policy: Policy = "phone", events: Event | None = None,
    on_update: Callable[[Update], object] | None = None, log: Log = None, **options: Unpack[TranscodeOptions],
) -> dict[str, Any]:
    """Transcodes a file and returns the report. See `Transcode` and `Transcode.run`."""
    with Transcode(input, output, policy=policy, events=events, log=log, **options) as transcode:
        return transcode.run(on_update)


async def transcode_async(
    input: Name, output: Name, *, policy: Policy = "phone", events: Event | None = None,
    on_update: Callable[[Update], object] | None = None, log: Log = None, **options: Unpack[TranscodeOptions],
) -> dict[str, Any]:
    """Transcodes a file while the event loop goes on. See `Transcode` and `Transcode.run_async`."""
    with Transcode(input, output, policy=policy, events=events, log=log, **options) as transcode:
        return await transcode.run_async(on_update)


def tag(input: Name, output: Name | None = None, *, orientation: int, **options: Unpack[TagOptions]) -> dict[str, Any]:
    """Sets the orientation of a file's frames without decoding them, as `upright tag`, and returns the report.

    Args:
        input: A path or URL.
        output: A path; `None` changes the input itself.
        orientation: What turns the stored frames upright, as in EXIF: 1 (nothing) to 8.
        sei, strict, overwrite, keep_time, force, record, ...: The options of `TagOptions`.
    """
    report: dict[str, Any] = _tag(
        _encoded_name(input, "input"), None if output is None else _encoded_name(output, "output"), orientation,
        encoded_options(options))
    return report


def check(playlist: str) -> list[dict[str, Any]]:
    """Lists what of a playlist's text breaks a rule of RFC 8216, as `upright check --json`: "line", "rule", "clause",
    "level" ("must" or "should") and "detail"."""
    violations: list[dict[str, Any]] = _check(encoded(playlist, "playlist"))
    return violations


def probe(input: Name) -> dict[str, Any]:
    """Lists every orientation signal in a file or URL, as `upright probe --json` prints it."""
    probed: dict[str, Any] = _probe(_encoded_name(input, "input"))
    return probed
