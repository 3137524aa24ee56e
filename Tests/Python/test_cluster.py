"""The agent for live, against a real NATS server and services of the test's. Costs about a minute."""

import asyncio
import contextlib
import hashlib
import hmac
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time

import aiohttp
import nats
import pytest
from aiohttp import web
from conftest import ROOT
from fake_serve import FakeServe, Log

from upright.cluster import Agent, Desired, Fence, Lease, NameTaken, Node, Observer, Settings, assign, cost_of
from upright.cluster._api import API
from upright.cluster._ledger import Ledger, is_free
from upright.cluster._records import Malformed, key_of, name_of
from upright.cluster._store import Store

# Debian has it where daemons are.
NATS_SERVER = shutil.which("nats-server", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or "nats-server"
TOKEN = "token-of-the-agents-of-the-test"
LEASE = 2.0


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Nats:
    """One NATS server with JetStream, whose store survives it."""

    def __init__(self, folder):
        self.folder, self.port = folder, free_port()
        self.process = None

    async def start(self):
        self.process = subprocess.Popen(
            [NATS_SERVER, "-js", "-sd", str(self.folder), "-a", "127.0.0.1", "-p", str(self.port)],
            stderr=subprocess.DEVNULL)
        for _ in range(200):
            with contextlib.suppress(OSError):
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            await asyncio.sleep(0.05)
        raise AssertionError("nats-server didn't start")

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


class Relay:
    """A way to a NATS server that can be cut."""

    def __init__(self, port):
        self.target = port
        self.is_cut = False
        self.writers = set()

    async def start(self):
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def _serve(self, reader, writer):
        if self.is_cut:
            writer.close()
            return
        try:
            upstream = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        self.writers |= {writer, upstream[1]}

        async def copy(source, sink):
            with contextlib.suppress(OSError, asyncio.CancelledError):
                while data := await source.read(65536):
                    sink.write(data)
                    await sink.drain()
            sink.close()

        await asyncio.gather(copy(reader, upstream[1]), copy(upstream[0], writer))

    def cut(self):
        self.is_cut = True
        for writer in self.writers:
            writer.transport.abort()
        self.writers.clear()


class Machine:
    """A service and its agent."""

    def __init__(self, cluster, name, port=None, clock=time.monotonic, **settings):
        self.cluster, self.name, self.clock = cluster, name, clock
        self.nats_port = port or cluster.nats.port
        self.settings = settings
        self.task = None

    async def start(self, wait=True):
        self.serve = await FakeServe(self.name, self.cluster.log, self.cluster.origin).start()
        await self.start_agent(wait)
        return self

    async def start_agent(self, wait=True):
        port = free_port()
        self.url = f"http://127.0.0.1:{port}"
        values = dict(cores=4.0, lease=LEASE, hook_secret="secret-of-the-hook")
        values.update(self.settings)
        self.agent = Agent(Settings(
            self.name, [f"nats://127.0.0.1:{self.nats_port}"], self.serve.url, "admin-token-of-the-test", TOKEN, self.url,
            self.serve.url, **values), self.clock)
        self.runner = web.AppRunner(API(self.agent).application(), access_log=None)
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", port).start()
        joined = asyncio.Event()
        self.task = asyncio.create_task(self.agent.run(joined.set))
        if wait:
            waiting = asyncio.create_task(joined.wait())
            await asyncio.wait([waiting, self.task], return_when=asyncio.FIRST_COMPLETED, timeout=10)
            waiting.cancel()
            if self.task.done():
                self.task.result()
            assert joined.is_set()

    async def kill_agent(self):
        """As SIGKILL of the agent: its port is closed."""
        if self.task is not None:
            self.task.cancel()
            await asyncio.gather(self.task, return_exceptions=True)
            await self.runner.cleanup()
            self.task = None

    async def kill(self):
        await asyncio.gather(self.kill_agent(), self.serve.kill())


class Cluster:
    def __init__(self, folder):
        self.nats = Nats(folder / "nats")
        self.log, self.origin, self.machines = Log(), {}, []

    async def add(self, name, **more):
        machine = Machine(self, name, **more)
        self.machines.append(machine)
        return await machine.start()

    async def ask(self, method, path, body=None, machine=None, token=TOKEN, headers=None):
        machine = machine or next(m for m in self.machines if m.task is not None and not m.task.done())
        async with aiohttp.ClientSession() as http:
            async with http.request(
                method, machine.url + path, json=body if not isinstance(body, bytes) else None,
                data=body if isinstance(body, bytes) else None,
                headers={"Authorization": f"Bearer {token}", **(headers or {})},
            ) as answer:
                text = await answer.text()
                return answer.status, json.loads(text) if text.startswith("{") else text, answer.headers

    async def want(self, *names, **more):
        for name in names:
            body = {"session": {"input": {"url": "rtsp://10.0.0.9/cam"}}, "cost": 0.5, **more}
            status, text, _ = await self.ask("PUT", f"/v1/cluster/sessions/{name}", body)
            assert status == 204, text

    def owners(self):
        """The node that each session is live on."""
        return {
            name: machine.name for machine in self.machines for name, session in machine.serve.sessions.items()
            if session["state"] == "live"}

    async def until(self, condition, seconds=15):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"not within {seconds} s: {self.owners()} {self.log.runs}")

    async def live(self, *names, seconds=15):
        await self.until(lambda: set(names) <= set(self.owners()), seconds)


def scenario(body):
    """Runs a test with a cluster, whose processes end with it."""
    def test(tmp_path):
        async def run():
            cluster = Cluster(tmp_path)
            await cluster.nats.start()
            try:
                await asyncio.wait_for(body(cluster), 90)
            finally:
                for machine in cluster.machines:
                    await machine.kill()
                cluster.nats.kill()
        asyncio.run(run())
    test.__name__ = body.__name__
    test.__doc__ = body.__doc__
    return test


NAMES = [f"s{number}" for number in range(12)]


# Decisions, without NATS


def test_an_owner_stops_before_others_call_it_dead():
    """Whatever the offset of their clocks, the delays of renewals, and the failures of NATS."""
    generator = random.Random(5)
    taken = 0
    for _ in range(400):
        fence, observer = Fence(2, 0.5), Observer(2, 0.1)
        offset = generator.uniform(-60, 60)
        now, version, pending = 0.0, 0, []
        dies = generator.uniform(5, 15)
        nats_fails = [(at, at + generator.uniform(0, 4)) for at in (generator.uniform(0, 12),)]
        while now < 30:
            now += 0.1
            works = not any(start <= now <= end for start, end in nats_fails)
            if works:
                observer.wrote(now + offset)
            else:
                observer.failed()
            if now < dies and works and generator.random() < 0.6:
                version += 1
                fence.renewed(now)
                pending.append((now + generator.uniform(0, 0.5), version))
            for arrives, seen in [item for item in pending if item[0] <= now]:
                pending.remove((arrives, seen))
                observer.saw("a", seen, now + offset)
            # A declaration compares the version with that in NATS.
            seen = observer._seen.get("a", (None, 0))[0]
            if seen is not None and observer.is_dead("a", seen, now + offset) and seen == version:
                assert fence.remaining(now) == 0, "taken over while its owner may run it"
                taken += 1
                break
    assert taken > 300


def test_a_dead_node_is_seen_within_the_lease_and_the_guard():
    observer = Observer(2, 0.1)
    for step in range(100):
        observer.wrote(step * 0.1)
        if observer.is_dead("a", 7, step * 0.1):
            break
    assert 2.0 < step * 0.1 < 2.3
    # A process that was suspended starts to count anew.
    assert not Observer(2, 0.1, 0.0, 0.0).is_dead("a", 7, 60.0)


def test_sessions_are_spread_by_cores_and_load():
    sessions = [(f"s{number}", 0.5) for number in range(30)]
    found = assign(sessions, {"a": (4, 0), "b": (8, 0), "c": (4, 2)})
    counts = {node: list(found.values()).count(node) for node in "abc"}
    assert counts["b"] in (15, 16) and counts["a"] in (6, 7, 8) and counts["c"] == 4 and sum(counts.values()) <= 30
    assert found == assign(reversed(sessions), {"c": (4, 2), "b": (8, 0), "a": (4, 0)})
    # One that fits nowhere is left out, and doesn't keep smaller ones out.
    assert assign([("big", 5), ("small", 1)], {"a": (4, 0)}) == {"small": "a"}
    assert assign([("x", 1)], {}) == {} and assign([("x", 1)], {"a": (0, 0)}) == {}
    # Another turn is another node's, as long as there is one.
    assert {assign([("x", 1)], {"a": (4, 0), "b": (4, 1)}, turn)["x"] for turn in (0, 1)} == {"a", "b"}
    assert assign([("x", 1)], {"a": (4, 0)}, 3) == {"x": "a"}


def test_the_cost_follows_pixels_and_codec():
    def cost(**options):
        return cost_of({"options": options})

    assert cost(size="1080p") > 2 * cost(size="720p") * 0.9 > cost(size="720p") > cost(size="360p")
    assert cost(size="1280x720") == cost(size="720p") == cost_of({}) == cost(size="what")
    assert cost(size="720p", codec="hevc") > 2 * cost(size="720p")
    assert cost(ladder=["720p", "360p"]) > cost(size="720p")
    assert cost(canvas="dual") > 1.5 * cost()
    for options in (None, [], "x", {"size": 7, "codec": {}, "ladder": "720p"}, {"size": "99999999x1"}):
        assert cost_of({"options": options}) > 0


def test_the_ledger_is_what_all_records_say():
    generator = random.Random(11)
    nodes, leases, desired = {}, {}, {}
    ledger = Ledger(nodes, leases, desired)
    for step in range(4000):
        name = f"s{generator.randrange(12)}"
        node = generator.choice("abcd")
        what = generator.randrange(5)
        if what == 0:
            nodes[node] = (Node(node, generator.choice("ij"), "", "", generator.choice(Node.STATES), 1, 0), step)
            ledger.node_changed(node)
        elif what == 1:
            nodes.pop(node, None)
            ledger.node_changed(node)
        elif what == 2:
            leases[name] = (
                Lease(node, generator.choice("ij"), step, generator.choice(Lease.STATES), generator.randrange(3)), step)
            ledger.session_changed(name)
        elif what == 3:
            publisher = {"path": "a/b", "key": "12345678"} if generator.random() < 0.2 else None
            desired[name] = (Desired({}, generator.choice((0.25, 0.5)), publisher), generator.randrange(3))
            ledger.session_changed(name)
        else:
            desired.pop(name, None)
            ledger.session_changed(name)
        free = {
            name: wanted.cost for name, (wanted, request) in desired.items()
            if wanted.publisher is None and is_free(leases[name][0] if name in leases else None, request, nodes)}
        owned, loads = {}, {}
        for name, (lease, _) in leases.items():
            if lease.state in ("held", "offered"):
                owned.setdefault(lease.owner, set()).add(name)
                loads[lease.owner] = loads.get(lease.owner, 0) + (desired[name][0].cost if name in desired else 0)
        assert ledger.free == free and ledger.owned == owned and ledger.loads == loads


@pytest.mark.parametrize("type_", [Node, Lease, Desired])
def test_records_of_a_wrong_form_are_refused(type_):
    good = {
        Node: Node("a", "i", "http://a", "http://b", "up", 4, 1, 2),
        Lease: Lease("a", "i", 3, "held", 4, 1), Desired: Desired({"input": {}}, 1.5),
    }[type_]
    assert type_.decoded(good.encoded()) == good
    value = json.loads(good.encoded())
    bad = [b"", b"{", b"[]", b"null", b"[" * 100_000, b"\xff", b'{"a": ' + b"1" * (300 << 10) + b"}"]
    for name in value:
        for wrong in (-1, 1e400, "\x00", [], {"a": 1}, True):
            bad.append(json.dumps({**value, name: wrong}).encode())
    refused = 0
    for data in bad:
        try:
            type_.decoded(data)
        except Malformed:
            refused += 1
    assert refused >= len(bad) - 14
    for name in ("a.b", "..", "a..b.", "A-_1"):
        assert name_of(key_of("session", name)) == ("session", name) and ".." not in key_of("session", name)


def test_desired_sessions_are_checked():
    for body in (
        {"session": {"input": {}, "name": "a"}}, {"session": {"input": {}, "epoch": 1}}, {"session": {}},
        {"session": {"input": {}}, "cost": 0}, {"session": {"input": {}}, "cost": "1"}, {"session": {"input": {}}, "x": 1},
        {"session": {}, "publisher": {"path": "a/b"}}, {"session": {}, "publisher": {"path": "a/b", "key": "short"}},
        {"session": {"input": {}}, "publisher": {"path": "a/b", "key": "12345678"}},
    ):
        with pytest.raises(Malformed):
            Desired.decoded(json.dumps(body).encode())
    assert Desired({"input": {}}).can_overlap
    assert not Desired({"input": {}, "outputs": [{"type": "hls"}, {"type": "rtmp", "url": "x"}]}).can_overlap


# A cluster


@scenario
async def test_sessions_run_once_and_balanced(cluster):
    for name in "abc":
        await cluster.add(name)
    await cluster.want(*NAMES)
    await cluster.live(*NAMES)
    counts = sorted(list(cluster.owners().values()).count(name) for name in "abc")
    assert counts[0] >= 3 and counts[2] <= 5, counts
    assert cluster.log.overlaps() == [] and all(cluster.log.epochs(name) == [1] for name in NAMES)
    status, seen, _ = await cluster.ask("GET", "/v1/cluster")
    assert status == 200 and [node["name"] for node in seen["nodes"]] == ["a", "b", "c"]
    assert {session["name"]: session["owner"] for session in seen["sessions"]} == cluster.owners()
    status, _, headers = await cluster.ask("GET", "/v1/cluster/sessions/s0/owner")
    assert status == 204 and headers["Upright-Node"] == cluster.owners()["s0"]
    # What isn't wanted any more ends, with its playlist; what is wanted otherwise starts again, without its end.
    owner = next(machine for machine in cluster.machines if machine.name == cluster.owners()["s1"])
    assert (await cluster.ask("DELETE", "/v1/cluster/sessions/s1"))[0] == 204
    await cluster.until(lambda: "s1" not in cluster.owners())
    assert owner.serve.sessions.get("s1", {"continues": "false"})["continues"] == "false"
    await cluster.want("s2", cost=0.25)
    await cluster.until(lambda: cluster.log.epochs("s2") == [1, 2] and "s2" in cluster.owners())
    await cluster.want("s1")
    await cluster.until(lambda: cluster.log.epochs("s1") == [1, 2])
    assert cluster.log.overlaps() == []


@scenario
async def test_a_node_that_is_killed(cluster):
    for name in "abc":
        await cluster.add(name)
    await cluster.want(*NAMES)
    await cluster.live(*NAMES)
    victim = cluster.machines[0]
    lost = [name for name, node in cluster.owners().items() if node == "a"]
    since = time.monotonic()
    await victim.kill()
    await cluster.until(lambda: all(len(cluster.log.epochs(name)) == 2 for name in lost), 10)
    gaps = cluster.log.gaps(since)
    assert max(gaps.values()) <= 3.0, gaps
    assert max(gap for name, gap in gaps.items() if name not in lost) < 0.05
    await cluster.live(*NAMES)
    counts = sorted(list(cluster.owners().values()).count(name) for name in "bc")
    assert counts == [6, 6] or counts == [5, 7]
    assert cluster.log.overlaps() == [] and lost


@scenario
async def test_an_agent_that_is_killed_while_its_service_lives(cluster):
    """And comes back: its name is free once its lease has lapsed."""
    for name in "ab":
        await cluster.add(name)
    await cluster.want(*NAMES[:6])
    await cluster.live(*NAMES[:6])
    victim = cluster.machines[0]
    lost = [name for name, node in cluster.owners().items() if node == "a"]
    since = time.monotonic()
    await victim.kill_agent()
    await cluster.until(lambda: all(cluster.owners().get(name) == "b" for name in lost))
    assert cluster.log.overlaps() == [] and max(cluster.log.gaps(since).values()) < 3
    await victim.start_agent()
    await cluster.want("new", cost=1)
    await cluster.until(lambda: cluster.owners().get("new") == "a")


@scenario
async def test_an_agent_that_returns_at_once_waits_for_its_own_lease(cluster):
    await cluster.add("a")
    await cluster.want("s0")
    await cluster.live("s0")
    await cluster.machines[0].kill_agent()
    started = time.monotonic()
    await cluster.machines[0].start_agent()
    assert time.monotonic() - started >= LEASE
    await cluster.until(lambda: cluster.log.epochs("s0") == [1, 2])
    assert cluster.log.overlaps() == []


@scenario
async def test_two_agents_with_one_name(cluster):
    first = await cluster.add("a")
    await cluster.want("s0")
    await cluster.live("s0")
    second = Machine(cluster, "a")
    second.serve = await FakeServe("second", cluster.log, cluster.origin).start()
    with pytest.raises(NameTaken, match="has the name a"):
        await second.start_agent()
    await second.kill()
    assert not first.task.done() and cluster.log.epochs("s0") == [1]
    # Both at once: one of them.
    both = [Machine(cluster, "b"), Machine(cluster, "b")]
    for machine in both:
        machine.serve = await FakeServe("b", cluster.log, cluster.origin).start()
    results = await asyncio.gather(*(machine.start_agent() for machine in both), return_exceptions=True)
    assert sorted(type(result) for result in results if result) == [NameTaken]
    for machine in both:
        await machine.kill()


@scenario
async def test_a_drain_overlaps_for_hls_and_does_not_for_other_outputs(cluster):
    for name in "ab":
        await cluster.add(name)
    await cluster.want("hls", "more")
    await cluster.want("push", session={
        "input": {"url": "rtsp://10.0.0.9/cam"}, "outputs": [{"type": "rtmp", "url": "rtmp://10.0.0.8/live/key"}]})
    names = ["hls", "more", "push"]
    await cluster.live(*names)
    since = time.monotonic()
    for machine in list(cluster.machines):
        # Both in turn, so that each session moves.
        machine.agent.drain()
        await asyncio.wait_for(machine.task, 20)
        await machine.kill()
        if machine.name == "a":
            await cluster.until(lambda: set(cluster.owners()) >= set(names) and "a" not in cluster.owners().values())
            await cluster.add("c")
    await cluster.until(lambda: set(cluster.owners().values()) == {"c"} and set(cluster.owners()) == set(names))
    gaps = cluster.log.gaps(since)
    assert gaps["hls"] == 0 and gaps["more"] == 0 and gaps["push"] < 1.5, gaps
    overlapping = {name for name, *_ in cluster.log.overlaps()}
    assert overlapping == {"hls", "more"}


@scenario
async def test_nats_is_gone_for_a_while(cluster):
    """What runs goes on, nothing new starts, and afterwards all is as before."""
    for name in "abc":
        await cluster.add(name)
    await cluster.want(*NAMES[:6])
    await cluster.live(*NAMES[:6])
    before = cluster.owners()
    since = time.monotonic()
    cluster.nats.kill()
    await asyncio.sleep(1)
    status, answer, _ = await cluster.ask(
        "PUT", "/v1/cluster/sessions/late", {"session": {"input": {"url": "rtsp://10.0.0.9/cam"}}})
    assert status == 503, answer
    await asyncio.sleep(6)
    assert cluster.owners() == before
    await cluster.nats.start()
    await asyncio.sleep(LEASE + 2)
    assert cluster.owners() == before and max(cluster.log.gaps(since).values()) == 0
    await cluster.want("late")
    await cluster.live("late")
    assert all(cluster.log.epochs(name) == [1] for name in before)
    status, seen, _ = await cluster.ask("GET", "/v1/cluster")
    assert seen["nats"]["writes"] is True


@scenario
async def test_a_node_that_is_killed_while_nats_is_gone(cluster):
    """Its sessions run again when NATS is back, and those of the others go on all the time."""
    for name in "abc":
        await cluster.add(name)
    await cluster.want(*NAMES[:6])
    await cluster.live(*NAMES[:6])
    lost = [name for name, node in cluster.owners().items() if node == "a"]
    since = time.monotonic()
    cluster.nats.kill()
    await asyncio.sleep(3)
    await cluster.machines[0].kill()
    await asyncio.sleep(3)
    assert set(cluster.owners()) == set(NAMES[:6]) - set(lost)
    await cluster.nats.start()
    await cluster.live(*NAMES[:6])
    gaps = cluster.log.gaps(since)
    assert max(gap for name, gap in gaps.items() if name not in lost) == 0 and cluster.log.overlaps() == []


@scenario
async def test_a_node_that_alone_has_no_nats_stops_before_others_take_over(cluster):
    relay = await Relay(cluster.nats.port).start()
    await cluster.add("a", port=relay.port)
    await cluster.add("b")
    await cluster.add("c")
    await cluster.want(*NAMES[:6])
    await cluster.live(*NAMES[:6])
    lost = [name for name, node in cluster.owners().items() if node == "a"]
    since = time.monotonic()
    relay.cut()
    await cluster.until(lambda: all(cluster.owners().get(name) in ("b", "c") for name in lost))
    assert lost and cluster.log.overlaps() == [] and max(cluster.log.gaps(since).values()) <= 3.2
    # It returns as a node without sessions.
    relay.is_cut = False
    await cluster.until(lambda: cluster.machines[0].agent.membership.observer.is_healthy(time.monotonic()))
    await cluster.want("new", cost=3)
    await cluster.until(lambda: cluster.owners().get("new") == "a")
    assert cluster.log.overlaps() == []


@scenario
async def test_watches_that_nats_has_lost(cluster):
    """As after the loss of the server that had them: an agent follows again before it has to know of a death."""
    for name in "ab":
        await cluster.add(name)
    await cluster.want(*NAMES[:4])
    await cluster.live(*NAMES[:4])
    before = cluster.owners()
    client = await nats.connect(f"nats://127.0.0.1:{cluster.nats.port}")
    stream = client.jetstream()
    lost = 0
    for bucket in ("leases", "sessions"):
        for consumer in await stream.consumers_info(f"KV_upright-main-{bucket}"):
            lost += await stream.delete_consumer(f"KV_upright-main-{bucket}", consumer.name)
    await client.close()
    assert lost >= 4
    await asyncio.sleep(LEASE * 0.75)
    await cluster.want("late")
    await cluster.live("late", seconds=1)
    await asyncio.sleep(LEASE)
    assert {name: node for name, node in cluster.owners().items() if name != "late"} == before
    since = time.monotonic()
    await cluster.machines[0].kill()
    await cluster.live(*NAMES[:4])
    assert max(cluster.log.gaps(since).values()) <= 3.2 and cluster.log.overlaps() == []


@scenario
async def test_an_agent_uses_the_first_server_that_it_reaches(cluster):
    relays = [await Relay(cluster.nats.port).start() for _ in range(4)]
    for nearest in (0, 3, 2):
        urls = [f"nats://127.0.0.1:{relay.port}" for relay in relays[nearest:] + relays[:nearest]]
        store = Store(urls, "main", 1, 1.0, lambda *_: None)
        await store.open()
        assert store.server == urls[0].removeprefix("nats://")
        if nearest == 2:
            relays[2].cut()
            await cluster.until(lambda: store.server not in (None, urls[0].removeprefix("nats://")))
        await store.close()


@scenario
async def test_clocks_that_differ_by_a_minute(cluster):
    """Also in what they show as the monotonic time, which nothing compares between machines."""
    for name, offset in (("a", 0), ("b", 60), ("c", -60)):
        await cluster.add(name, clock=lambda offset=offset: time.monotonic() + offset)
    await cluster.want(*NAMES[:6])
    await cluster.live(*NAMES[:6])
    since = time.monotonic()
    lost = [name for name, node in cluster.owners().items() if node == "b"]
    await cluster.machines[1].kill()
    await cluster.until(lambda: all(len(cluster.log.epochs(name)) == 2 for name in lost))
    assert cluster.log.overlaps() == [] and max(cluster.log.gaps(since).values()) <= 3


@scenario
async def test_a_service_that_dies_gives_up_its_sessions_at_once(cluster):
    for name in "ab":
        await cluster.add(name)
    await cluster.want(*NAMES[:4])
    await cluster.live(*NAMES[:4])
    since = time.monotonic()
    await cluster.machines[0].serve.kill()
    await cluster.until(lambda: set(cluster.owners()) == set(NAMES[:4]))
    assert set(cluster.owners().values()) == {"b"}
    assert max(cluster.log.gaps(since).values()) < 2 and cluster.log.overlaps() == []


@scenario
async def test_a_session_that_fails_is_tried_elsewhere_and_not_all_the_time(cluster):
    first = await cluster.add("a")
    first.serve.fails = True
    await cluster.want("s0")
    await asyncio.sleep(2.5)
    lease, _ = first.agent.store.leases.all("session")["s0"]
    assert 2 <= lease.epoch <= 5 and lease.failures >= 2
    await cluster.add("b", cores=16.0)
    await cluster.live("s0")
    assert cluster.owners() == {"s0": "b"}
    # An input that has ended isn't started again, until the request changes.
    session = cluster.machines[1].serve.sessions["s0"]
    cluster.machines[1].serve._end("s0", "ended", "the input ended")
    await cluster.until(lambda: first.agent.store.leases.all("session")["s0"][0].state == "done")
    await asyncio.sleep(1)
    epochs = cluster.log.epochs("s0")
    assert epochs[-1] == session["epoch"]
    await cluster.want("s0", cost=0.3)
    await cluster.until(lambda: len(cluster.log.epochs("s0")) == len(epochs) + 1)


@scenario
async def test_hostile_records_and_requests(cluster):
    machine = await cluster.add("a")
    await cluster.want("good")
    await cluster.live("good")
    store = machine.agent.store
    for value in (b"", b"[]", b"{", b"\xff" * 9, b'{"session": 1}', b'{"owner": "a", "epoch": -1}'):
        await store.sessions.put("session.bad", value)
        await store.leases.put("session.bad2", value)
        await store.leases.put("node.z", value)
        await store.leases.put("what", value)
    for method, path, body, token, expected in (
        ("GET", "/v1/cluster", None, "wrong", 401), ("GET", "/v1/cluster/pulse", None, "", 401),
        ("PUT", "/v1/cluster/sessions/x", b"{", TOKEN, 400), ("PUT", "/v1/cluster/sessions/x", b"{}", TOKEN, 400),
        ("PUT", "/v1/cluster/sessions/-x", b"{}", TOKEN, 400), ("PUT", "/v1/cluster/sessions/" + "x" * 65, b"{}", TOKEN, 400),
        ("PUT", "/v1/cluster/sessions/x", b"[" * (300 << 10), TOKEN, 413),
        ("DELETE", "/v1/cluster/sessions/none", None, TOKEN, 404),
        ("GET", "/v1/cluster/sessions/none/owner", None, TOKEN, 404), ("POST", "/v1/cluster", None, TOKEN, 405),
        ("POST", "/publish", b"{}", TOKEN, 403), ("GET", "/nothing", None, TOKEN, 404),
    ):
        assert (await cluster.ask(method, path, body, token=token))[0] == expected, (method, path)
    # An epoch that is too large for JSON numbers, in a lease that someone wrote.
    await store.leases.put("session.good", Lease("q", "z", 2**53, "held").encoded())
    await asyncio.sleep(1)
    assert not machine.task.done()


def signed(body, secret="secret-of-the-hook", at=None):
    seconds = int(time.time()) if at is None else at
    digest = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return {"Upright-Signature": f"t={seconds},v1={digest}"}


@scenario
async def test_publishers_belong_to_the_node_that_they_reach(cluster):
    for name in "ab":
        await cluster.add(name)
    one, two = cluster.machines
    await cluster.want("cam", session={"policy": "phone"}, publisher={"path": "live/cam", "key": "key-of-the-camera"})
    await asyncio.sleep(0.5)
    assert cluster.log.runs == {}
    body = json.dumps({"name": "cam", "app": "live", "key": "key-of-the-camera", "address": "::1", "protocol": "rtmp"}).encode()

    async def publish(machine, body=body, headers=None):
        status, answer, _ = await cluster.ask("POST", "/publish", body, machine, headers=headers or signed(body))
        return status, answer

    assert (await publish(one, headers=signed(body, "another-secret-here")))[0] == 403
    assert (await publish(one, headers=signed(body, at=1)))[0] == 403
    wrong = body.replace(b"key-of", b"key-0f")
    assert (await publish(one, wrong))[0] == 403
    for text in (b"[]", b"{}", b"null", b'{"app": 1}'):
        assert (await publish(one, text))[0] == 400
    status, members = await publish(one)
    assert status == 200 and members == {"policy": "phone", "name": "cam", "epoch": 1}
    one.serve.create("cam", 1)
    await cluster.live("cam")
    # A second publisher elsewhere is refused while the first one is there; the same node lets the service decide.
    assert (await publish(two))[0] == 403
    assert (await publish(one))[1]["epoch"] == 1
    # The first one leaves, and returns to the other node.
    one.serve.sessions["cam"]["state"] = "inputLost"
    status, members = await publish(two)
    assert status == 200 and members["epoch"] == 2
    two.serve.create("cam", 2)
    await cluster.until(lambda: cluster.owners() == {"cam": "b"})
    # Its node is killed; it returns to the first one as soon as the lease has lapsed.
    await two.kill()
    status, members = await publish(one)
    assert status == 200 and members["epoch"] == 3
    assert cluster.log.overlaps() == []


@scenario
async def test_the_program_drains_and_says_what_is_wrong(cluster):
    serve = await FakeServe("p", cluster.log, cluster.origin).start()
    folder = cluster.nats.folder.parent
    (folder / "token").write_text("admin-token-of-the-test\n")
    (folder / "cluster").write_text(TOKEN)
    (folder / "short").write_text("x")
    port = free_port()

    def command(*more, **changes):
        options = {
            "name": "p", "nats": f"nats://127.0.0.1:{cluster.nats.port}", "serve": serve.url, "token-file": folder / "token",
            "public-url": serve.url, "listen": f"127.0.0.1:{port}", "agent-url": f"http://127.0.0.1:{port}",
            "cluster-token-file": folder / "cluster", **{name.replace("_", "-"): value for name, value in changes.items()}}
        return [sys.executable, "-m", "upright.cluster", *more,
                *(str(part) for name, value in options.items() for part in (f"--{name}", value))]

    async def outcome(*arguments, **changes):
        process = await asyncio.create_subprocess_exec(
            *command(*arguments, **changes), stderr=asyncio.subprocess.PIPE)
        _, errors = await asyncio.wait_for(process.communicate(), 20)
        return process.returncode, errors.decode()

    for changes, word in (
        ({"token_file": folder / "none"}, "can't read"), ({"token_file": folder / "short"}, "16 or more"),
        ({"name": "-"}, "a name has"), ({"listen": "nowhere"}, "HOST:PORT"), ({"lease": "0.1"}, "use 1 to 60"),
    ):
        status, errors = await outcome(**changes)
        assert status not in (0, 69) and word in errors, errors
    # A parent that blocks signals, as a thread of a pool does.
    masked = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGTERM,))
    process = await asyncio.create_subprocess_exec(*command(), stderr=asyncio.subprocess.PIPE)
    signal.pthread_sigmask(signal.SIG_SETMASK, masked)
    try:
        machine = Machine(cluster, "p")
        machine.url, machine.serve = f"http://127.0.0.1:{port}", serve
        for _ in range(200):
            with contextlib.suppress(aiohttp.ClientError, OSError, StopIteration):
                if (await cluster.ask("GET", "/v1/cluster", machine=machine))[1]["nodes"]:
                    break
            await asyncio.sleep(0.05)
        await cluster.ask(
            "PUT", "/v1/cluster/sessions/s0", {"session": {"input": {"url": "x"}}, "cost": 0.1}, machine=machine)
        for _ in range(200):
            if serve.sessions.get("s0", {}).get("state") == "live":
                break
            await asyncio.sleep(0.05)
        status, errors = await outcome(listen=f"127.0.0.1:{free_port()}")
        assert status == 69 and "has the name p" in errors
        process.terminate()
        await asyncio.sleep(0.5)
        # Nobody takes the session: it goes on until another node is here.
        assert serve.sessions["s0"]["state"] == "live"
        await cluster.add("q")
        _, errors = await asyncio.wait_for(process.communicate(), 20)
        assert process.returncode == 0, errors.decode()
        assert cluster.owners() == {"s0": "q"} and "continues" not in serve.sessions.get("s0", {}), errors.decode()
    finally:
        if process.returncode is None:
            process.kill()
    await serve.kill()


def test_the_sources_read_no_wall_clock():
    for path in (ROOT / "Python" / "upright" / "upright" / "cluster").glob("*.py"):
        text = path.read_text()
        assert "datetime" not in text and text.count("time.time()") == (1 if path.name == "_api.py" else 0), path
