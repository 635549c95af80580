"""Sessions: begun with a login, renewed while a browser is used, listed and ended by their owner.

Rules:

- A login code is spent in the very command that makes its session: of two who show it, one gets
  in, and a login that fails leaves the code as it was.
- A browser's session is one short token after another. Each takes the place of the one before in
  one command, carries just what that did, and none counts beyond the end that was set at the login.
- Everybody may list the tokens that are his own, and end any of them. Those of others are absent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bailiwick.iam import PrincipalKind, Token
from bailiwick.kernel import Done, Envelope
from bailiwick.kernel.people.commands import RevokeToken
from bailiwick.ports import Clock
from bailiwick.runtime.gateway import Gateway
from bailiwick.runtime.replica import View
from bailiwick.services.authority import (
    TTL_S_MAX,
    Authority,
    BrowserSession,
    Minted,
    Principal,
    Terms,
)
from bailiwick.services.caller import Caller, Hidden
from bailiwick.services.pages import Rows, page_of
from bailiwick.vocab.errors import Conflict, NotFound

SESSION_S_MAX = TTL_S_MAX
"""How long a browser's session lasts at most, however often it is renewed."""


@dataclass(frozen=True, slots=True)
class SessionMaker:
    """Makes sessions of login codes, and of those whom a provider names."""

    gateway: Gateway
    authority: Authority
    clock: Clock

    async def begin(
        self,
        who: Principal,
        *,
        token_id: str,
        ttl_s: int,
        correlation_id: str,
        is_browser: bool = False,
    ) -> Minted | None:
        """A session of whoever showed a login code; nothing if somebody was faster with it."""
        keys = None if who.keys is None else tuple(sorted(who.keys))
        terms = Terms(keys=keys, within=who.within)
        minted = self._mint(
            who.name, who.kind, token_id=token_id, ttl_s=ttl_s, terms=terms, is_browser=is_browser
        )
        command = replace(minted.command, spends=who.token_id)
        try:
            await self.gateway.execute(Envelope(command, who.name, correlation_id))
        except (Conflict, NotFound):
            return None
        return replace(minted, command=command)

    async def begin_for(
        self,
        name: str,
        provider: str,
        *,
        token_id: str,
        ttl_s: int,
        correlation_id: str,
        is_browser: bool,
    ) -> Minted:
        """A session of somebody whom a provider names."""
        minted = self._mint(
            name,
            PrincipalKind.HUMAN,
            token_id=token_id,
            ttl_s=ttl_s,
            terms=Terms(provider=provider),
            is_browser=is_browser,
        )
        await self.gateway.execute(Envelope(minted.command, name, correlation_id))
        return minted

    def _mint(
        self,
        name: str,
        kind: PrincipalKind,
        *,
        token_id: str,
        ttl_s: int,
        terms: Terms,
        is_browser: bool,
    ) -> Minted:
        now_ms, session = self.clock.now_ms(), None
        if is_browser:
            session = BrowserSession(token_id, 1000 * (now_ms // 1000 + SESSION_S_MAX))
        minted = self.authority.mint(
            name,
            kind,
            token_id=token_id,
            now_ms=now_ms,
            ttl_s=ttl_s,
            terms=replace(terms, session=session),
        )
        return replace(minted, session=session)


async def renew(caller: Caller, authority: Authority, *, ttl_s: int) -> Minted | None:
    """The next token of the caller's session; nothing if that is over, or was renewed before."""
    caller.require_login()
    who, now_ms = caller.principal, caller.clock.now_ms()
    session = who.session
    if session is None:
        return None
    left_s = (session.until_ms - now_ms) // 1000
    if left_s < 1:
        return None
    minted = authority.mint(
        who.name,
        who.kind,
        token_id=caller.ids(),
        now_ms=now_ms,
        ttl_s=min(ttl_s, left_s),
        terms=Terms(
            keys=None if who.keys is None else tuple(sorted(who.keys)),
            within=who.within,
            session=session,
            provider=who.provider,
        ),
    )
    command = replace(minted.command, renews=who.token_id)
    try:
        await caller.change(command)
    except (Conflict, NotFound):  # another page of the same browser was faster
        return None
    return Minted(minted.token, command, session)


async def page_own(caller: Caller, *, after: str | None, limit: int) -> Rows[Token]:
    """The caller's own tokens that still count."""
    caller.require_login()
    name, now_ms = caller.principal.name, caller.clock.now_ms()

    def read(view: View) -> Rows[Token]:
        rows = (
            token
            for token in view.state.directory.tokens.values()
            if token.principal == name and not token.revoked and token.expires_ms > now_ms
        )
        return page_of(rows, after=after, limit=limit, key=lambda token: token.token_id)

    return await caller.read(read)


async def end_own(caller: Caller, token_id: str) -> Done:
    """Revoke one of the caller's own tokens; another's is as if it were not there."""
    caller.require_login()
    name = caller.principal.name

    def look(view: View) -> bool:
        token = view.state.directory.tokens.get(token_id)
        return token is not None and token.principal == name

    if not await caller.lookup(look):
        raise Hidden()
    return await caller.change(RevokeToken(token_id))
