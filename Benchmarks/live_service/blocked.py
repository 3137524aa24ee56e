"""Many players of a session with low latency, each of which waits for the next part: when are they answered?

Each player has one connection and requests the playlist with the part after the last one in its playlist (RFC 8216bis,
6.2.5.2). The delay of an answer is the time since the first player got a playlist with that part. The players run in a
process of its own with a lower priority than the service, because they stand for players on other machines; so their
delays are upper bounds.
"""
import json
import os
import re
import select
import socket
import statistics
import subprocess
import sys
import time

from . import audience, running

PLAYERS = 1000
PATH = f"/live/{audience.NAME}/index.m3u8"
# The answers of the first seconds, while the players join, aren't measured.
JOINING = 3


def query(text):
    """Returns the delivery directives for the part after the last one of a playlist."""
    segment = int(re.search(r"#EXT-X-MEDIA-SEQUENCE:(\d+)", text).group(1))
    part = 0
    for line in text.splitlines():
        if line.startswith("#EXT-X-PART:"):
            part += 1
        elif line and not line.startswith("#"):
            segment, part = segment + 1, 0
    return f"?_HLS_msn={segment}&_HLS_part={part}"


class Crowd:
    """The players. All of them read on one thread."""

    def __init__(self, port, count):
        self.poll = select.epoll()
        self.sockets, self.buffers, self.asked = {}, {}, {}
        # By entity tag: the directives that follow. By directives: the time of the first answer.
        self.following, self.first = {}, {}
        self.delays, self.others, self.bytes = [], [], 0
        for _ in range(count):
            each = socket.create_connection(("127.0.0.1", port))
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sockets[each.fileno()] = each
            self.poll.register(each.fileno(), select.EPOLLIN)
            self.ask(each.fileno(), "")

    def ask(self, player, directives):
        self.buffers[player], self.asked[player] = b"", directives
        self.sockets[player].sendall(
            f"GET {PATH}{directives} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())

    def receive(self, player, now):
        data = self.buffers[player] + self.sockets[player].recv(1 << 18)
        self.buffers[player] = data
        end = data.find(b"\r\n\r\n")
        if not data:
            raise SystemExit("blocked: the service closed a connection")
        if end < 0:
            return
        head = data[:end].decode().lower()
        length = int(re.search(r"content-length: (\d+)", head).group(1))
        if len(data) < end + 4 + length:
            return
        self.bytes += len(data)
        directives, status = self.asked[player], int(head[9:12])
        if status != 200:
            self.others.append(f"{status} to {directives}")
            self.ask(player, directives)
            return
        if directives:
            self.delays.append((now, now - self.first.setdefault(directives, now)))
        tag = re.search(r"etag: (\S+)", head).group(1)
        if tag not in self.following:
            self.following[tag] = query(data[end + 4:].decode())
        self.ask(player, self.following[tag])

    def play(self, seconds):
        begin = time.monotonic()
        while time.monotonic() < begin + seconds:
            ready = self.poll.poll(1)
            now = time.monotonic()
            for player, _ in ready:
                self.receive(player, now)
        return {
            "delays": [delay for at, delay in self.delays if at > begin + JOINING],
            "parts": len(self.first), "not 200": self.others, "bytes": self.bytes}


def everyone(service, seconds):
    process = subprocess.run(
        [sys.executable, "-m", "live_service.blocked", str(service.http), str(seconds)],
        stdout=subprocess.PIPE, text=True, check=True,
        cwd=os.path.join(running.ROOT, "Benchmarks"))
    found = json.loads(process.stdout)
    ordered = sorted(found["delays"])
    return {
        "answers": len(ordered), "parts": found["parts"], "not 200": found["not 200"][:10],
        "failed": len(found["not 200"]), "MB": found["bytes"] / 1e6,
        "median": statistics.median(ordered), "p99": ordered[len(ordered) * 99 // 100],
        "longest": ordered[-1]}


def measure(scratch, seconds=40):
    """Measures without players and with them."""
    clip = running.clip(scratch, seconds)
    return {case: audience.run(clip, seconds, play, latency="low")
            for case, play in (
                ("no players", audience.nobody), (f"{PLAYERS} players", everyone))}


if __name__ == "__main__":
    os.nice(10)
    print(json.dumps(Crowd(int(sys.argv[1]), PLAYERS).play(float(sys.argv[2]))))
