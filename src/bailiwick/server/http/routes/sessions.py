"""Routes for logging in and out, for a browser's session, and for one's own tokens."""

from __future__ import annotations

from fastapi import Request, Response

from bailiwick.iam import Token as KnownToken
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here, House
from bailiwick.server.http.cookies import (
    PageOrigin,
    csrf_of,
    drop_cookie,
    give_cookie,
    origin_of,
    shown_by,
)
from bailiwick.server.http.door import foreign_page
from bailiwick.server.http.params import Limit, NameCursor, PathName, spell_page
from bailiwick.server.http.routes.tokens import spell_issued
from bailiwick.server.http.spelling import spell_done
from bailiwick.server.problems import Trouble
from bailiwick.services import sessions, tokens
from bailiwick.services.authority import Minted, RefusalWord
from bailiwick.services.caller import Refusal
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.wire import people as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.problem import EdgeCode


@answers("login.ways")
async def read_ways(request: Request) -> wire.LoginWays:
    """How one can log in here: with a one-time code, and through which providers."""
    house: House = request.app.state.house
    book = house.parts.logins
    found = () if book is None else book.clients.values()
    providers = [
        wire.LoginProvider(provider=each.provider.name, title=each.provider.title) for each in found
    ]
    return wire.LoginWays(code=True, providers=providers)


@answers("login")
async def log_in(request: Request, body: wire.Login, *, response: Response) -> wire.IssuedToken:
    """Exchange a one-time login code for a session's token."""
    minted = await _exchange(request, body.code, ttl_s=body.ttl_s, is_browser=False)
    return spell_issued(minted, response=response)


@answers("session.begin")
async def begin(
    request: Request, body: wire.NewSession, *, response: Response
) -> wire.BrowserSession:
    """Exchange a one-time login code for a browser's session.

    The token goes into a cookie (`__Host-bailiwick`) that no script reads, and is in no body. Only
    a page of this server may ask: another's request (`Sec-Fetch-Site`, `Origin`) is refused.
    """
    house: House = request.app.state.house
    if origin_of(request.headers) is not PageOrigin.SAME:
        await house.door.note(request, Refusal(RefusalWord.CSRF_REFUSED.value))
        raise foreign_page()
    minted = await _exchange(request, body.code, ttl_s=body.ttl_s, is_browser=True)
    return begin_session(house, minted, response=response)


@answers("session.read")
async def read_session(asked: Here, request: Request) -> wire.BrowserSession:
    """The browser's session, with what its changes have to show as `X-CSRF-Token`."""
    (token, _), session = await tokens.read_self(asked), asked.principal.session
    if session is None or not shown_by(request).is_cookie:
        raise _no_session()
    return wire.BrowserSession(
        principal=token.principal,
        expires_ms=token.expires_ms,
        ends_ms=session.until_ms,
        csrf=csrf_of(asked.house.door.authority, session),
    )


@answers("session.renew")
async def renew_session(
    asked: Changing, request: Request, *, body: wire.SessionRenewal, response: Response
) -> wire.BrowserSession:
    """A new token in the browser's cookie; the one before is revoked by the same command.

    A session lasts 12 hours at most, however often it is renewed. `csrf` stays the same.
    """
    if not shown_by(request).is_cookie:
        asked.require_login()
        raise _no_session()
    minted = await sessions.renew(asked, asked.house.door.authority, ttl_s=body.ttl_s)
    if minted is None:
        raise _no_session()
    spare = Response() if asked.dry_run else response
    return begin_session(asked.house, minted, response=spare)


@answers("self.log_out")
async def log_out(asked: Changing, request: Request, *, response: Response) -> Done:
    """Revoke the token that this request is made with; a browser's cookie ends, too."""
    done = spell_done(await tokens.log_out(asked))
    if shown_by(request).is_cookie and not asked.dry_run:
        drop_cookie(response)
    return done


@answers("session.list")
async def list_sessions(
    asked: Here, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.SessionHeld]:
    """Your own tokens that still count: sessions, and what was made for you."""
    rows = await sessions.page_own(asked, after=cursor, limit=limit)
    return spell_page(rows, lambda token: _held(asked, token))


@answers("session.end")
async def end_session(asked: Changing, token_id: PathName) -> Done:
    """Revoke one of your own tokens: whoever shows it is no longer let in."""
    return spell_done(await sessions.end_own(asked, token_id))


async def _exchange(request: Request, code: str, *, ttl_s: int, is_browser: bool) -> Minted:
    """A session for a one-time code."""
    house: House = request.app.state.house
    door = house.door
    who = await door.check(request, code, single_use=True)
    maker = sessions.SessionMaker(house.gateway, door.authority, door.clock)
    minted = await maker.begin(
        who,
        token_id=house.ids(),
        ttl_s=ttl_s,
        correlation_id=str(request.state.correlation_id),
        is_browser=is_browser,
    )
    if minted is None:
        raise Trouble(EdgeCode.UNAUTHENTICATED, "this token lets nobody in")
    return minted


def begin_session(house: House, minted: Minted, *, response: Response) -> wire.BrowserSession:
    """A browser's session as it is answered; its token goes into the cookie."""
    command, session, door = minted.command, minted.session, house.door
    if session is None:
        raise InvariantBroken("a token of no browser's session was to be a cookie")
    left_ms = command.expires_ms - door.clock.now_ms()
    give_cookie(response, minted.token, max_age_s=max(1, left_ms // 1000))
    response.headers["cache-control"] = "no-store"
    return wire.BrowserSession(
        principal=command.principal,
        expires_ms=command.expires_ms,
        ends_ms=session.until_ms,
        csrf=csrf_of(door.authority, session),
    )


def _no_session() -> Trouble:
    return Trouble(EdgeCode.UNAUTHENTICATED, "this is no browser's session, or it is over: log in")


def _held(asked: Asked, found: KnownToken) -> wire.SessionHeld:
    return wire.SessionHeld(
        token_id=found.token_id,
        kind=found.kind.value,
        issued_ms=found.issued_ms,
        expires_ms=found.expires_ms,
        single_use=found.single_use,
        is_this=found.token_id == asked.principal.token_id,
    )
