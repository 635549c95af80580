"""What each person chose, and where notices may be sent to him.

Rules:

- Who chose nothing has no row, or an empty one, and what follows from that: everything in the
  inbox, nothing sent.
- An address counts once its owner has shown a code that was mailed there; the one before counts
  until then, so that a wrong new one silences nothing. The code is kept as a digest, has its time
  and few tries, and is gone with the first right answer.
- So many codes an hour for each person: a stranger's mailbox is not filled from here.
- A change is made as a whole or not at all.
- After a change of a webhook's secret both count for a day, so that its receiver need not change in
  the same instant.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hmac import compare_digest
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Row, select
from sqlalchemy.dialects import postgresql, sqlite

from bailiwick.apps.webhooks import OVERLAP_MS
from bailiwick.store.notices.tables import notice_people
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.errors import Conflict, LimitReached
from bailiwick.vocab.notices import CHOSEN, SENT, NoticeChannel, NoticeKind

HOUR_MS: Final = 3_600_000
CODE_MS: Final = 15 * 60_000
CODE_TRIES_MAX: Final = 5
CODES_PER_HOUR: Final = 5

Choices = Mapping[NoticeKind, frozenset[NoticeChannel]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoticePerson:
    """What somebody chose, and how much was sent to him in this hour."""

    principal: str
    choices: Choices = field(default_factory=dict)
    """By kind; what is not named is in the inbox alone."""
    email: str | None = None
    """Where his mail goes; he has shown that it is his."""
    pending_email: str | None = None
    """Where it is to go once he has shown its code."""
    code_digest: str | None = field(default=None, repr=False)
    code_expires_ms: int = 0
    code_tries: int = 0
    code_hour_ms: int = 0
    codes: int = 0
    webhook_url: str | None = field(default=None, repr=False)
    secret_id: str | None = field(default=None, repr=False)
    old_secret_id: str | None = field(default=None, repr=False)
    rotated_ms: int = 0
    hour_ms: int = 0
    sent: int = 0
    urgent: int = 0
    """Letters since then, ordinary ones and those of :data:`URGENT`."""
    withheld: int = 0
    """Notices that no letter told of yet, since there were too many."""
    test_hour_ms: int = 0
    tests: int = 0
    """Test notices since then."""
    dropped: int = 0
    """Notices that fell out of the inbox unread, since there were newer ones."""
    login_ms: int = 0
    """When he last came in through the provider that knows his groups."""
    sends_mail: bool = True
    """Whether the server that asks sends mail; kept in no row."""

    def channels(self, kind: NoticeKind) -> frozenset[NoticeChannel]:
        """By which ways he is told of such a thing, as far as they lead somewhere; if none of them
        does (an address that waits for its code), in his inbox."""
        if kind is NoticeKind.TEST:
            chosen = frozenset(NoticeChannel)
        elif kind is NoticeKind.MANY_MORE:
            chosen = frozenset[NoticeChannel]().union(*self.choices.values()) & frozenset(SENT)
        else:
            chosen = self.choices.get(kind, frozenset({NoticeChannel.INBOX}))
        ways = frozenset(each for each in chosen if self.leads_to(each))
        is_lost = bool(chosen) and not ways and kind is not NoticeKind.MANY_MORE
        return frozenset({NoticeChannel.INBOX}) if is_lost else ways

    def wants(self, kind: NoticeKind, channel: NoticeChannel) -> bool:
        """Whether he has such a thing sent so; what says that there was more, if anything is."""
        if kind is NoticeKind.MANY_MORE:
            return any(channel in ways for ways in self.choices.values())
        return kind not in CHOSEN or channel in self.choices.get(kind, {NoticeChannel.INBOX})

    def hears_of(self, kind: NoticeKind) -> bool:
        """Whether he wants to be told of such a thing at all."""
        return kind not in CHOSEN or bool(self.choices.get(kind, {NoticeChannel.INBOX}))

    def leads_to(self, channel: NoticeChannel) -> bool:
        """Whether anything can be sent that way."""
        match channel:
            case NoticeChannel.INBOX:
                return True
            case NoticeChannel.EMAIL:
                return self.sends_mail and self.email is not None
            case NoticeChannel.WEBHOOK:
                return self.webhook_url is not None

    def secret_ids(self, now_ms: int) -> tuple[str, ...]:
        """The secrets of his webhook that count now, the newest first."""
        is_over = now_ms >= self.rotated_ms + OVERLAP_MS
        held = (self.secret_id, None if is_over else self.old_secret_id)
        return tuple(each for each in held if each is not None)


class NewAddress(NamedTuple):
    """Where mail is to go once the code of this digest was shown."""

    email: str
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonChange:
    """What is to be otherwise, all of it at once; ``None`` stays as it is."""

    choices: Choices = field(default_factory=dict)
    address: NewAddress | None = None
    drops_pending: bool = False
    drops_email: bool = False
    webhook_url: str | None = None
    """An empty one ends it."""
    secret_id: str | None = None
    """Of a webhook that leads elsewhere."""


class NoticePeople:
    """The people of one database."""

    def __init__(self, store: SqlStore, *, sends_mail: bool = True) -> None:
        self._store, self._sends_mail = store, sends_mail

    def get(self, principal: str) -> NoticePerson:
        """What somebody chose."""
        with self._store.reading() as connection:
            found = read_person(connection, principal)
        return replace(found, sends_mail=self._sends_mail)

    def change(self, principal: str, change: PersonChange, *, now_ms: int) -> NoticePerson:
        """Have somebody told so from now on; what he chose then."""
        with self._store.changing() as connection:
            found = read_person(connection, principal, for_change=True)
            changed = _changed(found, change, now_ms=now_ms)
            if changed != found:
                write_person(connection, changed)
            return changed

    def rotate(self, principal: str, secret_id: str, *, now_ms: int) -> NoticePerson:
        """Give somebody's webhook another secret; the one before counts for a while."""
        with self._store.changing() as connection:
            found = read_person(connection, principal, for_change=True)
            require_webhook(found)
            if found.secret_id == secret_id:  # asked once more, as the same request
                return found
            before = found.secret_id
            changed = replace(found, secret_id=secret_id, old_secret_id=before, rotated_ms=now_ms)
            write_person(connection, changed)
            return changed

    def note_login(self, principal: str, now_ms: int) -> None:
        """Remember when somebody came in through his provider; nothing else of him changes."""
        values = {"principal": principal, "choices": "{}", "login_ms": now_ms}

        def note(connection: Connection) -> None:
            new = _own_insert(connection).values(values)
            connection.execute(
                new.on_conflict_do_update(index_elements=["principal"], set_={"login_ms": now_ms})
            )

        self._store.change_together(note)

    def count_code(self, principal: str, *, now_ms: int) -> None:
        """Count a code that is about to be mailed; refused if there were too many."""
        with self._store.changing() as connection:
            found = read_person(connection, principal, for_change=True)
            is_new = now_ms - found.code_hour_ms >= HOUR_MS or now_ms < found.code_hour_ms
            codes = 0 if is_new else found.codes
            if codes >= CODES_PER_HOUR:
                raise LimitReached("codes for one person in an hour", CODES_PER_HOUR)
            hour_ms = now_ms if is_new else found.code_hour_ms
            write_person(connection, replace(found, code_hour_ms=hour_ms, codes=codes + 1))

    def verify(self, principal: str, *, digest: str, now_ms: int) -> bool:
        """Whether this is the code that is waited for; each try counts, and a right one once."""
        with self._store.changing() as connection:
            found = read_person(connection, principal, for_change=True)
            if found.code_digest is None or found.pending_email is None:
                return False
            if now_ms >= found.code_expires_ms or found.code_tries >= CODE_TRIES_MAX:
                return False
            is_right = compare_digest(found.code_digest, digest)
            changed = replace(found, code_tries=found.code_tries + 1)
            if is_right:
                changed = replace(_without_pending(found), email=found.pending_email)
            write_person(connection, changed)
            return is_right

    def withheld(self, *, before_ms: int, limit: int) -> list[str]:
        """Who has letters that were too many, in an hour that began before then."""
        table = notice_people
        which = (table.c.withheld > 0, table.c.hour_ms < before_ms)
        query = select(table.c.principal).where(*which).order_by(table.c.principal).limit(limit)
        with self._store.reading() as connection:
            return list(connection.scalars(query))


def require_webhook(person: NoticePerson) -> None:
    """Go on only if somebody has a webhook."""
    if person.webhook_url is None:
        hint = "bailiwick notify set --webhook URL sets one"
        raise Conflict("webhook of", person.principal, "there is none", hint=hint)


def _changed(person: NoticePerson, change: PersonChange, *, now_ms: int) -> NoticePerson:
    person = replace(person, choices={**person.choices, **change.choices})
    if change.drops_pending or change.drops_email:
        person = _without_pending(person)
    if change.drops_email:
        person = replace(person, email=None)
    if change.address is not None:
        person = replace(
            person,
            pending_email=change.address.email,
            code_digest=change.address.digest,
            code_expires_ms=now_ms + CODE_MS,
            code_tries=0,
        )
    if change.webhook_url is not None and (change.webhook_url or None) != person.webhook_url:
        person = replace(
            person,
            webhook_url=change.webhook_url or None,
            secret_id=change.secret_id if change.webhook_url else None,
            old_secret_id=None,
        )
    return person


def _without_pending(person: NoticePerson) -> NoticePerson:
    return replace(person, pending_email=None, code_digest=None, code_tries=0)


def read_person(
    connection: Connection, principal: str, *, for_change: bool = False
) -> NoticePerson:
    """What somebody chose; nothing, of who has no row.

    For a change he gets one first: a lock on a row that is not there keeps nobody out.
    """
    if for_change:
        new = _own_insert(connection).values(principal=principal, choices="{}")
        connection.execute(new.on_conflict_do_nothing())
    query = select(notice_people).where(notice_people.c.principal == principal)
    row = connection.execute(query.with_for_update() if for_change else query).one_or_none()
    return NoticePerson(principal=principal) if row is None else _person(row)


def write_person(connection: Connection, person: NoticePerson) -> None:
    """Keep what somebody chose, and how much he was sent."""
    values = {name: getattr(person, name) for name in _PLAIN}
    values["choices"] = json.dumps(
        {kind.value: sorted(each.value for each in ways) for kind, ways in person.choices.items()},
        sort_keys=True,
    )
    statement = _own_insert(connection).values(principal=person.principal, **values)
    connection.execute(statement.on_conflict_do_update(index_elements=["principal"], set_=values))


def _own_insert(connection: Connection) -> postgresql.Insert | sqlite.Insert:
    """As this database spells it: both can say what to do where there is a row."""
    own = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    return own(notice_people)


_PLAIN: Final = tuple(
    column.name for column in notice_people.c if column.name not in ("principal", "choices")
)


def _person(row: Row[Any]) -> NoticePerson:
    choices = {
        NoticeKind(kind): frozenset(map(NoticeChannel, ways))
        for kind, ways in json.loads(row.choices).items()
        if kind in tuple(NoticeKind)
    }
    plain = {name: getattr(row, name) for name in _PLAIN}
    return NoticePerson(principal=row.principal, choices=choices, **plain)
