"""What a session and a clip of 1080p at 30 frames per second cost: the figures of the sizing rule in docs/scale.md."""
import os
import resource
import subprocess
import time

from rows import clips

from . import running

SECONDS, SETTLE = 20, 5
SIZES = {"720p": "720x1280", "1080p": "1080x1920"}
NAME = "sized"


def session(clip, size):
    """Returns the cores, and the bytes written in a second, of a session with HLS."""
    with running.Service() as service:
        service.session(NAME, [{"type": "hls"}], options={"size": size})
        publisher = running.Publisher(clip, service.address(NAME), loops=-1)
        running.until(lambda: service.state(NAME)["state"] == "live")
        time.sleep(SETTLE)
        pid = service.process.pid
        begin, spent, written = time.monotonic(), running.processor(pid), running.written(pid)
        time.sleep(SECONDS)
        seconds = time.monotonic() - begin
        found = {"cores": (running.processor(pid) - spent) / seconds,
                 "written": (running.written(pid) - written) / seconds,
                 "dropped": sum(service.counters(NAME)["dropped"].values())}
        publisher.kill()
    return found


def transcode(clip, folder, size):
    """Returns the CPU time, and the bytes read and written, for each second of a clip of ten seconds."""
    output = os.path.join(folder, "sized.mp4")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([running.UPRIGHT, "transcode", clip, "--frames", "sensor", "--size", size, "--threads", "1", "-q",
                    "-y", "-o", output], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"cores": spent / 10, "read": os.path.getsize(clip) / 10, "written": os.path.getsize(output) / 10}


def measure(scratch):
    clip = clips.lying()
    return {name: {"session": session(clip, size), "clip": transcode(clip, scratch, size)}
            for name, size in SIZES.items()}
