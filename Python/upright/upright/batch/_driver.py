"""Drives the tasks of many clips on an engine."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, Protocol

from . import _tasks
from ._program import ProgramError
from ._tasks import Place, Plan


class Engine(Protocol):
    """Runs tasks on some machines."""

    #: How many tasks are given to the engine at a time, so that the first clips are finished first.
    limit: int

    def submit(self, function: Callable[..., Any], *arguments: Any, cores: float) -> Future[Any]:
        """Starts a task that needs so many cores. The result has what the task returns or raises, or the error of an
        engine that has lost the task, which then is given to it again."""
        ...


class Local:
    """Runs tasks on this machine, in a process for each chunk."""

    def __init__(self, jobs: int | None = None) -> None:
        count = jobs or len(os.sched_getaffinity(0))
        self.limit = count
        self._pool = ThreadPoolExecutor(count, "upright")

    def submit(self, function: Callable[..., Any], *arguments: Any, cores: float) -> Future[Any]:
        return self._pool.submit(function, *arguments)


@dataclass(frozen=True)
class Clip:
    """An input and the name of its output in the destination."""

    input: str
    output: str

    @staticmethod
    def all(inputs: Sequence[str], extension: str = "mp4") -> list[Clip]:
        """Names the output of each input: `NAME.upright.EXTENSION`.

        Raises:
            ValueError: Two would have the same output.
        """
        clips = [
            Clip(name, os.path.splitext(name.rstrip("/").rpartition("/")[2])[0] + f".upright.{extension}")
            for name in inputs]
        seen: dict[str, str] = {}
        for clip in clips:
            if clip.output in seen:
                raise ValueError(f"{seen[clip.output]} and {clip.input} would have the same output, {clip.output}")
            seen[clip.output] = clip.input
        return clips


@dataclass
class ClipReport:
    """What became of a clip."""

    input: str
    output: str
    #: `done` or `failed`.
    status: str = "running"
    #: Why it failed, and in which task: `plan`, `join`, or the number of a chunk.
    error: str | None = None
    failed_in: str | None = None
    chunks: int = 0
    #: The tasks that were given to the engine, and those that were done again after a failure.
    tasks: int = 0
    repeated: int = 0
    #: From the start of its first task to the end of its last one, in seconds.
    seconds: float = 0.0
    #: The CPU time of its chunks, in seconds.
    cpu_seconds: float = 0.0
    #: The time of its chunks outside of the encoding itself: starting, copying, waiting for the store.
    overhead_seconds: float = 0.0
    #: The bytes that were read of the input, and those of the parts.
    bytes_read: int = 0
    part_bytes: int = 0
    #: The output's SHA-256 (of a playlist, that of the playlist itself) and its size with all its files.
    sha256: str | None = None
    size: int = 0
    #: The warnings for the user.
    warnings: list[str] = field(default_factory=list)

    def json(self) -> dict[str, Any]:
        return dict(self.__dict__)


@dataclass(frozen=True)
class Options:
    """How clips are driven."""

    #: The folder of the outputs: a path, or a URL of a store.
    destination: str
    #: The options of `upright plan`, such as `["--size", "720p"]`.
    transcode: tuple[str, ...] = ()
    #: fsspec's options of the stores.
    storage: dict[str, Any] = field(default_factory=dict)
    #: How often a task is tried before its clip fails.
    attempts: int = 5
    #: Whether the parts are kept after they were joined.
    keeps_parts: bool = False


class _Work:
    """The state of one clip."""

    def __init__(self, clip: Clip, options: Options) -> None:
        self.report = ClipReport(clip.input, clip.output)
        self.place = Place(clip.input, options.destination, clip.output, options.storage)
        self.plan: Plan | None = None
        self.digests: dict[int, str] = {}
        self.attempts: dict[str, int] = {}
        self.started = 0.0
        self.open = 0


@dataclass(frozen=True)
class _Task:
    work: _Work
    #: `plan`, `join`, or the number of a chunk.
    name: str


class Driver:
    """Plans clips, runs their chunks, and joins them. A task that fails for good fails its clip only."""

    def __init__(self, engine: Engine, options: Options) -> None:
        self.engine = engine
        self.options = options
        self._stopping = threading.Event()
        #: CPU time by wall time of the chunks so far, for each thread.
        self._costs: list[float] = []

    def stop(self) -> None:
        """Starts no further tasks. `run` returns when those that run have ended. Can be called on any thread."""
        self._stopping.set()

    def run(
        self, clips: Iterable[Clip], on_report: Callable[[ClipReport], None] = lambda report: None,
        on_task: Callable[[ClipReport, str], None] = lambda report, task: None,
    ) -> list[ClipReport]:
        """Does all clips and returns a report for each, in their order.

        Args:
            on_report: Called when a clip has ended.
            on_task: Called when a task of a clip was done: `plan`, `join`, or the number of a chunk.
        """
        works = [_Work(clip, self.options) for clip in clips]
        # The chunks of a clip that has begun go before the next clip.
        ready: list[_Task] = [_Task(work, "plan") for work in reversed(works)]
        running: dict[Future[Any], _Task] = {}
        while ready or running:
            while ready and len(running) < self.engine.limit and not self._stopping.is_set():
                task = ready.pop()
                if task.work.report.status != "failed":
                    running[self._submit(task)] = task
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                task.work.open -= 1
                ready += reversed(self._next(task, future, on_task))
                self._end(task.work, on_report)
        for work in works:
            if work.report.status == "running":
                work.report.status, work.report.error = "failed", "stopped"
                on_report(work.report)
        return [work.report for work in works]

    def _submit(self, task: _Task) -> Future[Any]:
        work = task.work
        work.started = work.started or time.monotonic()
        work.open += 1
        work.report.tasks += 1
        work.attempts[task.name] = work.attempts.get(task.name, 0) + 1
        if work.attempts[task.name] > 1:
            work.report.repeated += 1
        if task.name == "plan":
            return self.engine.submit(_tasks.plan, work.place, self.options.transcode, cores=1)
        assert work.plan is not None
        if task.name == "join":
            digests = [work.digests[chunk] for chunk in range(work.plan.chunks)]
            return self.engine.submit(_tasks.join, work.place, work.plan, digests, cores=1)
        return self.engine.submit(
            _tasks.run, work.place, work.plan, int(task.name), cores=self._cores(work.plan.threads))

    def _cores(self, threads: int) -> float:
        """The cores of a chunk: as measured, or else one for each thread of the encoder."""
        if len(self._costs) < 3:
            return threads
        return min(64.0, max(0.1, round(statistics.median(self._costs[-50:]) * threads, 1)))

    def _next(
        self, task: _Task, future: Future[Any], on_task: Callable[[ClipReport, str], None]
    ) -> list[_Task]:
        """Returns the tasks that follow one that has ended."""
        work, report = task.work, task.work.report
        try:
            result = future.result()
        except Exception as error:
            # Ray wraps what a task has raised.
            cause = getattr(error, "cause", error)
            final = isinstance(cause, (ProgramError, ImportError)) and not getattr(cause, "passes", False)
            if report.status != "failed" and not final and work.attempts[task.name] < self.options.attempts:
                return [task]
            if report.status != "failed":
                report.status, report.failed_in = "failed", task.name
                report.error = str(cause) or type(cause).__name__
            return []
        on_task(report, task.name)
        if report.status == "failed":
            return []
        if task.name == "plan":
            work.plan = result
            report.chunks = result.chunks
            return [_Task(work, str(chunk)) for chunk in range(result.chunks)] or [_Task(work, "join")]
        if task.name == "join":
            report.status = "done"
            report.sha256, report.size = result["sha256"], result["size"]
            report.warnings = result.get("warnings", [])
            return []
        self._note(work, int(task.name), result)
        assert work.plan is not None
        return [_Task(work, "join")] if len(work.digests) == work.plan.chunks else []

    def _note(self, work: _Work, chunk: int, result: dict[str, Any]) -> None:
        work.digests[chunk] = result["sha256"]
        report, timing = work.report, result["timing"]
        report.cpu_seconds += timing["cpu"]
        report.bytes_read += timing["bytes_read"]
        report.part_bytes += result["size"]
        if not result["reused"]:
            report.overhead_seconds += max(0.0, result["seconds"] - timing["wall"])
            if timing["wall"] > 0.5 and work.plan is not None:
                self._costs.append(timing["cpu"] / timing["wall"] / max(1, work.plan.threads))

    def _end(self, work: _Work, on_report: Callable[[ClipReport], None]) -> None:
        report = work.report
        if report.status == "running" or work.open > 0:
            return
        report.seconds = time.monotonic() - work.started
        if report.status == "done" and work.plan is not None and not self.options.keeps_parts:
            try:
                _tasks.clean(work.place, work.plan)
            except Exception as error:
                report.warnings.append(f"the parts were not removed: {error}")
        on_report(report)
