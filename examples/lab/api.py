"""The server's API in a few lines, as any program could ask it."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any
from uuid import uuid4

WAIT_S = 60.0


class Api:
    """One server, asked as one principal."""

    def __init__(self, address: str, token: str = "") -> None:
        self.address, self.token = address, token

    def ask(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """The answer; a refusal says what the server said."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": uuid4().hex}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(self.address + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=WAIT_S) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            raise SystemExit(f"{method} {path}: {error.read().decode()}") from None
