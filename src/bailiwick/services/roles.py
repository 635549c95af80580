"""Roles of one's own: listed, put together, changed, deleted; and who may hand out which.

Rules:

- Nobody touches what is more than he has: who puts a role together, changes or deletes one, gives
  one to somebody or takes one away, has all the keys that it holds and is to hold, there. What he
  lacks is told, and the refusal is sealed (``role_broadens``).
- Roles of the product and of the fleet are everybody's to see, a tenant's are its own.
- A token that is narrowed to some keys puts no role together that holds others, and hands out none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bailiwick.iam import (
    FLEET,
    CustomRole,
    Permission,
    Role,
    Scope,
    ScopeLevel,
    missing_keys,
)
from bailiwick.kernel import Done
from bailiwick.kernel.people.commands import DeleteRole, SetRole
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.pages import Rows, page_of


class RoleRow(NamedTuple):
    """A role, and whose it is; none's if it comes with the product."""

    name: str
    home: Scope | None
    level: ScopeLevel
    keys: tuple[Permission, ...]
    revision: int = 0


async def page_roles(caller: Caller, *, after: str | None, limit: int) -> Rows[RoleRow]:
    """The product's roles, the fleet's, and those of tenants that the caller may see."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[RoleRow]:
        known = view.state.directory.custom_roles.values()
        seen = [each for each in known if each.home == FLEET or caller.may_within(each.home)]
        return page_of(_rows(seen), after=after, limit=limit, key=role_key)

    return await caller.read(read)


def _rows(known: Iterable[CustomRole]) -> Iterator[RoleRow]:
    for role in Role:
        keys = tuple(key for key in Permission if key in role.permissions)
        yield RoleRow(role.value, None, role.level, keys)
    for own in known:
        yield RoleRow(own.name, own.home, own.level, own.keys, own.revision)


def role_key(row: RoleRow) -> str:
    """What roles are listed by, and their pages turned."""
    return f"{row.name}@{'' if row.home is None else row.home.tenant or ''}"


async def set_role(caller: Caller, tenant: str | None, *, command: Deferred[SetRole]) -> Done:
    """Put a role together, or replace what it holds."""
    home = Scope.of(tenant)
    caller.require(home)
    wanted = command()
    await _check_own(caller, home, name=wanted.role, keys=wanted.keys)
    return await caller.change(wanted)


async def delete_role(caller: Caller, tenant: str | None, *, command: Deferred[DeleteRole]) -> Done:
    """Have a role be no more; one that somebody has stays."""
    home = Scope.of(tenant)
    caller.require(home)
    wanted = command()
    await _check_own(caller, home, name=wanted.role, keys=())
    return await caller.change(wanted)


async def _check_own(
    caller: Caller, home: Scope, *, name: str, keys: tuple[Permission, ...]
) -> None:
    """Refuse a role that holds, or is to hold, what the caller does not have at its home."""

    def look(view: View) -> frozenset[Permission]:
        known = view.state.directory.custom_roles.get((home, name))
        return frozenset(keys) | (frozenset() if known is None else known.permissions)

    _require_all(caller, await caller.lookup(look), scope=home)


async def check_hand_out(caller: Caller, scope: Scope, *, member: str, role: str | None) -> None:
    """Refuse to give or take a role that is more than the caller has there."""

    def look(view: View) -> frozenset[Permission]:
        directory = view.state.directory
        before = directory.roles.get(member, {}).get(scope)
        wanted = None if role is None else directory.role_at(role, scope)
        both = (each.permissions for each in (before, wanted) if each is not None)
        return frozenset[Permission]().union(*both)

    _require_all(caller, await caller.lookup(look), scope=scope)


def _require_all(caller: Caller, touched: frozenset[Permission], *, scope: Scope) -> None:
    """Refuse what the caller's roles do not give there, or what its token leaves out."""
    who = caller.principal
    lacking = missing_keys(who.roles, touched, scope=scope)
    if who.keys is not None:
        lacking = lacking or tuple(key for key in Permission if key in touched - who.keys)
    if lacking:
        told = ", ".join(key.value for key in lacking)
        message = f"that role is more than you have at {scope}: {told}"
        raise caller.refuse(message, reason="role_broadens")
