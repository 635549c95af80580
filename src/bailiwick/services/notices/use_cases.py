"""What people ask of notices: what they chose, their inbox, and whether it arrives.

Rules:

- Everybody asks about himself alone. Only a person does, and to see or change where notices go he
  needs a token that carries all that he may: a narrowed one, or a job's, must not lead them
  elsewhere, nor learn an address, which is often a secret itself.
- An inbox shows what its owner may read now. What he may not any more is not shown, not counted,
  and not had be read.
- A wish is done as a whole or not at all. What can fail (the code that has to be mailed) comes
  first, and then all of it is written down at once.
- An address counts once the code that is mailed to it was shown. Nothing else goes there before,
  and what goes to the one before still does.
- Mail cannot be chosen where the server sends none; what was chosen before may stay.
- The secret of a webhook is told once, when it is made: with each other address, and when it is
  asked for anew. The same request under the same idempotency key has the same secret.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from bailiwick.events.retrying import Answered, fault_of
from bailiwick.events.signing import spell_secret
from bailiwick.iam import FLEET, PrincipalKind
from bailiwick.services.apps.webhooks import check_target
from bailiwick.services.caller import AccessDenied, Caller, Refusal
from bailiwick.services.notices.desk import NoticeDesk
from bailiwick.services.notices.mail import MailHead, check_address, code_mail
from bailiwick.store.notices.people import (
    Choices,
    NewAddress,
    NoticePerson,
    PersonChange,
    require_webhook,
)
from bailiwick.store.notices.post import INBOX_KEPT
from bailiwick.store.notices.told import InboxRow, NoticeLetter, Tiding
from bailiwick.vocab.errors import Conflict, InvalidValue, Unavailable
from bailiwick.vocab.notices import KEY_OF, NoticeChannel, NoticeKind

_LETTERS: Final = "0123456789abcdefghjkmnpqrstvwxyz"  # none that looks like another
CODE_CHARS: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeStanding:
    """What somebody chose, and what became of the last letter of each way."""

    person: NoticePerson
    letters: dict[NoticeChannel, NoticeLetter] = field(default_factory=dict)
    sends_mail: bool = False
    secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeWish:
    """What is to be otherwise; ``None`` stays as it is, an empty text ends it."""

    choices: Choices | None = None
    email: str | None = None
    webhook_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InboxPage:
    """Some notices; how many of all are unread, and how many fell out unread."""

    rows: list[InboxRow]
    following: int | None
    unread: int
    dropped: int


async def read_own(caller: Caller, desk: NoticeDesk) -> NoticeStanding:
    """What the caller chose."""
    _require_person(caller)
    return await _standing(caller, desk)


async def change(caller: Caller, desk: NoticeDesk, *, wish: NoticeWish) -> NoticeStanding:
    """Have the caller told otherwise from now on; a new address is mailed a code."""
    name, now_ms = _require_person(caller), caller.clock.now_ms()
    person = await asyncio.to_thread(desk.people.get, name)
    _check(wish, desk, person)
    if caller.dry_run:
        return await _standing(caller, desk)
    secret_id = _secret_id(caller, f"webhook {wish.webhook_url}")
    change = PersonChange(
        choices=wish.choices or {},
        webhook_url=wish.webhook_url,
        secret_id=secret_id,
        **await _address(desk, person, wish.email, now_ms=now_ms),
    )
    after = await asyncio.to_thread(desk.people.change, name, change, now_ms=now_ms)
    is_new = bool(wish.webhook_url) and after.secret_id == secret_id
    return await _standing(caller, desk, secret_id=secret_id if is_new else None)


async def rotate(caller: Caller, desk: NoticeDesk) -> NoticeStanding:
    """Give the caller's webhook another secret; the one before still counts for a day."""
    name, now_ms = _require_person(caller), caller.clock.now_ms()
    if caller.dry_run:
        require_webhook(await asyncio.to_thread(desk.people.get, name))
        return await _standing(caller, desk)
    secret_id = _secret_id(caller, "rotated")
    await asyncio.to_thread(desk.people.rotate, name, secret_id, now_ms=now_ms)
    return await _standing(caller, desk, secret_id=secret_id)


async def verify(caller: Caller, desk: NoticeDesk, *, code: str) -> NoticeStanding:
    """Show the code that was mailed; the address counts from then on."""
    name, now_ms = _require_person(caller), caller.clock.now_ms()
    person = await asyncio.to_thread(desk.people.get, name)
    if caller.dry_run:
        return await _standing(caller, desk)
    digest = desk.code_digest(name, person.pending_email or "", code=code.strip().lower())
    if not await asyncio.to_thread(desk.people.verify, name, digest=digest, now_ms=now_ms):
        hint = "bailiwick notify set --email ADDRESS mails another"
        raise Conflict("code", "(not shown)", "is wrong, spent or too old", hint=hint)
    return await _standing(caller, desk)


async def try_out(caller: Caller, desk: NoticeDesk) -> list[NoticeChannel]:
    """Send the caller a test notice by every way that leads to him; which those are."""
    name, now_ms = _require_person(caller), caller.clock.now_ms()
    person = await asyncio.to_thread(desk.people.get, name)
    ways = [each for each in NoticeChannel if each in person.channels(NoticeKind.TEST)]
    if not caller.dry_run:
        tiding = Tiding(
            message=f"test_{caller.ids()}", kind=NoticeKind.TEST, at_ms=now_ms, scope=FLEET
        )
        await asyncio.to_thread(desk.post.try_out, name, tiding, now_ms=now_ms)
    return ways


async def page_inbox(
    caller: Caller, desk: NoticeDesk, *, before: int | None, limit: int, unread: bool
) -> InboxPage:
    """The caller's notices, the newest first, as far as he may read what they are about."""
    caller.require_login()
    name = caller.principal.name
    found = await asyncio.to_thread(
        desk.inbox.page, name, before=before, limit=limit + 1, unread=unread
    )
    waiting = await asyncio.to_thread(
        desk.inbox.page, name, before=None, limit=INBOX_KEPT, unread=True
    )
    person = await asyncio.to_thread(desk.people.get, name)
    return InboxPage(
        rows=[row for row in found[:limit] if _may_know(caller, row.tiding)],
        following=found[limit - 1].notice_id if len(found) > limit else None,
        unread=sum(_may_know(caller, row.tiding) for row in waiting),
        dropped=person.dropped,
    )


async def mark_read(caller: Caller, desk: NoticeDesk, *, ids: Sequence[int] | None) -> int:
    """Have these of the caller's notices be read, or all that he may; how many were not."""
    caller.require_login()
    name, now_ms = caller.principal.name, caller.clock.now_ms()
    rows = await asyncio.to_thread(
        desk.inbox.page, name, before=None, limit=INBOX_KEPT, unread=True
    )
    meant = (row for row in rows if ids is None or row.notice_id in ids)
    own = [row.notice_id for row in meant if _may_know(caller, row.tiding)]
    if caller.dry_run:
        return len(own)
    return await asyncio.to_thread(desk.inbox.mark_read, name, own, now_ms=now_ms)


def _require_person(caller: Caller) -> str:
    """Go on only as a person who shows a token that carries everything."""
    caller.require_login()
    who = caller.principal
    is_whole = who.keys is None and who.within is None and who.lease_id is None
    if who.kind is not PrincipalKind.HUMAN or not is_whole:
        told = "only a person sees and changes where notices go, with a login that is not narrowed"
        raise AccessDenied(Refusal("needs_person", who.name), told)
    return who.name


def _may_know(caller: Caller, tiding: Tiding) -> bool:
    key = KEY_OF.get(tiding.kind)
    if key is None:
        return caller.principal.lease_id is None
    return caller.holds(key, tiding.scope)


async def _standing(
    caller: Caller, desk: NoticeDesk, *, secret_id: str | None = None
) -> NoticeStanding:
    name = caller.principal.name
    return NoticeStanding(
        person=await asyncio.to_thread(desk.people.get, name),
        letters=await asyncio.to_thread(desk.post.latest, name),
        sends_mail=desk.mail is not None,
        secret=None if secret_id is None else spell_secret(desk.secret(name, secret_id)),
    )


def _check(wish: NoticeWish, desk: NoticeDesk, person: NoticePerson) -> None:
    """Refuse the whole wish before anything of it is done."""
    if wish.email:
        check_address(wish.email)
    if wish.webhook_url:
        check_target(wish.webhook_url, private=desk.allow_private)
    for kind in wish.choices or ():
        if kind not in KEY_OF:
            raise InvalidValue("kind", kind.value, "a kind that can be chosen")
    if desk.mail is None and (wish.email or _chooses_mail(wish, person)):
        hint = "its operator has to name a mail server: bailiwick up --smtp HOST:PORT"
        told = "this server sends no mail"
        raise Conflict("way", NoticeChannel.EMAIL.value, told, hint=hint)


def _chooses_mail(wish: NoticeWish, person: NoticePerson) -> bool:
    """Whether somebody wants mail who did not before."""
    mail, nothing = NoticeChannel.EMAIL, frozenset[NoticeChannel]()
    return any(
        mail in ways and mail not in person.choices.get(kind, nothing)
        for kind, ways in (wish.choices or {}).items()
    )


def _secret_id(caller: Caller, what: str) -> str:
    if caller.key is None:
        return caller.ids()
    return sha256(f"{caller.principal.name}\n{caller.key}\n{what}".encode()).hexdigest()[:32]


async def _address(
    desk: NoticeDesk, person: NoticePerson, email: str | None, *, now_ms: int
) -> dict[str, Any]:
    """What the wish for an address changes; a new one is mailed its code first."""
    if email is None or (email and desk.mail is None):
        return {}
    if not email:
        return {"drops_email": True}
    if email == person.email:
        return {"drops_pending": True}
    code = "".join(secrets.choice(_LETTERS) for _ in range(CODE_CHARS))
    desk.room.check(person.principal)  # so that who is turned away has lost no code by it
    await asyncio.to_thread(desk.people.count_code, person.principal, now_ms=now_ms)
    await _mail_code(desk, person.principal, email, code=code, now_ms=now_ms)
    digest = desk.code_digest(person.principal, email, code=code)
    return {"address": NewAddress(email, digest)}


async def _mail_code(desk: NoticeDesk, name: str, email: str, *, code: str, now_ms: int) -> None:
    assert desk.mail is not None
    head = MailHead(desk.sender, email, now_ms)
    message = code_mail(code, head, principal=name, address=desk.address)
    outcome = await desk.room.send(name, desk.mail, message=message)
    fault = fault_of(outcome)
    if isinstance(outcome, Answered) and outcome.is_final:
        told = f"the mail server takes no mail for it ({outcome.status})"
        raise Conflict("email", "(not shown)", told, hint="look whether it is spelled right")
    if fault is not None:
        raise Unavailable("mail", f"the mail server did not take the code ({fault.value})")
