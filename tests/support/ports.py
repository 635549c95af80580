"""Ports for servers of tests that are started again on the same port.

Rules:

- They are below those that the kernel gives to whoever calls somebody. So no call, by whomever,
  takes the port while its server is down; not even a caller of that very port, who would then be
  connected with himself.
- Which are tried is chance, but each worker of one run looks among its own, and none is given
  twice: a server that is not up yet, or is down for a while, has its port to itself.
"""

from __future__ import annotations

import os
import random
import socket
from contextlib import ExitStack
from pathlib import Path

_FIRST = 10_000
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_TRIES = 1_000
_chance = random.SystemRandom()
_given: set[int] = set()


def free_port() -> int:
    """A port of loopback that nobody has."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """As many in a row, none of which anybody has."""
    mine = _ports_of_worker()
    for _ in range(_TRIES):
        first = _chance.randrange(mine.start, mine.stop - count)
        found = list(range(first, first + count))
        if _given.isdisjoint(found) and _are_free(found):
            _given.update(found)
            return found
    raise AssertionError(f"no {count} free ports in a row in {mine}")


def _ports_of_worker() -> range:
    """The part of all ports that is this worker's, of those that share one run of the tests."""
    number = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    workers = max(int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")), number + 1)
    size = (_first_for_callers() - _FIRST) // workers
    return range(_FIRST + number * size, _FIRST + (number + 1) * size)


def _first_for_callers() -> int:
    try:
        return int(_RANGE.read_text().split()[0])
    except OSError:
        return 32_768


def _are_free(ports: list[int]) -> bool:
    with ExitStack() as stack:
        try:
            for port in ports:
                stack.enter_context(socket.socket()).bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
