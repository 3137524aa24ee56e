"""Transcodes inputs in chunks on a Ray cluster.

    python -m upright.ray one.mov s3://bucket/two.mov -o s3://bucket/upright --address auto -- --size 720p

Every node needs `upright` (the program and this package) in the same version. Outputs and parts are in an object store,
or in a file system that all nodes have.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from .batch._command import main, parser
from .batch._store import optional

__all__ = ["Ray"]


class Ray:
    """Runs tasks on the Ray cluster that this process is connected to (`ray.init`)."""

    def __init__(self, limit: int | None = None) -> None:
        """`limit` is how many tasks wait or run at a time; twice the cluster's cores by default."""
        self._ray = optional("ray", "ray")
        self.limit = limit or max(2, 2 * int(self._ray.cluster_resources().get("CPU", 1)))
        #: Each function as one of Ray's, which sends it to its workers once.
        self._remote: dict[Callable[..., Any], Any] = {}

    def submit(self, function: Callable[..., Any], *arguments: Any, cores: float) -> Future[Any]:
        # The driver repeats what failed, and counts it: also tasks that were lost with their node. A chunk reads from
        # the store wherever it runs, so nodes are filled evenly.
        if function not in self._remote:
            self._remote[function] = self._ray.remote(function)
        task = self._remote[function].options(
            num_cpus=cores, max_retries=0, scheduling_strategy="SPREAD", name=function.__name__)
        future: Future[Any] = task.remote(*arguments).future()
        return future


def _engine(given: argparse.Namespace) -> Ray:
    ray = optional("ray", "ray")
    ray.init(address=given.address, log_to_driver=False, logging_level="error")
    return Ray(given.limit)


if __name__ == "__main__":
    made = parser("upright.ray", "Transcodes inputs in chunks on a Ray cluster.")
    made.add_argument("--address", help="the address of the cluster, or auto (default: a cluster on this machine)")
    made.add_argument("--limit", type=int, help="how many tasks wait or run at a time (default: twice the cores)")
    sys.exit(main(sys.argv[1:], made, _engine))
