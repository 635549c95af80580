"""Windows of maintenance against a slow look at every record, whatever operators and tenants do."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.kernel import (
    CancelWindow,
    ChangeMode,
    Command,
    DepartNode,
    PlanWindow,
    RegisterNode,
    Release,
    Renew,
    Submit,
    decode,
    digest_of,
    encode,
)
from bailiwick.kernel.maintenance.rules import leaving_for
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.maintenance import WindowPhase
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.words import Priority
from tests.support.naive_kernel import fold
from tests.unit.kernel.desk import Desk, ask, cores

NODES = ("n1", "n2", "n3")
SECOND = 1_000
node = st.sampled_from(NODES)
seconds = st.integers(1, 12)
plans = st.tuples(
    st.just("plan"),
    st.sampled_from("abcd"),
    st.sets(node, min_size=1).map(lambda nodes: tuple(sorted(nodes))),
    *(seconds, seconds, st.integers(0, 5)),
)
steps = st.one_of(
    plans,
    plans,
    st.tuples(st.just("pass"), seconds),
    st.tuples(st.just("pass"), seconds),
    st.tuples(
        st.just("submit"),
        st.integers(1, 20),
        st.sampled_from([Priority.LOW, Priority.NORMAL, Priority.CRITICAL]),
        st.sampled_from([1, 1, 2]),
    ),
    st.tuples(st.just("renew"), st.integers(1, 9), st.integers(1, 20)),
    st.tuples(st.just("release"), st.integers(1, 9)),
    st.tuples(st.just("cancel"), st.sampled_from("abcd")),
    st.tuples(st.just("mode"), node, st.sampled_from(NodeMode), st.booleans()),
    st.tuples(st.just("depart"), node),
    st.tuples(st.just("register"), node),
)


class House:
    """A kernel, and the nodes that somebody closed, opened or took away by hand."""

    def __init__(self, limit: int = 1_000) -> None:
        self.limit = limit
        """Of a tick; what is left over is done by further ones at the same time."""
        self.desk = Desk(nodes=[cores(4)] * len(NODES), grace_ms=0)
        self.touched: set[str] = set()

    def take(self, step: tuple[Any, ...]) -> None:
        match step:
            case ("pass", count):
                for _ in range(count):
                    self.pass_second()
                    self.check()
            case _:
                try:
                    self.desk.do(self.command(step))
                except BailiwickError:
                    return
                if step[0] in ("mode", "depart", "register"):
                    self.touched.add(step[1])

    def pass_second(self) -> None:
        """Tick once; with a low limit, again until there is nothing left to do."""
        self.desk.now_ms += SECOND
        for _ in range(300):
            before = len(self.desk.lines)
            self.desk.tick(limit=self.limit)
            if self.limit == 1_000 or len(self.desk.lines) == before:
                return
        raise AssertionError("it comes to no end")

    def command(self, step: tuple[Any, ...]) -> Command:
        now_ms = self.desk.now_ms
        match step:
            case ("plan", name, nodes, ahead, length, lead):
                starts = now_ms + ahead * SECOND
                return PlanWindow(name, nodes, starts, starts + length * SECOND, lead * SECOND)
            case ("cancel", name):
                return CancelWindow(name)
            case ("submit", term, priority, members):
                asked = ask(ttl_ms=term * SECOND, priority=priority, gang_size=members)
                return Submit(asked)
            case ("renew", lease, term):
                return Renew(lease, term * SECOND)
            case ("release", lease):
                return Release(lease)
            case ("mode", name, mode, evict):
                return ChangeMode(name, mode, evict=evict or mode is not NodeMode.DRAINING)
            case ("depart", name):
                return DepartNode(name)
            case ("register", name):
                return RegisterNode(name, cores(4))
        raise AssertionError(step)

    def check(self) -> None:
        """What must hold after every second, of each window that has begun and each that is not."""
        state, now_ms = self.desk.state, self.desk.now_ms
        on: set[str] = set()
        for window in state.maintenance.windows.values():
            assert (window.phase is WindowPhase.PLANNED) == (now_ms < window.closes_ms)
            assert (window.phase is WindowPhase.OPEN) == (now_ms >= window.starts_ms)
            assert now_ms < window.ends_ms
            if window.phase is not WindowPhase.PLANNED:
                on |= {*window.nodes}
            for name in window.nodes if window.phase is WindowPhase.OPEN else ():
                if name in state.ledger.entries:
                    self.check_empty(name)
        for name in NODES:
            if name in state.ledger.entries and name not in on | self.touched:
                assert state.ledger.entry(name).mode is NodeMode.ACCEPTING
        assert {*state.maintenance.held} <= on
        self.check_seen()
        assert not state.maintenance.releasing

    def check_seen(self) -> None:
        """A look at every node of the windows that are on finds nobody who is to go still."""
        book = self.desk.state.maintenance
        assert not book.unseen
        for name in NODES:
            by = book.first_on(name)
            if by is not None and name in self.desk.state.ledger.entries:
                assert not leaving_for(self.desk.state, name, by=by)
            drained = name in book.held and self.desk.state.ledger.entry(name).mode
            ready = drained is NodeMode.DRAINED and book.is_open_for(name)
            assert (name in book.enterable) is ready is False

    def check_empty(self, name: str) -> None:
        state = self.desk.state
        left = state.leases_on(name)
        for lease_id in left:
            fields = state.fields(lease_id)
            assert fields.priority >= Priority.CRITICAL.rank
            assert state.phase(lease_id) is RevokeState.ACTIVE
        mode = state.ledger.entry(name).mode
        if name not in self.touched:
            assert mode is (NodeMode.DRAINING if left else NodeMode.MAINTENANCE)


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, min_size=4, max_size=25))
def test_nothing_runs_into_a_window_and_nodes_are_empty_in_it_and_back_after_it(
    acts: list[tuple[Any, ...]],
) -> None:
    house = House()
    for act in acts:
        house.take(act)
    desk = house.desk
    fold(desk.records).compare(desk.state)
    again = decode(encode(desk.state), desk.digest)
    assert digest_of(again) == desk.digest == digest_of(desk.replayed().state)
    assert again.maintenance.unready == desk.state.maintenance.unready


@settings(max_examples=80, deadline=None)
@given(st.lists(steps, min_size=4, max_size=20), st.sampled_from([2, 3, 7]))
def test_ticks_that_may_do_little_come_to_the_same(acts: list[tuple[Any, ...]], limit: int) -> None:
    house = House(limit)
    for act in acts:
        house.take(act)
    fold(house.desk.records).compare(house.desk.state)


@settings(max_examples=60, deadline=None)
@given(st.lists(steps, min_size=4, max_size=20), st.lists(steps, min_size=1, max_size=8))
def test_who_reads_a_snapshot_or_replays_decides_the_same_from_there_on(
    acts: list[tuple[Any, ...]], more: list[tuple[Any, ...]]
) -> None:
    house = House()
    for act in acts:
        house.take(act)
    desk = house.desk
    twin = House()
    twin.touched = {*house.touched}
    twin.desk.kernel = desk.replayed()
    twin.desk.lines, twin.desk.now_ms = [*desk.lines], desk.now_ms
    twin.desk.kernel.state.take_over(decode(encode(desk.state), desk.digest))
    for each in (house, twin):
        for act in more:
            each.take(act)
    assert twin.desk.lines == desk.lines
    assert twin.desk.digest == desk.digest
