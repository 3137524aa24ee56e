"""Who owns which session, kept up to date record by record: an agent of a large cluster sees thousands of records."""

from __future__ import annotations

from collections.abc import Mapping

from ._placement import cost_of
from ._records import Desired, Lease, Node


def is_free(lease: Lease | None, request: int, nodes: Mapping[str, tuple[Node, int]]) -> bool:
    """Whether another node than the owner may take a session. Without its record, the owner is declared dead first."""
    if lease is None or lease.state in ("released", "offered"):
        return True
    if lease.state == "done":
        return lease.request != request
    owner = nodes.get(lease.owner)
    return owner is not None and (not owner[0].is_alive or owner[0].id != lease.id)


class Ledger:
    """The sessions of each node, and those that are free. O(1) for a changed session, O(sessions) for a node that dies."""

    def __init__(
        self, nodes: Mapping[str, tuple[Node, int]], leases: Mapping[str, tuple[Lease, int]],
        desired: Mapping[str, tuple[Desired, int]],
    ) -> None:
        self._nodes, self._leases, self._desired = nodes, leases, desired
        #: The sessions that each node owns, or owned until it died.
        self.owned: dict[str, set[str]] = {}
        #: The cores that each node's sessions need.
        self.loads: dict[str, float] = {}
        #: The sessions that any node may take, with the cores that they need.
        self.free: dict[str, float] = {}
        self._owners: dict[str, tuple[str, float]] = {}
        self._states: dict[str, tuple[str, str] | None] = {}

    def node_changed(self, name: str) -> bool:
        """A node's record is another one. Returns whether more than its renewal is."""
        found = self._nodes.get(name)
        state = (found[0].state, found[0].id) if found is not None else None
        if self._states.get(name) == state:
            return False
        self._states[name] = state
        for session in list(self.owned.get(name, ())):
            self.session_changed(session)
        return True

    def session_changed(self, name: str) -> None:
        """The lease or the request of a session is another one."""
        owner, cost = self._owners.pop(name, (None, 0.0))
        if owner is not None:
            self.owned[owner].discard(name)
            self.loads[owner] -= cost
            if not self.owned[owner]:
                # No error of rounding stays.
                del self.owned[owner], self.loads[owner]
        self.free.pop(name, None)
        found, wanted = self._leases.get(name), self._desired.get(name)
        lease = found[0] if found is not None else None
        cost = 0.0
        if wanted is not None:
            cost = wanted[0].cost if wanted[0].cost is not None else cost_of(wanted[0].session)
            if wanted[0].publisher is None and is_free(lease, wanted[1], self._nodes):
                self.free[name] = cost
        if lease is not None and lease.state in ("held", "offered"):
            self._owners[name] = (lease.owner, cost)
            self.owned.setdefault(lease.owner, set()).add(name)
            self.loads[lease.owner] = self.loads.get(lease.owner, 0.0) + cost
