"""Passing a question on to the member in a folder, and its answer back.

It imports nothing of this package. The member lays a copy of it beside its door (``run/ask.py``),
which is run for each question: a program that is read from an archive takes longer to begin than
the whole question does.
"""

from __future__ import annotations

import os
import socket
import sys
import time

BYTES_MAX = 4 * 2**20
PATIENCE_S = 150.0
_TRIES, _LOOK_S = 20, 0.1


def ask(home: str, question: bytes) -> bytes:
    """Ask the member that lives in a folder."""
    with _knock(os.path.join(home, "run/door")) as plug:
        plug.sendall(question)
        plug.shutdown(socket.SHUT_WR)
        return read_all(plug)


def _knock(door: str) -> socket.socket:
    """Its door, which is there for a moment before it can be opened."""
    for left in reversed(range(_TRIES)):
        plug = socket.socket(socket.AF_UNIX)
        plug.settimeout(PATIENCE_S)
        try:
            plug.connect(door)
        except ConnectionRefusedError:
            plug.close()
            if not left:
                raise
            time.sleep(_LOOK_S)
        else:
            return plug
    raise AssertionError  # the last try raises


def read_all(plug: socket.socket) -> bytes:
    """Everything that is sent, up to the bound."""
    found = b""
    while piece := plug.recv(65_536):  # bounded by the size
        found += piece
        if len(found) > BYTES_MAX:
            raise ValueError(f"more than {BYTES_MAX} bytes")
    return found


def main() -> None:
    """Ask what is on the standard input."""
    try:
        sys.stdout.buffer.write(ask(os.getcwd(), sys.stdin.buffer.read()))
    except (OSError, ValueError) as error:
        sys.exit(f"the member does not answer: {error}")


if __name__ == "__main__":
    main()
