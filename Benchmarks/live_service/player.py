"""A player of live HLS that decodes nothing: it requests the playlist and the segments, keeps them, and
records the level of its buffer."""
import math
import os
import re
import subprocess
import threading
import time
import urllib.error
import urllib.request


class Player(threading.Thread):
    """Starts three segments before the end (RFC 8216, 6.3.3) and plays in real time. It is a fault that the buffer runs dry
    unless `runs_dry` is set."""

    def __init__(self, url, folder, keeps=True, runs_dry=False):
        super().__init__(daemon=True)
        self.keeps, self.runs_dry = keeps, runs_dry
        self.base = url.rpartition("/")[0]
        self.url, self.folder, self.wanted = url, folder, True
        os.makedirs(folder, exist_ok=True)
        # By number: file, duration in seconds, map, whether a discontinuity precedes it.
        self.segments = {}
        self.targets = set()
        self.begun = None
        self.first = None
        # The minimum of the buffer, in seconds.
        self.least = math.inf
        self.faults = []

    def run(self):
        while self.wanted:
            try:
                self.look()
            except (urllib.error.URLError, OSError) as error:
                # There is no playlist before the first segment.
                if self.segments:
                    self.faults.append(f"{self.url}: {error}")
            time.sleep(0.2)

    def fetch(self, name):
        with urllib.request.urlopen(f"{self.base}/{name}", timeout=10) as answer:
            return answer.read()

    def keep(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            data = self.fetch(name)
            if self.keeps:
                with open(path, "wb") as file:
                    file.write(data)

    def look(self):
        if self.begun is not None:
            self.least = min(self.least, self.ahead())
        text = self.fetch("index.m3u8").decode()
        number, seconds, map_name, broken = 0, 0.0, None, False
        for line in text.splitlines():
            if line.startswith("#EXT-X-TARGETDURATION:"):
                self.targets.add(int(line.partition(":")[2]))
            elif line.startswith("#EXT-X-MEDIA-SEQUENCE:"):
                number = int(line.partition(":")[2])
            elif line.startswith("#EXT-X-MAP:"):
                map_name = re.search(r'URI="(.*)"', line).group(1)
            elif line.startswith("#EXTINF:"):
                seconds = float(line[8:].rstrip(","))
            elif line == "#EXT-X-DISCONTINUITY":
                broken = True
            elif line and not line.startswith("#"):
                if number not in self.segments:
                    self.keep(map_name)
                    self.keep(line)
                    self.segments[number] = (line, seconds, map_name, broken)
                number, broken = number + 1, False
        if self.begun is None and len(self.segments) >= 3:
            self.begun, self.first = time.monotonic(), sorted(self.segments)[-3]

    def ahead(self):
        """Returns the buffered duration, in seconds."""
        there = sum(each[1] for number, each in self.segments.items() if number >= self.first)
        return there - (time.monotonic() - self.begun)

    def end(self):
        self.wanted = False
        self.join()
        numbers = sorted(self.segments)
        if numbers and numbers != list(range(numbers[0], numbers[-1] + 1)):
            self.faults.append(f"segments are missing: {numbers}")
        longest = max((each[1] for each in self.segments.values()), default=0)
        # RFC 8216, 4.3.3.1: no segment is longer, rounded to the nearest second, and it never changes.
        if len(self.targets) != 1 or round(longest) > min(self.targets):
            self.faults.append(f"target durations {self.targets}, the longest segment {longest}")
        if self.least <= 0 and not self.runs_dry:
            self.faults.append(f"the player ran dry: {self.least:.2f} s")

    @property
    def discontinuities(self):
        return sum(each[3] for each in self.segments.values())

    def packets(self, stream="v:0"):
        """Returns the presentation times of all frames, in seconds, in the order of the segments."""
        times, decoding = [], []
        for number in sorted(self.segments):
            name, _, map_name, _ = self.segments[number]
            whole = os.path.join(self.folder, "whole.mp4")
            with open(whole, "wb") as out:
                for part in (map_name, name):
                    with open(os.path.join(self.folder, part), "rb") as file:
                        out.write(file.read())
            found = subprocess.check_output(
                ["ffprobe", "-v", "error", "-select_streams", stream, "-show_entries",
                 "packet=pts_time,dts_time", "-of", "csv=p=0", whole], text=True)
            for line in found.split():
                fields = line.split(",")
                times.append(float(fields[0]))
                decoding.append(float(fields[1]))
        return times, decoding
