"""Tenants, projects, members and service accounts: who exists, and who has which role where.

Rules:

- Every use case asks for its action's key first, at the scope that it is about.
- A list holds the rows that the principal may see one by one, and never tells how many others.
- The server's own names are nobody's to give. A node has roles over the fleet alone.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.iam import (
    FLEET,
    NODE_PREFIX,
    OWN_NAMES,
    Project,
    Role,
    Scope,
    ServiceAccount,
    Tenant,
)
from bailiwick.kernel import Done
from bailiwick.kernel.people import commands as cmd
from bailiwick.runtime.replica import View
from bailiwick.services.caller import Caller, Hidden
from bailiwick.services.pages import Rows, page_of
from bailiwick.vocab.errors import InvalidValue


class Membership(NamedTuple):
    """Who has which role there."""

    member: str
    role: Role


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
    found = await caller.read(lambda view: view.state.directory.tenants.get(tenant))
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
    found = await caller.read(lambda view: view.state.directory.projects.get((tenant, project)))
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


async def set_member(caller: Caller, scope: Scope, *, member: str, role: Role | None) -> Done:
    """Give a principal a role there, or take it away."""
    caller.require(scope)
    if role is not None and member in OWN_NAMES:
        raise InvalidValue("member", member, "any name but the server's own")
    if role is not None and scope != FLEET and member.startswith(NODE_PREFIX):
        raise InvalidValue("member", member, "no node: those have roles over the fleet alone")
    return await caller.change(cmd.SetMember(member, role, scope.tenant, scope.project))


# -- service accounts ------------------------------------------------------------------------


async def page_accounts(caller: Caller, *, after: str | None, limit: int) -> Rows[ServiceAccount]:
    """The service accounts that the caller may see."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[ServiceAccount]:
        rows = (a for a in view.state.directory.accounts.values() if caller.may(a.scope))
        return page_of(rows, after=after, limit=limit, key=lambda a: a.name)

    return await caller.read(read)


async def create_account(caller: Caller, account: str, *, scope: Scope) -> Done:
    """Create a service account of a project, a tenant or the whole fleet."""
    caller.require(scope)
    if account in OWN_NAMES:
        raise InvalidValue("account", account, "any name but the server's own")
    return await caller.change(cmd.CreateAccount(account, scope.tenant, scope.project))


async def change_account(caller: Caller, account: str, *, is_enabled: bool) -> Done:
    """Enable or disable a service account."""
    found = await caller.locate(lambda view: view.state.directory.accounts.get(account))
    caller.require(found.scope)
    return await caller.change(cmd.ChangeAccount(account, is_enabled))
