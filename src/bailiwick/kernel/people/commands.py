"""Commands about who exists and who may do what; the other commands are in :mod:`.commands`.

Rules:

- A token comes as its digest: the kernel and the journal never see the token itself.
- Where something applies is told by plain names, a tenant and perhaps a project of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.iam import KEYS_OF, GivenBy, Permission, PrincipalKind, Role, Scope, ScopeLevel
from bailiwick.journal.fields import DIGEST, INTEGER_MAX, NAME, PRINCIPAL, TEXT
from bailiwick.kernel.people.credential_commands import CredentialCommand
from bailiwick.kernel.people.home_commands import HomeCommand
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import check_integer, check_kind, check_name


@dataclass(frozen=True, slots=True)
class CreateTenant:
    """A new tenant."""

    tenant: str
    display_name: str = ""

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        TEXT.check("display_name", self.display_name)


@dataclass(frozen=True, slots=True)
class ChangeTenant:
    """Rename a tenant for people, or close or open it; what is ``None`` stays."""

    tenant: str
    display_name: str | None = None
    is_open: bool | None = None
    revision: int | None = None

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        _check_change(self.display_name, self.is_open, self.revision)


@dataclass(frozen=True, slots=True)
class CreateProject:
    """A new project of a tenant."""

    tenant: str
    project: str
    display_name: str = ""

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        check_name("project", self.project)
        TEXT.check("display_name", self.display_name)


@dataclass(frozen=True, slots=True)
class ChangeProject:
    """Rename a project for people, or close or open it; what is ``None`` stays."""

    tenant: str
    project: str
    display_name: str | None = None
    is_open: bool | None = None
    revision: int | None = None

    def __post_init__(self) -> None:
        check_name("tenant", self.tenant)
        check_name("project", self.project)
        _check_change(self.display_name, self.is_open, self.revision)


@dataclass(frozen=True, slots=True)
class SetMember:
    """Give a principal one role at a scope; ``None`` takes it away.

    ``custom`` is a role that a tenant or the fleet put together, by its name. ``given_by`` says on
    whose behalf it is given: a tenant's people give none to strangers, who have to accept it
    (``OfferRole``). Without it nobody's home is looked at, as in journals from before there were.
    """

    member: str
    role: Role | None
    tenant: str | None = None
    project: str | None = None
    custom: str | None = None
    given_by: GivenBy | None = None

    def __post_init__(self) -> None:
        PRINCIPAL.check("member", self.member)
        if self.given_by is not None:
            check_kind("given_by", self.given_by, GivenBy)
        scope = Scope.of(self.tenant, self.project)
        if self.custom is not None:
            check_role_name(self.custom)
            if self.role is not None:
                raise InvalidValue("role", self.role, "one role, of the product or of one's own")
        if self.role is None:
            return
        check_kind("role", self.role, Role)
        if self.role.level is not scope.level:
            raise InvalidValue("role", self.role, f"a role of the {scope.level}, as its scope is")


@dataclass(frozen=True, slots=True)
class ApplyGroups:
    """What somebody's groups at a provider give him, as the operator mapped them: all of it.

    Each is ``SCOPE=ROLE``, one for a scope at most; ``fleet`` is the whole fleet.
    """

    member: str
    provider: str
    roles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        PRINCIPAL.check("member", self.member)
        NAME.check("provider", self.provider)
        if not self.member.startswith(f"{self.provider}:"):
            raise InvalidValue("member", self.member, f"a name that begins with {self.provider}:")
        for text in self.roles:
            check_kind("roles", text, str)
        if len(self.wanted) < len(self.roles):
            raise InvalidValue("roles", len(self.roles), "one for each scope at most")

    @property
    def wanted(self) -> dict[Scope, str]:
        """The role that each scope is to have."""
        found = {}
        for text in self.roles:
            place, _, role = text.partition("=")
            NAME.check("roles", role)
            found[Scope() if place == str(Scope()) else Scope.parse(place)] = role
        return found


def check_role_name(value: object) -> None:
    """Refuse what can be no name of a role of one's own."""
    NAME.check("role", value)
    if value in list(Role):
        raise InvalidValue("role", value, "a name that no role of the product has")


@dataclass(frozen=True, slots=True)
class SetRole:
    """Put a role together, or replace what it holds; ``revision`` 0 says that there is none yet."""

    role: str
    level: ScopeLevel
    keys: tuple[Permission, ...]
    tenant: str | None = None
    revision: int | None = None

    def __post_init__(self) -> None:
        check_role_name(self.role)
        check_kind("level", self.level, ScopeLevel)
        if self.tenant is not None:
            check_name("tenant", self.tenant)
            if self.level is ScopeLevel.FLEET:
                raise InvalidValue("level", self.level, "tenant or project, as it is a tenant's")
        for key in self.keys:
            check_kind("keys", key, Permission)
            if key not in KEYS_OF[self.level]:
                raise InvalidValue(
                    "keys", key.value, f"a key that a role of the {self.level} may hold"
                )
        if not self.keys or len(set(self.keys)) < len(self.keys):
            raise InvalidValue("keys", len(self.keys), "at least one, each once")
        if self.revision is not None:
            check_integer("revision", self.revision, low=0, high=INTEGER_MAX)


@dataclass(frozen=True, slots=True)
class DeleteRole:
    """A role of one's own is no more; nobody may have it then."""

    role: str
    tenant: str | None = None
    revision: int | None = None

    def __post_init__(self) -> None:
        check_role_name(self.role)
        if self.tenant is not None:
            check_name("tenant", self.tenant)
        if self.revision is not None:
            check_integer("revision", self.revision, low=0, high=INTEGER_MAX)


@dataclass(frozen=True, slots=True)
class CreateAccount:
    """A service account of a scope; what it may do is a role, as for everybody."""

    account: str
    tenant: str | None = None
    project: str | None = None

    def __post_init__(self) -> None:
        NAME.check("account", self.account)
        Scope.of(self.tenant, self.project)


@dataclass(frozen=True, slots=True)
class ChangeAccount:
    """Enable or disable a service account."""

    account: str
    is_enabled: bool

    def __post_init__(self) -> None:
        NAME.check("account", self.account)
        check_kind("is_enabled", self.is_enabled, bool)


@dataclass(frozen=True, slots=True)
class IssueToken:
    """A token was made for a principal; ``keys`` (if given) are all that it carries.

    ``within`` (if given) are the only tenants and projects in which it counts, whatever roles its
    principal has or gets elsewhere: who makes a token for another cannot make it reach further
    than himself.
    ``lease_id`` (if given) is the only lease that it is good for, and it ends with that.
    ``spends`` is the one-time token that it is given for: both count for what they are at once.
    ``renews`` is the token of the same session that it takes the place of, which ends then.
    """

    token_id: str
    principal: str
    kind: PrincipalKind
    digest: str
    expires_ms: int
    single_use: bool = False
    keys: tuple[Permission, ...] | None = None
    spends: str | None = None
    within: tuple[str, ...] | None = None
    lease_id: int | None = None
    renews: str | None = None

    def __post_init__(self) -> None:
        NAME.check("token_id", self.token_id)
        if self.renews is not None:
            NAME.check("renews", self.renews)
        if self.lease_id is not None:
            check_integer("lease_id", self.lease_id, low=0, high=INTEGER_MAX)
        for scope in self.within or ():
            check_kind("within", scope, str)
            Scope.parse(scope)
        if self.spends is not None:
            NAME.check("spends", self.spends)
        PRINCIPAL.check("principal", self.principal)
        check_kind("kind", self.kind, PrincipalKind)
        DIGEST.check("digest", self.digest)
        check_integer("expires_ms", self.expires_ms, low=1, high=INTEGER_MAX)
        check_kind("single_use", self.single_use, bool)
        for key in self.keys or ():
            check_kind("keys", key, Permission)


@dataclass(frozen=True, slots=True)
class RevokeToken:
    """A token counts no more; for a single-use one, because it was used."""

    token_id: str

    def __post_init__(self) -> None:
        NAME.check("token_id", self.token_id)


@dataclass(frozen=True, slots=True)
class NoteRefusal:
    """Somebody was refused at the door or at a permission: why, who it claimed to be, what for."""

    reason: str
    principal: str | None = None
    permission: Permission | None = None
    tenant: str | None = None
    project: str | None = None

    def __post_init__(self) -> None:
        NAME.check("reason", self.reason)
        if self.principal is not None:
            PRINCIPAL.check("principal", self.principal)
        if self.permission is not None:
            check_kind("permission", self.permission, Permission)
        Scope.of(self.tenant, self.project)


@dataclass(frozen=True, slots=True)
class BreakGlass:
    """Somebody uses a right that nobody has in everyday work, and says why."""

    action: str
    target: str
    justification: str
    tenant: str | None = None
    expires_ms: int | None = None

    def __post_init__(self) -> None:
        if self.tenant is not None:
            check_name("tenant", self.tenant)
        if self.expires_ms is not None:
            check_integer("expires_ms", self.expires_ms, low=1, high=INTEGER_MAX)
        NAME.check("action", self.action)
        PRINCIPAL.check("target", self.target)
        TEXT.check("justification", self.justification)
        if len(self.justification.strip()) < 10:
            raise InvalidValue("justification", self.justification, "a sentence that says why")


PeopleCommand: TypeAlias = (
    CreateTenant
    | ChangeTenant
    | CreateProject
    | ChangeProject
    | SetMember
    | ApplyGroups
    | SetRole
    | DeleteRole
    | CreateAccount
    | ChangeAccount
    | IssueToken
    | RevokeToken
    | NoteRefusal
    | BreakGlass
    | HomeCommand
    | CredentialCommand
)


def _check_change(display_name: object, is_open: object, revision: object) -> None:
    if display_name is not None:
        TEXT.check("display_name", display_name)
    if is_open is not None:
        check_kind("is_open", is_open, bool)
    if display_name is None and is_open is None:
        raise InvalidValue("change", None, "a display_name or is_open to change")
    if revision is not None:
        check_integer("revision", revision, low=1, high=INTEGER_MAX)
