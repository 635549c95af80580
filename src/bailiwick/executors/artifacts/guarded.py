"""Connections to sources of artifacts: to what may be asked, and not for longer than told.

Rules:

- A tenant names its own sources, so the server asks for it only what anybody on the internet could
  ask (:mod:`bailiwick.apps.addresses`), and what whoever runs the fleet allows. The address that
  was judged is the one that is asked, at each redirect again: a name that means another one a
  moment later gains nothing.
- Everything together (connecting, headers, body, redirects) ends at one deadline: who sends a byte
  a minute holds nobody up.
- No proxy is used, whatever the environment says: it would ask on behalf of anybody.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import httpcore2
import httpx2

from bailiwick.vocab.errors import InvalidValue

Judge: TypeAlias = Callable[[Sequence[str]], bool]
"""Whether a name may be used that means these addresses."""


class AddressForbidden(InvalidValue):
    """A source is where the server does not ask for a tenant; not which address that is."""

    def __init__(self) -> None:
        super().__init__("address", "(not shown)", "one that may be asked for a tenant's artifacts")


@dataclass(frozen=True, slots=True)
class Deadline:
    """When all of it must be over, by a clock that never goes back."""

    until: float
    now: Callable[[], float] = time.monotonic

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        """So many seconds from now."""
        return cls(time.monotonic() + seconds)

    def left(self, most: float | None) -> float:
        """How long one step may take."""
        left = self.until - self.now()
        if left <= 0:
            raise httpcore2.ReadTimeout("the time is over")
        return left if most is None else min(left, most)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, deadline: Deadline) -> None:
        self._inner, self._deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._deadline.left(timeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(self, *rest: Any, **told: Any) -> _Stream:
        told["timeout"] = self._deadline.left(told.get("timeout"))
        return _Stream(self._inner.start_tls(*rest, **told), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


class _Backend(httpcore2.SyncBackend):
    """Judges an address before it is asked, and watches the time."""

    def __init__(self, deadline: Deadline, may_ask: Judge) -> None:
        self._deadline, self._may_ask = deadline, may_ask

    def connect_tcp(self, host: str, port: int, *rest: Any, **told: Any) -> httpcore2.NetworkStream:
        try:
            rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore2.ConnectError(str(error)) from None
        found = [str(row[4][0]) for row in rows]
        if not self._may_ask(found):
            raise AddressForbidden()
        told["timeout"] = self._deadline.left(told.get("timeout"))
        inner = super().connect_tcp(found[0], port, *rest, **told)
        return _Stream(inner, self._deadline)


def guarded_transport(deadline: Deadline, may_ask: Judge = bool) -> httpx2.HTTPTransport:
    """How sources are asked."""
    transport = httpx2.HTTPTransport(trust_env=False)
    transport._pool = httpcore2.ConnectionPool(
        ssl_context=httpx2.create_ssl_context(trust_env=True),
        http1=True,
        http2=False,
        network_backend=_Backend(deadline, may_ask),
    )
    return transport
