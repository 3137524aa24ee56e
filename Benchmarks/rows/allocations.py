"""Allocations per frame, by the module that makes them."""
import os
import subprocess

from . import clips, whole_clip
from .row import Row
from .runs import ROOT, run

FRAMES = 60


def counter():
    """Compiles `allocations.c` and returns its path."""
    path = os.path.join(ROOT, ".build/bench-allocations.so")
    subprocess.run(["clang", "-O2", "-shared", "-fPIC",
                    os.path.join(ROOT, "Benchmarks/allocations.c"), "-o", path], check=True)
    return path


def asker(path):
    """Returns the owner of a module's code."""
    name = os.path.basename(path)
    if path == "(executable)" or name.startswith(("libswift", "libFoundation", "lib_Foundation",
                                                  "libdispatch", "libBlocks")):
        return "own"
    if name.startswith(("libav", "libsw")):
        return "FFmpeg"
    return "x264" if name.startswith("libx264") else "rest"


def counts(library, command, folder):
    """Returns the number of allocator calls by owner. The rest are those of other libraries while they are loaded."""
    path = os.path.join(folder, "allocations.txt")
    run(command, LD_PRELOAD=library, ALLOCATIONS=path)
    total = dict.fromkeys(("own", "FFmpeg", "x264", "rest"), 0)
    with open(path) as file:
        for line in file:
            count, _, module = line.split(" ", 2)
            total[asker(module.strip())] += int(count)
    return total


def per_frame(library, make, folder):
    """Returns the allocations per frame: the difference of two runs, one with twice the frames, so that start and
    end cancel out."""
    once, twice = (
        counts(library, make(clips.first(frames), os.path.join(folder, "counted.mp4")), folder)
        for frames in (FRAMES, 2 * FRAMES))
    return {who: (twice[who] - once[who]) / FRAMES for who in once}


def rows(folder):
    library = counter()
    mine = per_frame(library, whole_clip.ours, folder)
    other = per_frame(library, whole_clip.theirs, folder)
    yield Row("allocations per frame: upright and the Swift runtime", "", round(mine["own"], 2), "per frame",
              bar=0, aim=0, ours=round(mine["own"], 2), measured="calls",
              note=f"FFmpeg's own {mine['FFmpeg']:.1f}, x264's {mine['x264']:.1f}")
    mine, other = (sum(side[who] for who in ("own", "FFmpeg", "x264")) for side in (mine, other))
    yield Row("the same with FFmpeg's and x264's", "the ffmpeg command", mine / other, ours=mine,
              theirs=other, measured="calls")
