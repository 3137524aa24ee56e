"""This node in the cluster: its record, and how long its service may run."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import uuid
from collections.abc import Callable
from typing import Protocol

import aiohttp

from ._fence import Fence, Observer
from ._records import Node, key_of
from ._service import FAILURES, Service, is_refused
from ._settings import Settings
from ._store import Conflict, Store, Unavailable
from ._view import View

_log = logging.getLogger("upright.cluster")


class NameTaken(Exception):
    """Another agent has this name, and is alive."""


class Sessions(Protocol):
    """What the membership needs of the node's sessions."""

    @property
    def load(self) -> float:
        """The cores that they use."""

    async def lose_all(self) -> None:
        """Ends all sessions here: others run them."""

    def lose_service(self) -> None:
        """Gives up the sessions: the service has ended them."""

    def end_others(self, epochs: dict[str, int]) -> None:
        """Ends those of the service's sessions that aren't this node's any more."""

    def wake(self) -> None:
        """The service answers again."""


class Membership:
    """The record of a node, which is renewed all the time, and the lease of its service."""

    def __init__(
        self, settings: Settings, store: Store, sessions: Sessions, clock: Callable[[], float],
    ) -> None:
        self.settings = settings
        #: Another one after the node was declared dead.
        self.id = uuid.uuid4().hex
        self.state = "up"
        #: Whether the service answers.
        self.is_ready = False
        # The service needs time to end its sessions.
        self.fence = Fence(settings.lease, settings.lease / 4)
        self.observer = Observer(settings.lease, settings.lease / 20)
        self._store = store
        self._view = View(store)
        self._sessions = sessions
        self._clock = clock
        self._service: Service
        self._http: aiohttp.ClientSession
        self._beat = 0
        self._revision = 0
        self._last_contact = clock()
        self._write_began: float | None = None
        self._renewing = asyncio.Lock()

    async def join(self, service: Service, http: aiohttp.ClientSession) -> None:
        """Makes this node's record, once no other agent renews one of its name.

        Raises `NameTaken` if one does.
        """
        self._service, self._http = service, http
        key = key_of("node", self.settings.name)
        seen: tuple[int, float] | None = None
        while True:
            try:
                node, revision = await self._store.leases.read(key)
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
                await self._service.renew(0.1, 1)
            sent = self._clock()
            try:
                self._revision = await self._store.leases.write(key, self._node().encoded(), revision)
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
            await self.renew()
            _log.info("%s has joined the cluster %s", self.settings.name, self.settings.cluster)
            return

    def _node(self) -> Node:
        return Node(
            self.settings.name, self.id, self.settings.agent_url, self.settings.public_url, self.state,
            self.settings.cores if self.is_ready else 0.0, round(self._sessions.load, 4), self._beat)

    async def renew_for_ever(self) -> None:
        """Renews the record until it is cancelled. Raises `NameTaken` if another agent has taken the name."""
        period = self.settings.lease / 5
        while True:
            started = self._clock()
            await self.renew()
            await asyncio.sleep(max(0.01, period - (self._clock() - started)))

    async def renew(self) -> None:
        """Renews the record, and the service's lease by what the record allows."""
        async with self._renewing:
            self._beat += 1
            self._write_began = sent = self._clock()
            try:
                await self.write()
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

    async def write(self) -> None:
        """Writes the record.

        Raises `Unavailable` or `Conflict` if that fails, and `NameTaken` if another agent has the name.
        """
        key = key_of("node", self.settings.name)
        try:
            self._revision = await self._store.leases.write(key, self._node().encoded(), self._revision)
            return
        except Conflict:
            node, revision = await self._store.leases.read(key)
        if node is not None and node.is_alive and node.id != self.id:
            await self._lose_all()
            raise NameTaken(f"another agent has taken the name {self.settings.name}: {node.agent}")
        # It is this agent's if the answer to a write was lost. There is none if NATS has lost its store.
        if node is not None and not node.is_alive:
            _log.warning("%s was declared dead; joining again", self.settings.name)
            await self._lose_all()
            self.id = uuid.uuid4().hex
        self._revision = await self._store.leases.write(key, self._node().encoded(), revision)

    async def _lose_all(self) -> None:
        self.fence.deadline = float("-inf")
        await self._sessions.lose_all()

    async def _renew_service(self) -> None:
        """Tells the service how long it may go on. It ends by itself when this agent doesn't."""
        left = self.fence.remaining(self._clock())
        was_ready, self.is_ready = self.is_ready, False
        if left >= 0.1:
            try:
                epochs = await self._service.renew(min(left, 60), self.settings.lease / 4)
            except FAILURES as error:
                if was_ready:
                    _log.warning("the service doesn't answer: %s", error or type(error).__name__)
                # It has ended, or has ended its sessions because it wasn't reached.
                if is_refused(error) or self._clock() - self._last_contact >= self.settings.lease:
                    self._sessions.lose_service()
                return
            self.is_ready, self._last_contact = True, self._clock()
            self._sessions.end_others(epochs)
        if not was_ready:
            self._sessions.wake()

    async def _is_nats_gone(self) -> bool:
        """Whether every other agent is here to say that NATS takes no writes from it either.

        One that refuses the connection isn't running. One that doesn't answer may be able to write.
        """
        others = [node for node in self._view.nodes.values() if node.is_alive and node.name != self.settings.name]
        return all(await asyncio.gather(*(self._has_no_nats(node) for node in others)))

    async def _has_no_nats(self, node: Node) -> bool:
        try:
            async with self._http.get(
                f"{node.agent}/v1/cluster/pulse", headers=self.settings.headers,
                timeout=aiohttp.ClientTimeout(self.settings.lease / 6),
            ) as answer:
                return bool((await answer.json())["nats"] is False)
        except (*FAILURES, ValueError, KeyError, TypeError) as error:
            return is_refused(error)
