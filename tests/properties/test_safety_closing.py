"""Which nodes windows close to a term, against a look at every window and every node."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.kernel import (
    CancelWindow,
    DepartNode,
    PlanWindow,
    RegisterNode,
    State,
    decode,
    encode,
)
from bailiwick.kernel.fleet.closing import ClosingTable
from bailiwick.kernel.maintenance.guard import MaintenanceGuard
from bailiwick.scheduler.decision import NodesMaintained
from bailiwick.scheduler.node_set import closes_most
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import BailiwickError
from tests.unit.kernel.desk import Desk, ask, cores

SECOND = 1_000
NODES = tuple(f"n{number}" for number in range(1, 8))
times = st.integers(0, 30)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.one_of(st.none(), times)), max_size=80),
    st.integers(1, 4),
)
def test_a_table_of_any_blocks_tells_who_closes_before_a_time(
    acts: list[tuple[int, int | None]], block_max: int
) -> None:
    table, naive = ClosingTable(block_max=block_max), dict[int, int]()
    for handle, at_ms in acts:
        if at_ms is None:
            table.drop(handle)
            naive.pop(handle, None)
        else:
            table.put(handle, at_ms)
            naive[handle] = at_ms
        for ends_ms in range(0, 32, 3):
            closed = {each: at for each, at in naive.items() if at < ends_ms}
            assert table.last_before(ends_ms) == max(closed.values(), default=None)
            found = table.before(ends_ms)
            assert (found.nodes, found.latest_ms) == (len(closed), max(closed.values(), default=0))
            inside = {each for each in range(41) if each in found.open}
            beyond = {*range(8 * len(found.open.bits), 41)}
            assert inside | beyond == {*range(41)} - {*closed}


class Naive:
    """What windows mean to a request, by a look at all of them."""

    def __init__(self, state: State, request: PlacementRequest, now_ms: int) -> None:
        self.closed: dict[str, int] = {}
        self.rules: dict[str, int] = {}
        for window in sorted(state.maintenance.windows.values(), key=lambda each: each.order):
            there = [node for node in window.nodes if node in state.ledger.entries]
            if window.starts_ms < now_ms + request.ttl_ms and there:
                self.rules[f"maintenance.{window.id}"] = len(there)
                for node in there:
                    self.closed.setdefault(node, window.starts_ms)

    def told(self, now_ms: int) -> NodesMaintained:
        latest = max(self.closed.values(), default=now_ms)
        return NodesMaintained(len(self.closed), latest, max(latest - now_ms, 0))


def check(state: State, *, now_ms: int) -> None:
    for guard in state.guards.policies:
        assert isinstance(guard, MaintenanceGuard)
        guard.look(now_ms)
        for term in (1, 3, 7, 15, 40):
            request = ask(ttl_ms=term * SECOND)
            naive = Naive(state, request, now_ms)
            nodes = guard.nodes_for(request)
            closed = {
                str(name)
                for name, entry in state.ledger.entries.items()
                if nodes is not None and entry.handle not in nodes
            }
            assert closed == naive.closed.keys()
            assert guard.closed_by(request) == naive.rules
            rows = ((count, name) for name, count in naive.rules.items())
            assert closes_most(guard, request) == max(rows, default=None)
            assert guard.told_as(request) == naive.told(now_ms)
    assert bool(state.guards.policies) is bool(state.maintenance.windows)


nodes = st.sampled_from(NODES)
steps = st.one_of(
    st.tuples(
        st.just("plan"),
        st.sampled_from("abcdef"),
        st.sets(nodes, min_size=1).map(lambda names: tuple(sorted(names))),
        st.integers(1, 30),
    ),
    st.tuples(st.just("cancel"), st.sampled_from("abcdef")),
    st.tuples(st.just("depart"), nodes),
    st.tuples(st.just("register"), nodes),
    st.tuples(st.just("pass"), st.integers(1, 6)),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(steps, min_size=3, max_size=25))
def test_nodes_are_closed_by_the_windows_that_a_term_runs_into(acts: list[tuple[Any, ...]]) -> None:
    desk = Desk(nodes=[cores(2)] * len(NODES))
    for act in acts:
        try:
            match act:
                case ("plan", name, names, ahead):
                    starts = desk.now_ms + ahead * SECOND
                    desk.do(PlanWindow(name, names, starts, starts + 5 * SECOND, 2 * SECOND))
                case ("cancel", name):
                    desk.do(CancelWindow(name))
                case ("depart", name):
                    desk.do(DepartNode(name))
                case ("register", name):
                    desk.do(RegisterNode(name, cores(2)))
                case ("pass", count):
                    desk.tick(desk.now_ms + count * SECOND)
                case _:
                    raise AssertionError(act)
        except BailiwickError:
            continue
        check(desk.state, now_ms=desk.now_ms)
    check(decode(encode(desk.state), desk.digest), now_ms=desk.now_ms)
