"""The cluster's two buckets in NATS JetStream."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterable
from typing import Any

import nats
import nats.errors
import nats.js.errors
from nats.aio.client import Client
from nats.js.api import KeyValueConfig, StorageType
from nats.js.kv import KV_DEL, KV_PURGE, KeyValue

from ._records import Desired, Lease, Malformed, Node, name_of

_log = logging.getLogger("upright.cluster")


class Conflict(Exception):
    """The record has another revision than expected."""


class Unavailable(Exception):
    """NATS doesn't answer, or has no leader for the bucket. The write may have happened."""


async def stop(tasks: Iterable[asyncio.Task[None]]) -> list[BaseException]:
    """Cancels tasks and waits for them. Returns their errors.

    A call of the NATS client can complete although it is cancelled: then the task is cancelled again.
    """
    pending = set(tasks)
    done: set[asyncio.Task[None]] = set()
    while pending:
        for task in pending:
            task.cancel()
        ended, pending = await asyncio.wait(pending, timeout=0.5)
        done |= ended
    errors = (task.exception() for task in done if not task.cancelled())
    return [error for error in errors if error is not None]


class Bucket:
    """Records of some kinds, by name, each with its revision, as far as this agent has seen them. Writes compare
    revisions."""

    def __init__(self, store: Store, name: str, kinds: dict[str, Any], changed: Callable[[str, str], None]) -> None:
        self.name = name
        self._store = store
        self._kinds = kinds
        self._records: dict[str, dict[str, tuple[Any, int]]] = {kind: {} for kind in kinds}
        self._revisions: dict[str, int] = {}
        self._changed = changed

    def all(self, kind: str) -> dict[str, tuple[Any, int]]:
        """The records of a kind. Those that have the wrong form are left out."""
        return self._records[kind]

    async def write(self, key: str, value: bytes, revision: int) -> int:
        """Replaces a record that has `revision`; 0 if there is none. Returns the new revision.

        Raises `Conflict` if it has another one, `Unavailable` if it isn't known whether it was written.
        """
        try:
            new = await self._store.call(self.name, lambda kv: kv.update(key, value, last=revision))
        except nats.js.errors.KeyWrongLastSequenceError:
            raise Conflict(key) from None
        self._see(key, value, int(new))
        return int(new)

    async def put(self, key: str, value: bytes) -> int:
        """Replaces a record, whatever its revision."""
        new = await self._store.call(self.name, lambda kv: kv.put(key, value))
        self._see(key, value, int(new))
        return int(new)

    async def remove(self, key: str) -> None:
        await self._store.call(self.name, lambda kv: kv.delete(key))

    async def read(self, key: str) -> tuple[Any, int]:
        """Reads a record from the bucket's leader.

        Returns it, and its revision; `None` and 0 if there is none, `None` and another revision if it was removed, or has
        the wrong form.
        """
        try:
            entry = await self._store.call(self.name, lambda kv: kv.get(key))
        except nats.js.errors.KeyNotFoundError as error:
            return None, error.entry.revision if error.entry is not None else 0
        return self._see(key, entry.value or b"", entry.revision), entry.revision

    def _see(self, key: str, value: bytes, revision: int) -> Any:
        """Keeps a record, unless a later one is known. Returns it; `None` if it has the wrong form."""
        kind, name = name_of(key)
        if kind not in self._kinds:
            return None
        try:
            record = self._kinds[kind].decoded(value)
        except Malformed as error:
            _log.error("%s %s is ignored: %s", kind, name, error)
            record = None
        if self._revisions.get(key, 0) < revision:
            self._revisions[key] = revision
            if record is None:
                self._records[kind].pop(name, None)
            else:
                self._records[kind][name] = (record, revision)
            self._changed(kind, name)
        return record

    def _remove(self, key: str, revision: int) -> None:
        kind, name = name_of(key)
        if self._revisions.get(key, 0) <= revision:
            self._revisions[key] = revision
            if self._records.get(kind, {}).pop(name, None) is not None:
                self._changed(kind, name)

    async def follow(self, silence: float | None) -> None:
        """Follows the bucket until nothing is heard for `silence` seconds, or NATS fails."""
        watcher = await self._store.call(self.name, lambda kv: kv.watchall(), 5.0)
        try:
            # Keys that the watch doesn't list at first aren't there any more.
            listed: set[str] | None = set()
            while True:
                entry = await watcher.updates(timeout=silence)
                if entry is None:
                    for key in set(self._revisions) - listed if listed is not None else ():
                        self._remove(key, self._revisions[key])
                        del self._revisions[key]
                    listed = None
                    continue
                if listed is not None:
                    listed.add(entry.key)
                if entry.operation in (KV_DEL, KV_PURGE):
                    self._remove(entry.key, entry.revision)
                else:
                    self._see(entry.key, entry.value or b"", entry.revision)
        finally:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(watcher.stop(), 0.5)


class Store:
    """The connection to NATS."""

    def __init__(
        self, servers: list[str], cluster: str, replicas: int, timeout: float, changed: Callable[[str, str], None],
        options: dict[str, Any] | None = None,
    ) -> None:
        self._servers = servers
        self._replicas = replicas
        self._timeout = timeout
        # A watch that brings nothing for half a lease is started again: an agent sees its own renewals, unless the server
        # that had its consumer is gone. So it follows again before a node that was lost with that server is dead.
        self._silence = 3 * timeout
        self._options = options or {}
        self._buckets: dict[str, KeyValue] = {}
        self._client: Client | None = None
        self.sessions = Bucket(self, f"upright-{cluster}-sessions", {"session": Desired}, changed)
        self.leases = Bucket(self, f"upright-{cluster}-leases", {"node": Node, "session": Lease}, changed)

    async def open(self) -> None:
        """Connects, and makes the buckets unless they are there. Waits until NATS can."""
        async def ignore(*_: Any) -> None:
            pass

        while True:
            try:
                self._client = await nats.connect(
                    self._servers, connect_timeout=1, max_reconnect_attempts=-1, reconnect_time_wait=0.1,
                    # A server that is cut off is left within a second.
                    ping_interval=0.5, max_outstanding_pings=1, error_cb=ignore, pending_size=0,
                    # The first is the nearest: the loss of another machine isn't the loss of this agent's connection.
                    **{"dont_randomize": True, **self._options})
                break
            except (OSError, asyncio.TimeoutError, nats.errors.Error) as error:
                _log.warning("no connection to NATS: %s", error or type(error).__name__)
                await asyncio.sleep(0.5)
        while True:
            try:
                for bucket in (self.sessions, self.leases):
                    self._buckets[bucket.name] = await self._bucket(bucket.name)
                return
            except (nats.errors.Error, asyncio.TimeoutError) as error:
                _log.warning("no JetStream yet: %s", error or type(error).__name__)
                await asyncio.sleep(0.5)

    async def follow(self) -> None:
        """Follows both buckets until the task is cancelled. Starts again after an error."""
        while True:
            tasks = [
                asyncio.create_task(self.leases.follow(self._silence)), asyncio.create_task(self.sessions.follow(None))]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for result in await stop(tasks):
                    if not isinstance(result, (Unavailable, nats.errors.Error, asyncio.TimeoutError)):
                        _log.error("following the cluster's records: %r", result)
            await asyncio.sleep(0.1)

    async def _bucket(self, name: str) -> KeyValue:
        assert self._client is not None
        stream = self._client.jetstream(timeout=5)
        try:
            await stream.key_value(name)
        except nats.js.errors.NotFoundError:
            await stream.create_key_value(KeyValueConfig(
                bucket=name, history=1, storage=StorageType.FILE, replicas=self._replicas))
        found: KeyValue = await self._client.jetstream(timeout=self._timeout).key_value(name)
        return found

    async def call(self, bucket: str, body: Callable[[KeyValue], Any], timeout: float | None = None) -> Any:
        kv = self._buckets.get(bucket)
        if kv is None or self._client is None or not self._client.is_connected:
            raise Unavailable("not connected")
        try:
            return await asyncio.wait_for(body(kv), timeout or self._timeout)
        except (nats.js.errors.KeyWrongLastSequenceError, nats.js.errors.KeyNotFoundError):
            raise
        except (nats.errors.Error, asyncio.TimeoutError, OSError) as error:
            raise Unavailable(str(error) or type(error).__name__) from error

    @property
    def server(self) -> str | None:
        """The server that this agent is connected to."""
        url = self._client.connected_url if self._client is not None and self._client.is_connected else None
        return url.netloc.rpartition("@")[2] if url is not None else None

    async def close(self) -> None:
        if self._client is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._client.close(), 1)
