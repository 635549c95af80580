"""Which cell gets a request, who is asked first, and who leaves a line: by real kernels' offers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pytest

from bailiwick.kernel import Envelope
from bailiwick.kernel.cells import commands as cmd
from bailiwick.kernel.cells import link
from bailiwick.kernel.cells.offers import CanWait, offer
from bailiwick.kernel.people.commands import CreateTenant
from bailiwick.kernel.work.commands import Submit
from bailiwick.reconcile.cells import moving, placement
from bailiwick.reconcile.cells.placement import Placer
from bailiwick.runtime.replica import Role, View
from bailiwick.server.http.parsing import submit_of
from bailiwick.services.cells.desk import CellContact, CellDesk
from bailiwick.services.cells.spelling import spell_offer
from bailiwick.vocab.cells import GlobalStatus, TakingStatus
from bailiwick.vocab.words import PendingReason
from bailiwick.wire.cells import CellOffer
from bailiwick.wire.work import LeaseRequest
from tests.unit.kernel.desk import Desk, ask, cores

T = TypeVar("T")
EPOCH = 9


@dataclass
class Plane:
    """A cell's kernel at the end of a line, which may hang."""

    desk: Desk
    hangs: bool = False
    foresees: bool = True
    """Whether it can tell when a gang would start."""
    waits: Callable[[], None] | None = None
    """How time goes by before it answers."""
    asked: int = 0

    async def ask(self, _: object, body: LeaseRequest, **__: object) -> CellOffer:
        self.asked += 1
        if self.hangs:
            await asyncio.Event().wait()
        if self.waits is not None:
            await asyncio.sleep(0)  # others answer meanwhile
            self.waits()
        request = submit_of(body).request
        if request.gang_size > 1 and not self.foresees:
            return spell_offer(CanWait(None, PendingReason.WAITING_FOR_CAPACITY))
        return spell_offer(offer(self.desk.state, request, now_ms=self.desk.now_ms))

    @property
    def free(self) -> tuple[int, int]:
        free = self.desk.state.ledger.free
        return free.gpu_milli, free.cpu_milli


@dataclass
class Home:
    """A home's kernel, asked without a server, and the placer of its leader."""

    cells: dict[str, Plane]
    desk: Desk = field(default_factory=Desk)
    elapsed_ms: int = 1_000_000
    woken: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.contacts = CellDesk()
        for cell in self.cells:
            self.desk.do(cmd.JoinCell(cell, f"https://{cell}"))
        for cell in self.cells:
            self.desk.do(cmd.ReachCell(cell, EPOCH, 0))
            last = link.CellReply(EPOCH, 0, 0)
            self.contacts.contacts[cell] = CellContact(0, last=last, epoch=EPOCH)
        lines: Any = self.cells
        gateway: Any = self
        self.placer = Placer(
            gateway, self.contacts, lines, lambda: self.elapsed_ms, self.woken.append, print
        )

    async def read(self, read: Callable[[View], T]) -> T:
        return read(View(self.desk.state, self.desk.now_ms, 0, Role.LEADING))

    async def execute(self, envelope: Envelope) -> object:
        return self.desk.kernel.execute(envelope, self.desk.now_ms).answer

    def round(self) -> None:
        """The cells tell what is free, and the leader places once."""
        for cell, plane in self.cells.items():
            self.contacts.contacts[cell].free = plane.free
        asyncio.run(self.placer.once())

    def later(self, ms: int) -> None:
        self.elapsed_ms += ms
        self.desk.now_ms += ms

    def want(self, **terms: Any) -> int:
        self.desk.do(cmd.AskGlobally(ask(**{"ttl_ms": 3_600_000} | terms)))
        return self.desk.state.cells.serial

    def where(self, number: int) -> str | None:
        return self.desk.state.cells.request(number).cell

    def tell(self, number: int, status: TakingStatus, seq: int = 7) -> None:
        found = self.desk.state.cells.request(number)
        cell = found.cell or ""
        self.desk.do(cmd.NoteGlobal(cell, EPOCH, number, found.sent or 1, seq, status))


def plane(size: int, *, used: int = 0) -> Plane:
    """A cell of so many cores, of which some are taken."""
    desk = Desk(nodes=[cores(size)])
    desk.do(CreateTenant("lab"))
    if used:
        desk.do(Submit(ask("local", cpu_cores=used, ttl_ms=3_600_000)))
    return Plane(desk)


@pytest.fixture
def home() -> Home:
    """East has a little more room than west."""
    return Home({"east": plane(8), "west": plane(4)})


# -- who is asked ----------------------------------------------------------------------------------


def test_a_cell_that_hangs_and_claims_the_most_room_holds_nobody_up(home: Home) -> None:
    home.cells["east"].hangs = True
    wanted = [home.want() for _ in range(4)]
    home.round()
    assert [home.where(number) for number in wanted] == ["west"] * 4
    asked = home.cells["east"].asked
    home.later(1_000)
    last = home.want()
    home.round()
    assert home.where(last) == "west"
    assert home.cells["east"].asked == asked, "for a while it is not among the first"
    home.later(placement.SLOW_MS)
    home.want()
    home.round()
    assert home.cells["east"].asked == asked + 1


def test_however_many_wait_each_is_asked_about_before_the_first_is_again(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "PLACED_MAX", 4)
    monkeypatch.setattr(placement, "TURN_MS", 500)
    for each in home.cells.values():
        each.foresees = False
    gangs = [home.want(gang_size=2) for _ in range(40)]
    small = home.want()
    for _ in range(12):
        home.round()
        home.later(1_000)
    assert home.where(small) is not None
    assert [home.where(number) for number in gangs] == [None] * 40


def with_slow() -> tuple[Home, Plane]:
    """A home with a third cell, which has much room and takes its time."""
    slow = plane(64)
    home = Home({"east": plane(8), "west": plane(4), "slow": slow})
    slow.waits = lambda: home.later(placement.SLOW_FROM_MS + 1)
    return home, slow


def test_a_slow_cell_holds_up_one_look_though_nobody_can_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(placement, "ROUND_MS", 10**9)
    home, slow = with_slow()
    for each in home.cells.values():
        each.foresees = False
    gangs = [home.want(gang_size=40) for _ in range(40)]
    home.round()
    assert 0 < slow.asked <= placement.AT_ONCE, "only by looks that had begun"
    asked = slow.asked
    home.later(placement.AGAIN_MS)
    home.round()
    assert slow.asked == asked
    assert home.cells["west"].asked == 2 * len(gangs), "all others are asked all the same"
    home.later(placement.SLOW_MS)
    home.round()
    assert slow.asked > asked


def test_what_only_a_slow_cell_might_run_is_not_withdrawn() -> None:
    home, _ = with_slow()
    first = home.want(cpu_cores=32)
    home.round()
    home.later(placement.AGAIN_MS)
    second = home.want(cpu_cores=33)
    home.round()
    assert [home.where(number) for number in (first, second)] == ["slow", None]
    assert home.contacts.reasons[second] is PendingReason.EXCEEDS_MAXIMUM, "by the others' word"
    home.later(placement.SLOW_MS)
    home.round()
    assert home.where(second) == "slow"


def test_where_all_cells_are_slow_they_are_asked_all_the_same(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement, "SLOW_FROM_MS", -1)
    for _ in range(3):
        number = home.want()
        home.round()
        assert home.where(number) == "east"


def test_a_round_ends_in_time_and_who_is_left_has_his_turn_in_the_next(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(placement, "ROUND_MS", 0)
        number = home.want()
        home.round()
        assert (home.where(number), home.cells["east"].asked) == (None, 0)
    home.round()
    assert home.where(number) == "east"


# -- who leaves a line -----------------------------------------------------------------------------


def queued_in_east(home: Home, **terms: Any) -> int:
    """A request that waits in the line of east, which is full."""
    home.cells["east"].desk.do(Submit(ask("local", cpu_cores=8, ttl_ms=3_600_000)))
    number = home.want(**terms)
    home.desk.do(cmd.SendGlobal(number, "east", True))
    home.tell(number, TakingStatus.QUEUED)
    return number


def is_recalled(home: Home, number: int) -> bool:
    return home.desk.state.cells.request(number).recalled is not None


def test_who_waits_in_a_line_is_recalled_once_another_cell_could_start_him(home: Home) -> None:
    number = queued_in_east(home, cpu_cores=2)
    home.round()
    assert not is_recalled(home, number), "he has hardly waited"
    home.later(moving.AFTER_MS)
    home.round()
    assert is_recalled(home, number)
    assert home.woken[-1] == "east"
    assert home.where(number) == "east", "his cell has not let go of him yet"
    home.tell(number, TakingStatus.TURNED_AWAY, 8)
    home.later(placement.AGAIN_MS)
    home.round()
    assert (home.where(number), home.desk.state.cells.request(number).status) == (
        "west",
        GlobalStatus.SENT,
    )


def test_nobody_asks_about_him_where_too_little_is_free(home: Home) -> None:
    number = queued_in_east(home, cpu_cores=2, gang_size=3)
    home.later(moving.AFTER_MS)
    home.round()
    assert not is_recalled(home, number)
    assert home.cells["west"].asked == 0


def test_he_stays_where_he_is_if_no_other_could_start_him_and_is_asked_about_later(
    home: Home,
) -> None:
    number = queued_in_east(home, cpu_cores=2, labels={"disk": "fast"})
    home.later(moving.AFTER_MS)
    for _ in range(3):
        home.round()
        home.later(moving.EVERY_MS)
    assert not is_recalled(home, number)
    assert home.cells["west"].asked == 1
    home.later(moving.AGAIN_MS)
    home.round()
    assert home.cells["west"].asked == 2


def test_nobody_is_moved_for_ever(home: Home) -> None:
    number, seq = queued_in_east(home, cpu_cores=2), 7
    moved = 0
    for _ in range(moving.MOVES_MAX + 2):
        home.later(moving.AGAIN_MS)
        home.round()
        if not is_recalled(home, number):
            break
        moved, seq = moved + 1, seq + 2
        home.tell(number, TakingStatus.TURNED_AWAY, seq)
        home.desk.do(cmd.SendGlobal(number, "east", True))
        home.tell(number, TakingStatus.QUEUED, seq + 1)
    assert moved == moving.MOVES_MAX


def test_one_look_goes_on_where_the_last_one_ended(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(moving, "LOOKED_AT", 2)
    first = queued_in_east(home, cpu_cores=4, gang_size=9)
    for _ in range(3):
        number = home.want(cpu_cores=4, gang_size=9)
        home.desk.do(cmd.SendGlobal(number, "east", True))
        home.tell(number, TakingStatus.QUEUED)
    view, moves = View(home.desk.state, 10**9, 0, Role.LEADING), moving.Moves()
    seen: list[list[int]] = []
    for _ in range(3):
        found = moving.look(view, moves)
        moves.offset = found.offset
        seen.append([each.number for each in found.requests])
    assert seen == [[first, first + 1], [first + 2, first + 3], [first, first + 1]]
