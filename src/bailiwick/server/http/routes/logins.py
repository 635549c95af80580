"""Routes for logging in through a provider: a browser's way there and back, and a terminal's."""

from __future__ import annotations

import logging
from typing import Annotated

from fastapi import Path, Query, Request, Response
from starlette.responses import RedirectResponse

from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import House
from bailiwick.server.http.cookies import LOGIN_COOKIE, cookies_of, give_note
from bailiwick.server.http.routes.sessions import begin_session
from bailiwick.server.http.routes.tokens import spell_issued
from bailiwick.server.problems import Trouble
from bailiwick.services.authority import Minted
from bailiwick.services.logins.logins import LOGIN_S_MAX, Logins
from bailiwick.services.logins.words import LoginRefusal, LoginRefused
from bailiwick.telemetry.trace_context import note
from bailiwick.vocab.errors import NotFound
from bailiwick.wire import people as wire
from bailiwick.wire.actions.tokens import LOGIN_BEGIN, LOGIN_DEVICE, LOGIN_END, LOGIN_POLL
from bailiwick.wire.problem import EdgeCode

_LOG = logging.getLogger("bailiwick.http")
PathProvider = Annotated[
    str, Path(pattern="^[a-z]([a-z0-9-]{0,29}[a-z0-9])?$", description="The provider's name.")
]
LocalPath = Annotated[
    str,
    Query(
        # No scheme, no host, nothing that a browser could read as one.
        pattern=r"^/([!-.0-\[\]-~][!-\[\]-~]{0,499})?$",
        description="Where it ends: a path of this server.",
    ),
]


@answers("login.begin")
async def begin_login(
    request: Request, provider: PathProvider, *, to: LocalPath = "/"
) -> RedirectResponse:
    """Send a browser to a provider, which sends it back here with a code.

    What belongs to the login is sealed in a cookie of ten minutes.
    """
    note(action=LOGIN_BEGIN.name)
    logins, house = _logins(request), _house(request)
    await house.door.hold_off(request)
    try:
        begun = await logins.begin(provider, path=LOGIN_END.path_to(provider=provider), to=to)
    except LoginRefused as refused:
        return await _turn_back(request, refused)
    response = RedirectResponse(begun.location, 303)
    give_note(response, begun.note, max_age_s=LOGIN_S_MAX)
    return response


@answers("login.end")
async def end_login(request: Request, provider: PathProvider) -> RedirectResponse:
    """Give a browser that comes back from a provider its session, and lead it to the page.

    Who is not let in is led to `/?login_refused=WORD`; the refusal is sealed in the journal.
    """
    note(action=LOGIN_END.name)
    logins, house = _logins(request), _house(request)
    await house.door.hold_off(request)
    kept = cookies_of(request, LOGIN_COOKIE)
    try:
        minted, to = await logins.end(
            provider,
            dict(request.query_params),
            note=kept[0] if len(kept) == 1 else None,
            path=LOGIN_END.path_to(provider=provider),
            trace=str(request.state.correlation_id),
        )
    except LoginRefused as refused:
        return await _turn_back(request, refused)
    response = RedirectResponse(to, 303)
    begin_session(house, minted, response=response)
    give_note(response, "", max_age_s=0)
    return response


@answers("login.device")
async def begin_device(request: Request, provider: PathProvider) -> wire.DeviceLogin:
    """Begin a login from a terminal: a person ends it in any browser, with a code (RFC 8628)."""
    note(action=LOGIN_DEVICE.name)
    logins, house = _logins(request), _house(request)
    await house.door.hold_off(request)
    try:
        begun = await logins.begin_device(provider)
    except LoginRefused as refused:
        raise await _told(request, refused) from None
    return wire.DeviceLogin(
        user_code=begun.user_code,
        verification_uri=begun.verification_uri,
        verification_uri_complete=begun.verification_uri_complete,
        expires_s=begun.expires_s,
        interval_s=begun.interval_s,
        device=begun.note,
    )


@answers("login.poll")
async def poll_device(
    request: Request, provider: PathProvider, *, body: wire.DeviceQuestion, response: Response
) -> wire.DeviceAnswer:
    """The session of whoever ended the login elsewhere; until then none."""
    note(action=LOGIN_POLL.name)
    logins, house = _logins(request), _house(request)
    await house.door.hold_off(request)
    try:
        found = await logins.poll_device(
            provider,
            note=body.device,
            ttl_s=body.ttl_s,
            trace=str(request.state.correlation_id),
        )
    except LoginRefused as refused:
        raise await _told(request, refused) from None
    if isinstance(found, Minted):
        issued = spell_issued(found, response=response)
        return wire.DeviceAnswer(session=issued, is_hasty=False)
    return wire.DeviceAnswer(session=None, is_hasty=found.is_hasty)


def _house(request: Request) -> House:
    house: House = request.app.state.house
    return house


def _logins(request: Request) -> Logins:
    house = _house(request)
    book, desk, door = house.parts.logins, house.parts.notices, house.door
    if book is None:
        raise NotFound("provider", "any", hint="GET /v1/login lists those there are")
    return Logins(
        gateway=house.gateway,
        authority=door.authority,
        clock=door.clock,
        ids=house.ids,
        clients=book.clients,
        address=book.address,
        came_in=_no_desk if desk is None else desk.people.note_login,
    )


def _no_desk(name: str, now_ms: int) -> None:
    """Nobody is told anything here."""


async def _turn_back(request: Request, refused: LoginRefused) -> RedirectResponse:
    """Lead a browser to the page that says why it is not let in."""
    await _seal(request, refused)
    response = RedirectResponse(f"/?login_refused={refused.word.value}", 303)
    give_note(response, "", max_age_s=0)
    return response


async def _told(request: Request, refused: LoginRefused) -> Trouble:
    await _seal(request, refused)
    told = f"the login did not succeed: {refused.word.value.replace('_', ' ')}"
    return Trouble(EdgeCode.UNAUTHENTICATED, told, {"reason": refused.word.value})


async def _seal(request: Request, refused: LoginRefused) -> None:
    _LOG.info("a login was refused (%s): %s", refused.word.value, refused)
    # That a provider is down is nobody's guess: all who come through one proxy would pay for it.
    is_guess = refused.word is not LoginRefusal.LOGIN_PROVIDER_UNREACHABLE
    await _house(request).door.turn_back(request, refused.word.value, is_guess=is_guess)
