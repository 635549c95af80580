"""Asking a provider: where it is asked, by which keys it signs, and what it says of a person.

Rules:

- Only addresses that nobody else reads (HTTPS, or this machine) are asked, none that an answer
  redirects to, and what is answered is bounded in size and time.
- What the provider publishes is remembered for an hour. Keys are looked up again when a token names
  one that is not among them, once a minute at most; a provider that fails is left alone for
  seconds, so that nobody can have us hammer it.
- The document must name exactly the issuer that the operator did.
- What the ID token does not tell (groups, a name) is asked for with the access token; it must be of
  the same person. Neither token is kept.
"""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import httpx2
from joserfc.jwk import KeySet

from bailiwick.journal.fields import PRINCIPAL
from bailiwick.ports import Clock
from bailiwick.services.logins.id_tokens import ExpectedToken, UnknownKey, judge, read_keys
from bailiwick.services.logins.providers import Provider, is_safe_url
from bailiwick.services.logins.words import LoginRefusal, LoginRefused
from bailiwick.vocab.errors import InvalidValue

WAIT_S: Final = 10.0
BYTES_MAX: Final = 1 << 20
KEPT_MS: Final = 3_600_000
KEYS_AGAIN_MS: Final = 60_000
FAILED_MS: Final = 3_000
GROUPS_MAX: Final = 2_000
DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"
_WELL_KNOWN: Final = "/.well-known/openid-configuration"


@dataclass(frozen=True, slots=True)
class NamedPerson:
    """Who came, and in which groups he is."""

    name: str
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GrantPending:
    """He has not said yes yet; ``is_hasty``: we asked too often."""

    is_hasty: bool


@dataclass(frozen=True, slots=True)
class GrantedTokens:
    """What a provider gave for a code."""

    id_token: str
    access_token: str | None


@dataclass(slots=True)
class ProviderClient:
    """One provider, and what is remembered of it."""

    provider: Provider
    clock: Clock
    _document: tuple[int, Mapping[str, Any]] | None = field(default=None, init=False)
    _keys: tuple[int, KeySet] | None = field(default=None, init=False)
    _failed_ms: int | None = field(default=None, init=False)

    async def endpoint(self, name: str) -> str:
        """An address of the provider."""
        found = (await self._discover()).get(name)
        if not isinstance(found, str) or not is_safe_url(found):
            raise self._lost(f"its document has no {name} that can be used")
        return found

    async def redeem(self, grant: Mapping[str, str]) -> GrantedTokens | GrantPending:
        """What the provider gives for a code."""
        status, found = await self._post("token_endpoint", grant)
        if status != 200:
            word = found.get("error")
            if word in ("authorization_pending", "slow_down"):
                return GrantPending(word == "slow_down")
            raise LoginRefused(LoginRefusal.LOGIN_PROVIDER_REFUSED, f"{word!r}"[:200])
        id_token, access = found.get("id_token"), found.get("access_token")
        if not isinstance(id_token, str) or not isinstance(access, str | None):
            raise LoginRefused(LoginRefusal.LOGIN_TOKEN_INVALID, "there is no ID token")
        return GrantedTokens(id_token, access)

    async def begin_device(self) -> Mapping[str, Any]:
        """A code that a person types where he is asked to."""
        scope = " ".join(self.provider.scopes)
        status, found = await self._post("device_authorization_endpoint", {"scope": scope})
        if status != 200:
            word = f"{found.get('error')!r}"[:200]
            raise LoginRefused(LoginRefusal.LOGIN_PROVIDER_REFUSED, word)
        return found

    async def person(self, tokens: GrantedTokens, *, nonce: str | None) -> NamedPerson:
        """Who that is, as the provider says, if it can be believed."""
        claims = dict(await self._judged(tokens, nonce))
        wanted = {self.provider.name_claim, self.provider.groups_claim}
        document = await self._discover()
        if wanted - claims.keys() and tokens.access_token and "userinfo_endpoint" in document:
            told = await self._userinfo(tokens.access_token)
            if told.get("sub") != claims["sub"]:
                raise LoginRefused(LoginRefusal.LOGIN_TOKEN_INVALID, "userinfo is of another")
            claims = {**told, **claims}
        return NamedPerson(self._name(claims), _groups(claims.get(self.provider.groups_claim)))

    def _name(self, claims: Mapping[str, Any]) -> str:
        claim = self.provider.name_claim
        found = claims.get(claim)
        if not isinstance(found, str) or (
            claim == "email" and claims.get("email_verified") is not True
        ):
            raise LoginRefused(LoginRefusal.LOGIN_NAME_UNUSABLE, f"no claim {claim} that counts")
        name = f"{self.provider.name}:{found}"
        try:
            PRINCIPAL.check("principal", name)
        except InvalidValue as error:
            raise LoginRefused(LoginRefusal.LOGIN_NAME_UNUSABLE, str(error)) from None
        return name

    async def _judged(self, tokens: GrantedTokens, nonce: str | None) -> Mapping[str, Any]:
        expected = ExpectedToken(
            issuer=self.provider.issuer,
            client_id=self.provider.client_id,
            nonce=nonce,
            access_token=tokens.access_token,
            now_s=self.clock.now_ms() // 1000,
        )
        try:
            return judge(tokens.id_token, await self._published(), expected=expected)
        except UnknownKey:
            pass
        try:
            keys = await self._published(anew=True)
            return judge(tokens.id_token, keys, expected=expected)
        except UnknownKey:
            raise LoginRefused(
                LoginRefusal.LOGIN_TOKEN_INVALID, "it is signed by no key of the provider's"
            ) from None

    # -- what is published -------------------------------------------------------------------

    async def _discover(self) -> Mapping[str, Any]:
        now_ms = self.clock.elapsed_ms()
        if self._document is not None and now_ms - self._document[0] < KEPT_MS:
            return self._document[1]
        found = await self._get(self.provider.issuer.rstrip("/") + _WELL_KNOWN)
        if found.get("issuer") != self.provider.issuer:
            raise self._lost("its document names another issuer")
        self._document = now_ms, found
        return found

    async def _published(self, *, anew: bool = False) -> KeySet:
        now_ms = self.clock.elapsed_ms()
        if self._keys is not None:
            age_ms = now_ms - self._keys[0]
            if age_ms < (KEYS_AGAIN_MS if anew else KEPT_MS):
                return self._keys[1]
        keys = read_keys(await self._get(await self.endpoint("jwks_uri")))
        self._keys = now_ms, keys
        return keys

    # -- the wire ------------------------------------------------------------------------------

    async def _get(self, url: str) -> Mapping[str, Any]:
        status, found = await self._ask("GET", url)
        if status != 200:
            raise self._lost(f"{url} answered {status}")
        return found

    async def _userinfo(self, access_token: str) -> Mapping[str, Any]:
        url = await self.endpoint("userinfo_endpoint")
        headers = {"authorization": f"Bearer {access_token}"}
        status, found = await self._ask("GET", url, headers=headers)
        if status != 200:
            raise self._lost(f"userinfo answered {status}")
        return found

    async def _post(self, name: str, form: Mapping[str, str]) -> tuple[int, Mapping[str, Any]]:
        provider, headers, body = self.provider, dict[str, str](), dict(form)
        methods = (await self._discover()).get("token_endpoint_auth_methods_supported")
        by_post = isinstance(methods, list) and "client_secret_basic" not in methods
        if provider.client_secret is None or by_post:
            body["client_id"] = provider.client_id
        if provider.client_secret is not None:
            if by_post:
                body["client_secret"] = provider.client_secret
            else:
                pair = (
                    quote(each, safe="") for each in (provider.client_id, provider.client_secret)
                )
                shown = base64.b64encode(":".join(pair).encode()).decode()
                headers["authorization"] = f"Basic {shown}"
        return await self._ask("POST", await self.endpoint(name), headers=headers, form=body)

    async def _ask(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        form: dict[str, str] | None = None,
    ) -> tuple[int, Mapping[str, Any]]:
        now_ms = self.clock.elapsed_ms()
        if self._failed_ms is not None and now_ms - self._failed_ms < FAILED_MS:
            raise self._lost("it failed a moment ago")
        ca_file = self.provider.ca_file
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
            raise self._lost(f"{url}: {type(error).__name__}") from None
        self._failed_ms = None
        if not isinstance(found, dict):
            raise self._lost(f"{url} does not answer with an object")
        return status, found

    def _lost(self, told: str) -> LoginRefused:
        return LoginRefused(LoginRefusal.LOGIN_PROVIDER_UNREACHABLE, told)


async def _body(answer: httpx2.Response) -> bytes:
    text = b""
    async for piece in answer.aiter_bytes():
        text += piece
        if len(text) > BYTES_MAX:
            raise ValueError("it answers without end")
    return text


def _groups(value: object) -> tuple[str, ...]:
    """The groups in a claim; what cannot be one is none."""
    rows = value if isinstance(value, list) else [value]
    found = [each for each in rows[:GROUPS_MAX] if isinstance(each, str) and len(each) <= 500]
    return tuple(found)
