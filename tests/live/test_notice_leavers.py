"""Whoever left the organisation is sent nothing for long, though his groups are not looked at."""

from __future__ import annotations

from bailiwick.events.retrying import Answered, SendOutcome
from bailiwick.iam import Role
from bailiwick.kernel.people.commands import ApplyGroups, SetMember
from bailiwick.runtime.runner import SystemClock
from bailiwick.services.notices.tidings import VOUCHED_MS
from bailiwick.store.notices.people import NewAddress, PersonChange
from bailiwick.vocab.notices import NoticeChannel, NoticeKind
from tests.live.test_notices import (
    alone,
    certificate,
    desk_of,
    drain,
    house,
    reader_of,
    server,
    telling,
)
from tests.support.http_house import HttpHouse
from tests.support.waiting import until

__all__ = ["alone", "certificate", "house", "server"]

EVE = "campus:eve"
CAMPUS = frozenset({"campus"})


class Sent:
    """Which letters a mail server took."""

    def __init__(self) -> None:
        self.subjects = list[str]()

    def __call__(self, message: object) -> SendOutcome:
        self.subjects.append(str(message["subject"]))  # type: ignore[index]
        return Answered(250)


def come_in(house: HttpHouse, *, ago_ms: int, roles: tuple[str, ...]) -> None:
    """Eve logged in through her provider then, and wants mail when a node is drained."""
    people, now_ms = desk_of(house).people, SystemClock().now_ms()
    house.do(ApplyGroups(EVE, "campus", roles))
    people.note_login(EVE, now_ms - ago_ms)
    mail = PersonChange(
        choices={NoticeKind.NODE_DRAINED: frozenset({NoticeChannel.EMAIL})},
        address=NewAddress("eve@home.example", "d"),
    )
    people.change(EVE, mail, now_ms=now_ms)
    assert people.verify(EVE, digest="d", now_ms=now_ms)


def write_letter(house: HttpHouse, node: str) -> None:
    """That a node is drained is written down for her, and not sent yet."""
    reader = reader_of(house)
    reader.read_on()
    drain(house, node)
    reader.read_on()
    assert desk_of(house).post.latest(EVE) != {}


def is_over(house: HttpHouse) -> bool:
    """Whether nothing is on its way to her."""
    now_ms = SystemClock().now_ms()
    return not desk_of(house).post.due(now_ms, NoticeChannel.EMAIL, limit=9)


def waiting_for_her(house: HttpHouse) -> list[object]:
    """The nodes of which her inbox tells, for whoever has a session of hers."""
    rows = desk_of(house).inbox.page(EVE, before=None, limit=9)
    return [row.tiding.facts["node"] for row in rows]


def sent_to(house: HttpHouse, node: str, *, providers: frozenset[str] = CAMPUS) -> list[str]:
    """What she is mailed of a node."""
    sent = Sent()
    write_letter(house, node)
    with telling(house, mail=sent, providers=providers):
        until(lambda: is_over(house), "it is sent, or it is not")
    return sent.subjects


def test_what_rests_on_groups_is_mailed_for_some_days_after_a_login(house: HttpHouse) -> None:
    come_in(house, ago_ms=VOUCHED_MS - 3_600_000, roles=("fleet=fleet_operator",))
    try:
        assert sent_to(house, "n-near") == ["Bailiwick: Node n-near is drained"]
        desk_of(house).people.note_login(EVE, SystemClock().now_ms() - VOUCHED_MS)
        assert sent_to(house, "n-far") == [], "nobody knows whether she is still in that group"
        assert waiting_for_her(house) == ["n-far"], "a session shows it, if she is"
        desk_of(house).people.note_login(EVE, SystemClock().now_ms())
        assert sent_to(house, "n-again") == ["Bailiwick: Node n-again is drained"]
    finally:
        house.do(ApplyGroups(EVE, "campus", ()))


def test_what_rests_on_groups_is_mailed_only_while_people_log_in_there(house: HttpHouse) -> None:
    come_in(house, ago_ms=0, roles=("fleet=fleet_operator",))
    try:
        assert sent_to(house, "n-gone", providers=frozenset({"other"})) == []
    finally:
        house.do(ApplyGroups(EVE, "campus", ()))


def test_a_role_that_was_given_by_hand_is_told_however_long_ago_the_login_was(
    house: HttpHouse,
) -> None:
    house.do(SetMember(EVE, Role.FLEET_OPERATOR))
    people, now_ms = desk_of(house).people, SystemClock().now_ms()
    mail = PersonChange(
        choices={NoticeKind.NODE_DRAINED: frozenset({NoticeChannel.EMAIL})},
        address=NewAddress("eve@home.example", "d"),
    )
    people.change(EVE, mail, now_ms=now_ms)
    assert people.verify(EVE, digest="d", now_ms=now_ms)
    try:
        assert sent_to(house, "n-hand") == ["Bailiwick: Node n-hand is drained"]
    finally:
        house.do(SetMember(EVE, None))
    write_nothing(house)


def write_nothing(house: HttpHouse) -> None:
    """Whose role was taken away is told of nothing more."""
    reader = reader_of(house)
    reader.read_on()
    drain(house, "n-after")
    reader.read_on()
    assert is_over(house)
