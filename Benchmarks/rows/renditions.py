"""A ladder, and both canvases at once: what they cost beside as many processes, and beside one encode."""
import os
import statistics
import subprocess

from . import clips
from .row import Row
from .runs import UPRIGHT, alternate, beside, median
from .whole_clip import X264, stages

RUNGS = ("720x1280", "540x960", "360x640")


def cpu(each):
    return each.cpu


def ours(clip, output, *options):
    return [UPRIGHT, "transcode", clip, "--frames", "sensor", "--speed", "veryfast", "--crf", "23",
            "--threads", "1", "-q", "-y", *options, "-o", output]


def hls(output):
    return ["-f", "hls", "-hls_time", "6", "-hls_segment_type", "fmp4", "-hls_playlist_type", "vod",
            "-hls_fmp4_init_filename", os.path.basename(output) + ".mp4", output]


def ladder(folder):
    """Three rungs, against ffmpeg three times, and against ffmpeg with three encoders."""
    clip = clips.first(150)
    made = [os.path.join(folder, f"rung-{rung}.m3u8") for rung in RUNGS]
    single = [["ffmpeg", "-v", "error", "-y", "-threads", "1", "-i", clip, "-filter_threads", "1",
               "-vf", f"transpose=clock,scale={rung.replace('x', ':')}", *X264, "-threads", "1", *hls(path)]
              for rung, path in zip(RUNGS, made)]
    graph = "transpose=clock,split=3[a][b][c]" + "".join(
        f";[{name}]scale={rung.replace('x', ':')}[{name}{name}]" for name, rung in zip("abc", RUNGS))
    split = ["ffmpeg", "-v", "error", "-y", "-threads", "1", "-i", clip, "-filter_complex_threads", "1",
             "-filter_complex", graph]
    for name, path in zip("abc", made):
        split += ["-map", f"[{name}{name}]", *X264, "-threads", "1", *hls(path)]
    whole = ours(clip, os.path.join(folder, "ladder.m3u8"), "--ladder", ",".join(RUNGS))
    mine, one, *each = alternate([whole, split, *single], 3)
    three = [sum(run.cpu for run in round) for round in zip(*each)]
    names = "a ladder of 720p, 540p and 360p, 5 s of 1080p, one thread each"
    yield Row(names, "three ffmpegs", statistics.median(a.cpu / b for a, b in zip(mine, three)),
              bar=0.6, ours=median(mine, cpu), theirs=statistics.median(three), measured="CPU s")
    yield Row("the same", "one ffmpeg, three encoders",
              statistics.median(a.cpu / b.cpu for a, b in zip(mine, one)),
              bar=0.95, ours=median(mine, cpu), theirs=median(one, cpu), measured="CPU s")


def canvases(folder):
    """The second canvas, without its encode."""
    clip, program = clips.first(150), stages()
    raw = os.path.join(folder, "both.y4m")
    subprocess.run([UPRIGHT, "transcode", clip, "--frames", "sensor", "--canvas", "dual", "--size", "720p", "-q",
                    "-y", "-o", raw], check=True)
    pictures = os.path.join(folder, "both-landscape.y4m")
    dual = ours(clip, os.path.join(folder, "both.mp4"), "--size", "720x1280", "--canvas", "dual")
    single = ours(clip, os.path.join(folder, "one.mp4"), "--size", "720x1280", "--canvas", "portrait")
    two, one, alone = beside([dual, single, [program, clip, pictures]], 5)
    added = [a.cpu - b.cpu - float(c.output.split()[2]) for a, b, c in zip(two, one, alone)]
    yield Row("a second canvas, blurred, beside its encode, 720p", "the first canvas and its encode",
              statistics.median(extra / each.cpu for extra, each in zip(added, one)), bar=0.05,
              ours=statistics.median(added), theirs=median(one, cpu), measured="CPU s",
              note=f"its encode alone: {median(alone, lambda each: float(each.output.split()[2])):.2f} CPU s")
    for name in ("portrait", "landscape"):
        os.remove(os.path.join(folder, f"both-{name}.y4m"))


def rows(folder):
    yield from ladder(folder)
    yield from canvases(folder)
