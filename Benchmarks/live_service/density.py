"""Sessions of 1280x720 at 30 frames per second, turned to 720x1280, on one core: beside one ffmpeg each, and beside one
GStreamer pipeline each, with the same x264 settings, AAC encoded again and HLS written. Streams are added until frames
are missing."""
import glob
import os
import re
import shutil
import signal
import subprocess
import time

from . import running

RATE, SETTLE, SECONDS, MOST = 30, 6, 12, 12
# The share of the frames that is encoded in time while a core isn't too busy. A segment of the window is a sixth.
KEPT = 0.95
X264 = {"preset": "veryfast", "crf": 23, "keyframes": 2 * RATE}


def pinned(core):
    """Returns what keeps a program on one core."""
    return ["taskset", "-c", str(core)]


class Upright:
    """One service, with a process for each session."""

    def __init__(self, folder, core):
        self.service = running.Service(folder)
        pid = self.service.process.pid
        subprocess.run(["taskset", "-a", "-c", "-p", str(core), str(pid)], check=True, stdout=subprocess.DEVNULL)
        self.names = []
        # The service alone, which all sessions share.
        self.idle = running.memory(pid)[1]

    def add(self):
        name = f"dense{len(self.names)}"
        self.service.session(name, [{"type": "hls"}], options={"size": "720x1280", "speed": X264["preset"]})
        self.names.append(name)
        return self.service.address(name)

    def frames(self):
        return [self.service.counters(name)["framesOut"] for name in self.names]

    def pids(self):
        return [self.service.process.pid]

    def end(self):
        self.service.end()
        self.service.scratch.cleanup()


class Processes:
    """A process for each stream, which waits for its publisher."""

    def __init__(self, folder, core):
        self.folder, self.core, self.processes, self.idle = folder, core, [], 0

    def add(self):
        port, index = running.free_port(), len(self.processes)
        place = os.path.join(self.folder, f"{type(self).__name__}-{index}")
        os.makedirs(place, exist_ok=True)
        with open(self.log(index), "wb") as log:
            self.processes.append(subprocess.Popen(
                pinned(self.core) + self.command(port, place), stdin=subprocess.DEVNULL, stdout=log, stderr=log))
        time.sleep(0.7)
        return self.address(port)

    def log(self, index):
        return os.path.join(self.folder, f"{type(self).__name__}-{index}.log")

    def frames(self):
        found = []
        for index in range(len(self.processes)):
            with open(self.log(index), errors="replace") as file:
                found.append(int((re.findall(self.counted, file.read()) or ["0"])[-1]))
        return found

    def pids(self):
        return [each.pid for each in self.processes]

    def end(self):
        for each in self.processes:
            each.send_signal(signal.SIGKILL)
            each.wait()
        for place in glob.glob(os.path.join(self.folder, f"{type(self).__name__}-*")):
            shutil.rmtree(place, ignore_errors=True)


class FFmpeg(Processes):
    counted = r"frame= *(\d+)"

    def command(self, port, place):
        return [
            "ffmpeg", "-nostdin", "-v", "error", "-progress", "pipe:1", "-threads", "1", "-listen", "1", "-i",
            self.address(port), "-filter_threads", "1", "-vf", "transpose=clock", "-c:v", "libx264", "-preset",
            X264["preset"], "-tune", "zerolatency", "-crf", str(X264["crf"]), "-g", str(X264["keyframes"]),
            "-threads", "1", "-c:a", "aac", "-f", "hls", "-hls_time", "2", "-hls_segment_type", "fmp4",
            "-hls_flags", "delete_segments", os.path.join(place, "index.m3u8")]

    def address(self, port):
        return f"rtmp://127.0.0.1:{port}/live/key"


class GStreamer(Processes):
    counted = r"rendered: (\d+)"

    def command(self, port, place):
        # The frames are counted before the encoder, which waits for no other frame.
        return ["gst-launch-1.0", "-v"] + f"""
            tcpserversrc host=127.0.0.1 port={port} ! flvdemux name=d
            d.video ! queue ! h264parse ! avdec_h264 max-threads=1 ! videoflip method=clockwise ! tee name=t
            t. ! queue ! x264enc speed-preset={X264["preset"]} tune=zerolatency pass=qual quantizer={X264["crf"]}
              key-int-max={X264["keyframes"]} threads=1 ! h264parse ! queue ! hls.video
            t. ! queue ! fpsdisplaysink text-overlay=false sync=false video-sink=fakesink
            d.audio ! queue ! aacparse ! avdec_aac ! audioconvert ! avenc_aac ! aacparse ! queue ! hls.audio
            hlssink2 name=hls target-duration=2 location={place}/%05d.ts playlist-location={place}/index.m3u8
            """.split()

    def address(self, port):
        return f"tcp://127.0.0.1:{port}"


def run(kind, clip, folder, count, cores):
    """Returns the frames, the CPU time and the memory of `count` streams."""
    peer, publishers = kind(folder, cores[0]), []
    try:
        for _ in range(count):
            publishers.append(subprocess.Popen(
                pinned(cores[1]) + ["ffmpeg", "-nostdin", "-v", "quiet", "-re", "-stream_loop", "-1", "-i", clip,
                                    "-c", "copy", "-f", "flv", "-flvflags", "no_duration_filesize", peer.add()],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        time.sleep(SETTLE)
        begin, frames = time.monotonic(), peer.frames()
        spent = sum(map(running.processor, peer.pids()))
        time.sleep(SECONDS)
        seconds, made = time.monotonic() - begin, sum(peer.frames()) - sum(frames)
        spent = sum(map(running.processor, peer.pids())) - spent
        memory = sum(running.memory(pid)[1] for pid in peer.pids()) - peer.idle
    finally:
        for each in publishers:
            each.kill()
            each.wait()
        peer.end()
    return {"count": count, "frames": made / (count * RATE * seconds), "cores": spent / seconds,
            "CPU of a frame": spent / max(1, made), "PSS each": memory / count, "load": os.getloadavg()[0]}


def measure(scratch):
    clip = running.clip(scratch, 20, "1280x720")
    available = sorted(os.sched_getaffinity(0))
    # Publishers are on another core, if there is one.
    cores = available[0], available[-1]
    kinds = [Upright, FFmpeg]
    if subprocess.run(["gst-inspect-1.0", "x264enc"], capture_output=True).returncode == 0:
        kinds.append(GStreamer)
    else:
        print("density: without GStreamer, whose x264enc is in gstreamer1.0-plugins-ugly")
    found = {kind.__name__: [] for kind in kinds}
    for count in range(1, MOST + 1):
        # In turns, so that a busy machine is busy for all.
        for kind in list(kinds):
            found[kind.__name__].append(run(kind, clip, scratch, count, cores))
            if found[kind.__name__][-1]["frames"] < KEPT:
                kinds.remove(kind)
    return found


def knee(runs):
    """Returns the number of streams of which no frame is missing."""
    return max((each["count"] for each in runs if each["frames"] >= KEPT), default=0)
