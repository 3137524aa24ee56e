#!/usr/bin/env python3
"""Measures everything and prints one table: medians of Upright and of the other programs, interleaved.

Writes results.json and results.svg into the given folder (bench). `--only WORD` measures the
groups whose name contains it.
"""
import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from rows import allocations, copying, kernels, plot, renditions, sessions, whole_clip  # noqa: E402
from rows.row import table  # noqa: E402
from rows.runs import ROOT, UPRIGHT  # noqa: E402


def groups(results, scratch, rounds):
    """Yields the name and the measurement of each group, in the order of the table."""
    return [
        ("turns", lambda: kernels.turns(results)),
        ("frames", lambda: kernels.frames(results)),
        ("python", lambda: kernels.python(results)),
        ("resampling", lambda: kernels.resampling(results)),
        ("warps", lambda: kernels.warps(results)),
        ("whole clip", lambda: whole_clip.rows(scratch, rounds)),
        ("renditions", lambda: renditions.rows(scratch)),
        ("part", lambda: copying.part(scratch)),
        ("metadata", lambda: copying.metadata(scratch)),
        ("sessions", sessions.rows),
        ("allocations", lambda: allocations.rows(scratch)),
        ("planning", copying.planning),
    ]


def machine():
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), "")
    ffmpeg = subprocess.run(["ffmpeg", "-version"], stdout=subprocess.PIPE, text=True).stdout
    return {"cpu": model or platform.machine(), "cores": os.cpu_count(),
            "ffmpeg": ffmpeg.split()[2],
            "upright": subprocess.check_output([UPRIGHT, "--version"], text=True).split()[1],
            "load before": os.getloadavg()[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only")
    parser.add_argument("--rounds", type=int, default=7, help="of the whole clip")
    parser.add_argument("--results", default=os.path.join(ROOT, "bench"))
    arguments = parser.parse_args()
    results = os.path.abspath(arguments.results)
    os.makedirs(results, exist_ok=True)
    about, rows, start = machine(), [], time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        for name, measure in groups(results, scratch, arguments.rounds):
            if arguments.only and arguments.only not in name:
                continue
            began = time.monotonic()
            rows += measure()
            print(f"-- {name}: {time.monotonic() - began:.0f} s", flush=True)
    about["load after"] = os.getloadavg()[0]
    about["seconds"] = round(time.monotonic() - start)
    print(table(rows))
    with open(os.path.join(results, "results.json"), "w") as file:
        json.dump({"machine": about, "rows": [row.json() for row in rows]}, file, indent=2)
    caption = f"{about['cpu']}, {about['cores']} cores, FFmpeg {about['ffmpeg']}"
    with open(os.path.join(results, "results.svg"), "w") as file:
        file.write(plot.svg(rows, caption))
    print(f"{about}\nbench/results.json, bench/results.svg")


if __name__ == "__main__":
    main()
