"""`upright serve` as a process, its HTTP API, and publishers."""
import glob
import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
UPRIGHT = os.environ.get("UPRIGHT") or os.path.join(ROOT, ".build/release/upright")
TOKEN = "a-token-for-measuring"
# The options of every session: the size of the frames, turned with the device.
OPTIONS = {"frames": "sensor", "size": "640x360"}


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(condition, seconds=20.0, step=0.02):
    """Waits until `condition` holds. Returns whether it did within the timeout."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(step)
    return bool(condition())


def connection(port):
    return http.client.HTTPConnection("127.0.0.1", port, timeout=30)


def ask(connection, method, path, body=None):
    """Sends a request. Returns status and body."""
    connection.request(
        method, path, body=None if body is None else json.dumps(body),
        headers={"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"})
    answer = connection.getresponse()
    return answer.status, answer.read()


class Service:
    """A service on free ports, which ends with the `with` block. `tls` is a certificate and its key, as paths; `more` are
    options of `serve`, `environment` variables, and `host` is the address for HTTP."""

    def __init__(self, folder=None, tls=None, more=(), host="127.0.0.1", environment=None):
        self.scratch = tempfile.TemporaryDirectory(dir=folder)
        self.data = os.path.join(self.scratch.name, "data")
        self.log = os.path.join(self.scratch.name, "log")
        self.http, self.rtmp = free_port(), free_port()
        environment = {**os.environ, "UPRIGHT_TOKEN": TOKEN, "UPRIGHT_MAX_CONNECTIONS": "2048", **(environment or {})}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [UPRIGHT, "serve", "--listen", f"{host}:{self.http}", "--data", self.data, *more]
                + (["--tls-cert", tls[0], "--tls-key", tls[1]] if tls else []),
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        self.connection = http.client.HTTPSConnection(
            "127.0.0.1", self.http, timeout=30, context=ssl.create_default_context(cafile=tls[0])
        ) if tls else connection(self.http)
        until(lambda: self.process.poll() is not None or self.is_ready())
        if self.process.poll() is not None or not self.is_ready():
            self.end()
            raise SystemExit("the service did not begin: " + self.logged())

    def is_ready(self):
        try:
            return self.get("/readyz")[0] == 200
        except OSError:
            self.connection.close()
            return False

    def ask(self, method, path, body=None):
        """Sends a request on a persistent connection. Returns status and body."""
        try:
            return ask(self.connection, method, path, body)
        except http.client.RemoteDisconnected:
            # The service closes a connection that is idle for a minute.
            self.connection.close()
            return ask(self.connection, method, path, body)

    def get(self, path):
        return self.ask("GET", path)

    def session(self, name, outputs, **more):
        """Creates a session that waits for a publisher, at `self.address(name)` unless `input` is another one."""
        options = {**OPTIONS, **more.pop("options", {})}
        status, body = self.ask("POST", "/v1/sessions", {
            "name": name, "input": {"url": self.address(name)}, "outputs": outputs,
            **more, "options": options})
        if status != 201:
            raise SystemExit(f"POST /v1/sessions: {status} {body.decode()}")

    def address(self, name):
        return f"rtmp://127.0.0.1:{self.rtmp}/live/key-{name}"

    def state(self, name):
        return json.loads(self.get(f"/v1/sessions/{name}")[1])

    def counters(self, name):
        return self.state(name)["counters"]

    def event(self, name, event):
        status, body = self.ask("POST", f"/v1/sessions/{name}/events", event)
        if status != 200:
            raise SystemExit(f"POST events: {status} {body.decode()}")
        return json.loads(body)

    def delete(self, name):
        return json.loads(self.ask("DELETE", f"/v1/sessions/{name}")[1])

    def metrics(self):
        """Returns all samples of /metrics: name with labels -> value."""
        lines = self.get("/metrics")[1].decode().splitlines()
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
                for line in lines if line and not line.startswith("#")}

    def logged(self):
        with open(self.log, errors="replace") as file:
            return file.read()

    def end(self):
        """Sends SIGTERM and returns the exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode

    def faults(self, levels=("critical",)):
        """Ends the service. Returns what is wrong with its exit status, and its lines of the log levels."""
        status = self.end()
        lines = self.logged().splitlines()
        return ([f"the service ended with status {status}"] if status != 0 else []) + [
            line for line in lines if "Fatal" in line or any(f" {level} " in line for level in levels)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
        self.scratch.cleanup()


class Publisher:
    """ffmpeg, publishing an encoded clip in real time."""

    def __init__(self, clip, address, loops=0):
        self.process = subprocess.Popen(
            ["ffmpeg", "-nostdin", "-v", "error", "-re", "-stream_loop", str(loops), "-i", clip,
             "-c", "copy", "-f", "flv", "-flvflags", "no_duration_filesize", address],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

    def wait(self, seconds=600):
        self.process.wait(seconds)
        if self.process.returncode != 0:
            raise SystemExit("ffmpeg: " + self.process.stderr.read().decode())

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def clip(folder, seconds, size="640x360", rate=30, keyframes=2):
    """Returns a clip with audio, as a phone sends it, made once. The audio is more than a tone, for which FFmpeg's
    AAC encoder takes five times as long."""
    path = os.path.join(folder, f"{size}-{seconds}.flv")
    if not os.path.exists(path):
        subprocess.run(
            ["ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
             f"testsrc2=size={size}:rate={rate}", "-f", "lavfi", "-i", "sine=f=440:r=48000",
             "-f", "lavfi", "-i", "anoisesrc=color=pink:amplitude=0.2:r=48000",
             "-filter_complex", "[1][2]amix=2[audio]", "-map", "0:v", "-map", "[audio]",
             "-t", str(seconds), "-c:v", "libx264", "-preset", "veryfast", "-tune", "zerolatency",
             "-g", str(keyframes * rate), "-pix_fmt", "yuv420p", "-b:v", "800k", "-c:a", "aac",
             "-f", "flv", path], check=True)
    return path


def family(pid):
    """Returns the process, and those that it has started: the processes of a service's sessions."""
    found = [pid]
    # A process is a child of the thread that has started it.
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with open(path) as file:
            found += map(int, file.read().split())
    return found


def memory(pid):
    """Returns the resident and proportional set size in MiB, with the processes that it has started."""
    found = []
    for each in family(pid):
        with open(f"/proc/{each}/smaps_rollup") as file:
            sizes = dict(re.findall(r"^(\w+): +(\d+) kB$", file.read(), re.M))
        found.append((int(sizes["Rss"]) / 1024, int(sizes["Pss"]) / 1024))
    return tuple(map(sum, zip(*found)))


def processor(pid):
    """Returns the CPU time so far, in seconds, with the processes that it has started."""
    fields = []
    for each in family(pid):
        with open(f"/proc/{each}/stat") as file:
            fields.append(file.read().rpartition(")")[2].split())
    return sum(int(each[11]) + int(each[12]) for each in fields) / os.sysconf("SC_CLK_TCK")


def written(pid):
    """Returns the number of bytes that it has written to files and sockets so far, with the processes that it has started."""
    found = 0
    for each in family(pid):
        with open(f"/proc/{each}/io") as file:
            found += int(re.search(r"^wchar: (\d+)$", file.read(), re.M)[1])
    return found


def threads(pid):
    return sum(len(os.listdir(f"/proc/{each}/task")) for each in family(pid))


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def conclude(name, faults, note=""):
    """Prints the faults that a check has found, and ends it."""
    for fault in faults:
        print(f"{name}: {fault}")
    print(f"{name}: {'failed' if faults else 'clean'}{note}")
    sys.exit(1 if faults else 0)


def machine():
    with open("/proc/cpuinfo") as file:
        found = re.search(r"model name\s*: (.*)", file.read())
    return {"cpu": found.group(1) if found else "", "cores": os.cpu_count(),
            "load before": os.getloadavg()[0]}
