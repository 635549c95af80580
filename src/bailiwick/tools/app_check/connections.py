"""Whom the processes of an operator talk to, as Linux tells it; elsewhere nothing is known.

Rules:

- Looked at are the operator's process, its children and whoever shares its session, many times a
  second. A connection that begins and ends between two looks is not seen: what is found is proof,
  what is not found is none.
- Allowed are the control plane's addresses, and the name servers of this machine. Sockets of the
  Unix kind are not looked at: who is at the other end is not told.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterable, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from bailiwick.apps.readiness.evidence import CONNECTIONS_MAX, ConnectionWatch

LOOK_S: Final = 0.1
SESSION_LOOKS: Final = 10
"""After so many looks everybody is asked for his session."""
PROCESSES_MAX: Final = 256
_PROC: Final = Path("/proc")
_TABLES: Final = ("tcp", "tcp6", "udp", "udp6")
_DNS_PORT: Final = 53
_IS_LITTLE: Final = sys.byteorder == "little"

Endpoint = tuple[str, int]


def can_watch() -> bool:
    """Whether this machine tells who talks to whom."""
    return (_PROC / "self" / "net" / "tcp").exists()


def spell_endpoint(endpoint: Endpoint) -> str:
    """As evidence spells it."""
    host, port = endpoint
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def allowed_endpoints(server: str, *, resolv: Path = Path("/etc/resolv.conf")) -> set[Endpoint]:
    """Whom an operator may talk to: the control plane, and whoever tells it where that is."""
    found = urlsplit(server)
    port = found.port or (443 if found.scheme == "https" else 80)
    told = socket.getaddrinfo(found.hostname, port, type=socket.SOCK_STREAM)
    allowed = {(_plain(str(address[0])), port) for *_, address in told}
    try:
        lines = [line.split() for line in resolv.read_text("utf-8").splitlines()[:64]]
    except (OSError, UnicodeDecodeError):
        lines = []
    servers = [words[1] for words in lines if len(words) > 1 and words[0] == "nameserver"]
    return allowed | {(_plain(each), _DNS_PORT) for each in servers}


def _plain(text: str) -> str:
    """An address in its one spelling; an IPv4 that is wrapped is that IPv4."""
    found = ip_address(text.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None)
    return str(found if mapped is None else mapped)


def parse_table(text: str, inodes: set[int]) -> Iterator[Endpoint]:
    """The far ends of these sockets in one of the kernel's tables."""
    for line in text.splitlines()[1:]:
        words = line.split()
        if len(words) < 10 or int(words[9]) not in inodes:
            continue
        digits, _, port = words[2].partition(":")
        raw = bytes.fromhex(digits)
        # Each word of four bytes is in the machine's own order.
        turned = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
        packed = turned if _IS_LITTLE else raw
        endpoint = _plain(str(ip_address(packed))), int(port, 16)
        if endpoint[1]:  # 0: nobody is there, it listens
            yield endpoint


class ConnectionWatcher:
    """Looks at the connections of a process and all that it began, until it is told to end."""

    def __init__(self, server: str) -> None:
        self._allowed = allowed_endpoints(server)
        self._root: int | None = None
        self._looks, self._others = 0, dict[Endpoint, None]()
        self._lock, self._ending = threading.Lock(), threading.Event()
        self._session = frozenset[int]()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def follow(self, process_id: int | None) -> None:
        """Look at this process from now on."""
        with self._lock:
            self._root, self._session = process_id, frozenset()

    def end(self) -> ConnectionWatch:
        """What was seen."""
        self._ending.set()
        self._thread.join()
        others = tuple(sorted(map(spell_endpoint, self._others)))
        return ConnectionWatch(self._looks, others[:CONNECTIONS_MAX])

    def _run(self) -> None:
        rounds = 0
        while not self._ending.wait(LOOK_S):  # until told to end
            with self._lock:
                root = self._root
            if root is None:
                continue
            if rounds % SESSION_LOOKS == 0:
                self._session = frozenset(_session_of(root))
            rounds += 1
            self._look({root, *self._session, *_children_of(root)})

    def _look(self, processes: Iterable[int]) -> None:
        is_seen = False
        for each in processes:
            try:
                found = [*_endpoints(each)]
            except OSError:  # it has ended meanwhile
                continue
            is_seen = True
            for endpoint in found:
                if endpoint not in self._allowed and len(self._others) < 4 * CONNECTIONS_MAX:
                    self._others[endpoint] = None
        self._looks += is_seen


def _endpoints(process_id: int) -> Iterator[Endpoint]:
    own = _PROC / str(process_id)
    inodes = set[int]()
    for name in os.listdir(own / "fd"):
        try:
            target = os.readlink(own / "fd" / name)
        except FileNotFoundError:
            continue
        if target.startswith("socket:["):
            inodes.add(int(target[8:-1]))
    if inodes:
        for table in _TABLES:
            path = own / "net" / table
            if path.exists():
                yield from parse_table(path.read_text("ascii"), inodes)


def _children_of(process_id: int) -> set[int]:
    found, left = set[int](), [process_id]
    while left and len(found) < PROCESSES_MAX:  # bounded by the number of processes
        own = _PROC / str(left.pop()) / "task"
        try:
            told = [(task / "children").read_text("ascii") for task in own.iterdir()]
        except OSError:
            continue
        new = {int(word) for text in told for word in text.split()} - found
        found |= new
        left += new
    return found


def _session_of(process_id: int) -> Iterator[int]:
    """Everybody who is in the session that a process began."""
    for name in os.listdir(_PROC):
        if not name.isdecimal():
            continue
        try:
            text = (_PROC / name / "stat").read_text("utf-8", errors="replace")
        except OSError:
            continue
        words = text.rpartition(")")[2].split()
        if len(words) > 3 and words[3] == str(process_id):
            yield int(name)
