"""The command line of all drivers."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

from ._driver import Clip, ClipReport, Driver, Engine, Options


def parser(program: str, what: str) -> argparse.ArgumentParser:
    """Returns the parser of the options that all drivers have."""
    made = argparse.ArgumentParser(
        prog=f"python -m {program}", description=what,
        epilog="The options after -- are those of upright plan, such as --size 720p.")
    made.add_argument("inputs", nargs="+", metavar="INPUT", help="a path, a URL, or an object such as s3://bucket/take.mov")
    made.add_argument("-o", "--output", required=True, metavar="DEST", help="the folder of the outputs: a path, or a URL such as s3://bucket/folder")
    made.add_argument("--extension", default="mp4", help="the extension of the outputs, which selects their container (default: mp4)")
    made.add_argument("--attempts", type=int, default=5, help="how often a task is tried before its clip fails (default: 5)")
    made.add_argument("--storage-options", default="{}", metavar="JSON", help="fsspec's options of the store")
    made.add_argument("--report", metavar="FILE", help="write a report as JSON: an array with an object for each input")
    made.add_argument("--keep-parts", action="store_true", help="keep the parts beside the output")
    made.add_argument("-q", "--quiet", action="store_true", help="print errors only")
    return made


def _absolute(name: str) -> str:
    return name if "://" in name else os.path.abspath(name)


def main(
    arguments: Sequence[str], made: argparse.ArgumentParser, engine: Callable[[argparse.Namespace], Engine],
) -> int:
    """Runs a driver, and returns the exit status: 0, or 1 if an input failed, 64 for wrong options."""
    own, transcode = list(arguments), []
    if "--" in own:
        place = own.index("--")
        own, transcode = own[:place], own[place + 1:]
    try:
        given = made.parse_args(own)
    except SystemExit as error:
        return 64 if error.code else 0
    try:
        storage: dict[str, Any] = json.loads(given.storage_options)
        if not isinstance(storage, dict) or given.attempts < 1:
            raise ValueError("--storage-options is an object, and --attempts at least 1")
        # Workers have another folder.
        clips = Clip.all([_absolute(name) for name in given.inputs], given.extension)
    except ValueError as error:
        print(f"upright: error: {error}", file=sys.stderr)
        return 64
    options = Options(
        destination=_absolute(given.output), transcode=tuple(transcode), storage=storage, attempts=given.attempts,
        keeps_parts=given.keep_parts)
    driver = Driver(engine(given), options)
    signal.signal(signal.SIGTERM, lambda *_: driver.stop())
    total, done = len(clips), 0

    def ended(report: ClipReport) -> None:
        nonlocal done
        done += 1
        if report.status == "failed":
            print(f"upright: error: {report.input}: {report.failed_in}: {report.error}", file=sys.stderr)
        elif not given.quiet:
            again = f", {report.repeated} tasks repeated" if report.repeated else ""
            print(
                f"upright: {done} of {total}: {report.output}: {report.chunks} chunks in {report.seconds:.1f} s{again}",
                file=sys.stderr)

    reports = driver.run(clips, on_report=ended)
    if given.report:
        with open(given.report, "w") as file:
            json.dump([report.json() for report in reports], file, indent=2)
            file.write("\n")
    return 0 if all(report.status == "done" for report in reports) else 1
