"""An issuer of signed words about programs, on loopback: as a CI system is, with keys of ours."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jwt
from joserfc.jwk import RSAKey


@dataclass(slots=True)
class SmallIssuer:
    """The issuer that runs: what it publishes may be changed."""

    issuer: str
    key: RSAKey
    keys: list[dict[str, Any]]
    more: dict[str, Any] = field(default_factory=dict)
    """What its document says instead."""
    pages: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What it answers at other paths."""
    asked: list[str] = field(default_factory=list)

    def sign(self, *, key: RSAKey | None = None, kid: str = "one", **claims: Any) -> str:
        """What it says of a program; a claim of nothing is left out."""
        said = {name: value for name, value in claims.items() if value is not None}
        header = {"alg": "RS256", "kid": kid}
        return jwt.encode(header, said, key or self.key, algorithms=["RS256"])

    def answer(self, path: str) -> dict[str, Any] | None:
        """What is published there."""
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            return {"issuer": self.issuer, "jwks_uri": f"{self.issuer}/keys"} | self.more
        return {"keys": self.keys} if path == "/keys" else self.pages.get(path)


@contextmanager
def small_issuer() -> Iterator[SmallIssuer]:
    """An issuer that listens until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = made.answer(self.path)
            body = json.dumps(found).encode()
            self.send_response(404 if found is None else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    key = RSAKey.generate_key(2048, parameters={"kid": "one", "use": "sig"})
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        issuer = f"http://127.0.0.1:{server.server_address[1]}"
        made = SmallIssuer(issuer, key, [key.as_dict(private=False)])
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()
