"""Tenants, projects, their members and quotas: who pays, has which role, and may hold how much.

Rules:

- Every use case asks for its action's key first, at the scope that it is about.
- A list holds the rows that the principal may see one by one, and never tells how many others.
- The server's own names are nobody's to give a role to. A node has roles over the fleet alone.
- A quota is set for a tenant or project that exists and is open; it is read for one that ever did.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.iam import (
    FLEET,
    NODE_PREFIX,
    AnyRole,
    Project,
    Role,
    Scope,
    Tenant,
    is_reserved,
)
from bailiwick.kernel import Done, SetQuota
from bailiwick.kernel.people import commands as cmd
from bailiwick.kernel.work.rights import ceiling_of
from bailiwick.runtime.replica import View
from bailiwick.scheduler.quota_policy import Quota, QuotaHeadroom, QuotaScope
from bailiwick.scheduler.rights.ceilings import Ceiling
from bailiwick.services.caller import Caller, Deferred, Hidden
from bailiwick.services.pages import Rows, page_of
from bailiwick.services.roles import check_hand_out
from bailiwick.vocab.errors import InvalidValue


class Membership(NamedTuple):
    """Who has which role there."""

    member: str
    role: AnyRole


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
        rows = (Membership(*row) for row in view.state.directory.members(scope))
        return page_of(rows, after=after, limit=limit, key=lambda row: row.member)

    return await caller.read(read)


async def set_member(caller: Caller, scope: Scope, *, member: str, role: str | None) -> Done:
    """Give a principal a role there, or take it away; neither what is more than one has oneself."""
    caller.require(scope)
    await check_hand_out(caller, scope, member=member, role=role)
    if role is not None and is_reserved(member):
        raise InvalidValue("member", member, "any name but the server's own")
    if role is not None and scope != FLEET and member.startswith(NODE_PREFIX):
        raise InvalidValue("member", member, "no node: those have roles over the fleet alone")
    if role is None or role in list(Role):
        known = None if role is None else Role(role)
        return await caller.change(cmd.SetMember(member, known, scope.tenant, scope.project))
    command = cmd.SetMember(member, None, scope.tenant, scope.project, role)
    return await caller.change(command)


# -- quotas ----------------------------------------------------------------------------------


class QuotaStanding(NamedTuple):
    """What was set (or is the default), what may be asked for, and how that stands."""

    quota: Quota
    is_default: bool
    ceiling: Ceiling
    headroom: QuotaHeadroom


async def read_quota(caller: Caller, scope: Scope) -> QuotaStanding:
    """What a tenant or project is allowed, and how that stands."""
    caller.require(scope)
    tenant, project = str(scope.tenant), scope.project

    def standing(view: View) -> QuotaStanding:
        directory, quotas = view.state.directory, view.state.quotas
        directory.tenant(tenant)
        if project is not None:
            directory.project(tenant, project)
        return QuotaStanding(
            quotas.quota_of(tenant, project),
            project is None and not quotas.has_quota(tenant),
            ceiling_of(view.state, QuotaScope.of(tenant, project)),
            quotas.headroom(tenant, project),
        )

    return await caller.lookup(standing)


async def set_quota(
    caller: Caller, scope: Scope, *, quota: Deferred[Quota], seen: str | None
) -> Done:
    """Replace everything that a tenant or project is allowed."""
    caller.require(scope)
    await caller.lookup(lambda view: view.state.directory.check_scope(scope))
    return await caller.change(SetQuota(str(scope.tenant), quota(), scope.project, seen))
