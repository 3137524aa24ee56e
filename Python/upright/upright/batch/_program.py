"""Calls of the program `upright`."""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
from collections.abc import Sequence

#: The exit statuses of errors that another attempt may not have: internal errors, and failed reading or writing.
_PASSING = {70, 74}
#: Those that a URL has too, when its server fails: the input can't be opened, or is cut off.
_PASSING_OF_URLS = _PASSING | {65, 66}


class ProgramError(Exception):
    """A call of `upright` failed."""

    def __init__(self, message: str, status: int, passes: bool) -> None:
        super().__init__(message, status, passes)
        #: What failed, where, and what to do about it.
        self.message = message
        #: The exit status: see `upright --help`. Negative for the number of a signal.
        self.status = status
        #: Whether another attempt may succeed.
        self.passes = passes

    def __str__(self) -> str:
        return self.message


def call(arguments: Sequence[str], *, is_url: bool = False) -> bytes:
    """Runs `upright` and returns its standard output.

    Args:
        is_url: Whether the input is read from a server, whose errors may pass.

    Raises:
        ProgramError: It failed, or can't be started.
    """
    program = os.environ.get("UPRIGHT", "upright")
    try:
        # Ctrl-C is for the driver, which ends its own calls.
        process = subprocess.Popen(
            [program, *arguments, "--json-errors"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, preexec_fn=_die_with_parent)
    except OSError as error:
        raise ProgramError(f"{program} can't be started: {error.strerror}", 127, False) from error
    try:
        output, errors = process.communicate()
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    status = process.returncode
    if status == 0:
        return output
    passes = status < 0 or status in (_PASSING_OF_URLS if is_url else _PASSING)
    raise ProgramError(_message(errors, status), status, passes)


def _message(errors: bytes, status: int) -> str:
    if status < 0:
        return f"upright was ended by {signal.Signals(-status).name}"
    lines = errors.decode(errors="replace").splitlines()
    for line in reversed(lines):
        try:
            said = json.loads(line)
            return ": ".join(said[key] for key in ("error", "where", "remedy") if said[key])
        except (ValueError, KeyError, TypeError):
            continue
    return lines[-1] if lines else f"upright ended with {status}"


#: Loaded before a process is forked.
_LIBC = ctypes.CDLL(None)


def _die_with_parent() -> None:
    """Ends the program when its worker is killed: PR_SET_PDEATHSIG (prctl(2))."""
    _LIBC.prctl(1, signal.SIGKILL)
