"""Files and objects, by fsspec."""

from __future__ import annotations

import importlib
import os
import random
import shutil
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

#: Errors that another attempt doesn't change.
_FINAL = (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, NotImplementedError, ImportError)


def optional(name: str, extra: str) -> Any:
    """Returns a module that not every user of this package needs.

    Raises:
        ImportError: It isn't installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(f"this needs {name}: pip install 'upright[{extra}]'") from error


def attempt(operation: Callable[[], Result], *, times: int = 10, pause: float = 0.05) -> Result:
    """Calls `operation` until it succeeds, with growing pauses between attempts.

    Raises:
        The error of the last attempt, or one that another attempt doesn't change.
    """
    for number in range(times):
        try:
            return operation()
        except _FINAL:
            raise
        except Exception:
            if number == times - 1:
                raise
            time.sleep(min(5, pause * 2**number) * random.uniform(0.5, 1))
    raise AssertionError("unreachable")


def _check_size(path: str, size: int | None, name: str) -> None:
    """Raises `OSError` if a copy isn't complete. Some stores don't tell a size."""
    if size is not None and os.path.getsize(path) != size:
        raise OSError(f"{name} was cut off: {os.path.getsize(path)} of {size} bytes")


class Store:
    """A folder of a file system or of an object store, such as `s3://bucket/path`, `gs://...`, `az://...` or a path."""

    def __init__(self, url: str, options: dict[str, Any] | None = None) -> None:
        """`options` are fsspec's options of the store, such as `{"endpoint_url": "http://localhost:5000"}`."""
        self.url = url.rstrip("/") or "/"
        self.options = options or {}

    @property
    def is_local(self) -> bool:
        """Whether it is a folder of this machine, or of a file system that all machines have."""
        return "://" not in self.url or self.url.startswith("file://")

    def path(self, name: str) -> str:
        """Returns the URL of a file in the folder; for a local one its path."""
        folder = self.url.removeprefix("file://") if self.is_local else self.url
        return f"{folder}/{name}"

    def exists(self, name: str) -> bool:
        system, path = self._open(name)
        return attempt(lambda: bool(system.exists(path)))

    def read(self, name: str) -> bytes:
        """Returns the bytes of a small file."""
        system, path = self._open(name)
        return attempt(lambda: bytes(system.cat_file(path)))

    def get(self, name: str, target: str) -> None:
        """Copies a file to a local path."""
        system, path = self._open(name)

        def copy() -> None:
            system.get_file(path, target)
            _check_size(target, system.size(path), path)

        attempt(copy)

    def put(self, source: str, name: str) -> None:
        """Copies a local file into the folder. It appears under its name when it is complete."""
        system, path = self._open(name)
        if not self.is_local:
            # An object appears when all of it was sent.
            attempt(lambda: system.put_file(source, path))
            return
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        temporary = f"{path}.{random.getrandbits(64):x}.part"
        try:
            attempt(lambda: system.put_file(source, temporary))
            os.replace(temporary, path)
        except BaseException:
            if os.path.exists(temporary):
                os.unlink(temporary)
            raise

    def remove(self, name: str) -> None:
        """Removes a folder and all that is in it, if it exists."""
        system, path = self._open(name)
        try:
            attempt(lambda: system.rm(path, recursive=True))
        except FileNotFoundError:
            pass

    def signed(self, name: str, seconds: int) -> str | None:
        """Returns a URL that reads the object for some time without further rights; `None` if the store has none."""
        system, path = self._open(name)
        try:
            return str(attempt(lambda: system.sign(path, expiration=seconds)))
        except (NotImplementedError, AttributeError):
            return None

    def _open(self, name: str) -> tuple[Any, str]:
        fsspec = optional("fsspec", "batch")
        # An object that is not found may be there a moment later, so listings are not kept.
        options = {"use_listings_cache": False} if not self.is_local else {}
        system, path = fsspec.core.url_to_fs(f"{self.url}/{name}", **options, **self.options)
        return system, path


class Source:
    """An input: a path, an `http(s)://` URL, or an object of a store."""

    #: How long a signed URL is valid, in seconds.
    validity = 12 * 3600

    def __init__(self, url: str, options: dict[str, Any] | None = None) -> None:
        self.url = url
        folder, _, self.name = url.rpartition("/")
        is_object = "://" in url and not url.startswith(("http://", "https://", "file://"))
        self._store = Store(folder, options) if is_object else None

    @property
    def is_url(self) -> bool:
        """Whether it is read from a server."""
        return "://" in self.url and not self.url.startswith("file://")

    def address(self) -> str | None:
        """Returns what `upright` can read: a path or a URL; `None` if the object must be copied first."""
        if self._store is None:
            return self.url.removeprefix("file://")
        return self._store.signed(self.name, self.validity)

    def copy(self, folder: str) -> str | None:
        """Copies an input that is read from a server into a local folder and returns its path; `None` for a file."""
        if not self.is_url:
            return None
        # The extension tells the container of some inputs.
        name = self.name if self._store is not None else urllib.parse.urlsplit(self.url).path
        target = os.path.join(folder, "input" + os.path.splitext(name)[1])
        if self._store is not None:
            self._store.get(self.name, target)
        else:
            attempt(lambda: self._download(target))
        return target

    def _download(self, target: str) -> None:
        try:
            with urllib.request.urlopen(self.url, timeout=60) as answer, open(target, "wb") as file:
                shutil.copyfileobj(answer, file, 1 << 20)
                size = answer.headers.get("Content-Length")
        except urllib.error.HTTPError as error:
            if error.code in (401, 403, 404, 410):
                raise FileNotFoundError(f"{self.url.partition('?')[0]}: {error}") from None
            raise
        _check_size(target, int(size) if size is not None else None, self.url.partition("?")[0])


def scratch() -> "tempfile.TemporaryDirectory[str]":
    """Returns a new local folder, which is removed at the end of a `with` block."""
    return tempfile.TemporaryDirectory(prefix="upright-")
