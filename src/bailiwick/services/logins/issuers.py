"""An issuer of signed words: where it publishes its keys, and what is remembered of it.

Rules:

- Only addresses that nobody else reads (HTTPS, or this machine) are asked, none that an answer
  redirects to, and what is answered is bounded in size and time. An issuer elsewhere never leads to
  this machine.
- What the issuer publishes is remembered for an hour. Keys are looked up again when a token names
  one that is not among them, once a minute at most; an issuer that fails is left alone for
  seconds, so that nobody can have us hammer it.
- The document must name exactly the issuer that the operator did.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import httpx2
from joserfc.jwk import KeySet

from bailiwick.ports import Clock
from bailiwick.services.logins.id_tokens import UnknownKey, read_keys
from bailiwick.services.logins.providers import is_safe_url
from bailiwick.services.logins.words import LoginRefusal, LoginRefused

T = TypeVar("T")

WAIT_S: Final = 10.0
BYTES_MAX: Final = 1 << 20
KEPT_MS: Final = 3_600_000
KEYS_AGAIN_MS: Final = 60_000
FAILED_MS: Final = 3_000
_WELL_KNOWN: Final = "/.well-known/openid-configuration"


@dataclass(slots=True)
class IssuerClient:
    """One issuer, and what is remembered of it."""

    issuer: str
    ca_file: str | None
    clock: Clock
    _document: tuple[int, Mapping[str, Any]] | None = field(default=None, init=False)
    _keys: tuple[int, KeySet] | None = field(default=None, init=False)
    _failed_ms: int | None = field(default=None, init=False)

    async def endpoint(self, name: str) -> str:
        """An address of the issuer."""
        found = (await self.discover()).get(name)
        if not isinstance(found, str) or not is_safe_url(found) or self._leads_here(found):
            raise self.lost(f"its document has no {name} that can be used")
        return found

    def _leads_here(self, url: str) -> bool:
        return url.startswith("http://") and not self.issuer.startswith("http://")

    async def discover(self) -> Mapping[str, Any]:
        """What the issuer says of itself."""
        now_ms = self.clock.elapsed_ms()
        if self._document is not None and now_ms - self._document[0] < KEPT_MS:
            return self._document[1]
        found = await self.get(self.issuer.rstrip("/") + _WELL_KNOWN)
        if found.get("issuer") != self.issuer:
            raise self.lost("its document names another issuer")
        self._document = now_ms, found
        return found

    async def judged(self, judge: Callable[[KeySet], T]) -> T:
        """What ``judge`` makes of the keys; asked once more if a key is not among them."""
        try:
            return judge(await self._published())
        except UnknownKey:
            pass
        try:
            return judge(await self._published(anew=True))
        except UnknownKey:
            raise LoginRefused(
                LoginRefusal.LOGIN_TOKEN_INVALID, "it is signed by no key of the provider's"
            ) from None

    async def _published(self, *, anew: bool = False) -> KeySet:
        now_ms = self.clock.elapsed_ms()
        if self._keys is not None:
            age_ms = now_ms - self._keys[0]
            if age_ms < (KEYS_AGAIN_MS if anew else KEPT_MS):
                return self._keys[1]
        keys = read_keys(await self.get(await self.endpoint("jwks_uri")))
        self._keys = now_ms, keys
        return keys

    async def get(self, url: str) -> Mapping[str, Any]:
        """What is published there."""
        status, found = await self.ask("GET", url)
        if status != 200:
            raise self.lost(f"{url} answered {status}")
        return found

    async def ask(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        form: dict[str, str] | None = None,
    ) -> tuple[int, Mapping[str, Any]]:
        """What is answered there."""
        now_ms = self.clock.elapsed_ms()
        if self._failed_ms is not None and now_ms - self._failed_ms < FAILED_MS:
            raise self.lost("it failed a moment ago")
        ca_file = self.ca_file
        verify = True if ca_file is None else ssl.create_default_context(cafile=ca_file)
        try:
            async with (
                httpx2.AsyncClient(
                    verify=verify, timeout=WAIT_S, follow_redirects=False, trust_env=False
                ) as client,
                client.stream(
                    method,
                    url,
                    headers={**(headers or {}), "accept": "application/json"},
                    data=form,
                ) as answer,
            ):
                found = json.loads(await _body(answer))
                status = answer.status_code
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, RecursionError) as error:
            self._failed_ms = now_ms
            raise self.lost(f"{url}: {type(error).__name__}") from None
        self._failed_ms = None
        if not isinstance(found, dict):
            raise self.lost(f"{url} does not answer with an object")
        return status, found

    def lost(self, told: str) -> LoginRefused:
        """It cannot be asked."""
        return LoginRefused(LoginRefusal.LOGIN_PROVIDER_UNREACHABLE, told)


async def _body(answer: httpx2.Response) -> bytes:
    text = b""
    async for piece in answer.aiter_bytes():
        text += piece
        if len(text) > BYTES_MAX:
            raise ValueError("it answers without end")
    return text
