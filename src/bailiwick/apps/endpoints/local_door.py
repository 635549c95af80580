"""Who may come through a listener on a person's own machine to an app: he, from there only.

Rules:

- Anything on the machine can reach the port, and so can any page in his browser. So each request
  has to show a secret that was printed for him: a browser is given it as a cookie by the address
  that he opens, a program sends it as a bearer token.
- What a page from elsewhere has a browser send is refused by where it says it is from (``Origin``,
  ``Sec-Fetch-Site``), and what was led here by a name that is not this machine's, by ``Host``.
- The secret opens this listener and nothing else, and goes no further.

>>> LocalDoor(8_080, "s3cret").judge("GET", "/", headers=[(b"host", b"evil.example:8080")])
KeptOut(status=421, why='only http://127.0.0.1:8080 is served here')
"""

from __future__ import annotations

from dataclasses import dataclass
from hmac import compare_digest
from typing import Final, TypeAlias

from bailiwick.apps.endpoints.headers import Pairs, leads_up

METHODS: Final = ("GET", "POST", "PUT", "PATCH", "DELETE")
_OPEN: Final = "/-/open/"


@dataclass(frozen=True, slots=True)
class LetThrough:
    """It is passed on."""


@dataclass(frozen=True, slots=True)
class LetIn:
    """It is the address that he opens: he is given the cookie, and sent to the app."""

    cookie: str


@dataclass(frozen=True, slots=True)
class KeptOut:
    """It is not passed on."""

    status: int
    why: str


Verdict: TypeAlias = LetThrough | LetIn | KeptOut


@dataclass(frozen=True, slots=True)
class LocalDoor:
    """The door of a listener on one port."""

    port: int
    secret: str

    @property
    def origin(self) -> str:
        """Where it is, for a browser."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """What he opens; it holds the secret."""
        return f"{self.origin}{_OPEN}{self.secret}"

    @property
    def _cookie(self) -> str:
        # Cookies of one host are those of all its ports: the name says whose it is.
        return f"bailiwick-{self.port}"

    def judge(self, method: str, target: str, *, headers: Pairs) -> Verdict:
        """Whether a request is passed on."""
        given: dict[str, list[str]] = {}
        for name, value in headers:
            given.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if given.get("host") != [f"127.0.0.1:{self.port}"]:
            return KeptOut(421, f"only {self.origin} is served here")
        if given.get("origin", [self.origin]) != [self.origin]:
            return KeptOut(403, "another page sent this")
        if given.get("sec-fetch-site", ["none"])[0] not in ("none", "same-origin"):
            return KeptOut(403, "another page sent this")
        if method not in METHODS or not target.startswith("/"):
            return KeptOut(405, f"one of {', '.join(METHODS)}, for a path")
        if leads_up(target):
            return KeptOut(400, "a path without steps up")
        if "upgrade" in given:
            return KeptOut(501, "no other protocol is switched to")
        if target.startswith(_OPEN):
            if method == "GET" and _same(target.removeprefix(_OPEN), self.secret):
                return LetIn(f"{self._cookie}={self.secret}; Path=/; HttpOnly; SameSite=Strict")
            return KeptOut(403, "this address is of another time: see what was printed")
        if not any(_same(each, self.secret) for each in self._shown(given)):
            return KeptOut(403, "open the address that was printed")
        return LetThrough()

    def _shown(self, given: dict[str, list[str]]) -> list[str]:
        """What a request shows as the secret."""
        found = []
        for line in given.get("cookie", ()):
            for part in line.split(";"):
                name, _, value = part.strip().partition("=")
                found += [value] if name == self._cookie else []
        for line in given.get("authorization", ()):
            scheme, _, token = line.partition(" ")
            found += [token.strip()] if scheme.lower() == "bearer" else []
        return found


def _same(shown: str, secret: str) -> bool:
    return compare_digest(shown.encode(), secret.encode())
