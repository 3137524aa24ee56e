#!/usr/bin/env python3
"""How large a cluster can be: measures what an agent and NATS spend on one renewal, and computes and simulates clusters up
to 10 000 nodes and 1 000 000 sessions from that, with the agent's own placement.

    cluster_simulation.py    measures (about 20 s), then simulates

Needs nats-server and the packages of Python/requirements.txt. All inputs are measured in this run, on this machine, and
printed; nothing else is assumed but what is named in `ASSUMED`.
"""
import asyncio
import contextlib
import heapq
import json
import os
import pathlib
import random
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Debian has it where daemons are.
NATS_SERVER = shutil.which("nats-server", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or "nats-server"
sys.path[:0] = [str(ROOT / "Python" / package) for package in ("upright-policy", "upright")]

from upright.cluster import Agent, Desired, Lease, Node, Settings, assign, cost_of  # noqa: E402
from upright.cluster._store import Store  # noqa: E402

from tables import table  # noqa: E402

ASSUMED = {"sessions a node": 100, "lease s": 2.0, "cores for sessions a node": (16, 32, 64), "one-way delay between machines ms": 0.5}
PERIOD = ASSUMED["lease s"] / 5
SECONDS = 6.0


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Servers:
    """Three NATS servers on loopback."""

    def __init__(self, folder):
        ports, routes = [free_port() for _ in range(3)], [free_port() for _ in range(3)]
        self.urls = [f"nats://127.0.0.1:{port}" for port in ports]
        self.processes = [subprocess.Popen(
            [NATS_SERVER, "-js", "-sd", f"{folder}/{index}", "-n", f"n{index}", "-a", "127.0.0.1", "-p", str(ports[index]),
             "--cluster_name", "simulation", "--cluster", f"nats://127.0.0.1:{routes[index]}", "--routes",
             ",".join(f"nats://127.0.0.1:{port}" for port in routes)],
            stderr=subprocess.DEVNULL) for index in range(3)]

    def cpu(self):
        """The CPU time of all three, in seconds."""
        ticks = os.sysconf("SC_CLK_TCK")
        total = 0
        for process in self.processes:
            fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
            total += (int(fields[11]) + int(fields[12])) / ticks
        return total

    def close(self):
        for process in self.processes:
            process.kill()
            process.wait()


def own_cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def node(name, beat=0, cores=32.0, load=1.0):
    return Node(name, "0" * 32, f"http://10.0.0.1:8090/{name}", "http://10.0.0.1:8080", "up", cores, load, beat)


async def renewals(store, seconds, writers):
    """Writes records of nodes as fast as NATS takes them. Returns the latencies."""
    latencies = []
    end = time.perf_counter() + seconds

    async def write(index):
        beat = 0
        key = f"node.w{index}"
        _, revision = await store.leases.read(key)
        while time.perf_counter() < end:
            beat += 1
            started = time.perf_counter()
            revision = await store.leases.write(key, node(f"w{index}", beat).encoded(), revision)
            latencies.append(time.perf_counter() - started)

    await asyncio.gather(*(write(index) for index in range(writers)))
    return latencies


async def measure():
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        servers = Servers(folder)
        try:
            store = Store(servers.urls, "simulation", 3, 5.0, lambda *_: None)
            await store.open()
            latencies = await renewals(store, SECONDS / 2, 1)
            found["write p50 ms"] = statistics.median(latencies) * 1e3
            found["write p99 ms"] = sorted(latencies)[int(len(latencies) * 0.99)] * 1e3
            before, own = servers.cpu(), own_cpu()
            latencies = await renewals(store, SECONDS, 32)
            found["writes a second, R3, this machine"] = len(latencies) / SECONDS
            found["servers' CPU a write us"] = (servers.cpu() - before) / len(latencies) * 1e6
            found["agent's CPU a write us"] = (own_cpu() - own) / len(latencies) * 1e6
            # The same with watchers in this process: what each delivery costs more.
            watchers = [Store(servers.urls, "simulation", 3, 5.0, lambda *_: None) for _ in range(8)]
            for watcher in watchers:
                await watcher.open()
            tasks = [asyncio.create_task(watcher.follow()) for watcher in watchers]
            await asyncio.sleep(0.5)
            before, own = servers.cpu(), own_cpu()
            count = len(await renewals(store, SECONDS, 8))
            deliveries = count * len(watchers)
            found["servers' CPU a delivery us"] = max(
                0.0, (servers.cpu() - before) / count * 1e6 - found["servers' CPU a write us"]) / len(watchers)
            found["agent's CPU a delivery us"] = max(
                0.0, ((own_cpu() - own) / count * 1e6 - found["agent's CPU a write us"])) / len(watchers)
            found["deliveries"] = deliveries
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for each in (store, *watchers):
                await each.close()
        finally:
            servers.close()
    for nodes in (10, 100, 1000):
        found[f"reconcile of {nodes} nodes ms"] = await reconcile(nodes) * 1e3
    return found


async def reconcile(nodes):
    """The time of one round of an agent in a cell at rest."""
    agent = Agent(Settings("n0", [], "", "", "", "", "", cores=32.0))
    store = agent.store
    for index in range(nodes):
        store.leases._see(f"node.n{index}", node(f"n{index}").encoded(), index + 1)
    revision = nodes
    for index in range(nodes * ASSUMED["sessions a node"]):
        revision += 1
        wanted = Desired({"input": {"url": "rtsp://10.0.0.9/cam"}, "options": {"size": "360p"}})
        store.sessions._see(f"session.s{index}", wanted.encoded(), revision)
        store.leases._see(
            f"session.s{index}", Lease(f"n{index % nodes}", "0" * 32, 1, "held", revision).encoded(), revision)
    agent.membership.is_ready = True
    rounds = max(1, 300 // nodes)
    started = time.perf_counter()
    for _ in range(rounds):
        agent.membership.observer.wrote(agent._clock())
        await agent._reconcile()
    return (time.perf_counter() - started) / rounds


# What follows from it


def steady(nodes, inputs):
    """A cell at rest: renewals, and what they cost."""
    writes = nodes / PERIOD
    deliveries = writes * nodes
    servers = writes * inputs["servers' CPU a write us"] / 1e6 + deliveries * inputs["servers' CPU a delivery us"] / 1e6
    # Renewals don't wake an agent: at rest a round comes every lease / 20.
    rounds = 1 / (ASSUMED["lease s"] / 20)
    per_node = inputs["reconcile of 1000 nodes ms"] / 1000 / 1e3
    agent = deliveries / nodes * inputs["agent's CPU a delivery us"] / 1e6 + rounds * per_node * nodes
    return {"writes/s": writes, "deliveries/s": deliveries, "servers' cores": servers, "agent's cores": agent}


def costs(generator, count):
    """The mix of sessions: half 360p, a third 720p, a sixth a ladder from 1080p."""
    kinds = [cost_of({"options": options}) for options in (
        {"size": "360p"}, {"size": "720p"}, {"ladder": ["1080p", "720p", "360p"]})]
    return generator.choices(kinds, (3, 2, 1), k=count)


def fleet(generator, nodes, per_node):
    """Nodes whose cores fit their sessions at three quarters of the load."""
    need = sum(costs(generator, nodes * per_node)) / 0.75
    cores = generator.choices(ASSUMED["cores for sessions a node"], k=nodes)
    scale = need / sum(cores)
    return {f"n{index}": [value * scale, 0.0] for index, value in enumerate(cores)}


def balance(generator, cells, nodes, per_node):
    """Places all sessions of a region: by a hash to a cell, and there by the agents' rule. Returns the spread."""
    total = cells * nodes * per_node
    shares = [0] * cells
    for _ in range(total):
        shares[generator.randrange(cells)] += 1
    loads, refused, started = [], 0, time.perf_counter()
    for share in shares:
        machines = fleet(generator, nodes, per_node)
        cost = costs(generator, share)
        sessions = [(f"s{index}", value) for index, value in enumerate(cost)]
        found = assign(sessions, {name: tuple(value) for name, value in machines.items()})
        refused += len(sessions) - len(found)
        for index, value in enumerate(cost):
            if (name := found.get(f"s{index}")) is not None:
                machines[name][1] += value
        loads += [load / cores for cores, load in machines.values()]
    mean = statistics.fmean(loads)
    return {
        "sessions": total, "nodes": cells * nodes, "most loaded / mean": max(loads) / mean,
        "least loaded / mean": min(loads) / mean, "refused": refused, "seconds": time.perf_counter() - started}


def failure(generator, nodes, inputs, dead=1):
    """A cell in which nodes die at once: every agent sees records after a delay, and claims what it computes to be its
    own. Returns the writes, how many of them came too late, and the time until all sessions have an owner."""
    delay = ASSUMED["one-way delay between machines ms"] / 1e3
    rate = inputs["writes a second, R3, this machine"]
    machines = fleet(generator, nodes, ASSUMED["sessions a node"])
    names = sorted(machines)
    for name in names:
        machines[name][1] = machines[name][0] * 0.75
    victims, alive = names[:dead], names[dead:]
    orphans = dict(zip((f"s{index}" for index in range(dead * ASSUMED["sessions a node"])),
                       costs(generator, dead * ASSUMED["sessions a node"])))
    truth = {}
    views = {name: {} for name in alive}
    asked = {name: set() for name in alive}
    events, order = [], 0

    def at(moment, kind, *what):
        nonlocal order
        order += 1
        heapq.heappush(events, (moment, order, kind, what))

    # Agents notice the death within one round of each other; the first declaration reaches the others.
    first = min(generator.uniform(0, ASSUMED["lease s"] / 20) for _ in alive)
    write_time = inputs["write p50 ms"] / 1e3
    writes, late = 0, 0
    for victim in victims:
        writes += 1
    for name in alive:
        at(first + write_time + delay + generator.expovariate(1 / delay), "round", name)
    free_at, last = first, 0.0
    while events and len(truth) < len(orphans) or any(kind == "write" for *_, kind, _ in events):
        moment, _, kind, what = heapq.heappop(events)
        if kind == "round":
            name, = what
            view = views[name]
            loads = {each: list(machines[each]) for each in alive}
            for session, owner in view.items():
                loads[owner][1] += orphans[session]
            # Its own claims that aren't answered yet count as its load.
            for session in asked[name] - set(view):
                loads[name][1] += orphans[session]
            left = [(session, cost) for session, cost in orphans.items() if session not in view]
            turn = int(max(0.0, moment - first) / (ASSUMED["lease s"] / 4))
            for session, owner in assign(left, {each: tuple(value) for each, value in loads.items()}, turn).items():
                if owner == name and session not in asked[name]:
                    asked[name].add(session)
                    free_at = max(free_at, moment + delay) + 1 / rate
                    at(free_at + write_time, "write", name, session)
            if left:
                at(moment + ASSUMED["lease s"] / 100 + generator.uniform(0, 0.005), "round", name)
        elif kind == "write":
            name, session = what
            writes += 1
            if session in truth:
                late += 1
            else:
                truth[session] = name
                last = moment
                for other in alive:
                    at(moment + delay + generator.expovariate(1 / delay), "see", other, session, name)
        else:
            other, session, name = what
            views[other][session] = name
    for session, name in truth.items():
        machines[name][1] += orphans[session]
    loads = [machines[name][1] / machines[name][0] for name in alive]
    return {
        "orphans": len(orphans), "writes": writes, "too late": late, "s to owners": last,
        "most loaded / mean": max(loads) / statistics.fmean(loads), "left": len(orphans) - len(truth)}


def show(title, rows):
    print(f"\n{title}\n{table(rows)}")


def main():
    inputs = asyncio.run(measure())
    print(json.dumps({"measured": {name: round(value, 3) for name, value in inputs.items()}, "assumed": ASSUMED}))
    generator = random.Random(7)
    sizes = (10, 30, 100, 300, 1000, 10_000)
    limit = inputs["writes a second, R3, this machine"]
    show("A cell at rest, by nodes (100 sessions each)", [
        {"nodes": size, "sessions": size * 100, **steady(size, inputs), "of measured writes": size / PERIOD / limit}
        for size in sizes])
    show("Nodes that die at once, in a cell", [
        {"nodes": size, "dead": dead, **failure(generator, size, inputs, dead)}
        for size, dead in ((10, 1), (30, 1), (100, 1), (100, 5), (300, 3))])
    regions = [balance(generator, cells, nodes, 100) for cells, nodes in ((1, 100), (10, 100), (100, 100), (1, 10_000))]
    for row, name in zip(regions, ("1 cell of 100", "10 cells of 100", "100 cells of 100", "1 cell of 10 000")):
        row["cells"] = name
    show("Placement of a region", regions)
    bad = [row for row in regions if row["most loaded / mean"] > 1.25]
    if bad or any(failure(generator, 30, inputs)["left"] for _ in range(5)):
        raise SystemExit("cluster_simulation: the placement is not balanced, or sessions have no owner")


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
