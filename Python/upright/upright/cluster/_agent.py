"""The agent of one node: bids for sessions, holds their leases, and drives the `upright serve` beside it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import aiohttp

from ._fence import Fence, Observer
from ._ledger import Ledger, is_free
from ._placement import assign, cost_of
from ._records import Desired, Lease, Node, check_name, key_of
from ._service import Refused, Service
from ._store import Conflict, Store, Unavailable, stop

_log = logging.getLogger("upright.cluster")
#: What a request to another program can raise.
FAILURES = (OSError, asyncio.TimeoutError, aiohttp.ClientError, Refused)


class NameTaken(Exception):
    """Another agent has this name, and is alive."""


@dataclass
class Settings:
    """What an agent is told."""

    #: The name of the node, unique in the cluster.
    name: str
    nats: list[str]
    #: The `upright serve` beside the agent, and its admin token.
    serve: str
    token: str
    #: What agents and clients of `/v1/cluster` show each other.
    cluster_token: str
    #: Where other agents reach this one, and clients its service.
    agent_url: str
    public_url: str
    cluster: str = "main"
    #: The number of NATS servers that keep each bucket.
    replicas: int = 1
    #: A node is dead after this time without a renewal, in seconds.
    lease: float = 2.0
    #: The cores that sessions may use.
    cores: float = 1.0
    #: The secret of the service's publish hook; `None` for no hook.
    hook_secret: str | None = None
    #: The longest drain, in seconds.
    drain: float = 30.0
    #: Further arguments for the connection to NATS: credentials, TLS.
    nats_options: dict[str, Any] = field(default_factory=dict)


@dataclass
class Running:
    """A session that this node owns."""

    lease: Lease
    revision: int
    cost: float
    #: From when on its service should have it; `None` before it is started.
    expected: float | None = None


class Agent:
    """One run of an agent. `run` returns after a drain, and raises `NameTaken`."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        check_name(settings.name)
        self.settings = settings
        self.id = uuid.uuid4().hex
        self._clock = clock
        # The service needs time to end its sessions.
        self.fence = Fence(settings.lease, settings.lease / 4)
        self.observer = Observer(settings.lease, settings.lease / 20)
        self.running: dict[str, Running] = {}
        self.state = "up"
        self._beat = 0
        self._revision = 0
        self._cpu = 0.0
        self._is_ready = False
        self._last_contact = clock()
        self._write_began: float | None = None
        self._renewing = asyncio.Lock()
        self._wake = asyncio.Event()
        self._draining = asyncio.Event()
        self._free_since: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._busy: set[str] = set()
        self._http: aiohttp.ClientSession
        self.service: Service
        self.store = Store(
            settings.nats, settings.cluster, settings.replicas, settings.lease / 6, self._note, settings.nats_options)
        self.ledger = Ledger(
            self.store.leases.all("node"), self.store.leases.all("session"), self.store.sessions.all("session"))

    def _note(self, kind: str, name: str) -> None:
        """A record is another one."""
        if kind == "session":
            self.ledger.session_changed(name)
        elif not self.ledger.node_changed(name):
            # A renewal wakes nobody.
            return
        self._wake.set()

    # The life of the agent

    async def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Runs until `drain`, or until the task is cancelled, which ends its sessions with their lease."""
        async with aiohttp.ClientSession() as self._http:
            self.service = Service(self.settings.serve, self.settings.token, self._http)
            loops: list[asyncio.Task[None]] = []
            try:
                await self.store.open()
                loops = [asyncio.create_task(self.store.follow())]
                await self._join()
                ready()
                loops += [
                    asyncio.create_task(body()) for body in (self._renew_for_ever, self._reconcile_for_ever, self._look)]
                drained = asyncio.create_task(self._drain())
                loops.append(drained)
                done, _ = await asyncio.wait(loops, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    task.result()
            finally:
                await stop([*loops, *self._tasks])
                await self.store.close()

    def drain(self) -> None:
        """Hands all sessions over, then ends `run`."""
        self._draining.set()

    async def _join(self) -> None:
        """Makes this node's record, once no other agent renews one of its name."""
        key = key_of("node", self.settings.name)
        seen: tuple[int, float] | None = None
        while True:
            try:
                node, revision = await self.store.leases.read(key)
            except Unavailable as error:
                # What was seen before says nothing about the time between.
                seen = None
                _log.warning("can't join yet: NATS: %s", error)
                await asyncio.sleep(0.2)
                continue
            now = self._clock()
            if node is not None and node.is_alive:
                if seen is None:
                    seen = (revision, now)
                elif seen[0] != revision:
                    raise NameTaken(f"another agent has the name {self.settings.name}: {node.agent}")
                if now - seen[1] < self.settings.lease + self.observer.guard:
                    await asyncio.sleep(self.settings.lease / 10)
                    continue
            # What an earlier run of this agent has left running ends now.
            with contextlib.suppress(*FAILURES):
                await self.service.renew(0.1, 1)
            sent = self._clock()
            try:
                self._revision = await self.store.leases.write(key, self._node().encoded(), revision)
            except Conflict:
                raise NameTaken(f"another agent has just taken the name {self.settings.name}") from None
            except Unavailable as error:
                seen = None
                _log.warning("can't join yet: NATS: %s", error)
                continue
            self.fence.renewed(sent)
            self.observer.wrote(sent)
            await self._renew_service()
            # Now with the cores of a service that is there.
            await self._renew()
            _log.info("%s has joined the cluster %s", self.settings.name, self.settings.cluster)
            return

    def _node(self) -> Node:
        return Node(
            self.settings.name, self.id, self.settings.agent_url, self.settings.public_url, self.state,
            self.settings.cores if self._is_ready else 0.0, round(self.load, 4), self._beat)

    @property
    def load(self) -> float:
        """The cores that this node's sessions use: what they were declared to, or what is measured if that is more."""
        return max(self._cpu, sum(session.cost for session in self.running.values()))

    # The node's lease

    async def _renew_for_ever(self) -> None:
        period = self.settings.lease / 5
        while True:
            started = self._clock()
            await self._renew()
            await asyncio.sleep(max(0.01, period - (self._clock() - started)))

    async def _renew(self) -> None:
        async with self._renewing:
            self._beat += 1
            self._write_began = sent = self._clock()
            try:
                await self._write_node()
            except (Unavailable, Conflict):
                self.observer.failed()
                # No one can take over while NATS takes no writes from anyone. All that may must say so.
                sent = self._clock()
                if await self._is_nats_gone():
                    self.fence.renewed(sent)
            else:
                self.fence.renewed(sent)
                self.observer.wrote(sent)
            finally:
                self._write_began = None
            await self._renew_service()

    @property
    def has_nats(self) -> bool:
        """Whether NATS takes this agent's writes. After a `False` it takes at least a lease's time until this agent
        declares a node dead."""
        if self._write_began is not None and self._clock() - self._write_began > self.settings.lease / 10:
            self.observer.failed()
        return self.observer.healthy_since is not None

    async def _write_node(self) -> None:
        key = key_of("node", self.settings.name)
        try:
            self._revision = await self.store.leases.write(key, self._node().encoded(), self._revision)
            return
        except Conflict:
            node, revision = await self.store.leases.read(key)
        if node is not None and node.is_alive and node.id != self.id:
            await self._lose_all()
            raise NameTaken(f"another agent has taken the name {self.settings.name}: {node.agent}")
        # It is this agent's if the answer to a write was lost. There is none if NATS has lost its store.
        if node is not None and not node.is_alive:
            _log.warning("%s was declared dead; joining again", self.settings.name)
            await self._lose_all()
            self.id = uuid.uuid4().hex
        self._revision = await self.store.leases.write(key, self._node().encoded(), revision)

    async def _lose_all(self) -> None:
        """Ends all sessions here: others run them."""
        names = list(self.running)
        self.running.clear()
        self.fence.deadline = float("-inf")
        await asyncio.gather(*(self._end(name, continues=True) for name in names))

    async def _renew_service(self) -> None:
        """Tells the service how long it may go on. It ends by itself when this agent doesn't."""
        left = self.fence.remaining(self._clock())
        was_ready, self._is_ready = self._is_ready, False
        if left >= 0.1:
            try:
                epochs = await self.service.renew(min(left, 60), self.settings.lease / 4)
            except FAILURES as error:
                if was_ready:
                    _log.warning("the service doesn't answer: %s", error or type(error).__name__)
                self._lose_service(_is_refused(error))
                return
            self._is_ready, self._last_contact = True, self._clock()
            # Sessions that are no longer this node's.
            for name, epoch in epochs.items():
                mine = self.running.get(name)
                if (mine is None or mine.lease.epoch != epoch) and name not in self._busy:
                    self._spawn(name, self._end(name, continues=True))
        if not was_ready:
            self._wake.set()

    def _lose_service(self, is_gone: bool) -> None:
        """Gives up the sessions of a service that has ended, or that has ended them because it wasn't reached."""
        if not is_gone and self._clock() - self._last_contact < self.settings.lease:
            return
        for name, mine in list(self.running.items()):
            if name not in self._busy:
                self._spawn(name, self._release(name, mine, "released"))

    async def _is_nats_gone(self) -> bool:
        """Whether every other agent is here to say that NATS takes no writes from it either.

        One that refuses the connection isn't running. One that doesn't answer may be able to write.
        """
        others = [node for node in self._nodes().values() if node.is_alive and node.name != self.settings.name]
        return all(await asyncio.gather(*(self._has_no_nats(node) for node in others)))

    async def _has_no_nats(self, node: Node) -> bool:
        try:
            async with self._http.get(
                f"{node.agent}/v1/cluster/pulse", headers=self.headers,
                timeout=aiohttp.ClientTimeout(self.settings.lease / 6),
            ) as answer:
                return bool((await answer.json())["nats"] is False)
        except (*FAILURES, ValueError, KeyError, TypeError) as error:
            return _is_refused(error)

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.settings.cluster_token}"}

    # What the cluster has

    def _nodes(self) -> dict[str, Node]:
        return {name: node for name, (node, _) in self.store.leases.all("node").items()}

    @property
    def _leases(self) -> dict[str, tuple[Lease, int]]:
        return self.store.leases.all("session")

    @property
    def _desired(self) -> dict[str, tuple[Desired, int]]:
        return self.store.sessions.all("session")

    def overview(self) -> dict[str, Any]:
        """The body of `GET /v1/cluster`."""
        nodes = self._nodes()
        leases, desired = self._leases, self._desired
        sessions = []
        for name in sorted(set(desired) | {name for name, (lease, _) in leases.items() if lease.state == "held"}):
            lease = leases[name][0] if name in leases else None
            owner = nodes.get(lease.owner) if lease is not None else None
            is_owned = lease is not None and lease.state in ("held", "offered") and owner is not None \
                and owner.is_alive and owner.id == lease.id
            sessions.append({
                "name": name, "owner": lease.owner if lease is not None and is_owned else None,
                "epoch": lease.epoch if lease is not None else 0,
                "state": lease.state if lease is not None and (is_owned or lease.state == "done") else "waiting"})
        return {
            "cluster": self.settings.cluster, "agent": self.settings.name,
            "nats": {"server": self.store.server, "writes": self.observer.is_healthy(self._clock())},
            "nodes": [
                {"name": node.name, "state": node.state, "cores": node.cores, "load": node.load, "serve": node.serve,
                 "sessions": sum(session["owner"] == node.name for session in sessions)}
                for node in sorted(nodes.values(), key=lambda node: node.name)],
            "sessions": sessions}

    def owner(self, name: str) -> Node | None:
        """The node that runs a session."""
        found = self._leases.get(name)
        if found is None or found[0].state not in ("held", "offered"):
            return None
        node = self._nodes().get(found[0].owner)
        return node if node is not None and node.is_alive and node.id == found[0].id else None

    # Taking and giving up sessions

    async def _reconcile_for_ever(self) -> None:
        while True:
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._wake.wait(), self.settings.lease / 20)
            self._wake.clear()
            await self._reconcile()
            # Many records may change at a time.
            await asyncio.sleep(self.settings.lease / 100)

    async def _reconcile(self) -> None:
        await self._bury()
        for name, mine in list(self.running.items()):
            self._check(name, mine, self._leases.get(name), self._desired.get(name))
        if self.state == "up" and self._is_ready and self.observer.is_healthy(self._clock()):
            self._bid()

    async def _bury(self) -> None:
        """Declares nodes dead whose leases have lapsed, and those that own sessions and have no record."""
        now = self._clock()
        nodes = dict(self.store.leases.all("node"))
        for owner in self.ledger.owned:
            if owner not in nodes:
                nodes[owner] = (Node(owner, "", "", "", "up", 0, 0), 0)
        for name, (node, revision) in nodes.items():
            if name == self.settings.name:
                continue
            if not node.is_alive:
                self.observer.forget(name)
                continue
            if not self.observer.is_dead(name, revision, now):
                continue
            with contextlib.suppress(Conflict, Unavailable):
                await self.store.leases.write(key_of("node", name), replace(node, state="dead").encoded(), revision)
                _log.warning("%s is dead: not renewed for %.1f s", name, self.settings.lease)

    def _check(
        self, name: str, mine: Running, found: tuple[Lease, int] | None, desired: tuple[Desired, int] | None,
    ) -> None:
        """Ends a session of this node that is another's now, or isn't wanted any more, or not so."""
        if name in self._busy:
            return
        if found is not None and found[1] > mine.revision and (found[0].id, found[0].epoch) != (self.id, mine.lease.epoch):
            # Another node has it.
            if mine.lease.state != "offered":
                del self.running[name]
                self._spawn(name, self._end(name, continues=True))
            return
        if self.state != "up":
            return
        if desired is None:
            self._spawn(name, self._end_unwanted(name, mine))
        elif desired[1] != mine.lease.request and desired[0].publisher is None:
            self._spawn(name, self._release(name, mine, "released", continues=True))

    async def _end_unwanted(self, name: str, mine: Running) -> None:
        """Ends a session whose request was removed. A request that was never there is a NATS that has lost its store."""
        with contextlib.suppress(Unavailable):
            wanted, revision = await self.store.sessions.read(key_of("session", name))
            if wanted is None and revision > 0:
                await self._release(name, mine, "released", continues=False)

    def _bid(self) -> None:
        """Takes the free sessions that this node is the best for."""
        for name in set(self._free_since) - set(self.ledger.free):
            del self._free_since[name]
        if not self.ledger.free:
            return
        now, nodes, loads = self._clock(), self.store.leases.all("node"), self.ledger.loads
        free: dict[int, list[tuple[str, float]]] = {}
        for name, cost in self.ledger.free.items():
            since = self._free_since.setdefault(name, now)
            # One that fails everywhere isn't tried all the time.
            failures = self._leases[name][0].failures if name in self._leases else 0
            waited = now - since - (min(30.0, 0.5 * 2 ** min(failures, 6)) if failures else 0.0)
            if waited >= 0:
                turns = int(waited / (self.settings.lease / 4)) + failures
                free.setdefault(turns % max(1, len(nodes)), []).append((name, cost))
        able = {
            name: (node.cores, max(node.load, loads.get(name, 0.0)))
            for name, (node, _) in nodes.items() if node.state == "up"}
        able[self.settings.name] = (self.settings.cores, max(self.load, loads.get(self.settings.name, 0.0)))
        # A session that its best node hasn't taken for a while, or couldn't start, is the next one's.
        for turn, sessions in sorted(free.items()):
            for name, node in assign(sessions, able, turn).items():
                if node == self.settings.name and name not in self._busy and name not in self.running:
                    wanted, request = self._desired[name]
                    self._spawn(name, self._take(name, wanted, request, self._leases.get(name)))

    async def _take(
        self, name: str, wanted: Desired, request: int, found: tuple[Lease, int] | None,
    ) -> bool:
        """Takes the lease of a session that is free, and starts it. Returns whether this node runs it now."""
        before, revision = found if found is not None else (None, 0)
        lease = Lease(
            self.settings.name, self.id, (before.epoch if before is not None else 0) + 1, "held", request,
            before.failures if before is not None and before.request == request else 0)
        cost = wanted.cost if wanted.cost is not None else cost_of(wanted.session)
        try:
            revision = await self.store.leases.write(key_of("session", name), lease.encoded(), revision)
        except (Conflict, Unavailable):
            # Another node was first. A lease that was taken without an answer isn't used: it is released below.
            return await self._disown(name, lease)
        if lease.id != self.id:
            # This node was declared dead in the meantime.
            return await self._disown(name, lease)
        self._free_since.pop(name, None)
        mine = self.running[name] = Running(lease, revision, cost)
        if wanted.publisher is not None:
            # Its publisher starts it.
            return True
        return await self._start(name, mine, wanted)

    async def _disown(self, name: str, lease: Lease) -> bool:
        """Releases a lease that may have been taken."""
        with contextlib.suppress(Conflict, Unavailable):
            found, revision = await self.store.leases.read(key_of("session", name))
            if found == lease:
                await self.store.leases.write(
                    key_of("session", name), replace(lease, state="released").encoded(), revision)
        return False

    async def _start(self, name: str, mine: Running, wanted: Desired) -> bool:
        try:
            await self.service.stop(name, continues=True)
            await self.service.start(name, mine.lease.epoch, wanted.session)
        except FAILURES as error:
            _log.warning("session %s, epoch %d: %s", name, mine.lease.epoch, error or type(error).__name__)
            await self._release(name, mine, "released", continues=True, has_failed=True)
            return False
        mine.expected = self._clock()
        _log.info("session %s, epoch %d: started", name, mine.lease.epoch)
        return True

    async def _release(
        self, name: str, mine: Running, state: str, continues: bool | None = None, has_failed: bool = False,
    ) -> None:
        """Ends a session, and then gives up its lease. `continues` is `None` for one that has ended with its service."""
        if continues is not None:
            await self._end(name, continues)
        self.running.pop(name, None)
        lease = replace(mine.lease, state=state, failures=mine.lease.failures + 1 if has_failed else 0)
        with contextlib.suppress(Conflict, Unavailable):
            # If it can't be given up, it is this node's until it is declared dead: `_look` tries again.
            await self.store.leases.write(key_of("session", name), lease.encoded(), mine.revision)

    async def _end(self, name: str, continues: bool) -> None:
        # A service that doesn't answer ends its sessions with its lease.
        with contextlib.suppress(*FAILURES):
            await self.service.stop(name, continues)

    def _spawn(self, name: str, body: Any) -> None:
        """Runs a change of a session. One at a time for each."""
        self._busy.add(name)
        task = asyncio.create_task(body)
        self._tasks.add(task)

        def done(task: asyncio.Task[Any]) -> None:
            self._tasks.discard(task)
            self._busy.discard(name)
            self._wake.set()
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.error("session %s: %r", name, error)

        task.add_done_callback(done)

    # The sessions of the service

    async def _look(self) -> None:
        """Looks at the service's sessions: those that have ended, and what they cost."""
        last: tuple[float, float] | None = None
        while True:
            await asyncio.sleep(self.settings.lease / 4)
            asked = self._clock()
            try:
                states = await self.service.states()
                now, used = self._clock(), await self.service.cpu_seconds()
            except (*FAILURES, ValueError, KeyError, TypeError):
                last = None
                continue
            if last is not None and used >= last[1] and now > last[0]:
                # The mean of about the last two seconds.
                self._cpu += ((used - last[1]) / (now - last[0]) - self._cpu) * min(1.0, (now - last[0]) / 2)
            last = (now, used)
            for name, mine in list(self.running.items()):
                if mine.expected is not None and mine.expected < asked and name not in self._busy:
                    self._judge(name, mine, states.get(name))
            self._give_up_stale()

    def _judge(self, name: str, mine: Running, found: tuple[str, str, int] | None) -> None:
        state, reason, epoch = found or ("failed", "the service has lost it", mine.lease.epoch)
        if state not in ("ended", "failed") or epoch != mine.lease.epoch or mine.lease.state == "offered":
            if state == "live" and mine.lease.failures:
                mine.lease = replace(mine.lease, failures=0)
            return
        _log.info("session %s, epoch %d: %s: %s", name, epoch, state, reason)
        desired = self._desired.get(name)
        publisher = desired[0].publisher if desired is not None else None
        if state == "ended" and reason == "the input ended" and publisher is None:
            self._spawn(name, self._release(name, mine, "done", continues=False))
        else:
            self._spawn(name, self._release(name, mine, "released", continues=True, has_failed=publisher is None))

    def _give_up_stale(self) -> None:
        """Releases leases of this run that it doesn't use: their release couldn't be written."""
        for name in self.ledger.owned.get(self.settings.name, set()) - set(self.running) - self._busy:
            lease, revision = self._leases[name]
            if lease.id == self.id:
                self._spawn(name, self._abandon(name, lease, revision))

    async def _abandon(self, name: str, lease: Lease, revision: int) -> None:
        with contextlib.suppress(Conflict, Unavailable):
            await self.store.leases.write(
                key_of("session", name), replace(lease, state="released").encoded(), revision)

    # Publishers

    async def admit(self, path: str, key: str) -> dict[str, Any] | None:
        """Claims the session of a publisher that has connected to this node's service.

        Returns the members that its session has; `None` if the publisher isn't let in.
        """
        found = next(
            ((name, wanted, request)
             for name, (wanted, request) in self._desired.items()
             if wanted.publisher is not None and wanted.publisher["path"] == path and wanted.publisher["key"] == key),
            None)
        if found is None or self.state != "up":
            return None
        name, wanted, request = found
        while name in self._busy:
            await asyncio.sleep(0.05)
        mine = self.running.get(name)
        if mine is None:
            if not await self._claim(name, wanted, request):
                return None
            mine = self.running[name]
            # The service makes it once it has this answer.
            mine.expected = self._clock() + 5
        return {**wanted.session, "name": name, "epoch": mine.lease.epoch}

    async def _claim(self, name: str, wanted: Desired, request: int) -> bool:
        """Takes a publisher's session from whichever node has it, unless that one has a publisher."""
        end = self._clock() + 2 * self.settings.lease + 1
        self._busy.add(name)
        try:
            while self._clock() < end:
                found = self._leases.get(name)
                if is_free(found[0] if found is not None else None, -1, self.store.leases.all("node")):
                    if await self._take(name, wanted, request, found):
                        return True
                elif (owner := self.owner(name)) is not None and owner.name != self.settings.name:
                    if await self._ask_to_yield(owner, name) is False:
                        return False
                await asyncio.sleep(0.1)
            return False
        finally:
            self._busy.discard(name)

    async def _ask_to_yield(self, owner: Node, name: str) -> bool | None:
        """Whether another node has given up a session; `None` if it doesn't answer."""
        try:
            async with self._http.post(
                f"{owner.agent}/v1/cluster/sessions/{name}/yield", headers=self.headers,
                timeout=aiohttp.ClientTimeout(2),
            ) as answer:
                return answer.status == 204
        except FAILURES:
            return None

    async def give_way(self, name: str) -> bool:
        """Gives up a session whose publisher has left, for another node that has it. Returns whether it did."""
        mine = self.running.get(name)
        if mine is None:
            return True
        try:
            state = (await self.service.states()).get(name, ("ended", "", 0))[0]
        except FAILURES:
            return False
        if state == "live" or name in self._busy:
            return False
        self._busy.add(name)
        try:
            await self._release(name, mine, "released", continues=True)
        finally:
            self._busy.discard(name)
        return True

    # The end

    async def _drain(self) -> None:
        await self._draining.wait()
        _log.info("draining %d sessions", len(self.running))
        self.state = "draining"
        await self._renew()
        while self._busy & set(self.running):
            await asyncio.sleep(0.05)
        desired = self._desired
        end = self._clock() + self.settings.drain
        await asyncio.gather(*(
            self._hand_over(name, mine, desired[name][0] if name in desired else None, end)
            for name, mine in list(self.running.items())))
        self.state = "gone"
        with contextlib.suppress(Conflict, Unavailable):
            await self._write_node()

    async def _hand_over(self, name: str, mine: Running, wanted: Desired | None, end: float) -> None:
        """Gives a session to another node, which publishes before this one ends."""
        if wanted is None or wanted.publisher is not None or not wanted.can_overlap:
            return await self._release(name, mine, "released", continues=True)
        offered = replace(mine.lease, state="offered")
        try:
            mine.revision = await self.store.leases.write(key_of("session", name), offered.encoded(), mine.revision)
        except (Conflict, Unavailable):
            return await self._release(name, mine, "released", continues=True)
        mine.lease = offered
        while self._clock() < end:
            await asyncio.sleep(0.1)
            with contextlib.suppress(*FAILURES):
                # The next owner's first playlist ends this one's output.
                if (await self.service.states()).get(name, ("ended", "", 0))[0] in ("ended", "failed"):
                    break
        await self._release(name, mine, "released", continues=True)


def _is_refused(error: BaseException) -> bool:
    """Whether nobody listens at an address of a machine that is there."""
    return isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, ConnectionRefusedError)
