"""A blocking caller of the HTTP API for the process tests: keys, retries, several addresses.

It is not the product's client on purpose: what judges the server shares nothing with it.

Every command bears a key. Whatever goes wrong on the way, the same key is sent again at the next
address, after a pause that grows and is blurred, until the deadline is over.
"""

from __future__ import annotations

import http.client
import json
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from tests.support.waiting import WAIT_S

ATTEMPT_S = 30.0
"""How long one try waits for a server that may be stopped; a busy one answers sooner."""
PAUSE_S, PAUSE_MOST_S = 0.02, 0.5
_INVENTORY = ("generations", "vram_bytes", "models", "fabrics", "partitionable")


class CallFailed(Exception):
    """A call that was answered with an error, or with nothing in time; ``code`` says which."""

    def __init__(self, code: str, message: str, *, retryable: bool) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.retryable = code, retryable


class HttpCaller:
    """Calls one of several servers; one for one thread. ``with`` it, or call ``close``."""

    def __init__(
        self,
        addresses: Sequence[str],
        token: str,
        *,
        deadline_s: float = WAIT_S,
        attempt_s: float = ATTEMPT_S,
    ) -> None:
        self._addresses, self._token = list(addresses), token
        self._deadline_s, self._attempt_s = deadline_s, attempt_s
        self._at = 0
        self._line: http.client.HTTPConnection | None = None
        self.headers: Mapping[str, str] = {}
        """Of the last answer."""

    def __enter__(self) -> HttpCaller:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        if self._line is not None:
            self._line.close()
        self._line = None

    def call(self, command: Mapping[str, Any], *, key: str | None = None) -> dict[str, Any]:
        """The answer to a command, given as the kernel spells it."""
        method, path, body = spelled(command)
        return self.ask(method, path, body, key=key or uuid4().hex)

    def status(self, *, digest: bool = False) -> dict[str, Any]:
        """How the replica that answers stands."""
        return self.ask("GET", f"/v1/replica?digest={'true' if digest else 'false'}")

    def ask_once(
        self, method: str, path: str, body: object = None, *, key: str | None = None
    ) -> dict[str, Any]:
        """The answer to one try; the code of a failure without an answer is ``no_answer``."""
        try:
            return self._try(method, path, body, key=key, until=time.monotonic() + self._attempt_s)
        except (OSError, ValueError, http.client.HTTPException) as error:
            self.close()
            raise CallFailed("no_answer", str(error), retryable=True) from error

    def ask(
        self, method: str, path: str, body: object = None, *, key: str | None = None
    ) -> dict[str, Any]:
        """The answer to a request, after as many tries as the deadline allows."""
        until = time.monotonic() + self._deadline_s
        pause_s = PAUSE_S
        while True:  # bounded by the deadline
            try:
                return self._try(method, path, body, key=key, until=until)
            except (OSError, ValueError, http.client.HTTPException) as error:
                failed = CallFailed("unavailable", str(error) or "no answer", retryable=True)
            except CallFailed as error:
                failed = error
            if not failed.retryable or time.monotonic() + pause_s > until:
                raise failed
            self.close()
            self._at = (self._at + 1) % len(self._addresses)
            time.sleep(pause_s * random.uniform(0.5, 1.0))
            pause_s = min(2 * pause_s, PAUSE_MOST_S)

    def _try(
        self, method: str, path: str, body: object, *, key: str | None, until: float
    ) -> dict[str, Any]:
        left = min(self._attempt_s, max(until - time.monotonic(), 0.001))
        if self._line is None:
            at = urlsplit(self._addresses[self._at])
            self._line = http.client.HTTPConnection(str(at.hostname), at.port, timeout=left)
        elif self._line.sock is not None:
            self._line.sock.settimeout(left)
        headers = {"Authorization": f"Bearer {self._token}"}
        headers |= {} if key is None else {"Idempotency-Key": key}
        data = None if body is None else json.dumps(body).encode()
        headers |= {} if data is None else {"Content-Type": "application/json"}
        self._line.request(method, path, data, headers)
        response = self._line.getresponse()
        found = json.loads(response.read())
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        if response.status < 300:
            answer: dict[str, Any] = found
            return answer
        if found["code"] == "refused":
            refused: dict[str, Any] = found["decision"]
            return refused
        raise CallFailed(found["code"], found["message"], retryable=found["retryable"])


def log_in(address: str, code: str) -> str:
    """A session's token for a login code."""
    with HttpCaller([address], "none") as caller:
        return str(caller.ask("POST", "/v1/login", {"code": code})["token"])


def spelled(command: Mapping[str, Any]) -> tuple[str, str, Any]:
    """How HTTP says a command of the kernel."""
    match command["command"]:
        case "register_node":
            found = command["inventory"]
            columns = [found.get(f"gpu_{name}", []) for name in _INVENTORY]
            gpus = [
                {
                    "generation": generation,
                    "vram_bytes": vram,
                    "model": model,
                    "fabric": fabric,
                    "partitionable": bool(parts),
                }
                for generation, vram, model, fabric, parts in zip(*columns, strict=True)
            ]
            # Devices are told one by one, so their sum is not.
            resources = {k: v for k, v in found["resources"].items() if k != "gpu_milli"}
            body = {"node": command["node"], "resources": resources, "gpus": gpus}
            return "POST", "/v1/nodes", body
        case "submit":
            rest = {name: command[name] for name in ("tenant", "wait") if name in command}
            request = dict(command["request"])
            amounts = request["resources"].items()
            request["resources"] = {k: v for k, v in amounts if k != "gpu_milli"}
            return "POST", "/v1/leases", rest | request
        case "release":
            return "DELETE", f"/v1/leases/{command['lease_id']}", None
        case "renew":
            path = f"/v1/leases/{command['lease_id']}/renew"
            return "POST", path, {"ttl_ms": command["ttl_ms"]}
        case other:
            raise AssertionError(other)
