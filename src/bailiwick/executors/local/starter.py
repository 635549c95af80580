"""One process that brings supervisors to life: each is a copy of it, ready to begin.

To start Python anew for each job costs more processor time than most of what a supervisor does.
This process does it once, and then copies itself. It is started by its path and imports
nothing of Bailiwick; the executor's side of it is in :mod:`bailiwick.executors.local.launch`.

Rules:

- It holds nothing: files and order of a job come through a socket, go on to the copy, and are
  closed here. A start that was cut short has then either no supervisor, or one that goes on.
- It leaves when the executor's process does, however that ends; the supervisors stay. One that is
  gone is begun again with the next job.
- An order counts only when all of it has come: half of one begins nothing, and may be sent again.
"""

from __future__ import annotations

import json
import os
import socket
import sys
from typing import Any

HEAD_BYTES = 20
"""An order begins with its size, in so many digits."""
_FILES = 3
"""Of each order: where to tell that the job runs, the folder's lock, where errors are kept."""


def main() -> None:
    """Copy this process for each order that comes, until nobody can send one."""
    if os.fork():
        os._exit(0)  # it belongs to nobody: whoever began it has nothing to wait for
    supervisor = _beside("supervisor")
    supervisor.preload()
    with socket.socket(fileno=0) as orders:
        while True:  # until the other end is closed
            head, files, _, _ = socket.recv_fds(orders, HEAD_BYTES, _FILES)
            order = _read(orders, head)
            if order is None:
                return
            copy = os.fork()
            if not copy:
                _become_supervisor(supervisor, json.loads(order), files)
            for fd in files:
                os.close(fd)
            os.waitpid(copy, 0)  # it leaves at once: the supervisor is its child


def _read(orders: socket.socket, head: bytes) -> bytes | None:
    """The rest of an order; ``None`` if it does not come."""
    while head and len(head) < HEAD_BYTES:
        more = orders.recv(HEAD_BYTES - len(head))
        head = head + more if more else b""
    if not head:
        return None
    left, parts = int(head), list[bytes]()
    while left:
        part = orders.recv(min(left, 1 << 20))
        if not part:
            return None
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _become_supervisor(supervisor: Any, order: dict[str, Any], files: list[int]) -> None:
    try:
        ready, lock, errors = files
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)  # the socket is not its own
        os.dup2(errors, 2)
        os.close(nothing)
        os.close(errors)
        os.setsid()
        supervisor.supervise(order["folder"], order["order"], ready=ready, lock=lock)
        os._exit(0)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)


def _beside(name: str) -> Any:
    """The module beside this one, by its path: no folder of ours is searched for modules."""
    from importlib import util

    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), f"{name}.py")
    spec = util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
