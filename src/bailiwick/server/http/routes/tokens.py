"""Routes for service accounts, tokens, who one is, and broken glass."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Response

from bailiwick.iam import FLEET, Permission, PrincipalKind, Scope, ServiceAccount
from bailiwick.iam import Token as KnownToken
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here
from bailiwick.server.http.params import Limit, NameCursor, PathName, spell_page
from bailiwick.server.http.spelling import spell_done
from bailiwick.server.problems import Trouble
from bailiwick.services import tokens
from bailiwick.services.authority import Minted
from bailiwick.wire import people as wire
from bailiwick.wire.actions.action import Action, Where
from bailiwick.wire.actions.table import ACTIONS
from bailiwick.wire.answers import Done
from bailiwick.wire.base import NAME_PATTERN, Page
from bailiwick.wire.problem import EdgeCode
from bailiwick.wire.words import PermissionWord

InTenant = Annotated[str | None, Query(pattern=NAME_PATTERN, description="In this tenant.")]
InProject = Annotated[
    str | None, Query(pattern=NAME_PATTERN, description="In this project of the tenant.")
]


@answers("token.list")
async def list_tokens(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Token]:
    """The tokens that the caller could revoke, without what would let anybody use them."""
    return spell_page(await tokens.page(asked, after=cursor, limit=limit), _token)


@answers("token.issue")
async def issue_token(
    asked: Changing, body: wire.NewToken, *, response: Response
) -> wire.IssuedToken:
    """Make a token, shown this once. With ``single_use`` it is a one-time login code."""
    wish = tokens.TokenWish(
        principal=body.principal,
        kind=PrincipalKind(body.kind),
        ttl_s=body.ttl_s,
        single_use=body.single_use,
        keys=None if body.keys is None else [Permission(key) for key in body.keys],
    )
    minted = await tokens.issue(asked, asked.house.door.authority, wish=wish)
    if isinstance(minted, tokens.TooNarrow):
        raise Trouble(EdgeCode.FORBIDDEN, "a narrowed token makes none that carries more")
    return spell_issued(minted, response=response, is_shown=not asked.dry_run)


@answers("token.revoke")
async def revoke_token(asked: Changing, token_id: PathName) -> Done:
    """Revoke a token: whoever shows it is no longer let in."""
    return spell_done(await tokens.revoke(asked, token_id))


# -- service accounts ------------------------------------------------------------------------


@answers("account.list")
async def list_accounts(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.ServiceAccount]:
    """The service accounts that the caller may see."""
    return spell_page(await tokens.page_accounts(asked, after=cursor, limit=limit), _account)


@answers("account.create")
async def create_account(asked: Changing, body: wire.NewAccount) -> Done:
    """Create a service account of a project, a tenant or the whole fleet."""
    scope = Scope.of(body.tenant, body.project)
    return spell_done(await tokens.create_account(asked, body.account, scope=scope))


@answers("account.change")
async def change_account(asked: Changing, account: PathName, *, body: wire.AccountChange) -> Done:
    """Enable or disable a service account."""
    return spell_done(await tokens.change_account(asked, account, is_enabled=body.is_enabled))


# -- oneself, and broken glass ----------------------------------------------------------------


@answers("self.read")
async def read_self(asked: Here) -> wire.Self:
    """Who asks, with which roles, and until when its token counts."""
    (token, home), who = await tokens.read_self(asked), asked.principal
    roles = [
        wire.RoleHeld(
            tenant=scope.tenant,
            project=scope.project,
            role=role.value,
            keys=[key.value for key in Permission if key in role.permissions],
        )
        for scope, role in sorted(who.roles.items(), key=lambda row: str(row[0]))
    ]
    return wire.Self(
        principal=who.name,
        kind=who.kind.value,
        roles=roles,
        token_id=token.token_id,
        expires_ms=token.expires_ms,
        keys=_keys(token),
        home=str(home),
    )


@answers("self.may")
async def read_may(
    asked: Here, tenant: InTenant = None, *, project: InProject = None
) -> wire.MayDo:
    """What your keys let you ask for: in a project, in a tenant, or (neither) over the fleet.

    Of what is not yours to see it is the same as of what is not there.
    """
    asked.require_login()
    there = Scope.of(tenant, project)
    found = sorted(name for name, each in ACTIONS.items() if _may(asked, each, there=there))
    return wire.MayDo(tenant=tenant, project=project, actions=found)


def _may(asked: Asked, action: Action[Any, Any], *, there: Scope) -> bool:
    """Whether he has the key where the action would ask for it."""
    if action.permission is None:
        return True
    roles = asked.principal.roles
    match action.where:
        case Where.FLEET:
            scopes = [FLEET]
        case Where.TENANT:
            scopes = [] if there.tenant is None else [Scope(there.tenant)]
        case Where.PROJECT:
            scopes = [] if there.project is None else [there]
        case Where.ROWS | Where.TENANT_ROWS:
            scopes = [there, *(each for each in roles if there.covers(each))]
        case _:
            scopes = [there]
    return any(asked.holds(action.permission, each) for each in scopes)


@answers("glass.break")
async def break_glass(
    asked: Changing, body: wire.BreakGlass, *, response: Response
) -> wire.IssuedToken:
    """A token with all that your roles allow, for a few minutes; your reason is recorded first."""
    minted = await tokens.break_glass(
        asked,
        asked.house.door.authority,
        reason=body.reason,
        tenant=body.tenant,
        ttl_s=body.ttl_s,
    )
    return spell_issued(minted, response=response, is_shown=not asked.dry_run)


def spell_issued(minted: Minted, *, response: Response, is_shown: bool = True) -> wire.IssuedToken:
    """A new token as it is answered, this once."""
    response.headers["cache-control"] = "no-store"
    command = minted.command
    return wire.IssuedToken(
        token=minted.token if is_shown else "",
        token_id=command.token_id,
        principal=command.principal,
        expires_ms=command.expires_ms,
    )


def _keys(found: KnownToken) -> list[PermissionWord] | None:
    return None if found.keys is None else [key.value for key in found.keys]


def _token(found: KnownToken) -> wire.Token:
    return wire.Token(
        token_id=found.token_id,
        principal=found.principal,
        kind=found.kind.value,
        issued_ms=found.issued_ms,
        expires_ms=found.expires_ms,
        revoked=found.revoked,
        single_use=found.single_use,
        keys=_keys(found),
    )


def _account(found: ServiceAccount) -> wire.ServiceAccount:
    tenant, project = found.scope
    return wire.ServiceAccount(
        account=found.name, tenant=tenant, project=project, is_enabled=found.is_enabled
    )
