"""Many HLS players of one session, over TLS and with signed URLs: are frames delayed?

The publisher's frames are compared without players and with them: by the service's time from a frame's arrival to
its packet, by the frames of a recording, and by when segments are complete. The players run in processes of
their own, each with connections that it keeps, as a browser does. They have a lower priority than the service,
because they stand for players on other machines; so their response times are upper bounds.
"""
import asyncio
import json
import os
import ssl
import statistics
import subprocess
import sys
import time
import urllib.parse

from . import many, running

PLAYERS, PROCESSES = 500, 2
NAME = "stage"


def certificate(folder):
    """Creates a self-signed certificate for 127.0.0.1. Returns the paths of the certificate and its key."""
    paths = os.path.join(folder, "certificate.pem"), os.path.join(folder, "key.pem")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
         "subjectAltName=IP:127.0.0.1", "-out", paths[0], "-keyout", paths[1]],
        check=True, capture_output=True)
    return paths


class Player:
    """Fetches the playlist every target duration and each new segment once, on one connection. Begins with the third
    segment from the end (RFC 8216, 6.3.3)."""

    def __init__(self, port, context, path):
        self.port, self.context, self.path = port, context, path
        self.folder = path.rpartition("/")[0]
        self.seen, self.answers, self.times, self.bytes = set(), {}, [], 0

    async def get(self, path):
        begin = time.monotonic()
        self.writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
        body = await self.reader.readexactly(int(fields[b"content-length"]))
        self.times.append(time.monotonic() - begin)
        status = int(head.split()[1])
        self.answers[status] = self.answers.get(status, 0) + 1
        self.bytes += len(body)
        return body.decode() if status == 200 and path.endswith("m3u8") else ""

    async def play(self, begin, end):
        await asyncio.sleep(begin - time.monotonic())
        self.reader, self.writer = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=self.context, limit=1 << 22)
        due = begin
        while due < end:
            lines = (await self.get(self.path)).splitlines()
            names = [line for line in lines if line and not line.startswith("#")]
            for name in names[-3:]:
                if name not in self.seen:
                    self.seen.add(name)
                    await self.get(f"{self.folder}/{name}")
            due += 2
            await asyncio.sleep(max(0, due - time.monotonic()))
        self.writer.close()


async def play_all(port, trusted, paths, seconds):
    context = ssl.create_default_context(cafile=trusted)
    os.nice(10)
    now = time.monotonic()
    # They join within two seconds.
    players = [Player(port, context, path) for path in paths]
    found = await asyncio.gather(
        *(player.play(now + 2 * index / len(players), now + seconds)
          for index, player in enumerate(players)), return_exceptions=True)
    return {
        "answers": [player.answers for player in players],
        "times": [each for player in players for each in player.times],
        "segments": [len(player.seen) for player in players],
        "bytes": sum(player.bytes for player in players),
        "failures": [repr(each) for each in found if each is not None]}


class Audience:
    """Players in processes of their own."""

    def __init__(self, service, trusted, seconds):
        self.processes = []
        for _ in range(PROCESSES):
            urls = []
            for _ in range(PLAYERS // PROCESSES):
                status, body = service.ask(
                    "POST", f"/v1/sessions/{NAME}/playback-url", {"seconds": 3600})
                if status != 200:
                    raise SystemExit(f"POST playback-url: {status} {body.decode()}")
                urls.append(urllib.parse.urlsplit(json.loads(body)["url"]).path)
            process = subprocess.Popen(
                [sys.executable, "-m", "live_service.audience", str(service.http), trusted,
                 str(seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                cwd=os.path.join(running.ROOT, "Benchmarks"))
            process.stdin.write(json.dumps(urls))
            process.stdin.close()
            self.processes.append(process)

    def wait(self):
        found = [json.loads(process.stdout.read()) for process in self.processes]
        for process in self.processes:
            process.wait()
        return {name: [item for each in found for item in each[name]]
                for name in ("answers", "times", "segments", "failures")} | {
                    "bytes": sum(each["bytes"] for each in found)}


def latency(service, name):
    """Returns the upper bounds in seconds below which half and 99 % of a stage's times are."""
    text = service.metrics()
    counts = sorted(
        (float(key.partition('le="')[2].partition('"')[0].replace("+Inf", "inf")), value)
        for key, value in text.items() if key.startswith(name + "_bucket"))
    total = counts[-1][1]
    return [next(bound for bound, count in counts if count >= share * total)
            for share in (0.5, 0.99)]


def run(clip, seconds, play, tls=None, **more):
    """Measures a session. `play` is called with the service and the time in seconds, and returns the players'
    results."""
    with running.Service(tls=tls) as service:
        service.session(NAME, [{"type": "hls"}, {"type": "file", "name": "take.ts"}], **more)
        watch = many.Segments(service.data)
        watch.start()
        publisher = running.Publisher(clip, service.address(NAME))
        running.until(lambda: service.state(NAME)["state"] == "live", 20)
        time.sleep(5)
        pid = service.process.pid
        spent, begin = running.processor(pid), time.monotonic()
        players = play(service, seconds - 12)
        cores = (running.processor(pid) - spent) / (time.monotonic() - begin)
        publisher.wait()
        running.until(lambda: service.state(NAME)["state"] == "inputLost", 10)
        watch.wanted = False
        encode = latency(service, "upright_encode_seconds")
        ended = service.delete(NAME)
        times = many.frame_times(os.path.join(service.data, "recordings", NAME, "take.ts"))
    return {
        "frames sent": many.sent(clip), "frames in": ended["counters"]["framesIn"],
        "dropped": ended["counters"]["dropped"], "frames in the recording": len(times),
        "longest step": max(b - a for a, b in zip(times, times[1:])),
        "latest segment": max(watch.intervals(NAME)[1:], default=0), "encode": encode,
        "cores used": cores, "load": os.getloadavg()[0], "players": players}


def nobody(service, seconds):
    """Waits, without players."""
    time.sleep(seconds)


def measure(scratch, seconds=40):
    """Measures without players and with them."""
    clip, files = running.clip(scratch, seconds), certificate(scratch)

    def everyone(service, seconds):
        found = Audience(service, files[0], seconds).wait()
        ordered = sorted(found["times"])
        return {
            "requests": len(ordered), "failures": found["failures"],
            "not 200": sum(count for each in found["answers"] for status, count in each.items()
                           if status != "200"),
            "fewest segments": min(found["segments"]), "MB": found["bytes"] / 1e6,
            "median": statistics.median(ordered), "p99": ordered[len(ordered) * 99 // 100],
            "longest": ordered[-1]}

    return {case: run(clip, seconds, play, files, playback="signed")
            for case, play in (("no players", nobody), (f"{PLAYERS} players", everyone))}


if __name__ == "__main__":
    port, trusted, seconds = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    print(json.dumps(asyncio.run(play_all(port, trusted, json.load(sys.stdin), seconds))))
