"""A connection to what a running job itself listens on: what a process inside the job does.

Loaded by its path from the job's supervisor before the walls are entered; imports nothing of
Bailiwick. It runs as the job's user, inside its walls.

Rules:

- A port is all that is asked for. Jobs may share the machine's network, so whose it is is looked
  up: only a socket that a process of this very job listens on is connected to, at the address that
  it listens on. Nobody chooses a host, and what others have on the machine cannot be reached.
- The port is the manifest's own, or stands in a file of the job's folder that the manifest names:
  JSON with ``port``, and perhaps ``authorization``, what the app wants to be shown.
- One line of JSON on standard error says that it is connected, and with what the app wants to be
  shown, or why it is not. From then on standard input and output are the connection.
"""

from __future__ import annotations

import _socket
import json
import os
import select
from collections.abc import Iterator
from typing import Any

FILE_BYTES_MAX = 4_096
CHUNK_BYTES = 65_536
CONNECT_S = 10.0
PROCESSES_MAX = 65_536
_LISTENS = b"0A"


class ConnectRefused(Exception):
    """There is nothing to be connected to, and why."""


def connect(
    wish: dict[str, Any], source: int, *, sink: int, errors: int, keeper: tuple[int, str]
) -> int:
    """Connect as is wished and move bytes until one side ends; the exit code.

    ``keeper`` is the job's supervisor and its namespace of processes.
    """
    try:
        port, shown = told_by(wish)
        family, address = listening_of(port, keeper)
        plug = _socket.socket(family, _socket.SOCK_STREAM)
        plug.settimeout(CONNECT_S)
        plug.connect((address, port))
        if listening_of(port, keeper) != (family, address):  # it was not another's meanwhile
            raise ConnectRefused(f"port {port} changed hands")
        plug.setblocking(False)
    except (OSError, ValueError, ConnectRefused) as error:
        _say(errors, {"fault": (getattr(error, "strerror", None) or str(error))[:200]})
        return 1
    _say(errors, {"connected": port, "authorization": shown})
    os.close(errors)
    try:
        _move(plug, source, sink)
    except OSError:
        return 1
    return 0


def _say(errors: int, told: dict[str, Any]) -> None:
    os.write(errors, json.dumps(told).encode() + b"\n")


def told_by(wish: dict[str, Any]) -> tuple[int, str | None]:
    """The port, and what is to be shown there."""
    if wish.get("port") is not None:
        return _checked(wish["port"]), None
    name = str(wish["file"])
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe of that name is not waited for
    with os.fdopen(os.open(name, flags), "rb") as file:
        data = file.read(FILE_BYTES_MAX + 1)
    told = json.loads(data) if len(data) <= FILE_BYTES_MAX else None
    if not isinstance(told, dict):
        raise ConnectRefused(f"{name} does not say where the member listens")
    shown = told.get("authorization")
    if shown is not None and not (isinstance(shown, str) and shown.isascii()):
        raise ConnectRefused(f"{name} says what cannot be shown")
    return _checked(told.get("port")), shown


def _checked(port: object) -> int:
    if type(port) is not int or not 1 <= port <= 65_535:
        raise ConnectRefused("no port")
    return port


def listening_of(port: int, keeper: tuple[int, str]) -> tuple[int, str]:
    """Where a process of this job listens on that port: the family, and the address to go to."""
    found = dict(_listeners(port))
    if found:
        for inode in _inodes(keeper):
            if inode in found:
                return found[inode]
    raise ConnectRefused(f"nothing of this member listens on port {port}")


def _listeners(port: int) -> Iterator[tuple[bytes, tuple[int, str]]]:
    """All that listens on a port, by the number of its socket."""
    for table, family in (("tcp", _socket.AF_INET), ("tcp6", _socket.AF_INET6)):
        for line in _lines(f"/proc/self/net/{table}"):
            words = line.split(None, 10)
            if len(words) < 10 or words[3] != _LISTENS:
                continue
            host, _, number = words[1].partition(b":")
            if int(number, 16) == port:
                yield words[9], (family, _address(host, family))


def _lines(path: str) -> list[bytes]:
    """What a table of the kernel says; nothing if there is none."""
    try:
        with open(path, "rb") as file:
            return file.readlines()
    except OSError:
        return []


def _address(host: bytes, family: int) -> str:
    """The address of a socket as the kernel spells it; for all addresses, the loopback one."""
    spelled = bytes.fromhex(host.decode())
    data = b"".join(spelled[at : at + 4][::-1] for at in range(0, len(spelled), 4))
    if not any(data):
        return "127.0.0.1" if family == _socket.AF_INET else "::1"
    if family == _socket.AF_INET:
        return ".".join(map(str, data))
    pairs = [f"{data[at] << 8 | data[at + 1]:x}" for at in range(0, 16, 2)]
    return ":".join(pairs)


def _inodes(keeper: tuple[int, str]) -> Iterator[bytes]:
    """The numbers of the sockets that processes of this job have open."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()][:PROCESSES_MAX]
    supervisor, namespace = keeper
    if os.readlink("/proc/self/ns/pid") == namespace:  # then others' processes are seen, too
        pids = _below(supervisor, pids)
    for pid in pids:
        try:
            names = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for name in names:
            try:
                link = os.readlink(f"/proc/{pid}/fd/{name}")
            except OSError:
                continue
            if link.startswith("socket:["):
                yield link[8:-1].encode()


def _below(root: int, pids: list[int]) -> list[int]:
    """Those that descend from a process; whose parent ended is a child of the supervisor."""
    parents = {}
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as stat:
                parents[pid] = int(stat.read().rpartition(b")")[2].split()[1])
        except OSError:
            continue
    found = []
    for pid, parent in parents.items():
        above = parent
        for _ in range(len(parents)):
            if above == root or above not in parents:
                break
            above = parents[above]
        if above == root:
            found.append(pid)
    return found


def _move(plug: _socket.socket, source: int, sink: int) -> None:
    """Move bytes both ways until the app ends the connection."""
    waiting = b""
    is_open = True
    while True:  # until the app ends it, or whoever wanted it is gone
        ready = select.poll()
        ready.register(plug.fileno(), select.POLLIN | (select.POLLOUT if waiting else 0))
        if is_open and not waiting:
            ready.register(source, select.POLLIN)
        events = dict(ready.poll())
        if source in events and not waiting:
            waiting = os.read(source, CHUNK_BYTES)
            if not waiting:
                is_open = False
                plug.shutdown(_socket.SHUT_WR)
        if events.get(plug.fileno(), 0) & select.POLLOUT:
            waiting = waiting[plug.send(waiting) :]
        if events.get(plug.fileno(), 0) & ~select.POLLOUT:
            data = plug.recv(CHUNK_BYTES)
            if not data:
                return
            while data:  # whoever reads may be slow: then the app waits
                data = data[os.write(sink, data) :]
