"""Tenants, projects and their members: who pays, and has which role.

Rules:

- Every use case asks for its action's key first, at the scope that it is about.
- A list holds the rows that the principal may see one by one, and never tells how many others.
- The server's own names are nobody's to give a role to. A node has roles over the fleet alone.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from bailiwick.iam import (
    FLEET,
    NODE_PREFIX,
    GivenBy,
    PrincipalKind,
    Project,
    Role,
    Scope,
    Tenant,
    home_of,
    is_reserved,
    is_stranger,
    kind_of,
)
from bailiwick.journal.words import OfferOutcome
from bailiwick.kernel import Done
from bailiwick.kernel.people import commands as cmd
from bailiwick.kernel.people.home_commands import EndOffer, OfferRole
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Hidden, sees
from bailiwick.services.pages import Rows, page_of
from bailiwick.services.roles import check_hand_out
from bailiwick.vocab.errors import InvalidValue

OFFER_MS: Final = 14 * 86_400_000
"""How long one who is at home elsewhere may think about a role."""
ANOTHER: Final = "another"
"""The home of one whose tenant the caller does not see."""


class Membership(NamedTuple):
    """Who has which role there, or may accept it until then."""

    member: str
    role: str
    kind: PrincipalKind
    home: str
    expires_ms: int | None = None
    """Of a role that is offered only."""


class MemberGiven(NamedTuple):
    """A role counts, or is offered only."""

    done: Done
    is_offer: bool


class ScopeChange(NamedTuple):
    """What to change of a tenant or project; what is ``None`` stays.

    With ``revision`` only if it is still at that one.
    """

    display_name: str | None
    is_open: bool | None
    revision: int | None


# -- tenants and projects --------------------------------------------------------------------


async def page_tenants(caller: Caller, *, after: str | None, limit: int) -> Rows[Tenant]:
    """The tenants that the caller may see."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[Tenant]:
        rows = (t for t in view.state.directory.tenants.values() if caller.may(Scope(t.name)))
        return page_of(rows, after=after, limit=limit, key=lambda t: t.name)

    return await caller.read(read)


async def create_tenant(caller: Caller, tenant: str, *, display_name: str) -> Done:
    """Create a tenant; its name stays, ``display_name`` can change later."""
    caller.require(FLEET)
    return await caller.change(cmd.CreateTenant(tenant, display_name))


async def read_tenant(caller: Caller, tenant: str) -> Tenant:
    """One tenant."""
    caller.require(Scope(tenant))
    found = await caller.lookup(lambda view: view.state.directory.tenants.get(tenant))
    if found is None:
        raise Hidden()
    return found


async def change_tenant(caller: Caller, tenant: str, *, change: ScopeChange) -> Done:
    """Change the name for people, or close or open the tenant."""
    caller.require(Scope(tenant))
    return await caller.change(cmd.ChangeTenant(tenant, *change))


async def page_projects(
    caller: Caller, tenant: str, *, after: str | None, limit: int
) -> Rows[Project]:
    """The projects of a tenant that the caller may see."""
    caller.require_within(Scope(tenant))

    def read(view: View) -> Rows[Project]:
        all_of_them = view.state.directory.projects.values()
        rows = (p for p in all_of_them if p.tenant == tenant and caller.may(Scope(tenant, p.name)))
        return page_of(rows, after=after, limit=limit, key=lambda p: p.name)

    return await caller.read(read)


async def create_project(caller: Caller, tenant: str, *, project: str, display_name: str) -> Done:
    """Create a project; its name stays, ``display_name`` can change later."""
    caller.require(Scope(tenant))
    return await caller.change(cmd.CreateProject(tenant, project, display_name))


async def read_project(caller: Caller, tenant: str, *, project: str) -> Project:
    """One project."""
    caller.require(Scope(tenant, project))
    found = await caller.lookup(lambda view: view.state.directory.projects.get((tenant, project)))
    if found is None:
        raise Hidden()
    return found


async def change_project(caller: Caller, tenant: str, *, project: str, change: ScopeChange) -> Done:
    """Change the name for people, or close or open the project."""
    caller.require(Scope(tenant, project))
    return await caller.change(cmd.ChangeProject(tenant, project, *change))


# -- members ---------------------------------------------------------------------------------


async def page_members(
    caller: Caller, scope: Scope, *, after: str | None, limit: int
) -> Rows[Membership]:
    """Who has which role over the fleet, at a tenant or at a project."""
    caller.require(scope)

    def read(view: View) -> Rows[Membership]:
        directory = view.state.directory

        def row(member: str, role: str, *, expires_ms: int | None = None) -> Membership:
            home = home_of(directory, member) or FLEET
            shown = str(home) if sees(caller.principal, home) else ANOTHER
            return Membership(member, role, kind_of(directory, member), shown, expires_ms)

        held = [row(member, role.value) for member, role in directory.members(scope)]
        offers = (each for each in directory.offers.values() if each.scope == scope)
        live = (each for each in offers if each.expires_ms > view.now_ms)
        held += [row(each.member, each.role, expires_ms=each.expires_ms) for each in live]
        return page_of(held, after=after, limit=limit, key=lambda row: row.member)

    return await caller.read(read)


async def set_member(caller: Caller, scope: Scope, *, member: str, role: str | None) -> MemberGiven:
    """Give a principal a role there, or take it away; neither what is more than one has oneself.

    To one who is at home elsewhere a tenant's people can only offer it. The fleet's administrator
    gives it, and takes no home away by that. To take away what is only offered withdraws it.
    """
    caller.require(scope)
    await check_hand_out(caller, scope, member=member, role=role)
    if role is None:
        return await _take(caller, scope, member=member)
    if is_reserved(member):
        raise InvalidValue("member", member, "any name but the server's own")
    if scope != FLEET and member.startswith(NODE_PREFIX):
        raise InvalidValue("member", member, "no node: those have roles over the fleet alone")
    is_fleets = caller.may(FLEET)

    def needs_offer(view: View) -> bool:
        directory = view.state.directory
        known = scope in directory.roles.get(member, {}) or member in directory.accounts
        return not known and is_stranger(directory, member, scope=scope)

    if not is_fleets and await caller.lookup(needs_offer):
        offer = OfferRole(member, role, str(scope.tenant), OFFER_MS, scope.project)
        return MemberGiven(await caller.change(offer), is_offer=True)
    given_by = GivenBy.FLEET if is_fleets else GivenBy.TENANT
    own, custom = (Role(role), None) if role in list(Role) else (None, role)
    command = cmd.SetMember(member, own, scope.tenant, scope.project, custom, given_by)
    return MemberGiven(await caller.change(command), is_offer=False)


async def _take(caller: Caller, scope: Scope, *, member: str) -> MemberGiven:
    def is_offered(view: View) -> bool:
        directory = view.state.directory
        has_one = scope in directory.roles.get(member, {})
        return not has_one and (member, scope) in directory.offers

    if scope.tenant is not None and await caller.lookup(is_offered):
        ended = EndOffer(member, OfferOutcome.WITHDRAWN, scope.tenant, scope.project)
        return MemberGiven(await caller.change(ended), is_offer=True)
    taken = cmd.SetMember(member, None, scope.tenant, scope.project)
    return MemberGiven(await caller.change(taken), is_offer=False)
