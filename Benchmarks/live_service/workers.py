"""What processes of sessions cost: the same sessions in one process and in a process each, at the same time."""
import os
import re
import statistics
import time

from . import running

COUNT, SECONDS, SETTLE = 4, 60, 5


class Side:
    """A service with its sessions, in one of the two modes."""

    def __init__(self, mode, clip, count):
        self.service = running.Service(environment={"UPRIGHT_WORKERS": mode})
        self.names = [f"s{index}" for index in range(count)]
        for name in self.names:
            self.service.session(name, [{"type": "hls"}])
        self.publishers = [running.Publisher(clip, self.service.address(name), loops=-1) for name in self.names]

    def is_live(self):
        return all(self.service.state(name)["state"] == "live" for name in self.names)

    @property
    def spent(self):
        return running.processor(self.service.process.pid)

    def counted(self):
        """Returns the numbers of encoded and of dropped frames."""
        counters = [self.service.counters(name) for name in self.names]
        return sum(each["framesOut"] for each in counters), sum(sum(each["dropped"].values()) for each in counters)

    def private(self):
        """Returns the private memory of each process of a session, in MiB."""
        found = []
        for process in running.family(self.service.process.pid)[1:]:
            with open(f"/proc/{process}/smaps_rollup") as file:
                sizes = re.findall(r"^Private_\w+: +(\d+) kB$", file.read(), re.M)
            found.append(sum(map(int, sizes)) / 1024)
        return found

    def end(self):
        for publisher in self.publishers:
            publisher.kill()
        self.service.end()
        self.service.scratch.cleanup()


def measure(scratch, count=COUNT, seconds=SECONDS):
    clip = running.clip(scratch, 20)
    sides = [Side(mode, clip, count) for mode in ("inProcess", "process")]
    try:
        if not running.until(lambda: all(side.is_live() for side in sides), 60):
            raise SystemExit("not all sessions are live")
        time.sleep(SETTLE)
        spent = [side.spent for side in sides]
        frames = [side.counted()[0] for side in sides]
        time.sleep(seconds)
        spent = [side.spent - before for side, before in zip(sides, spent)]
        frames = [side.counted()[0] - before for side, before in zip(sides, frames)]
        return {"sessions": count, "seconds": seconds, "spent": spent, "frames": frames,
                "ratio": spent[1] / frames[1] / (spent[0] / frames[0]),
                "dropped": [side.counted()[1] for side in sides],
                "private": statistics.median(sides[1].private() or [0]), "load": os.getloadavg()[0]}
    finally:
        for side in sides:
            side.end()
