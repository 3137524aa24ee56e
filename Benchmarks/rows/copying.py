"""Clips of which most or all is copied, and the cost of finding that out."""
import os

from . import clips
from .row import Row
from .runs import UPRIGHT, alternate, median, ratio, run


def part(folder):
    """One minute of which a tenth must be turned, on a fixed canvas."""
    clip = clips.one_tenth_turned()
    ours = [UPRIGHT, "transcode", clip, "--canvas", "landscape", "--threads", "1", "-q", "-y",
            "--reencode", "auto", "--speed", "veryfast", "--crf", "23", "-o", os.path.join(folder, "part-ours.mp4")]
    # Without the turn, which would only add time.
    theirs = ["ffmpeg", "-v", "error", "-y", "-threads", "1", "-noautorotate", "-i", clip,
              "-c:v", "libx264", "-preset", "veryfast", "-crf", "23", "-threads", "1",
              "-movflags", "+faststart", os.path.join(folder, "part-theirs.mp4")]
    mine, other = alternate([ours, theirs], 2)
    yield Row("60 s of 720p, a tenth turned, canvas fixed", "ffmpeg",
              ratio(mine, other, lambda each: each.cpu), bar=0.25, aim=0.15,
              ours=median(mine, lambda each: each.cpu), theirs=median(other, lambda each: each.cpu),
              measured="CPU s", note="ffmpeg encodes all of it, and here does not even turn the tenth")


def wall(each):
    return each.wall


def metadata(folder):
    """Turned by metadata only."""
    for seconds, rounds in ((60, 9), (300, 9)):
        clip = clips.long(seconds)
        output = os.path.join(folder, "copied.mp4")
        copy = ["ffmpeg", "-v", "error", "-y", "-i", clip, "-c", "copy"]
        for name, ours in [
                ("upright tag", [UPRIGHT, "tag", clip, "--orientation", "right"]),
                ("transcode --upright metadata",
                 [UPRIGHT, "transcode", clip, "--frames", "sensor", "--upright", "metadata"])]:
            mine, other, fast = alternate(
                [[*ours, "-q", "-y", "-o", output], [*copy, output],
                 [*copy, "-movflags", "+faststart", output]], rounds)
            yield Row(f"turn by metadata only, {seconds} s of 1080p: {name}", "ffmpeg -c copy",
                      ratio(mine, other, wall), bar=1.5, aim=1, ours=median(mine, wall) * 1e3,
                      theirs=median(other, wall) * 1e3, measured="ms",
                      note=f"of -movflags +faststart, which upright writes as well: "
                           f"{ratio(mine, fast, wall):.2f}")
        os.remove(output)


def planning():
    """The time to plan what to do with a long clip."""
    clip = clips.two_hours()
    command = [UPRIGHT, "transcode", clip, "--dry-run", "-o", "none.mp4"]
    run(command)
    runs = [run(command) for _ in range(3)]
    yield Row("plan of a 2-hour clip, 216 000 frames", "", median(runs, lambda each: each.wall), "s",
              ours=median(runs, lambda each: each.wall), measured="s",
              note=f"{median(runs, lambda each: each.cpu):.2f} CPU s, "
                   f"{median(runs, lambda each: each.peak):.0f} MiB at most, "
                   f"{os.path.getsize(clip) >> 20} MiB of file")
