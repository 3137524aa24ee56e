#!/usr/bin/env python3
"""Upright RGB frames of a turned 1080p clip by upright.open, PyAV with rot90, OpenCV and torchcodec: CPU time, and time,
of each frame, and what is beyond decoding. Frames are contiguous, but for views of PyAV's, which aren't compared: their
consumer pays for the turn.

    reader_bench.py [--frames N] [--rounds N]

Needs the packages upright, av, numpy; and for their rows opencv-python-headless, torch and torchcodec. Each run is a process
of its own. Rounds alternate, and the least of each counts: others may use the machine.
"""

import argparse
import importlib.util
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time


def upright_frames(path):
    import upright
    for frame in upright.open(path):
        yield frame.numpy()


def pyav_views(path):
    import av
    import numpy
    with av.open(path) as container:
        container.streams.video[0].thread_type = "AUTO"
        for frame in container.decode(video=0):
            yield numpy.rot90(frame.to_ndarray(format="rgb24"), -1)


def pyav_frames(path):
    import numpy
    # torch, for one, takes no array with negative strides.
    return map(numpy.ascontiguousarray, pyav_views(path))


def pyav_decoded(path):
    import av
    with av.open(path) as container:
        container.streams.video[0].thread_type = "AUTO"
        yield from container.decode(video=0)


def opencv_frames(path):
    import cv2
    capture = cv2.VideoCapture(path)
    capture.set(cv2.CAP_PROP_ORIENTATION_AUTO, 1)
    while True:
        is_read, frame = capture.read()
        if not is_read:
            return
        yield frame


def opencv_decoded(path):
    import cv2
    capture = cv2.VideoCapture(path)
    while capture.grab():
        yield None


def torchcodec_frames(path):
    from torchcodec.decoders import VideoDecoder
    # All cores, as the others.
    for frame in VideoDecoder(path, num_ffmpeg_threads=0):
        yield frame


VIEWS = "the same, views"
#: What makes frames, what only decodes them, and the module that both need.
READERS = {
    "upright": (upright_frames, None, "upright"),
    "PyAV + rot90": (pyav_frames, pyav_decoded, "av"),
    VIEWS: (pyav_views, pyav_decoded, "av"),
    "OpenCV": (opencv_frames, opencv_decoded, "cv2"),
    "torchcodec": (torchcodec_frames, pyav_decoded, "torchcodec"),
}


def measure(function, path):
    """Prints the milliseconds of CPU time and of time of a frame, without the first three."""
    count = 0
    for index, _frame in enumerate(function(path)):
        if index == 2:
            start, cpu = time.monotonic(), cpu_time()
        count = index + 1
    print(json.dumps([(cpu_time() - cpu) / (count - 3) * 1e3, (time.monotonic() - start) / (count - 3) * 1e3]))


def cpu_time():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measured(name, part, path):
    done = subprocess.run([sys.executable, __file__, "--run", name, str(part), path], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def decoded_by_ffmpeg(path, frames):
    """Decodes with the system's FFmpeg, which upright uses: what all frames cost beyond the first three."""
    costs = []
    for count in (3, frames):
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(
            ["ffmpeg", "-v", "error", "-noautorotate", "-i", path, "-map", "0:v", "-frames:v", str(count), "-f", "null",
             "-"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, time.monotonic() - start))
    return [(whole - first) / (frames - 3) * 1e3 for first, whole in zip(*costs)]


def make_clip(folder, frames):
    path, turned = str(folder / "wide.mp4"), str(folder / "turned.mp4")
    subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc2=s=1920x1080:r=30", "-frames:v", str(frames), "-c:v",
         "libx264", "-preset", "veryfast", "-crf", "28", "-pix_fmt", "yuv420p", path], check=True)
    import upright
    upright.tag(path, turned, orientation=6)
    return turned


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--run", nargs=3)
    arguments = parser.parse_args()
    if arguments.run:
        name, part, path = arguments.run
        return measure(READERS[name][int(part)], path)
    names = [name for name, reader in READERS.items() if importlib.util.find_spec(reader[2])]
    with tempfile.TemporaryDirectory() as folder:
        path = make_clip(pathlib.Path(folder), arguments.frames)
        best = {}
        for _ in range(arguments.rounds):
            for name in names:
                rows = [measured(name, 0, path)]
                has_own = READERS[name][1] is not None
                rows.append(measured(name, 1, path) if has_own else decoded_by_ffmpeg(path, arguments.frames))
                for key, row in zip(((name, "frames"), (name, "decoded")), rows):
                    old = best.get(key, row)
                    best[key] = [min(pair) for pair in zip(old, row)]
    print(f"{'ms a frame':<17}{'CPU':>8}{'decoding':>10}{'beyond':>8}{'time':>8}")
    beyond = {}
    for name in names:
        (cpu, seconds), (decoding, _) = best[name, "frames"], best[name, "decoded"]
        beyond[name] = cpu - decoding
        print(f"{name:<17}{cpu:8.2f}{decoding:10.2f}{beyond[name]:8.2f}{seconds:8.2f}")
    others = {name: value for name, value in beyond.items() if name not in ("upright", VIEWS)}
    fastest = min(others, key=others.get)
    print(f"beyond decoding: {beyond['upright'] / others[fastest]:.2f} of {fastest}, the fastest of the others")


if __name__ == "__main__":
    main()
