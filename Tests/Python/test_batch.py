"""Many inputs in chunks: the driver on this machine, with stores that fail, and workers that lie or die."""

import contextlib
import dataclasses
import hashlib
import http.server
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem

from upright.batch import Clip, Driver, Local, Options, ProgramError, Store
from upright.batch import _store, _tasks
from upright.batch._program import call

PROGRAM = shutil.which(os.environ.get("UPRIGHT", "upright"))
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="needs the program upright: set UPRIGHT")
OPTIONS = ("--frames", "upright", "--reencode", "always", "--speed", "ultrafast", "--chunk-seconds", "2")


class Flaky(LocalFileSystem):
    """A store that fails half of its calls, and some of them after a part was written."""

    protocol = "flaky"
    chances = random.Random(7)
    calls = failures = 0

    def _may_fail(self):
        Flaky.calls += 1
        if self.chances.random() < 0.5:
            Flaky.failures += 1
            raise OSError("the store is busy")

    def exists(self, path, **options):
        self._may_fail()
        return super().exists(path)

    def cat_file(self, path, *arguments, **options):
        self._may_fail()
        return super().cat_file(path, *arguments, **options)

    def get_file(self, path, target, **options):
        if self.chances.random() < 0.5:
            # Cut off in the middle.
            pathlib.Path(target).write_bytes(pathlib.Path(self._strip_protocol(path)).read_bytes()[:100])
        self._may_fail()
        return super().get_file(path, target, **options)

    def put_file(self, source, path, **options):
        self._may_fail()
        os.makedirs(os.path.dirname(self._strip_protocol(path)), exist_ok=True)
        # An object is there when all of it was sent.
        temporary = f"{path}.{random.getrandbits(64):x}"
        super().put_file(source, temporary, **options)
        os.replace(self._strip_protocol(temporary), self._strip_protocol(path))

    def rm(self, path, *arguments, **options):
        self._may_fail()
        return super().rm(path, *arguments, **options)


fsspec.register_implementation("flaky", Flaky, clobber=True)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Pauses between attempts are short."""
    monkeypatch.setattr(_store.time, "sleep", lambda seconds: None)


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Two clips of six and four seconds with audio, and what transcode makes of them in one process."""
    folder = tmp_path_factory.mktemp("inputs")
    expected = {}
    for name, seconds in (("one", 6), ("two", 4)):
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=s=160x96:r=24:d={seconds}", "-f", "lavfi", "-i",
             f"sine=d={seconds}:r=48000", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "ultrafast", "-g", "24",
             "-c:a", "aac", folder / f"{name}.mp4"], check=True)
        whole = folder / f"whole-{name}.mp4"
        subprocess.run(
            [PROGRAM, "transcode", folder / f"{name}.mp4", "-o", whole, *OPTIONS, "--threads", "1", "-q"], check=True)
        expected[f"{name}.upright.mp4"] = hashlib.sha256(whole.read_bytes()).hexdigest()
    return folder, expected


def outputs(folder):
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in pathlib.Path(folder).iterdir()}


def drive(inputs, destination, engine=None, names=("one", "two"), scheme="", **options):
    clips = Clip.all([f"{scheme}{inputs[0]}/{name}.mp4" for name in names])
    driver = Driver(engine or Local(2), Options(f"{scheme}{destination}", OPTIONS, **options))
    return driver.run(clips)


def test_chunks_give_what_one_process_gives(inputs, tmp_path):
    reports = drive(inputs, tmp_path / "out")
    assert [report.status for report in reports] == ["done", "done"], reports
    assert outputs(tmp_path / "out") == inputs[1]
    assert {report.output: report.sha256 for report in reports} == inputs[1]
    # Three chunks of frames and the audio; a plan, and a join.
    assert [(report.chunks, report.tasks, report.repeated) for report in reports] == [(4, 6, 0), (3, 5, 0)]
    assert all(report.bytes_read > 0 and report.part_bytes > 0 and report.cpu_seconds > 0 for report in reports)


def test_a_store_that_fails_half_of_its_calls(inputs, tmp_path):
    Flaky.calls = Flaky.failures = 0
    reports = drive(inputs, tmp_path / "out", scheme="flaky://")
    assert [report.status for report in reports] == ["done", "done"], reports
    assert Flaky.failures > Flaky.calls / 4
    # Nothing but the outputs is left.
    assert outputs(tmp_path / "out") == inputs[1]


class ClosingServer(http.server.ThreadingHTTPServer):
    """Serves a folder with ranges, and closes half of the connections: before an answer, or in the middle of one."""

    daemon_threads = True

    def __init__(self, folder):
        self.folder, self.chances, self.requests, self.closed = folder, random.Random(2), 0, 0
        super().__init__(("127.0.0.1", 0), ClosingHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class ClosingHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        server = self.server
        server.requests += 1
        data = (server.folder / self.path[1:]).read_bytes()
        wanted = self.headers.get("Range")
        first, _, last = (wanted or "bytes=0-")[6:].partition("-")
        first, end = int(first), int(last) + 1 if last else len(data)
        part = data[first:end]
        fails, answers = server.chances.random() < 0.5, server.chances.random() < 0.5
        if fails:
            server.closed += 1
            self.close_connection = True
            if not answers:
                return self.connection.shutdown(socket.SHUT_RDWR)
        self.send_response(206 if wanted else 200)
        self.send_header("Accept-Ranges", "bytes")
        if wanted:
            self.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(part[:len(part) // 2] if fails else part)
            if fails:
                self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_):
        pass


def test_a_server_that_closes_its_connections(inputs, tmp_path):
    server = ClosingServer(inputs[0])
    for turn in range(3):
        clips = Clip.all([f"http://127.0.0.1:{server.server_address[1]}/{name}.mp4" for name in ("one", "two")])
        reports = Driver(Local(2), Options(str(tmp_path / f"{turn}"), OPTIONS, attempts=12)).run(clips)
        assert [report.status for report in reports] == ["done", "done"], reports
        # With their audio, whichever request was the one that failed.
        assert outputs(tmp_path / f"{turn}") == inputs[1]
    assert server.closed > server.requests / 4
    server.shutdown()


def test_a_store_that_always_fails_loses_its_clip_only(inputs, tmp_path, monkeypatch):
    def get_file(self, path, target, **options):
        if "two" in path:
            raise OSError("no such bucket today")
        return LocalFileSystem.get_file(self, path, target, **options)

    monkeypatch.setattr(Flaky, "get_file", get_file)
    reports = drive(inputs, tmp_path / "out", scheme="flaky://", attempts=2)
    assert [report.status for report in reports] == ["done", "failed"]
    assert reports[1].failed_in == "plan" and "no such bucket today" in reports[1].error
    assert reports[1].repeated == 1
    assert set(outputs(tmp_path / "out")) == {"one.upright.mp4"}


def test_a_damaged_input_fails_alone_and_at_once(inputs, tmp_path):
    (tmp_path / "bad.mp4").write_bytes(b"nothing that plays")
    clips = Clip.all([str(tmp_path / "bad.mp4"), f"{inputs[0]}/one.mp4", str(tmp_path / "none.mp4")])
    reports = Driver(Local(2), Options(str(tmp_path / "out"), OPTIONS)).run(clips)
    assert [report.status for report in reports] == ["failed", "done", "failed"]
    assert reports[0].failed_in == "plan" and "bad.mp4" in reports[0].error
    assert reports[0].repeated == reports[2].repeated == 0
    assert set(outputs(tmp_path / "out")) == {"one.upright.mp4"}


class Lossy(Local):
    """An engine that loses every third task, some of them after they were done."""

    count = 0

    def submit(self, function, *arguments, cores):
        Lossy.count += 1
        number = Lossy.count
        if number % 3:
            return super().submit(function, *arguments, cores=cores)

        def lost():
            if number % 2:
                function(*arguments)
            raise RuntimeError("the node has died")

        return self._pool.submit(lost)


def test_an_engine_that_loses_tasks(inputs, tmp_path):
    reports = drive(inputs, tmp_path / "out", Lossy(2))
    assert [report.status for report in reports] == ["done", "done"], reports
    assert sum(report.repeated for report in reports) >= 3
    assert outputs(tmp_path / "out") == inputs[1]


def test_a_worker_that_lies_about_its_part(inputs, tmp_path, monkeypatch):
    run = _tasks.run

    def lying(place, plan, chunk):
        report = run(place, plan, chunk)
        return {**report, "sha256": "0" * 64} if chunk == 1 else report

    monkeypatch.setattr(_tasks, "run", lying)
    reports = drive(inputs, tmp_path / "out", names=("one",))
    assert reports[0].status == "failed" and reports[0].failed_in == "join"
    assert "part 1" in reports[0].error
    assert not (tmp_path / "out" / "one.upright.mp4").exists()


def test_a_worker_that_delivers_another_part(inputs, tmp_path, monkeypatch):
    run = _tasks.run

    def damaging(place, plan, chunk):
        report = run(place, plan, chunk)
        if chunk == 0:
            part = pathlib.Path(place.store().path(plan.folder)) / "0.part"
            damaged = bytearray(part.read_bytes())
            damaged[-100] ^= 1
            part.unlink()
            part.write_bytes(damaged)
        return report

    monkeypatch.setattr(_tasks, "run", damaging)
    reports = drive(inputs, tmp_path / "out", names=("one",))
    assert reports[0].status == "failed" and reports[0].failed_in == "join"
    assert not (tmp_path / "out" / "one.upright.mp4").exists()


def test_a_worker_of_another_version(inputs, tmp_path, monkeypatch):
    plan = _tasks.plan

    def newer(place, options):
        made = plan(place, options)
        return dataclasses.replace(made, text=made.text.replace(b'"libavcodec ', b'"libavcodec 9'))

    monkeypatch.setattr(_tasks, "plan", newer)
    reports = drive(inputs, tmp_path / "out", names=("one",))
    # Another attempt would be refused too.
    assert reports[0].status == "failed" and reports[0].failed_in in "0123" and reports[0].repeated == 0
    assert "libavcodec 9" in reports[0].error
    assert not (tmp_path / "out" / "one.upright.mp4").exists()


def test_parts_of_an_interrupted_run_are_used(inputs, tmp_path):
    destination = tmp_path / "out"
    driver = Driver(Local(1), Options(str(destination), OPTIONS))
    stopped = driver.run(
        Clip.all([f"{inputs[0]}/one.mp4"]), on_task=lambda report, task: task == "1" and driver.stop())
    assert stopped[0].status == "failed" and stopped[0].error == "stopped"
    parts = sorted(path.name for path in destination.glob(".upright-*/*"))
    assert parts == ["0.json", "0.part", "1.json", "1.part"]
    before = {path: path.stat().st_mtime_ns for path in destination.glob(".upright-*/*.part")}
    kept = Driver(Local(1), Options(str(destination), OPTIONS, keeps_parts=True)).run(
        Clip.all([f"{inputs[0]}/one.mp4"]))
    assert kept[0].status == "done"
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_call_that_is_killed_may_pass_and_a_wrong_one_does_not(inputs):
    with pytest.raises(ProgramError) as wrong:
        call(["plan", str(inputs[0] / "one.mp4"), "-o", "out.mp4", "--fit", "nonsense"])
    assert (wrong.value.status, wrong.value.passes) == (64, False)
    assert "nonsense" in str(wrong.value)

    # A pipe into which nothing is written.
    os.mkfifo(inputs[0] / "waiting.mp4")

    def kill():
        for task in pathlib.Path("/proc/self/task").iterdir():
            for child in (task / "children").read_text().split():
                if b"waiting.mp4" in pathlib.Path(f"/proc/{child}/cmdline").read_bytes():
                    os.kill(int(child), signal.SIGKILL)

    threading.Timer(1, kill).start()
    with pytest.raises(ProgramError) as killed:
        call(["transcode", str(inputs[0] / "waiting.mp4"), "-o", str(inputs[0] / "never.mp4")])
    assert killed.value.passes and "SIGKILL" in str(killed.value)


def test_clips_with_one_output_are_refused():
    with pytest.raises(ValueError, match="same output"):
        Clip.all(["a/take.mov", "b/take.mp4"])


def test_the_names_of_stores():
    assert Store("s3://bucket/out/").path("a.mp4") == "s3://bucket/out/a.mp4" and not Store("s3://b").is_local
    assert Store("file:///srv/out").path("a.mp4") == "/srv/out/a.mp4" and Store("file:///srv/out").is_local


@pytest.mark.parametrize("arguments, status", [
    (["--help"], 0), ([], 64), (["in.mp4"], 64), (["a/x.mp4", "b/x.mp4", "-o", "out"], 64),
    (["in.mp4", "-o", "out", "--storage-options", "[1]"], 64), (["in.mp4", "-o", "out", "--attempts", "0"], 64)])
def test_arguments(arguments, status):
    run = subprocess.run([sys.executable, "-m", "upright.batch", *arguments], capture_output=True, text=True)
    assert run.returncode == status, run.stderr


def test_the_command(inputs, tmp_path):
    report = tmp_path / "report.json"
    run = subprocess.run(
        [sys.executable, "-m", "upright.batch", inputs[0] / "one.mp4", tmp_path / "none.mp4", "-o", tmp_path / "out",
         "--report", report, "--", *OPTIONS], capture_output=True, text=True)
    assert run.returncode == 1, run.stderr
    assert "none.mp4" in run.stderr and "one.upright.mp4: 4 chunks" in run.stderr
    assert [entry["status"] for entry in json.loads(report.read_text())] == ["done", "failed"]
    assert outputs(tmp_path / "out")["one.upright.mp4"] == inputs[1]["one.upright.mp4"]
