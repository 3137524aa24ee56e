#!/usr/bin/env python3
"""Measures how many files `upright check` does in a minute.

    check_bench.py [--files N] [--seconds S]

The files are hard links to two recordings of S seconds at 1080p, H.264 and HEVC, with a display matrix, which FFmpeg makes: they are read
from memory. Prints the files a minute, the CPU time of one, and the memory of the largest process. UPRIGHT is the program.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
UPRIGHT = os.environ.get("UPRIGHT") or str(ROOT / ".build/release/upright")


def record(folder: pathlib.Path, codec: str, seconds: int) -> pathlib.Path:
    """Encodes two seconds at a phone's rate of bits, and repeats them."""
    short, plain, path = (folder / f"{codec}-{name}.mp4" for name in ("short", "plain", "turned"))
    ffmpeg = ["ffmpeg", "-nostdin", "-v", "error", "-y"]
    source = ["-f", "lavfi", "-i", "testsrc2=s=1920x1080:r=30:d=2,noise=alls=20:allf=t"]
    subprocess.run([*ffmpeg, *source, "-c:v", codec, "-preset", "ultrafast", "-b:v", "12M", "-g", "30", "-pix_fmt", "yuv420p", "-tag:v",
                    "hvc1" if codec == "libx265" else "avc1", short], check=True, stderr=subprocess.DEVNULL)
    subprocess.run([*ffmpeg, "-stream_loop", str(max(0, seconds // 2 - 1)), "-i", short, "-c", "copy", plain], check=True)
    subprocess.run([UPRIGHT, "tag", plain, "-o", path, "--orientation", "right", "-q"], check=True)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        sources = [record(folder, codec, options.seconds) for codec in ("libx264", "libx265")]
        library = folder / "library"
        library.mkdir()
        for number in range(options.files):
            source = sources[number % len(sources)]
            os.link(source, library / f"{number:06}.mp4")
        for source in sources:
            source.read_bytes()
        start = time.monotonic()
        process = subprocess.Popen([UPRIGHT, "check", library, "-q"], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        elapsed = time.monotonic() - start
        # Each file has a turn that some players miss.
        if os.waitstatus_to_exitcode(status) != 1:
            raise SystemExit(f"check: exit status {os.waitstatus_to_exitcode(status)}")
        size = sum(source.stat().st_size for source in sources) / len(sources) / 1e6
        print(f"check: {options.files} files of {options.seconds} s, {size:.0f} MB each: {options.files / elapsed * 60:.0f} files a minute")
        print(f"check: {1000 * (usage.ru_utime + usage.ru_stime) / options.files:.2f} ms of CPU a file, {usage.ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
