"""Short tokens of service accounts: for another issuer's word of a program, or for a key.

Rules:

- Only issuers that the fleet's operator named are asked. What a token says of its issuer chooses
  one of those, and never where anything is fetched.
- What it says counts if it is signed by that issuer, now, for the one audience of a rule of the
  account, and every condition of that rule holds. It is made for nobody else beside.
- It may be shown as often as it counts, for an hour at most: steps of one pipeline run side by
  side and again, a token is a bearer's until it ends anyway, and to remember each would keep what
  strangers sign. Each use is a record with the digest of what was shown.
- What is refused is one answer: no account, a disabled one, no rule, another audience and a
  condition that fails look alike. The journal is told a closed word, the operator's log the rest.
- A key lets nobody into the API. It is compared by its digest, and one that is not there costs the
  same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hmac import compare_digest
from typing import Any, Final

from bailiwick.iam import FLEET, AccountTrust, PrincipalKind, Scope, holds
from bailiwick.kernel import Envelope
from bailiwick.kernel.people.credential_commands import GrantAccountToken
from bailiwick.ports import Clock
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.replica import View
from bailiwick.services.authority import Authority, Minted, digest_of
from bailiwick.services.logins.id_tokens import claimed_issuer, judge_identity
from bailiwick.services.logins.issuers import IssuerClient
from bailiwick.services.logins.words import LoginRefusal, LoginRefused
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound

GRANT_S_MAX: Final = 900
KEY_PREFIX: Final = "bwkey-"
"""How a key begins, so that who finds one in a file knows what it is."""
KEY_CHARS_MAX: Final = 200
_NO_DIGEST: Final = "0" * 64


class FederationRefusal(StrEnum):
    """Why a program gets no token of a service account, in the order of the checks."""

    FEDERATION_ISSUER_UNKNOWN = "federation_issuer_unknown"
    """Its issuer is none that the fleet's operator allowed."""
    FEDERATION_ISSUER_UNREACHABLE = "federation_issuer_unreachable"
    FEDERATION_TOKEN_INVALID = "federation_token_invalid"
    """What it shows is not signed, not of that issuer, or not of now."""
    FEDERATION_NOT_TRUSTED = "federation_not_trusted"
    """No rule of an account of that name lets it in."""
    ACCOUNT_KEY_REFUSED = "account_key_refused"
    """The key is none of that account's, or counts no more."""


class FederationRefused(Exception):
    """A program gets no token; ``told`` is for the operator's log, ``scope`` whose record it is."""

    def __init__(self, word: FederationRefusal, told: str, *, scope: Scope = FLEET) -> None:
        super().__init__(told)
        self.word, self.scope = word, scope


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountGrants:
    """The issuers of one server, and the way to tokens."""

    gateway: Gateway
    authority: Authority
    clock: Clock
    ids: Callable[[], str]
    issuers: Mapping[str, IssuerClient]
    """By what each is called in tokens."""

    async def exchange(self, account: str, identity: str, *, ttl_s: int, trace: str) -> Minted:
        """A token of the account for whoever this is, if a rule lets him in."""
        claims, issuer = await self._judged(identity)
        rules, scope = await self.gateway.lookup(lambda view: _rules(view, account))
        found = next((each for each in rules if _lets_in(each, issuer, claims)), None)
        word = FederationRefusal.FEDERATION_NOT_TRUSTED
        if found is None:
            raise FederationRefused(word, f"no rule of {account}", scope=scope)
        minted, command = self._mint(account, ttl_s=ttl_s)
        granted = GrantAccountToken(
            *command,
            rule=found.rule,
            issuer=issuer,
            subject=_plain(str(claims["sub"])),
            assertion=digest_of(identity),
        )
        try:
            await self.gateway.execute(Envelope(granted, account, trace))
        except (Conflict, NotFound) as error:  # it ended meanwhile
            raise FederationRefused(word, str(error), scope=scope) from None
        return minted

    async def spend_key(self, account: str, key: str, *, ttl_s: int, trace: str) -> Minted:
        """A token of the account for one of its keys."""
        key_id, digest = key.removeprefix(KEY_PREFIX).partition(".")[0], digest_of(key)
        now_ms = self.clock.now_ms()

        def look(view: View) -> tuple[str, bool, Scope]:
            directory = view.state.directory
            found, owner = directory.account_keys.get(key_id), directory.accounts.get(account)
            if found is None or found.account != account or owner is None:
                return _NO_DIGEST, False, FLEET
            return found.digest, owner.is_enabled and found.expires_ms > now_ms, owner.scope

        known, counts, scope = await self.gateway.lookup(look)
        is_key = compare_digest(known, digest)
        word = FederationRefusal.ACCOUNT_KEY_REFUSED
        if not is_key or not counts:
            raise FederationRefused(word, "no such key", scope=scope if is_key else FLEET)
        minted, command = self._mint(account, ttl_s=ttl_s)
        granted = GrantAccountToken(*command, key_id=key_id)
        try:
            await self.gateway.execute(Envelope(granted, account, trace))
        except (Conflict, NotFound) as error:  # it ended meanwhile
            raise FederationRefused(word, str(error), scope=scope) from None
        return minted

    async def _judged(self, identity: str) -> tuple[Mapping[str, Any], str]:
        words = FederationRefusal
        try:
            issuer = claimed_issuer(identity)
            client = self.issuers.get(issuer)
            if client is None:
                raise FederationRefused(words.FEDERATION_ISSUER_UNKNOWN, issuer[:200])
            now_s = self.clock.now_ms() // 1000
            claims = await client.judged(
                lambda keys: judge_identity(identity, keys, issuer=issuer, now_s=now_s)
            )
        except LoginRefused as refused:
            is_lost = refused.word is LoginRefusal.LOGIN_PROVIDER_UNREACHABLE
            word = (
                words.FEDERATION_ISSUER_UNREACHABLE if is_lost else words.FEDERATION_TOKEN_INVALID
            )
            raise FederationRefused(word, str(refused)) from None
        return claims, issuer

    def _mint(self, account: str, *, ttl_s: int) -> tuple[Minted, tuple[str, str, str, int]]:
        minted = self.authority.mint(
            account,
            PrincipalKind.SERVICE_ACCOUNT,
            token_id=self.ids(),
            now_ms=self.clock.now_ms(),
            ttl_s=min(ttl_s, GRANT_S_MAX),
        )
        made = minted.command
        return minted, (made.token_id, account, made.digest, made.expires_ms)


def check_issuer(issuers: Mapping[str, IssuerClient], issuer: str) -> None:
    """Refuse a rule for an issuer that the fleet's operator did not allow."""
    if issuer not in issuers:
        told = ", ".join(sorted(issuers)) or "none: the fleet's operator allowed no issuer"
        raise InvalidValue("issuer", issuer[:200], told)


def _rules(view: View, account: str) -> tuple[list[AccountTrust], Scope]:
    directory = view.state.directory
    found = directory.accounts.get(account)
    if found is None:
        return [], FLEET
    trusts = directory.account_trusts.values()
    rules = [each for each in trusts if each.account == account] if found.is_enabled else []
    return rules, found.scope


def _lets_in(rule: AccountTrust, issuer: str, claims: Mapping[str, Any]) -> bool:
    said = claims.get("aud")
    is_for_us = said in (rule.audience, [rule.audience])
    return rule.issuer == issuer and is_for_us and holds(rule.conditions, claims)


def _plain(subject: str) -> str:
    """Whom the issuer names, as a record can say it."""
    return "".join(each if each.isprintable() else "?" for each in subject)
