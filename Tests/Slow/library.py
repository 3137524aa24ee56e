#!/usr/bin/env python3
"""Plays every video file of some folders from a library, and compares what is shown with what ffmpeg decodes from the file
itself: the number of frames, their times, their pictures, and the number of audio samples. GStreamer counts the frames, and hls.js
in Chromium plays the file to its end. Two more services, each with a cache of its own, make the segments from the last to the first
and in a random order: the bytes are the same.

    library.py FOLDER...

Prints a line for each file. What differs is named; a file that the library refuses is listed with its reason. UPRIGHT_SEED is the
seed of the order. Exit code: 0 nothing differs, 1 something does.
"""
import contextlib
import json
import os
import random
import subprocess
import sys
import urllib.parse

PLAYERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../Players")
sys.path[:0] = [PLAYERS, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks")]

import screen_page  # noqa: E402
from live_service import running  # noqa: E402

ENDINGS = (".mp4", ".mov", ".m4v", ".mkv", ".webm", ".ts", ".flv", ".3gp", ".avi")
SIDE = 16  # of the pictures that are compared
LEVELS = 12  # how far the means of two pictures' parts may be apart, of 255
TICK = 0.0021  # the times of Matroska and FLV are milliseconds


def shown(url):
    """Returns what ffmpeg shows: times from the first frame, and small pictures."""
    times = subprocess.run(
        ["ffprobe", "-v", "error", "-select_streams", "v:0", "-show_entries", "frame=best_effort_timestamp_time", "-of", "json", url],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=900)
    found = [float(frame["best_effort_timestamp_time"]) for frame in json.loads(times.stdout or b"{}").get("frames", [])
             if "best_effort_timestamp_time" in frame]
    pictures = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-i", url, "-map", "0:v:0", "-vf", f"scale={SIDE}:{SIDE}:flags=area,format=gray",
         "-fps_mode", "passthrough", "-f", "rawvideo", "-"], stdin=subprocess.DEVNULL, capture_output=True, timeout=900).stdout
    size = SIDE * SIDE
    return [time - found[0] for time in found], [pictures[at:at + size] for at in range(0, len(pictures), size)]


def samples(url):
    """Returns the number of audio samples, per channel, at 48 kHz; None without audio."""
    heard = subprocess.run(
        ["ffmpeg", "-nostdin", "-v", "error", "-i", url, "-map", "0:a:0", "-ac", "1", "-f", "s16le", "-"],
        stdin=subprocess.DEVNULL, capture_output=True, timeout=900)
    return len(heard.stdout) // 2 if heard.returncode == 0 else None


def gstreamer_frames(url):
    said = subprocess.run([sys.executable, os.path.join(PLAYERS, "gst_play.py"), url, "--timeout", "300"],
                          stdin=subprocess.DEVNULL, capture_output=True)
    if said.returncode == 77:
        return None
    result = json.loads(said.stdout)
    return result["frames"] if said.returncode == 0 else result["error"]


def hls_js(service, address, wheel, duration):
    """Returns the number of frames that hls.js in Chromium decodes in a file, or why it doesn't play it to its end; None where it
    can't be tried: without Chromium or hls.js, or with a codec that this Chromium lacks."""
    if not wheel:
        return None
    said = subprocess.run(
        [sys.executable, os.path.join(PLAYERS, "chromium_play.py"), f"http://127.0.0.1:{service.http}", address, "--hls-js", wheel,
         "--rate", "4", "--timeout", f"{60 + duration:g}"], stdin=subprocess.DEVNULL, capture_output=True)
    if said.returncode == 77:
        return None
    result = json.loads(said.stdout)
    error = result["error"] or ""
    if any(name in error for name in ("bufferAddCodecError", "manifestIncompatibleCodecsError")):
        return None
    return error or result["totalVideoFrames"]


def compare(services, path, name, wheel):
    """Returns what differs, and what to say of the file."""
    service, *others = services
    address = f"/vod/{name}/index.m3u8?size=source"
    status, playlist = service.get(address)
    if status != 200:
        detail = json.loads(playlist).get("detail", "")
        return [] if status == 415 else [f"{status}"], f"{status} {detail}"
    url = f"http://127.0.0.1:{service.http}{address}"
    faults = []
    (times, pictures), (own_times, own_pictures) = shown(url), shown(path)
    if len(times) != len(own_times):
        faults.append(f"{len(times)} frames of {len(own_times)}")
    late = max((abs(one - own) for one, own in zip(times, own_times)), default=0)
    if late > TICK:
        faults.append(f"times differ by {late:.4f} s")
    apart = max((max(abs(a - b) for a, b in zip(one, own)) for one, own in zip(pictures, own_pictures)), default=0)
    if apart > LEVELS:
        faults.append(f"pictures differ by {apart} levels")
    heard, own = samples(url), samples(path)
    if (heard is None) != (own is None) or heard is not None and abs(heard - own) > 1:
        faults.append(f"{heard} samples of {own}")
    counted = gstreamer_frames(url)
    if counted not in (None, len(times)):
        faults.append(f"GStreamer: {counted}")
    played = hls_js(service, address, wheel, times[-1] if times else 0)
    if played not in (None, len(times)):
        faults.append(f"hls.js: {played}")
    names = [line for line in playlist.decode().splitlines() if line.endswith(".m4s")]
    expected = {segment: service.get(f"/vod/{name}/{segment}")[1] for segment in names}
    for other, order in zip(others, (names[::-1], random.sample(names, len(names)))):
        # A playlist has to be asked for first.
        other.get(address)
        faults += [f"{segment}: other bytes" for segment in order if other.get(f"/vod/{name}/{segment}")[1] != expected[segment]]
    return faults, f"{len(times)} frames, {len(names)} segments" + ("" if played is not None else ", not in hls.js")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    random.seed(int(os.environ.get("UPRIGHT_SEED", "1")))
    wheel = screen_page.wheel()
    differ = refused = count = 0
    for folder in sys.argv[1:]:
        more = ("--library", folder, "--open-library")
        with contextlib.ExitStack() as stack:
            services = [stack.enter_context(running.Service(more=more)) for _ in range(3)]
            for place, folders, names in os.walk(folder):
                folders.sort()
                for file in sorted(names):
                    if not file.lower().endswith(ENDINGS):
                        continue
                    path = os.path.join(place, file)
                    name = urllib.parse.quote(os.path.relpath(path, folder))
                    faults, said = compare(services, path, name, wheel)
                    count += 1
                    differ += bool(faults)
                    refused += said.startswith("415")
                    print(f"library: {name}: {'; '.join(faults) or 'ok'} ({said})", flush=True)
    print(f"library: {count} files, {refused} refused, {differ} differ")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
