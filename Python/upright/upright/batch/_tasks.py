"""The tasks of a clip: plan, one for each chunk, and join. Each runs on any machine, and again without harm."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ._program import ProgramError, call
from ._store import Source, Store, scratch

Result = TypeVar("Result")


@dataclass(frozen=True)
class Place:
    """Where a clip is read and written."""

    #: The input: a path, a URL, or an object such as `s3://bucket/take.mov`.
    input: str
    #: The folder of the output: a path or a URL of a store.
    folder: str
    #: The output's name in the folder.
    name: str
    #: fsspec's options of both stores.
    options: dict[str, Any] = field(default_factory=dict)

    def store(self) -> Store:
        return Store(self.folder, self.options)

    def source(self) -> Source:
        return Source(self.input, self.options)


@dataclass(frozen=True)
class Plan:
    """The text of a plan, and what a driver needs of it."""

    text: bytes
    chunks: int
    threads: int

    @property
    def id(self) -> str:
        """The SHA-256 of the text, which every part names."""
        return hashlib.sha256(self.text).hexdigest()

    def is_verified(self, chunk: int) -> bool:
        """Whether the plan has a digest of what a chunk reads. It has none if the input can't be divided."""
        return bool(json.loads(self.text)["chunks"][chunk]["work"] != "whole")

    @property
    def folder(self) -> str:
        """The folder of the parts beside the output."""
        return f".upright-{self.id[:32]}"


def _reading(
    place: Place, folder: str, work: Callable[[str], Result], is_verified: bool = False,
) -> Result:
    """Calls `work` with an address of the input. An object whose signed URL fails is copied first.

    Args:
        is_verified: Whether the program notices that it has not read all that it should. If not, an input that is read
            from a server is copied first: a server that closes its connections looks like the end of a file.
    """
    source = place.source()
    address = source.address() if is_verified or not source.is_url else None
    if address is not None:
        try:
            return work(address)
        except ProgramError as error:
            # One that was killed says nothing about the URL.
            if not error.passes or error.status < 0 or not source.is_url:
                raise
            copy = source.copy(folder)
            if copy is None:
                raise
            address = copy
    else:
        copy = source.copy(folder)
        if copy is None:
            raise ValueError(f"{place.input} can't be read")
        address = copy
    return work(address)


def plan(place: Place, options: Sequence[str]) -> Plan:
    """Plans a clip. `options` are those of `upright plan`.

    Raises:
        ProgramError: It can't be planned.
    """
    with scratch() as folder:
        def work(address: str) -> bytes:
            return call(
                ["plan", address, "-o", place.name, "-q", *options], is_url="://" in address)

        made = json.loads(_reading(place, folder, work))
    # The same for every machine, and without the signature of a URL.
    made["input"]["path"] = place.input
    text = json.dumps(made, separators=(",", ":")).encode()
    return Plan(text, len(made["chunks"]), int(made["options"].get("threads", 1)))


def run(place: Place, plan: Plan, chunk: int) -> dict[str, Any]:
    """Does one chunk, puts its part and its report beside the output, and returns the report.

    Raises:
        ProgramError: The chunk can't be done.
    """
    store = place.store()
    started = time.monotonic()
    found = _report(store, plan, chunk)
    if found is not None:
        return {**found, "reused": True, "seconds": time.monotonic() - started}
    with scratch() as folder:
        text = os.path.join(folder, "plan.json")
        pathlib.Path(text).write_bytes(plan.text)
        parts = store.path(plan.folder) if store.is_local else os.path.join(folder, "parts")

        def work(address: str) -> bytes:
            return call(
                ["run", text, "--chunk", str(chunk), "-o", parts, "--input", address, "-q"],
                is_url="://" in address)

        if store.is_local:
            os.makedirs(parts, exist_ok=True)
        _reading(place, folder, work, plan.is_verified(chunk))
        report: dict[str, Any] = json.loads(pathlib.Path(parts, f"{chunk}.json").read_bytes())
        if not store.is_local:
            # The report says that the part is there, so it comes after it.
            for name in (f"{chunk}.part", f"{chunk}.json"):
                store.put(os.path.join(parts, name), f"{plan.folder}/{name}")
    return {**report, "reused": False, "seconds": time.monotonic() - started}


def _report(store: Store, plan: Plan, chunk: int) -> dict[str, Any] | None:
    """Returns the report of a chunk that is done."""
    try:
        report = json.loads(store.read(f"{plan.folder}/{chunk}.json"))
        is_there = report["plan"] == plan.id and store.exists(f"{plan.folder}/{chunk}.part")
        return dict(report) if is_there else None
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        # A damaged report; the part is made again.
        return None


def join(place: Place, plan: Plan, digests: Sequence[str]) -> dict[str, Any]:
    """Joins the parts, puts the output in its place, and returns the report of the transcode with the output's
    `sha256` and `size`.

    Args:
        digests: What each chunk's task has said of its part.

    Raises:
        ProgramError: A part is damaged, or another one than its task has made.
    """
    store = place.store()
    with scratch() as folder:
        text = os.path.join(folder, "plan.json")
        pathlib.Path(text).write_bytes(plan.text)
        parts = store.path(plan.folder)
        if not store.is_local:
            parts = os.path.join(folder, "parts")
            os.mkdir(parts)
            for chunk in range(plan.chunks):
                for name in (f"{chunk}.part", f"{chunk}.json"):
                    store.get(f"{plan.folder}/{name}", os.path.join(parts, name))
        for chunk, digest in enumerate(digests):
            _check(os.path.join(parts, f"{chunk}.part"), chunk, digest)
        output = os.path.join(folder, "output")
        os.mkdir(output)

        def work(address: str) -> bytes:
            return call(
                ["join", text, "--parts", parts, "-o", os.path.join(output, place.name), "--input", address,
                 "--report", os.path.join(folder, "report.json"), "-y", "-q"], is_url="://" in address)

        # Without chunks, the output is a copy of the input.
        _reading(place, folder, work, plan.chunks > 0)
        report: dict[str, Any] = json.loads(pathlib.Path(folder, "report.json").read_bytes())
        size, digest = 0, ""
        # A playlist comes after the files that it names.
        names = sorted(os.listdir(output), key=lambda name: (name == place.name, name))
        for name in names:
            path = os.path.join(output, name)
            size += os.path.getsize(path)
            digest = _digest(path)
            store.put(path, name)
    report["sha256"], report["size"] = digest, size
    return report


def _digest(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()


def _check(path: str, chunk: int, digest: str) -> None:
    if not os.path.exists(path):
        raise ProgramError(f"part {chunk} is missing", 66, False)
    found = _digest(path)
    if found != digest:
        raise ProgramError(
            f"part {chunk} isn't the one that its task has reported: {found[:12]}... instead of {digest[:12]}...",
            65, False)


def clean(place: Place, plan: Plan) -> None:
    """Removes the parts."""
    place.store().remove(plan.folder)
