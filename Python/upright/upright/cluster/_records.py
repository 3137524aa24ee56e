"""What is in the two buckets: the desired sessions, and the leases of nodes and sessions."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field
from typing import Any

#: The names of sessions and nodes, as in the API of `upright serve`.
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}", re.ASCII)
#: The largest record, in bytes.
LARGEST = 256 << 10


class Malformed(ValueError):
    """A record or a request that has the wrong form."""


def check_name(name: object) -> str:
    """Returns `name` if a session or a node can have it."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise Malformed("a name has 1 to 64 letters, digits, '.', '_' and '-', and begins with a letter, a digit or '_'")
    return name


def key_of(kind: str, name: str) -> str:
    """The key of a record. NATS takes a dot for the end of a token."""
    return f"{kind}.{name.replace('.', '=2E')}"


def name_of(key: str) -> tuple[str, str]:
    """The kind and the name of a record."""
    kind, _, name = key.partition(".")
    return kind, name.replace("=2E", ".")


def _members(data: bytes, most: int = LARGEST) -> dict[str, Any]:
    if len(data) > most:
        raise Malformed(f"larger than {most} bytes")
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise Malformed("not a JSON object")
    return value


def _number(value: object, name: str, least: float, most: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise Malformed(f"{name} must be {least:g} to {most:g}")
    return float(value)


def _integer(value: object, name: str, most: int = 1 << 53) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise Malformed(f"{name} must be an integer from 0 to {most}")
    return value


def _text(value: object, name: str, most: int = 1024) -> str:
    if not isinstance(value, str) or len(value) > most:
        raise Malformed(f"{name} must be a string of at most {most} characters")
    return value


def _choice(value: object, name: str, choices: tuple[str, ...]) -> str:
    text = _text(value, name)
    if text not in choices:
        raise Malformed(f"{name} must be one of {', '.join(choices)}")
    return text


@dataclass(frozen=True)
class Node:
    """The lease of a node, which its agent renews."""

    name: str
    #: This run of the agent.
    id: str
    #: Where other agents, and where clients of its `upright serve`, reach it.
    agent: str
    serve: str
    #: `up`, `draining`, `dead` (declared by another agent) or `gone` (after a drain).
    state: str
    #: The cores that sessions may use, and those that they use.
    cores: float
    load: float
    #: Counts the renewals.
    beat: int = 0

    STATES = ("up", "draining", "dead", "gone")

    @property
    def is_alive(self) -> bool:
        """Whether it may have sessions."""
        return self.state in ("up", "draining")

    def encoded(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decoded(cls, data: bytes) -> Node:
        value = _members(data)
        state = _choice(value.get("state"), "state", cls.STATES)
        return cls(
            check_name(value.get("name")), _text(value.get("id"), "id"), _text(value.get("agent"), "agent"),
            _text(value.get("serve"), "serve"), state, _number(value.get("cores"), "cores", 0, 1e6),
            _number(value.get("load"), "load", 0, 1e9), _integer(value.get("beat", 0), "beat"))


@dataclass(frozen=True)
class Lease:
    """Who runs a session, or ran it last. It is never removed: an epoch is used once."""

    owner: str
    #: The run of the owner's agent.
    id: str
    epoch: int
    #: `held`; `offered` by an owner that goes on until the next one has published; `released`; or `done`: the session has
    #: ended, and isn't started again until its request changes.
    state: str
    #: The revision of the request that it was started with.
    request: int = 0
    #: How often it has failed in a row.
    failures: int = 0

    STATES = ("held", "offered", "released", "done")

    def encoded(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decoded(cls, data: bytes) -> Lease:
        value = _members(data)
        state = _choice(value.get("state"), "state", cls.STATES)
        return cls(
            check_name(value.get("owner")), _text(value.get("id"), "id"), _integer(value.get("epoch"), "epoch"), state,
            _integer(value.get("request", 0), "request"), _integer(value.get("failures", 0), "failures"))


@dataclass(frozen=True)
class Desired:
    """A session that the cluster is to run."""

    #: The body of `POST /v1/sessions`, without `name` and `epoch`.
    session: dict[str, Any]
    #: The cores that it needs; `None` to estimate it.
    cost: float | None = None
    #: The path `APP/STREAM` and the key of an RTMP publisher, whose node runs the session; `None` for a session that any
    #: node can run.
    publisher: dict[str, str] | None = field(default=None)

    def encoded(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def decoded(cls, data: bytes) -> Desired:
        value = _members(data)
        unknown = sorted(set(value) - {"session", "cost", "publisher"})
        if unknown:
            raise Malformed(f"unknown member {unknown[0][:64]!r}; use session, cost, publisher")
        session = value.get("session")
        if not isinstance(session, dict):
            raise Malformed("session must be an object")
        taken = sorted(set(session) & {"name", "epoch"})
        if taken:
            raise Malformed(f"session: the cluster sets {taken[0]}")
        cost = value.get("cost")
        if cost is not None:
            cost = _number(cost, "cost", 0.001, 1000)
        publisher = value.get("publisher")
        if publisher is not None:
            if not isinstance(publisher, dict) or set(publisher) != {"path", "key"}:
                raise Malformed("publisher must be an object with path and key")
            publisher = {name: _text(publisher[name], f"publisher.{name}") for name in ("path", "key")}
            if "input" in session:
                raise Malformed("session: input is the publisher's stream")
            if len(publisher["key"]) < 8:
                raise Malformed("publisher.key must have 8 characters or more")
        elif "input" not in session:
            raise Malformed("session: input is missing")
        return cls(session, cost, publisher)

    @property
    def can_overlap(self) -> bool:
        """Whether two owners may run it at a time during a move: all that it writes is fenced by its epoch."""
        outputs = self.session.get("outputs", [{"type": "hls"}])
        return isinstance(outputs, list) and all(
            isinstance(output, dict) and output.get("type") == "hls" for output in outputs)
