"""Many sessions on one port: frames, memory, CPU time; and an output that never reads."""
import glob
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import threading
import time

from . import running

COUNT, RATE = 8, 30


class Deaf:
    """RTMP servers that stall: one accepts and never reads, one reads the stream and then stops."""

    def __init__(self):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(8)
        self.port = self.listener.getsockname()[1]
        self.connections = []
        threading.Thread(target=self.accept, daemon=True).start()
        self.second = running.free_port()
        self.server = subprocess.Popen(
            ["ffmpeg", "-nostdin", "-v", "quiet", "-listen", "1", "-i",
             f"rtmp://127.0.0.1:{self.second}/live/deaf", "-c", "copy", "-f", "null", "-"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def accept(self):
        while True:
            try:
                self.connections.append(self.listener.accept()[0])
            except OSError:
                return

    @property
    def outputs(self):
        return [{"type": "rtmp", "url": f"rtmp://127.0.0.1:{port}/live/deaf"}
                for port in (self.port, self.second)]

    def stall(self):
        self.server.send_signal(signal.SIGSTOP)

    def end(self):
        self.listener.close()
        for connection in self.connections:
            connection.close()
        self.server.kill()
        self.server.wait()


class Segments(threading.Thread):
    """Records when each session's segments appear in its playlist."""

    def __init__(self, data):
        super().__init__(daemon=True)
        self.data, self.wanted = data, True
        # For each session: segment number -> time of its file.
        self.seen = {}

    def run(self):
        while self.wanted:
            for path in glob.glob(os.path.join(self.data, "live/*/index-[0-9]*.m4s")):
                name = os.path.basename(os.path.dirname(path))
                number = int(re.search(r"-(\d+)\.m4s$", path).group(1))
                try:
                    self.seen.setdefault(name, {}).setdefault(number, os.stat(path).st_mtime)
                except FileNotFoundError:
                    pass
            time.sleep(0.3)

    def intervals(self, name):
        """Returns the seconds from each segment to the next."""
        times = [time for _, time in sorted(self.seen.get(name, {}).items())]
        return [b - a for a, b in zip(times, times[1:])]


def sent(clip):
    """Returns the number of frames of the clip."""
    found = subprocess.check_output(
        ["ffprobe", "-v", "error", "-select_streams", "v:0", "-count_packets", "-show_entries",
         "stream=nb_read_packets", "-of", "csv=p=0", clip], text=True)
    return int(found.strip().strip(","))


def frame_times(path):
    """Returns the presentation times of a recording's frames, in seconds."""
    found = subprocess.check_output(
        ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time",
         "-of", "csv=p=0", path], text=True)
    return [float(line.strip(",")) for line in found.split()]


def run(clip, deaf, settle=5.0):
    """Runs eight publishers to the end of the clip. Returns the service's memory, CPU time and counters."""
    names = [f"s{index}" for index in range(COUNT)]
    with running.Service() as service:
        time.sleep(1)
        pid = service.process.pid
        idle = running.memory(pid)
        idle_threads = running.threads(pid)
        for name in names:
            outputs = [{"type": "hls"}, {"type": "file", "name": "take.ts"}]
            service.session(name, outputs + (deaf.outputs if deaf and name == "s0" else []))
        watch = Segments(service.data)
        watch.start()
        publishers = [running.Publisher(clip, service.address(name)) for name in names]
        samples, cpu, started = [], None, time.monotonic()
        while any(each.process.poll() is None for each in publishers):
            time.sleep(0.5)
            if deaf and time.monotonic() - started > settle:
                deaf.stall()
            # The first seconds, in which everything is opened, are left out.
            if time.monotonic() - started > settle:
                samples.append(running.memory(pid))
                cpu = cpu or (running.processor(pid), time.monotonic())
                live_threads = running.threads(pid)
        spent = (running.processor(pid) - cpu[0]) / (time.monotonic() - cpu[1])
        running.until(lambda: all(service.state(n)["state"] == "inputLost" for n in names), 10)
        for each in publishers:
            each.wait()
        watch.wanted = False
        ended = {name: service.delete(name) for name in names}
        out = {name: frame_times(os.path.join(service.data, "recordings", name, "take.ts"))
               for name in names}
    rss, pss = (statistics.median(column) for column in zip(*samples))
    frames = sent(clip)
    healthy = names[1:] if deaf else names
    return {
        "frames sent, each": frames,
        "frames in": [ended[name]["counters"]["framesIn"] for name in names],
        "dropped": [ended[name]["counters"]["dropped"] for name in names],
        "frames out": [ended[name]["counters"]["framesOut"] for name in names],
        "frames in the outputs": [len(out[name]) for name in names],
        "longest step": max(b - a for name in names for a, b in zip(out[name], out[name][1:])),
        "latest segment": max(max(watch.intervals(name)[1:], default=0) for name in healthy),
        "idle RSS": idle[0], "idle PSS": idle[1], "RSS": rss, "PSS": pss,
        "RSS each": (rss - idle[0]) / COUNT, "PSS each": (pss - idle[1]) / COUNT,
        "threads idle": idle_threads, "threads": live_threads, "cores used": spent,
        "load": os.getloadavg()[0]}


def measure(scratch, seconds=40):
    """Measures without and with a stalled output."""
    clip = running.clip(scratch, seconds)
    alone = run(clip, None)
    deaf = Deaf()
    try:
        return {"alone": alone, "with stalled outputs": run(clip, deaf)}
    finally:
        deaf.end()
