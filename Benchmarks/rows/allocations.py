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
    """Calls of the allocator by who made them."""
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
              note=", ".join(f"{who} {mine[who]:.1f}" for who in ("FFmpeg", "x264", "rest")))
    yield Row("the same of all modules", "the ffmpeg command", sum(mine.values()) / sum(other.values()),
              ours=sum(mine.values()), theirs=sum(other.values()), measured="calls")
