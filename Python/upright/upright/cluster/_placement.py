"""Which node runs which session. All agents compute the same from the same records."""

from __future__ import annotations

import hashlib
import heapq
import re
from collections.abc import Iterable, Mapping
from typing import Any

#: Cores for a million pixels per second, by codec: see the measurement in docs/cluster.md.
CORES_PER_MEGAPIXEL = {"h264": 0.0085, "hevc": 0.034, "h265": 0.034, "vp9": 0.05, "av1": 0.1}
#: Cores that a session needs beside its encoders: decoding, rotating, audio, files.
BASE_CORES = 0.03
_FRAME_RATE = 30.0
_SIZE = re.compile(r"(\d{1,5})x(\d{1,5})|(\d{1,4})p", re.ASCII)


def _pixels(size: object) -> float:
    match = _SIZE.fullmatch(size) if isinstance(size, str) else None
    if match is None:
        return 1280 * 720
    if match[3]:
        return int(match[3]) ** 2 * 16 / 9
    return float(int(match[1]) * int(match[2]))


def cost_of(session: Mapping[str, Any]) -> float:
    """Estimates the cores that a session needs: pixels per second x codec, for each size of its ladder.

    Sizes that aren't written as WIDTHxHEIGHT or HEIGHTp count as 720p; all count with 30 frames a second.
    """
    options = session.get("options")
    if not isinstance(options, dict):
        options = {}
    ladder = options.get("ladder")
    sizes = ladder if isinstance(ladder, list) and ladder else [options.get("size")]
    canvases = 2 if options.get("canvas") == "dual" else 1
    codec = options.get("codec", "h264")
    rate = CORES_PER_MEGAPIXEL.get(codec if isinstance(codec, str) else "h264", 0.1)
    return BASE_CORES + canvases * sum(_pixels(size) for size in sizes) * _FRAME_RATE / 1e6 * rate


def _order(node: str) -> bytes:
    """The order of nodes with equal load, the same on every machine."""
    return hashlib.blake2b(node.encode(), digest_size=8).digest()


def assign(
    sessions: Iterable[tuple[str, float]], nodes: Mapping[str, tuple[float, float]], skip: int = 0,
) -> dict[str, str]:
    """Returns a node for each session that one has room for.

    Sessions come in the order of their names; each goes to the node that is the least loaded after it, relative to its
    cores. O(S log N).

    - `sessions`: names and costs, in cores.
    - `nodes`: by name the cores that sessions may use, and the load, in cores.
    - `skip`: how many better nodes are passed over, because they haven't taken the session.
    """
    heap = [(load / cores, _order(name), name, cores, load) for name, (cores, load) in nodes.items() if cores > 0]
    heapq.heapify(heap)
    found: dict[str, str] = {}
    for session, cost in sorted(sessions):
        passed = []
        left = skip
        while heap:
            entry = heapq.heappop(heap)
            _, tie, name, cores, load = entry
            # A node that hasn't room for this session may have it for a smaller one.
            if load + cost > cores or left > 0 and heap:
                left -= load + cost <= cores
                passed.append(entry)
                continue
            found[session] = name
            heapq.heappush(heap, ((load + cost) / cores, tie, name, cores, load + cost))
            break
        for entry in passed:
            heapq.heappush(heap, entry)
    return found
