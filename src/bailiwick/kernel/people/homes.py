"""Homes and offers: what follows from offering a role to a stranger, and from his answer.

Rules:

- A tenant's people give no role to a stranger: they offer it, and it counts for nothing until he
  accepts. Whoever has a role there already is no stranger there: it may be changed.
- An offer is one for each person and place; a new one takes the place of the old. It runs out
  within ``OFFER_MS_MAX``, is accepted once, and never where that is closed by then.
- A role elsewhere, accepted or given by the fleet, never moves a home: before it is given, the home
  that was plain until then is written down.
- No offer makes anybody known: one to a name that nobody has yet keeps nobody from having it.
- Offers are bounded for each tenant, and for each person of a tenant's: nobody fills up what others
  may offer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, assert_never

from bailiwick.iam import (
    Directory,
    GivenBy,
    RoleOffer,
    Scope,
    is_stranger,
    known_home,
)
from bailiwick.journal.words import OfferOutcome
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.people import events as ev
from bailiwick.kernel.people import home_commands as cmd
from bailiwick.kernel.people import home_events as he
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached

OFFERS_MAX: Final = 1_000
"""Of one tenant at a time."""
OFFERS_EACH_MAX: Final = 16
"""Of one tenant to one person."""


def decide(
    directory: Directory, command: cmd.HomeCommand, *, now_ms: int
) -> Iterator[he.HomeEvent | ev.MemberChanged]:
    """What follows from such a command."""
    match command:
        case cmd.OfferRole():
            yield _offer(directory, command, now_ms=now_ms)
        case cmd.EndOffer():
            yield from _end(directory, command, now_ms=now_ms)
        case cmd.SetHome():
            home = Scope(command.tenant)
            directory.check_scope(home)
            if command.principal in directory.accounts:
                raise Conflict("service account", command.principal, "is at home in its scope")
            if directory.homes.get(command.principal) == home:
                raise Conflict("principal", command.principal, "is at home there already")
            yield he.PrincipalHomed(Owner(*home), command.principal)
        case _:
            assert_never(command)


def check_giving(
    directory: Directory, member: str, *, scope: Scope, given_by: GivenBy | None
) -> Iterator[he.PrincipalHomed]:
    """Before a role is given: refuse it to strangers, or write down the home that it leaves."""
    has_one = scope in directory.roles.get(member, {})
    match given_by:
        case None:
            return
        case GivenBy.TENANT:
            if not has_one and is_stranger(directory, member, scope=scope):
                hint = "offer it; it counts once it is accepted"
                raise Conflict("member", member, "is at home elsewhere", hint=hint)
        case GivenBy.FLEET:
            yield from _written(directory, member, scope=scope)
        case _:
            assert_never(given_by)


def _written(directory: Directory, member: str, *, scope: Scope) -> Iterator[he.PrincipalHomed]:
    """The home of one who gets a role elsewhere, unless that leaves no doubt about it."""
    home = known_home(directory, member)
    if home is None or member in directory.homes or member in directory.accounts:
        return
    if home.tenant != scope.tenant:
        yield he.PrincipalHomed(Owner(*home), member)


def _offer(directory: Directory, command: cmd.OfferRole, *, now_ms: int) -> he.RoleOffered:
    scope, member = Scope.of(command.tenant, command.project), command.member
    directory.check_scope(scope)
    role = directory.role_at(command.role, scope)
    if role.level is not scope.level:
        raise InvalidValue("role", command.role, f"a role of the {scope.level}, as its scope is")
    if member in directory.accounts:
        raise Conflict("service account", member, "has no roles beyond its own scope")
    if scope in directory.roles.get(member, {}):
        raise Conflict("member", member, "has a role there already")
    live = [each for each in directory.offers.values() if each.expires_ms > now_ms]
    mine = [each for each in live if each.scope.tenant == scope.tenant]
    if sum(each.member == member for each in mine if each.scope != scope) >= OFFERS_EACH_MAX:
        raise LimitReached(f"offers of {scope.tenant} to {member}", OFFERS_EACH_MAX)
    if len(mine) >= OFFERS_MAX:
        raise LimitReached(f"offers of {scope.tenant}", OFFERS_MAX)
    return he.RoleOffered(Owner(*scope), member, command.role, now_ms + command.ttl_ms)


def _end(
    directory: Directory, command: cmd.EndOffer, *, now_ms: int
) -> Iterator[he.HomeEvent | ev.MemberChanged]:
    scope, member = Scope.of(command.tenant, command.project), command.member
    found = directory.offers.get((member, scope))
    if found is None or found.expires_ms <= now_ms:
        told = "is not open: it was answered or withdrawn, ran out, or was never made"
        raise Conflict("invitation", str(scope), told)
    owner = Owner(*scope)
    if command.outcome is OfferOutcome.ACCEPTED:
        directory.check_scope(scope)
        if member in directory.accounts:  # a name that became an account's since
            raise Conflict("service account", member, "has no roles beyond its own scope")
        if scope in directory.roles.get(member, {}):  # the fleet was faster
            raise Conflict("member", member, "has a role there already")
        role = directory.role_at(found.role, scope)
        if role.level is not scope.level:
            raise Conflict("role", found.role, f"is none of the {scope.level} any more")
        yield from _written(directory, member, scope=scope)
        yield ev.MemberChanged(owner, member, ev.told_role(found.role), None)
    yield he.RoleOfferEnded(owner, member, found.role, command.outcome)


def apply(directory: Directory, event: he.HomeEvent, *, at_ms: int) -> None:
    """The directory after one more record."""
    match event:
        case he.RoleOffered():
            for key in [k for k, each in directory.offers.items() if each.expires_ms <= at_ms]:
                del directory.offers[key]
            scope = Scope(*event.owner)
            directory.offers.pop((event.member, scope), None)
            made = RoleOffer(event.member, scope, event.role, at_ms, event.expires_ms)
            directory.offers[event.member, scope] = made
        case he.RoleOfferEnded():
            directory.offers.pop((event.member, Scope(*event.owner)), None)
        case he.PrincipalHomed():
            directory.homes[event.principal] = Scope(*event.owner)
        case _:
            assert_never(event)
