"""The time from an event to the first turned frame, for 100 turns: measured from outside and by the service."""
import random
import statistics
import time

from . import running
from .transport import Receiver

TURNS, RATE = 100, 30
WIDTHS = {"portrait": 368, "landscapeLeft": 640}


def quantile(values, share):
    """Returns the quantile: the smallest value that this share of the values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1))]


def own(metrics, share):
    """Returns a figure of the service's metrics: a quantile of a summary, or a bucket of a histogram."""
    name = "upright_event_to_frame_seconds"
    stated = metrics.get(f'{name}{{quantile="{share}"}}')
    if stated is not None:
        return stated
    buckets = sorted(
        (float(key.split('le="')[1].split('"')[0]), count) for key, count in metrics.items()
        if key.startswith(name + "_bucket"))
    if not buckets:
        return None
    return next(bound for bound, count in buckets if count >= share * buckets[-1][1])


def turn(service, receiver, device):
    """Posts a turn. Returns the seconds until the first turned frame arrives, and the number of frames before it."""
    while receiver.receive(0) is not None:
        pass
    seen = len(receiver.units)
    asked = time.time()
    service.event("turns", {"device": device})
    end = asked + 5
    while time.time() < end:
        for unit in receiver.receive(0.5) or []:
            if unit.width == WIDTHS[device] and unit.arrival > asked:
                old = [each for each in receiver.units[seen:] if asked < each.arrival < unit.arrival]
                return unit.arrival - asked, len(old)
    raise SystemExit(f"no frame was turned to {device} within 5 s: {service.state('turns')}")


def came(receiver):
    """Returns whether two seconds of frames were received."""
    receiver.receive(0.1)
    return len(receiver.units) > 2 * RATE


def measure(scratch):
    """Returns `seconds` of each turn, the frames `between`, and the service's own figures."""
    source = running.clip(scratch, 120)
    receiver = Receiver()
    choose = random.Random(1)
    with running.Service() as service:
        service.session("turns", [
            {"type": "hls"}, {"type": "udp", "url": f"udp://127.0.0.1:{receiver.port}"}])
        publisher = running.Publisher(source, service.address("turns"))
        try:
            if not running.until(lambda: came(receiver), step=0):
                raise SystemExit("no frames were received")
            results = []
            for index in range(TURNS):
                # At a random time within a frame's interval.
                end = time.time() + 0.5 + choose.random() / RATE
                while time.time() < end:
                    receiver.receive(max(0.0, end - time.time()))
                results.append(
                    turn(service, receiver, ["landscapeLeft", "portrait"][index % 2]))
            metrics = service.metrics()
            counters = service.counters("turns")
        finally:
            publisher.kill()
    steps = [b.pts - a.pts for a, b in zip(receiver.units, receiver.units[1:])]
    seconds = [each[0] for each in results]
    return {
        "turns": TURNS, "median": statistics.median(seconds), "p99": quantile(seconds, 0.99),
        "most": max(seconds), "frames before it, most": max(each[1] for each in results),
        "own median": own(metrics, 0.5), "own p99": own(metrics, 0.99),
        "dropped": counters["dropped"], "longest step": max(steps) / 90000,
        "shortest step": min(steps) / 90000}
