"""What a server has for notices."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hmac import digest
from typing import Final

from bailiwick.events.signing import secret_of
from bailiwick.iam import FLEET
from bailiwick.services.notices.mail import MailPost
from bailiwick.services.notices.mail_room import MailRoom
from bailiwick.store.notices.inbox import Inbox
from bailiwick.store.notices.people import NoticePeople
from bailiwick.store.notices.post import NoticePost
from bailiwick.store.sql_store import SqlStore

NOTICE_PURPOSE: Final = b"notices"
"""What the server's key for codes and for secrets of people's webhooks is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticeDesk:
    """The tables of notices, and the ways out."""

    people: NoticePeople
    post: NoticePost
    inbox: Inbox
    key: bytes = field(repr=False)
    sender: str = ""
    """From whom mail comes."""
    mail: MailPost | None = None
    """None where the operator named no mail server."""
    room: MailRoom = field(default_factory=MailRoom)
    """Where mail is brought away that somebody waits for."""
    allow_private: bool = False
    """Whether webhooks may lead to private networks and this machine."""
    address: str = ""
    """Where people reach the server."""
    providers: frozenset[str] = frozenset()
    """Through which people log in here; what the groups at another one gave counts for nothing."""

    def code_digest(self, principal: str, email: str, *, code: str) -> str:
        """As what a code is kept."""
        named = f"code\n{principal}\n{email}\n{code}"
        return digest(self.key, named.encode(), "sha256").hex()

    def secret(self, principal: str, secret_id: str) -> bytes:
        """What the messages to a person's webhook are signed with; it is kept nowhere."""
        return secret_of(self.key, FLEET, webhook=principal, secret_id=secret_id)


def open_desk(
    store: SqlStore,
    key: bytes,
    *,
    mail: tuple[str, MailPost] | None = None,
    allow_private: bool = False,
    address: str = "",
    providers: Iterable[str] = (),
) -> NoticeDesk:
    """The desk of a store; ``mail`` is from whom it comes, and what brings it away."""
    return NoticeDesk(
        people=NoticePeople(store, sends_mail=mail is not None),
        post=NoticePost(store, sends_mail=mail is not None),
        inbox=Inbox(store),
        key=key,
        sender="" if mail is None else mail[0],
        mail=None if mail is None else mail[1],
        allow_private=allow_private,
        address=address,
        providers=frozenset(providers),
    )
