"""Roles of one's own: listed, put together, changed, deleted; who may hand out which; invitations.

Rules:

- Nobody touches what is more than he has: who puts a role together, changes or deletes one, gives
  one to somebody or takes one away, has all the keys that it holds and is to hold, there. What he
  lacks is told, and the refusal is sealed (``role_broadens``).
- Roles of the product and of the fleet are everybody's to see, a tenant's are its own.
- A token that is narrowed to some keys puts no role together that holds others, and hands out none.
- An invitation is seen, accepted and declined by whom it is for, and by nobody else, and a role
  elsewhere given up by who has it: each with a login that would carry the role. One that others
  made or narrowed decides nothing for him in other places, and does not show them.
- What he has at home is his home's to take.
- Who sets a principal's home has all that the principal has: a home makes and ends its tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from bailiwick.iam import (
    FLEET,
    NODE_PREFIX,
    AnyRole,
    CustomRole,
    Permission,
    Role,
    RoleOffer,
    Scope,
    ScopeLevel,
    is_reserved,
    is_stranger,
    missing_keys,
)
from bailiwick.journal.words import OfferOutcome
from bailiwick.kernel import Done
from bailiwick.kernel.people.commands import DeleteRole, SetMember, SetRole
from bailiwick.kernel.people.home_commands import EndOffer, SetHome
from bailiwick.runtime.replica import View
from bailiwick.services.authority import Principal
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.pages import Rows, page_of
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound


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
    """Refuse to give, offer or take a role that is more than the caller has there."""

    def look(view: View) -> frozenset[Permission]:
        directory = view.state.directory
        before = directory.roles.get(member, {}).get(scope)
        wanted = None if role is None else directory.role_at(role, scope)
        offered = _offered(view, member, scope)  # would be withdrawn, or replaced
        touched = (each.permissions for each in (before, wanted, offered) if each is not None)
        return frozenset[Permission]().union(*touched)

    _require_all(caller, await caller.lookup(look), scope=scope)


def _offered(view: View, member: str, scope: Scope) -> AnyRole | None:
    """The role that is offered to somebody there; nothing if it is no more."""
    directory = view.state.directory
    offer = directory.offers.get((member, scope))
    if offer is None or offer.expires_ms <= view.now_ms:
        return None
    try:
        return directory.role_at(offer.role, scope)
    except NotFound:
        return None


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


# -- invitations -----------------------------------------------------------------------------


async def page_invitations(caller: Caller, *, after: str | None, limit: int) -> Rows[RoleOffer]:
    """The roles that the caller may accept now."""
    caller.require_login()
    who = caller.principal

    def is_shown(each: RoleOffer, now_ms: int) -> bool:
        return each.member == who.name and each.expires_ms > now_ms and _reaches(who, each.scope)

    def read(view: View) -> Rows[RoleOffer]:
        offers = view.state.directory.offers.values()
        mine = (each for each in offers if is_shown(each, view.now_ms))
        return page_of(mine, after=after, limit=limit, key=lambda each: str(each.scope))

    return await caller.read(read)


async def accept(caller: Caller, scope: Scope) -> Done:
    """Accept a role that was offered there; it counts from now on."""
    _check_reach(caller, scope, "invitation")
    return await _answer(caller, scope, outcome=OfferOutcome.ACCEPTED)


async def decline(caller: Caller, scope: Scope) -> Done:
    """Decline a role that was offered there."""
    _check_reach(caller, scope, "invitation")
    return await _answer(caller, scope, outcome=OfferOutcome.DECLINED)


def _check_reach(caller: Caller, scope: Scope, kind: str) -> None:
    """Refuse a login that somebody else made, or narrowed: it decides nothing in other places."""
    caller.require_login()
    if not _reaches(caller.principal, scope):
        hint = "log in by your provider, or with a code of the fleet's administrator"
        told = "cannot be answered for with a login that would not carry it"
        raise Conflict(kind, str(scope), told, hint=hint)


def _reaches(who: Principal, scope: Scope) -> bool:
    """Whether a login carries all that its principal has, or is offered, at a scope."""
    if who.keys is not None:
        return False
    return who.within is None or any(Scope.parse(each).covers(scope) for each in who.within)


async def _answer(caller: Caller, scope: Scope, *, outcome: OfferOutcome) -> Done:
    name = caller.principal.name
    return await caller.change(EndOffer(name, outcome, str(scope.tenant), scope.project))


async def leave(caller: Caller, scope: Scope) -> Done:
    """Give up a role that the caller has elsewhere."""
    _check_reach(caller, scope, "role")
    name = caller.principal.name

    def may_leave(view: View) -> bool:
        directory = view.state.directory
        has_one = scope in directory.roles.get(name, {})
        return has_one and is_stranger(directory, name, scope=scope)

    if not await caller.lookup(may_leave):
        hint = "what you have at home, its administrator takes away"
        raise Conflict("role", str(scope), "is none that you have elsewhere", hint=hint)
    return await caller.change(SetMember(name, None, scope.tenant, scope.project))


async def set_home(caller: Caller, principal: str, *, tenant: str | None) -> Done:
    """Write down where a principal is at home: who looks after its tokens from now on."""
    caller.require(FLEET)
    if is_reserved(principal) or principal.startswith(NODE_PREFIX):
        raise InvalidValue("principal", principal, "no node, and none of the server's own")
    # Who has its home looks after its tokens, and makes them: no way past :func:`check_hand_out`.
    held = await caller.lookup(lambda view: dict(view.state.directory.roles.get(principal, {})))
    for scope, role in held.items():
        _require_all(caller, role.permissions, scope=scope)
    return await caller.change(SetHome(principal, tenant))
