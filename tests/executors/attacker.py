"""A job that tries to reach what is not its own; prints one JSON object: what it got at.

Run with ``python attacker.py DATA OTHER_PID SOCKET``. It needs nothing but the standard library.
"""

from __future__ import annotations

import functools
import json
import os
import socket
import sqlite3
import sys
from collections.abc import Callable

DATA, OTHER, SOCKET = sys.argv[1], sys.argv[2], sys.argv[3]


def tried(what: Callable[[], object]) -> bool:
    """Whether it could be done."""
    try:
        what()
    except (OSError, sqlite3.Error):
        return False
    return True


def read(path: str, size: int = 1) -> None:
    """A piece of a file."""
    with open(path, "rb") as file:
        file.read(size)


def files() -> list[str]:
    """Every file of the data directory that can be read, but for its own."""
    own = os.path.dirname(os.environ["BAILIWICK_LEASE_TOKEN_FILE"])
    found = []
    for folder, _, names in os.walk(DATA):
        for path in (os.path.join(folder, name) for name in names):
            if not path.startswith(own + "/") and tried(functools.partial(read, path)):
                found.append(path)
    return found


def append() -> None:
    """A row in the database, as if the server had written it."""
    with sqlite3.connect(f"file:{DATA}/bailiwick.db?mode=rw", uri=True) as database:
        database.execute("INSERT INTO journal VALUES (2, 'forged')")


def connect(address: str) -> None:
    """Talk to somebody's socket."""
    with socket.socket(socket.AF_UNIX) as other:
        other.connect(address)


print(
    json.dumps(
        {
            "files": files(),
            "environment": tried(lambda: read(f"/proc/{OTHER}/environ")),
            "memory": tried(lambda: read(f"/proc/{OTHER}/mem", size=0)),
            "signal": tried(lambda: os.kill(int(OTHER), 0)),
            "socket": tried(lambda: connect(SOCKET)),
            "abstract": tried(lambda: connect("\0" + SOCKET)),
            "database": tried(append),
        }
    )
)
