"""Renewals are judged as a naive reader of the fleet judges them, in the same order."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import LIST_PRICES
from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel import (
    Answer,
    ChangeMode,
    Command,
    Done,
    Envelope,
    Granted,
    Kernel,
    Refused,
    RegisterNode,
    Renew,
    SetQuota,
    Submit,
    Tick,
)
from bailiwick.kernel.money.commands import SetBudget, SetRateCard
from bailiwick.kernel.people.commands import ChangeTenant, CreateTenant
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.ceilings import OPEN
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import LeaseClass, Priority

TENANTS = ("ann", "bob", "cyd", "dan")
BOUND, WAITING = ("bob", "cyd"), ("ann", "dan")
"""Who has limits, and who may wait: one that waits for room waits for nothing else."""
URGENT = (Priority.LOW, Priority.NORMAL, Priority.HIGH)


@dataclass(frozen=True)
class Held:
    """A lease as the naive reader knows it."""

    lease_id: int
    tenant: str
    node: str
    cpu: int
    priority: Priority
    began_ms: int
    ends_ms: int


@dataclass(frozen=True)
class World:
    """A small fleet, drawn once."""

    nodes: tuple[int, ...]
    leases: tuple[tuple[str, int, int, Priority], ...]
    waiting: tuple[str, int, Priority] | None
    closed: str | None
    shut: NodeMode | None
    limit: tuple[str, int] | None
    ceiling: tuple[str, Priority, LeaseClass] | None
    budget: tuple[str, int, int | None] | None
    renewal: tuple[int, int]


cores = st.integers(3, 8)
terms = st.sampled_from([100, 250, 400, 700])
worlds = st.builds(
    World,
    st.lists(st.sampled_from([4, 8]), min_size=1, max_size=2).map(tuple),
    st.lists(
        st.tuples(st.sampled_from(TENANTS), cores, terms, st.sampled_from(URGENT)),
        min_size=2,
        max_size=5,
    ).map(tuple),
    st.none() | st.tuples(st.sampled_from(WAITING), cores, st.sampled_from(URGENT)),
    st.none() | st.sampled_from(BOUND),
    st.sampled_from([None, None, NodeMode.DRAINING, NodeMode.CORDONED]),
    st.none() | st.tuples(st.sampled_from(BOUND), st.integers(1, 4)),
    st.none()
    | st.tuples(
        st.sampled_from(BOUND),
        st.sampled_from(URGENT),
        st.sampled_from([LeaseClass.STANDARD, LeaseClass.STANDARD, LeaseClass.SPOT]),
    ),
    st.none()
    | st.tuples(st.sampled_from(BOUND), st.integers(1, 400), st.none() | st.integers(1, 3000)),
    st.tuples(st.integers(0, 4), st.sampled_from([60, 300, 350, 351, 600, 900])),
)
BEGIN_MS, NOW_MS = 1_000, 1_050


class Bench:
    """A kernel, and what a naive reader wrote down of what it answered."""

    def __init__(self, world: World) -> None:
        self.kernel, self.now_ms, self.world = Kernel(), BEGIN_MS, world
        self.held: list[Held] = []
        self.sizes = {f"n{i}": size for i, size in enumerate(world.nodes)}
        for node, size in self.sizes.items():
            self.do(RegisterNode(node, NodeCapacity(size, 10**9)))
        for tenant in TENANTS:
            self.do(CreateTenant(tenant))
        # One core costs one micro a millisecond.
        self.do(SetRateCard(replace(LIST_PRICES, core_micros_per_hour=3_600_000)))
        if world.budget is not None:
            tenant, limit, cap = world.budget
            self.do(SetBudget(Budget(tenant, limit_micros=limit, cap_micros=cap)))
        for tenant, cpu, ttl_ms, priority in world.leases:
            self._begin(tenant, cpu, ttl_ms, priority)
        self.waits = self._wait()
        if world.closed is not None:
            self.do(ChangeTenant(world.closed, is_open=False))
        if world.shut is not None:
            is_cordon = world.shut is NodeMode.CORDONED
            self.do(ChangeMode("n0", world.shut, evict=is_cordon))  # which evicts nobody anyway
        for tenant in BOUND:
            self._bind(tenant)
        self.now_ms = NOW_MS
        self.do(Tick(1000))  # which promises who waits its start

    def do(self, command: Command) -> Answer:
        return self.kernel.execute(Envelope(command), self.now_ms).answer

    def _bind(self, tenant: str) -> None:
        """What it may hold and ask for from now on, if that is to change."""
        (limited, limit), most = self.world.limit or ("", 0), self.world.ceiling
        limits = (ResourceLimit.cpu_cores(limit),) if limited == tenant else ()
        ceiling = None
        if most is not None and most[0] == tenant:
            ceiling = replace(OPEN, priority_max=most[1], lease_classes=(most[2],))
        if limits or ceiling:
            self.do(SetQuota(tenant, Quota(limits, ceiling=ceiling)))

    def _begin(self, tenant: str, cpu: int, ttl_ms: int, priority: Priority) -> None:
        self._ask(tenant, cpu, ttl_ms, priority, wait=False)

    def _ask(self, tenant: str, cpu: int, ttl_ms: int, priority: Priority, *, wait: bool) -> None:
        terms = {"tenant": tenant, "cpu_cores": cpu, "ttl_ms": ttl_ms, "priority": priority}
        answer = self.do(Submit(PlacementRequest(**terms), wait=wait))  # type: ignore[arg-type]
        if isinstance(answer, Granted):
            ends, node = self.now_ms + ttl_ms, str(answer.nodes[0])
            number = answer.lease_ids[0]
            self.held.append(Held(number, tenant, node, cpu, priority, self.now_ms, ends))

    def _wait(self) -> bool:
        """Whether somebody waits for room that nobody has to leave early."""
        if self.world.waiting is None:
            return False
        tenant, cpu, priority = self.world.waiting
        self._ask(tenant, cpu, 120, priority, wait=True)
        state = self.kernel.state
        return bool(state.line.entries) and not state.claims

    # -- the naive reading -------------------------------------------------------------------

    def start_of(self, cpu: int, ends: dict[int, int]) -> int | None:
        """The first time at which so many cores are free on one open node; None if now."""
        for at_ms in sorted({self.now_ms, *ends.values()}):
            for node, size in self.sizes.items():
                if self.world.shut is not None and node == "n0":
                    continue
                busy = sum(h.cpu for h in self.held if h.node == node and ends[h.lease_id] > at_ms)
                if size - busy >= cpu:
                    return None if at_ms == self.now_ms else at_ms
        return None

    def expected(self, lease: Held, ttl_ms: int) -> str:
        """What the naive reader answers: a word."""
        world, until = self.world, self.now_ms + ttl_ms
        if until <= lease.ends_ms:
            return "renewed"
        if world.closed == lease.tenant:
            return "scope_closed"
        if world.ceiling is not None and world.ceiling[0] == lease.tenant:
            _, priority_max, lease_class = world.ceiling
            if lease.priority.rank > priority_max.rank:
                return "priority_too_high"
            if lease_class is not LeaseClass.STANDARD:
                return "lease_class_forbidden"
        if world.shut is NodeMode.DRAINING and lease.node == "n0":
            return "node_closed"
        mine = [h for h in self.held if h.tenant == lease.tenant]
        whose, limit = world.limit or ("", 0)
        if whose == lease.tenant and sum(h.cpu for h in mine) > limit:
            return "hard_limit_exceeded"
        if world.budget is not None and world.budget[0] == lease.tenant:
            _, limit, cap = world.budget
            if sum(h.cpu * (self.now_ms - h.began_ms) for h in mine) >= limit:
                return "budget_exhausted"
            whole = sum(h.cpu * (h.ends_ms - h.began_ms) for h in mine)
            if cap is not None and whole + lease.cpu * (until - lease.ends_ms) > cap:
                return "cost_cap_exceeded"
        if self.waits and world.waiting is not None:
            tenant, cpu, priority = world.waiting
            if tenant != lease.tenant and priority.rank >= lease.priority.rank:
                ends = {h.lease_id: h.ends_ms for h in self.held}
                before = self.start_of(cpu, ends)
                after = self.start_of(cpu, {**ends, lease.lease_id: until})
                if before is not None and (after is None or after > before):
                    return f"term_reserved {before - self.now_ms}"
        return "renewed"


def answer_of(answer: Answer) -> str:
    if isinstance(answer, Done):
        return "renewed"
    assert isinstance(answer, Refused), answer
    detail = answer.denied.detail
    longest = getattr(detail, "longest_ms", None)
    return str(detail.code) if longest is None else f"{detail.code} {longest}"


@settings(max_examples=400)
@given(worlds)
def test_a_renewal_is_judged_for_the_time_it_adds(world: World) -> None:
    bench = Bench(world)
    if not bench.held or bench.kernel.state.claims:
        return
    pick, ttl_ms = world.renewal
    lease = bench.held[pick % len(bench.held)]
    if any(str(bench.kernel.state.phase(held.lease_id)) != "active" for held in bench.held):
        return
    before = bench.kernel.state.fields(lease.lease_id)
    expected = bench.expected(lease, ttl_ms)
    found = answer_of(bench.do(Renew(lease.lease_id, ttl_ms)))
    assert found == expected
    after = bench.kernel.state.fields(lease.lease_id)
    if found != "renewed":
        assert after == before
    if found.startswith("term_reserved"):  # and what it was told to ask for, it gets
        longest = int(found.split()[1])
        assert answer_of(bench.do(Renew(lease.lease_id, longest))) == "renewed"
