"""Nothing bad ever happens to a quota: the manager against a reference anyone can check by eye.

The reference keeps a dictionary per scope and walks through time one millisecond after another.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from hypothesis import event
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import (
    DIMENSIONS,
    BurstCredit,
    BurstCreditExhausted,
    GpuGenerationLimitExceeded,
    GpuGenerationQuota,
    GpuGenerationRequired,
    HardLimitExceeded,
    Quota,
    QuotaDecision,
    ResourceLimit,
    WithinQuota,
)
from bailiwick.scheduler.quota_rows import (
    FLAGS,
    GENERATION_LIMIT,
    GENERATION_USED,
    LIMIT,
    ROW_WIDTH,
    USED,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import AMOUNT_MAX, ProjectId, TenantId
from bailiwick.vocab.words import GENERATIONS, Dimension, LeaseClass
from bailiwick.vocab.words import HardwareGeneration as G

Name = tuple[str, str | None]
SCOPES: list[Name] = [("a", None), ("a", "p"), ("a", "q"), ("b", None), ("b", "p")]
FAMILIES = [G.NVIDIA_HOPPER, G.NVIDIA_AMPERE, G.OTHER]

# --- the reference ------------------------------------------------------------------------------


@dataclass
class Scope:
    """What one tenant or project may use, does use itself, and has left of its credit."""

    quota: Quota = field(default_factory=Quota)
    own: Counter[object] = field(default_factory=Counter)
    credit: int = 0


class Reference:
    """Quota as the manual tells it, without a thought to speed."""

    def __init__(self, min_run_ms: int) -> None:
        self.scopes = {name: Scope() for name in SCOPES}
        self.min_run_ms = min_run_ms

    def around(self, name: Name) -> list[Name]:
        """The scope, then its tenant."""
        return [name] if name[1] is None else [name, (name[0], None)]

    def used(self, name: Name, thing: object) -> int:
        """A tenant uses what its projects use, and what it uses itself."""
        inside = [s for n, s in self.scopes.items() if name in self.around(n)]
        return sum(scope.own[thing] for scope in inside)

    def limit(self, name: Name, dimension: Dimension) -> int:
        amounts = [x.amount for x in self.scopes[name].quota.limits if x.dimension is dimension]
        return amounts[0] if amounts else AMOUNT_MAX

    def excess(self, name: Name, dimension: Dimension) -> int:
        return max(0, self.used(name, dimension) - self.limit(name, dimension))

    def set_quota(self, name: Name, quota: Quota) -> None:
        scope = self.scopes[name]
        old, scope.quota = scope.quota.burst, quota
        if quota.burst is None:
            return
        full = quota.burst.capacity * 1000
        kept = old is not None and old.dimension is quota.burst.dimension
        scope.credit = min(scope.credit, full) if kept else full

    def pass_millisecond(self) -> None:
        for name, scope in self.scopes.items():
            burst = scope.quota.burst
            if burst is None:
                continue
            above = self.excess(name, burst.dimension)
            if above:
                scope.credit = max(0, scope.credit - above)
            else:
                scope.credit = min(burst.capacity * 1000, scope.credit + burst.refill_per_s)

    def check(
        self, name: Name, wanted: Counter[object], family: G | None, *, guaranteed: bool = False
    ) -> QuotaDecision:
        gpu = wanted[Dimension.GPU_COUNT]
        for each in self.around(name) if gpu else []:
            denied = self.check_table(each, gpu, family)
            if denied is not None:
                return denied
        for each in self.around(name):
            burst = self.scopes[each].quota.burst
            for d in Dimension:
                is_lent = burst and burst.dimension is d and not guaranteed
                ceiling = burst.ceiling if burst and is_lent else 0
                if ceiling and burst and self.min_run_ms:
                    ceiling = min(ceiling, burst.capacity * 1000 // self.min_run_ms)
                wall = self.limit(each, d) + ceiling
                if wanted[d] and self.used(each, d) + wanted[d] > wall:
                    return HardLimitExceeded(d, *self.shown(each, d, wall), gpus_up(d, wanted[d]))
        bursts = []
        for each in self.around(name):
            burst = self.scopes[each].quota.burst
            if burst is None or not wanted[burst.dimension]:
                continue
            d = burst.dimension
            above = self.used(each, d) + wanted[d] - self.limit(each, d)
            credit, needed = self.scopes[each].credit, above * self.min_run_ms
            if above > 0 and (not credit or credit < needed):
                told = (*self.shown(each, d, self.limit(each, d)), gpus_up(d, wanted[d]))
                return BurstCreditExhausted(d, *told, credit // 1000, -(-needed // 1000))
            if above > 0:
                bursts.append(above)
        return WithinQuota(bursts[0] if bursts else 0)

    def check_table(
        self, name: Name, gpu: int, family: G | None
    ) -> GpuGenerationRequired | GpuGenerationLimitExceeded | None:
        listed = {x.generation: x.count for x in self.scopes[name].quota.gpu_generations}
        if not listed:
            return None
        if family is None:
            return GpuGenerationRequired(gpus_up(Dimension.GPU_COUNT, gpu))
        count, used = listed.get(family, 0), self.used(name, family)
        if used + gpu <= count * 1000:
            return None
        return GpuGenerationLimitExceeded(family, count, -(-used // 1000), -(-gpu // 1000))

    def shown(self, name: Name, d: Dimension, limit: int) -> tuple[int, int]:
        unit = 1000 if d is Dimension.GPU_COUNT else 1
        return limit // unit, gpus_up(d, self.used(name, d))

    def free(self, name: Name, wanted: Counter[object]) -> Counter[object]:
        """Gives back what the scope itself holds; returns what it did not hold."""
        own = self.scopes[name].own
        missing = wanted - own
        own.subtract(wanted - missing)
        return missing

    def overruns(self) -> list[tuple[str, str | None, Dimension, int]]:
        found = []
        for (tenant, project), scope in self.scopes.items():
            burst = scope.quota.burst
            above = burst and self.excess((tenant, project), burst.dimension)
            if burst and above and scope.credit == 0:
                found.append((tenant, project, burst.dimension, above))
        return found


def gpus_up(dimension: Dimension, amount: int) -> int:
    """GPUs are told whole, rounded up."""
    return -(-amount // 1000) if dimension is Dimension.GPU_COUNT else amount


def wanted_by(request: PlacementRequest, family: G | None) -> Counter[object]:
    """What all members of the request use together, by dimension and by generation."""
    gpu = request.gpu_count * 1000 or request.gpu_milli or 1000 * bool(request.gpu_vram)
    one: Counter[object] = Counter(
        {
            Dimension.CPU_MILLI: round(request.cpu_cores * 1000),
            Dimension.MEM_BYTES: request.mem_bytes,
            Dimension.BLOCK_BYTES: request.block_bytes,
            Dimension.GPU_COUNT: gpu,
            Dimension.GPU_VRAM: -(-request.gpu_vram * gpu // 1000),  # of a share, its part
            Dimension.LEASE_COUNT: 1,
        }
    )
    if family is not None:
        one[family] = gpu
    return Counter({thing: n * request.gang_size for thing, n in one.items() if n})


# --- what is tried ------------------------------------------------------------------------------

# Amounts are in thousands, so that credit counted in unit-seconds is gone within milliseconds, and
# few dimensions are limited at once, so that one limit does not hide all others.

scopes = st.sampled_from(SCOPES)
families = st.sampled_from([None, *FAMILIES])
tables = st.builds(
    lambda counts: tuple(GpuGenerationQuota(g, n) for g, n in counts.items()),
    st.just({}) | st.dictionaries(st.sampled_from(FAMILIES), st.integers(0, 9), max_size=3),
)


def limit_of(dimension: Dimension, count: int) -> ResourceLimit:
    """A limit of so many thousands; GPUs and leases are counted one by one."""
    whole = dimension in (Dimension.GPU_COUNT, Dimension.LEASE_COUNT)
    return ResourceLimit(dimension, count if whole else count * 1000)


@st.composite
def quotas(draw: st.DrawFn) -> Quota:
    counts = draw(st.dictionaries(st.sampled_from(DIMENSIONS), st.integers(0, 9), max_size=2))
    limits = tuple(limit_of(d, n) for d, n in counts.items())
    table = draw(tables)
    if not limits or draw(st.integers(0, 3)) == 0:
        return Quota(limits, table)
    dimension = draw(st.sampled_from(limits)).dimension
    unit = 1 if dimension is Dimension.LEASE_COUNT else 1000
    capacity, refill = draw(st.integers(1, 20)), draw(st.integers(0, 900))
    credit = BurstCredit(
        dimension, capacity, refill, draw(st.integers(1, 9) | st.integers(1, 60)) * unit
    )
    return Quota(limits, table, credit)


@st.composite
def requests(draw: st.DrawFn) -> PlacementRequest:
    tenant, project = draw(scopes)
    gpu = draw(st.sampled_from([{}, {"gpu_count": 1}, {"gpu_count": 3}, {"gpu_milli": 300}]))
    if gpu:
        vram = draw(st.sampled_from([0, 0, 1000]))
        gpu = {**gpu, "gpu_vram": vram, "generation": draw(families)}
    return PlacementRequest(
        tenant=TenantId(tenant),
        project=None if project is None else ProjectId(project),
        cpu_cores=draw(st.sampled_from([0, 1, 2.5])),
        mem_bytes=draw(st.integers(1, 4)) * 1000,
        block_bytes=draw(st.integers(0, 2)) * 1000,
        gang_size=draw(st.integers(1, 2)),
        lease_class=draw(st.sampled_from([LeaseClass.STANDARD, *LeaseClass])),
        **gpu,
    )


class QuotaMachine(RuleBasedStateMachine):
    """Sets, asks, takes, gives back, waits; after each step both must agree on everything."""

    @initialize(
        first=st.lists(quotas(), min_size=len(SCOPES), max_size=len(SCOPES)),
        min_run_ms=st.sampled_from([0, 1, 5, 20]),
    )
    def begin(self, first: list[Quota], min_run_ms: int) -> None:
        self.manager = QuotaManager()
        self.manager.burst_min_run_ms = min_run_ms
        self.reference = Reference(min_run_ms)
        self.promised: dict[Name, int] = {}
        """Until when who was let in last above the scope's limit runs, whatever happens."""
        self.now_ms = 0
        self.held: list[tuple[PlacementRequest, G | None]] = []
        for name, quota in zip(SCOPES, first, strict=True):
            self.manager.set_quota(name[0], quota, project=name[1])
            self.reference.set_quota(name, quota)

    @rule(name=scopes, quota=quotas(), told=st.booleans())
    def set_quota(self, name: Name, quota: Quota, told: bool) -> None:
        # Left out, the time is the last one told, so somebody must have told it.
        if not told:
            self.manager.settle(0, self.now_ms)
        now_ms = self.now_ms if told else None
        self.manager.set_quota(name[0], quota, project=name[1], now_ms=now_ms)
        self.reference.set_quota(name, quota)
        self.promised.pop(name, None)

    @rule(name=scopes, table=tables)
    def set_table(self, name: Name, table: tuple[GpuGenerationQuota, ...]) -> None:
        self.manager.set_gpu_generation_limits(name[0], list(table), project=name[1])
        scope = self.reference.scopes[name]
        scope.quota = Quota(scope.quota.limits, table, scope.quota.burst)

    @rule(wanted=st.lists(requests(), min_size=1, max_size=5), actual=families)
    def take_some(self, wanted: list[PlacementRequest], actual: G | None) -> None:
        for request in wanted:
            self.take_if_allowed(request, actual)

    @rule(wanted=requests(), elapsed_ms=st.integers(1, 25))
    def take_the_same_until_it_is_denied(self, wanted: PlacementRequest, elapsed_ms: int) -> None:
        for _ in range(5):
            self.take_if_allowed(wanted, None)
            self.wait(elapsed_ms)

    @rule(name=scopes, capacity=st.integers(2, 20), elapsed_ms=st.integers(1, 6))
    def burst_again_and_again(self, name: Name, capacity: int, elapsed_ms: int) -> None:
        """At its limit, with nothing else in the way: until the credit left is too short a run."""
        used = self.reference.used(name, Dimension.CPU_MILLI)
        credit = BurstCredit(Dimension.CPU_MILLI, capacity, 0, 9_000)
        limited = Quota((ResourceLimit(Dimension.CPU_MILLI, used),), burst=credit)
        for each in self.reference.around(name):
            self.set_quota(each, limited if each == name else Quota(), told=True)
        request = PlacementRequest(tenant=name[0], project=name[1], cpu_cores=1, mem_bytes=1)
        for _ in range(6):
            held = len(self.held)
            self.take_if_allowed(request, None)
            self.wait(elapsed_ms)
            if len(self.held) > held:
                self.give_back_one(len(self.held) - 1)

    def take_if_allowed(self, request: PlacementRequest, actual: G | None) -> None:
        name = (request.tenant, request.project)
        has_gpu = bool(request.device_count)
        family = (request.generation or actual) if has_gpu else None
        wanted = wanted_by(request, family)
        before = {each: self.excesses(each) for each in self.reference.around(name)}
        cells = self.manager.buffer.tobytes()
        answer = self.manager.check(request, now_ms=self.now_ms)
        event(f"{type(answer).__name__}, burst {bool(getattr(answer, 'burst', 0))}")
        firm = request.lease_class is LeaseClass.GUARANTEED
        told = self.reference.check(name, wanted, request.generation, guaranteed=firm)
        assert answer == told
        assert not (firm and isinstance(answer, WithinQuota) and answer.burst)
        assert self.manager.buffer.tobytes() == cells
        if not isinstance(answer, WithinQuota):
            return
        given = None if request.generation else actual
        self.manager.record_alloc(request, generation=given, now_ms=self.now_ms)
        self.reference.scopes[name].own.update(wanted)
        self.held.append((request, given))
        if answer.burst:
            until = self.now_ms + self.reference.min_run_ms
            self.promised.update(dict.fromkeys(self.reference.around(name), until))
        self.nothing_was_let_past(answer, before, wanted)

    def excesses(self, name: Name) -> dict[Dimension, int]:
        return {d: self.reference.excess(name, d) for d in Dimension}

    def nothing_was_let_past(
        self,
        answer: WithinQuota,
        before: dict[Name, dict[Dimension, int]],
        wanted: Counter[object],
    ) -> None:
        """Safety in its own words, not by what the reference's check says."""
        for name, excess_before in before.items():
            quota = self.reference.scopes[name].quota
            for d, above in self.excesses(name).items():
                if above == 0 or not wanted[d]:
                    assert above == excess_before[d] or above == 0
                    continue
                assert answer.burst > 0
                assert quota.burst is not None
                assert quota.burst.dimension is d
                assert above <= quota.burst.ceiling
                assert self.reference.scopes[name].credit > 0
            listed = {x.generation: x.count for x in quota.gpu_generations}
            for family in (g for g in FAMILIES if listed and wanted[g]):
                assert self.reference.used(name, family) <= 1000 * listed.get(family, 0)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def give_back(self, data: st.DataObject) -> None:
        self.give_back_one(data.draw(st.integers(0, len(self.held) - 1)))

    def give_back_one(self, index: int) -> None:
        request, given = self.held.pop(index)
        name = (request.tenant, request.project)
        family = (request.generation or given) if request.device_count else None
        missing = self.reference.free(name, wanted_by(request, family))
        told = self.manager.record_free(request, generation=given, now_ms=self.now_ms)
        assert {(m.generation or m.dimension): m.amount for m in told.missing} == missing

    @rule(request=requests(), actual=families)
    def give_back_what_may_not_be_held(self, request: PlacementRequest, actual: G | None) -> None:
        name = (request.tenant, request.project)
        given = None if request.generation else actual
        family = (request.generation or given) if request.device_count else None
        missing = self.reference.free(name, wanted_by(request, family))
        told = self.manager.record_free(request, generation=given, now_ms=self.now_ms)
        assert {(m.generation or m.dimension): m.amount for m in told.missing} == missing
        assert bool(told) == bool(missing)

    @rule(name=scopes, family=families, count=st.integers(0, 4))
    def take_generation_if_allowed(self, name: Name, family: G | None, count: int) -> None:
        tenant, project = name
        answer = self.manager.check_gpu_generation(tenant, family, count, project=project)
        tables_say = [
            denied
            for each in self.reference.around(name)
            if count and (denied := self.reference.check_table(each, count * 1000, family))
        ]
        assert answer == (tables_say[0] if tables_say else WithinQuota())
        if family is not None and answer == WithinQuota():
            self.manager.record_gpu_generation_alloc(tenant, family, count, project=project)
            self.reference.scopes[name].own[family] += count * 1000

    @rule(name=scopes, family=st.sampled_from(FAMILIES), count=st.integers(0, 4))
    def give_generation_back(self, name: Name, family: G, count: int) -> None:
        missing = self.reference.free(name, Counter({family: count * 1000}))
        told = self.manager.record_gpu_generation_free(name[0], family, count, project=name[1])
        assert told == -(-missing[family] // 1000)

    @rule(elapsed_ms=st.integers(1, 25))
    def let_time_pass(self, elapsed_ms: int) -> None:
        self.wait(elapsed_ms)

    def wait(self, elapsed_ms: int) -> None:
        self.now_ms += elapsed_ms
        for _ in range(elapsed_ms):
            self.reference.pass_millisecond()

    @rule(name=scopes)
    def settle(self, name: Name) -> None:
        self.manager.settle(self.manager.row_of(*name), self.now_ms)

    @invariant()
    def the_rows_say_what_the_reference_says(self) -> None:
        for name, scope in self.reference.scopes.items():
            at = self.manager.row_of(*name) * ROW_WIDTH
            cells = self.manager.buffer[at : at + ROW_WIDTH]
            used = [self.reference.used(name, d) for d in DIMENSIONS]
            assert list(cells[USED:LIMIT]) == used
            limit = [self.reference.limit(name, d) for d in DIMENSIONS]
            assert list(cells[LIMIT:GENERATION_USED]) == limit
            by_family = [self.reference.used(name, g) for g in GENERATIONS]
            assert list(cells[GENERATION_USED:GENERATION_LIMIT]) == by_family
            asks = any(self.reference.scopes[n].quota.burst for n in self.reference.around(name))
            assert cells[FLAGS] == asks + 2 * bool(scope.quota.gpu_generations)

    @invariant()
    def a_tenant_uses_no_less_than_its_projects_and_nobody_less_than_nothing(self) -> None:
        for tenant in ("a", "b"):
            inner = [n for n in SCOPES if n[0] == tenant and n[1] is not None]
            for place in (*range(USED, LIMIT), *range(GENERATION_USED, GENERATION_LIMIT)):
                parts = [self.cell(name, place) for name in inner]
                assert min(parts) >= 0
                assert self.cell((tenant, None), place) >= sum(parts)

    def cell(self, name: Name, place: int) -> int:
        return self.manager.buffer[self.manager.row_of(*name) * ROW_WIDTH + place]

    @invariant()
    def the_same_scopes_have_run_out_of_credit(self) -> None:
        told = self.manager.burst_exhausted(self.now_ms)
        event(f"overruns {len(told)}")
        seen = [(o.scope.tenant, o.scope.project, o.dimension, o.excess) for o in told]
        assert seen == self.reference.overruns()
        for tenant, project, *_ in seen:
            assert self.promised.get((tenant, project), 0) <= self.now_ms, "evicted too early"


TestQuota = QuotaMachine.TestCase
