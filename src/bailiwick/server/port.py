"""The HTTP port: uvicorn, with bounds on who is slow or greedy, and no hand on signals.

Rules:

- A connection that has not finished its headers in time is cut, its first request's as well as any
  later one's. So a caller who drips costs one connection for a few seconds.
- Headers are bounded in bytes, connections in number. The parser keeps a header until it is whole,
  so bytes that lead to nothing (an endless value, a chunk's extension) are bounded as well.
- Who began a request when the server ends gets a moment to see its answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from bailiwick.vocab.errors import InvalidValue

HEADERS_S = 10.0
HEADER_BYTES_MAX = 64 << 10
CONNECTIONS_MAX = 2_000
GRACE_S = 5


@dataclass(frozen=True, slots=True)
class Tls:
    """The certificate that the server shows, and (for replicas) whom it believes."""

    certificate: Path
    key: Path
    ca: Path | None = None

    def check(self) -> None:
        """Whether the files are a certificate and its key."""
        try:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificate, self.key)
            if self.ca is not None:
                context.load_verify_locations(self.ca)
        except (OSError, ValueError) as error:
            told = f"PEM files that belong together ({error})"
            raise InvalidValue("--tls-cert, --tls-key", str(self.certificate), told) from None


class Port(uvicorn.Server):
    """The server behind one socket; ``should_exit`` ends it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the process's business."""
        yield


class BoundedProtocol(HttpToolsProtocol):
    """One connection."""

    headers_s = HEADERS_S
    _seen_bytes = 0
    _silent_bytes = 0
    _cut_at: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody is there: he has so long to ask."""
        super().connection_made(transport)
        self._begin_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        """He is gone."""
        self._end_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Some bytes; whatever they lead to sets the count of those that led to nothing back."""
        self._silent_bytes += len(data)
        super().data_received(data)
        if self._silent_bytes > HEADER_BYTES_MAX:
            self._cut()

    def on_message_begin(self) -> None:
        """A request begins."""
        self._seen_bytes = self._silent_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Some of its first line."""
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """One of its headers."""
        self._count(len(name) + len(value) + len(": \r\n"))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """From here on the application's own bounds hold."""
        self._silent_bytes = 0
        self._end_waiting()
        if self._seen_bytes <= HEADER_BYTES_MAX:
            super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Some of its body, which the application counts."""
        self._silent_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """All of it."""
        self._silent_bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The next request has so long again, however it drips."""
        super().on_response_complete()
        self._begin_waiting()

    def _count(self, size: int) -> None:
        self._silent_bytes = 0
        self._seen_bytes += size
        if self._seen_bytes > HEADER_BYTES_MAX and not self.transport.is_closing():
            self.send_400_response("The headers are too long.")

    def _begin_waiting(self) -> None:
        self._end_waiting()
        # Beside uvicorn's own, which ends an idle connection but not one that drips.
        wait_s = max(self.headers_s, self.timeout_keep_alive)
        self._cut_at = self.loop.call_later(wait_s, self._cut)

    def _end_waiting(self) -> None:
        if self._cut_at is not None:
            self._cut_at.cancel()
            self._cut_at = None

    def _cut(self) -> None:
        if not self.transport.is_closing():
            self.transport.abort()


def open_port(app: Any, tls: Tls | None = None, *, protocol: Any = BoundedProtocol) -> Port:
    """A server for the application; ``serve(sockets=[...])`` runs it."""
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=CONNECTIONS_MAX,
        timeout_keep_alive=int(HEADERS_S),
        timeout_graceful_shutdown=GRACE_S,
        ssl_certfile=None if tls is None else str(tls.certificate),
        ssl_keyfile=None if tls is None else str(tls.key),
    )
    return Port(config)
