"""Who exists: tenants, projects, members, service accounts and tokens, as the journal tells them.

Rules:

- A token is kept as its digest; the token itself is nowhere in the state or the journal.
- A name is taken once: a tenant or project that was closed keeps its name.
- Reading changes nothing. Changes come from records alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from bailiwick.iam.credentials import AccountKey, AccountTrust
from bailiwick.iam.roles import AnyRole, CustomRole
from bailiwick.iam.scope import Scope
from bailiwick.iam.words import PrincipalKind, Role
from bailiwick.vocab.errors import Conflict, NotFound
from bailiwick.vocab.permissions import Permission


@dataclass(frozen=True, slots=True)
class Tenant:
    """Who pays; ``revision`` grows with every change."""

    name: str
    display_name: str = ""
    is_open: bool = True
    revision: int = 1


@dataclass(frozen=True, slots=True)
class Project:
    """A part of a tenant."""

    tenant: str
    name: str
    display_name: str = ""
    is_open: bool = True
    revision: int = 1


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """A program's principal, of one scope."""

    name: str
    scope: Scope
    is_enabled: bool = True


@dataclass(frozen=True, slots=True)
class Token:
    """What is known of a token: whose, until when, its digest, and whether it still counts."""

    token_id: str
    principal: str
    kind: PrincipalKind
    digest: str
    issued_ms: int
    expires_ms: int
    revoked: bool = False
    single_use: bool = False
    keys: tuple[Permission, ...] | None = None
    within: tuple[str, ...] | None = None
    """The only tenants and projects in which it counts, if it is so limited."""
    lease_id: int | None = None
    """The only lease that it is good for, if it is a job's."""


@dataclass(frozen=True, slots=True)
class RoleOffer:
    """A role that somebody at home elsewhere may accept; until then it counts for nothing."""

    member: str
    scope: Scope
    role: str
    offered_ms: int
    expires_ms: int


@dataclass(slots=True)
class Directory:
    """Everything authority is decided from."""

    tenants: dict[str, Tenant] = field(default_factory=dict)
    projects: dict[tuple[str, str], Project] = field(default_factory=dict)
    roles: dict[str, dict[Scope, AnyRole]] = field(default_factory=dict)
    given: dict[str, dict[Scope, str]] = field(default_factory=dict)
    """Of those roles, which rest on somebody's groups at which provider."""
    custom_roles: dict[tuple[Scope, str], CustomRole] = field(default_factory=dict)
    """By whose they are, and their name."""
    accounts: dict[str, ServiceAccount] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    homes: dict[str, Scope] = field(default_factory=dict)
    """Of those whose home was written down; of all others it follows (:mod:`.homes`)."""
    offers: dict[tuple[str, Scope], RoleOffer] = field(default_factory=dict)
    """By who may accept, and where; the oldest first."""
    account_trusts: dict[tuple[str, str], AccountTrust] = field(default_factory=dict)
    """By the account and the rule's name: whose word makes somebody that account."""
    account_keys: dict[str, AccountKey] = field(default_factory=dict)
    """Keys of accounts; those that ended are forgotten with the account's next one."""

    def tenant(self, name: str) -> Tenant:
        """The tenant by name."""
        found = self.tenants.get(name)
        if found is None:
            raise NotFound("tenant", name)
        return found

    def project(self, tenant: str, name: str) -> Project:
        """The project by its tenant and name."""
        found = self.projects.get((tenant, name))
        if found is None:
            raise NotFound("project", f"{tenant}/{name}")
        return found

    def account(self, name: str) -> ServiceAccount:
        """The service account by name."""
        found = self.accounts.get(name)
        if found is None:
            raise NotFound("service account", name)
        return found

    def token(self, token_id: str) -> Token:
        """The token by its id."""
        found = self.tokens.get(token_id)
        if found is None:
            raise NotFound("token", token_id)
        return found

    def check_scope(self, scope: Scope) -> None:
        """Refuse a scope whose tenant or project does not exist or is closed."""
        if scope.tenant is None:
            return
        if not self.tenant(scope.tenant).is_open:
            raise Conflict("tenant", scope.tenant, "is closed")
        if scope.project is not None and not self.project(scope.tenant, scope.project).is_open:
            raise Conflict("project", str(scope), "is closed")

    def is_open(self, scope: Scope) -> bool:
        """Whether anything may still be begun there; nothing where it does not exist."""
        if scope.tenant is None:
            return True
        tenant = self.tenants.get(scope.tenant)
        if tenant is None or not tenant.is_open or scope.project is None:
            return tenant is not None and tenant.is_open
        project = self.projects.get((scope.tenant, scope.project))
        return project is not None and project.is_open

    def role_at(self, name: str, scope: Scope) -> AnyRole:
        """The role that a name means at a scope; whether it is handed out there is not asked."""
        if name in list(Role):
            return Role(name)
        homes = (Scope(scope.tenant), Scope())
        found = (self.custom_roles.get((home, name)) for home in homes)
        role = next((each for each in found if each is not None), None)
        if role is None:
            raise NotFound("role", name, hint="bailiwick role list shows them")
        return role

    def members(self, scope: Scope) -> Iterator[tuple[str, AnyRole]]:
        """Who has which role at exactly this scope, by name."""
        for principal, roles in sorted(self.roles.items()):
            if scope in roles:
                yield principal, roles[scope]
