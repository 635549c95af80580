"""Routes for how programs become service accounts: rules of trust, keys, and exchanging either."""

from __future__ import annotations

import logging

from fastapi import Request, Response

from bailiwick.iam import AccountKey, AccountTrust, Permission
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Asked, Changing, Here, House
from bailiwick.server.http.params import Limit, NameCursor, PathName, spell_page
from bailiwick.server.http.spelling import spell_done
from bailiwick.server.problems import Trouble
from bailiwick.services.logins import credentials
from bailiwick.services.logins.federation import (
    AccountGrants,
    FederationRefusal,
    FederationRefused,
)
from bailiwick.telemetry.trace_context import note
from bailiwick.wire import credentials as wire
from bailiwick.wire.actions.credentials import FEDERATION_EXCHANGE
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page
from bailiwick.wire.problem import EdgeCode
from bailiwick.wire.words import PermissionWord

_LOG = logging.getLogger("bailiwick.http")


@answers("account_trust.list")
async def list_trusts(
    asked: Here, account: PathName, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.TrustRule]:
    """By whose word programs become this account."""
    rows = await credentials.page_trusts(asked, account, after=cursor, limit=limit)
    return spell_page(rows, _rule)


@answers("account_trust.set")
async def set_trust(asked: Changing, account: PathName, *, body: wire.TrustWish) -> Done:
    """Let programs in as this account, if an issuer says this of them; or change such a rule.

    The issuer is one that the fleet's operator allowed. You need `iam.token.issue` there, too.
    """

    def wish() -> credentials.NewRule:
        return credentials.NewRule(body.rule, body.issuer, body.audience, tuple(body.conditions))

    book = asked.house.parts.logins
    issuers = {} if book is None else book.issuers
    return spell_done(await credentials.set_trust(asked, account, wish=wish, issuers=issuers))


@answers("account_trust.delete")
async def delete_trust(asked: Changing, account: PathName, *, rule: PathName) -> Done:
    """Let nobody in by this rule any more; tokens that it gave end within 15 minutes."""
    return spell_done(await credentials.delete_trust(asked, account, rule=rule))


@answers("account_key.list")
async def list_keys(
    asked: Here, account: PathName, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.HeldKey]:
    """The keys of this account, without what would let anybody use them."""
    rows = await credentials.page_keys(asked, account, after=cursor, limit=limit)
    return spell_page(rows, lambda key: _key(asked, key))


@answers("account_key.add")
async def add_key(
    asked: Changing, account: PathName, *, body: wire.KeyWish, response: Response
) -> wire.ShownKey:
    """Make a key, shown this once; it is exchanged for tokens of 15 minutes, and is none itself.

    There are two at most. With `overlap_s` the one that there is ends so much later. You need
    `iam.token.issue` there, too.
    """
    made = await credentials.add_key(asked, account, ttl_s=body.ttl_s, overlap_s=body.overlap_s)
    response.headers["cache-control"] = "no-store"
    return wire.ShownKey(
        key="" if asked.dry_run else made.text,
        key_id=made.key_id,
        account=account,
        expires_ms=made.expires_ms,
    )


@answers("account_key.delete")
async def delete_key(asked: Changing, account: PathName, *, key_id: PathName) -> Done:
    """End a key at once; tokens that it gave end within 15 minutes."""
    return spell_done(await credentials.delete_key(asked, account, key_id=key_id))


@answers("federation.exchange")
async def exchange(
    request: Request, body: wire.IdentityExchange, *, response: Response
) -> wire.GrantedToken:
    """Exchange what a CI system signed for a job, or a key, for a short token of an account.

    Whatever is wrong, the answer is the same; the journal has a word for it.
    """
    note(action=FEDERATION_EXCHANGE.name)
    house: House = request.app.state.house
    door, book = house.door, house.parts.logins
    await door.hold_off(request)
    grants = AccountGrants(
        gateway=house.gateway,
        authority=door.authority,
        clock=door.clock,
        ids=house.ids,
        issuers={} if book is None else book.issuers,
    )
    is_key = body.subject_token_type == wire.ACCOUNT_KEY
    change = grants.spend_key if is_key else grants.exchange
    trace = str(request.state.correlation_id)
    try:
        minted = await change(body.account, body.subject_token, ttl_s=body.ttl_s, trace=trace)
    except FederationRefused as refused:
        raise await _told(request, refused) from None
    response.headers["cache-control"] = "no-store"
    command = minted.command
    return wire.GrantedToken(
        access_token=minted.token,
        expires_in=body.ttl_s,
        token_id=command.token_id,
        principal=command.principal,
        expires_ms=command.expires_ms,
    )


async def _told(request: Request, refused: FederationRefused) -> Trouble:
    """The one answer to all that is refused; what went wrong is sealed, and in the log."""
    house: House = request.app.state.house
    _LOG.info("an exchange was refused (%s): %s", refused.word.value, refused)
    is_lost = refused.word is FederationRefusal.FEDERATION_ISSUER_UNREACHABLE
    await house.door.turn_back(
        request, refused.word.value, is_guess=not is_lost, scope=refused.scope
    )
    if is_lost:
        told = "its issuer cannot be asked for its keys now; try again"
        return Trouble(EdgeCode.UNAUTHENTICATED, told, {"reason": refused.word.value})
    return Trouble(EdgeCode.UNAUTHENTICATED, "this identity gets no token of that account")


def _words(keys: tuple[Permission, ...] | None) -> list[PermissionWord] | None:
    return None if keys is None else [key.value for key in keys]


def _rule(found: AccountTrust) -> wire.TrustRule:
    return wire.TrustRule(
        rule=found.rule,
        issuer=found.issuer,
        audience=found.audience,
        conditions=list(found.conditions),
        keys=_words(found.keys),
    )


def _key(asked: Asked, found: AccountKey) -> wire.HeldKey:
    return wire.HeldKey(
        key_id=found.key_id,
        added_ms=found.added_ms,
        expires_ms=found.expires_ms,
        is_live=found.expires_ms > asked.clock.now_ms(),
        keys=_words(found.keys),
    )
