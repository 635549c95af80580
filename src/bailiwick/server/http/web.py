"""The web, as it was built: files in memory, a page for every address that is a page's.

Rules:

- What is served was read once, when the application was made, from one folder. A path of a request
  is looked up in that table and never joined to a folder: nothing else can be reached by it.
- ``/v1`` and the paths of the API are not ours: what is wrong there is told in the one envelope.
- An address that is none of a file answers the page itself, but only to who asks for a page (a
  browser's address line). Everybody else gets 404 in the envelope.
- What a page may do is said here, in one policy: its own scripts and styles, its own server,
  nothing inline, and no frame around it.
- Where nothing was built, every page says how to build it, and 503.
"""

from __future__ import annotations

import mimetypes
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Receive, Scope, Send

BUILT: Final = Path(__file__).parents[1] / "web"
"""Where the build puts it, beside the modules of the server; in wheels too."""
INDEX: Final = "index.html"
BYTES_MAX: Final = 1 << 24
"""More than this is no web of ours."""
_ENCODINGS: Final = (("br", ".br"), ("gzip", ".gz"))
"""Made by the build; the best first."""
_ASSETS: Final = "/assets/"
"""What lies there has a hash in its name, so it never changes."""
_NOT_OURS: Final = ("/v1", "/healthz", "/readyz", "/metrics", "/openapi.json")
_KINDS: Final = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}

POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "img", "font", "connect")),
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    )
)
HEADERS: Final = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
"""On every answer from here."""

NOT_BUILT: Final = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Bailiwick: the web is not built</title>
<h1>The web is not built</h1>
<p>The server works; only its pages are missing. The command line does everything:
<code>bailiwick status</code>.</p>
<p>To build them you need Node 20.19 or newer with npm, and a registry of npm packages that can be
reached. In the folder of the sources:</p>
<pre>make web</pre>
<p>Then start the server again. A wheel from <code>make dist</code> holds them already.</p>
</html>
"""


@dataclass(frozen=True, slots=True)
class WebFile:
    """One file, in every encoding in which it was built."""

    media_type: str
    plain: bytes
    encoded: Mapping[str, bytes] = field(default_factory=dict)


def load_web(folder: Path = BUILT) -> dict[str, WebFile]:
    """All built files by their path in the address; nothing if the web was not built."""
    if not (folder / INDEX).is_file():
        return {}
    found, total = {}, 0
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix in {".br", ".gz"} or path.name.startswith("."):
            continue
        plain = path.read_bytes()
        total += len(plain)
        if total > BYTES_MAX:
            raise ValueError(f"{folder} holds more than {BYTES_MAX} bytes: that is not the web")
        encoded = {
            word: twin.read_bytes()
            for word, suffix in _ENCODINGS
            if (twin := path.with_name(path.name + suffix)).is_file()
        }
        address = "/" + path.relative_to(folder).as_posix()
        found[address] = WebFile(_media_type(path), plain, encoded)
    return found


def _media_type(path: Path) -> str:
    kind = _KINDS.get(path.suffix) or mimetypes.guess_type(path.name)[0]
    kind = kind or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


class WebRoute(Route):
    """Answers what no route of the API is for."""

    def __init__(self, files: Mapping[str, WebFile]) -> None:
        super().__init__("/{rest:path}", WebPages(files), include_in_schema=False)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether it is a question for a page or a file."""
        if scope["type"] != "http" or scope["method"] not in {"GET", "HEAD"}:
            return Match.NONE, {}
        path: str = scope["path"]
        if path.startswith(tuple(f"{each}/" for each in _NOT_OURS)) or path in _NOT_OURS:
            return Match.NONE, {}
        return Match.FULL, {}


class WebPages:
    """The files, as an application of their own."""

    def __init__(self, files: Mapping[str, WebFile]) -> None:
        self._files = files

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file, or the page, or 404."""
        response = self.answer(scope["path"], Headers(scope=scope))
        if scope["method"] == "HEAD":
            response.body = b""  # its length stays told
        await response(scope, receive, send)

    def answer(self, path: str, headers: Headers) -> Response:
        """What is sent for a path."""
        found = self._files.get(path)
        if found is not None and not path.endswith(f"/{INDEX}"):
            lasting = path.startswith(_ASSETS)
            age = "public, max-age=31536000, immutable" if lasting else "no-cache"
            return _sent(found, headers, cache=age)
        if path.startswith(_ASSETS) or "text/html" not in headers.get("accept", ""):
            raise HTTPException(404)
        page = self._files.get(f"/{INDEX}")
        if page is None:
            told = HEADERS | {"cache-control": "no-store"}
            return Response(NOT_BUILT, 503, told, media_type="text/html")
        return _sent(page, headers, cache="no-store")


def _sent(file: WebFile, headers: Headers, *, cache: str) -> Response:
    """The file in the best encoding that the caller takes."""
    taken = {
        part.partition(";")[0].strip() for part in headers.get("accept-encoding", "").split(",")
    }
    told = {**HEADERS, "cache-control": cache, "vary": "accept-encoding"}
    body = file.plain
    for word, _ in _ENCODINGS:
        if word in taken and word in file.encoded:
            body, told["content-encoding"] = file.encoded[word], word
            break
    return Response(body, 200, told, media_type=file.media_type)
