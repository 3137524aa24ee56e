"""The agent of one node: bids for sessions, holds their leases, and drives the `upright serve` beside it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import aiohttp

from ._ledger import Ledger, is_free
from ._membership import Membership
from ._placement import assign, cost_of
from ._records import Desired, Lease, Node, check_name, key_of
from ._service import FAILURES, Service
from ._settings import Settings
from ._store import Conflict, Store, Unavailable, stop
from ._view import View

_log = logging.getLogger("upright.cluster")


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
        self._clock = clock
        self.running: dict[str, Running] = {}
        self._cpu = 0.0
        self._wake = asyncio.Event()
        self._draining = asyncio.Event()
        self._free_since: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._busy: set[str] = set()
        self._http: aiohttp.ClientSession
        self.service: Service
        self.store = Store(
            settings.nats, settings.cluster, settings.replicas, settings.lease / 6, self._note, settings.nats_options)
        self.view = View(self.store)
        self.ledger = Ledger(self.store.leases.all("node"), self.view.leases, self.view.desired)
        self.membership = Membership(settings, self.store, self, clock)

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
                await self.membership.join(self.service, self._http)
                ready()
                loops += [
                    asyncio.create_task(body())
                    for body in (self.membership.renew_for_ever, self._reconcile_for_ever, self._look)]
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

    def overview(self) -> dict[str, Any]:
        """The body of `GET /v1/cluster`."""
        writes = self.membership.observer.is_healthy(self._clock())
        return {
            "cluster": self.settings.cluster, "agent": self.settings.name,
            "nats": {"server": self.store.server, "writes": writes}, **self.view.overview()}

    # What the membership needs

    @property
    def load(self) -> float:
        """The cores that this node's sessions use: what they were declared to, or what is measured if that is more."""
        return max(self._cpu, sum(session.cost for session in self.running.values()))

    async def lose_all(self) -> None:
        """Ends all sessions here: others run them."""
        names = list(self.running)
        self.running.clear()
        await asyncio.gather(*(self._end(name, continues=True) for name in names))

    def lose_service(self) -> None:
        """Gives up the sessions: the service has ended them."""
        for name, mine in list(self.running.items()):
            if name not in self._busy:
                self._spawn(name, self._release(name, mine, "released"))

    def end_others(self, epochs: dict[str, int]) -> None:
        """Ends those of the service's sessions that aren't this node's any more."""
        for name, epoch in epochs.items():
            mine = self.running.get(name)
            if (mine is None or mine.lease.epoch != epoch) and name not in self._busy:
                self._spawn(name, self._end(name, continues=True))

    def wake(self) -> None:
        """Looks at once whether there are sessions to take or to give up."""
        self._wake.set()

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
            self._check(name, mine, self.view.leases.get(name), self.view.desired.get(name))
        node = self.membership
        if node.state == "up" and node.is_ready and node.observer.is_healthy(self._clock()):
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
                self.membership.observer.forget(name)
                continue
            if not self.membership.observer.is_dead(name, revision, now):
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
        run = (self.membership.id, mine.lease.epoch)
        if found is not None and found[1] > mine.revision and (found[0].id, found[0].epoch) != run:
            # Another node has it.
            if mine.lease.state != "offered":
                del self.running[name]
                self._spawn(name, self._end(name, continues=True))
            return
        if self.membership.state != "up":
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
            failures = self.view.leases[name][0].failures if name in self.view.leases else 0
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
                    wanted, request = self.view.desired[name]
                    self._spawn(name, self._take(name, wanted, request, self.view.leases.get(name)))

    async def _take(
        self, name: str, wanted: Desired, request: int, found: tuple[Lease, int] | None,
    ) -> bool:
        """Takes the lease of a session that is free, and starts it. Returns whether this node runs it now."""
        before, revision = found if found is not None else (None, 0)
        lease = Lease(
            self.settings.name, self.membership.id, (before.epoch if before is not None else 0) + 1, "held", request,
            before.failures if before is not None and before.request == request else 0)
        cost = wanted.cost if wanted.cost is not None else cost_of(wanted.session)
        try:
            revision = await self.store.leases.write(key_of("session", name), lease.encoded(), revision)
        except (Conflict, Unavailable):
            # Another node was first. A lease that was taken without an answer isn't used: it is released below.
            return await self._disown(name, lease)
        if lease.id != self.membership.id:
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
        desired = self.view.desired.get(name)
        publisher = desired[0].publisher if desired is not None else None
        if state == "ended" and reason == "the input ended" and publisher is None:
            self._spawn(name, self._release(name, mine, "done", continues=False))
        else:
            self._spawn(name, self._release(name, mine, "released", continues=True, has_failed=publisher is None))

    def _give_up_stale(self) -> None:
        """Releases leases of this run that it doesn't use: their release couldn't be written."""
        for name in self.ledger.owned.get(self.settings.name, set()) - set(self.running) - self._busy:
            lease, revision = self.view.leases[name]
            if lease.id == self.membership.id:
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
             for name, (wanted, request) in self.view.desired.items()
             if wanted.publisher is not None and wanted.publisher["path"] == path and wanted.publisher["key"] == key),
            None)
        if found is None or self.membership.state != "up":
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
                found = self.view.leases.get(name)
                if is_free(found[0] if found is not None else None, -1, self.store.leases.all("node")):
                    if await self._take(name, wanted, request, found):
                        return True
                elif (owner := self.view.owner(name)) is not None and owner.name != self.settings.name:
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
                f"{owner.agent}/v1/cluster/sessions/{name}/yield", headers=self.settings.headers,
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
        self.membership.state = "draining"
        await self.membership.renew()
        while self._busy & set(self.running):
            await asyncio.sleep(0.05)
        desired = self.view.desired
        end = self._clock() + self.settings.drain
        await asyncio.gather(*(
            self._hand_over(name, mine, desired[name][0] if name in desired else None, end)
            for name, mine in list(self.running.items())))
        self.membership.state = "gone"
        with contextlib.suppress(Conflict, Unavailable):
            await self.membership.write()

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
