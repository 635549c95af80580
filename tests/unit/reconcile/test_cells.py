"""What a leader does for its cells, short of the network: keys, letters, whose turn it is."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.kernel import ChangeSettings, Envelope, Kernel, SetQuota, State
from bailiwick.kernel.cells import commands as cmd
from bailiwick.kernel.cells import offers as kernel
from bailiwick.kernel.cells.book import CellBook, GlobalRequest, Order, Taking
from bailiwick.kernel.cells.link import ORDERS_MAX, CellLetter, CellReply
from bailiwick.reconcile.cells import placement
from bailiwick.reconcile.cells.keys import CellKey, CellKeys, KeyFault
from bailiwick.reconcile.cells.letters import fault_of, next_letter
from bailiwick.reconcile.cells.turns import Turns
from bailiwick.runtime.replica import Role, View
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit, WithinQuota
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.server.http.parsing import submit_of
from bailiwick.services.cells.desk import CellContact
from bailiwick.services.cells.spelling import (
    offer_of,
    reply_of,
    spell_letter,
    spell_offer,
    spell_reply,
    spell_request,
)
from bailiwick.vocab.cells import TakingStatus
from bailiwick.vocab.values import TenantId
from bailiwick.vocab.words import (
    Exclusivity,
    HardwareGeneration,
    LeaseClass,
    PendingReason,
    Priority,
)
from bailiwick.wire.fleet import Resources
from bailiwick.wire.work import LeaseRequest
from tests.support.wide_open import wide_settings
from tests.unit.kernel.desk import ask

KEY, LAB = "bwkey-0192.00ff", TenantId("lab")
EAST = "https://east.example:7077"
amounts = st.integers(0, 2**40)
names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", fullmatch=True)
labels = st.dictionaries(names, names, max_size=4).map(
    lambda found: sorted(f"{key}={value}" for key, value in found.items())
)

# -- keys --------------------------------------------------------------------------------------


def test_an_address_with_a_key_and_its_account_or_with_a_token(tmp_path: Path) -> None:
    keys = CellKeys(tmp_path)
    (tmp_path / "east").write_text(f" {EAST}/   campus   {KEY}\n")
    (tmp_path / "west").write_text(f"{EAST} a.token.alone\n")
    assert keys.of("east", EAST) == CellKey(EAST, KEY, "campus")
    assert keys.of("west", EAST) == CellKey(EAST, "a.token.alone")
    assert KEY not in repr(keys.of("east", EAST))


@pytest.mark.parametrize(
    "url", ["https://thief.example:7077", "https://east.example", "http://east.example:7077"]
)
def test_a_key_is_shown_at_no_address_but_its_own(tmp_path: Path, url: str) -> None:
    keys = CellKeys(tmp_path)
    (tmp_path / "east").write_text(f"{EAST} campus {KEY}\n")
    with pytest.raises(KeyFault, match="for another address than") as fault:
        keys.of("east", url)
    assert url in str(fault.value)
    assert KEY not in str(fault.value)


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    keys, file = CellKeys(tmp_path), tmp_path / "east"
    file.write_text(f"{EAST} one\n")
    assert keys.of("east", EAST).text == "one"
    scratch = tmp_path / "new"
    scratch.write_text(f"{EAST} two\n")
    os.utime(scratch, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    scratch.rename(file)
    assert keys.of("east", EAST).text == "two", "the same size and time, but another file"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "neither"),
        (KEY, "neither"),
        ("a.token.alone", "neither"),
        (f"campus {KEY}", "neither"),
        (f"{EAST} {KEY}", "neither"),
        (f"{EAST} campus token", "neither"),
        (f"{EAST} campus {KEY} more", "neither"),
        ("x" * 9_000, "neither"),
        ("tökén", "cannot be read"),
    ],
)
def test_what_is_no_key_is_told_without_what_stands_there(
    tmp_path: Path, text: str, why: str
) -> None:
    (tmp_path / "east").write_text(text, encoding="utf-8")
    with pytest.raises(KeyFault, match=why) as fault:
        CellKeys(tmp_path).of("east", EAST)
    assert KEY not in str(fault.value)


def test_no_file_and_no_folder_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(KeyFault, match="no file east"):
        CellKeys(tmp_path).of("east", EAST)
    with pytest.raises(KeyFault, match="without --cell-keys"):
        CellKeys(None).of("east", EAST)


# -- over the wire -------------------------------------------------------------------------------


@st.composite
def wishes(draw: st.DrawFn) -> LeaseRequest:
    """A request as people may ask it of all cells."""
    given_: dict[str, Any] = {
        "tenant": draw(names),
        "project": draw(st.none() | names),
        "resources": Resources(cpu_milli=draw(st.integers(1, 10**6)), mem_bytes=draw(amounts)),
        "priority": draw(st.sampled_from(Priority)),
        "lease_class": draw(st.sampled_from(LeaseClass)),
        "tag": draw(st.none() | names),
        "labels": draw(labels),
        "job_labels": draw(labels),
        "gang_size": draw(st.integers(1, 256)),
        "ttl_ms": draw(st.integers(1, 2**52)),
        "deadline_ms": draw(st.none() | amounts),
        "preemptible_on_budget": draw(st.booleans()),
    }
    if draw(st.booleans()):
        share = draw(st.sampled_from(({"gpu_count": 3}, {"gpu_milli": 250}, {})))
        given_ |= share | {
            "gpu_vram": draw(st.integers(1, 2**38)),
            "gpu_models": draw(st.lists(names, max_size=3, unique=True)),
            "gpu_generation": draw(st.none() | st.sampled_from(HardwareGeneration)),
            "exclusivity": draw(st.none() | st.sampled_from(Exclusivity)),
        }
    return LeaseRequest(**given_)


@given(wishes())
def test_a_cell_is_asked_for_the_very_request_that_home_was(wish: LeaseRequest) -> None:
    asked = submit_of(wish).request
    over_the_wire = LeaseRequest.model_validate_json(
        spell_request(asked).model_dump_json(exclude_defaults=True)
    )
    assert submit_of(over_the_wire).request == asked


@given(st.lists(st.booleans(), max_size=40), st.integers(1, 8_000))
def test_a_letter_holds_the_first_orders_that_go_into_it(takes: list[bool], most: int) -> None:
    request = PlacementRequest(tenant=LAB, cpu_cores=1)
    orders = tuple(Order(n, n, request if take else None) for n, take in enumerate(takes, 1))
    letter = spell_letter(CellLetter("home", 3, 99, orders, 7), bytes_max=most)
    assert (letter.home, letter.epoch, letter.not_after_ms, letter.heard) == ("home", 3, 99, 7)
    kept = [order.number for order in letter.orders]
    assert kept == list(range(1, len(kept) + 1)), "in turn, with none left out"
    sizes = [len(order.model_dump_json()) + 1 for order in letter.orders]
    assert len(kept) == min(1, len(takes)) or sum(sizes) <= most
    if len(kept) < len(takes):
        (following,) = spell_letter(CellLetter("home", 3, 99, (orders[len(kept)],))).orders
        assert sum(sizes) + len(following.model_dump_json()) + 1 > most, "no room was left"


@given(st.lists(st.tuples(st.integers(1, 99), st.sampled_from(TakingStatus), amounts)))
def test_a_reply_comes_as_it_was_sent(rows: list[tuple[int, TakingStatus, int]]) -> None:
    news = tuple((n, Taking(n, status, seq, leases=(n, n + 1))) for n, status, seq in rows)
    told = CellReply(4, 5, 6, news, held=7, left=3)
    sent = spell_reply(told, free=(1, 2))
    assert reply_of(type(sent).model_validate_json(sent.model_dump_json())) == told
    assert (sent.free_gpu_milli, sent.free_cpu_milli) == (1, 2)


@pytest.mark.parametrize(
    "found",
    [
        kernel.CanStart(1, 2),
        kernel.CanMakeRoom(3, 4),
        kernel.CanWait(None, PendingReason.FRAGMENTED),
        kernel.CanWait(5, PendingReason.WAITING_FOR_CAPACITY),
        kernel.CannotRun(PendingReason.FORBIDDEN),
    ],
)
def test_an_offer_comes_as_it_was_made(found: kernel.Offer) -> None:
    sent = spell_offer(found)
    assert offer_of(type(sent).model_validate_json(sent.model_dump_json())) == found


# -- whose turn it is ----------------------------------------------------------------------------


def asked(rows: list[tuple[Priority, int]], *, limit: int) -> Kernel:
    """A home that was asked so, one after the other, for so many cores each."""
    made = Kernel(State(), simulated=True)
    quota = Quota(limits=[ResourceLimit.cpu_cores(limit)])
    made.execute(Envelope(ChangeSettings(wide_settings(grace_ms=0, min_run_ms=0))), 1)
    made.execute(Envelope(SetQuota("lab", quota)), 1)
    made.execute(Envelope(cmd.JoinCell("east", "https://east")), 1)
    for at, (priority, cores) in enumerate(rows):
        wish = PlacementRequest(tenant=LAB, cpu_cores=cores, priority=priority)
        made.execute(Envelope(cmd.AskGlobally(wish)), 2 + at)
    return made


def ranked(rows: Iterable[GlobalRequest]) -> list[GlobalRequest]:
    """The most urgent first, then the oldest, the long way round."""
    oldest = sorted(rows, key=lambda each: each.number)
    return sorted(oldest, key=lambda each: each.request.priority.rank, reverse=True)


def view_of(state: State) -> View:
    return View(state, 10**6, 0, Role.LEADING)


@given(st.lists(st.tuples(st.sampled_from(Priority), st.integers(1, 6)), max_size=12))
def test_who_is_beyond_his_quota_is_not_asked_for(rows: list[tuple[Priority, int]]) -> None:
    state = asked(rows, limit=4).state
    waiting = ranked(state.cells.requests.values())
    found = placement.pick(view_of(state), waiting)

    def bears(each: GlobalRequest) -> bool:
        return isinstance(state.quotas.check(each.request, now_ms=10**6), WithinQuota)

    assert found.asked_for == [each for each in waiting if bears(each)]
    assert found.over_quota == [each for each in waiting if not bears(each)]
    assert placement.see(view_of(state), Turns()).epochs == {"east": None}, "it was never met"


STEP = st.one_of(
    st.tuples(st.just("ask"), st.sampled_from(Priority)),
    st.tuples(st.just("end"), st.integers(1, 12)),
    st.tuples(st.just("return"), st.integers(1, 12)),
    st.tuples(st.just("round"), st.integers(1, 4)),
    st.tuples(st.just("pass"), st.integers(1, 30)),
)


@given(st.lists(STEP, max_size=40), st.lists(st.integers(0, 20), min_size=8, max_size=8))
def test_turns_are_as_if_all_who_wait_were_sorted_at_each_look(
    steps: list[tuple[str, Any]], delays: list[int]
) -> None:
    book, line = CellBook(), Turns()
    now_ms, serial, pauses = 0, 0, cycle(delays)
    until: dict[int, int] = {}
    for step, value in steps:
        match step:
            case "ask":
                serial += 1
                book.put(GlobalRequest(serial, ask(priority=value), now_ms))
            case "end":
                book.drop(value)
            case "return" if value in book.requests:  # another row, and due at once
                book.put(replace(book.requests[value], seq=now_ms))
                until.pop(value, None)
            case "pass":
                now_ms += value
            case "round":
                due = [e for e in book.requests.values() if until.get(e.number, 0) <= now_ms]
                line.meet(line.news(book))
                found = list[GlobalRequest]()
                while len(found) < value and (taken := line.take(1, now_ms=now_ms)):
                    if book.requests.get(taken[0].number) is taken[0]:
                        found += taken
                    else:
                        line.forget(taken[0])
                assert found == ranked(due)[:value]
                for each in found:
                    until[each.number] = now_ms + next(pauses)
                    line.put_off(each, until[each.number])


def test_one_round_looks_at_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "PLACED_MAX", 3)
    state = asked([(Priority.NORMAL, 1)] * 5, limit=4).state
    found = placement.pick(view_of(state), ranked(state.cells.requests.values()))
    assert [each.number for each in found.asked_for] == [1, 2, 3]
    assert [each.number for each in found.left] == [4, 5], "their turn is due still"


def test_a_look_at_a_line_that_is_known_reads_one_row_of_it() -> None:
    book, line = asked([(Priority.NORMAL, 1)] * 50, limit=99).state.cells, Turns()
    line.meet(line.news(book))

    class Counted(dict[int, GlobalRequest]):
        reads = 0

        def __getitem__(self, number: int) -> GlobalRequest:
            self.reads += 1
            return super().__getitem__(number)

    book.requests = counted = Counted(book.requests)
    assert line.news(book) == []
    assert counted.reads == 1


# -- what is written next --------------------------------------------------------------------------


EPOCH = 2
"""The first in which the cell of such a home can be met."""


def reached(count: int) -> Kernel:
    """A home whose cell was met and has been given so many requests, in orders of these numbers."""
    home = asked([(Priority.NORMAL, 1)] * count, limit=99)
    do(home, cmd.ReachCell("east", EPOCH, 0))
    for number in range(1, count + 1):
        do(home, cmd.SendGlobal(number, "east"))
    return home


def do(home: Kernel, command: Any) -> None:
    home.execute(Envelope(command), 10**6)


def written(home: Kernel, last: CellReply | None) -> list[tuple[int, int, bool]] | None:
    """The orders of the next letter: number, whose, and whether it is to be taken."""
    told = next_letter(home.state, "east", home="campus", last=last)
    if told is None:
        return None
    return [(each.number, each.global_id, each.request is not None) for each in told.orders]


def test_a_leader_orders_nothing_before_a_reply_of_its_own_in_this_epoch() -> None:
    home = reached(1)
    assert written(home, None) == []
    assert written(home, CellReply(0, 5, 0)) == []
    assert written(home, CellReply(EPOCH, 5, 0)) == [(1, 1, True)]
    do(home, cmd.CutOffCell("east"))
    meeting = next_letter(home.state, "east", home="campus", last=CellReply(EPOCH, 5, 0))
    assert meeting is not None
    assert (meeting.epoch, meeting.orders) == (EPOCH + 1, ())


def test_what_ended_before_it_could_be_given_back_leaves_no_gap() -> None:
    home = reached(2)
    do(home, cmd.WithdrawGlobal(1))  # order 3
    do(home, cmd.WithdrawGlobal(2))  # order 4
    done = CellReply(EPOCH, 5, 2)
    assert written(home, done) == [(3, 1, False), (4, 2, False)]
    do(home, cmd.NoteGlobal("east", EPOCH, 1, 1, 50, TakingStatus.ENDED))
    found = written(home, done)
    assert found is not None
    assert [(number, takes) for number, _, takes in found] == [(3, False), (4, False)]
    assert found[0][1] not in home.state.cells.requests, "to give back what nobody has"
    assert found[1][1] == 2


def test_a_cell_that_knows_less_than_it_told_is_ordered_nothing() -> None:
    home = reached(2)
    do(home, cmd.NoteGlobal("east", EPOCH, 2, 2, 50, TakingStatus.HELD, (7,)))
    assert written(home, CellReply(EPOCH, 5, 2)) == []
    assert written(home, CellReply(EPOCH, 5, 0)) is None


def test_a_cell_that_has_done_more_than_it_was_sent_is_not_believed() -> None:
    home = reached(1)

    def fault(done: int) -> str | None:
        told = next_letter(home.state, "east", home="campus", last=None)
        assert told is not None
        reply = CellReply(told.epoch, 5, done)
        return fault_of(home.state.cells.member("east"), told, reply=reply)

    for _ in range(2):  # while it is reached, and when it is met again
        assert fault(1) is None
        assert fault(2) == "it has carried out 2 orders, and was given 1"
        if home.state.cells.member("east").standing == "reachable":
            do(home, cmd.CutOffCell("east"))
    do(home, cmd.LeaveCell("east", lost=True))
    do(home, cmd.JoinCell("east", "https://east"))
    assert fault(40) is None, "it may have been another home's"
    assert fault(2**53 - 1) is not None


def test_news_are_of_each_request_once_and_were_not_heard_before() -> None:
    home = reached(3)
    do(home, cmd.NoteGlobal("east", EPOCH, 1, 1, 50, TakingStatus.HELD, (7,)))
    member, last = home.state.cells.member("east"), CellReply(EPOCH, 5, 2)

    def fault(*rows: tuple[int, int], done: int = 2) -> str | None:
        news = tuple((number, Taking(number, TakingStatus.HELD, seq)) for number, seq in rows)
        told = next_letter(home.state, "east", home="campus", last=last)
        assert told is not None
        return fault_of(member, told, reply=CellReply(EPOCH, 6, done, news), last=last)

    assert fault((1, 51), (2, 51)) is None
    assert fault((1, 51), (2, 52), (1, 53)) == "it tells of the same request twice"
    assert fault((1, 50)) == "it tells as news what was heard up to its record 50"
    assert fault(done=1) == "it has carried out 1 orders, and told of 2 before"
    again = CellReply(EPOCH + 1, 5, 1)
    told = CellLetter("campus", EPOCH + 1, heard=50)
    assert fault_of(member, told, reply=again, last=last) is None, "it is met anew"


def test_a_cell_that_did_not_take_its_orders_is_given_nothing_until_it_does() -> None:
    contact = CellContact(0, last=CellReply(EPOCH, 5, 0), epoch=EPOCH)
    assert contact.is_fresh(EPOCH)
    assert [contact.note_refused(order) for order in (4, 4, 5, 5, 5)] == [1, 2, 1, 2, 3]
    assert not contact.is_fresh(EPOCH)
    contact.note_taken()
    assert contact.is_fresh(EPOCH)
    assert contact.note_refused(5) == 1


def test_orders_are_found_by_what_is_there_and_not_by_all_there_ever_were() -> None:
    home = reached(3)
    book = home.state.cells
    book.change_member("east", next_number=10**15)
    do(home, cmd.WithdrawGlobal(2))
    for after, numbers in ((0, [1, 2, 3, 10**15]), (2, [3, 10**15]), (10**15, [])):
        found = book.orders("east", after=after, limit=9)
        assert [each.number for each in found] == numbers
    assert [each.number for each in book.orders("east", after=0, limit=2)] == [1, 2]


def test_a_letter_has_a_bounded_number_of_orders_with_those_that_change_nothing() -> None:
    home = reached(3)
    home.state.cells.change_member("east", next_number=1_000)
    do(home, cmd.WithdrawGlobal(2))
    found = written(home, CellReply(EPOCH, 5, 3))
    assert found is not None
    assert [number for number, _, _ in found] == list(range(4, 4 + ORDERS_MAX))
