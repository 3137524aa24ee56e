"""A publisher that is killed and reconnects, as a player of the HLS output sees it."""
import os
import time

from . import running
from .player import Player

GAPS = (0.1, 1.0, 10.0)
RATE = 30


def steps(times):
    return [b - a for a, b in zip(times, times[1:])]


def once(scratch, clip, gap, before=8.0, after=8.0):
    with running.Service() as service:
        service.session("back", [{"type": "hls"}])
        player = Player(f"http://127.0.0.1:{service.http}/live/back/index.m3u8",
                        os.path.join(scratch, f"played-{gap}"))
        player.start()
        publisher = running.Publisher(clip, service.address("back"))
        try:
            if not running.until(lambda: player.begun is not None, 30):
                raise SystemExit("no playlist: " + service.logged())
            time.sleep(before)
            publisher.kill()
            time.sleep(gap)
            publisher = running.Publisher(clip, service.address("back"))
            time.sleep(after)
        finally:
            publisher.kill()
        state = service.state("back")
        player.end()
    times, decoding = player.packets()
    audio, _ = player.packets("a:0")
    return {
        "gap": gap, "seconds played": len(times) / RATE, "longest step": max(steps(times)),
        "shortest step": min(steps(times)), "shortest DTS step": min(steps(decoding)),
        "audio's longest step": max(steps(audio)), "audio's shortest step": min(steps(audio)),
        "target duration": sorted(player.targets),
        "longest segment": max(each[1] for each in player.segments.values()),
        "discontinuities": player.discontinuities, "least ahead": player.least,
        "input losses": state["counters"]["inputLosses"], "state": state["state"],
        "faults": player.faults, "load": os.getloadavg()[0]}


def measure(scratch):
    clip = running.clip(scratch, 60)
    return [once(scratch, clip, gap) for gap in GAPS]
