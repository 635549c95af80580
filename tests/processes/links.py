"""A machine behind a link that can be cut: a network namespace, and the way from it to a server.

It needs root and ``ip``. The server listens on this machine alone and an agent speaks without TLS
to its own machine alone, so at either end of the link somebody hands on what comes.

Run as a program (``python -m tests.processes.links ADDRESS``) it is who does that inside.
"""

from __future__ import annotations

import os
import shutil
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from tests.processes.nursery import ROOT

INSIDE = 7077
"""The port behind the link; nobody else is there."""


@dataclass
class Link:
    """One end is this machine, the other a namespace."""

    name: str

    @property
    def address(self) -> str:
        """Where the server is, from behind the link."""
        return f"http://127.0.0.1:{INSIDE}"

    @property
    def inside(self) -> list[str]:
        """What a command begins with that is to run behind the link."""
        return ["ip", "netns", "exec", self.name]

    def cut(self) -> None:
        """Nothing comes through any more, and nobody is told."""
        _ip("link", "set", self.name, "down")

    def mend(self) -> None:
        """As before."""
        _ip("link", "set", self.name, "up")


@contextmanager
def link_to(server: str) -> Iterator[Link]:
    """A namespace from which the server can be reached."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("a network namespace needs root and the program ip")
    name, here = f"bw{os.getpid()}", f"10.{97 + os.getpid() % 100}.{os.getpid() // 100 % 250}"
    try:
        _ip("netns", "add", name)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"no network namespace can be made here: {error.stderr.decode().strip()}")
    try:
        _ip("link", "add", name, "type", "veth", "peer", "name", "up0", "netns", name)
        _ip("address", "add", f"{here}.1/30", "dev", name)
        _ip("link", "set", name, "up")
        _ip("-n", name, "address", "add", f"{here}.2/30", "dev", "up0")
        for device in ("up0", "lo"):
            _ip("-n", name, "link", "set", device, "up")
        with handing_on((f"{here}.1", 0), server) as port:
            link = Link(name)
            words = [*link.inside, sys.executable, "-m", "tests.processes.links"]
            inner = subprocess.Popen([*words, f"http://{here}.1:{port}"], cwd=ROOT)
            try:
                yield link
            finally:
                inner.kill()
                inner.wait()
    finally:
        with suppress(subprocess.CalledProcessError):
            _ip("link", "del", name)
        _ip("netns", "del", name)


@contextmanager
def handing_on(at: tuple[str, int], server: str) -> Iterator[int]:
    """Hand on every connection to a server on this machine; the port that listens."""
    found = urlsplit(server)
    to = (found.hostname or "", found.port or 80)

    class Handing(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError), socket.create_connection(to) as other:
                back = threading.Thread(target=_pump, args=(other, self.request), daemon=True)
                back.start()
                _pump(self.request, other)
                back.join()

    class Door(socketserver.ThreadingTCPServer):
        daemon_threads, allow_reuse_address, block_on_close = True, True, False

    with Door(at, Handing) as door:
        threading.Thread(target=door.serve_forever, daemon=True).start()
        try:
            yield int(door.server_address[1])
        finally:
            door.shutdown()


def _pump(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
    for each in (one, other):
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


if __name__ == "__main__":
    with handing_on(("127.0.0.1", INSIDE), sys.argv[1]):
        threading.Event().wait()
