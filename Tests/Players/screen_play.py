#!/usr/bin/env python3
"""Plays a file in a desktop player on a screen of its own, and reads the frame numbers of the sample files there (see
Samples/README.md).

    screen_play.py vlc|mpv|ffplay FILE_OR_URL [--seek S] [--seconds S] [--out VIDEO]

Prints one JSON object. Times are seconds of the screen since the first number:
    ended       whether the player ended by itself within --seconds
    numbers     the numbers in the order in which they were on the screen, each once
    turns       [{"at", "number", "shape"}]: the first picture and each later one with another shape, "tall" or "wide"
    longest     the longest time for which a picture stood still between the first number and the last
    unread      how many pictures of the screen between those had no readable number: squeezed, torn or not upright
    messages    the player's last lines

--out keeps the recording of the screen. Exit code: 0 numbers were read, 1 none were, 77 the player, Xvfb or openbox is missing.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from ffmpeg_play import SIDE, read_number

RATE = 30
PLAYED, FAILED, MISSING = 0, 1, 77
SHORT = SIDE * 9 // 16


def command(player, source, seek):
    start = {"vlc": "--start-time=%g", "mpv": "--start=%g"}.get(player)
    begin = [] if seek is None else ["-ss", "%g" % seek] if player == "ffplay" else [start % seek]
    if player == "vlc":
        # VLC refuses to run as root.
        who = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
        return who + ["vlc", "-I", "dummy", "--vout=xcb_x11", "--fullscreen", "--aout=adummy", "--no-osd",
                      "--play-and-exit", "--no-video-title-show", *begin, source]
    if player == "mpv":
        return ["mpv", "--no-config", "--fs", "--vo=x11", "--ao=null", "--no-osc", "--osd-level=0", "--really-quiet", *begin,
                source]
    return ["ffplay", "-v", "error", "-fs", "-autoexit", *begin, source]


def record(player, source, seek, seconds, video):
    """Plays on a new screen and records it. Returns whether the player ended by itself, and its messages."""
    ready, told = os.pipe()
    screen = subprocess.Popen(["Xvfb", "-displayfd", str(told), "-ac", "-nolisten", "tcp", "-screen", "0",
                               "%dx%dx24" % (SIDE, SIDE)], pass_fds=[told], stderr=subprocess.DEVNULL)
    os.close(told)
    home = tempfile.mkdtemp()
    os.chmod(home, 0o777)
    manager = camera = None
    try:
        display = ":" + os.read(ready, 16).decode().strip()
        environment = dict(os.environ, DISPLAY=display, HOME=home, SDL_AUDIODRIVER="dummy")
        # Without a window manager no player has the whole screen.
        manager = subprocess.Popen(["openbox"], env=environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        camera = subprocess.Popen(
            ["ffmpeg", "-v", "error", "-y", "-f", "x11grab", "-draw_mouse", "0", "-framerate", str(RATE), "-i", display, "-c:v",
             "libx264", "-preset", "ultrafast", "-qp", "10", "-t", str(seconds + 5), video], stdin=subprocess.PIPE)
        time.sleep(1)
        with tempfile.TemporaryFile() as messages:
            playing = subprocess.Popen(command(player, source, seek), env=environment, stdin=subprocess.DEVNULL,
                                       stdout=messages, stderr=messages)
            try:
                playing.wait(seconds)
                ended = True
            except subprocess.TimeoutExpired:
                playing.kill()
                playing.wait()
                ended = False
            messages.seek(0)
            said = messages.read().decode(errors="replace").splitlines()[-8:]
        return ended, said
    finally:
        if camera:
            camera.communicate(b"q")
        if manager:
            manager.terminate()
            manager.wait()
        screen.terminate()
        screen.wait()
        os.close(ready)
        shutil.rmtree(home)


def shape(luma):
    """Returns the shape of the picture between black bars, or None without bars."""
    middle, inset = SIDE // 2, (SIDE - SHORT) // 2 - 8
    sides = max(luma[middle * SIDE:middle * SIDE + inset])
    row = inset // 2 * SIDE + middle
    ends = max(luma[row - 20:row + 20])
    return "tall" if sides < 32 <= ends else "wide" if ends < 32 <= sides else None


def pictures(video):
    """Yields the number and the shape that each picture of the recording shows, or None."""
    decoder = subprocess.Popen(["ffmpeg", "-v", "error", "-i", video, "-f", "rawvideo", "-pix_fmt", "gray", "-"],
                               stdout=subprocess.PIPE)
    while len(luma := decoder.stdout.read(SIDE * SIDE)) == SIDE * SIDE:
        number, form = read_number(luma, SHORT, SIDE, 1, 1.0), shape(luma)
        yield (number, form) if number is not None and form else None
    decoder.wait()


def summary(shown):
    """Returns the result for the pictures of a recording."""
    read = [index for index, picture in enumerate(shown) if picture]
    shown = shown[read[0]:read[-1] + 1] if read else []
    numbers, turns = [], []
    still = longest = unread = 0
    for index, picture in enumerate(shown):
        still += 1
        if picture is None:
            unread += 1
        elif not numbers or picture[0] != numbers[-1]:
            longest, still = max(longest, still if numbers else 0), 0
            numbers.append(picture[0])
            if not turns or turns[-1]["shape"] != picture[1]:
                turns.append({"at": round(index / RATE, 3), "number": picture[0], "shape": picture[1]})
    return {"numbers": numbers, "turns": turns, "longest": round(longest / RATE, 3), "unread": unread}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("player", choices=["vlc", "mpv", "ffplay"])
    parser.add_argument("source")
    parser.add_argument("--seek", type=float)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    for tool in (arguments.player, "Xvfb", "openbox", "ffmpeg"):
        if not shutil.which(tool):
            print(json.dumps({"error": tool + " is missing"}))
            return MISSING
    # Tests start with signals blocked, and the players would inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(FAILED))
    with tempfile.TemporaryDirectory() as folder:
        video = arguments.out or os.path.join(folder, "screen.mkv")
        ended, messages = record(arguments.player, arguments.source, arguments.seek, arguments.seconds, video)
        result = {"ended": ended, **summary(list(pictures(video))), "messages": messages}
    print(json.dumps(result))
    return PLAYED if result["numbers"] else FAILED


if __name__ == "__main__":
    sys.exit(main())
