"""A browser's session: its cookie, and what keeps other pages from using it.

Rules:

- The token is in a ``__Host-`` cookie that no script reads, that goes to this server alone, and
  that no other page's request bears (``SameSite=Strict``). It is in no body.
- A request by cookie that another page made is refused, as far as the browser says so. One that
  changes something has to show the session's own value in ``X-CSRF-Token`` as well, which only a
  page of this origin can have read. The value is made from the session and a key of the server: it
  is kept nowhere, and every replica makes the same.
- A request with ``Authorization`` is judged by that alone.

>>> origin_of({"sec-fetch-site": "same-site"}).value
'foreign'
>>> origin_of({"origin": "https://here.example", "host": "here.example"}).value
'same'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hmac import compare_digest
from hmac import digest as hmac_digest
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from bailiwick.services.authority import Authority, BrowserSession

COOKIE: Final = "__Host-bailiwick"
LOGIN_COOKIE: Final = "__Host-bailiwick-login"
CSRF_HEADER: Final = "x-csrf-token"
SAFE: Final = frozenset(("GET", "HEAD", "OPTIONS"))
"""Methods that change nothing."""


@dataclass(frozen=True, slots=True)
class ShownToken:
    """The token that a request shows, and how."""

    token: str | None
    is_cookie: bool


class PageOrigin(StrEnum):
    """Whose page made a request, as far as its browser says."""

    SAME = "same"
    FOREIGN = "foreign"
    UNSAID = "unsaid"


def shown_by(request: Request) -> ShownToken:
    """What a request shows: ``Authorization`` if it has that, else the cookie."""
    if "authorization" in request.headers:
        return ShownToken(bearer_of(request), False)
    found = cookies_of(request, COOKIE)
    # Of two nobody knows which one is ours.
    return ShownToken(found[0], True) if len(found) == 1 else ShownToken(None, False)


def bearer_of(request: Request) -> str | None:
    """The token in the ``Authorization`` header."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def cookies_of(request: Request, name: str) -> list[str]:
    """The values of all cookies of just that name."""
    lines = request.headers.getlist("cookie")
    pairs = (part.strip().partition("=") for line in lines for part in line.split(";"))
    return [value for key, _, value in pairs if key == name]


def origin_of(headers: Mapping[str, str]) -> PageOrigin:
    """Whose page made a request.

    What the browser says of it counts more than the names, which a proxy may have changed.
    """
    site = headers.get("sec-fetch-site")
    if site is not None:
        if site == "none":  # typed by a person
            return PageOrigin.UNSAID
        return PageOrigin.SAME if site == "same-origin" else PageOrigin.FOREIGN
    origin = headers.get("origin")
    if origin is None:
        return PageOrigin.UNSAID
    try:
        place = urlsplit(origin).netloc
    except ValueError:
        return PageOrigin.FOREIGN
    is_same = bool(place) and place.lower() == headers.get("host", "").lower()
    return PageOrigin.SAME if is_same else PageOrigin.FOREIGN


def may_use_cookie(request: Request, *, csrf: str) -> bool:
    """Whether a request that shows the cookie was made by a page of ours."""
    if origin_of(request.headers) is PageOrigin.FOREIGN:
        return False
    if request.method in SAFE:
        return True
    return compare_digest(request.headers.get(CSRF_HEADER, "").encode(), csrf.encode())


def csrf_of(authority: Authority, session: BrowserSession) -> str:
    """What changes by a session's cookie have to show; the same for all of its tokens."""
    key = authority.key_for(b"csrf")
    return hmac_digest(key, session.session_id.encode(), "sha256").hex()


def give_cookie(response: Response, token: str, *, max_age_s: int) -> None:
    """Have the browser keep a token, for so long."""
    _set(response, COOKIE, token, max_age_s=max_age_s, same_site="Strict")


def drop_cookie(response: Response) -> None:
    """Have the browser forget the token."""
    _set(response, COOKIE, "", max_age_s=0, same_site="Strict")


def give_note(response: Response, note: str, *, max_age_s: int) -> None:
    """Have the browser keep what belongs to a login, until it comes back from elsewhere."""
    _set(response, LOGIN_COOKIE, note, max_age_s=max_age_s, same_site="Lax")


def _set(response: Response, name: str, value: str, *, max_age_s: int, same_site: str) -> None:
    told = f"{name}={value}; Max-Age={max_age_s}; Path=/; Secure; HttpOnly; SameSite={same_site}"
    response.headers.append("set-cookie", told)
