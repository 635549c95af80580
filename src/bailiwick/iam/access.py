"""May this principal do that there: one pure function, asked by every handler.

Rules:

- Default deny: without a role at the scope or around it that has the key, the answer is no.
- A project is reached through its own roles, its tenant's and the fleet's; nothing reaches up.
- A token may carry fewer keys and roles than its principal has; it never carries more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from bailiwick.iam.roles import AnyRole
from bailiwick.iam.scope import Scope
from bailiwick.vocab.permissions import Permission


@dataclass(frozen=True, slots=True)
class Allowed:
    """Yes, through this role at that scope."""

    role: AnyRole
    scope: Scope


@dataclass(frozen=True, slots=True)
class Forbidden:
    """No: the key that is missing, and where."""

    permission: Permission
    scope: Scope


Access: TypeAlias = Allowed | Forbidden


def check_access(
    roles: Mapping[Scope, AnyRole],
    permission: Permission,
    *,
    scope: Scope,
    keys: frozenset[Permission] | None = None,
) -> Access:
    """Whether these roles (and, if given, only these keys) allow it there."""
    if keys is not None and permission not in keys:
        return Forbidden(permission, scope)
    for each in scope.around:
        role = roles.get(each)
        if role is not None and permission in role.permissions:
            return Allowed(role, each)
    return Forbidden(permission, scope)


def roles_within(
    roles: Mapping[Scope, AnyRole], limits: tuple[str, ...] | None
) -> dict[Scope, AnyRole]:
    """The roles that a token limited to these tenants and projects carries.

    Only those held there or further in. A wider one is left out, not cut down: else a tenant that
    made a token for somebody could use in it what the fleet trusts him with later.

    >>> from bailiwick.iam.words import Role
    >>> roles_within({Scope(): Role.FLEET_ADMIN, Scope("lab", "p"): Role.PROJECT_VIEWER}, ("lab",))
    {Scope(tenant='lab', project='p'): <Role.PROJECT_VIEWER: 'project_viewer'>}
    """
    if limits is None:
        return dict(roles)
    bounds = [Scope.parse(limit) for limit in limits]
    return {
        scope: role for scope, role in roles.items() if any(each.covers(scope) for each in bounds)
    }
