"""Files of a library: from the playlist's request to the first picture, and seeks, beside one ffmpeg for each seek, as photo and
video servers start it."""
import os
import random
import re
import shutil
import statistics
import subprocess
import tempfile
import time

from rows import clips

from . import running

SECONDS = 60
SEEKS = 200
# Each with a cache that is empty, and of ffmpeg.
STARTS, OTHERS = 5, 15


def clip(folder, name, turn):
    """Puts a minute of 1080p with a keyframe each second into the library, as a phone stores it."""
    sound = ["-f", "lavfi", "-i", "sine"]
    short = clips.made("library-short.mp4", lambda path: clips.ffmpeg(
        *sound, *clips.video("1920x1080"), "-c:a", "aac", "-shortest", "-c:v", "libx264", "-preset", "veryfast", "-crf", "21",
        "-g", "30", "-keyint_min", "30", "-sc_threshold", "0", "-pix_fmt", "yuv420p", path))
    whole = clips.looped("library-long.mp4", short, SECONDS // 10)
    path = os.path.join(folder, name)
    clips.ffmpeg("-i", whole, "-c", "copy", "-metadata:s:v", f"rotate={turn}", path)
    return path


def timed(body):
    start = time.monotonic()
    result = body()
    return time.monotonic() - start, result


def loaded(service, path):
    status, body = service.get(path)
    if status != 200:
        raise SystemExit(f"{path}: {status} {body.decode(errors='replace')}")
    return body


def first_picture(service, name, query):
    """Loads what a player needs for it."""
    playlist = loaded(service, f"/vod/{name}/index.m3u8{query}").decode()
    names = [line for line in playlist.splitlines() if line.endswith(".m4s")]
    for file in (re.search(r'#EXT-X-MAP:URI="([^"]*)"', playlist)[1], names[0]):
        loaded(service, f"/vod/{name}/{file}")
    return names


def starts(folder, name, query):
    """Returns the median time until the first picture, by services whose caches are empty."""
    times = []
    for _ in range(STARTS):
        with running.Service(more=("--library", folder)) as service:
            # Processes are started ahead.
            time.sleep(3)
            times.append(timed(lambda: first_picture(service, name, query))[0])
    return statistics.median(times)


def seeks(folder, name):
    with running.Service(more=("--library", folder, "--cache-size", "1")) as service:
        names = first_picture(service, name, "")
        time.sleep(3)
        choose = random.Random(1)
        return sorted(timed(lambda: loaded(service, f"/vod/{name}/{choose.choice(names)}"))[0] for _ in range(SEEKS))


def other_seek(path, at):
    """Starts ffmpeg at a time, and waits for its first segment."""
    folder = tempfile.mkdtemp()
    playlist = os.path.join(folder, "a.m3u8")
    start = time.monotonic()
    process = subprocess.Popen(
        ["ffmpeg", "-nostdin", "-v", "error", "-ss", str(at), "-i", path, "-vf", "scale=720:1280", "-c:v", "libx264", "-preset", "veryfast",
         "-crf", "20", "-c:a", "aac", "-f", "hls", "-hls_time", "1", "-hls_segment_type", "fmp4", "-force_key_frames", "expr:gte(t,n_forced)",
         playlist], stdin=subprocess.DEVNULL)
    running.until(lambda: os.path.exists(playlist) or process.poll() is not None, 60, step=0.005)
    took = time.monotonic() - start
    process.kill()
    process.wait()
    shutil.rmtree(folder)
    return took


def measure(scratch):
    folder = os.path.join(scratch, "library")
    os.mkdir(folder)
    turned, upright = (os.path.basename(clip(folder, name, turn)) for name, turn in (("turned.mp4", 90), ("upright.mp4", 0)))
    choose = random.Random(1)
    others = sorted(other_seek(os.path.join(folder, turned), choose.uniform(0, SECONDS - 5)) for _ in range(OTHERS))
    return {"first": starts(folder, turned, ""), "seeks": seeks(folder, turned), "plain": starts(folder, upright, "?size=source"),
            "others": others}
