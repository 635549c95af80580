"""A place of blobs on the web, under a certificate of its own: good, or as bad as a test says."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.support.certificates import make_certificate


@dataclass
class BlobPlace:
    """Where it listens, what it holds by path, what it was asked, and how it behaves."""

    host: str = ""
    held: dict[str, bytes] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    behave: Callable[[BaseHTTPRequestHandler], bool] = lambda handler: False
    """Answers a request in its own way, and says so."""

    @property
    def address(self) -> str:
        """As a source names it."""
        return f"https://{self.host}/apps"

    def put(self, digest: str, data: bytes, *, end: str = "") -> None:
        """Have it hold a blob, or what lies beside one."""
        self.held[f"/apps/sha256/{digest.removeprefix('sha256:')}{end}"] = data


def answer(handler: BaseHTTPRequestHandler, data: bytes, *, code: int = 200, **more: str) -> None:
    """One plain answer."""
    handler.send_response(code)
    for name, value in more.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def drip(handler: BaseHTTPRequestHandler) -> bool:
    """A header a moment, without an end: no single read ever takes long."""
    handler.send_response(200)
    for number in range(10_000):
        handler.send_header(f"x-{number}", "and another")
        handler.flush_headers()
        time.sleep(0.02)
    return True


def endless(handler: BaseHTTPRequestHandler) -> bool:
    """A body that does not say how long it is, and does not end."""
    handler.send_response(200)
    handler.end_headers()
    while True:  # until the other side hangs up
        handler.wfile.write(bytes(1 << 16))


@contextmanager
def blob_place(folder: Path) -> Iterator[BlobPlace]:
    """One that listens on this machine alone; ``folder/cert.pem`` is what to trust."""
    place = BlobPlace()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            span = self.headers.get("Range", "")
            place.asked.append((self.path, span))
            with suppress(OSError):
                if place.behave(self):
                    return
                data = place.held.get(self.path)
                if data is None:
                    answer(self, b"", code=404)
                elif span:
                    start = int(span.removeprefix("bytes=").rstrip("-"))
                    told = f"bytes {start}-{len(data) - 1}/{len(data)}"
                    answer(self, data[start:], code=206, Content_Range=told)
                else:
                    answer(self, data)

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            del request, client_address

    certificate, secret = make_certificate(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, secret)
    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    place.host = f"127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield place
    finally:
        server.shutdown()
        server.server_close()
