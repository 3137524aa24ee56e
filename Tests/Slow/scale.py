#!/usr/bin/env python3
"""Transcodes clips in chunks on Ray, from an S3 server and back, while something fails, and compares the outputs with those
of one process. Prints a table: for each fault, the clips that failed or differ, the tasks that were repeated, and what a
chunk costs besides its encoding. Then the speed-up on more cores, from the measured times of chunks.

    scale.py             200 clips on three nodes, one of which is killed; then a chunk's process killed every three seconds
    SHORT=1 scale.py     2 to 4 clips, and only the faults of the store, of a process and of a node

Needs the packages of Python/scale.txt, and `upright` in the variable UPRIGHT. With UPRIGHT_SHARED, real clips are among the
200.
"""
import contextlib
import hashlib
import heapq
import http.client
import http.server
import json
import os
import pathlib
import random
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import fsspec

from upright.batch import Clip, Driver, Local, Options
from upright.batch._store import Store, attempt
from upright.ray import Ray

from tables import table

SHORT = os.environ.get("SHORT") == "1"
PROGRAM = os.environ["UPRIGHT"]
SHARED = os.environ.get("UPRIGHT_SHARED")
# Where real clips are that play to their end.
REAL = ("rotation-real", "real-footage", "vfr", "bframes-elst", "mkv-webm", "mpegts")
OPTIONS = ("--frames", "upright", "--reencode", "always", "--chunk-seconds", "3", "--size", "source")
BUCKET = "upright"
NODES = 3
OUT = sys.stdout


def say(text):
    print(text, file=OUT, flush=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class FaultyProxy(http.server.ThreadingHTTPServer):
    """Passes requests on to the S3 server, and fails half of them: with a status, or by closing the connection."""

    daemon_threads = True

    def __init__(self, target):
        self.target, self.requests, self.failures, self.chances = target, 0, 0, random.Random(3)
        super().__init__(("127.0.0.1", 0), FaultyHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        pass


class FaultyHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_request(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else self._chunked()
        server = self.server
        server.requests += 1
        if server.chances.random() < 0.5:
            server.failures += 1
            if server.chances.random() < 0.5:
                self.close_connection = True
                return self.connection.shutdown(socket.SHUT_RDWR)
            self.send_response(503)
            self.send_header("Content-Length", "0")
            return self.end_headers()
        connection = http.client.HTTPConnection("127.0.0.1", server.target, timeout=60)
        headers = {key: value for key, value in self.headers.items() if key.lower() != "transfer-encoding"}
        connection.request(self.command, self.path, body, headers)
        answer = connection.getresponse()
        data = answer.read()
        self.send_response(answer.status)
        for key, value in answer.getheaders():
            if key.lower() not in ("connection", "transfer-encoding", "content-length", "date", "server"):
                self.send_header(key, value)
        size = answer.getheader("Content-Length") if self.command == "HEAD" else len(data)
        self.send_header("Content-Length", str(size or 0))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)
        connection.close()

    def _chunked(self):
        if "chunked" not in (self.headers.get("Transfer-Encoding") or ""):
            return None
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = handle_request

    def log_message(self, *_):
        pass


def storage(endpoint):
    return {
        "key": "test", "secret": "test", "endpoint_url": endpoint, "client_kwargs": {"region_name": "eu-west-1"},
        "config_kwargs": {"s3": {"addressing_style": "path"}, "retries": {"total_max_attempts": 1}}}


def make_clips(folder, count):
    """Makes clips with audio, adds the real ones, and returns `count` names, each with the path of a clip."""
    kinds = 4 if SHORT else 20
    clips = []
    if SHARED and not SHORT:
        clips = sorted(path for name in REAL for path in pathlib.Path(SHARED, "clips", name).iterdir())
        say(f"scale: {len(clips)} real clips")
    for index in range(kinds):
        path = folder / f"kind{index}.mp4"
        seconds, size = 7 + index % 4 * 3, ("320x180", "180x320", "480x270")[index % 3]
        subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", f"testsrc2=s={size}:r=30:d={seconds}", "-f", "lavfi", "-i",
             f"sine={200 + 50 * index}:d={seconds}:r=48000", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "veryfast",
             "-g", "30", "-c:a", "aac", path], check=True)
        clips.append(path)
    chosen = [(index, clips[index % len(clips)]) for index in range(count)]
    return [(f"clip{index}{path.suffix}", path) for index, path in chosen]


def made_of(clip):
    """The name of a clip's output."""
    return pathlib.Path(clip).stem + ".mp4"


def expected(folder, clips):
    """What one process makes of each clip."""
    sums = {}
    for path in sorted({path for _, path in clips}):
        output = folder / "whole.mp4"
        subprocess.run(
            [PROGRAM, "transcode", path, "-o", output, *OPTIONS, "--threads", "1", "--chunks", "2", "-q", "-y"],
            check=True)
        sums[path] = hashlib.sha256(output.read_bytes()).hexdigest()
    return {made_of(name): sums[path] for name, path in clips}


def children(parent):
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                if int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == parent:
                    found.append(int(folder.name))
            except (OSError, IndexError, ValueError):
                continue
    return found


def tree(parent):
    return [process for child in children(parent) for process in [child, *tree(child)]]


class Killer(threading.Thread):
    """Looks every `pause` seconds at what `candidates` returns and, after the first time every other time, kills one of
    the new ones: a chunk that takes longer than the pause must be able to end."""

    def __init__(self, candidates, pause):
        super().__init__(daemon=True)
        self.candidates, self.pause, self.killed, self.ended = candidates, pause, 0, threading.Event()

    def run(self):
        seen = set()
        while not self.ended.wait(self.pause):
            found = [process for process in self.candidates() if process not in seen]
            seen.update(found)
            if found and (self.killed == 0 or random.random() < 0.5):
                try:
                    os.kill(random.choice(found), signal.SIGKILL)
                    self.killed += 1
                except ProcessLookupError:
                    pass

    def stop(self):
        self.ended.set()
        say(f"scale: {self.killed} processes killed")
        assert self.killed > 0


def programs(parent):
    """The processes below `parent` that do a chunk."""
    found = []
    for process in tree(parent):
        try:
            words = pathlib.Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if len(words) > 1 and words[1] == b"run" and words[0].decode() == PROGRAM:
            found.append(process)
    return found


def measure(name, engine, clips, sums, destination, options, on_task=lambda report, task: None, times=None):
    """Drives the clips, checks every output, and returns a row of the table. Keeps the parts and adds the time of each
    chunk to `times` if it isn't `None`."""
    started = time.monotonic()
    driver = Driver(engine, Options(destination, OPTIONS, options, attempts=12, keeps_parts=times is not None))
    reports = driver.run([Clip(f"s3://{BUCKET}/in/{clip}", made_of(clip)) for clip, _ in clips], on_task=on_task)
    seconds = time.monotonic() - started
    store = Store(destination, options)
    failed = [report for report in reports if report.status != "done"]
    for report in failed[:3]:
        say(f"  {report.input}: {report.failed_in}: {report.error}")
    wrong = 0
    for report in reports:
        if report.status == "done" and hashlib.sha256(store.read(report.output)).hexdigest() != sums[report.output]:
            say(f"  {report.output} is another one than that of one process")
            wrong += 1
    system, path = store._open("")
    system.invalidate_cache()
    left = [name for name in attempt(lambda: system.find(path)) if ".upright-" in name]
    chunks = sum(report.chunks for report in reports)
    if times is not None:
        reported = [json.loads(attempt(lambda: system.cat_file(name))) for name in left if name.endswith(".json")]
        times += [each["timing"]["wall"] for each in reported]
        left = []
    done = [report for report in reports if report.chunks]
    row = {
        "fault": name, "clips": len(reports), "chunks": chunks, "s": seconds, "clips failed": len(failed),
        "outputs that differ": wrong, "tasks repeated": sum(report.repeated for report in reports),
        "parts left": len(left),
        "overhead of a chunk, s": sum(report.overhead_seconds for report in reports) / max(1, chunks),
        "bytes read for a chunk": round(sum(report.bytes_read for report in reports) / max(1, chunks)),
        "bytes of a part": round(sum(report.part_bytes for report in reports) / max(1, chunks)),
        "CPU of a clip, s": statistics.mean(report.cpu_seconds for report in done) if done else 0.0,
    }
    say(f"scale: {json.dumps(row)}")
    return row


def speed_up(durations, cores):
    """The time of a list of chunks on one core by that on `cores`, each chunk given to the first core that is free."""
    free = [0.0] * cores
    for duration in durations:
        heapq.heappush(free, heapq.heappop(free) + duration)
    return sum(durations) / max(free)


def show_speed_up(times, rows):
    """Prints what more cores would gain, from the times of the chunks that one core did, and how near that is to the run
    with two."""
    one, two = rows[0], rows[1]
    overhead = one["overhead of a chunk, s"]
    # As many clips as keep the largest number of cores busy.
    durations = [seconds + overhead for seconds in times] * 40
    say(f"\nscale: two processes at a time: {one['s'] / two['s']:.2f} times as fast as one, measured on"
        f" {os.cpu_count()} cores")
    say(f"scale: computed for {len(durations)} chunks of {statistics.mean(times):.2f} s, each with the measured overhead of"
        f" {overhead:.2f} s; plan and join aren't in it")
    say(table([{"cores": cores, "times as fast": speed_up(durations, cores)} for cores in (2, 8, 32, 128)]))


def check(rows):
    return not any(row["clips failed"] or row["outputs that differ"] or row["parts left"] for row in rows)


def main():
    rows = []
    with tempfile.TemporaryDirectory(prefix="upright-scale-") as name:
        folder = pathlib.Path(name)
        port = free_port()
        moto = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        try:
            plain = storage(f"http://127.0.0.1:{port}")
            attempt(lambda: fsspec.filesystem("s3", **plain).mkdir(BUCKET), pause=0.2)
            clips = make_clips(folder, 4 if SHORT else 200)
            sums = expected(folder, clips)
            source = Store(f"s3://{BUCKET}/in", plain)
            for clip, path in clips:
                source.put(str(path), clip)
            few = clips[:2 if SHORT else 20]
            if not SHORT:
                times = []
                rows.append(measure("none, one process", Local(1), few, sums, f"s3://{BUCKET}/one", plain, times=times))
                rows.append(measure("none, two processes", Local(2), few, sums, f"s3://{BUCKET}/two", plain))
            proxy = FaultyProxy(port)
            rows.append(measure(
                "half of the store's calls fail", Local(2), few[:1] if SHORT else few, sums, f"s3://{BUCKET}/faulty", storage(proxy.url)))
            say(f"scale: the proxy failed {proxy.failures} of {proxy.requests} requests")
            assert proxy.failures > proxy.requests / 3
            pause = 0.5 if SHORT else 3
            killer = Killer(lambda: programs(os.getpid()), pause)
            killer.start()
            rows.append(measure(
                f"a process killed every {pause} s", Local(2), few, sums, f"s3://{BUCKET}/killed", plain))
            killer.stop()
            # Ray writes much about nodes that were killed.
            with contextlib.redirect_stdout(sys.stderr):
                rows += on_ray(clips, sums, plain)
            say(f"\n{table(rows)}")
            if not SHORT:
                show_speed_up(times, rows)
        finally:
            moto.terminate()
            moto.wait()
    return 0 if check(rows) else 1


def on_ray(clips, sums, plain):
    import ray
    from ray.cluster_utils import Cluster

    rows = []
    # A node that doesn't answer for two seconds is dead; by default it is 15.
    health = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 4}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "_system_config": health})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(NODES - 1)]
    ray.init(address=cluster.address, log_to_driver=False, logging_level="error")
    try:
        if not SHORT:
            rows.append(measure("none, Ray with three nodes", Ray(), clips[:20], sums, f"s3://{BUCKET}/ray", plain))
        raylet = nodes[0].all_processes["raylet"][0].process.pid
        killed = []

        def kill_node(report, task):
            # In the middle of a chunk.
            if not killed and (running := programs(raylet)):
                processes = tree(raylet)
                cluster.remove_node(nodes[0], allow_graceful=False)
                for process in processes:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(process, signal.SIGKILL)
                killed.extend(running)

        row = measure("one of three nodes killed, Ray", Ray(), clips, sums, f"s3://{BUCKET}/ray-node", plain, kill_node)
        rows.append(row)
        assert killed and row["tasks repeated"] > 0, "the node wasn't killed in a chunk"
        if not SHORT:
            cluster.add_node(num_cpus=1)
            raylets = [node.all_processes["raylet"][0].process.pid for node in cluster.list_all_nodes()]
            killer = Killer(lambda: [p for raylet in raylets for p in programs(raylet)], 3)
            killer.start()
            rows.append(measure(
                "a chunk's process killed every 3 s, Ray", Ray(), clips, sums, f"s3://{BUCKET}/ray-kill", plain))
            killer.stop()
    finally:
        ray.shutdown()
        cluster.shutdown()
    return rows


if __name__ == "__main__":
    sys.exit(main())
