"""Who may run sessions, and when a node is dead. No wall clock: each agent measures with its own monotonic one.

An agent renews its node's record. `Fence` is the owner's side: its sessions may run until `lease - margin` after it
*sent* its last renewal. `Observer` is the side of the others: a node is dead when its record hasn't changed for `lease +
guard` since they *received* it, and NATS has taken their own writes all that time. What is received is later than
what was sent, so an owner always stops first, however the clocks of the machines differ.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Fence:
    """Until when this node's sessions may run."""

    lease: float
    margin: float
    deadline: float = float("-inf")

    def renewed(self, sent: float) -> None:
        """A renewal that was sent at `sent` has succeeded."""
        self.deadline = max(self.deadline, sent + self.lease - self.margin)

    def remaining(self, now: float) -> float:
        """The seconds for which sessions may still run; 0 if none."""
        return max(0.0, self.deadline - now)


@dataclass
class Observer:
    """What this agent has seen of the others."""

    lease: float
    guard: float
    #: When the first of the present series of successful writes was sent; `None` after a failure.
    healthy_since: float | None = None
    last_write: float = float("-inf")
    _seen: dict[str, tuple[object, float]] = field(default_factory=dict)

    def wrote(self, sent: float) -> None:
        """NATS has taken a write that was sent at `sent`."""
        if not self.is_healthy(sent):
            self.healthy_since = sent
        self.last_write = max(self.last_write, sent)

    def failed(self) -> None:
        """NATS hasn't taken a write."""
        self.healthy_since = None

    def is_healthy(self, now: float) -> bool:
        """Whether NATS has taken the last write, a short time ago. A process that was suspended is not."""
        return self.healthy_since is not None and now - self.last_write <= self.lease / 2

    def saw(self, node: str, version: object, now: float) -> None:
        """A node's record has this version, or isn't there: `None`."""
        if self._seen.get(node, (self, 0.0))[0] != version:
            self._seen[node] = (version, now)

    def is_dead(self, node: str, version: object, now: float) -> bool:
        """Whether a node's record has had this version for so long that its sessions have ended."""
        self.saw(node, version, now)
        if not self.is_healthy(now) or self.healthy_since is None:
            return False
        return now - max(self._seen[node][1], self.healthy_since) >= self.lease + self.guard

    def forget(self, node: str) -> None:
        """A node is gone."""
        self._seen.pop(node, None)
