"""Tries: counted before they are made, and what they do not bring is in the inbox."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from email.message import EmailMessage

import pytest
import sqlalchemy as sa

from bailiwick.events.retrying import Answered, SendOutcome
from bailiwick.iam import FLEET, Role
from bailiwick.reconcile.duties import Duties
from bailiwick.reconcile.notices.loop import NoticeLoop, NoticeTerms
from bailiwick.reconcile.notices.reading import NoticeReader
from bailiwick.runtime.runner import SystemClock
from bailiwick.services.notices.desk import open_desk
from bailiwick.services.notices.mail import MailPost
from bailiwick.store.notices.people import NewAddress, PersonChange
from bailiwick.store.notices.post import Post
from bailiwick.store.notices.tables import notice_letters
from bailiwick.store.notices.told import Tiding
from bailiwick.vocab.apps import DeliveryState
from bailiwick.vocab.notices import NoticeChannel, NoticeKind
from tests.live.test_notices import (
    PACE,
    Dead,
    alone,
    certificate,
    desk_of,
    end_job,
    house,
    reader_of,
    server,
    sources_of,
    telling,
    titles,
)
from tests.support.full_disk import no_file_longer_than
from tests.support.http_house import HttpHouse, person
from tests.support.waiting import WAIT_S, until

__all__ = ["alone", "certificate", "house", "server"]

MEMBER = person(Role.PROJECT_MEMBER)
MAIL, INBOX = NoticeChannel.EMAIL, NoticeChannel.INBOX
JOB_ENDED = NoticeKind.JOB_ENDED


def have_mailed(house: HttpHouse, *ways: NoticeChannel) -> None:
    """The member has shown an address, and chose by which ways he is told of his jobs."""
    desk, now_ms = desk_of(house), SystemClock().now_ms()
    change = PersonChange(
        choices={JOB_ENDED: frozenset(ways)}, address=NewAddress("ann@lab.example", "d")
    )
    desk.people.change(MEMBER, change, now_ms=now_ms)
    assert desk.people.verify(MEMBER, digest="d", now_ms=now_ms)


def write_letter(house: HttpHouse) -> None:
    """What is told of the end of a job is written down, and not sent yet."""
    reader = reader_of(house)
    reader.read_on()
    end_job(house)
    reader.read_ended()


def letters(house: HttpHouse) -> list[tuple[str, int]]:
    """What became of each letter, and how often it was tried."""
    with house.store.reading() as connection:
        rows = connection.execute(sa.select(notice_letters).order_by("letter_id"))
        return [(row.state, row.tries) for row in rows]


@contextmanager
def on_duty(house: HttpHouse, mail: MailPost) -> Iterator[list[str]]:
    """The duty of a leader as a process has it: begun again when it fails; what it says."""
    said = list[str]()
    terms = NoticeTerms(pace=PACE, timeout_s=60.0)
    loop = NoticeLoop(sources_of(house), replace(desk_of(house), mail=mail), terms=terms)
    duties = Duties([loop], say=said.append)
    duties.begin()
    try:
        yield said
    finally:
        duties.end()
        assert duties.failed is None


def test_while_nothing_can_be_written_down_no_letter_is_sent_a_second_time(
    house: HttpHouse,
) -> None:
    sent, asked, goes_on = list[str](), threading.Event(), threading.Event()

    def mail(message: EmailMessage) -> SendOutcome:
        sent.append(message["message-id"])
        asked.set()
        assert goes_on.wait(WAIT_S)
        return Answered(250)

    have_mailed(house, MAIL)
    write_letter(house)
    with on_duty(house, mail) as said:
        assert asked.wait(WAIT_S), "it is sent"
        with no_file_longer_than(1):
            goes_on.set()
            until(lambda: len(said) >= 4, "it was begun again a few times")
            assert len(sent) == 1
        until(lambda: letters(house)[0][0] == "delivered", "there is room again")
    assert len(sent) == 2
    assert len(set(sent)) == 1, "the same message"


def test_a_letter_that_cannot_be_counted_is_not_sent_at_all(house: HttpHouse) -> None:
    sent = list[str]()

    def mail(message: EmailMessage) -> SendOutcome:
        sent.append(message["message-id"])
        return Answered(250)

    have_mailed(house, MAIL)
    write_letter(house)
    with no_file_longer_than(1), on_duty(house, mail) as said:
        until(lambda: len(said) >= 3, "it was begun again a few times")
    assert (sent, letters(house)) == ([], [("retrying", 0)])


def test_a_letter_whose_last_try_nobody_lived_to_settle_is_given_up(house: HttpHouse) -> None:
    def mail(message: EmailMessage) -> SendOutcome:
        raise AssertionError("it was tried as often as it may be")

    have_mailed(house, MAIL)
    write_letter(house)
    with house.store.changing() as connection:
        connection.execute(notice_letters.update().values(tries=PACE.tries_max))
    with telling(house, mail=mail):
        until(lambda: letters(house) == [("dead", PACE.tries_max)], "it is given up")
    (last,) = desk_of(house).post.latest(MEMBER).values()
    assert (last.state, last.fault) == (DeliveryState.DEAD, "no_connection")


@pytest.mark.parametrize(
    ("answer", "tries"), [(Answered(554, is_final=True), 1), (Answered(451), PACE.tries_max)]
)
def test_what_no_letter_could_bring_is_in_the_inbox_of_who_chose_mail_alone(
    house: HttpHouse, answer: SendOutcome, tries: int
) -> None:
    have_mailed(house, MAIL)
    write_letter(house)
    assert titles(house, MEMBER) == []
    with telling(house, mail=lambda message: answer):
        until(lambda: letters(house) == [("dead", tries)], "it is given up")
    (title,) = titles(house, MEMBER)
    assert title.startswith("Job ")


def test_a_dead_letter_of_who_has_it_in_his_inbox_is_no_second_notice(house: HttpHouse) -> None:
    have_mailed(house, MAIL, INBOX)
    write_letter(house)
    before = titles(house, MEMBER)
    with telling(house, mail=lambda message: Answered(554, is_final=True)):
        until(lambda: letters(house) == [("dead", 1)], "it is given up")
    assert titles(house, MEMBER) == before
    assert len(before) == 1


def test_a_server_without_mail_has_what_it_would_mail_in_the_inbox(house: HttpHouse) -> None:
    have_mailed(house, MAIL)
    write_letter(house)  # while there was a mail server
    own, dead = desk_of(house), Dead()
    mute = open_desk(house.store, own.key, allow_private=True)
    with telling(house, dead, people=mute.people, post=mute.post, mail=None):
        until(lambda: letters(house) == [], "it is withdrawn")
        assert len(titles(house, MEMBER)) == 1
    reader = NoticeReader(replace(sources_of(house), post=mute.post))
    reader.read_on()
    end_job(house)
    reader.read_ended()
    assert len(titles(house, MEMBER)) == 2
    assert (letters(house), dead.told) == ([], [])


def test_an_address_that_is_forgotten_leaves_nothing_on_the_way(house: HttpHouse) -> None:
    have_mailed(house, MAIL)
    write_letter(house)
    dropped = PersonChange(drops_email=True)
    desk_of(house).people.change(MEMBER, dropped, now_ms=SystemClock().now_ms())
    with telling(house):
        until(lambda: letters(house) == [], "it is withdrawn")
    assert len(titles(house, MEMBER)) == 1


@pytest.mark.parametrize(("ways", "in_inbox"), [((), 0), ((INBOX,), 1)])
def test_who_unsubscribes_is_not_sent_what_was_on_its_way(
    house: HttpHouse, ways: tuple[NoticeChannel, ...], in_inbox: int
) -> None:
    tried, unsubscribed = threading.Event(), threading.Event()
    sent = list[str]()

    def mail(message: EmailMessage) -> SendOutcome:
        sent.append(message["subject"])
        tried.set()
        assert unsubscribed.wait(WAIT_S)
        return Answered(451)

    have_mailed(house, MAIL)
    write_letter(house)
    with telling(house, mail=mail):
        assert tried.wait(WAIT_S), "it is tried"
        change = PersonChange(choices={JOB_ENDED: frozenset(ways)})
        desk_of(house).people.change(MEMBER, change, now_ms=SystemClock().now_ms())
        unsubscribed.set()
        until(lambda: letters(house) == [], "it is withdrawn")
    assert len(sent) == 1
    assert len(titles(house, MEMBER)) == in_inbox


def test_a_test_and_word_of_many_more_are_sent_though_nobody_chooses_those(
    house: HttpHouse,
) -> None:
    have_mailed(house, MAIL)
    sent = list[str]()

    def mail(message: EmailMessage) -> SendOutcome:
        sent.append(message["subject"])
        return Answered(250)

    more = Tiding(
        message="more-1", kind=NoticeKind.MANY_MORE, at_ms=1, scope=FLEET, facts={"notices": 2}
    )
    desk_of(house).post.hand_over([Post(more, (MEMBER,))], now_ms=1)
    assert house.ask(MEMBER, "POST", "/v1/notices/test").status_code == 200
    with telling(house, mail=mail):
        until(lambda: [each for each, _ in letters(house)] == ["delivered"] * 2, "both are sent")
        assert len(sent) == 2
        again = replace(more, message="more-2")
        desk_of(house).post.hand_over([Post(again, (MEMBER,))], now_ms=10**15)
        none = PersonChange(choices={JOB_ENDED: frozenset({INBOX})})
        desk_of(house).people.change(MEMBER, none, now_ms=SystemClock().now_ms())
    with house.store.changing() as connection:
        connection.execute(notice_letters.update().values(next_try_ms=0))
    assert len(letters(house)) == 3
    with telling(house, mail=mail):
        until(lambda: len(letters(house)) == 2, "he has nothing sent any more")
    assert len(sent) == 2
