"""The settings of an agent."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Settings:
    """The settings of an agent."""

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

    @property
    def headers(self) -> dict[str, str]:
        """What a request to another agent needs."""
        return {"Authorization": f"Bearer {self.cluster_token}"}
