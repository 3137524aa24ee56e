"""What an agent has seen of the cluster."""

from __future__ import annotations

from typing import Any

from ._records import Desired, Lease, Node
from ._store import Store


class View:
    """The records of the cluster, as far as this agent has seen them."""

    def __init__(self, store: Store) -> None:
        self._store = store

    @property
    def nodes(self) -> dict[str, Node]:
        """The nodes by name."""
        return {name: node for name, (node, _) in self._store.leases.all("node").items()}

    @property
    def leases(self) -> dict[str, tuple[Lease, int]]:
        """The leases by session, with their revisions."""
        return self._store.leases.all("session")

    @property
    def desired(self) -> dict[str, tuple[Desired, int]]:
        """The sessions that are wanted, by name, with their revisions."""
        return self._store.sessions.all("session")

    def overview(self) -> dict[str, Any]:
        """The nodes and the sessions, for `GET /v1/cluster`."""
        nodes = self.nodes
        leases, desired = self.leases, self.desired
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
            "nodes": [
                {"name": node.name, "state": node.state, "cores": node.cores, "load": node.load, "serve": node.serve,
                 "sessions": sum(session["owner"] == node.name for session in sessions)}
                for node in sorted(nodes.values(), key=lambda node: node.name)],
            "sessions": sessions}

    def owner(self, name: str) -> Node | None:
        """The node that runs a session."""
        found = self.leases.get(name)
        if found is None or found[0].state not in ("held", "offered"):
            return None
        node = self.nodes.get(found[0].owner)
        return node if node is not None and node.is_alive and node.id == found[0].id else None
