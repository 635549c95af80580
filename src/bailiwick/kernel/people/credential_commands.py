"""Commands about how programs become service accounts: rules of trust, keys, and what they get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from bailiwick.iam import Permission, check_conditions
from bailiwick.journal.fields import DIGEST, INTEGER_MAX, NAME, TEXT
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind

KEY_MS_MAX: Final = 366 * 86_400_000
OVERLAP_MS_MAX: Final = 30 * 86_400_000
GRANT_MS_MAX: Final = 15 * 60_000
"""How long a token counts that somebody got for a key, or by another's word."""
ADDRESS_MAX: Final = 255


@dataclass(frozen=True, slots=True)
class SetAccountTrust:
    """Let in as the account whoever an issuer says this of; ``keys`` are all that he carries."""

    account: str
    rule: str
    issuer: str
    audience: str
    conditions: tuple[str, ...]
    keys: tuple[Permission, ...] | None = None

    def __post_init__(self) -> None:
        NAME.check("account", self.account)
        NAME.check("rule", self.rule)
        for name, value in (("issuer", self.issuer), ("audience", self.audience)):
            TEXT.check(name, value)
            if not 0 < len(value) <= ADDRESS_MAX or not (value.isascii() and value.isprintable()):
                raise InvalidValue(name, value[:80], f"1 to {ADDRESS_MAX} plain characters")
        for each in self.conditions:
            TEXT.check("conditions", each)
        check_conditions(self.conditions)
        for key in self.keys or ():
            check_kind("keys", key, Permission)


@dataclass(frozen=True, slots=True)
class DeleteAccountTrust:
    """A rule lets nobody in any more; tokens that were given by it end by themselves."""

    account: str
    rule: str

    def __post_init__(self) -> None:
        NAME.check("account", self.account)
        NAME.check("rule", self.rule)


@dataclass(frozen=True, slots=True)
class AddAccountKey:
    """A new key; with ``overlap_ms``, the one that there is ends so much later."""

    account: str
    key_id: str
    digest: str
    ttl_ms: int
    overlap_ms: int | None = None
    keys: tuple[Permission, ...] | None = None

    def __post_init__(self) -> None:
        NAME.check("account", self.account)
        NAME.check("key_id", self.key_id)
        DIGEST.check("digest", self.digest)
        check_integer("ttl_ms", self.ttl_ms, low=1, high=KEY_MS_MAX)
        if self.overlap_ms is not None:
            check_integer("overlap_ms", self.overlap_ms, low=0, high=OVERLAP_MS_MAX)
        for key in self.keys or ():
            check_kind("keys", key, Permission)


@dataclass(frozen=True, slots=True)
class DeleteAccountKey:
    """A key counts no more."""

    account: str
    key_id: str

    def __post_init__(self) -> None:
        NAME.check("account", self.account)
        NAME.check("key_id", self.key_id)


@dataclass(frozen=True, slots=True)
class GrantAccountToken:
    """A short token of an account: for one of its keys, or by a rule and another's word.

    ``subject`` is whom the issuer names, ``assertion`` the digest of what it signed. The kernel
    knows the rule and the key: what has ended meanwhile gives no token.
    """

    token_id: str
    account: str
    digest: str
    expires_ms: int
    key_id: str | None = None
    rule: str | None = None
    issuer: str | None = None
    subject: str | None = None
    assertion: str | None = None

    def __post_init__(self) -> None:
        NAME.check("token_id", self.token_id)
        NAME.check("account", self.account)
        DIGEST.check("digest", self.digest)
        check_integer("expires_ms", self.expires_ms, low=1, high=INTEGER_MAX)
        claimed = (self.rule, self.issuer, self.subject, self.assertion)
        if self.key_id is not None:
            NAME.check("key_id", self.key_id)
            if any(each is not None for each in claimed):
                raise InvalidValue("rule", self.rule, "none beside a key")
            return
        NAME.check("rule", self.rule)
        TEXT.check("issuer", self.issuer)
        TEXT.check("subject", self.subject)
        DIGEST.check("assertion", self.assertion)


CredentialCommand: TypeAlias = (
    SetAccountTrust | DeleteAccountTrust | AddAccountKey | DeleteAccountKey | GrantAccountToken
)
