"""Tidings on their way to people: how far was read, inboxes, and letters that are to be sent.

Rules:

- What was read and what it means to people are written together: a leader that dies between reads
  the same again, and of two that believe to lead one is too late and writes nothing.
- Of a message there is one row for each person and way, however often it is handed over.
- Of each inbox the newest :data:`INBOX_KEPT` are kept, and it is counted what fell out unread.
- What is read at one look, and goes to one person by one way, is one letter: what is urgent first,
  and so many things at most.
- So many letters go to one person in an hour; what is urgent has as many of its own, and what he
  has sent to himself to try it counts for itself. What is more is withheld: it is in his inbox,
  also if he wants it sent alone, and the next letter says how many those were. If there is none
  within the hour, one is written to say so.
- A try is counted before it is made, and only if nobody else began one since the letter was read.
  What becomes of it is written by who began it, while it is the last.
- What no letter brings in the end is put into the inbox, with the end of the letter.
- What was delivered is kept for a day, a dead letter for a month.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Delete,
    Update,
    and_,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from bailiwick.iam import FLEET, Scope
from bailiwick.store.notices.budgets import read_told, write_told
from bailiwick.store.notices.endings import EndedWork, ended_work, mark_told
from bailiwick.store.notices.people import HOUR_MS, NoticePerson, read_person, write_person
from bailiwick.store.notices.tables import notice_letters, notice_reading, notices
from bailiwick.store.notices.told import NoticeLetter, Tiding, ToldBudget, letter_of, spell_rest
from bailiwick.store.sql_store import SqlStore
from bailiwick.vocab.apps import DeliveryState
from bailiwick.vocab.errors import LimitReached, Unavailable
from bailiwick.vocab.notices import SENT, URGENT, NoticeChannel, NoticeKind

INBOX_KEPT: Final = 500
LETTERS_PER_HOUR: Final = 30
"""To one person, by all ways together; and as many urgent ones."""
TESTS_PER_HOUR: Final = 10
TOLD_MAX: Final = 20
"""Things of which one letter tells."""
DELIVERED_MS: Final = 24 * HOUR_MS
DEAD_MS: Final = 30 * 24 * HOUR_MS
FORGET_MAX: Final = 1_000
"""Rows that one call forgets."""

_L = notice_letters.c


class Post(NamedTuple):
    """A tiding, and who is told."""

    tiding: Tiding
    people: tuple[str, ...]


class NoticePost:
    """The post of one database."""

    def __init__(self, store: SqlStore, *, sends_mail: bool = True) -> None:
        self._store, self._sends_mail = store, sends_mail

    # -- from the journal, and from work that ended ------------------------------------------

    def begin(self, size: int) -> int:
        """The record to read next; at first, where the journal ended when the tables were made.

        Nobody wants old news; and what happens before a new server has begun to read is none.
        """
        with self._store.changing() as connection:
            known = connection.scalar(select(notice_reading.c.next_seq))
            if known is not None:
                return int(known)
            connection.execute(insert(notice_reading).values(id=1, next_seq=size))
            return size

    def told_of(self, scope: Scope) -> ToldBudget:
        """How far people were told of a budget, by the records that were read."""
        with self._store.reading() as connection:
            return read_told(connection, scope)

    def take(
        self,
        first: int,
        next_seq: int,
        *,
        posts: Sequence[Post],
        now_ms: int,
        budgets: Mapping[Scope, ToldBudget] = MappingProxyType({}),
    ) -> None:
        """Write down what records mean to people, how far of budgets, and that they were read."""
        moved = update(notice_reading).where(notice_reading.c.next_seq == first)
        with self._store.changing() as connection:
            if connection.execute(moved.values(next_seq=next_seq)).rowcount != 1:
                raise _too_late()
            write_told(connection, budgets)
            self._hand_over(connection, posts, now_ms=now_ms)

    def ended(self, limit: int) -> list[EndedWork]:
        """Jobs, arrays and graphs that are over, of which nobody was told yet."""
        with self._store.reading() as connection:
            return ended_work(connection, limit)

    def tell_ended(self, works: Sequence[EndedWork], *, posts: Sequence[Post], now_ms: int) -> None:
        """Write down what the ends of work mean to people, and that those were told."""
        with self._store.changing() as connection:
            if not mark_told(connection, works):
                raise _too_late()
            self._hand_over(connection, posts, now_ms=now_ms)

    def hand_over(self, posts: Sequence[Post], *, now_ms: int) -> None:
        """Write down what people are told at one look."""
        with self._store.changing() as connection:
            self._hand_over(connection, posts, now_ms=now_ms)

    def try_out(self, principal: str, tiding: Tiding, *, now_ms: int) -> None:
        """Write down what somebody sends to himself by all ways; refused if that was too often."""
        with self._store.changing() as connection:
            person = self._person(connection, principal)
            if _is_over(person.test_hour_ms, now_ms):
                person = replace(person, test_hour_ms=now_ms, tests=0)
            if person.tests >= TESTS_PER_HOUR:
                raise LimitReached("test notices to one person in an hour", TESTS_PER_HOUR)
            person = replace(person, tests=person.tests + 1)
            for way in _ways_out(person, tiding):
                plain = replace(person, withheld=0)  # that is for the next real one to say
                _write_letter(connection, plain, [tiding], way=way, now_ms=now_ms)
            write_person(connection, _put_in_inbox(connection, person, [tiding]))

    def sum_up(self, principal: str, *, now_ms: int) -> None:
        """Have one letter say how many were too many, if there are any."""
        with self._store.changing() as connection:
            person = self._person(connection, principal)
            if not person.withheld or now_ms - person.hour_ms < HOUR_MS:
                return
            tiding = Tiding(
                message=f"more-{person.hour_ms}",
                kind=NoticeKind.MANY_MORE,
                at_ms=now_ms,
                scope=FLEET,
                facts={"notices": person.withheld},
            )
            person = replace(person, withheld=0, sent=0, urgent=0, hour_ms=now_ms)
            write_person(connection, person)
            self._hand_over(connection, [Post(tiding, (principal,))], now_ms=now_ms)

    def _hand_over(self, connection: Connection, posts: Sequence[Post], *, now_ms: int) -> None:
        news: dict[str, list[Tiding]] = {}
        for post in posts:
            for principal in post.people:
                news.setdefault(principal, []).append(post.tiding)
        for principal, tidings in news.items():
            person = self._person(connection, principal)
            after, left = _write_letters(connection, person, tidings, now_ms=now_ms)
            inbox = NoticeChannel.INBOX
            kept = [t for t in tidings if t.message in left or inbox in person.channels(t.kind)]
            after = _put_in_inbox(connection, after, kept)
            if after != person:
                write_person(connection, after)

    def _person(self, connection: Connection, principal: str) -> NoticePerson:
        """Who is about to be told something, and nobody else tells him meanwhile."""
        found = read_person(connection, principal, for_change=True)
        return replace(found, sends_mail=self._sends_mail)

    # -- letters -----------------------------------------------------------------------------

    def due(self, now_ms: int, channel: NoticeChannel, *, limit: int) -> list[NoticeLetter]:
        """Letters by one way whose time has come, the longest overdue first."""
        which = and_(
            _L.state == DeliveryState.RETRYING.value,
            _L.next_try_ms <= now_ms,
            _L.channel == channel.value,
        )
        order = (_L.next_try_ms, _L.letter_id)
        query = select(notice_letters).where(which).order_by(*order).limit(limit)
        with self._store.reading() as connection:
            return [letter_of(row) for row in connection.execute(query)]

    def claim(self, letter: NoticeLetter, *, next_try_ms: int) -> NoticeLetter | None:
        """Count a try before it is made; nothing, if it is another's to make.

        Where that cannot be written down nothing may be sent, or the same letter would be sent
        again and again. If nobody lives to settle it, it is tried again then.
        """
        claimed = replace(letter, tries=letter.tries + 1, next_try_ms=next_try_ms)
        told = {"tries": claimed.tries, "next_try_ms": next_try_ms}
        statement = update(notice_letters).where(_as_read(letter)).values(told)
        ours = self._store.change_together(lambda c: c.execute(statement).rowcount)
        return claimed if ours else None

    def settle(self, letter: NoticeLetter, *, inbox: Sequence[Tiding] = ()) -> bool:
        """Write down what became of a try, and what its reader finds in his inbox instead.

        Whether that counts: not if another try was begun meanwhile, which tells then. But what was
        taken stays taken.
        """
        told = {
            "state": letter.state.value,
            "status": letter.status,
            "fault": None if letter.fault is None else letter.fault.value,
            "tried_ms": letter.tried_ms,
            "next_try_ms": letter.next_try_ms,
        }
        is_taken = letter.state is DeliveryState.DELIVERED
        which = _is_open(letter) if is_taken else _as_read(letter)
        return self._end(update(notice_letters).where(which).values(told), letter, inbox=inbox)

    def withdraw(self, letter: NoticeLetter, *, inbox: Sequence[Tiding] = ()) -> bool:
        """Send this one not at all; what its reader finds in his inbox instead."""
        return self._end(delete(notice_letters).where(_as_read(letter)), letter, inbox=inbox)

    def _end(
        self, statement: Update | Delete, letter: NoticeLetter, *, inbox: Sequence[Tiding]
    ) -> bool:
        def write(connection: Connection) -> bool:
            # Who hands over takes the person first, too: else two could wait for each other.
            person = self._person(connection, letter.principal) if inbox else None
            if not connection.execute(statement).rowcount:
                return False
            if person is not None:
                after = _put_in_inbox(connection, person, inbox)
                if after != person:
                    write_person(connection, after)
            return True

        return self._store.change_together(write)

    def latest(self, principal: str) -> dict[NoticeChannel, NoticeLetter]:
        """Of each way the letter that was written last."""
        own = select(func.max(_L.letter_id)).where(_L.principal == principal).group_by(_L.channel)
        query = select(notice_letters).where(_L.letter_id.in_(own))
        with self._store.reading() as connection:
            found = [letter_of(row) for row in connection.execute(query)]
        return {each.channel: each for each in found}

    def forget(self, now_ms: int) -> int:
        """Drop letters that are old; how many."""
        count = 0
        for state, kept_ms in (
            (DeliveryState.DELIVERED, DELIVERED_MS),
            (DeliveryState.DEAD, DEAD_MS),
        ):
            which = and_(_L.state == state.value, _L.tried_ms < now_ms - kept_ms)
            old = select(_L.letter_id).where(which).limit(FORGET_MAX)
            with self._store.changing() as connection:
                ids = list(connection.scalars(old))
                if ids:
                    connection.execute(delete(notice_letters).where(_L.letter_id.in_(ids)))
            count += len(ids)
        return count


def _too_late() -> Unavailable:
    return Unavailable("reading for notices", "another replica has read these records already")


def _is_open(letter: NoticeLetter) -> ColumnElement[bool]:
    """Its row, while nobody knows how it ends."""
    retrying = DeliveryState.RETRYING.value
    return and_(_L.letter_id == letter.letter_id, _L.state == retrying)


def _as_read(letter: NoticeLetter) -> ColumnElement[bool]:
    """Its row, while nobody has begun another try or knows how it ends."""
    return and_(_is_open(letter), _L.tries == letter.tries)


def _is_over(hour_ms: int, now_ms: int) -> bool:
    return now_ms - hour_ms >= HOUR_MS or now_ms < hour_ms


def _ways_out(person: NoticePerson, tiding: Tiding) -> list[NoticeChannel]:
    ways = person.channels(tiding.kind)
    return [way for way in SENT if way in ways]


def _put_in_inbox(
    connection: Connection, person: NoticePerson, tidings: Sequence[Tiding]
) -> NoticePerson:
    if not tidings:
        return person
    for tiding in tidings:
        if tiding.kind is NoticeKind.MANY_MORE:  # what that counts is there already
            continue
        _insert_once(connection, notices, tiding.columns(person.principal))
    table = notices.c
    own = table.principal == person.principal
    newest = select(table.notice_id).where(own).order_by(table.notice_id.desc())
    edge = connection.scalar(newest.offset(INBOX_KEPT).limit(1))
    if edge is None:
        return person
    old = and_(own, table.notice_id <= edge)
    unread = select(func.count()).select_from(notices).where(old, table.read_ms.is_(None))
    dropped = int(connection.scalar(unread) or 0)
    connection.execute(delete(notices).where(old))
    return replace(person, dropped=person.dropped + dropped)


def _write_letters(
    connection: Connection, person: NoticePerson, tidings: Sequence[Tiding], *, now_ms: int
) -> tuple[NoticePerson, set[str]]:
    """Write a letter for each way, as far as there is room; and what no letter tells."""
    urgent_first = sorted(tidings, key=lambda each: each.kind not in URGENT)
    written: dict[NoticeChannel, list[Tiding]] = {}
    for way in SENT:
        told = [each for each in urgent_first if way in person.channels(each.kind)][:TOLD_MAX]
        counted = _counted(person, told[0], now_ms=now_ms) if told else None
        if counted is not None:
            person, written[way] = counted, told
    wanted = {way: [t for t in tidings if way in _ways_out(person, t)] for way in SENT}
    left = {
        way: {t.message for t in news if t not in written.get(way, ())}
        for way, news in wanted.items()
    }
    for way, told in written.items():
        counted = replace(person, withheld=person.withheld + len(left[way]))
        _write_letter(connection, counted, told, way=way, now_ms=now_ms)
    unsaid = set[str]().union(*(left[way] for way in SENT if way not in written))
    before = 0 if written else person.withheld
    return replace(person, withheld=before + len(unsaid)), set[str]().union(*left.values())


def _counted(person: NoticePerson, first: Tiding, *, now_ms: int) -> NoticePerson | None:
    """With one more letter that begins so; none, if it would be too many."""
    if _is_over(person.hour_ms, now_ms):
        person = replace(person, hour_ms=now_ms, sent=0, urgent=0)
    if first.kind in URGENT and person.urgent < LETTERS_PER_HOUR:
        return replace(person, urgent=person.urgent + 1)
    if person.sent < LETTERS_PER_HOUR:
        return replace(person, sent=person.sent + 1)
    return None


def _write_letter(
    connection: Connection,
    person: NoticePerson,
    tidings: Sequence[Tiding],
    *,
    way: NoticeChannel,
    now_ms: int,
) -> None:
    first, *rest = tidings
    values = first.columns(person.principal) | {
        "rest": spell_rest(rest),
        "withheld": person.withheld,
        "channel": way.value,
        "state": DeliveryState.RETRYING.value,
        "tries": 0,
        "next_try_ms": now_ms,
    }
    _insert_once(connection, notice_letters, values)


def _insert_once(connection: Connection, table: Any, values: dict[str, Any]) -> None:
    own = postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert
    connection.execute(own(table).values(**values).on_conflict_do_nothing())
