"""The agent's HTTP API: the cluster for its clients and for other agents, and the service's publish hook."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from typing import Any

from aiohttp import web

from ._agent import Agent
from ._records import LARGEST, Desired, Malformed, check_name, key_of
from ._store import Unavailable

#: The age that a signed message of the hook may have, in seconds. Both programs run on one machine.
_OLDEST = 300


def _problem(status: int, detail: str) -> web.Response:
    return web.json_response(
        {"type": "about:blank", "title": "", "status": status, "detail": detail}, status=status,
        content_type="application/problem+json")


class API:
    """The routes of an agent."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def application(self) -> web.Application:
        application = web.Application(client_max_size=LARGEST, middlewares=[self._check])
        application.add_routes([
            web.get("/healthz", self._health),
            web.post("/publish", self._publish),
            web.get("/v1/cluster", self._overview),
            web.get("/v1/cluster/pulse", self._pulse),
            web.put("/v1/cluster/sessions/{name}", self._put),
            web.delete("/v1/cluster/sessions/{name}", self._delete),
            web.get("/v1/cluster/sessions/{name}/owner", self._owner),
            web.post("/v1/cluster/sessions/{name}/yield", self._yield),
        ])
        return application

    @web.middleware
    async def _check(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if request.path.startswith("/v1/"):
            given = request.headers.get("Authorization", "").encode()
            if not hmac.compare_digest(given, f"Bearer {self._agent.settings.cluster_token}".encode()):
                return _problem(401, "send Authorization: Bearer TOKEN")
        try:
            response: web.StreamResponse = await handler(request)
            return response
        except Malformed as error:
            return _problem(400, str(error))
        except Unavailable:
            return _problem(503, "NATS doesn't take writes; try again")

    async def _health(self, request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def _overview(self, request: web.Request) -> web.Response:
        return web.json_response(self._agent.overview())

    async def _pulse(self, request: web.Request) -> web.Response:
        """Whether NATS takes this agent's writes. See `Membership._is_nats_gone`."""
        node = self._agent.membership
        return web.json_response({"name": node.settings.name, "id": node.id, "nats": node.has_nats})

    async def _put(self, request: web.Request) -> web.Response:
        name = check_name(request.match_info["name"])
        desired = Desired.decoded(await request.read())
        await self._agent.store.sessions.put(key_of("session", name), desired.encoded())
        return web.Response(status=204)

    async def _delete(self, request: web.Request) -> web.Response:
        name = check_name(request.match_info["name"])
        if name not in self._agent.store.sessions.all("session"):
            return _problem(404, "there is no such session")
        await self._agent.store.sessions.remove(key_of("session", name))
        return web.Response(status=204)

    async def _owner(self, request: web.Request) -> web.Response:
        """Where a session runs, for a front: `204` with the address in a header, or `404`."""
        owner = self._agent.view.owner(check_name(request.match_info["name"]))
        if owner is None:
            return _problem(404, "no node runs this session")
        return web.Response(status=204, headers={
            "Upright-Owner": owner.serve.partition("://")[2], "Upright-Node": owner.name})

    async def _yield(self, request: web.Request) -> web.Response:
        has_yielded = await self._agent.give_way(check_name(request.match_info["name"]))
        return web.Response(status=204) if has_yielded else _problem(409, "the session has a publisher")

    async def _publish(self, request: web.Request) -> web.Response:
        """The publish hook of the service beside this agent."""
        body = await request.read()
        secret = self._agent.settings.hook_secret
        if secret is None or not _is_signed(request.headers.get("Upright-Signature", ""), body, secret):
            return _problem(403, "the signature is wrong")
        try:
            asked = json.loads(body)
            path = f"{asked['app']}/{asked['name']}" if asked["app"] else str(asked["name"])
            key = str(asked["key"])
        except (ValueError, KeyError, TypeError):
            return _problem(400, "not a message of a publish hook")
        members = await self._agent.admit(path, key)
        if members is None:
            return _problem(403, "this publisher isn't known, or its session has one")
        return web.json_response(members)


def _is_signed(header: str, body: bytes, secret: str) -> bool:
    parts = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    seconds, signature = parts.get("t", ""), parts.get("v1", "")
    if not (seconds.isascii() and seconds.isdigit()) or abs(time.time() - int(seconds)) > _OLDEST:
        return False
    expected = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, signature)
