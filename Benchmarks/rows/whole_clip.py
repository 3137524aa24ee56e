"""A whole clip, all of it encoded, and the overhead over decoding and encoding."""
import os
import statistics
import subprocess

from . import clips, quality
from .row import Row
from .runs import ROOT, UPRIGHT, alternate, beside, median, ratio

X264 = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-pix_fmt", "yuv420p"]


def stages():
    """Compiles `stages.c` and returns its path."""
    path = os.path.join(ROOT, ".build/bench-stages")
    flags = subprocess.check_output(
        ["pkg-config", "--cflags", "--libs", "libavformat", "libavcodec", "libavutil"],
        text=True).split()
    subprocess.run(["clang", "-std=gnu11", "-O2", os.path.join(ROOT, "Benchmarks/stages.c"),
                    "-o", path, *flags], check=True)
    return path


def theirs(clip, output, *, threads=True):
    one = ["-threads", "1"] if threads else []
    graph = ["-filter_threads", "1"] if threads else []
    return ["ffmpeg", "-v", "error", "-y", *one, "-i", clip, *graph,
            "-vf", "transpose=clock,scale=720:1280", *X264, *one, "-movflags", "+faststart", output]


def ours(clip, output, *, threads=True):
    same = ["--speed", "veryfast", "--crf", "23"] if output.endswith(".mp4") else []
    return [UPRIGHT, "transcode", clip, "--frames", "sensor", "--size", "720x1280", "-q", "-y", *same,
            *(["--threads", "1"] if threads else []), "-o", output]


def rows(folder, rounds=7):
    clip, program = clips.first(150), stages()
    made = [os.path.join(folder, name) for name in ("ours.mp4", "theirs.mp4")]
    decoded = [os.path.join(folder, name) for name in ("ours.y4m", "theirs.y4m")]
    # The frames that each side's encoder receives.
    subprocess.run(ours(clip, decoded[0]), check=True)
    subprocess.run(["ffmpeg", "-v", "error", "-y", "-i", clip, "-vf", "transpose=clock,scale=720:1280",
                    "-pix_fmt", "yuv420p", decoded[1]], check=True)
    full, other, alone, alone_theirs = beside(
        [ours(clip, made[0]), theirs(clip, made[1]),
         *([program, clip, each] for each in decoded)], rounds)
    frames = range(15, 150, 30)
    both = [quality.against_exact(clip, each, list(frames)) for each in made]
    sizes = [os.path.getsize(each) >> 10 for each in made]

    def cpu(each):
        return each.cpu

    def seconds(each):
        return float(each.output.split()[0])

    yield Row("whole 1080p clip, 5 s, veryfast, one thread each, one core", "ffmpeg", ratio(full, other, cpu),
              bar=0.92, aim=0.88, ours=median(full, cpu), theirs=median(other, cpu), measured="CPU s",
              quality=f"upright {both[0]}, {sizes[0]} KiB; other {both[1]}, {sizes[1]} KiB")
    yield Row("the same, highest memory", "ffmpeg", ratio(full, other, lambda each: each.peak),
              ours=median(full, lambda each: each.peak), theirs=median(other, lambda each: each.peak),
              measured="MiB")
    added = statistics.median(mine.cpu - seconds(each) for mine, each in zip(full, alone))
    added_theirs = statistics.median(
        it.cpu - seconds(each) for it, each in zip(other, alone_theirs))
    base = median(alone, seconds)
    yield Row("overhead over decoding and encoding", "ffmpeg's overhead", added / added_theirs,
              bar=0.35, aim=0.25, ours=added, theirs=added_theirs, measured="CPU s",
              note=f"alone: {base:.2f} CPU s")

    full, other = alternate(
        [ours(clip, made[0], threads=False), theirs(clip, made[1], threads=False)], 5)
    yield Row("the same clip, threads as they choose", "ffmpeg", ratio(full, other, cpu),
              ours=median(full, cpu), theirs=median(other, cpu), measured="CPU s")
    yield Row("the same, by the clock", "ffmpeg", ratio(full, other, lambda each: each.wall),
              ours=median(full, lambda each: each.wall), theirs=median(other, lambda each: each.wall),
              measured="s")
    yield Row("the same, highest memory", "ffmpeg", ratio(full, other, lambda each: each.peak),
              ours=median(full, lambda each: each.peak), theirs=median(other, lambda each: each.peak),
              measured="MiB")
    for path in decoded:
        os.remove(path)
