"""Asking a provider: what it gives for a code, and what it says of a person.

Rules:

- How it is asked, and what is remembered of it, is :mod:`.issuers`.
- What the ID token does not tell (groups, a name) is asked for with the access token; it must be of
  the same person. Neither token is kept.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from bailiwick.journal.fields import PRINCIPAL
from bailiwick.ports import Clock
from bailiwick.services.logins.id_tokens import ExpectedToken, judge
from bailiwick.services.logins.issuers import IssuerClient
from bailiwick.services.logins.providers import Provider
from bailiwick.services.logins.words import LoginRefusal, LoginRefused
from bailiwick.vocab.errors import InvalidValue

GROUPS_MAX: Final = 2_000
DEVICE_GRANT: Final = "urn:ietf:params:oauth:grant-type:device_code"


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
    _issuer: IssuerClient = field(init=False)

    def __post_init__(self) -> None:
        self._issuer = IssuerClient(self.provider.issuer, self.provider.ca_file, self.clock)

    async def endpoint(self, name: str) -> str:
        """An address of the provider."""
        return await self._issuer.endpoint(name)

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
        document = await self._issuer.discover()
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
        return await self._issuer.judged(
            lambda keys: judge(tokens.id_token, keys, expected=expected)
        )

    # -- the wire ------------------------------------------------------------------------------

    async def _userinfo(self, access_token: str) -> Mapping[str, Any]:
        url = await self.endpoint("userinfo_endpoint")
        headers = {"authorization": f"Bearer {access_token}"}
        status, found = await self._issuer.ask("GET", url, headers=headers)
        if status != 200:
            raise self._issuer.lost(f"userinfo answered {status}")
        return found

    async def _post(self, name: str, form: Mapping[str, str]) -> tuple[int, Mapping[str, Any]]:
        provider, headers, body = self.provider, dict[str, str](), dict(form)
        methods = (await self._issuer.discover()).get("token_endpoint_auth_methods_supported")
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
        return await self._issuer.ask("POST", await self.endpoint(name), headers=headers, form=body)


def _groups(value: object) -> tuple[str, ...]:
    """The groups in a claim; what cannot be one is none."""
    rows = value if isinstance(value, list) else [value]
    found = [each for each in rows[:GROUPS_MAX] if isinstance(each, str) and len(each) <= 500]
    return tuple(found)
