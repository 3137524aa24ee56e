"""How often a frame on its way asks for memory, by who asks."""
import os
import subprocess

from . import clips, whole_clip
from .row import Row
from .runs import ROOT, run

FRAMES = 60


def counter():
    """`allocations.c`, compiled."""
    path = os.path.join(ROOT, ".build/bench-allocations.so")
    subprocess.run(["clang", "-O2", "-shared", "-fPIC",
                    os.path.join(ROOT, "Benchmarks/allocations.c"), "-o", path], check=True)
    return path


def asker(path):
    """Whose code a module is."""
    name = os.path.basename(path)
    if path == "(executable)" or name.startswith(("libswift", "libFoundation", "lib_Foundation",
                                                  "libdispatch", "libBlocks")):
        return "own"
    if name.startswith(("libav", "libsw")):
        return "FFmpeg"
    return "x264" if name.startswith("libx264") else "rest"


def counts(library, command, folder):
    """Calls of the allocator by who made them. The rest is what other libraries do as they are loaded."""
    path = os.path.join(folder, "allocations.txt")
    run(command, LD_PRELOAD=library, ALLOCATIONS=path)
    total = dict.fromkeys(("own", "FFmpeg", "x264", "rest"), 0)
    with open(path) as file:
        for line in file:
            count, _, module = line.split(" ", 2)
            total[asker(module.strip())] += int(count)
    return total


def per_frame(library, make, folder):
    """A frame's share: what twice as many frames take more, so that start and end cancel out."""
    once, twice = (
        counts(library, make(clips.first(frames), os.path.join(folder, "counted.mp4")), folder)
        for frames in (FRAMES, 2 * FRAMES))
    return {who: (twice[who] - once[who]) / FRAMES for who in once}


def rows(folder):
    library = counter()
    mine = per_frame(library, whole_clip.ours, folder)
    other = per_frame(library, whole_clip.theirs, folder)
    yield Row("allocations a frame, ours and the Swift runtime's", "", round(mine["own"], 2), "a frame",
              bar=0, aim=0, ours=round(mine["own"], 2), measured="calls",
              note=f"FFmpeg's own {mine['FFmpeg']:.1f}, x264's {mine['x264']:.1f}")
    mine, other = (sum(side[who] for who in ("own", "FFmpeg", "x264")) for side in (mine, other))
    yield Row("the same with FFmpeg's and x264's", "the ffmpeg command", mine / other, ours=mine,
              theirs=other, measured="calls")
