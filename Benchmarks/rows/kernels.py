"""Turns, turns with a change of size, and warps: all sides in one process, thread CPU time."""
import json
import os
import statistics
import subprocess
import sys

from .row import Row
from .runs import ROOT

# Of two programs that can't run in one process.
ROUNDS = 7
QUARTERS = ("rotate 90", "rotate 270")


def release(product, *arguments):
    """Runs a product of the benchmarks' package and returns its JSON."""
    subprocess.run(
        [os.path.join(ROOT, "Benchmarks/.build/release", product), *arguments], check=True)


def loaded(path):
    with open(path) as file:
        return json.load(file)


def turns(folder):
    path = os.path.join(folder, "kernels.json")
    release("KernelBench", "--rounds", "41", "--json", path)
    quarters = [each for each in loaded(path) if each["operation"] in QUARTERS]

    def rows(name, cases, bars):
        for against, ratio, time, (bar, aim) in [
                ("libyuv", "ofLibyuv", "libyuv", bars[0]), ("memcpy", "ofMemcpy", "memcpy", bars[1])]:
            # The worst case is the row.
            worst = max(cases, key=lambda each: each[ratio])
            yield Row(
                name, against, worst[ratio], bar=bar, aim=aim, ours=worst["upright"] * 1e3,
                theirs=worst[time] * 1e3, measured="ms", quality="exact",
                note=f"worst of {len(cases)}: {worst['size']} {worst['layout']} {worst['operation']}"
                     + (" cold" if worst["cold"] else ""))

    warm = [each for each in quarters if each["size"] == "1920x1080" and not each["cold"]]
    far = [each for each in quarters
           if each["size"] == "3840x2160" or each["size"] == "1920x1080" and each["cold"]]
    yield from rows("rotate 90/270, I420 and NV12, 1080p, warm", warm, ((0.65, 0.5), (2.2, 1.6)))
    yield from rows("the same out of cache, and at 4K", far, ((0.6, 0.5), (2.6, 2)))


def frames(folder):
    path = os.path.join(folder, "frames.json")
    release("FrameBench", "--json", path)
    cases = loaded(path)
    worst = max(cases, key=lambda each: each["ofKernels"])
    yield Row(
        "frames in, frames out, I420, NV12 and P010, 1080p", "the kernels alone", worst["ofKernels"],
        bar=1.03, aim=1.01, ours=worst["adapter"], theirs=worst["kernels"], measured="ms", quality="same",
        note=f"worst of {len(cases)}: {worst['layout']} {worst['operation']}")
    most = max(each["allocationsPerFrame"] for each in cases)
    yield Row("its allocations per frame", "", most, "per frame", bar=0, aim=0, ours=most, measured="calls")


def python(folder):
    """`Frames` of Python against FrameAdapter. They can't run in one process: their programs alternate, and the best
    round of each counts."""
    paths = [os.path.join(folder, f"{name}.json") for name in ("swift", "python")]
    environment = {
        **os.environ, "LD_LIBRARY_PATH": os.path.join(ROOT, ".build/release/lib"),
        "PYTHONPATH": os.path.join(ROOT, "Python/upright-policy")}
    swift, ours, scaling = {}, {}, []
    for _ in range(ROUNDS):
        release("FrameBench", "--rounds", "5", "--json", paths[0])
        subprocess.run(
            [sys.executable, os.path.join(ROOT, "Benchmarks/python_bench.py"), "--rounds", "21", "--json", paths[1]],
            check=True, env=environment)
        measured = loaded(paths[1])
        scaling.append(measured["scaling"])
        for times, rows, key in [(swift, loaded(paths[0]), "adapter"), (ours, measured["rows"], "python")]:
            for each in rows:
                times.setdefault((each["layout"], each["operation"]), []).append(each[key])
    ratios = {case: min(times) / min(swift[case]) for case, times in ours.items()}
    worst = max(ratios, key=ratios.get)
    yield Row(
        "frames from Python, I420, NV12 and P010, 1080p", "FrameAdapter", ratios[worst], bar=1.11, aim=1.05,
        ours=min(ours[worst]), theirs=min(swift[worst]), measured="ms", quality="same",
        note=f"worst of {len(ratios)}: {' '.join(worst)}")
    yield Row(
        "two streams on two threads of Python", "one stream", statistics.median(scaling), bar=1.8, aim=1.9,
        at_least=True, note="frames per second")


def newest_ffmpeg(folder):
    """The times of the newest FFmpeg, measured in a process of its own: two don't fit in one."""
    path = os.path.join(folder, "newest.json")
    subprocess.run(
        [sys.executable, os.path.join(ROOT, "Benchmarks/newest_ffmpeg.py"), "--rounds", "21", "--json", path], check=True)
    return loaded(path)


def resampling(folder):
    path = os.path.join(folder, "scale.json")
    release("ScaleBench", "--rounds", "61", "--json", path)
    sides = {each["name"]: each for each in loaded(path)}

    def quality(side):
        return f"PSNR {' '.join(f'{plane:.1f}' for plane in side['psnr'])} dB, SSIM {side['ssim']:.5f}"

    name = "1080p sensor -> upright 720x1280"
    ours, area = sides["one pass, bicubic"], sides["one pass, area"]
    usual = sides["transpose=clock,scale=720:1280"]
    best = sides["scale=1280:720:flags=bicubic,transpose=clock"]
    best_area = sides["scale=1280:720:flags=area,transpose=clock"]
    yield Row(f"{name}, bicubic", "libavfilter transpose,scale", ours["ofTransposeScale"],
              bar=0.25, aim=0.15, ours=ours["ms"], theirs=usual["ms"], measured="ms",
              quality=f"upright {quality(ours)}; other {quality(usual)}")
    yield Row(f"{name}, bicubic", "libavfilter scale,transpose, same filter", ours["ofBestOrder"],
              bar=0.45, aim=0.33, ours=ours["ms"], theirs=best["ms"], measured="ms",
              quality=f"other {quality(best)}")
    yield Row(f"{name}, area", "libavfilter scale,transpose, same filter", area["ofBestOrder"],
              bar=0.45, aim=0.33, ours=area["ms"], theirs=best_area["ms"], measured="ms",
              quality=f"upright {quality(area)}; other {quality(best_area)}")
    newest = newest_ffmpeg(folder)
    chain = min(newest["ms"], key=newest["ms"].get)
    for level, side in ((key.rpartition(", ")[2], side) for key, side in sides.items() if key.count(",") == 2):
        yield Row(f"{name}, bicubic, {level}", "libavfilter transpose,scale", side["ofTransposeScale"],
                  bar=0.5 if level == "SSE4.1" else 0.35, aim=0.15, ours=side["ms"], theirs=usual["ms"], measured="ms")
        yield Row(f"{name}, bicubic, {level}", f"FFmpeg {newest['version']} at its best", side["ms"] / newest["ms"][chain],
                  bar=0.6 if level == "SSE4.1" else 0.5, aim=0.25, ours=side["ms"], theirs=newest["ms"][chain], measured="ms",
                  note=chain)
    for filter, side, other, bar in [("bicubic", ours, best, 54), ("area", area, best_area, 57)]:
        yield Row(f"its quality, {filter}, worst plane", "the kernel in double precision",
                  min(side["psnr"]), "dB", bar=bar, aim=min(other["psnr"]), at_least=True,
                  ours=min(side["psnr"]), theirs=min(other["psnr"]), measured="dB",
                  note="aim: swscale's, same filter")


def warps(folder):
    path = os.path.join(folder, "warps.json")
    subprocess.run(
        [sys.executable, os.path.join(ROOT, "Benchmarks/warp_bench.py"), "--json", path], check=True)
    case = next(each for each in loaded(path)
                if each["size"] == "1280x720" and each["case"] == "warp 7 degrees")
    quality = "; ".join(
        f"{side} off by {case[side]['largest']:.1f} at most, {case[side]['mean']:.2f} on average"
        for side in ("upright", "libavfilter", "opencv"))
    for side, name, bar, aim in [
            ("libavfilter", "libavfilter rotate", 0.12, 0.08),
            ("opencv", "OpenCV warpAffine", 0.45, 0.3)]:
        yield Row("warp 7 degrees, 720p", name, case[f"of {side}"], bar=bar, aim=aim,
                  ours=case["upright"]["ms"], theirs=case[side]["ms"], measured="ms", quality=quality)
    yield Row("its largest difference", "bilinear in double precision", case["upright"]["largest"],
              "levels", bar=1, ours=case["upright"]["largest"],
              theirs=min(case[side]["largest"] for side in ("libavfilter", "opencv")), measured="levels")
