"""What may pass between a caller and an app's endpoint: closed lists, both ways.

Rules:

- Whatever is on no list stays behind. So neither the caller's token nor a cookie reaches the app,
  nor does anything that is about one connection alone (``Connection``, ``Upgrade``, ``TE``,
  ``Transfer-Encoding``): how a message is framed is said anew on each side.
- The app's pages are a stranger's on the platform's own origin. They set no cookie there, steer no
  cache, no policy and no other origin, and in a browser they run no script: the answer says so.
- A redirect leads nowhere but to the same endpoint, and a path nowhere but below it: what a reader
  on the way could take for a step up (``..``), however it is spelled, is not passed on.

>>> redirect_of("/jobs?x=1", prefix="/v1/it")
'/v1/it/jobs?x=1'
>>> redirect_of("https://elsewhere.example/", prefix="/v1/it") is None
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from urllib.parse import unquote, urlsplit

HEADER_BYTES_MAX: Final = 32_768
"""Of all that an app says before the body of its answer, and of what is passed on to it."""
SHOWN_MAX: Final = 1_000
"""Characters of what an app wants to be shown."""

TO_APP: Final = frozenset(
    {
        *("accept", "accept-encoding", "accept-language", "cache-control", "pragma"),
        *("content-encoding", "content-language", "content-type", "user-agent"),
        *("if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since"),
        *("range", "x-requested-with"),
        *("sec-fetch-dest", "sec-fetch-mode", "sec-fetch-site", "sec-fetch-user"),
    }
)
TO_CALLER: Final = frozenset(
    {
        *("accept-ranges", "age", "content-disposition", "content-encoding", "content-language"),
        *("content-length", "content-range", "content-type", "etag", "expires"),
        *("last-modified", "retry-after", "vary"),
    }
)
GUARDS: Final[Mapping[str, str]] = {
    "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
}
"""What stands on every answer of an app that the API passes on."""

Pairs = Iterable[tuple[bytes, bytes]]


def to_app(headers: Pairs) -> Iterator[tuple[bytes, bytes]]:
    """Those of a request that the app is told."""
    return ((name, value) for name, value in headers if _word(name) in TO_APP)


def to_caller(headers: Pairs, *, prefix: str) -> Iterator[tuple[bytes, bytes]]:
    """Those of an app's answer that the caller is told, with what guards him."""
    for name, value in headers:
        word = _word(name)
        if word in TO_CALLER:
            yield name, value
        elif word == "location":
            found = redirect_of(value.decode("latin-1"), prefix=prefix)
            if found is not None:
                yield name, found.encode("latin-1")
    for guard, text in GUARDS.items():
        yield guard.encode(), text.encode()


def redirect_of(location: str, *, prefix: str) -> str | None:
    """Where a redirect leads, below the endpoint's own address; ``None`` if elsewhere."""
    if not location or not location.isprintable() or "\\" in location or leads_up(location):
        return None
    try:
        found = urlsplit(location)
        host = found.hostname
    except ValueError:
        return None
    query = f"?{found.query}" if found.query else ""
    if found.scheme == "http" and host == "localhost" and "@" not in found.netloc:
        return f"{prefix}/{found.path.lstrip('/')}{query}"
    if found.scheme or found.netloc or location.startswith("//"):
        return None
    if location.startswith("/"):
        return f"{prefix}{found.path}{query}"
    return None if ":" in found.path.partition("/")[0] else f"{found.path}{query}"


def leads_up(target: str) -> bool:
    """Whether a path has a step that is no name, as anybody on the way might read it.

    >>> leads_up("/a/%2E%2e/b"), leads_up("/a..b/c?x=../y")
    (True, False)
    """
    path = unquote(unquote(target.partition("?")[0])).replace("\\", "/")
    return any(step in (".", "..") for step in path.split("/"))


def is_showable(text: object) -> bool:
    """Whether it can stand in a header: what a member says is believed no further."""
    if not isinstance(text, str) or not 0 < len(text) <= SHOWN_MAX:
        return False
    return text.isascii() and text.isprintable() and text == text.strip()


def _word(name: bytes) -> str:
    return name.decode("latin-1").lower()
