"""The part of the API of `upright serve` that an agent uses, and a log of who ran what when."""

from __future__ import annotations

import asyncio
import time

from aiohttp import web


class Log:
    """When each session ran where. One for all services of a test."""

    def __init__(self):
        #: name -> [[epoch, node, from, to], ...]; `to` is `None` while it runs.
        self.runs = {}

    def began(self, name, epoch, node):
        # The first playlist of an epoch ends the outputs of those before: the origin refuses them.
        self.runs.setdefault(name, []).append([epoch, node, time.monotonic(), None])

    def ended(self, name, epoch, node):
        for run in self.runs[name]:
            if run[:2] == [epoch, node] and run[3] is None:
                run[3] = time.monotonic()

    def overlaps(self):
        """Sessions that two nodes ran at a time, with the seconds."""
        found = []
        for name, runs in self.runs.items():
            runs = sorted(runs, key=lambda run: run[2])
            for one, next_ in zip(runs, runs[1:]):
                end = one[3] if one[3] is not None else float("inf")
                if end > next_[2]:
                    found.append((name, one[0], next_[0], end - next_[2]))
        return found

    def gaps(self, since, until=None):
        """The longest time that each session didn't run for after `since`."""
        until = until or time.monotonic()
        found = {}
        for name, runs in self.runs.items():
            at, worst = since, 0.0
            for run in sorted(runs, key=lambda run: run[2]):
                if run[3] is not None and run[3] < since:
                    continue
                worst = max(worst, run[2] - at)
                at = max(at, run[3] if run[3] is not None else until)
            found[name] = max(worst, until - at)
        return found

    def epochs(self, name):
        return [run[0] for run in sorted(self.runs.get(name, []), key=lambda run: run[2])]


class FakeServe:
    """One service."""

    def __init__(self, node, log, origin=None):
        self.node, self.log = node, log
        #: Shared by the services of a test: the epoch that has each session's playlist.
        self.origin = origin if origin is not None else {}
        self.sessions = {}
        self.lease = None
        self.cpu = 0.0
        self.fails = False
        self._lapse = None

    async def start(self, port=0):
        application = web.Application()
        application.add_routes([
            web.put("/v1/lease", self._renew), web.post("/v1/sessions", self._create),
            web.get("/v1/sessions", self._list), web.delete("/v1/sessions/{name}", self._delete),
            web.get("/metrics", self._metrics), web.get("/readyz", self._ready)])
        self._runner = web.AppRunner(application, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def kill(self):
        """As SIGKILL: the port is closed, and nothing runs."""
        for name in list(self.sessions):
            self._end(name, "ended", "killed")
        self.sessions.clear()
        if self._lapse:
            self._lapse.cancel()
        await self._runner.cleanup()

    def _end(self, name, state, reason):
        session = self.sessions[name]
        if session["state"] not in ("ended", "failed"):
            self.log.ended(name, session["epoch"], self.node)
            session.update(state=state, reason=reason)

    async def _renew(self, request):
        seconds = (await request.json())["seconds"]
        assert 0.1 <= seconds <= 60
        self.lease = time.monotonic() + seconds
        if self._lapse:
            self._lapse.cancel()
        self._lapse = asyncio.get_running_loop().call_later(seconds, self._lapsed)
        return web.json_response({"sessions": [
            {"id": name, "epoch": session["epoch"]} for name, session in self.sessions.items()
            if session["state"] not in ("ended", "failed")]})

    def _lapsed(self):
        for name in list(self.sessions):
            self._end(name, "ended", "stopped")

    async def _create(self, request):
        body = await request.json()
        name = body["name"]
        if self.fails:
            return web.json_response({"detail": "no such input"}, status=422)
        if self.lease is None or self.lease < time.monotonic():
            return web.json_response({"detail": "the lease has lapsed"}, status=409)
        if name in self.sessions and self.sessions[name]["state"] not in ("ended", "failed"):
            return web.json_response({"detail": "running"}, status=409)
        self.create(name, body["epoch"])
        return web.json_response({"id": name, "publishKey": "x" * 16, "state": "waiting"}, status=201)

    def create(self, name, epoch):
        self.sessions[name] = {"id": name, "state": "waiting", "reason": None, "epoch": epoch}
        self.log.began(name, epoch, self.node)
        asyncio.get_running_loop().call_later(0.2, self._publish, name, epoch)

    def _publish(self, name, epoch):
        """The first segment: older epochs' outputs end at their next one, here at their next state."""
        session = self.sessions.get(name)
        if session is None or session["epoch"] != epoch or session["state"] != "waiting":
            return
        session["state"] = "live"
        self.origin[name] = max(epoch, self.origin.get(name, 0))

    async def _list(self, request):
        for name, session in self.sessions.items():
            if self.origin.get(name, 0) > session["epoch"]:
                self._end(name, "failed", "the session has moved")
        return web.json_response({"sessions": list(self.sessions.values())})

    async def _delete(self, request):
        name = request.match_info["name"]
        if name not in self.sessions:
            return web.json_response({"detail": "none"}, status=404)
        if self.sessions[name]["state"] in ("ended", "failed"):
            del self.sessions[name]
            return web.Response(status=204)
        assert request.query["continues"] in ("true", "false")
        self._end(name, "ended", "stopped")
        self.sessions[name]["continues"] = request.query["continues"]
        return web.json_response(self.sessions[name])

    async def _metrics(self, request):
        return web.Response(text=f"# HELP\nprocess_cpu_seconds_total {self.cpu}\n")

    async def _ready(self, request):
        return web.Response(text="ready\n")
