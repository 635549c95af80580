"""Ports for servers of tests that are started again on the same port.

Rules:

- They are below those that the kernel gives to whoever calls somebody. So no call, by whomever,
  takes the port while its server is down; not even a caller of that very port, who would then be
  connected with himself.
- Which are tried is chance, so that two that look at the same time find different ones.
"""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack
from pathlib import Path

_FIRST = 10_000
_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_TRIES = 1_000
_chance = random.SystemRandom()


def free_port() -> int:
    """A port of loopback that nobody has."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """As many in a row, none of which anybody has."""
    end = _first_for_callers()
    for _ in range(_TRIES):
        first = _chance.randrange(_FIRST, end - count)
        found = list(range(first, first + count))
        if _are_free(found):
            return found
    raise AssertionError(f"no {count} free ports in a row below {end}")


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
