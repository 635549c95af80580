"""Nothing bad ever happens in the queue: no capacity twice, no entry twice, no promise broken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.resources import Resources
from bailiwick.scheduler.admission import AdmissionController, ReservationHeadroom
from bailiwick.scheduler.decision import Approved, Denied
from bailiwick.scheduler.fairness import FairShares
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.library.queue import (
    LineRules,
    QueueEntry,
    Reservation,
    ScheduleResult,
    WaitingQueue,
)
from bailiwick.scheduler.placement import PlacementScorer, Strategy
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.words import HardwareGeneration, PendingReason, Priority

HOPPER, AMPERE = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_AMPERE

# Small numbers everywhere, so that requests get in each other's way.

nodes = st.builds(
    lambda cores, mem, families, rack: NodeCapacity(
        cores, mem, gpus=tuple(GpuDevice(f) for f in families), labels={"rack": rack}
    ),
    st.integers(1, 6),
    st.integers(4, 8),
    st.lists(st.sampled_from([HOPPER, HOPPER, AMPERE]), max_size=3),
    st.sampled_from(["a", "b"]),
)
gpu_terms = st.sampled_from(
    [
        {"cpu_cores": 1},
        {"cpu_cores": 2, "mem_bytes": 3},
        {"cpu_cores": 1, "gpu_count": 1},
        {"gpu_count": 1, "mem_bytes": 2},
        {"gpu_count": 2},
        {"gpu_count": 1, "generation": AMPERE},
        {"gpu_milli": 300},
        {"gpu_milli": 400, "cpu_cores": 1},
        {"gpu_milli": 600, "generation": HOPPER},
    ]
)
requests = st.builds(
    lambda terms, rack, **others: PlacementRequest(
        **terms, **others, labels={"rack": rack} if rack else {}
    ),
    gpu_terms,
    st.sampled_from(["", "", "", "a"]),
    tenant=st.sampled_from(["a", "b", "c"]),
    project=st.sampled_from([None, None, "p"]),
    gang_size=st.sampled_from([1, 1, 1, 2, 3, 5]),
    ttl_ms=st.integers(1, 40),
)
urgency = st.sampled_from([Priority.NORMAL] * 4 + [Priority.LOW, Priority.HIGH])
headrooms = st.sampled_from(
    [
        None,
        None,
        ReservationHeadroom(Resources(cpu_milli=1000, gpu_milli=500), Priority.CRITICAL),
        ReservationHeadroom(Resources(gpu_milli=1000), Priority.HIGH),
    ]
)
desks = st.fixed_dictionaries(
    {
        "fleet": st.lists(nodes, min_size=1, max_size=3),
        "headroom": headrooms,
        "strategy": st.sampled_from(
            [Strategy.FRAGMENTATION_AWARE, Strategy.BEST_FIT, Strategy.ROUND_ROBIN]
        ),
        "engine": st.sampled_from(["auto", "pure"]),
        "patience_ms": st.sampled_from([5, 50, 10**6]),
        "reservations_max": st.sampled_from([1, 2, 4]),
    }
)


def urgent(request: PlacementRequest, priority: Priority) -> PlacementRequest:
    """The same request at another priority."""
    names = ("tenant", "project", "cpu_cores", "mem_bytes", "gpu_count", "gpu_milli", "generation")
    terms: dict[str, Any] = {name: getattr(request, name) for name in names}
    terms |= {name: getattr(request, name) for name in ("gang_size", "ttl_ms", "labels")}
    return PlacementRequest(**terms, priority=priority)


class Desk:
    """A fleet, its queue and a manual clock; leases end at their expiry or earlier."""

    def __init__(
        self,
        *,
        fleet: list[NodeCapacity],
        headroom: ReservationHeadroom | None,
        strategy: Strategy,
        engine: str,
        patience_ms: int,
        reservations_max: int,
    ) -> None:
        self.ledger = CapacityLedger(engine=engine)
        for number, capacity in enumerate(fleet):
            self.ledger.register_node(f"n{number}", capacity)
        self.fleet = {f"n{number}": capacity for number, capacity in enumerate(fleet)}
        self.admission = AdmissionController(
            self.ledger, scorer=PlacementScorer(strategy), headroom=headroom
        )
        self.shares = FairShares(50)
        rules = LineRules(patience_ms=patience_ms, reservations_max=reservations_max)
        self.queue = WaitingQueue(self.admission, self.shares, rules=rules)
        self.now_ms = 0

    def submit(self, request: PlacementRequest) -> QueueEntry:
        return self.queue.submit(request, self.now_ms)

    def pass_time(self, until_ms: int) -> None:
        for lease in self.ledger.leases():
            used_ms = min(until_ms, lease.expires_ms) - self.now_ms
            amount = lease.resources.gpu_milli * max(0, used_ms)
            self.shares.charge(lease.tenant, amount, now_ms=until_ms, project=lease.project)
        self.now_ms = until_ms
        self.ledger.expire(until_ms)

    def release(self, pick: int) -> None:
        """Somebody gives a lease back before its time."""
        leases = list(self.ledger.leases())
        if leases:
            self.ledger.release(leases[pick % len(leases)].id, now_ms=self.now_ms)

    def schedule(self, limit: int) -> ScheduleResult:
        return self.queue.schedule(self.now_ms, limit=limit)

    def check_capacity(self) -> None:
        """Adds up the leases, device by device, without asking the ledger what is free."""
        for name, capacity in self.fleet.items():
            held, milli = Resources(), Counter[int]()
            for lease in self.ledger.leases(node=name):
                held += lease.resources
                for index in lease.devices:
                    milli[index] += lease.resources.gpu_milli // len(lease.devices)
            assert held.cpu_milli <= capacity.cpu_milli
            assert held.mem_bytes <= capacity.mem_bytes
            assert all(index < len(capacity.gpus) for index in milli)
            assert all(amount <= 1000 for amount in milli.values())


def noted(result: ScheduleResult) -> str:
    """What kind of call it was, so that hypothesis can say how often each kind was tried."""
    if not result.reservations:
        return "nothing kept"
    order = [s.entry.id for s in result.started]
    behind = any(number > result.reservations[0].entry.id for number in order)
    kept = "several kept" if len(result.reservations) > 1 else "kept"
    return f"{kept}, and others started" if behind else kept


# --- entries come and go exactly once -----------------------------------------------------------


class QueueMachine(RuleBasedStateMachine):
    """The queue against the plain list of who was submitted and who left."""

    @initialize(options=desks)
    def open(self, options: dict[str, Any]) -> None:
        self.desk, self.options = Desk(**options), options
        self.waiting: dict[int, QueueEntry] = {}
        self.left: Counter[int] = Counter()
        self.leases: set[int] = set()

    @rule(several=st.lists(st.tuples(requests, urgency), min_size=1, max_size=6))
    def submit(self, several: list[tuple[PlacementRequest, Priority]]) -> None:
        for request, priority in several:
            entry = self.desk.submit(urgent(request, priority))
            assert entry.id not in self.waiting
            assert not self.left[entry.id]
            self.waiting[entry.id] = entry

    @rule(pick=st.integers(0, 99))
    def cancel(self, pick: int) -> None:
        if not self.waiting:
            return
        entry = list(self.waiting.values())[pick % len(self.waiting)]
        assert self.desk.queue.cancel(entry.id) is entry
        self.leave(entry)

    @rule(ms=st.integers(0, 30))
    def pass_time(self, ms: int) -> None:
        self.desk.pass_time(self.desk.now_ms + ms)

    @rule(pick=st.integers(0, 99))
    def release(self, pick: int) -> None:
        self.desk.release(pick)

    @rule(limit=st.integers(2, 12))
    def schedule(self, limit: int) -> None:
        holders = len({entry.request.priority for entry in self.waiting.values()})
        result = self.desk.schedule(limit)
        looked_at = [s.entry.id for s in result.started] + [w.entry.id for w in result.waiting]
        assert len(looked_at) == len(set(looked_at)) <= limit + holders
        for started in result.started:
            self.check_start(started.entry, started.approved)
            self.leave(started.entry)
        for told in result.waiting:
            assert self.waiting[told.entry.id] is told.entry
            assert self.desk.queue.blocker(told.entry.id) == told.denied
        assert len(result.reservations) <= self.options["reservations_max"]
        assert len({kept.entry.id for kept in result.reservations}) == len(result.reservations)
        for kept in result.reservations:
            self.check_reservation(kept, result)
        event(noted(result))

    def check_start(self, entry: QueueEntry, approved: Approved) -> None:
        assert self.waiting[entry.id] is entry
        assert len(approved.leases) == len(approved.nodes) == entry.request.gang_size
        fresh = {lease.id for lease in approved.leases}
        assert len(fresh) == entry.request.gang_size
        assert not fresh & self.leases
        self.leases |= fresh
        for lease in approved.leases:
            assert (lease.tenant, lease.granted_ms) == (entry.request.tenant, self.desk.now_ms)
            assert lease.expires_ms == self.desk.now_ms + entry.request.ttl_ms

    def check_reservation(self, reservation: Reservation, result: ScheduleResult) -> None:
        (denied,) = [w.denied for w in result.waiting if w.entry is reservation.entry]
        assert denied.reason in (PendingReason.WAITING_FOR_CAPACITY, PendingReason.FRAGMENTED)
        assert reservation.at_ms > self.desk.now_ms
        assert len(reservation.nodes) == reservation.entry.request.gang_size

    def leave(self, entry: QueueEntry) -> None:
        del self.waiting[entry.id]
        self.left[entry.id] += 1

    @invariant()
    def nobody_holds_more_than_there_is(self) -> None:
        self.desk.check_capacity()

    @invariant()
    def every_entry_left_at_most_once(self) -> None:
        assert not self.left or max(self.left.values()) == 1

    @invariant()
    def the_order_is_a_permutation(self) -> None:
        order = self.desk.queue.order(self.desk.now_ms)
        assert len(order) == len(self.desk.queue) == len(self.waiting)
        assert {entry.id: entry for entry in order} == self.waiting
        ranks = [entry.request.priority.rank for entry in order]
        assert ranks == sorted(ranks, reverse=True)
        for place, entry in list(enumerate(order))[-1:]:
            assert self.desk.queue.position(entry.id, self.desk.now_ms) == place


TestQueueMachine = QueueMachine.TestCase


# --- what is promised is kept -------------------------------------------------------------------


@dataclass
class Step:
    """What happens between two looks at the queue."""

    submitted: list[tuple[PlacementRequest, Priority]]
    ms: int
    limit: int
    releases: list[int] = field(default_factory=list)
    cancels: list[int] = field(default_factory=list)


steps = st.builds(
    Step,
    st.lists(st.tuples(requests, urgency), min_size=1, max_size=6),
    ms=st.integers(1, 25),
    limit=st.sampled_from([2, 5, 100]),
    releases=st.lists(st.integers(0, 99), max_size=2),
    cancels=st.lists(st.integers(0, 99), max_size=1),
)


class Promises:
    """What the queue said about when its reserved entries start at the latest."""

    def __init__(self) -> None:
        self.told: dict[int, tuple[QueueEntry, int]] = {}

    def ask(self, desk: Desk, limit: int) -> None:
        """Schedule, and hold the answer against what was said before."""
        # A promise holds among equals: who is more urgent may come before.
        ranks = [entry.request.priority.rank for entry in desk.queue.order(desk.now_ms)]
        for entry, _ in list(self.told.values()):
            if entry.id not in desk.queue or ranks[0] > entry.request.priority.rank:
                del self.told[entry.id]
        self.check(desk.schedule(limit), desk.now_ms)
        desk.check_capacity()

    def check(self, result: ScheduleResult, now_ms: int) -> None:
        event(noted(result))
        for started in result.started:
            self.told.pop(started.entry.id, None)
        for entry, at_ms in self.told.values():
            assert at_ms > now_ms, f"entry {entry.id} was to start at {at_ms}"
            # Among equals nobody else is promised anything before the first promise is kept.
            # Whoever is behind it reckons with it, and may still move with what it takes.
            assert result.reservations
            assert result.reservations[0].entry is entry
            assert result.reservations[0].at_ms <= at_ms
        if result.reservations:
            first = result.reservations[0]
            self.told = {first.entry.id: self._pair(first)}

    @staticmethod
    def _pair(reservation: Reservation) -> tuple[QueueEntry, int]:
        return reservation.entry, reservation.at_ms


def play(desk: Desk, steps: list[Step]) -> None:
    """Run the steps, stopping at every promised time, and check that promises are kept."""
    promises = Promises()
    for step in steps:
        for request, priority in step.submitted:
            desk.submit(urgent(request, priority))
        for pick in step.cancels:
            order = desk.queue.order(desk.now_ms)
            desk.queue.cancel(order[pick % len(order)].id)
        for pick in step.releases:
            desk.release(pick)
        promises.ask(desk, step.limit)
        until_ms = desk.now_ms + step.ms
        for at_ms in [at_ms for _, at_ms in promises.told.values() if at_ms < until_ms]:
            desk.pass_time(at_ms)
            promises.ask(desk, step.limit)
        desk.pass_time(until_ms)
        promises.ask(desk, step.limit)


@given(desks, st.lists(steps, max_size=12))
def test_a_reserved_entry_starts_no_later_than_it_was_told(
    options: dict[str, Any], steps: list[Step]
) -> None:
    play(Desk(**options), steps)


def settled(desk: Desk) -> Reservation | None:
    """What is kept for whom once all that may start has started."""
    result = desk.schedule(1000)
    event(f"ends with a reservation: {len(result.reservations) > 0}")
    return result.reservations[0] if result.reservations else None


@settings(max_examples=200)
@given(desks, st.lists(steps, max_size=6), st.lists(requests, min_size=4, max_size=8))
def test_a_reservation_is_the_earliest_time_at_which_the_entry_really_fits(
    options: dict[str, Any], steps: list[Step], last: list[PlacementRequest]
) -> None:
    desk = Desk(**options)
    play(desk, steps)
    for request in last:
        desk.submit(request)
    reservation = settled(desk)
    if reservation is None:
        return
    request, at_ms = reservation.entry.request, reservation.at_ms
    for now_ms in sorted({lease.expires_ms for lease in desk.ledger.leases()}):
        if now_ms < at_ms:
            desk.ledger.expire(now_ms)
            assert isinstance(desk.admission.evaluate(request, now_ms=now_ms), Denied)
    desk.ledger.expire(at_ms)
    assert isinstance(desk.admission.evaluate(request, now_ms=at_ms), Approved)
    for node in reservation.nodes:
        desk.ledger.grant(node, request, now_ms=at_ms)
    desk.check_capacity()
