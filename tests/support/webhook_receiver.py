"""A receiver of webhooks on loopback, which answers as it is told and keeps all that it got."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.waiting import WAIT_S, until


@dataclass(frozen=True, slots=True)
class Message:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> dict[str, Any]:
        """The CloudEvent in it."""
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def message_id(self) -> str:
        """By what it says to be known."""
        return self.headers["webhook-id"]


Answer = int | tuple[int, dict[str, str]]


class Receiver:
    """Keeps what it is sent; ``answer`` says what to each message."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.messages: list[Message] = []
        self.answer: Callable[[Message], Answer] = lambda message: 204
        self.hangs = threading.Event()
        """Whoever answers with 0 waits for this, and then hangs up without a word."""
        self.pours = False
        """Whether an answer has a body that ends only when nobody reads it any more."""
        self.hung_up = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["content-length"])
                named = {name.lower(): value for name, value in self.headers.items()}
                message = Message(self.path, named, self.rfile.read(length))
                receiver.messages.append(message)
                found = receiver.answer(message)
                status, headers = (found, {}) if isinstance(found, int) else found
                if status == 0:
                    receiver.hangs.wait(WAIT_S)
                    return
                self.send_response(status)
                for name, value in {"content-length": "0", **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if receiver.pours:
                    self._pour()

            def _pour(self) -> None:
                try:
                    while not receiver.hangs.is_set():
                        self.wfile.write(bytes(2**16))
                except OSError:
                    receiver.hung_up.set()

            def log_message(self, *words: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/in"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def wait_for(self, count: int) -> list[Message]:
        """The first so many messages."""
        until(lambda: len(self.messages) >= count, f"{count} messages, not {len(self.messages)}")
        return self.messages[:count]

    def close(self) -> None:
        """Receive no more."""
        self.hangs.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def receiving(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    """A receiver, for as long as it is needed."""
    found = Receiver(tls)
    try:
        yield found
    finally:
        found.close()


def is_genuine(message: Message, secret: str, *, tolerance_s: int = 300) -> bool:
    """Whether a message is signed with the secret: Standard Webhooks, read anew from its text.

    It is made over the id, the time and the body with full stops between them, under the key that
    follows ``whsec_``, decoded; in the header each signature has its version before it.
    """
    key = base64.b64decode(secret.split("_", 1)[1], validate=True)
    assert 24 <= len(key) <= 64
    sent_s = int(message.headers["webhook-timestamp"])
    if abs(time.time() - sent_s) > tolerance_s:
        return False
    content = f"{message.message_id}.{sent_s}.{message.body.decode()}"
    expected = hmac.new(key, content.encode(), hashlib.sha256).digest()
    found = (each.split(",", 1) for each in message.headers["webhook-signature"].split(" "))
    return any(
        version == "v1" and hmac.compare_digest(base64.b64decode(signature), expected)
        for version, signature in found
    )
