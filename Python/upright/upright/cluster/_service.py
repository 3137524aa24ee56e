"""The HTTP API of the `upright serve` beside the agent."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import aiohttp

_CPU = re.compile(r"^process_cpu_seconds_total (\S+)$", re.MULTILINE)


class Refused(Exception):
    """The service has answered with an error."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status


#: What a request to another program can raise.
FAILURES = (OSError, asyncio.TimeoutError, aiohttp.ClientError, Refused)


def is_refused(error: BaseException) -> bool:
    """Whether nobody listens at an address of a machine that is there."""
    return isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, ConnectionRefusedError)


class Service:
    """Requests to one service. All raise `OSError` or `asyncio.TimeoutError` if it doesn't answer."""

    def __init__(self, url: str, token: str, http: aiohttp.ClientSession) -> None:
        self._url = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {token}"}
        self._http = http

    async def _ask(self, method: str, path: str, body: Any = None, timeout: float = 5.0) -> Any:
        async with self._http.request(
            method, self._url + path, json=body, headers=self._headers, timeout=aiohttp.ClientTimeout(timeout),
        ) as answer:
            if answer.status >= 400:
                try:
                    detail = str((await answer.json(content_type=None))["detail"])
                except (ValueError, KeyError, TypeError):
                    detail = answer.reason or ""
                raise Refused(answer.status, detail)
            if answer.content_type == "application/json":
                return await answer.json()
            return await answer.text()

    async def renew(self, seconds: float, timeout: float) -> dict[str, int]:
        """Lets the sessions with an epoch run for `seconds`. Returns their epochs."""
        answer = await self._ask("PUT", "/v1/lease", {"seconds": seconds}, timeout)
        return {session["id"]: session["epoch"] for session in answer["sessions"]}

    async def start(self, name: str, epoch: int, session: dict[str, Any]) -> None:
        """Starts a session, in place of one that has ended."""
        await self._ask("POST", "/v1/sessions", {**session, "name": name, "epoch": epoch})

    async def stop(self, name: str, continues: bool) -> None:
        """Ends a session and forgets it. With `continues`, its playlist isn't ended."""
        for _ in range(2):
            try:
                answer = await self._ask(
                    "DELETE", f"/v1/sessions/{name}?continues={'true' if continues else 'false'}", timeout=12)
            except Refused as refused:
                if refused.status == 404:
                    return
                raise
            if not isinstance(answer, dict):
                return

    async def states(self) -> dict[str, tuple[str, str, int]]:
        """The state, its reason and the epoch of each session that has an epoch."""
        answer = await self._ask("GET", "/v1/sessions", timeout=2)
        return {
            session["id"]: (session["state"], session["reason"] or "", session["epoch"])
            for session in answer["sessions"] if "epoch" in session}

    async def cpu_seconds(self) -> float:
        """The CPU time that the service has used."""
        match = _CPU.search(await self._ask("GET", "/metrics", timeout=2))
        return float(match[1]) if match else 0.0

    async def is_ready(self) -> bool:
        try:
            await self._ask("GET", "/readyz", timeout=1)
        except (Refused, OSError, asyncio.TimeoutError, aiohttp.ClientError):
            return False
        return True
