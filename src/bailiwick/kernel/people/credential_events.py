"""What happened to the rules and keys by which programs become service accounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.iam import Permission
from bailiwick.journal.kinds import RecordKind
from bailiwick.kernel.owner import Fields, Owner
from bailiwick.kernel.spelling import Body


@dataclass(frozen=True, slots=True)
class AccountTrustSet:
    """Whoever an issuer says this of may be the account from now on."""

    kind: ClassVar = RecordKind.ACCOUNT_TRUST_SET
    owner: Owner
    account: str
    rule: str
    issuer: str
    audience: str
    conditions: tuple[str, ...]
    keys: tuple[Permission, ...] | None = None

    def body(self) -> Body:
        """The whole rule."""
        body: Body = {"account": self.account, "rule": self.rule, "issuer": self.issuer}
        body |= {"audience": self.audience, "conditions": list(self.conditions)}
        return body | _told_keys(self.keys)

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(
            owner,
            body["account"],
            body["rule"],
            body["issuer"],
            body["audience"],
            tuple(body["conditions"]),
            _read_keys(body),
        )


@dataclass(frozen=True, slots=True)
class AccountTrustDeleted:
    """A rule lets nobody in any more."""

    kind: ClassVar = RecordKind.ACCOUNT_TRUST_DELETED
    owner: Owner
    account: str
    rule: str

    def body(self) -> Body:
        """Which."""
        return {"account": self.account, "rule": self.rule}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["account"], body["rule"])


@dataclass(frozen=True, slots=True)
class AccountKeyAdded:
    """An account has a key more; only its digest is told."""

    kind: ClassVar = RecordKind.ACCOUNT_KEY_ADDED
    owner: Owner
    account: str
    key_id: str
    digest: str
    expires_ms: int
    keys: tuple[Permission, ...] | None = None

    def body(self) -> Body:
        """What it is known by, and until when."""
        body: Body = {"account": self.account, "key_id": self.key_id, "digest": self.digest}
        return body | {"expires_ms": self.expires_ms} | _told_keys(self.keys)

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        account, key_id, digest = body["account"], body["key_id"], body["digest"]
        return cls(owner, account, key_id, digest, body["expires_ms"], _read_keys(body))


@dataclass(frozen=True, slots=True)
class AccountKeyEnded:
    """A key counts until then: it was deleted, or another takes its place."""

    kind: ClassVar = RecordKind.ACCOUNT_KEY_ENDED
    owner: Owner
    account: str
    key_id: str
    ends_ms: int

    def body(self) -> Body:
        """Which, and when."""
        return {"account": self.account, "key_id": self.key_id, "ends_ms": self.ends_ms}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["account"], body["key_id"], body["ends_ms"])


@dataclass(frozen=True, slots=True)
class AccountTokenGranted:
    """Somebody became the account for minutes: with which key, or by which rule and who he was."""

    kind: ClassVar = RecordKind.ACCOUNT_TOKEN_GRANTED
    owner: Owner
    account: str
    token_id: str
    expires_ms: int
    key_id: str | None = None
    rule: str | None = None
    issuer: str | None = None
    subject: str | None = None
    assertion: str | None = None

    def body(self) -> Body:
        """Which token, until when, and what it was given for."""
        body: Body = {"account": self.account, "token_id": self.token_id}
        body["expires_ms"] = self.expires_ms
        for name in ("key_id", "rule", "issuer", "subject", "assertion"):
            value = getattr(self, name)
            if value is not None:
                body[name] = value
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        names = ("key_id", "rule", "issuer", "subject", "assertion")
        told = (body.get(name) for name in names)
        return cls(owner, body["account"], body["token_id"], body["expires_ms"], *told)


def _told_keys(keys: tuple[Permission, ...] | None) -> Body:
    return {} if keys is None else {"keys": [key.value for key in keys]}


def _read_keys(body: Fields) -> tuple[Permission, ...] | None:
    keys = body.get("keys")
    return None if keys is None else tuple(Permission(key) for key in keys)


CredentialEvent: TypeAlias = (
    AccountTrustSet | AccountTrustDeleted | AccountKeyAdded | AccountKeyEnded | AccountTokenGranted
)
