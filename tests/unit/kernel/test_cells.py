"""A home and its cells: orders are carried out once and in turn, and silence is no answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.billing.budgets import Budget
from bailiwick.journal.words import CancelCause
from bailiwick.kernel import ChangeSettings, Elect, RebalanceQuota, SetQuota, Tick
from bailiwick.kernel.cells import commands as cmd
from bailiwick.kernel.cells import link, sending, taking
from bailiwick.kernel.cells.offers import (
    CanMakeRoom,
    CannotRun,
    CanStart,
    CanWait,
    ChosenCell,
    NoCell,
    choose_cell,
    offer,
)
from bailiwick.kernel.money.commands import SetBudget
from bailiwick.kernel.people.commands import CreateTenant
from bailiwick.kernel.snapshot import decode, digest_of, encode
from bailiwick.kernel.work.commands import Evict, ReportTeardown, Submit
from bailiwick.reconcile.cells.letters import fault_of
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.vocab.cells import CellStanding, GlobalStatus, TakingStatus
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound
from bailiwick.vocab.words import LeaseClass, PendingReason, PreemptionReason, Priority
from tests.support.wide_open import wide_settings
from tests.unit.kernel.desk import Desk, ask, cores

HOME = "campus"
EPOCH = 3
"""The first in which both cells of a home can be met: each that joins is behind one more."""


@pytest.fixture
def home() -> Desk:
    """A plane with two cells, both met in their first epoch."""
    desk = Desk()
    for cell in ("east", "west"):
        desk.do(cmd.JoinCell(cell, f"https://{cell}.example"))
    for cell in ("east", "west"):
        desk.do(cmd.ReachCell(cell, EPOCH, 0))
    return desk


@pytest.fixture
def cell() -> Desk:
    """A plane of four cores that is a cell in epoch 1."""
    desk = Desk(nodes=[cores(4)])
    desk.do(CreateTenant("lab"))
    desk.do(cmd.MeetHome(HOME, 1))
    return desk


def asked(home: Desk, **terms: object) -> int:
    home.do(cmd.AskGlobally(ask(**terms)))
    return home.state.cells.serial


def sent(home: Desk, to: str = "east", **terms: object) -> int:
    number = asked(home, **terms)
    home.do(cmd.SendGlobal(number, to))
    return number


def told(home: Desk, global_id: int, status: TakingStatus, **more: object) -> None:
    found = home.state.cells.request(global_id)
    terms = {"cell": found.cell, "epoch": EPOCH, "number": found.sent, "seq": 7} | more
    home.do(cmd.NoteGlobal(global_id=global_id, status=status, **terms))  # type: ignore[arg-type]


def take(cell: Desk, number: int = 1, **terms: object) -> None:
    waits = bool(terms.pop("waits", False))
    request = ask(**terms)
    cell.do(cmd.TakeGlobal(1, number, 100 + number, request, waits, cell.now_ms + 10_000))


def taking_of(cell: Desk, global_id: int) -> tuple[str, int]:
    assert cell.state.cells.home is not None
    found = cell.state.cells.home.takings[global_id]
    return found.status.value, len(found.leases)


# -- a home ----------------------------------------------------------------------------------


def test_a_request_is_given_to_one_cell_and_to_no_other_while_it_may_be_there(home: Desk) -> None:
    number = sent(home)
    for other in ("east", "west"):
        with pytest.raises(Conflict, match="is sent in cell east"):
            home.do(cmd.SendGlobal(number, other))
    told(home, number, TakingStatus.HELD, leases=(3,))
    found = home.state.cells.request(number)
    assert (found.status, found.cell, found.leases) == (GlobalStatus.HELD, "east", (3,))


def test_a_cell_that_is_cut_off_gets_nothing_and_keeps_what_it_has(home: Desk) -> None:
    number = sent(home)
    home.do(cmd.CutOffCell("east"))
    assert home.state.cells.request(number).cell == "east"
    with pytest.raises(Conflict, match="cut_off"):
        home.do(cmd.SendGlobal(asked(home), "east"))
    with pytest.raises(Conflict, match="meet it again"):
        told(home, number, TakingStatus.TURNED_AWAY)
    with pytest.raises(Conflict, match="cut off already"):
        home.do(cmd.CutOffCell("east"))


def test_what_a_cell_had_not_got_when_it_is_met_again_is_free_for_others(home: Desk) -> None:
    first, second, third = sent(home), sent(home), sent(home)
    home.do(cmd.WithdrawGlobal(third))
    home.do(cmd.CutOffCell("east"))
    home.do(cmd.ReachCell("east", EPOCH + 1, 1))
    assert home.state.cells.request(first).status is GlobalStatus.SENT
    assert home.state.cells.request(second).status is GlobalStatus.WAITING
    with pytest.raises(NotFound):
        home.state.cells.request(third)
    home.do(cmd.SendGlobal(second, "west"))


def test_what_is_to_be_given_back_is_ordered_anew_in_the_next_epoch(home: Desk) -> None:
    first, lost = sent(home), sent(home)
    home.do(cmd.WithdrawGlobal(first))
    home.do(cmd.CutOffCell("east"))
    home.do(cmd.ReachCell("east", EPOCH + 1, 1))
    orders = home.state.cells.orders("east", after=1, limit=9)
    assert [(order.number, order.global_id, order.request) for order in orders] == [
        (2, first, None)
    ]
    assert home.state.cells.member("east").next_number == 3
    assert home.state.cells.request(lost).status is GlobalStatus.WAITING


def test_a_cell_that_knows_less_than_it_told_is_not_met(home: Desk) -> None:
    told(home, sent(home), TakingStatus.HELD)
    home.do(cmd.CutOffCell("east"))
    with pytest.raises(Conflict, match="told of order 1 before"):
        home.do(cmd.ReachCell("east", EPOCH + 1, 0))
    with pytest.raises(Conflict, match=f"epoch {EPOCH} already"):
        home.do(cmd.ReachCell("east", EPOCH, 1))


def test_news_of_an_earlier_order_or_an_earlier_record_change_nothing(home: Desk) -> None:
    number = sent(home)
    told(home, number, TakingStatus.TURNED_AWAY)
    home.do(cmd.SendGlobal(number, "east"))
    told(home, number, TakingStatus.TURNED_AWAY, number=1, seq=8)
    assert home.state.cells.request(number).status is GlobalStatus.SENT
    told(home, number, TakingStatus.HELD, seq=9, leases=(1,))
    told(home, number, TakingStatus.QUEUED, seq=8)
    assert home.state.cells.request(number).status is GlobalStatus.HELD


def test_what_a_cell_told_is_known_only_when_nothing_of_it_is_left(home: Desk) -> None:
    number = sent(home)
    told(home, number, TakingStatus.HELD, left=1)
    assert home.state.cells.member("east").heard == 0
    told(home, number, TakingStatus.HELD)
    assert home.state.cells.member("east").heard == 7


def test_all_cells_together_hold_no_more_than_the_quota_at_home(home: Desk) -> None:
    home.do(SetQuota("lab", Quota(limits=[ResourceLimit.cpu_cores(4)])))
    first, second = sent(home, cpu_cores=3), asked(home, cpu_cores=2)
    with pytest.raises(Conflict, match="beyond its quota"):
        home.do(cmd.SendGlobal(second, "west"))
    home.do(cmd.CutOffCell("east"))
    with pytest.raises(Conflict, match="beyond its quota"):
        home.do(cmd.SendGlobal(second, "west"))
    home.do(cmd.ReachCell("east", EPOCH + 1, 1))
    told(home, first, TakingStatus.ENDED, epoch=EPOCH + 1)
    home.do(cmd.SendGlobal(second, "west"))


def test_who_is_withdrawn_is_over_when_its_cell_says_so_and_comes_back_to_nobody(
    home: Desk,
) -> None:
    waiting, first, second = asked(home), sent(home), sent(home)
    for number in (waiting, first, second):
        home.do(cmd.WithdrawGlobal(number))
    with pytest.raises(Conflict, match="taken back already"):
        home.do(cmd.WithdrawGlobal(first))
    told(home, second, TakingStatus.HELD, leases=(4,))
    assert home.state.cells.request(second).status is GlobalStatus.WITHDRAWN
    told(home, first, TakingStatus.TURNED_AWAY)
    told(home, second, TakingStatus.ENDED, seq=9)
    assert home.state.cells.requests == {}


def test_a_cell_leaves_when_nothing_is_in_it_or_as_lost(home: Desk) -> None:
    number = sent(home)
    with pytest.raises(Conflict, match="has 1 of our requests"):
        home.do(cmd.LeaveCell("east"))
    home.do(cmd.LeaveCell("east", lost=True))
    with pytest.raises(NotFound):
        home.state.cells.request(number)
    home.do(cmd.JoinCell("east", "https://new.example"))
    member = home.state.cells.member("east")
    assert (member.standing, member.epoch) == (CellStanding.CUT_OFF, EPOCH + 1)
    assert link.meeting(home.state, "east", home=HOME).epoch == EPOCH + 2


def test_what_a_cell_said_that_was_given_up_is_not_believed_of_its_successor(home: Desk) -> None:
    home.do(cmd.CutOffCell("east"))
    late = link.meeting(home.state, "east", home=HOME).epoch  # on its way, and answered too late
    home.do(cmd.LeaveCell("east", lost=True))
    home.do(cmd.JoinCell("east", "https://new.example"))
    with pytest.raises(Conflict, match="already"):
        home.do(cmd.ReachCell("east", late, 7))


def test_two_cells_have_two_names(home: Desk) -> None:
    with pytest.raises(Conflict, match="joined already"):
        home.do(cmd.JoinCell("west", "https://west.example"))


def test_a_plane_is_one_cell_under_one_name(home: Desk) -> None:
    with pytest.raises(Conflict, match="is where west is"):
        home.do(cmd.JoinCell("new", "https://west.example"))
    home.do(cmd.LeaveCell("west"))
    home.do(cmd.JoinCell("new", "https://west.example"))


def test_asking_the_whole_fleet_is_bound_by_ceilings_and_by_the_line(home: Desk) -> None:
    with pytest.raises(Conflict, match="ceiling"):
        home.do(cmd.AskGlobally(ask(ttl_ms=2**52)))
    narrow = Desk(queue_max=1)
    narrow.do(cmd.AskGlobally(ask()))
    with pytest.raises(LimitReached, match="global requests"):
        narrow.do(cmd.AskGlobally(ask()))


def test_as_many_of_an_owners_requests_wait_for_a_cell_as_may_wait(home: Desk) -> None:
    home.do(ChangeSettings(wide_settings(waiting_max=2)))
    first = asked(home)
    asked(home, project="p")
    with pytest.raises(Conflict, match="ceiling"):
        asked(home)
    asked(home, tenant="shop")
    home.do(cmd.SendGlobal(first, "east"))
    asked(home)
    told(home, first, TakingStatus.TURNED_AWAY)
    with pytest.raises(Conflict, match="ceiling"):
        asked(home)
    again = decode(encode(home.state), home.digest).cells
    assert again.waiting_of == home.state.cells.waiting_of
    assert again.waiting_of == {("lab", None): 3, ("lab", "p"): 1, ("shop", None): 1}
    for number in list(home.state.cells.waiting):
        home.do(cmd.WithdrawGlobal(number))
    assert home.state.cells.waiting_of == {}


def test_what_waits_in_a_line_is_recalled_and_free_for_others_once_its_cell_let_go(
    home: Desk,
) -> None:
    number = sent(home)
    with pytest.raises(Conflict, match="in no line"):
        home.do(cmd.RecallGlobal(number))
    told(home, number, TakingStatus.QUEUED)
    assert list(home.state.cells.in_line) == [number]
    home.do(cmd.RecallGlobal(number))
    with pytest.raises(Conflict, match="recalled already"):
        home.do(cmd.RecallGlobal(number))
    order = home.state.cells.orders("east", after=1, limit=9)[-1]
    assert (order.global_id, order.request, order.unbegun) == (number, None, True)
    assert home.state.cells.request(number).cell == "east", "until the cell itself says otherwise"
    with pytest.raises(Conflict, match="is queued in cell east"):
        home.do(cmd.SendGlobal(number, "west"))
    again = decode(encode(home.state), home.digest)
    assert again.cells.requests == home.state.cells.requests
    assert again.cells.in_line == home.state.cells.in_line
    told(home, number, TakingStatus.TURNED_AWAY, seq=9)
    assert not home.state.cells.in_line
    home.do(cmd.SendGlobal(number, "west"))


def test_who_began_before_he_could_be_recalled_may_be_recalled_another_time(home: Desk) -> None:
    number = sent(home)
    told(home, number, TakingStatus.QUEUED)
    home.do(cmd.RecallGlobal(number))
    told(home, number, TakingStatus.HELD, seq=8, leases=(3,))
    with pytest.raises(Conflict, match="in no line"):
        home.do(cmd.RecallGlobal(number))
    told(home, number, TakingStatus.QUEUED, seq=9)
    home.do(cmd.RecallGlobal(number))


def test_who_was_not_let_go_of_may_be_recalled_another_time(home: Desk) -> None:
    number = sent(home)
    told(home, number, TakingStatus.QUEUED)
    home.do(cmd.RecallGlobal(number))
    told(home, number, TakingStatus.QUEUED, seq=8)
    assert home.state.cells.request(number).recalled is None
    assert list(home.state.cells.in_line) == [number]
    assert digest_of(home.replayed().state) == home.digest
    home.do(cmd.RecallGlobal(number))


def test_what_a_cell_is_to_give_back_and_has_not_got_is_over(home: Desk) -> None:
    number, other = sent(home), sent(home)
    told(home, number, TakingStatus.HELD, leases=(3,))
    home.do(cmd.WithdrawGlobal(number))
    order = home.state.cells.request(number).withdrawn
    told(home, number, TakingStatus.HELD, number=order, seq=8)
    told(home, other, TakingStatus.ENDED, number=order, seq=8)
    assert len(home.state.cells.requests) == 2, "it says that of nothing else"
    told(home, number, TakingStatus.ENDED, number=order, seq=9)
    assert list(home.state.cells.requests) == [other]


def test_nobody_is_recalled_from_a_cell_that_is_cut_off_and_what_it_had_not_got_is_void(
    home: Desk,
) -> None:
    number = sent(home)
    told(home, number, TakingStatus.QUEUED)
    home.do(cmd.RecallGlobal(number))
    home.do(cmd.CutOffCell("east"))
    home.do(cmd.ReachCell("east", EPOCH + 1, 1))
    assert home.state.cells.request(number).recalled is None
    assert home.state.cells.orders("east", after=1, limit=9) == []
    home.do(cmd.CutOffCell("east"))
    with pytest.raises(Conflict, match="cut_off"):
        home.do(cmd.RecallGlobal(number))


def test_who_is_withdrawn_while_he_is_recalled_is_over_and_not_given_to_others(home: Desk) -> None:
    number = sent(home)
    told(home, number, TakingStatus.QUEUED)
    home.do(cmd.RecallGlobal(number))
    home.do(cmd.WithdrawGlobal(number))
    told(home, number, TakingStatus.TURNED_AWAY, seq=9)
    assert number not in home.state.cells.requests


def test_a_budget_at_home_is_not_got_round_in_a_cell(home: Desk) -> None:
    before = asked(home)
    home.do(SetBudget(Budget("lab", None, limit_micros=10**9), 0, None))
    for ask_again in (lambda: asked(home), lambda: home.do(cmd.SendGlobal(before, "east"))):
        with pytest.raises(Conflict, match="does not count what runs in cells"):
            ask_again()
    asked(home, tenant="shop")


def test_why_a_request_was_withdrawn_is_in_its_record(home: Desk) -> None:
    number, reason = asked(home), PendingReason.EXCEEDS_MAXIMUM
    home.do(cmd.WithdrawGlobal(number, CancelCause.UNSATISFIABLE, reason))
    (record,) = home.of_kind("global_withdrawn")
    told = record.body["cause"], record.body["reason"]
    assert told == ("unsatisfiable", "exceeds_maximum")


# -- a cell ----------------------------------------------------------------------------------


def test_an_order_is_carried_out_once_and_in_its_turn(cell: Desk) -> None:
    take(cell)
    assert taking_of(cell, 101) == ("held", 1)
    before = cell.digest
    take(cell)
    assert cell.digest == before
    with pytest.raises(Conflict, match="not there yet"):
        take(cell, 3)
    take(cell, 2, cpu_cores=4)
    assert taking_of(cell, 102) == ("turned_away", 0)
    take(cell, 3, cpu_cores=4, waits=True)
    assert taking_of(cell, 103) == ("queued", 0)


def test_orders_of_another_epoch_are_refused_in_both_directions(cell: Desk) -> None:
    cell.do(cmd.MeetHome(HOME, 3))
    for epoch in (1, 2, 4):
        with pytest.raises(Conflict, match="is in epoch 3"):
            cell.do(cmd.GiveBackGlobal(epoch, 1, 101))
    with pytest.raises(Conflict, match="epoch 3 already"):
        cell.do(cmd.MeetHome(HOME, 2))
    before = cell.digest
    cell.do(cmd.MeetHome(HOME, 3))
    assert cell.digest == before


def test_a_request_that_comes_late_is_not_taken(cell: Desk) -> None:
    with pytest.raises(Conflict, match="counted until"):
        cell.do(cmd.TakeGlobal(1, 1, 101, ask(), False, cell.now_ms - 1))
    assert cell.state.cells.home is not None
    assert cell.state.cells.home.done == 0


def test_a_request_for_a_tenant_that_is_not_here_is_turned_away(cell: Desk) -> None:
    take(cell, tenant="ghost")
    assert taking_of(cell, 101)[0] == TakingStatus.TURNED_AWAY
    assert not cell.state.leases
    take(cell, 2, project="none")
    assert taking_of(cell, 102)[0] == TakingStatus.TURNED_AWAY
    take(cell, 3)
    assert taking_of(cell, 103)[0] == TakingStatus.HELD


def test_a_request_that_is_here_is_not_given_a_second_time(cell: Desk) -> None:
    take(cell)
    lease_id = next(iter(cell.state.leases))
    with pytest.raises(Conflict, match="is held here already"):
        cell.do(cmd.TakeGlobal(1, 2, 101, ask(), False, cell.now_ms + 10_000))
    assert cell.state.cells.home is not None
    assert cell.state.cells.home.by_lease == {lease_id: 101}
    cell.do(cmd.GiveBackGlobal(1, 2, 101))
    cell.do(cmd.TakeGlobal(1, 3, 101, ask(), False, cell.now_ms + 10_000))
    assert taking_of(cell, 101) == ("held", 1)


def test_a_cell_remembers_a_bounded_number_of_requests(
    cell: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taking, "GLOBAL_MAX", 2)
    take(cell, tenant="ghost")
    take(cell, 2)
    with pytest.raises(LimitReached, match="requests of its home"):
        take(cell, 3)
    home = cell.state.cells.home
    assert home is not None
    cell.do(cmd.HearHome(1, home.takings[101].seq))
    take(cell, 3)


def test_a_home_that_heard_of_what_is_not_here_has_heard_another_journal(cell: Desk) -> None:
    take(cell, tenant="ghost")
    with pytest.raises(Conflict, match="has heard of record"):
        cell.do(cmd.HearHome(1, cell.state.size))
    cell.do(cmd.HearHome(1, cell.state.size - 1))
    assert cell.state.cells.home is not None
    assert cell.state.cells.home.takings == {}


def test_a_plane_is_the_cell_of_one_home_until_its_operator_parts_it(cell: Desk) -> None:
    with pytest.raises(Conflict, match="is a cell of campus"):
        cell.do(cmd.MeetHome("another", 9))
    take(cell)
    with pytest.raises(Conflict, match="has 1 of its requests here"):
        cell.do(cmd.LeaveHome())
    cell.do(cmd.GiveBackGlobal(1, 2, 101))
    cell.do(cmd.LeaveHome())
    with pytest.raises(NotFound):
        cell.do(cmd.LeaveHome())
    with pytest.raises(Conflict, match="no home"):
        take(cell, 3)
    cell.do(cmd.MeetHome("another", 1))


def test_what_ends_here_is_told_and_forgotten_when_home_has_heard(cell: Desk) -> None:
    take(cell)
    take(cell, 2, waits=True, cpu_cores=4)
    cell.do(cmd.GiveBackGlobal(1, 3, 102))
    assert taking_of(cell, 102) == ("ended", 0)
    cell.at(cell.now_ms + 11_000).do(Tick())
    assert taking_of(cell, 101) == ("ended", 0)
    home = cell.state.cells.home
    assert home is not None
    first = home.takings[102].seq
    cell.do(cmd.HearHome(1, first))
    assert sorted(home.takings) == [101]
    assert [number for number, _ in home.news(first)] == [101]


def test_home_frees_nothing_whose_end_nobody_has_confirmed() -> None:
    cell = Desk(nodes=[cores(4)], grace_ms=0, confirm_teardown=True)
    cell.do(CreateTenant("lab"))
    cell.do(cmd.MeetHome(HOME, 1))
    take(cell)
    cell.do(Evict((1,), PreemptionReason.OPERATOR_DRAIN))
    cell.do(cmd.GiveBackGlobal(1, 2, 101))
    assert taking_of(cell, 101) == ("held", 1)
    assert cell.state.ledger.free.cpu_milli == 3_000, "its work may still run"
    cell.do(ReportTeardown(1, clean=True))
    assert taking_of(cell, 101) == ("ended", 0)


def test_what_was_being_decided_when_a_journal_broke_off_is_nobodys(cell: Desk) -> None:
    take(cell, tenant="ghost")
    home = cell.state.cells.home
    assert home is not None
    home.deciding = 101
    cell.do(Elect(1, "next"))
    cell.do(Submit(ask()))
    assert taking_of(cell, 101) == ("turned_away", 0)


def test_a_cell_lets_go_of_what_only_waits_and_of_nothing_else(cell: Desk) -> None:
    take(cell, cpu_cores=4)
    take(cell, 2, cpu_cores=4, waits=True)
    cell.do(cmd.GiveBackGlobal(1, 3, 101, unbegun=True))
    assert taking_of(cell, 101) == ("held", 1)
    cell.do(cmd.GiveBackGlobal(1, 4, 102, unbegun=True))
    assert taking_of(cell, 102) == ("turned_away", 0)
    assert len(cell.of_kind("request_cancelled")) == 1
    cell.do(cmd.GiveBackGlobal(1, 5, 999, unbegun=True))
    take(cell, 6, cpu_cores=4, waits=True)
    cell.do(cmd.GiveBackGlobal(1, 7, 106))
    assert taking_of(cell, 106) == ("ended", 0), "this one was not wanted any more"


def test_nobody_is_evicted_in_vain_for_one_that_is_recalled(cell: Desk) -> None:
    take(cell, cpu_cores=4)
    take(cell, 2, cpu_cores=4, waits=True, priority=Priority.CRITICAL)
    assert cell.state.claims, "somebody was warned"
    cell.do(cmd.GiveBackGlobal(1, 3, 102, unbegun=True))
    assert taking_of(cell, 102) == ("queued", 0)
    assert cell.state.claims
    home = cell.state.cells.home
    assert home is not None
    told_of = home.takings[102]
    assert told_of.seq == cell.state.size - 1, "that it stays is news"
    assert told_of.entry in home.by_entry
    assert digest_of(cell.replayed().state) == cell.digest


def test_what_is_wanted_back_and_is_not_here_is_told_as_over(
    cell: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell.do(cmd.GiveBackGlobal(1, 1, 101))
    cell.do(cmd.GiveBackGlobal(1, 2, 102, unbegun=True))
    home = cell.state.cells.home
    assert home is not None
    told_of = {number: (each.number, each.status) for number, each in home.takings.items()}
    assert told_of == {101: (1, TakingStatus.ENDED), 102: (2, TakingStatus.ENDED)}
    assert digest_of(cell.replayed().state) == cell.digest
    cell.do(cmd.HearHome(1, cell.state.size - 1))
    assert home.takings == {}
    monkeypatch.setattr(taking, "GLOBAL_MAX", 0)
    cell.do(cmd.GiveBackGlobal(1, 3, 103))
    assert home.takings == {}, "no more is remembered than may be"


def test_one_from_the_line_starts_and_is_told_so(cell: Desk) -> None:
    take(cell, cpu_cores=4)
    take(cell, 2, cpu_cores=2, waits=True, gang_size=2)
    assert taking_of(cell, 102) == ("queued", 0)
    cell.at(cell.now_ms + 11_000).do(Tick())
    assert taking_of(cell, 102) == ("held", 2)


def test_what_is_refused_before_it_is_decided_is_told_as_turned_away() -> None:
    full = Desk(nodes=[cores(1)], queue_max=1)
    full.do(cmd.MeetHome(HOME, 1))
    full.do(Submit(ask()))
    full.do(Submit(ask()))
    take(full, waits=True)
    assert taking_of(full, 101) == ("turned_away", 0)
    assert full.state.cells.home is not None
    assert full.state.cells.home.deciding is None


def test_others_of_the_cell_are_none_of_its_homes_business(cell: Desk) -> None:
    cell.do(Submit(ask()))
    take(cell)
    cell.do(Submit(ask("shop")))
    assert cell.state.cells.home is not None
    assert list(cell.state.cells.home.takings) == [101]


def test_both_sides_are_the_same_after_they_were_written_and_read_back(
    home: Desk, cell: Desk
) -> None:
    home.do(SetQuota("lab", Quota(limits=[ResourceLimit.cpu_cores(4)])))
    told(home, sent(home), TakingStatus.HELD, leases=(1,))
    home.do(cmd.WithdrawGlobal(sent(home, "west")))
    asked(home)
    take(cell)
    take(cell, 2, cpu_cores=4, waits=True)
    for desk in (home, cell):
        again = decode(encode(desk.state), desk.digest)
        assert digest_of(again) == desk.digest
        assert again.quotas.headroom("lab") == desk.state.quotas.headroom("lab")


# -- letters ---------------------------------------------------------------------------------


def test_letters_carry_orders_and_bring_news(home: Desk, cell: Desk) -> None:
    first, second = sent(home), sent(home, cpu_cores=4)
    last = link.CellReply(EPOCH, cell.now_ms, 0)
    cell.do(cmd.MeetHome(HOME, EPOCH))
    letter = link.letter(home.state, "east", home=HOME, last=last)
    for command in link.commands_of(letter):
        cell.do(command)
    answer = link.reply(cell.state, heard=letter.heard, now_ms=cell.now_ms)
    for note in link.notes_of("east", answer):
        home.do(note)
    book = home.state.cells
    statuses = [book.request(number).status for number in (first, second)]
    assert statuses == [GlobalStatus.HELD, GlobalStatus.WAITING]
    assert link.letter(home.state, "east", home=HOME, last=answer).orders == ()
    assert book.member("east").heard == answer.news[-1][1].seq


def test_what_was_ordered_of_one_cell_is_not_taken_by_another_that_nobody_has_met(
    home: Desk,
) -> None:
    sent(home)
    letter = link.letter(home.state, "east", home=HOME, last=link.CellReply(EPOCH, 10**6, 0))
    anew = Desk(nodes=[cores(4)])
    first = link.commands_of(letter)[0]
    with pytest.raises(Conflict, match="no home"):
        anew.do(first)


def test_news_of_one_record_are_told_together_or_not_at_all(
    cell: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2, 3):
        take(cell, number)
    monkeypatch.setattr(link, "NEWS_MAX", 2)
    assert len(link.reply(cell.state, heard=0, now_ms=0).news) == 2
    home = cell.state.cells.home
    assert home is not None
    for number in (101, 102, 103):
        home.takings[number] = type(home.takings[number])(1, TakingStatus.ENDED, 50)
    assert len(link.reply(cell.state, heard=0, now_ms=0).news) == 3


def hear(home: Desk, cell: Desk, last: link.CellReply | None = None) -> link.CellReply:
    """One letter to east and its reply, which home has noted."""
    told_of = link.letter(home.state, "east", home=HOME, last=last or link.CellReply(EPOCH, 0, 0))
    told_of = replace(told_of, not_after_ms=cell.now_ms + 10_000)
    for command in link.commands_of(told_of):
        cell.do(command)
    answer = link.reply(cell.state, heard=told_of.heard, now_ms=cell.now_ms)
    for note in link.notes_of("east", answer):
        home.do(note)
    return answer


def test_a_cell_has_as_many_requests_as_are_known_at_home_or_a_journal_was_set_back(
    home: Desk, cell: Desk
) -> None:
    cell.do(cmd.MeetHome(HOME, EPOCH))
    first, _, _ = sent(home), sent(home, cpu_cores=4), sent(home)
    last = hear(home, cell)
    assert (last.held, last.left) == (2, 0)
    assert link.miscount(home.state, "east", told=last) is None
    home.do(cmd.WithdrawGlobal(sent(home)))
    home.do(cmd.WithdrawGlobal(first))
    assert link.miscount(home.state, "east", told=last) is None, "it has not carried these out"
    kept = encode(cell.state), cell.digest
    last = hear(home, cell, last)
    assert (last.held, link.miscount(home.state, "east", told=last)) == (1, None)
    set_back = link.reply(decode(*kept), heard=last.news[-1][1].seq, now_ms=0)
    assert link.miscount(home.state, "east", told=replace(set_back, done=last.done)) == (
        "it has 2 of our requests, and 1 are known here: one of the two journals was set back"
    )
    assert link.miscount(home.state, "east", told=replace(set_back, left=1)) is None
    home.do(cmd.CutOffCell("east"))
    assert link.miscount(home.state, "east", told=set_back) is None
    home.do(cmd.LeaveCell("east", lost=True))
    assert link.miscount(home.state, "east", told=set_back) is None


def test_a_cell_that_was_given_up_is_not_met_while_it_has_more_than_one_reply_tells(
    home: Desk, cell: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    cell.do(cmd.MeetHome(HOME, EPOCH))
    for number in (1, 2, 3):
        cell.do(cmd.TakeGlobal(EPOCH, number, number, ask("ghost"), False, cell.now_ms))
    cell.do(cmd.TakeGlobal(EPOCH, 4, 4, ask(), False, cell.now_ms))
    home.do(cmd.LeaveCell("east", lost=True))
    home.do(cmd.JoinCell("east", "https://east.example"))
    monkeypatch.setattr(link, "NEWS_MAX", 2)
    meeting = link.meeting(home.state, "east", home=HOME)
    for command in link.commands_of(meeting):
        cell.do(command)
    answer = link.reply(cell.state, heard=meeting.heard, now_ms=cell.now_ms)
    assert ([taking.is_over for _, taking in answer.news], answer.left) == ([True, True], 2)
    fault = fault_of(home.state.cells.member("east"), meeting, reply=answer)
    assert fault is not None
    assert "nobody here knows" in fault


# -- offers ----------------------------------------------------------------------------------


def test_an_offer_is_what_the_cell_would_do_and_changes_nothing(cell: Desk) -> None:
    before = cell.digest
    assert offer(cell.state, ask(), now_ms=cell.now_ms) == CanStart(0, 4_000)
    cell.do(Submit(ask(cpu_cores=4, priority=Priority.LOW)))
    urgent = offer(cell.state, ask(priority=Priority.CRITICAL), now_ms=cell.now_ms)
    assert isinstance(urgent, CanMakeRoom)
    assert urgent.cost > 0
    later = offer(cell.state, ask(priority=Priority.LOW), now_ms=cell.now_ms)
    assert isinstance(later, CanWait)
    assert later.starts_ms == cell.now_ms + 10_000
    never = offer(cell.state, ask(cpu_cores=64), now_ms=cell.now_ms)
    assert never == CannotRun(PendingReason.EXCEEDS_MAXIMUM)
    assert cell.digest != before  # the one request


def test_who_can_start_comes_before_who_must_evict_before_who_must_wait() -> None:
    wait, never = CanWait(500, PendingReason.WAITING_FOR_CAPACITY), CannotRun
    offers = {
        "a": CanStart(1_000, 8_000),
        "b": CanStart(2_000, 4_000),
        "c": CanMakeRoom(10, 0),
        "d": CanMakeRoom(9, 0),
        "e": wait,
        "f": CanWait(None, PendingReason.WAITING_FOR_QUOTA),
        "g": never(PendingReason.EXCEEDS_MAXIMUM),
    }
    chosen = []
    for _ in range(5):
        found = choose_cell(offers)
        assert isinstance(found, ChosenCell)
        chosen.append((found.cell, found.waits))
        del offers[found.cell]
    assert chosen == [("b", False), ("a", False), ("d", True), ("c", True), ("e", True)]
    assert choose_cell(offers) == NoCell(PendingReason.WAITING_FOR_QUOTA, never=False)
    del offers["f"]
    assert choose_cell(offers) == NoCell(PendingReason.EXCEEDS_MAXIMUM, never=True)
    assert choose_cell(offers, silent=["h"]) == NoCell(PendingReason.EXCEEDS_MAXIMUM, never=False)
    assert choose_cell({}) == NoCell(PendingReason.WAITING_FOR_CAPACITY, never=False)


def test_who_is_above_his_quota_by_what_cells_have_is_told_so_and_where_to_look(home: Desk) -> None:
    sent(home, cpu_cores=4)
    home.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(2),))))
    told_why = home.refuses(Conflict, RebalanceQuota("lab"))
    assert "by what it has in cells" in told_why
    assert "bailiwick cell requests" in told_why
    assert "guaranteed" not in told_why


def test_what_cells_have_and_what_is_guaranteed_here_are_both_named() -> None:
    home = Desk(nodes=[cores(4)])
    home.do(cmd.JoinCell("east", "https://east.example"))
    home.do(cmd.ReachCell("east", EPOCH, 0))
    home.lease("lab", cpu_cores=2, lease_class=LeaseClass.GUARANTEED)
    sent(home, cpu_cores=4)
    home.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(1),))))
    assert "by guaranteed leases and by what it has in cells" in home.refuses(
        Conflict, RebalanceQuota("lab")
    )


def test_a_lost_cell_with_very_much_is_given_up_step_by_step_and_not_met_meanwhile(
    home: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "LOST_AT_ONCE_MAX", 2)
    for _ in range(7):
        sent(home)
    home.do(cmd.LeaveCell("east", lost=True))
    assert home.kinds == ["cell_cut_off"]
    home.refuses(Conflict, cmd.ReachCell("east", EPOCH + 1, 0))
    home.refuses(Conflict, cmd.LeaveCell("east", lost=True))
    home.refuses(Conflict, cmd.JoinCell("east", "https://other.example"))
    assert home.tick(limit=3) == ["global_told"] * 3
    again = decode(encode(home.state), home.digest)
    assert again.cells.members == home.state.cells.members
    assert digest_of(home.replayed().state) == digest_of(again) == home.digest
    assert home.tick(limit=3) == ["global_told"] * 3
    assert home.tick(limit=3) == ["global_told", "cell_left"]
    assert not home.state.cells.requests
    assert "east" not in home.state.cells.members
    home.do(cmd.JoinCell("east", "https://east.example"))
    assert not home.state.cells.members["east"].lost


def test_of_several_lost_cells_a_tick_ends_no_more_than_it_may(
    home: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "LOST_AT_ONCE_MAX", 0)
    for to in ("east", "west", "east", "west"):
        sent(home, to)
    for cell_name in ("east", "west"):
        home.do(cmd.LeaveCell(cell_name, lost=True))
    assert home.tick(limit=3) == ["global_told"] * 2 + ["cell_left", "global_told"]
    assert home.tick(limit=3) == ["global_told", "cell_left"]
