"""Two network namespaces with a path between them that loses and delays packets, as netem does, on any kernel with TUN.

The process that makes a `Network` is in the first namespace from then on. A thread or process that `Network.far` starts is
in the second. Needs root.
"""

import concurrent.futures
import ctypes
import fcntl
import heapq
import itertools
import mmap
import os
import random
import select
import struct
import subprocess
import time

import chromium_play

CLONE_NEWNET, TUNSETIFF, IFF_TUN_NO_PI = 0x40000000, 0x400454CA, 0x1001
NEAR, FAR = "10.77.0.1", "10.77.0.2"
UDP = 17


def namespace(call, *arguments):
    if getattr(ctypes.CDLL(None, use_errno=True), call)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), call)


class Network:
    def __init__(self, loss=0, jitter=0):
        """`loss` is the percentage of UDP packets that are lost, each way. `jitter` is the longest delay of one in ms."""
        self.lost = mmap.mmap(-1, 8)
        near, here = self.make(NEAR)
        far, there = self.make(FAR)
        namespace("setns", here, CLONE_NEWNET)
        self.relay = os.fork()
        if self.relay == 0:
            chromium_play.die_with_parent()
            try:
                relay((near, far), loss / 100, jitter / 1000, self.lost)
            finally:
                os._exit(0)
        os.close(near)
        os.close(far)
        # One thread each, because a child process is stopped when the thread that started it ends.
        self.near, self.far = (
            concurrent.futures.ThreadPoolExecutor(1, initializer=namespace, initargs=("setns", one, CLONE_NEWNET))
            for one in (here, there))

    @staticmethod
    def make(address):
        """Enters a new namespace with an address. Returns the descriptors of its TUN device and of itself."""
        namespace("unshare", CLONE_NEWNET)
        tun = os.open("/dev/net/tun", os.O_RDWR)
        fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", b"upright0", IFF_TUN_NO_PI))
        for step in ("link set lo up", "addr add %s/24 dev upright0" % address, "link set upright0 up",
                     "route add default dev upright0"):
            subprocess.run(["ip", *step.split()], check=True, stdin=subprocess.DEVNULL)
        return tun, os.open("/proc/thread-self/ns/net", os.O_RDONLY)

    @property
    def packets_lost(self):
        return struct.unpack("q", self.lost[:8])[0]


def relay(ends, loss, jitter, lost):
    """Passes packets from each end to the other."""
    chance, numbers, waiting = random.Random(1), itertools.count(), []
    while True:
        timeout = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for end in select.select(ends, [], [], timeout)[0]:
            packet, due = os.read(end, 65536), time.monotonic()
            if packet[0] >> 4 == 4 and packet[9] == UDP:
                if chance.random() < loss:
                    lost[:8] = struct.pack("q", struct.unpack("q", lost[:8])[0] + 1)
                    continue
                due += chance.uniform(0, jitter)
            heapq.heappush(waiting, (due, next(numbers), ends[end == ends[0]], packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, end, packet = heapq.heappop(waiting)
            os.write(end, packet)
