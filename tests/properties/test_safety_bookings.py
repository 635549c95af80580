"""Bookings against a slow look at every record and every choice of nodes, whatever people do."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.kernel import (
    Book,
    Cancel,
    CancelBooking,
    ChangeMode,
    Command,
    DepartNode,
    Evict,
    OpenNode,
    PlanWindow,
    RegisterNode,
    Release,
    Renew,
    ReplaceBooked,
    SetQuota,
    SetSeries,
    Submit,
    WithdrawSeries,
    decode,
    digest_of,
    encode,
)
from bailiwick.kernel.bookings.book import Booking
from bailiwick.kernel.bookings.candidates import BarredSpan, Candidate
from bailiwick.kernel.bookings.choice import (
    BookingChoice,
    choose,
    earliest,
    least_beyond,
)
from bailiwick.kernel.bookings.commands import BookingAsk
from bailiwick.kernel.owner import Owner
from bailiwick.scheduler.decision import Denied, NodesBooked
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import PreemptionReason, Priority
from tests.support.naive_kernel import fold
from tests.unit.kernel.desk import Desk, ask, cores

NODES = ("n1", "n2", "n3", "n4")
GPUS = dict(zip(NODES, (1, 2, 2, 4), strict=True))
OWNERS = (("acme", "class"), ("acme", "runs"), ("lab", "class"))
SECOND = 1_000
node = st.sampled_from(NODES)
seconds = st.integers(1, 12)
owner = st.sampled_from(OWNERS)
asked = st.one_of(
    st.sets(node, min_size=1).map(lambda names: {"nodes": tuple(sorted(names))}),
    st.integers(1, 4).map(lambda count: {"count": count}),
    st.integers(1, 9).map(lambda gpus: {"gpus": gpus}),
)
bookings = st.tuples(
    st.just("book"), st.sampled_from("abcdef"), owner, asked, seconds, seconds, st.integers(0, 4)
)
submits = st.tuples(
    st.just("submit"),
    st.integers(1, 20),
    st.sampled_from([Priority.LOW, Priority.NORMAL, Priority.HIGH]),
    st.sampled_from([1, 1, 2]),
    st.integers(1, 4),
    st.integers(0, 1),
    owner,
)
steps = st.one_of(
    bookings,
    bookings,
    st.tuples(st.just("pass"), seconds),
    st.tuples(st.just("pass"), seconds),
    submits,
    submits,
    st.tuples(st.just("renew"), st.integers(1, 9), st.integers(1, 20)),
    st.tuples(st.just("release"), st.integers(1, 9)),
    st.tuples(st.just("leave"), st.integers(1, 9)),
    st.tuples(st.just("evict"), st.integers(1, 9)),
    st.tuples(st.just("cancel"), st.sampled_from("abcdef"), owner),
    st.tuples(st.just("replace"), st.sampled_from("abcdef"), owner),
    st.tuples(st.just("window"), st.sampled_from("vw"), node, seconds, seconds),
    st.tuples(st.just("drain"), node),
    st.tuples(st.just("open"), node),
    st.tuples(st.just("depart"), node),
    st.tuples(st.just("register"), node),
    st.tuples(st.just("series"), st.sampled_from("st"), owner),
    st.tuples(st.just("withdraw"), st.sampled_from("st"), owner),
)


class House:
    """A kernel to which people of three projects talk."""

    def __init__(self, **how: Any) -> None:
        machines = [cores(4, gpus=GPUS[name]) for name in NODES]
        self.desk = Desk(nodes=machines, grace_ms=1_500, **how)

    def take(self, step: tuple[Any, ...]) -> None:
        match step:
            case ("pass", count):
                for _ in range(count):
                    self.desk.tick(self.desk.now_ms + SECOND)
                    self.check()
            case _:
                try:
                    self.desk.do(self.command(step))
                except BailiwickError:
                    return

    def command(self, step: tuple[Any, ...]) -> Command:
        now_ms = self.desk.now_ms
        match step:
            case ("book", name, whose, what, ahead, length, wait):
                starts = now_ms + ahead * SECOND
                times = starts, starts + length * SECOND
                own = (s.id for s in self.desk.state.bookings.series.values() if s.owner == whose)
                series = next(own, None) if ahead > 9 else None
                told = {"wait_ms": wait * SECOND, "series": series}
                return Book(name, *whose, *times, **what, **told)
            case ("cancel", name, whose):
                return CancelBooking(name, *whose)
            case ("replace", name, whose):
                return ReplaceBooked(name, *whose)
            case ("submit", term, priority, members, cpus, gpus, (tenant, project)):
                terms = {"ttl_ms": term * SECOND, "priority": priority, "gang_size": members}
                return Submit(ask(tenant, project=project, cpu_cores=cpus, gpu_count=gpus, **terms))
            case ("renew", lease, term):
                return Renew(lease, term * SECOND)
            case ("release", lease):
                return Release(lease)
            case ("leave", entry):
                return Cancel(entry)
            case ("evict", lease):
                return Evict((lease,), PreemptionReason.OPERATOR_DRAIN)
            case ("window", name, on, ahead, length):
                starts = now_ms + ahead * SECOND
                return PlanWindow(name, (on,), starts, starts + length * SECOND, SECOND)
            case ("drain", name):
                return ChangeMode(name, NodeMode.DRAINING)
            case ("open", name):
                return OpenNode(name)
            case ("depart", name):
                return DepartNode(name)
            case ("register", name):
                return RegisterNode(name, cores(4, gpus=GPUS[name]))
            case ("series", name, whose):
                return SetSeries(name, "weekly", *whose, count=1)
            case ("withdraw", name, whose):
                return WithdrawSeries(name, *whose)
            case ("quota", tenant, project, gpus):
                return SetQuota(tenant, Quota((ResourceLimit.gpu_count(gpus),)), project)
        raise AssertionError(step)

    def check(self) -> None:
        """What must hold after every second."""
        state, now_ms = self.desk.state, self.desk.now_ms
        book = state.bookings
        for each in book.bookings.values():
            assert now_ms < each.ends_ms
            assert each.nodes
            for name in each.nodes if each.wait_ms else ():
                since_ms = book.unused_since(each.key, name)
                assert since_ms is None or now_ms < since_ms + each.wait_ms
        assert bool(book.bookings) == any(
            type(policy).__name__ == "BookingGuard" for policy in state.guards.policies
        )


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, min_size=4, max_size=30))
def test_no_term_is_where_a_booking_forbids_it_and_what_is_unused_is_given_back(
    acts: list[tuple[Any, ...]],
) -> None:
    house = House()
    for act in acts:
        house.take(act)
    desk = house.desk
    fold(desk.records).compare(desk.state)
    again = decode(encode(desk.state), desk.digest)
    assert digest_of(again) == desk.digest == digest_of(desk.replayed().state)
    for each in (again, desk.replayed().state):
        assert each.bookings.bookings == desk.state.bookings.bookings
        assert each.bookings.next_due() == desk.state.bookings.next_due()
        assert each.bookings.next_unused() == desk.state.bookings.next_unused()


with_quotas = st.one_of(
    bookings,
    bookings,
    bookings,
    st.tuples(
        st.just("quota"),
        st.sampled_from(["acme", "lab"]),
        st.sampled_from([None, None, "class"]),
        st.integers(1, 6),
    ),
    st.tuples(st.just("pass"), st.integers(1, 4)),
    st.tuples(st.just("replace"), st.sampled_from("abcdef"), owner),
    st.tuples(st.just("drain"), node),
    st.tuples(st.just("depart"), node),
    st.tuples(st.just("register"), node),
)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 12), st.integers(1, 6), st.lists(with_quotas, min_size=4, max_size=30))
def test_nobody_closes_more_nodes_to_others_terms_than_his_quota_is(
    longest: int, gpus: int, acts: list[tuple[Any, ...]]
) -> None:
    house = House(term_max_ms=longest * SECOND, tenant_gpu_count=gpus)
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
    twin.desk.kernel = desk.replayed()
    twin.desk.lines, twin.desk.now_ms = [*desk.lines], desk.now_ms
    twin.desk.kernel.state.take_over(decode(encode(desk.state), desk.digest))
    for each in (house, twin):
        for act in more:
            each.take(act)
    assert twin.desk.lines == desk.lines
    assert twin.desk.digest == desk.digest


# --- the guard ---------------------------------------------------------------------------------


nodes_and_times = st.one_of(
    bookings.map(lambda step: (*step[:-1], 0)),
    st.tuples(st.just("cancel"), st.sampled_from("abcdef"), owner),
    st.tuples(st.just("depart"), node),
    st.tuples(st.just("register"), node),
    st.tuples(st.just("pass"), st.integers(1, 3)),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(steps, min_size=4, max_size=20), st.lists(nodes_and_times, max_size=12))
def test_the_guard_says_of_every_node_what_asking_each_booking_says(
    acts: list[tuple[Any, ...]], more: list[tuple[Any, ...]]
) -> None:
    house = House()
    for act in acts:
        house.take(act)
    _check_guards(house)
    for act in more:  # what it keeps from before follows
        house.take(act)
        _check_guards(house)


def _check_guards(house: House) -> None:
    state, now_ms = house.desk.state, house.desk.now_ms
    for tenant, project in (*OWNERS, ("lab", "runs")):
        for term in (1, 2, 4, 7, 12, 20):
            request = ask(tenant, project=project, ttl_ms=term * SECOND)
            closed = _closed(house, Owner(tenant, project), now_ms + request.ttl_ms)
            for policy in state.guards.policies:
                if type(policy).__name__ == "BookingGuard":
                    policy.look(now_ms)
                    found = policy.nodes_for(request)
                    for name in map(str, state.ledger.entries):
                        is_open = found is None or state.ledger.handle_of(name) in found
                        assert is_open == (name not in closed)
                    assert policy.closed_by(request) == ({"booking": len(closed)} if closed else {})
                    latest = max(closed.values(), default=now_ms)
                    told = NodesBooked(len(closed), latest, max(latest - now_ms, 0))
                    assert policy.told_as(request) == told
            decision = state.admission.evaluate(request, now_ms=now_ms)
            if isinstance(decision, Denied) and isinstance(decision.detail, NodesBooked):
                assert decision.detail.nodes == len(closed)


def _closed(house: House, own: Owner, until: int) -> dict[str, int]:
    """The nodes where a term until then is too long, and until when each is open."""
    found = dict[str, int]()
    for name in map(str, house.desk.state.ledger.entries):
        ends = [
            each.ends_ms if each.owner == own else each.starts_ms
            for each in house.desk.state.bookings.bookings.values()
            if name in each.nodes
        ]
        if min(ends, default=until) < until:
            found[name] = min(ends)
    return found


# --- which nodes -------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, min_size=0, max_size=14), asked, owner, seconds, seconds)
def test_the_nodes_are_the_best_of_every_set_there_is(
    acts: list[tuple[Any, ...]], what: dict[str, Any], whose: Any, ahead: int, length: int
) -> None:
    house = House()
    for act in acts:
        house.take(act)
    state, own = house.desk.state, Owner(*whose)
    want = BookingAsk(**what)
    if any(name not in state.ledger.entries for name in want.nodes):
        return
    starts = house.desk.now_ms + ahead * SECOND
    ends = starts + length * SECOND
    found = choose(state, want, owner=own, during=(starts, ends))
    free = _free(house, want, own, starts, ends)
    assert found.nodes == _best(free, want)
    assert found.found == (sum(GPUS[name] for name in free) if want.gpus else len(free))
    _check_earliest(house, want, own, found, starts, ends)


def _free(house: House, want: BookingAsk, own: Owner, starts: int, ends: int) -> list[str]:
    """The nodes that nothing that is known reaches into, each looked at on its own."""
    state = house.desk.state
    claimed = {seat.node for claim in state.claims.values() for seat in claim.seats}
    found = []
    for name in want.nodes or sorted(map(str, state.ledger.entries)):
        entry = state.ledger.entry(name)
        if entry.mode is not NodeMode.ACCEPTING and name not in state.maintenance.held:
            continue
        known = [(w.closes_ms, w.ends_ms) for w in state.maintenance.windows_of(name)]
        known += [(b.starts_ms, b.ends_ms) for b in _bookings(house) if name in b.nodes]
        is_free = all(last <= starts or first >= ends for first, last in known)
        for lease in state.leases_on(name):
            until = max(state.fields(lease).expires_ms, state.terms.get(lease, 0))
            is_free &= until <= (ends if state.owner_of(lease) == own else starts)
        if is_free and name not in claimed:
            found.append(name)
    return found


def _bookings(house: House) -> list[Booking]:
    return [*house.desk.state.bookings.bookings.values()]


def _best(free: list[str], want: BookingAsk) -> tuple[str, ...]:
    if not want.gpus:
        count = want.count or len(want.nodes)
        by_size = sorted(free, key=lambda name: (GPUS[name], name))
        return tuple(sorted(by_size[:count])) if len(free) >= count else ()
    sets = [
        names
        for size in range(1, len(free) + 1)
        for names in combinations(sorted(free), size)
        if sum(GPUS[name] for name in names) >= want.gpus
    ]
    if not sets:
        return ()
    least = min((sum(GPUS[n] for n in names), len(names)) for names in sets)
    alike = [s for s in sets if (sum(GPUS[n] for n in s), len(s)) == least]
    sizes = {tuple(sorted(GPUS[n] for n in names)) for names in alike}
    assert len(sizes) == 1, "the sizes here leave no choice between them"
    return min(alike)


def _check_earliest(
    house: House, want: BookingAsk, own: Owner, found: BookingChoice, starts: int, ends: int
) -> None:
    if found.nodes:
        assert found.earliest_ms is None
        return
    times = {starts + step * 500 for step in range(80)}
    good = [t for t in sorted(times) if _best(_free(house, want, own, t, t + ends - starts), want)]
    if found.earliest_ms is None:
        assert not good
        return
    at = found.earliest_ms
    assert _best(_free(house, want, own, at, at + ends - starts), want)
    assert not [t for t in good if t < at]


@settings(max_examples=300, deadline=None)
@given(
    st.dictionaries(st.integers(1, 9), st.integers(1, 4), max_size=4),
    st.integers(1, 40),
    st.integers(1, 9),
)
def test_no_sum_is_nearer_and_none_so_near_has_fewer_parts(
    sizes: dict[int, int], wanted: int, most: int
) -> None:
    found = least_beyond(Counter(sizes), wanted, most=most)
    sums: dict[int, int] = {0: 0}
    for size, count in sizes.items():
        more: dict[int, int] = {}
        for total, parts in sums.items():
            for n in range(count + 1):
                key = total + n * size
                more[key] = min(more.get(key, 10**9), parts + n)
        sums = more
    good = [(total, parts) for total, parts in sums.items() if total >= wanted and parts <= most]
    if not good:
        assert not found
        return
    assert (sum(size * n for size, n in found.items()), found.total()) == min(good)
    assert all(n <= sizes[size] for size, n in found.items())


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 3),
            st.lists(st.tuples(st.integers(-1, 30), st.integers(0, 30)), max_size=3),
        ),
        max_size=4,
    ),
    st.integers(1, 6),
    st.integers(0, 20),
)
def test_the_earliest_time_is_the_first_of_all_times(
    rows: list[tuple[int, list[tuple[int, int]]]], wanted: int, from_ms: int
) -> None:
    there = [
        Candidate(f"n{i}", weight, weight, tuple(BarredSpan(*each) for each in spans))
        for i, (weight, spans) in enumerate(rows)
    ]
    good = [
        at
        for at in range(from_ms, 40)
        if sum(each.weight for each in there if each.is_free(at)) >= wanted
    ]
    assert earliest(there, wanted, from_ms=from_ms) == (good[0] if good else None)
