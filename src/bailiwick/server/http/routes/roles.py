"""Routes for roles: of the product, put together by a tenant or the fleet, or offered."""

from __future__ import annotations

from bailiwick.iam import Permission, RoleOffer, Scope, ScopeLevel
from bailiwick.kernel.people.commands import DeleteRole, SetRole
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import IfMatch, Limit, RowCursor, revision_of, spell_page
from bailiwick.server.http.spelling import spell_done
from bailiwick.services import roles
from bailiwick.wire import people as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page


@answers("role.list")
async def list_roles(
    asked: Here, *, cursor: RowCursor = None, limit: Limit = 100
) -> Page[wire.CustomRole]:
    """The roles of the product, of the fleet, and of tenants that the caller may see."""
    return spell_page(await roles.page_roles(asked, after=cursor, limit=limit), _role)


@answers("role.set")
async def set_role(asked: Changing, body: wire.RoleChange, *, if_match: IfMatch = None) -> Done:
    """Put a role together, or replace what it holds; nobody may give it more than he has himself.

    Without a tenant it is the fleet's. Who has the role has what it holds now, at once.
    """

    def command() -> SetRole:
        keys = tuple(Permission(key) for key in body.keys)
        return SetRole(body.role, ScopeLevel(body.level), keys, body.tenant, revision_of(if_match))

    return spell_done(await roles.set_role(asked, body.tenant, command=command))


@answers("role.delete")
async def delete_role(asked: Changing, body: wire.RoleName, *, if_match: IfMatch = None) -> Done:
    """Delete a role of one's own; one that somebody has stays."""

    def command() -> DeleteRole:
        return DeleteRole(body.role, body.tenant, revision_of(if_match))

    return spell_done(await roles.delete_role(asked, body.tenant, command=command))


# -- invitations -----------------------------------------------------------------------------


@answers("invitation.list")
async def list_invitations(
    asked: Here, *, cursor: RowCursor = None, limit: Limit = 100
) -> Page[wire.Invitation]:
    """The roles elsewhere that you may accept; until then they count for nothing."""
    found = await roles.page_invitations(asked, after=cursor, limit=limit)
    return spell_page(found, _invitation)


@answers("invitation.accept")
async def accept_invitation(asked: Changing, body: wire.InvitedTo) -> Done:
    """Accept a role; you can give it up again."""
    return spell_done(await roles.accept(asked, Scope.of(body.tenant, body.project)))


@answers("invitation.decline")
async def decline_invitation(asked: Changing, body: wire.InvitedTo) -> Done:
    """Decline a role."""
    return spell_done(await roles.decline(asked, Scope.of(body.tenant, body.project)))


@answers("invitation.leave")
async def leave_role(asked: Changing, body: wire.InvitedTo) -> Done:
    """Give up a role that you have elsewhere; one at home is your administrator's to take."""
    return spell_done(await roles.leave(asked, Scope.of(body.tenant, body.project)))


@answers("principal.home")
async def set_home(asked: Changing, body: wire.HomeChange) -> Done:
    """Write down where somebody is at home: who there looks after his tokens from now on."""
    return spell_done(await roles.set_home(asked, body.principal, tenant=body.tenant))


def _invitation(found: RoleOffer) -> wire.Invitation:
    return wire.Invitation(
        tenant=str(found.scope.tenant),
        project=found.scope.project,
        role=found.role,
        offered_ms=found.offered_ms,
        expires_ms=found.expires_ms,
    )


def _role(found: roles.RoleRow) -> wire.CustomRole:
    return wire.CustomRole(
        role=found.name,
        tenant=None if found.home is None else found.home.tenant,
        is_builtin=found.home is None,
        level=found.level.value,
        keys=[key.value for key in found.keys],
        revision=found.revision,
    )
