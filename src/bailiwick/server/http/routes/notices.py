"""Notices: parse, call one service, spell the answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from bailiwick.phrases.notices.texts import text_of, title_of
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import Limit, NumberCursor
from bailiwick.services.notices import use_cases
from bailiwick.store.notices.told import InboxRow, NoticeLetter
from bailiwick.vocab.notices import CHOSEN, NoticeChannel
from bailiwick.wire import notices as wire

_Unread = Annotated[str, Query(pattern="^(true|false)$", description="Only what was not read yet.")]


@answers("notice.read")
async def read_notices(asked: Here) -> wire.NoticeSettings:
    """By which ways you are told of what, and what became of the last notice of each way."""
    return _settings(await use_cases.read_own(asked, asked.notices))


@answers("notice.set")
async def set_notices(asked: Changing, body: wire.NoticeChange) -> wire.NoticeSettings:
    """Be told by other ways from now on; all that is asked for, or nothing of it.

    A new address is mailed a code, which `POST /v1/notices/verify` takes; before, nothing else is
    sent there, and what goes to the one before still does. A new webhook is told its secret, once.
    Where the server sends no mail, neither an address nor mail can be chosen (409). Only a person
    may, with a token that is not narrowed.
    """
    wish = use_cases.NoticeWish(
        choices={each.kind: frozenset(each.channels) for each in body.choices} or None,
        email=body.email,
        webhook_url=body.webhook_url,
    )
    return _settings(await use_cases.change(asked, asked.notices, wish=wish))


@answers("notice.verify")
async def verify_address(asked: Changing, body: wire.NoticeCode) -> wire.NoticeSettings:
    """Show the code that was mailed: the address counts from then on.

    It counts for 15 minutes and five tries, and once.
    """
    return _settings(await use_cases.verify(asked, asked.notices, code=body.code))


@answers("notice.rotate")
async def rotate_secret(asked: Changing) -> wire.NoticeSettings:
    """Replace the secret of your webhook: the answer tells it, once.

    The one before counts for 24 hours more: until then messages are signed with both.
    """
    return _settings(await use_cases.rotate(asked, asked.notices))


@answers("notice.test")
async def test_notices(asked: Changing) -> wire.NoticeTested:
    """Send yourself a test notice by every way that leads to you; ten in an hour at most."""
    return wire.NoticeTested(channels=await use_cases.try_out(asked, asked.notices))


@answers("inbox.list")
async def list_inbox(
    asked: Here, *, cursor: NumberCursor = None, limit: Limit = 100, unread: _Unread = "false"
) -> wire.InboxNotices:
    """What you were told, the newest first, as far as you may still read what it is about."""
    found = await use_cases.page_inbox(
        asked,
        asked.notices,
        before=None if cursor is None else int(cursor),
        limit=limit,
        unread=unread == "true",
    )
    return wire.InboxNotices(
        items=[_notice(row) for row in found.rows],
        next=None if found.following is None else str(found.following),
        unread=found.unread,
        dropped=found.dropped,
    )


@answers("inbox.read")
async def read_inbox(asked: Changing, body: wire.InboxReading) -> wire.InboxRead:
    """Have notices be read; all, if none is named."""
    count = await use_cases.mark_read(asked, asked.notices, ids=body.ids or None)
    return wire.InboxRead(notices=count)


def _settings(found: use_cases.NoticeStanding) -> wire.NoticeSettings:
    person = found.person
    default = frozenset({NoticeChannel.INBOX})
    choices = [(kind, person.choices.get(kind, default)) for kind in CHOSEN]
    return wire.NoticeSettings(
        choices=[
            wire.NoticeChoice(kind=kind, channels=[c for c in NoticeChannel if c in ways])
            for kind, ways in choices
        ],
        email=person.email,
        pending_email=person.pending_email,
        webhook_url=person.webhook_url,
        sends_mail=found.sends_mail,
        withheld=person.withheld,
        deliveries=[_delivery(found.letters[c]) for c in NoticeChannel if c in found.letters],
        secret=found.secret,
    )


def _delivery(letter: NoticeLetter) -> wire.NoticeDelivery:
    return wire.NoticeDelivery(
        channel=letter.channel,
        state=letter.state,
        tries=letter.tries,
        fault=letter.fault,
        status=letter.status,
        tried_ms=letter.tried_ms,
    )


def _notice(row: InboxRow) -> wire.InboxNotice:
    told = row.tiding
    return wire.InboxNotice(
        id=row.notice_id,
        kind=told.kind,
        at_ms=told.at_ms,
        title=title_of(told.kind, told.facts),
        text=text_of(told.kind, told.facts, at_ms=told.at_ms),
        tenant=told.scope.tenant,
        project=told.scope.project,
        facts=dict(told.facts),
        read_ms=row.read_ms,
    )
