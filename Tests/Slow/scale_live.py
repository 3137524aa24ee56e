#!/usr/bin/env python3
"""Proves what docs/cluster.md says of faults: three nodes in network namespaces, each with `upright serve`, its agent and a
NATS server (R3), 20 sessions that pull a stream, an HTTP origin and players. One fault after the other; for each, how long
sessions had no new segment, when they ran elsewhere, how many were lost, double writers, and work that was done twice.

    scale_live.py            all faults with 20 sessions, NATS is away for a minute; then cluster_simulation.py
    SHORT=1 scale_live.py    6 sessions; a node is killed, one is cut off, one is drained

Needs root, which it has in a namespace of users too, and what `Scripts/setup.sh scale` installs: Scripts/check-scale.sh
runs it. The program that is tested is UPRIGHT, or .build/release/upright. PYTHON has the packages of
Python/requirements.txt.
"""
import contextlib
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from tables import table

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Debian has it where daemons are.
NATS_SERVER = shutil.which("nats-server", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or "nats-server"
UPRIGHT = os.environ.get("UPRIGHT", str(ROOT / ".build/release/upright"))
LIBRARIES = os.environ.get("UPRIGHT_LIBRARIES", str(ROOT / ".build/release/lib"))
PYTHON = os.environ.get("PYTHON", sys.executable)
SHORT = os.environ.get("SHORT", "0") == "1"
SESSIONS = 6 if SHORT else 20
NATS_AWAY = 60
NET = "10.77.83"
HUB = f"{NET}.254"
TOKENS = {name: f"{name}-token-of-the-proof" for name in ("admin", "cluster", "origin")}
NODES = ("a", "b", "c")
#: The longest time without a new segment, in seconds, on a machine that does all of this at once. A session that moves has
#: the lease, its input up to a keyframe, and the first segment in it, each one to two seconds. A node that is killed with
#: the NATS leader waits for the next leader's election too.
LIMITS = {
    "nothing": 2.5, "node killed": 7.0, "NATS server killed": 2.5, "NATS leader killed": 2.5,
    "node with the NATS leader killed": 18.0, "partition": 7.0, "drain": 2.5, "NATS away": 2.5,
    "agent suspended": 7.0, "service killed": 7.0}
#: When all sessions of a node that was killed have to be started elsewhere, in seconds. The lease is two.
ELSEWHERE = 3.0


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def get(url, token=None, timeout=2, method="GET", body=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(url, data, headers, method=method)
    with urllib.request.urlopen(request, timeout=timeout) as answer:
        return answer.read()


class Program:
    """A process in its own group, and its log."""

    def __init__(self, folder, name, command, namespace=None, shift=0, **environment):
        if namespace:
            command = ["ip", "netns", "exec", namespace, *command]
        if shift:
            # A monotonic clock that differs from that of the other machines.
            command = ["unshare", "--time", "--monotonic", str(shift), "--boottime", str(shift), "--", *command]
        self.log = folder / f"{name}.log"
        self.command, self.environment = [str(part) for part in command], {**os.environ, **environment}
        self.process = None
        self.start()

    def start(self):
        with open(self.log, "a") as log:
            self.process = subprocess.Popen(
                self.command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=self.environment,
                start_new_session=True)

    def signal(self, number):
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)

    def kill(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.process.wait()

    def wait(self, seconds):
        return self.process.wait(seconds)


class Source:
    """A stream for all sessions: one encoder, and an HTTP server that gives it to each that asks."""

    def __init__(self):
        self.clients = []
        self.server = socket.create_server((HUB, 9000), backlog=128)
        self.process = subprocess.Popen(
            ["ffmpeg", "-v", "error", "-re", "-f", "lavfi", "-i", "testsrc=s=160x90:r=10", "-f", "lavfi", "-i",
             "sine=r=48000", "-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-g", "10", "-pix_fmt",
             "yuv420p", "-c:a", "aac", "-b:a", "32k", "-f", "mpegts", "-pat_period", "0.2", "-flush_packets", "1", "-"],
            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        threading.Thread(target=self._accept, daemon=True).start()
        threading.Thread(target=self._send, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._greet, args=(client,), daemon=True).start()

    def _greet(self, client):
        with contextlib.suppress(OSError):
            client.settimeout(5)
            client.recv(65536)
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp2t\r\nConnection: close\r\n\r\n")
            client.settimeout(0.2)
            self.clients.append(client)

    def _send(self):
        while data := self.process.stdout.read1(65536):
            for client in list(self.clients):
                try:
                    client.sendall(data)
                except OSError:
                    self.clients.remove(client)
                    client.close()

    def close(self):
        self.process.kill()
        self.server.close()


class Node:
    def __init__(self, proof, index):
        self.proof, self.name = proof, NODES[index]
        self.address = f"{NET}.{index + 1}"
        self.namespace = f"upright-{self.name}"
        self.link = f"upright-{self.name}"
        self.shift = (0, 60, 3600)[index]
        self.folder = proof.folder / self.name
        self.folder.mkdir()
        run("ip", "netns", "add", self.namespace)
        run("ip", "link", "add", self.link, "type", "veth", "peer", "name", "eth0", "netns", self.namespace)
        run("ip", "link", "set", self.link, "master", proof.bridge, "up")
        for command in (f"addr add {self.address}/24 dev eth0", "link set eth0 up", "link set lo up"):
            run("ip", "-n", self.namespace, *command.split())
        routes = ",".join(f"nats://{NET}.{other + 1}:6222" for other in range(3) if other != index)
        self.nats = self.program("nats", [
            NATS_SERVER, "-js", "-sd", self.folder / "nats", "-n", self.name, "-a", self.address, "-p", "4222", "-m", "8222",
            "--cluster_name", "proof", "--cluster", f"nats://{self.address}:6222", "--routes", routes])
        self.serve = self.program("serve", [
            UPRIGHT, "serve", "--listen", f"{self.address}:8080", "--data", self.folder / "data", "--hls-origin",
            f"http://{HUB}:8000/live"], UPRIGHT_TOKEN=TOKENS["admin"], UPRIGHT_ALLOW_HOSTS=f"{HUB}:9000",
            UPRIGHT_MAX_SESSIONS="100", UPRIGHT_HLS_ORIGIN_TOKEN_FILE=str(proof.folder / "origin-token"))
        self.agent = self.program("agent", self.agent_command())

    def agent_command(self):
        own = NODES.index(self.name)
        servers = [part for index in range(3) for part in ("--nats", f"nats://{NET}.{(own + index) % 3 + 1}:4222")]
        return [
            PYTHON, "-m", "upright.cluster", "--name", self.name, *servers, "--replicas", "3", "--serve",
            f"http://{self.address}:8080", "--public-url", f"http://{self.address}:8080", "--listen",
            f"{self.address}:8090", "--agent-url", f"http://{self.address}:8090", "--token-file",
            self.proof.folder / "admin-token", "--cluster-token-file", self.proof.folder / "cluster-token", "--cores", "8"]

    def program(self, name, command, **environment):
        paths = os.pathsep.join(str(ROOT / "Python" / package) for package in ("upright-policy", "upright"))
        return Program(
            self.folder, name, command, self.namespace, self.shift, PYTHONPATH=paths, LD_LIBRARY_PATH=LIBRARIES,
            **environment)

    @property
    def programs(self):
        return (self.nats, self.serve, self.agent)

    def kill(self):
        for program in self.programs:
            program.signal(signal.SIGKILL)
        for program in self.programs:
            program.process.wait()

    def start(self):
        for program in self.programs:
            if program.process.poll() is not None:
                program.start()

    def has_leader(self):
        """Whether its NATS server leads the bucket of leases."""
        with contextlib.suppress(OSError, ValueError, KeyError):
            seen = json.loads(get(f"http://{self.address}:8222/jsz?streams=true"))
            for account in seen["account_details"]:
                for stream in account["stream_detail"]:
                    if stream["name"].endswith("-leases"):
                        return stream["cluster"].get("leader") == self.name
        return False


class Proof:
    bridge = "upright-proof"

    def __init__(self, folder):
        self.folder, self.nodes, self.others, self.rows, self.failures = folder, [], [], [], []
        for name, token in TOKENS.items():
            (folder / f"{name}-token").write_text(token)
        run("ip", "link", "add", self.bridge, "type", "bridge")
        run("ip", "addr", "add", f"{HUB}/24", "dev", self.bridge)
        run("ip", "link", "set", self.bridge, "up")
        self.writes = folder / "writes.jsonl"
        self.others.append(Program(
            folder, "origin", [PYTHON, ROOT / "Samples/cluster/origin.py", "--listen", f"{HUB}:8000", "--log", self.writes],
            UPRIGHT_ORIGIN_TOKEN=TOKENS["origin"]))
        text = (ROOT / "Samples/cluster/nginx.conf").read_text()
        text = text.replace("127.0.0.1:8000", f"{HUB}:8000").replace("CLUSTER-TOKEN", TOKENS["cluster"])
        text = text.replace("/tmp/upright-front.pid", str(folder / "front.pid")).replace("listen 8088", f"listen {HUB}:8088")
        for number in (1, 2, 3):
            text = text.replace(f"127.0.0.{number}:8090", f"{NET}.{number}:8090")
        (folder / "nginx.conf").write_text(text)
        self.others.append(Program(folder, "front", ["nginx", "-g", "daemon off;", "-c", folder / "nginx.conf"]))
        self.source = Source()
        self.nodes = [Node(self, index) for index in range(3)]

    def close(self):
        for program in [*(program for node in self.nodes for program in node.programs), *self.others]:
            with contextlib.suppress(OSError):
                program.kill()
        if hasattr(self, "source"):
            self.source.close()
        for name in NODES:
            subprocess.run(["ip", "netns", "del", f"upright-{name}"], capture_output=True)
        subprocess.run(["ip", "link", "del", self.bridge], capture_output=True)

    # The cluster

    def overviews(self):
        """What each agent that answers knows."""
        for node in self.nodes:
            with contextlib.suppress(OSError, ValueError):
                yield json.loads(get(f"http://{node.address}:8090/v1/cluster", TOKENS["cluster"], 1))

    def overview(self):
        return next(self.overviews(), {"nodes": [], "sessions": []})

    def until(self, what, condition, seconds=60):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.1)
        raise SystemExit(f"scale_live: {what}: not within {seconds} s: {json.dumps(self.overview())}")

    def want(self, turn):
        """Asks for all sessions. Another turn is another request, so that all are placed anew."""
        for number in range(SESSIONS):
            body = {"cost": 0.3 + 0.001 * (turn % 2), "session": {
                "input": {"url": f"http://{HUB}:9000/cam.ts", "mode": "pull"},
                "options": {"size": "160x90", "speed": "ultrafast", "segment": 1, "frames": "metadata"}}}
            get(f"http://{self.nodes[number % 3].address}:8090/v1/cluster/sessions/s{number}", TOKENS["cluster"], 5, "PUT", body)

    def settle(self):
        """Waits until all nodes are there, each of which knows that, and all sessions publish."""
        def is_whole(seen):
            nodes = [node for node in seen["nodes"] if node["state"] == "up" and node["cores"] > 0]
            owned = [session for session in seen["sessions"] if session["owner"]]
            return len(nodes) == 3 and len(owned) == SESSIONS and seen["nats"]["writes"]
        self.until("the cluster isn't whole", lambda: sum(map(is_whole, self.overviews())) == 3)
        since = time.monotonic()
        self.until("sessions don't publish", lambda: len(self.published(since)) == SESSIONS)

    def owners(self):
        counts = {name: 0 for name in NODES}
        for session in self.overview()["sessions"]:
            if session["owner"]:
                counts[session["owner"]] += 1
        return counts

    def busiest(self, *allowed):
        counts = self.owners()
        return max((node for node in self.nodes if not allowed or node in allowed), key=lambda node: counts[node.name])

    def leader(self):
        self.until("NATS has no leader", lambda: any(node.has_leader() for node in self.nodes))
        return next(node for node in self.nodes if node.has_leader())

    # What was written

    def entries(self, since=0.0):
        with open(self.writes) as file:
            for line in file:
                if line.endswith("\n"):
                    entry = json.loads(line)
                    if entry["at"] >= since:
                        yield entry

    def published(self, since):
        """The times at which each session's playlist got a new segment."""
        times, last = {}, {}
        for entry in self.entries():
            if "text" not in entry or entry["status"] != 204:
                continue
            name = entry["path"].split("/")[2]
            newest = [line for line in entry["text"].split("\n") if line and not line.startswith("#")][-1:]
            if newest and last.get(name) != newest:
                last[name] = newest
                if entry["at"] >= since:
                    times.setdefault(name, []).append(entry["at"])
        return times

    def moves(self, since):
        """When each session that has moved had its first frame in its new place: the first file of a new epoch."""
        epochs, moved = {}, {}
        for entry in self.entries():
            found = re.fullmatch(r"/live/([^/]+)/.*?-(\d+)-\w+?-init-\d+\.mp4", entry["path"])
            if found is None or entry["method"] != "PUT" or entry["status"] != 204:
                continue
            name, epoch = found[1], int(found[2])
            if epoch > epochs.get(name, 0):
                epochs[name] = epoch
                if entry["at"] >= since:
                    moved.setdefault(name, entry["at"])
        return moved

    def starts(self, since):
        """When the agents started each session that has moved."""
        # They log the wall clock, which all of them have.
        offset = time.time() - time.monotonic()
        started = {}
        for node in self.nodes:
            for moment, name in re.findall(
                    r"^(\S+ \S+) upright\.cluster: session (\S+), epoch \d+: started$", node.agent.log.read_text(), re.M):
                at = datetime.datetime.strptime(moment, "%Y-%m-%d %H:%M:%S,%f").timestamp() - offset
                if at >= since:
                    started[name] = min(at, started.get(name, at))
        return started

    def audit(self):
        """Counts what must not be: writes of two owners mixed, and segments whose number changes."""
        double, renumbered, latest, numbers = 0, 0, {}, {}
        for entry in self.entries():
            if "text" not in entry or entry["status"] != 204:
                continue
            name, text = entry["path"].split("/")[2], entry["text"]
            epoch, writer = re.search(r"#upright-writer:(\d+)-(\w+)", text).groups()
            before = latest.get(name, (0, ""))
            if int(epoch) < before[0] or int(epoch) == before[0] and writer != before[1]:
                double += 1
            latest[name] = (int(epoch), writer)
            number = int(re.search(r"#EXT-X-MEDIA-SEQUENCE:(\d+)", text)[1])
            for line in text.split("\n"):
                if line and not line.startswith("#"):
                    if numbers.setdefault((name, line), number) != number:
                        renumbered += 1
                    number += 1
        return double, renumbered

    def wasted(self, since, until):
        """Segments that were uploaded, and that no playlist ever listed. Playlists refused because another owner was first."""
        uploaded, listed, refused = {}, set(), 0
        for entry in self.entries():
            if entry["method"] == "PUT" and entry["path"].endswith(".m4s") and since <= entry["at"] <= until:
                uploaded[entry["path"]] = entry["size"]
            if "text" in entry:
                if entry["status"] == 204:
                    folder = entry["path"].rpartition("/")[0]
                    listed |= {f"{folder}/{line}" for line in entry["text"].split("\n") if line and line[0] != "#"}
                # Each output asks once whether the origin refuses a wrong tag.
                elif since <= entry["at"] <= until:
                    refused += 1
        return sum(path not in listed for path in uploaded), len(uploaded), refused

    # Faults

    def fault(self, name, begin, end=None, seconds=12.0):
        print(f"scale_live: {name} ...", flush=True)
        if self.rows and not SHORT:
            # Every node has sessions again.
            self.settle()
            self.want(len(self.rows))
            time.sleep(1)
        self.settle()
        epochs = {session["name"]: session["epoch"] for session in self.overview()["sessions"]}
        since = time.monotonic()
        begin()
        time.sleep(seconds)
        until = time.monotonic()
        times = self.published(since - 3)
        gaps = []
        for session in (f"s{number}" for number in range(SESSIONS)):
            at = [since - 1, *times.get(session, []), until]
            at = sorted(moment for moment in at if moment >= since - 3)
            gaps.append(max(two - one for one, two in zip(at, at[1:])))
        lost = sum(not any(moment > until - 4 for moment in times.get(f"s{number}", [])) for number in range(SESSIONS))
        started = [moment - since for moment in self.starts(since).values()]
        shown = [moment - since for moment in self.moves(since).values()]
        if end:
            end()
        self.settle()
        moved = sum(session["epoch"] != epochs.get(session["name"]) for session in self.overview()["sessions"])
        gaps.sort()
        double, renumbered = self.audit()
        unlisted, uploaded, refused = self.wasted(since, until)
        row = {
            "fault": name, "moved": moved, "started": max(started) if started else "",
            "shown": max(shown) if shown else "", "max": gaps[-1],
            "p99": gaps[min(len(gaps) - 1, int(len(gaps) * 0.99))], "median": gaps[len(gaps) // 2], "lost": lost,
            "double": double, "renumbered": renumbered, "unlisted": f"{unlisted} of {uploaded}", "refused": refused}
        self.rows.append(row)
        print(f"scale_live: {json.dumps(row)}", flush=True)
        # The short form runs in CI, on a machine that may be busy with other things: times are only printed.
        if lost or double or renumbered or not SHORT and gaps[-1] > LIMITS[name]:
            self.failures.append(name)
        if name == "node killed" and (not started or not SHORT and max(started) > ELSEWHERE):
            self.failures.append("the sessions of a node that was killed were started elsewhere too late")

    def cut(self, node, is_down):
        run("ip", "link", "set", node.link, "down" if is_down else "up")

    def all_faults(self):
        node = None

        def choose(found):
            nonlocal node
            node = found
            return node

        def followers():
            leader = self.leader()
            return [other for other in self.nodes if other is not leader]

        def drain():
            choose(self.busiest()).agent.signal(signal.SIGTERM)
            if node.agent.wait(30) != 0:
                self.failures.append("the drain's exit status")

        def away():
            for other in self.nodes:
                other.nats.kill()
            time.sleep(NATS_AWAY)
            for other in self.nodes:
                other.nats.start()

        def suspend():
            choose(self.busiest()).agent.signal(signal.SIGSTOP)

        killed = ("node killed", lambda: choose(self.busiest(*followers())).kill(), lambda: node.start())
        parted = (
            "partition", lambda: self.cut(choose(self.busiest(*followers())), True), lambda: self.cut(node, False))
        drained = ("drain", drain, lambda: node.start())
        if SHORT:
            self.fault(*killed, 9)
            self.fault(*parted, 9)
            return self.fault(*drained, 5)
        self.fault("nothing", lambda: None)
        self.fault(*killed)
        self.fault("NATS server killed", lambda: choose(followers()[0]).nats.kill(), lambda: node.start())
        self.fault("NATS leader killed", lambda: choose(self.leader()).nats.kill(), lambda: node.start(), 20)
        self.fault("node with the NATS leader killed", lambda: choose(self.leader()).kill(), lambda: node.start(), 25)
        self.fault(*parted, 15)
        self.fault(*drained)
        self.fault("NATS away", away, seconds=15)
        self.fault("agent suspended", suspend, lambda: node.agent.signal(signal.SIGCONT))
        self.fault("service killed", lambda: choose(self.busiest()).serve.kill(), lambda: node.start())


#: The heads of the table.
HEADS = {
    "fault": "fault", "moved": "sessions moved", "started": "started elsewhere after, s", "shown": "first frame after, s",
    "max": "longest without a segment, s", "p99": "p99, s", "median": "median, s", "lost": "sessions lost",
    "double": "double writers", "renumbered": "renumbered", "unlisted": "segments in no playlist",
    "refused": "playlists refused"}


def main():
    if os.geteuid() != 0:
        raise SystemExit("scale_live: it makes network namespaces: run Scripts/check-scale.sh live")
    for program in (UPRIGHT, "ip", NATS_SERVER, "nginx", "ffmpeg", "unshare"):
        if shutil.which(program) is None:
            raise SystemExit(f"scale_live: {program} is missing: run Scripts/setup.sh scale")
    started = time.monotonic()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="upright-scale-"))
    proof = None
    try:
        proof = Proof.__new__(Proof)
        proof.nodes, proof.others = [], []
        proof.__init__(folder)
        proof.until("no node is up", lambda: len([n for n in proof.overview()["nodes"] if n["cores"] > 0]) == 3, 90)
        proof.want(0)
        proof.settle()
        print(f"scale_live: {SESSIONS} sessions: {proof.owners()}", flush=True)
        # The front finds the owner of each session, and says so if there is none.
        for number in range(SESSIONS):
            seen = json.loads(get(f"http://{HUB}:8088/v1/sessions/s{number}", TOKENS["admin"]))
            assert seen["id"] == f"s{number}" and seen["state"] == "live", seen
        try:
            get(f"http://{HUB}:8088/v1/sessions/none", TOKENS["admin"])
            proof.failures.append("the front has found a session that isn't there")
        except urllib.error.HTTPError as error:
            assert error.code == 503, error
        # Players that stay through all faults: one decodes, others check the rules of playlists at every reload.
        player = Program(folder, "player", [
            "ffmpeg", "-v", "warning", "-stats_period", "1", "-progress", folder / "player.progress", "-i",
            f"http://{HUB}:8088/live/s0/index.m3u8", "-map", "0:v", "-f", "null", "-"])
        proof.others.append(player)
        checkers = [Program(folder, f"check-{number}", [
            UPRIGHT, "check", f"http://{HUB}:8088/live/s{number}/index.m3u8", "--reload", "3600"])
            for number in range(0, SESSIONS, 4)]
        proof.others += checkers
        proof.all_faults()
        if player.process.poll() is not None:
            proof.failures.append("the player has ended")
        frames = re.findall(r"frame=(\d+)", (folder / "player.progress").read_text())
        print(f"scale_live: the player has decoded {frames[-1] if frames else 0} frames")
        if not frames or int(frames[-1]) < (150 if SHORT else 300):
            proof.failures.append("the player has decoded too little")
        for checker in checkers:
            # It prints what it finds at each reload.
            has_ended = checker.process.poll() is not None
            checker.kill()
            if has_ended or "must: " in checker.log.read_text():
                proof.failures.append(f"a playlist broke a rule: {checker.log.read_text()[-500:]}")
        print(table(proof.rows, HEADS))
    finally:
        if proof is not None:
            proof.close()
        if os.environ.get("KEEP") == "1":
            print(f"scale_live: the logs are in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"scale_live: {time.monotonic() - started:.0f} s")
    if proof.failures:
        raise SystemExit("scale_live: failed: " + ", ".join(proof.failures))
    if not SHORT:
        subprocess.run([PYTHON, ROOT / "Tests/Slow/cluster_simulation.py"], check=True)
    print("scale_live: clean")


if __name__ == "__main__":
    main()
