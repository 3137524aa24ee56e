#!/usr/bin/env python3
"""Plays a file in a player on a screen of its own, and reads the frame numbers of the sample files there (see
Samples/README.md).

    screen_play.py PLAYER FILE_OR_URL [--seek S] [--seeks S,S,...] [--every S] [--seconds S] [--out VIDEO] [--pictures FOLDER]

PLAYER is vlc, mpv, ffplay, playbin, playbin3 (GStreamer), chromium, firefox, chromium-hls.js or firefox-hls.js. --seek begins there.
With --seeks, the player is sent to these times, one every 2 s or --every, while it plays; VLC takes whole seconds only, and ffplay none.

Prints one JSON object. Times are seconds of the screen since the first number:
    ended       whether the player ended or failed by itself within --seconds
    numbers     the numbers in the order in which they were on the screen, each once
    turns       [{"at", "number", "shape", "still", "later"}]: the first picture and each later one with another shape, "tall"
                or "wide"; how long a picture stood still at most within 0.8 s of it, and by how much later the pictures
                after it come than those before
    seeks       [{"asked", "off", "after"}], with --seeks: by how many frames the first picture is off, or null if none came,
                and after how many seconds it came
    longest     the longest time for which a picture stood still between the first number and the last
    unread      how many pictures of the screen between those had no readable number: squeezed, torn or not upright
    black       how many were black
    messages    the player's last lines

--out keeps the recording of the screen, --pictures three pictures of it for each turn. Exit code: 0 numbers were read, 1 none
were, 77 the player, Xvfb or openbox is missing.
"""

import argparse
import json
import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import screen_page
from ffmpeg_play import SIDE, read_number

RATE = 30
PLAYED, FAILED, MISSING = 0, 1, 77
SHORT = SIDE * 9 // 16
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = {"vlc": "vlc", "mpv": "mpv", "ffplay": "ffplay", "playbin": "gst-launch-1.0", "playbin3": "gst-launch-1.0",
            "chromium": "chromium", "firefox": "firefox-esr"}
# Windows without decoration over the whole screen, those of players that can't ask for it too.
WINDOWS = """<?xml version="1.0"?><openbox_config xmlns="http://openbox.org/3.4/rc"><applications><application class="*">
<decor>no</decor><fullscreen>yes</fullscreen></application></applications></openbox_config>"""
FIREFOX = {"media.autoplay.default": 0, "media.autoplay.blocking_policy": 0, "browser.shell.checkDefaultBrowser": False,
           "browser.aboutwelcome.enabled": False, "datareporting.policy.dataSubmissionEnabled": False,
           "browser.startup.homepage_override.mstone": "ignore", "app.update.enabled": False, "network.proxy.type": 0,
           "full-screen-api.warning.timeout": 0, "toolkit.telemetry.reportingpolicy.firstRun": False}
CHROMIUM = ["--no-sandbox", "--kiosk", "--autoplay-policy=no-user-gesture-required", "--disable-gpu", "--disable-dev-shm-usage",
            "--no-first-run", "--no-default-browser-check", "--disable-sync", "--disable-background-networking",
            "--disable-component-update", "--disable-extensions", "--no-proxy-server", "--mute-audio",
            "--window-size=%d,%d" % (SIDE, SIDE), "--window-position=0,0"]


def program(player):
    return PROGRAMS[player.removesuffix("-hls.js")]


def command(player, source, start, home):
    """Returns the command of a player; `source` is that of a page for a browser."""
    flag = {"vlc": "--start-time=%g", "mpv": "--start=%g"}.get(player)
    begin = [] if start is None else ["-ss", "%g" % start] if player == "ffplay" else [flag % start] if flag else ["%g" % start]
    if player == "vlc":
        # VLC refuses to run as root.
        who = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.getuid() == 0 else []
        return who + ["vlc", "-I", "oldrc", "--rc-fake-tty", "--rc-unix=" + home + "/control", "--vout=xcb_x11", "--fullscreen",
                      "--aout=adummy", "--no-osd", "--play-and-exit", "--no-video-title-show", *begin, source]
    if player == "mpv":
        return ["mpv", "--no-config", "--fs", "--vo=x11", "--ao=null", "--no-osc", "--osd-level=0", "--really-quiet",
                "--input-ipc-server=" + home + "/control", *begin, source]
    if player == "ffplay":
        return ["ffplay", "-v", "error", "-fs", "-autoexit", *begin, source]
    if player.startswith("playbin"):  # by the system's Python, which has its packages (python3-gi)
        uri = source if "://" in source else "file://" + os.path.abspath(source)
        return ["/usr/bin/python3", HERE + "/screen_gst.py", player, uri, *begin]
    if player.startswith("chromium"):
        return ["chromium", *CHROMIUM, "--user-data-dir=" + home + "/profile", source]
    os.makedirs(home + "/profile")
    with open(home + "/profile/user.js", "w") as file:
        file.writelines("user_pref(%s, %s);\n" % (json.dumps(key), json.dumps(value)) for key, value in FIREFOX.items())
    return ["firefox-esr", "--no-remote", "--profile", home + "/profile", "--kiosk", source]


class Stage:
    """A new screen, its window manager and its camera. `home` is a folder that each user may write to."""

    def __init__(self, video, seconds):
        self.home = tempfile.mkdtemp()
        os.chmod(self.home, 0o777)
        self.processes = []
        self.ready, told = os.pipe()
        self.begin(["Xvfb", "-displayfd", str(told), "-ac", "-nolisten", "tcp", "-screen", "0", "%dx%dx24" % (SIDE, SIDE)],
                   pass_fds=[told], stderr=subprocess.DEVNULL)
        os.close(told)
        display = ":" + os.read(self.ready, 16).decode().strip()
        self.environment = dict(os.environ, DISPLAY=display, HOME=self.home, SDL_AUDIODRIVER="dummy")
        with open(self.home + "/windows.xml", "w") as file:
            file.write(WINDOWS)
        # Without a window manager no player has the whole screen.
        self.begin(["openbox", "--config-file", self.home + "/windows.xml"], env=self.environment, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
        # The timestamps are those of the wall clock.
        self.camera = self.begin(
            ["timeout", str(seconds + 30), "ffmpeg", "-v", "error", "-y", "-f", "x11grab", "-draw_mouse", "0", "-framerate",
             str(RATE), "-copyts", "-i", display, "-fps_mode", "passthrough", "-c:v", "libx264", "-preset", "ultrafast", "-qp",
             "10", video], stdin=subprocess.PIPE)
        time.sleep(1)

    def begin(self, words, **options):
        process = subprocess.Popen(words, **options)
        self.processes.append(process)
        return process

    def close(self):
        if len(self.processes) > 2:
            self.camera.communicate(b"q")
        for process in reversed(self.processes):
            process.terminate()
            process.wait()
        os.close(self.ready)
        for _ in range(20):  # the last child of a browser may still be writing
            shutil.rmtree(self.home, ignore_errors=True)
            if not os.path.exists(self.home):
                break
            time.sleep(0.1)


def seeking(player, playing, home, page):
    """Returns a function that sends the player to a time, and returns the time that it was sent to."""
    def line(text):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(home + "/control")
            connection.sendall(text.encode() + b"\n")

    def seek(to):
        if page:
            page.seek(to)
        elif player == "vlc":
            to = round(to)
            line("seek %d" % to)
        elif player == "mpv":
            line(json.dumps({"command": ["seek", to, "absolute+exact"]}))
        else:
            playing.stdin.write(b"%g\n" % to)
            playing.stdin.flush()
        return to

    return seek


def record(player, source, options, video):
    """Plays on a new screen and records it. Returns whether the player ended by itself, its messages, and the seeks: [(time of
    the wall clock, time asked for)]."""
    is_browser = player.startswith(("chromium", "firefox"))
    # GStreamer's newer HLS demuxer, which playbin3 has, reads from HTTP alone.
    is_served = is_browser or player == "playbin3" and "://" not in source and source.endswith(".m3u8")
    page = screen_page.Page(source, options.seek, player.endswith("-hls.js")) if is_served else None
    if page and not is_browser:
        source = page.url_of(source)
    stage, seeks, ended = Stage(video, max(options.seconds, 6 + len(options.seeks) * options.every)), [], False
    try:
        with tempfile.TemporaryFile() as messages:
            playing = subprocess.Popen(
                command(player, page.url if is_browser else source, options.seek, stage.home), env=stage.environment,
                stdin=subprocess.PIPE, stdout=messages, stderr=messages, process_group=0)
            seek = seeking(player, playing, stage.home, page if is_browser else None)
            try:
                if is_browser:  # on a busy machine it takes 10 s to start
                    page.begun.wait(20)
                end = time.monotonic() + options.seconds
                time.sleep(6 if options.seeks else 0)
                for to in options.seeks:
                    if playing.poll() is None:
                        seeks.append((time.time(), seek(to)))
                        time.sleep(options.every)
                while not ended and not options.seeks and time.monotonic() < end:
                    time.sleep(0.1)
                    ended = playing.poll() is not None or bool(page and page.over)
            except OSError as error:
                messages.write(str(error).encode())
            if playing.poll() is None:
                os.killpg(playing.pid, signal.SIGKILL)
            playing.wait()
            messages.seek(0)
            said = messages.read().decode(errors="replace").splitlines()[-8:]
        return ended, page.messages if is_browser else said, seeks
    finally:
        stage.close()
        if page:
            page.close()


def shape(luma):
    """Returns the shape of the picture between black bars, or None without bars."""
    middle, inset = SIDE // 2, (SIDE - SHORT) // 2 - 8
    sides = max(luma[middle * SIDE:middle * SIDE + inset])
    row = inset // 2 * SIDE + middle
    ends = max(luma[row - 20:row + 20])
    return "tall" if sides < 32 <= ends else "wide" if ends < 32 <= sides else None


def pictures(video):
    """Returns (time, (number, shape)) of each picture of the recording. In place of number and shape, a black picture has (),
    and one that can't be read None."""
    listed = subprocess.run(["ffprobe", "-v", "error", "-show_entries", "packet=pts_time", "-of", "csv=p=0", video],
                            stdout=subprocess.PIPE, check=True)
    times = sorted(float(text.strip(",")) for text in listed.stdout.decode().split())
    decoder = subprocess.Popen(["ffmpeg", "-v", "fatal", "-i", video, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt",
                                "gray", "-"], stdout=subprocess.PIPE)
    result = []
    for time_ in times:
        luma = decoder.stdout.read(SIDE * SIDE)
        if len(luma) < SIDE * SIDE:
            break
        number, form = read_number(luma, SHORT, SIDE, 1, 1.0), shape(luma)
        is_read = number is not None and form
        result.append((time_, (number, form) if is_read else None if max(luma) >= 32 else ()))
    decoder.stdout.close()
    decoder.wait()
    return result


def turn(at, changes):
    """Returns how long a picture stood still around the time of a turn, and by how much later the following pictures come."""
    near = [time for time, _ in changes if abs(time - at) <= 0.8]
    still = max((later - time for time, later in zip(near, near[1:])), default=0)
    before = [time - number / RATE for time, number in changes if at - 0.8 <= time < at - 0.1]
    after = [time - number / RATE for time, number in changes if at + 0.4 < time <= at + 1.1]
    later = statistics.median(after) - statistics.median(before) if before and after else None
    return {"still": round(still, 3), "later": None if later is None else round(later, 3)}


def landings(changes, seeks, every):
    """Returns where the seeks led: to the first number that doesn't continue those before the seek, and is within 7 s of the
    place. A player that leaves out frames jumps at a turn too."""
    result = []
    for index, (since, asked) in enumerate(seeks):
        until = seeks[index + 1][0] if index + 1 < len(seeks) else since + every
        before = [(time, number) for time, number in changes if time <= since]
        last = before[-1] if before else (since, -999)
        found = next(((time, number) for time, number in changes if since < time < until
                      and abs(number - last[1] - (time - last[0]) * RATE) > 45 and abs(number - asked * RATE) < 7 * RATE), None)
        result.append({"asked": asked, "off": found and found[1] - round(asked * RATE),
                       "after": found and round(found[0] - since, 3)})
    return result


def summary(shown, seeks=(), every=2):
    """Returns the result for the pictures of a recording."""
    read = [index for index, (_, picture) in enumerate(shown) if picture]
    shown = shown[read[0]:read[-1] + 1] if read else []
    changes, turns = [], []
    for time_, picture in shown:
        if picture and (not changes or picture[0] != changes[-1][1]):
            changes.append((time_, picture[0]))
            if not turns or turns[-1]["shape"] != picture[1]:
                turns.append({"at": time_, "number": picture[0], "shape": picture[1]})
    for each in turns:
        each.update(turn(each["at"], changes))
        each["at"] = round(each["at"] - shown[0][0], 3)
    longest = max((later - time for (time, _), (later, _) in zip(changes, changes[1:])), default=0)
    result = {"numbers": [number for _, number in changes], "turns": turns, "longest": round(longest, 3),
              "unread": sum(picture is None for _, picture in shown), "black": sum(picture == () for _, picture in shown)}
    return {**result, "seeks": landings(changes, seeks, every)} if seeks else result


def keep(video, shown, folder):
    """Writes the pictures of the screen just before, at and 0.3 s after each turn."""
    os.makedirs(folder, exist_ok=True)
    shapes = [(index, picture[1]) for index, (_, picture) in enumerate(shown) if picture]
    wanted = {}
    for (before, old), (after, new) in zip(shapes, shapes[1:]):
        if old != new:
            for name, index in (("a", before), ("b", after), ("c", min(after + 9, len(shown) - 1))):
                wanted.setdefault(index, []).append("%s/%04d%s.png" % (folder, after, name))
    if not wanted:
        return
    chosen = "+".join("eq(n\\,%d)" % index for index in sorted(wanted))
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["ffmpeg", "-v", "error", "-i", video, "-vf", "select=" + chosen, "-fps_mode", "passthrough",
                        scratch + "/%04d.png"], check=True)
        for count, index in enumerate(sorted(wanted), 1):
            for file in wanted[index]:
                shutil.copyfile("%s/%04d.png" % (scratch, count), file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("player", choices=[*PROGRAMS, "chromium-hls.js", "firefox-hls.js"])
    parser.add_argument("source")
    parser.add_argument("--seek", type=float)
    parser.add_argument("--seeks", type=lambda text: [float(each) for each in text.split(",")], default=[])
    parser.add_argument("--every", type=float, default=2)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--out")
    parser.add_argument("--pictures")
    options = parser.parse_args()
    for tool in (program(options.player), "Xvfb", "openbox", "ffmpeg"):
        if not shutil.which(tool):
            print(json.dumps({"error": tool + " is missing"}))
            return MISSING
    if options.player.endswith("-hls.js") and not screen_page.wheel():
        print(json.dumps({"error": "hls.js can't be downloaded"}))
        return MISSING
    # Tests start with signals blocked, and the players would inherit that.
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(FAILED))
    with tempfile.TemporaryDirectory() as folder:
        video = options.out or os.path.join(folder, "screen.mkv")
        ended, messages, seeks = record(options.player, options.source, options, video)
        shown = pictures(video)
        result = {"ended": ended, **summary(shown, seeks, options.every), "messages": messages}
        if options.pictures:
            keep(video, shown, options.pictures)
    print(json.dumps(result))
    return PLAYED if result["numbers"] else FAILED


if __name__ == "__main__":
    sys.exit(main())
