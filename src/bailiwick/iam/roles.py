"""Roles of one's own: sets of permission keys that a tenant or the fleet puts together.

Rules:

- One is known by its name where it was made: a tenant's in that tenant, the fleet's everywhere. A
  name means one role at a place: a tenant takes none of the fleet's, nor the fleet a tenant's, and
  nobody one of those that come with the product.
- It is handed out at one level. At a tenant or a project it holds only keys that some role of the
  product has there: keys of the fleet are the fleet's.
- The key with which nodes report is in none: it stays with what nodes are given.

>>> CustomRole("triage", Scope("lab"), ScopeLevel.PROJECT, frozenset({Permission.QUEUE_READ})).value
'triage'
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from bailiwick.iam.scope import FLEET, Scope
from bailiwick.iam.words import Role, ScopeLevel
from bailiwick.vocab.permissions import Permission

ROLES_MAX: Final = 64
"""Of one tenant, and of the fleet."""

_WITHIN: Final = frozenset[Permission]().union(
    *(role.permissions for role in Role if role.level is not ScopeLevel.FLEET)
)
KEYS_OF: Final[Mapping[ScopeLevel, frozenset[Permission]]] = {
    ScopeLevel.FLEET: frozenset(Permission) - {Permission.NODE_REPORT},
    ScopeLevel.TENANT: _WITHIN,
    ScopeLevel.PROJECT: _WITHIN,
}
"""What a role that is handed out at a level may hold."""


@dataclass(frozen=True, slots=True)
class CustomRole:
    """A role that somebody put together."""

    name: str
    home: Scope
    """Whose it is: a tenant's, or the fleet's."""
    level: ScopeLevel
    permissions: frozenset[Permission]
    revision: int = 1

    @property
    def value(self) -> str:
        """As it is spelled where a role of the product could stand."""
        return self.name

    @property
    def keys(self) -> tuple[Permission, ...]:
        """What it holds, in the order of the words."""
        return tuple(key for key in Permission if key in self.permissions)


AnyRole: TypeAlias = Role | CustomRole


def rights_of(roles: Mapping[Scope, AnyRole], scope: Scope) -> frozenset[Permission]:
    """Everything that these roles allow at a scope.

    Whoever administers the fleet may hand out all that there is, the key of nodes too.
    """
    if roles.get(FLEET) is Role.FLEET_ADMIN:
        return frozenset(Permission)
    held = (roles.get(each) for each in scope.around)
    return frozenset[Permission]().union(*(role.permissions for role in held if role is not None))


def holds_all(roles: Mapping[Scope, AnyRole], scope: Scope) -> bool:
    """Whether these roles give every key that somebody there could ever be given."""
    return rights_of(roles, scope) >= KEYS_OF[scope.level]


def missing_keys(
    roles: Mapping[Scope, AnyRole], wanted: Iterable[Permission], *, scope: Scope
) -> tuple[Permission, ...]:
    """Which of the wanted keys these roles do not give there, in the order of the words."""
    lacking = frozenset(wanted) - rights_of(roles, scope)
    return tuple(key for key in Permission if key in lacking)
