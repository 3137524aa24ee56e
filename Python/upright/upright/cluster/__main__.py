"""`python -m upright.cluster`: the agent, until SIGTERM, after which its sessions run elsewhere."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import pathlib
import signal
import sys

from aiohttp import web

from ._agent import Agent
from ._api import API
from ._membership import NameTaken
from ._records import Malformed
from ._settings import Settings


def _secret(path: str) -> str:
    try:
        text = pathlib.Path(path).read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SystemExit(f"upright.cluster: can't read {path}: {error}") from None
    if len(text) < 16 or not text.isascii() or len(text.split()) != 1:
        raise SystemExit(f"upright.cluster: {path}: use 16 or more ASCII characters without spaces")
    return text


def _positive(least: float, most: float):  # type: ignore[no-untyped-def]
    def parse(text: str) -> float:
        value = float(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"use {least:g} to {most:g}")
        return value
    return parse


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m upright.cluster", description=__doc__,
        epilog="docs/cluster.md describes the cluster. Exit status: 0 after a drain, 69 if the name is taken.")
    add = parser.add_argument
    add("--name", required=True, help="the name of this node, unique in the cluster")
    add("--nats", required=True, action="append", metavar="URL", help="a NATS server with JetStream; repeatable, the nearest first")
    add("--nats-credentials", metavar="FILE", help="the credentials for NATS")
    add("--replicas", type=int, default=1, choices=(1, 3, 5), help="the NATS servers that keep the state (default: 1)")
    add("--cluster", default="main", help="the name of the cluster (default: main)")
    add("--serve", default="http://127.0.0.1:8080", metavar="URL", help="the upright serve beside the agent")
    add("--token-file", required=True, metavar="FILE", help="its admin token")
    add("--public-url", required=True, metavar="URL", help="where the front reaches it")
    add("--listen", default="127.0.0.1:8090", metavar="HOST:PORT", help="the address of the agent's API")
    add("--agent-url", required=True, metavar="URL", help="where other agents reach that")
    add("--cluster-token-file", required=True, metavar="FILE", help="the token of the agents' APIs")
    add("--hook-secret-file", metavar="FILE", help="the secret of the service's publish hook, which is /publish here")
    add("--cores", type=_positive(0.1, 4096), default=float(os.cpu_count() or 1) * 0.8,
        help="the cores that sessions may use (default: 80 %% of all)")
    add("--lease", type=_positive(1, 60), default=2.0, metavar="SECONDS",
        help="a node is dead after this time without a renewal (default: 2)")
    add("--drain-timeout", type=_positive(1, 3600), default=30.0, metavar="SECONDS", help="(default: 30)")
    add("--verbose", action="store_true")
    return parser


async def _run(settings: Settings, host: str, port: int) -> None:
    agent = Agent(settings)
    # Before it joins: other agents take a port that is closed for an agent that doesn't run.
    runner = web.AppRunner(API(agent).application(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, agent.drain)
    # A program that is started by a thread of a pool inherits that they are blocked.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, (signal.SIGTERM, signal.SIGINT))
    try:
        await agent.run()
    finally:
        await runner.cleanup()


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    logging.basicConfig(
        level=logging.DEBUG if given.verbose else logging.INFO, format="%(asctime)s %(name)s: %(message)s")
    logging.getLogger("nats").setLevel(logging.CRITICAL)
    host, _, port = given.listen.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        print("upright.cluster: --listen: write HOST:PORT", file=sys.stderr)
        return 64
    options = {"user_credentials": given.nats_credentials} if given.nats_credentials else {}
    try:
        settings = Settings(
            given.name, given.nats, given.serve, _secret(given.token_file), _secret(given.cluster_token_file),
            given.agent_url.rstrip("/"), given.public_url.rstrip("/"), given.cluster, given.replicas, given.lease,
            given.cores, _secret(given.hook_secret_file) if given.hook_secret_file else None, given.drain_timeout,
            options)
        asyncio.run(_run(settings, host.strip("[]"), int(port)))
    except (NameTaken, Malformed, OSError) as error:
        print(f"upright.cluster: {error}", file=sys.stderr)
        return 69 if isinstance(error, NameTaken) else 64
    return 0


if __name__ == "__main__":
    sys.exit(main())
