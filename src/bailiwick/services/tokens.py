"""Service accounts and tokens: made, listed, ended; who one is; and broken glass.

Rules:

- Who makes or revokes a token must have the key everywhere that the token's principal has any role
  *at home* (its *reach*, :mod:`bailiwick.iam.homes`). What others gave the principal neither keeps
  its home's people from its tokens, nor lets those others at them. All others look alike: absent.
- A token that carries only some keys makes none that carries others. What somebody makes for
  another counts only where its maker could make one: roles that the other gets elsewhere later are
  not in it.
- Nor does it carry a key that its maker has not, now or ever: who has a role of one's own makes
  tokens of just the keys that he has himself wherever he may make any.
- The token is in the answer that made it and nowhere else. Its digest is in no answer.
- A token of the kind ``node`` is for a principal named ``node:NAME``, and such a name for no other.
- Everybody may ask who he is, and log out.
- Break-glass gives nobody what his roles do not: it hands out, for minutes, a token that carries
  all of them to somebody whose own token is narrowed, after the reason was recorded. No other
  use case knows of it, and no boundary is open to it that is closed to its holder.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bailiwick.iam import (
    FLEET,
    NODE_PREFIX,
    Permission,
    PrincipalKind,
    Scope,
    ServiceAccount,
    Token,
    holds_all,
    home_of,
    is_reserved,
    missing_keys,
    reach_of,
    rights_of,
    roles_within,
)
from bailiwick.kernel import Done
from bailiwick.kernel.people.commands import BreakGlass, ChangeAccount, CreateAccount, RevokeToken
from bailiwick.runtime.replica import View
from bailiwick.services.authority import Authority, Minted, Terms
from bailiwick.services.caller import Caller, may_everywhere
from bailiwick.services.pages import Rows, page_of
from bailiwick.vocab.errors import InvalidValue

_KEPT = frozenset({Permission.BREAK_GLASS, Permission.TOKEN_ISSUE, Permission.TOKEN_REVOKE})
"""What broken glass does not give: itself (minutes stay minutes), and other tokens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenWish:
    """A token to be made; ``keys`` are all it carries, ``single_use`` makes it a login code."""

    principal: str
    kind: PrincipalKind
    ttl_s: int
    single_use: bool = False
    keys: Iterable[Permission] | None = None


@dataclass(frozen=True, slots=True)
class TooNarrow:
    """The caller's token is narrowed, and makes none that carries more."""


async def page(caller: Caller, *, after: str | None, limit: int) -> Rows[Token]:
    """The tokens that the caller could revoke."""
    caller.require_within(FLEET)
    who, key = caller.principal, caller.permission

    def read(view: View) -> Rows[Token]:
        directory = view.state.directory
        names = {token.principal for token in directory.tokens.values()}
        mine = {n for n in names if may_everywhere(who, key, scopes=reach_of(directory, n))}
        rows = (t for t in directory.tokens.values() if t.principal in mine)
        return page_of(rows, after=after, limit=limit, key=lambda t: t.token_id)

    return await caller.read(read)


async def issue(caller: Caller, authority: Authority, *, wish: TokenWish) -> Minted | TooNarrow:
    """Make a token, which counts from now on; of a dry run, one that never will."""
    caller.require_within(FLEET)
    name, kind = wish.principal, wish.kind
    if is_reserved(name):
        raise InvalidValue("principal", name, "any name but the server's own")
    await _check_reach(caller, name)
    await _check_covered(caller, name)  # of what the token would carry, and no more
    terms = _terms(caller, wish)
    if terms is None:
        return TooNarrow()
    is_account = await caller.lookup(lambda view: name in view.state.directory.accounts)
    if is_account is not (kind is PrincipalKind.SERVICE_ACCOUNT):
        expected = "service_account for a service account, and for nobody else"
        raise InvalidValue("kind", kind.value, expected)
    if name.startswith(NODE_PREFIX) is not (kind is PrincipalKind.NODE):
        raise InvalidValue(
            "kind", kind.value, "node for a principal node:NAME, and for nobody else"
        )
    minted = authority.mint(
        name,
        kind,
        token_id=caller.ids(),
        now_ms=caller.clock.now_ms(),
        ttl_s=wish.ttl_s,
        terms=terms,
    )
    await caller.change(minted.command)
    return minted


async def revoke(caller: Caller, token_id: str) -> Done:
    """Revoke a token: whoever shows it is no longer let in."""
    caller.require_within(FLEET)
    found = await caller.locate(lambda view: view.state.directory.tokens.get(token_id))
    await _check_reach(caller, found.principal)
    return await caller.change(RevokeToken(token_id))


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
    if is_reserved(account):
        raise InvalidValue("account", account, "any name but the server's own")
    return await caller.change(CreateAccount(account, scope.tenant, scope.project))


async def change_account(caller: Caller, account: str, *, is_enabled: bool) -> Done:
    """Enable or disable a service account."""
    found = await caller.locate(lambda view: view.state.directory.accounts.get(account))
    caller.require(found.scope)
    return await caller.change(ChangeAccount(account, is_enabled))


# -- oneself ---------------------------------------------------------------------------------


async def read_self(caller: Caller) -> tuple[Token, Scope]:
    """The token that the caller shows, and where he is at home."""
    caller.require_login()
    who = caller.principal

    def read(view: View) -> tuple[Token, Scope]:
        directory = view.state.directory
        return directory.token(who.token_id), home_of(directory, who.name) or FLEET

    return await caller.lookup(read)


async def log_out(caller: Caller) -> Done:
    """Revoke the token that this request is made with."""
    caller.require_login()
    return await caller.change(RevokeToken(caller.principal.token_id))


# -- break-glass -----------------------------------------------------------------------------


async def break_glass(
    caller: Caller, authority: Authority, *, reason: str, tenant: str | None, ttl_s: int
) -> Minted:
    """A token with all that the caller's roles allow, for minutes; the reason is recorded first."""
    caller.require(FLEET)
    who = caller.principal
    minted = authority.mint(
        who.name,
        who.kind,
        token_id=caller.ids(),
        now_ms=caller.clock.now_ms(),
        ttl_s=ttl_s,
        terms=Terms(keys=tuple(sorted(set(Permission) - _KEPT)), within=who.within),
    )
    command = minted.command
    await caller.change(BreakGlass("session", command.token_id, reason, tenant, command.expires_ms))
    caller.key = None  # the record has it; the token is another command
    await caller.change(command)
    return minted


async def _check_reach(caller: Caller, principal: str) -> None:
    reach = await caller.lookup(lambda view: reach_of(view.state.directory, principal))
    if not may_everywhere(caller.principal, caller.permission, scopes=reach):
        raise caller.refuse_hidden("beyond_reach")


async def _check_covered(caller: Caller, principal: str) -> None:
    """Refuse to make a token in the name of somebody who has keys that its maker has not."""

    within = _within(caller)

    def look(view: View) -> bool:
        held = roles_within(view.state.directory.roles.get(principal, {}), within)
        return any(
            missing_keys(caller.principal.roles, role.permissions, scope=scope)
            for scope, role in held.items()
        )

    if await caller.lookup(look):
        raise caller.refuse_hidden("beyond_reach")


def _terms(caller: Caller, wish: TokenWish) -> Terms | None:
    """What narrows the token; nothing if it would carry more than the caller's own does."""
    own = caller.principal.keys
    keys = None if wish.keys is None else tuple(sorted(set(wish.keys)))
    if own is not None and (keys is None or not own.issuperset(keys)):
        return None
    roles = caller.principal.roles
    where = [scope for scope in roles if caller.may(scope)]
    if not all(holds_all(roles, each) for each in where):
        # Whoever it is for may get more keys there later, and the maker has them not.
        mine = frozenset(Permission).intersection(*(rights_of(roles, each) for each in where))
        keys = tuple(sorted(mine if keys is None else mine.intersection(keys)))
    return Terms(keys=keys, single_use=wish.single_use, within=_within(caller))


def _within(caller: Caller) -> tuple[str, ...] | None:
    """Where what the caller makes counts: it must not reach further than he, now or ever."""
    if caller.may(FLEET):
        return None
    return tuple(sorted(str(each) for each in caller.principal.roles if caller.may(each)))
