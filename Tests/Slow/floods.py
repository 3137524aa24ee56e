#!/usr/bin/env python3
"""Opens as many connections to the service from two addresses as it accepts, and keeps them open: bodies that arrive
slowly, headers that arrive slowly, connections without a request, event streams that nobody reads, and all of them at once.
Meanwhile every GET /healthz of a third address is answered, and a session stays live. How long the answers take is
printed, and without a flood for comparison; so are the service's share of a processor and the frames that were dropped.

    floods.py             each kind for 30 s, 1024 connections
    SHORT=1 floods.py     all of them at once for 10 s, 256 connections
"""
import argparse
import multiprocessing
import os
import random
import resource
import socket
import sys
import tempfile
import time

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Benchmarks"))

from live_service import running  # noqa: E402
from tables import table  # noqa: E402

# What a connection sends first, what it sends after each pause, and whether it reads.
KINDS = {
    "slow bodies": ("GET /healthz HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n", True),
    "slow bodies of a client": (
        f"POST /v1/sessions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {running.TOKEN}\r\n"
        "Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n{", " ", True),
    "slow headers": ("GET /healthz HTTP/1.1\r\nHost: a\r\n", "X-A: b\r\n", True),
    "idle": ("", "", True),
    "event streams": (
        f"GET /v1/sessions/calm/events HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {running.TOKEN}\r\n\r\n", "", False),
}
PAUSE = 3
# How long a connection that the service has closed stays closed at most, and how often all are looked at, in seconds.
BACK_OFF, STEP = 3, 0.1


class Connection:
    def __init__(self, port, index, kind):
        self.first, self.next, self.reads = KINDS[kind]
        self.port, self.source = port, f"127.0.0.{2 + index % 2}"
        self.socket, self.opened = None, 0
        self.due = time.monotonic() + BACK_OFF * random.random()

    def step(self, now):
        """Opens the connection again if the service has closed it, and sends what is due."""
        try:
            if self.socket is None:
                if now < self.due:
                    return
                self.socket = socket.socket()
                self.socket.settimeout(0.5)
                self.socket.bind((self.source, 0))
                self.socket.connect(("127.0.0.1", self.port))
                self.socket.setblocking(False)
                self.opened += 1
                self.socket.send(self.first.encode())
                self.due = now + PAUSE
            elif now >= self.due:
                self.socket.send(self.next.encode())
                self.due = now + PAUSE
            if self.reads and self.socket.recv(4096) == b"":
                self.close(now)
        except BlockingIOError:
            pass
        except OSError:
            self.close(now)

    def close(self, now):
        self.socket.close()
        self.socket, self.due = None, now + BACK_OFF * random.random()


def flood(port, kinds, count, stop, result):
    # Clients are on other machines: Linux shares the processors among sessions of the system (sched(7), autogroup).
    os.setsid()
    held = [Connection(port, index, kinds[index // 2 % len(kinds)]) for index in range(count if kinds else 0)]
    peak = 0
    while not stop.is_set():
        for connection in held:
            connection.step(time.monotonic())
        peak = max(peak, sum(connection.socket is not None for connection in held))
        time.sleep(STEP)
    result.put((peak, sum(connection.opened for connection in held)))
    for connection in held:
        if connection.socket:
            connection.close(0)


def measure(service, name, kinds, count, seconds):
    """Returns a row of the table, and the requests without an answer."""
    stop, result = multiprocessing.Event(), multiprocessing.Queue()
    process = multiprocessing.Process(target=flood, args=(service.http, kinds, count, stop, result))
    process.start()
    spent = running.processor(service.process.pid)
    times, unanswered, end = [], 0, time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        try:
            connection = running.connection(service.http)
            connection.request("GET", "/healthz")
            unanswered += connection.getresponse().status != 200
            connection.close()
        except OSError:
            unanswered += 1
        times.append(1000 * (time.monotonic() - begin))
        time.sleep(0.02)
    spent = running.processor(service.process.pid) - spent
    stop.set()
    peak, opened = result.get()
    process.join()
    times.sort()
    return {"flood": name, "held": peak, "opened": opened, "requests": len(times), "median ms": times[len(times) // 2],
            "p99 ms": times[len(times) * 99 // 100], "longest ms": times[-1], "unanswered": unanswered,
            "CPU": spent / seconds, "load": os.getloadavg()[0]}


def main():
    short = os.environ.get("SHORT") == "1"
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--connections", type=int, default=256 if short else 1024)
    parser.add_argument("--seconds", type=float, default=10 if short else 30)
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    faults, rows = [], []
    floods = {} if short else {"none": [], **{kind: [kind] for kind in KINDS}}
    floods["all at once"] = list(KINDS)
    limit = {"UPRIGHT_MAX_CONNECTIONS": str(arguments.connections)}
    with tempfile.TemporaryDirectory() as folder, running.Service(folder, environment=limit) as service:
        service.session("calm", [{"type": "hls"}], options={"size": "320x180", "speed": "ultrafast"})
        publisher = running.Publisher(running.clip(folder, 20, size="320x180"), service.address("calm"), loops=-1)
        try:
            if not running.until(lambda: service.state("calm")["state"] == "live", 30):
                raise SystemExit("floods: the session is not live: " + service.logged())
            for name, kinds in floods.items():
                rows.append(measure(service, name, kinds, arguments.connections, arguments.seconds))
                if rows[-1]["unanswered"]:
                    faults.append(f"{name}: {rows[-1]['unanswered']} requests were not answered")
            # A connection that was open before may have had to go.
            service.connection.close()
            state = service.state("calm")
            if state["state"] != "live" or state["counters"]["inputLosses"]:
                faults.append(f"the session is {state['state']}, its input was lost {state['counters']['inputLosses']} times")
            print(f"floods: dropped {state['counters']['dropped']}")
        finally:
            publisher.kill()
        faults += service.faults()
    print(table(rows))
    running.conclude("floods", faults)


if __name__ == "__main__":
    main()
