"""A blocking client of the line protocol, for scripts and tests.

Rules:

- Every command bears a key. Whatever goes wrong on the way, the same key is sent again, so a
  command takes effect at most once and its first answer is the answer.
- Only what may pass is tried again (a lost connection, an error that says ``retryable``): at the
  next address, after a pause that grows and is blurred, until ``deadline_s`` is over.
- One client is for one thread.
"""

from __future__ import annotations

import json
import random
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

PAUSE_S, PAUSE_MOST_S = 0.02, 0.5
LINE_BYTES_MAX = 4 << 20


class CallFailed(Exception):
    """A call that was answered with an error, or with nothing in time; ``code`` says which."""

    def __init__(self, code: str, message: str, *, retryable: bool, hint: str = "") -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.retryable, self.hint = code, retryable, hint


class LineClient:
    """Calls one of several servers; ``with`` it, or call ``close``."""

    def __init__(
        self,
        addresses: Sequence[str],
        token: str,
        *,
        actor: str = "operator",
        deadline_s: float = 30.0,
        attempt_s: float = 10.0,
    ) -> None:
        if not addresses:
            raise ValueError("addresses: expected at least one host:port")
        self._addresses = list(addresses)
        self._token = token
        self._actor = actor
        self._deadline_s, self._attempt_s = deadline_s, attempt_s
        self._at = 0
        self._number = 0
        self._socket: socket.socket | None = None
        self._rest = b""

    def __enter__(self) -> LineClient:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        connection, self._socket = self._socket, None
        self._rest = b""
        if connection is not None:
            connection.close()

    def call(
        self, command: Mapping[str, Any], *, key: str | None = None, correlation_id: str = "none"
    ) -> dict[str, Any]:
        """The answer to a command, after as many tries as the deadline allows."""
        request = {
            "token": self._token,
            "actor": self._actor,
            "correlation_id": correlation_id,
            "key": key or uuid4().hex,
            "command": dict(command),
        }
        answer: dict[str, Any] = self._ask(request)["answer"]
        return answer

    def read(self, word: str, **fields: object) -> dict[str, Any]:
        """What ``status``, ``lease``, ``leases`` or ``entry`` shows, with its ``age_ms``."""
        found: dict[str, Any] = self._ask({"token": self._token, "read": word, **fields})["read"]
        return found

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        until = time.monotonic() + self._deadline_s
        pause_s = PAUSE_S
        while True:  # bounded by the deadline
            try:
                return self._try(request, until)
            except (OSError, ValueError) as error:
                failed = CallFailed("unavailable", str(error) or "no answer", retryable=True)
            except CallFailed as error:
                failed = error
            if not failed.retryable or time.monotonic() + pause_s > until:
                raise failed
            self.close()
            self._at = (self._at + 1) % len(self._addresses)
            time.sleep(pause_s * random.uniform(0.5, 1.0))
            pause_s = min(2 * pause_s, PAUSE_MOST_S)

    def _try(self, request: dict[str, Any], until: float) -> dict[str, Any]:
        left = min(self._attempt_s, max(until - time.monotonic(), 0.001))
        if self._socket is None:
            host, _, port = self._addresses[self._at].rpartition(":")
            address = (host.strip("[]"), int(port))
            self._socket = socket.create_connection(address, timeout=min(left, 3.0))
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._number += 1
        line = json.dumps({"id": self._number, **request}, separators=(",", ":")).encode()
        self._socket.settimeout(left)
        self._socket.sendall(line + b"\n")
        found = json.loads(self._line(self._socket))
        if "error" in found:
            error = found["error"]
            raise CallFailed(
                error["code"],
                error["message"],
                retryable=error["retryable"],
                hint=error["hint"],
            )
        if found.get("id") != self._number:
            raise ValueError("an answer to another question")
        answer: dict[str, Any] = found
        return answer

    def _line(self, connection: socket.socket) -> bytes:
        while b"\n" not in self._rest:  # bounded by the length of a line
            data = connection.recv(65536)
            if not data:
                raise ConnectionResetError("the server hung up")
            self._rest += data
            if len(self._rest) > LINE_BYTES_MAX:
                raise ValueError("the server's line does not end")
        line, _, self._rest = self._rest.partition(b"\n")
        return line
