#!/usr/bin/env python3
"""Runs the built tests, with a process for each suite, and prints their progress.

    run_tests.py check                  the tests that need no browser, no server, no real time
    run_tests.py test                   all tests except the long matrices
    run_tests.py slow                   all tests
    run_tests.py test engine            the same of one package: engine or service
    run_tests.py test --filter REGEX    the tests that match, suite by suite

The progress comes from Swift Testing's event stream. The output of the libraries under test is written to
`.build/test-logs/SUITE.log`, and printed if a process crashes. At the end it prints the slowest tests, every
skipped test with its reason, the totals, and the seed of all random numbers: the variable UPRIGHT_SEED repeats them. In CI
a skip is a failure unless `Tests/skips.txt` has a reason for it.

Many tests run in real time, and share the cores with others. So a test that fails runs once more when the others have
ended, and the summary names it as unsteady if it passes then. That isn't done for a crash, for a report of a sanitizer, or
if many tests fail.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import queue
import random
import re
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The test program of each package.
PROGRAMS = {"engine": "uprightPackageTests.xctest", "service": "upright-servicePackageTests.xctest"}
# After this many seconds without output, a line lists the running tests.
QUIET = 10
SLOWEST = 20
# Targets whose suites are quick in every loop, and the number of patterns per process of quick suites.
QUICK = {
    "ArchitectureTests", "OrientationTests", "PixelKernelsTests", "SignalsTests",
    "RotationPolicyTests", "FuzzTests", "ServiceFuzzTests", "RTMPTests"}
TOGETHER = 12
# If more tests fail, something is broken, and none runs again.
AGAIN = 8


@dataclasses.dataclass(eq=False)
class Work:
    """What one process runs: a suite, a test of it, or several quick suites. The tags are those of
    Tests/UprightTestSupport/Scheduling.swift."""

    name: str
    program: str
    tags: set
    patterns: set

    def only(self, tests):
        """Returns the same process for some of its tests, without another beside it."""
        return Work(f"{self.name} again", self.program, {"timed", "alone"}, {f"^{re.escape(test)}" for test in tests})

    @property
    def is_timed(self):
        return "timed" in self.tags

    @property
    def is_live(self):
        return "waits" in self.tags and not self.is_timed

    @property
    def cost(self):
        """How many cores it keeps busy."""
        if self.is_timed:
            return os.cpu_count() / (1 if "alone" in self.tags else 5 if "light" in self.tags else 3)
        return 0.25 if self.is_live else 1


def fit(works):
    """Returns whether these can run at the same time. Those that don't depend on real time may be one more than the cores:
    now and then each waits for the programs that it starts."""
    in_real_time = any(work.is_live or work.is_timed for work in works)
    return sum(work.cost for work in works) <= os.cpu_count() + (0.01 if in_real_time else 1)


def place(work, waiting, running):
    """Returns the priority that a suite can start with now, "normal" or "idle"; `None` if it can't.

    Once all suites that wait have started, those that measure real time begin. Until they have ended, the others get the
    time that they leave.
    """
    normal = [run.work for run in running if run.priority == "normal"]
    is_waiting = any(other.is_live for other in waiting)
    if work.is_timed:
        is_next = not is_waiting and all(other.is_timed for other in normal)
        return "normal" if is_next and fit([*normal, work]) else None
    if not is_waiting and any(other.is_timed for other in [*waiting, *normal]):
        idle = [run.work for run in running if run.priority == "idle"]
        return "idle" if fit([*idle, work]) else None
    return "normal" if fit([*(run.work for run in running), work]) else None


def make_idle(process):
    """Gives a process and those that it starts the time that the others leave. It must have a session of its own: the
    scheduler shares the cores among sessions first, whatever the priorities in them (sched(7), autogroup)."""
    with contextlib.suppress(OSError):
        os.sched_setscheduler(process.pid, os.SCHED_IDLE, os.sched_param(0))
        pathlib.Path(f"/proc/{process.pid}/autogroup").write_text("19")


class Run:
    """One process of tests, and the events received from it."""

    def __init__(self, work, priority, loop, folder, inbox):
        self.work, self.suite, self.priority, self.begun = work, work.name, priority, time.monotonic()
        self.names, self.kinds, self.current = {}, {}, {}
        self.times, self.skipped, self.issues, self.ended = {}, {}, [], False
        self.cpu, self.seconds, self.exited = 0.0, 0.0, threading.Event()
        stem = re.sub(r"\W+", "-", self.suite)
        self.log, events = folder / f"{stem}.log", folder / f"{stem}.events"
        events.unlink(missing_ok=True)
        os.mkfifo(events)
        command = [work.program, "--testing-library", "swift-testing", "--no-parallel"]
        command += ["--event-stream-output-path", str(events), "--event-stream-version", "0"]
        for pattern in work.patterns:
            command += ["--filter", pattern]
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=open(self.log, "wb"), stderr=subprocess.STDOUT,
            env=os.environ | {"UPRIGHT_LOOP": loop}, cwd=ROOT, start_new_session=priority == "idle")
        if priority == "idle":
            make_idle(self.process)
        # Opened for reading and writing, so that the reader isn't blocked if the process dies before it opens
        # the pipe.
        descriptor = os.open(events, os.O_RDWR)
        reader = os.fdopen(os.open(events, os.O_RDONLY), encoding="utf-8")
        threading.Thread(target=self.read, args=(reader, inbox), daemon=True).start()
        threading.Thread(target=self.wait, args=(descriptor,), daemon=True).start()

    def wait(self, descriptor):
        # With the programs that it has started.
        _, status, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = os.waitstatus_to_exitcode(status)
        self.cpu = usage.ru_utime + usage.ru_stime
        self.exited.set()
        os.close(descriptor)

    def read(self, reader, inbox):
        with reader:
            for line in reader:
                inbox.put((self, json.loads(line)))
        self.exited.wait()
        inbox.put((self, None))

    @property
    def failed(self):
        """The tests that failed; `None` if one crashed, or if a failure belongs to no test."""
        tests = {test for test, _ in self.issues}
        return {without_place(test) for test in tests} if self.ended and tests <= set(self.times) else None

    def label(self, test):
        """Returns `Target.Suite: test`, with the display name of the test."""
        path, _, function = (test or "?").partition("/")
        name = self.names.get(test) or function.partition("(")[0] or "?"
        return f"{path}: {name}"

    def tail(self):
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-60:])


def without_place(test):
    """Returns the name of a test without the place in its source, by which two of one name are told apart."""
    return re.sub(r"/[^/]*:\d+:\d+$", "", test)


class Report:
    """Prints events as they arrive, and a summary."""

    def __init__(self):
        self.runs, self.unsteady, self.start = [], {}, time.monotonic()
        self.last, self.done = self.start, 0

    def line(self, text):
        self.last = time.monotonic()
        print(f"{self.last - self.start:6.1f} s  {text}", flush=True)

    def take(self, run, record):
        payload = record["payload"]
        if record["kind"] == "test":
            name = payload.get("displayName") or payload["name"]
            run.names[payload["id"]] = name.replace("`", "").removesuffix("()")
            run.kinds[payload["id"]] = payload["kind"]
            return
        kind, test, at = payload["kind"], payload.get("testID"), payload["instant"]["absolute"]
        is_test = run.kinds.get(test) == "function"
        if kind == "testStarted" and is_test:
            run.current[test] = at
        elif kind == "testEnded" and is_test:
            seconds = at - run.current.pop(test, at)
            run.times[test] = seconds
            self.done += 1
            if seconds >= 1:
                self.line(f"  {run.label(test)} ({seconds:.1f} s)")
        elif kind == "testSkipped" and is_test:
            run.skipped[test] = (payload.get("_comments") or ["no reason given"])[0]
        elif kind == "issueRecorded" and not payload["issue"].get("isKnown"):
            where = payload["issue"].get("sourceLocation") or {}
            place = f"{where.get('fileID', '?')}:{where.get('line', '?')}"
            text = "\n          ".join(message["text"][:2000] for message in payload["messages"])
            run.issues.append((test, f"{place}: {' | '.join(text.split(chr(10)))[:800]}"))
            self.line(f"✘ {run.label(test)}\n          at {place}\n          {text}")
        elif kind == "runEnded":
            run.ended = True

    def finish(self, run):
        """Prints a line for a suite that has ended, and the end of its log if it crashed."""
        if not run.ended:
            tests = ", ".join(run.label(test) for test in run.current) or "between tests"
            reports = re.findall(r"^(?:SUMMARY|.*Fatal error):.*", run.log.read_text(errors="replace"), re.M)
            place = ": ".join([f"status {run.process.returncode}", *reports[:1]])
            run.issues.append((next(iter(run.current), run.suite), place[:400]))
            self.line(f"✘ {run.suite} crashed (status {run.process.returncode}) in: {tests}\n{run.tail()}")
        mark, run.seconds = "✘" if run.issues else "✔", time.monotonic() - run.begun
        self.line(f"{mark} {run.suite}: {len(run.times)} tests, {run.seconds:.1f} s ({run.cpu:.1f} s CPU)")

    def again(self):
        """Returns what runs once more, after everything has ended. Its failures replace those of the first time."""
        runs = [run for run in self.runs if run.issues]
        if os.environ.get("UPRIGHT_SANITIZED") or any(run.failed is None for run in runs):
            return []
        if sum(len(run.failed) for run in runs) > AGAIN:
            return []
        # Of several failures of a test, the last one.
        self.unsteady = {run.label(test): place for run in runs for test, place in run.issues}
        works = [run.work.only(run.failed) for run in runs]
        for run in runs:
            run.issues = []
        return works

    def heartbeat(self, running):
        if time.monotonic() - self.last >= QUIET:
            tests = [run.label(test) for run in running for test in run.current]
            self.line(f"… {self.done} tests done; running: {'; '.join(tests) or 'between tests'}")

    def summary(self, allowed):
        """Prints the summary. Returns whether all tests passed."""
        times = sorted(
            ((seconds, run.label(test)) for run in self.runs for test, seconds in run.times.items()),
            reverse=True)
        print(f"\nThe {min(SLOWEST, len(times))} slowest tests, in seconds:")
        for seconds, label in times[:SLOWEST]:
            print(f"{seconds:7.1f}  {label}")
        skipped = sorted((run.label(test), why) for run in self.runs for test, why in run.skipped.items())
        later = [why for _, why in skipped if why.startswith("in `make ")]
        for why in sorted(set(later)):
            print(f"{later.count(why)} tests {why}")
        missing = [(label, why) for label, why in skipped if not why.startswith("in `make ")]
        if missing:
            print(f"\n{len(missing)} tests were skipped:")
        for label, why in missing:
            print(f"  {label}: {why}" + (f" ({allowed[label]})" if label in allowed else ""))
        failed = {(run, test) for run in self.runs for test, _ in run.issues}
        if os.environ.get("CI"):
            unlisted = [label for label, _ in missing if label not in allowed]
            for label in unlisted:
                print(f"✘ {label}: skipped in CI, and Tests/skips.txt gives no reason")
            failed |= set(unlisted)
        if failed:
            print()
        again = {run.label(test) for run in self.runs for test, _ in run.issues}
        for label, place in self.unsteady.items():
            if label not in again:
                print(f"≈ {label}: passed when it ran alone, failed among others at {place}")
        for run in self.runs:
            for test, place in run.issues:
                print(f"✘ {run.label(test)} at {place}")
        ran = {(run.work.program, test) for run in self.runs for test in run.times}
        print(f"\n{max(0, len(ran) - len(failed))} passed, {len(failed)} failed, {len(skipped)} skipped")
        return not failed and bool(times)


def allowed_skips():
    """Reads the `Suite: test -- reason` lines of Tests/skips.txt."""
    lines = (ROOT / "Tests/skips.txt").read_text().splitlines()
    pairs = [line.partition(" -- ") for line in lines if line.strip() and not line.startswith("#")]
    return {label.strip(): why.strip() for label, _, why in pairs}


def listed_tests(program, loop, folder):
    """Returns the tests of a program, each with its tags and those of its suites."""
    events = folder / "list.events"
    subprocess.run(
        [program, "--testing-library", "swift-testing", "--list-tests", "--event-stream-output-path", events,
         "--event-stream-version", "0"], check=True, stdout=subprocess.DEVNULL, env=os.environ | {"UPRIGHT_LOOP": loop})
    tests, tags = [], {}
    for line in events.read_text().splitlines():
        payload = json.loads(line)["payload"]
        name = without_place(payload["id"])
        tags[name] = {tag.removeprefix(".") for tag in payload.get("_tags", ())}
        if payload["kind"] == "function":
            tests.append(name)
    for test in sorted(tests):
        parts = test.split("/")
        yield test, set().union(*(tags.get("/".join(parts[:end]), ()) for end in range(1, len(parts) + 1)))


def works_of(package, options, folder):
    """Returns what the processes run of one package."""
    program = str((options.build / "debug" / PROGRAMS[package]).resolve())
    works = {}
    for test, tags in listed_tests(program, options.loop, folder):
        if options.filter and not any(re.search(pattern, test) for pattern in options.filter):
            continue
        suite = ".".join(test.partition("/")[0].split(".")[:2])
        is_single = options.loop != "check" and tags & {"timed", "divided"}
        name = test if is_single else suite
        one = f"^{re.escape(test)}" if options.filter or is_single else f"^{re.escape(suite)}[./]"
        work = works.setdefault(name, Work(name, program, {"waits"} if package == "service" else set(), set()))
        work.tags |= tags
        work.patterns.add(one)
    # Starting a process takes 0.15 s, so quick suites share one.
    together = {}
    for name, work in sorted(works.items()):
        target = name.partition(".")[0]
        if options.loop != "check" and (work.is_timed or target not in QUICK):
            together[name] = work
            continue
        part = 0
        while f"{target} {part}" in together and len(together[f"{target} {part}"].patterns) >= TOGETHER:
            part += 1
        shared = together.setdefault(f"{target} {part}", Work(f"{target} {part}", program, set(), set()))
        shared.patterns |= work.patterns
    return list(together.values())


def run_all(waiting, loop, folder, report):
    """Starts each process when the cores have room for it, and passes its events on until all have ended."""
    inbox, running = queue.Queue(), []
    try:
        while waiting or running:
            for work in list(waiting):
                priority = place(work, waiting, running)
                if priority is None:
                    continue
                waiting.remove(work)
                running.append(Run(work, priority, loop, folder, inbox))
                report.runs.append(running[-1])
            with contextlib.suppress(queue.Empty):
                run, record = inbox.get(timeout=1)
                if record is None:
                    running.remove(run)
                    report.finish(run)
                else:
                    report.take(run, record)
            report.heartbeat(running)
    except KeyboardInterrupt:
        # The terminal doesn't tell those in a session of their own.
        for run in running:
            if run.priority == "idle":
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(run.process.pid, signal.SIGINT)
        raise


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("loop", choices=["check", "test", "slow"])
    parser.add_argument("package", nargs="?", choices=PROGRAMS, help="the default is both")
    parser.add_argument("--filter", action="append", default=[])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / ".build", help="the build folder")
    options = parser.parse_args()
    seed = os.environ.setdefault("UPRIGHT_SEED", str(random.getrandbits(32)))
    folder = options.build / "test-logs"
    folder.mkdir(parents=True, exist_ok=True)

    works = [
        work for package in ([options.package] if options.package else PROGRAMS)
        for work in works_of(package, options, folder)]
    # Suites that wait start first, then the others. Among them the order is that of their last duration, the longest first.
    kept = folder / "seconds.json"
    seconds = json.loads(kept.read_text()) if kept.exists() else {}
    waiting = sorted(works, key=lambda work: (
        work.is_timed, not work.is_live, -seconds.get(work.name, 20 if "lengthy" in work.tags else 0)))
    report = Report()
    run_all(waiting, options.loop, folder, report)
    seconds |= {run.suite: round(run.seconds, 1) for run in report.runs}
    if again := report.again():
        run_all(again, options.loop, folder, report)
    kept.write_text(json.dumps(seconds, indent=1))
    has_passed = report.summary(allowed_skips())
    print(f"random numbers: UPRIGHT_SEED={seed}")
    sys.exit(0 if has_passed else 1)


if __name__ == "__main__":
    main()
