"""A registry that is read only and holds OCI layouts of the test; it wants a token of its own."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

USER, SECRET, TOKEN = "reader", "s3cret-word", "t0ken-of-the-registry"
Answer = tuple[int, dict[str, str], bytes]


@dataclass
class SmallRegistry:
    """Where it listens, what it holds, and what it was asked."""

    layouts: dict[str, Path]
    is_open: bool = True
    host: str = ""
    asked: list[str] = field(default_factory=list)
    instead: dict[str, bytes] = field(default_factory=dict)
    """What it answers for a digest, whatever that should be."""
    moved_to: str = ""
    """Where it sends whoever asks for a blob, if that is elsewhere."""

    def answer(self, path: str, authorization: str) -> Answer:
        """Status, headers and body of one request."""
        self.asked.append(path)
        if path.startswith("/token?"):
            basic = base64.b64encode(f"{USER}:{SECRET}".encode()).decode()
            is_good = authorization == f"Basic {basic}" and "scope=repository" in path
            return (200, {}, b'{"token": "%s"}' % TOKEN.encode()) if is_good else (401, {}, b"")
        if not self.is_open and authorization != f"Bearer {TOKEN}":
            told = f'Bearer realm="http://{self.host}/token",service="small"'
            return 401, {"WWW-Authenticate": told}, b""
        if path.startswith("/moved/"):
            return self._blob(path.removeprefix("/moved/"))
        name, _, rest = path.removeprefix("/v2/").partition("/")
        kind, _, digest = rest.partition("/")
        if name not in self.layouts or kind not in ("manifests", "blobs", "referrers"):
            return 404, {}, b""
        if kind == "blobs":
            return 307, {"Location": f"{self.moved_to}/moved/{name}/{digest}"}, b""
        if kind == "referrers":
            return self._blob(f"{name}/{digest}.referrers")
        return self._blob(f"{name}/{digest}")

    def _blob(self, path: str) -> Answer:
        name, _, digest = path.partition("/")
        if digest in self.instead:
            return 200, {}, self.instead[digest]
        at = self.layouts[name] / "blobs/sha256" / digest.partition(":")[2]
        return (200, {}, at.read_bytes()) if at.is_file() else (404, {}, b"")


def add_signature(layout: Path, digest: str, *, text: str, media: str) -> None:
    """Have a layout hold a signature of a manifest, as referrers tell it."""
    blobs = layout / "blobs/sha256"

    def blob(data: bytes) -> dict[str, Any]:
        found = hashlib.sha256(data).hexdigest()
        (blobs / found).write_bytes(data)
        return {"mediaType": media, "digest": f"sha256:{found}", "size": len(data)}

    manifest = {"schemaVersion": 2, "config": blob(b"{}"), "layers": [blob(text.encode())]}
    manifest |= {"artifactType": media, "subject": {"digest": digest}}
    rows = blobs / digest.partition(":")[2]
    at = rows.with_name(rows.name + ".referrers")
    known = json.loads(at.read_text())["manifests"] if at.exists() else []
    known.append(blob(json.dumps(manifest).encode()) | {"artifactType": media})
    at.write_text(json.dumps({"schemaVersion": 2, "manifests": known}))


@contextmanager
def small_registry(**layouts: Path) -> Iterator[SmallRegistry]:
    """One that listens on this machine alone."""
    registry = SmallRegistry(layouts)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            authorization = self.headers.get("Authorization", "")
            code, headers, body = registry.answer(self.path, authorization)
            self.send_response(code)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    registry.host = f"127.0.0.1:{server.server_address[1]}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
