"""What happened to those who exist and to what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, TypeAlias

from bailiwick.iam import Permission, PrincipalKind, Role, ScopeLevel
from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.words import MemberChange, RoleChange
from bailiwick.kernel.owner import Fields, OfFleet, Owner
from bailiwick.kernel.people.credential_events import CredentialEvent
from bailiwick.kernel.people.home_events import HomeEvent
from bailiwick.kernel.spelling import Body


@dataclass(frozen=True, slots=True)
class TenantCreated:
    """A tenant exists from now on."""

    kind: ClassVar = RecordKind.TENANT_CREATED
    owner: Owner
    display_name: str = ""

    def body(self) -> Body:
        """Its name for people."""
        return {"display_name": self.display_name} if self.display_name else {}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body.get("display_name", ""))


@dataclass(frozen=True, slots=True)
class ProjectCreated(TenantCreated):
    """A project exists from now on."""

    kind: ClassVar = RecordKind.PROJECT_CREATED


@dataclass(frozen=True, slots=True)
class TenantChanged:
    """One field of a tenant is another now."""

    kind: ClassVar = RecordKind.TENANT_CHANGED
    owner: Owner
    field: str
    before: str
    after: str

    def body(self) -> Body:
        """The field, and both values as text."""
        return {"field": self.field, "before": self.before, "after": self.after}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["field"], body.get("before", ""), body.get("after", ""))


@dataclass(frozen=True, slots=True)
class ProjectChanged(TenantChanged):
    """One field of a project is another now."""

    kind: ClassVar = RecordKind.PROJECT_CHANGED


@dataclass(frozen=True, slots=True)
class MemberChanged:
    """A principal has another role at a scope now, or none."""

    kind: ClassVar = RecordKind.MEMBER_CHANGED
    owner: Owner
    member: str
    role: Role | str | None
    """Of the product, or the name of one's own."""
    role_before: Role | str | None
    provider: str | None = None
    """Whose groups say so; nobody's, if a person did it."""

    def body(self) -> Body:
        """Who, what sort of change, and both roles."""
        change = MemberChange.ROLE_CHANGED
        if self.role is None or self.role_before is None:
            change = MemberChange.REMOVED if self.role is None else MemberChange.ADDED
        body: Body = {"member": self.member, "change": change.value}
        if self.role is not None:
            body["role"] = str(self.role)
        if self.role_before is not None:
            body["role_before"] = str(self.role_before)
        if self.provider is not None:
            body["provider"] = self.provider
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        role, before = body.get("role"), body.get("role_before")
        return cls(
            owner,
            body["member"],
            None if role is None else told_role(role),
            None if before is None else told_role(before),
            body.get("provider"),
        )


def told_role(name: str) -> Role | str:
    """A role as events have it: of the product, or the name of one's own."""
    return Role(name) if name in list(Role) else name


@dataclass(frozen=True, slots=True)
class RoleSet:
    """A role of one's own is so from now on, or is no more."""

    kind: ClassVar = RecordKind.ROLE_SET
    owner: Owner
    role: str
    level: ScopeLevel
    revision: int
    keys: tuple[Permission, ...] = ()
    """What it holds; nothing once it is deleted."""
    before: tuple[Permission, ...] = ()
    """What it held; nothing of a new one."""

    def body(self) -> Body:
        """All of it, and what it held before."""
        change = RoleChange.CHANGED
        if not (self.keys and self.before):
            change = RoleChange.CREATED if self.keys else RoleChange.DELETED
        body: Body = {"role": self.role, "level": self.level.value, "change": change.value}
        body["revision"] = self.revision
        lists = {"keys": self.keys, "before": self.before}
        return body | {name: [key.value for key in keys] for name, keys in lists.items() if keys}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        keys, before = (tuple(map(Permission, body.get(name, ()))) for name in ("keys", "before"))
        return cls(owner, body["role"], ScopeLevel(body["level"]), body["revision"], keys, before)


@dataclass(frozen=True, slots=True)
class ServiceAccountCreated:
    """A service account exists from now on."""

    kind: ClassVar = RecordKind.SERVICE_ACCOUNT_CREATED
    owner: Owner
    account: str

    def body(self) -> Body:
        """Its name."""
        return {"account": self.account}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["account"])


@dataclass(frozen=True, slots=True)
class ServiceAccountChanged:
    """A service account was enabled or disabled."""

    kind: ClassVar = RecordKind.SERVICE_ACCOUNT_CHANGED
    owner: Owner
    account: str
    is_enabled: bool

    def body(self) -> Body:
        """Its name and the change."""
        before, after = ("no", "yes") if self.is_enabled else ("yes", "no")
        return {
            "account": self.account,
            "field": "is_enabled",
            "before": before,
            "after": after,
        }

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        return cls(owner, body["account"], body.get("after") == "yes")


@dataclass(frozen=True, slots=True)
class AccessTokenIssued(OfFleet):
    """A token counts from now on; only its digest is told."""

    kind: ClassVar = RecordKind.ACCESS_TOKEN_ISSUED
    token_id: str
    principal: str
    principal_kind: PrincipalKind
    digest: str
    expires_ms: int
    single_use: bool = False
    keys: tuple[Permission, ...] | None = None
    within: tuple[str, ...] | None = None
    lease_id: int | None = None

    def body(self) -> Body:
        """Whose it is, until when, and what it is known by."""
        body: Body = {"token_id": self.token_id, "principal": self.principal}
        body |= {"principal_kind": self.principal_kind.value, "digest": self.digest}
        body["expires_ms"] = self.expires_ms
        if self.single_use:
            body["single_use"] = 1
        if self.keys is not None:
            body["keys"] = [key.value for key in self.keys]
        if self.within is not None:
            body["within"] = list(self.within)
        if self.lease_id is not None:
            body["lease_id"] = self.lease_id
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        keys, within = body.get("keys"), body.get("within")
        return cls(
            body["token_id"],
            body["principal"],
            PrincipalKind(body["principal_kind"]),
            body["digest"],
            body["expires_ms"],
            bool(body.get("single_use", 0)),
            None if keys is None else tuple(Permission(key) for key in keys),
            None if within is None else tuple(within),
            body.get("lease_id"),
        )


@dataclass(frozen=True, slots=True)
class AccessTokenRevoked(OfFleet):
    """A token counts no more."""

    kind: ClassVar = RecordKind.ACCESS_TOKEN_REVOKED
    token_id: str

    def body(self) -> Body:
        """Its id."""
        return {"token_id": self.token_id}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        del owner
        return cls(body["token_id"])


@dataclass(frozen=True, slots=True)
class AccessRefused:
    """Somebody was refused, at the door or at a permission."""

    kind: ClassVar = RecordKind.ACCESS_REFUSED
    owner: Owner
    reason: str
    principal: str | None = None
    permission: Permission | None = None

    def body(self) -> Body:
        """Why, whom, and what for."""
        body: Body = {"reason": self.reason}
        if self.principal is not None:
            body["principal"] = self.principal
        if self.permission is not None:
            body["permission"] = self.permission.value
        return body

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        word = body.get("permission")
        permission = None if word is None else Permission(word)
        return cls(owner, body["reason"], body.get("principal"), permission)


@dataclass(frozen=True, slots=True)
class GlassBroken:
    """Somebody used a right that nobody has in everyday work."""

    kind: ClassVar = RecordKind.BREAK_GLASS
    owner: Owner
    action: str
    target: str
    justification: str
    expires_ms: int | None = None

    def body(self) -> Body:
        """What was done, to what, why, and until when it lasts."""
        body: Body = {"action": self.action, "target": self.target}
        body["justification"] = self.justification
        return body if self.expires_ms is None else body | {"expires_ms": self.expires_ms}

    @classmethod
    def read(cls, body: Fields, owner: Owner) -> Self:
        """The event that a record tells."""
        target, why = body["target"], body["justification"]
        return cls(owner, body["action"], target, why, body.get("expires_ms"))


PeopleEvent: TypeAlias = (
    TenantCreated
    | ProjectCreated
    | TenantChanged
    | ProjectChanged
    | MemberChanged
    | RoleSet
    | ServiceAccountCreated
    | ServiceAccountChanged
    | AccessTokenIssued
    | AccessTokenRevoked
    | AccessRefused
    | GlassBroken
    | HomeEvent
    | CredentialEvent
)
