"""Handlers for tokens, and the login that turns a one-time code into a session.

Rules:

- Who makes or revokes a token must have the key everywhere that the token's principal has any role
  (its *reach*), so nobody can borrow what is beyond him. All other principals look alike: absent.
- A token that carries only some keys makes none that carries others. What somebody makes for
  another counts only where its maker could make one: roles that the other gets elsewhere later are
  not in it.
- The token is in the answer that made it and nowhere else. Its digest is in no answer.
- A login code is spent in the very command that makes its session: of two who show it, one gets
  in, and a login that fails leaves the code as it was.
- A token of the kind ``node`` is for a principal named ``node:NAME``, and such a name for no other.
- Everybody may ask who he is, and end his own session.
"""

from __future__ import annotations

from dataclasses import replace

from fastapi import Request, Response

from bailiwick.iam import FLEET, NODE_PREFIX, OWN_NAMES, Directory, Permission, PrincipalKind, Scope
from bailiwick.iam import Token as KnownToken
from bailiwick.kernel import Envelope
from bailiwick.kernel.people.commands import IssueToken, RevokeToken
from bailiwick.server.http.asked import Asked, Changing, Here, House, may_everywhere
from bailiwick.server.http.params import Limit, NameCursor, PathName, page_of, spell_page
from bailiwick.server.problems import Trouble
from bailiwick.services.authority import Terms
from bailiwick.services.replica import View
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound
from bailiwick.wire import people as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.problem import EdgeCode
from bailiwick.wire.words import PermissionWord


def reach_of(directory: Directory, principal: str) -> set[Scope]:
    """Everywhere that a principal has any role; of one without any, the fleet."""
    reach = set(directory.roles.get(principal, {}))
    account = directory.accounts.get(principal)
    if account is not None:
        reach.add(account.scope)
    return reach or {FLEET}


async def list_tokens(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.Token]:
    """The tokens that the caller could revoke, without what would let anybody use them."""
    asked.require_within(FLEET)
    who, key = asked.principal, asked.permission

    def read(view: View) -> tuple[list[KnownToken], str | None]:
        directory = view.state.directory
        names = {token.principal for token in directory.tokens.values()}
        mine = {n for n in names if may_everywhere(who, key, scopes=reach_of(directory, n))}
        rows = (t for t in directory.tokens.values() if t.principal in mine)
        return page_of(rows, after=cursor, limit=limit, key=lambda t: t.token_id)

    return spell_page(await asked.look(read), _token)


async def issue_token(
    asked: Changing, body: wire.NewToken, *, response: Response
) -> wire.IssuedToken:
    """Make a token, shown this once. With ``single_use`` it is a one-time login code."""
    asked.require_within(FLEET)
    if body.principal in OWN_NAMES:
        raise InvalidValue("principal", body.principal, "any name but the server's own")
    await _check_reach(asked, body.principal)
    kind, terms = PrincipalKind(body.kind), _terms(asked, body)
    is_account = await asked.look(lambda view: body.principal in view.state.directory.accounts)
    if is_account is not (kind is PrincipalKind.SERVICE_ACCOUNT):
        expected = "service_account for a service account, and for nobody else"
        raise InvalidValue("kind", body.kind, expected)
    if body.principal.startswith(NODE_PREFIX) is not (kind is PrincipalKind.NODE):
        raise InvalidValue("kind", body.kind, "node for a principal node:NAME, and for nobody else")
    minted = asked.house.door.authority.mint(
        body.principal,
        kind,
        token_id=asked.house.ids(),
        now_ms=asked.house.door.clock.now_ms(),
        ttl_s=body.ttl_s,
        terms=terms,
    )
    await asked.do(minted.command)
    response.headers["cache-control"] = "no-store"
    return spell_issued("" if asked.dry_run else minted.token, minted.command)


async def revoke_token(asked: Changing, token_id: PathName) -> Done:
    """Revoke a token: whoever shows it is no longer let in."""
    asked.require_within(FLEET)
    found = await asked.locate(lambda view: view.state.directory.tokens.get(token_id))
    await _check_reach(asked, found.principal)
    return await asked.do(RevokeToken(token_id))


async def log_in(request: Request, body: wire.Login, *, response: Response) -> wire.IssuedToken:
    """Exchange a one-time login code for a session's token."""
    house: House = request.app.state.house
    door, correlation_id = house.door, str(request.state.correlation_id)
    who = await door.check(request, body.code, single_use=True)
    minted = door.authority.mint(
        who.name,
        who.kind,
        token_id=house.ids(),
        now_ms=door.clock.now_ms(),
        ttl_s=body.ttl_s,
        terms=Terms(keys=None if who.keys is None else tuple(sorted(who.keys)), within=who.within),
    )
    command = replace(minted.command, spends=who.token_id)
    try:
        await house.looks.call(Envelope(command, who.name, correlation_id))
    except (Conflict, NotFound):  # somebody was faster with the same code
        raise Trouble(EdgeCode.UNAUTHENTICATED, "this token lets nobody in") from None
    response.headers["cache-control"] = "no-store"
    return spell_issued(minted.token, command)


async def read_self(asked: Here) -> wire.Self:
    """Who asks, with which roles, and until when its token counts."""
    asked.require_self()
    who = asked.principal
    token = await asked.look(lambda view: view.state.directory.token(who.token_id))
    roles = [
        wire.RoleHeld(tenant=scope.tenant, project=scope.project, role=role.value)
        for scope, role in sorted(who.roles.items(), key=lambda row: str(row[0]))
    ]
    return wire.Self(
        principal=who.name,
        kind=who.kind.value,
        roles=roles,
        token_id=token.token_id,
        expires_ms=token.expires_ms,
        keys=_keys(token),
    )


async def log_out(asked: Changing) -> Done:
    """Revoke the token that this request is made with."""
    asked.require_self()
    return await asked.do(RevokeToken(asked.principal.token_id))


async def _check_reach(asked: Asked, principal: str) -> None:
    reach = await asked.look(lambda view: reach_of(view.state.directory, principal))
    if not may_everywhere(asked.principal, asked.permission, scopes=reach):
        raise asked.refuse_hidden("beyond_reach")


def _terms(asked: Asked, body: wire.NewToken) -> Terms:
    own = asked.principal.keys
    keys = None if body.keys is None else tuple(sorted({Permission(key) for key in body.keys}))
    if own is not None and (keys is None or not own.issuperset(keys)):
        raise Trouble(EdgeCode.FORBIDDEN, "a narrowed token makes none that carries more")
    within = None
    if not asked.may(FLEET):  # it must not reach further than its maker, now or ever
        within = tuple(sorted(str(each) for each in asked.principal.roles if asked.may(each)))
    return Terms(keys=keys, single_use=body.single_use, within=within)


def spell_issued(token: str, command: IssueToken) -> wire.IssuedToken:
    """A new token as it is answered, this once."""
    return wire.IssuedToken(
        token=token,
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
