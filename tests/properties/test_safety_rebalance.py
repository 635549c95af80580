"""Quotas that are lowered under running work: who goes, against a slow look at every lease."""

from __future__ import annotations

from collections.abc import Iterable, Set
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import (
    Envelope,
    Evict,
    Kernel,
    RebalanceQuota,
    SetQuota,
    State,
    Submit,
    Tick,
    decode,
    encode,
)
from bailiwick.kernel.fleet.rebalance_line import _room_for, _Surplus
from bailiwick.kernel.fleet.tries import ask_of
from bailiwick.kernel.snapshot import digest_of
from bailiwick.kernel.work.commands import Cancel
from bailiwick.scheduler.decision import Approved
from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.quota_policy import (
    GpuGenerationQuota,
    Quota,
    QuotaScope,
    ResourceLimit,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.excess import (
    HeldUnit,
    ScopeUnits,
    covers,
    find_excesses,
    take_within,
)
from bailiwick.vocab.errors import BailiwickError, Conflict
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, PreemptionReason, Priority
from tests.unit.kernel.desk import Desk, ask

HOPPER, BLACKWELL = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_BLACKWELL
OWNERS = (("a", None), ("a", "x"), ("a", "y"), ("b", None))
LONG, WAIT_MS = 10_000_000, 1_000
DEVICES = (GpuDevice(HOPPER), GpuDevice(HOPPER), GpuDevice(BLACKWELL))

submits = st.builds(
    lambda owner, **terms: Submit(ask(owner[0], project=owner[1], ttl_ms=LONG, **terms)),
    st.sampled_from(OWNERS),
    cpu_cores=st.integers(1, 4),
    gpu_milli=st.sampled_from((0, 0, 500, 1000)),
    lease_class=st.sampled_from(list(LeaseClass)),
    priority=st.sampled_from((Priority.LOW, Priority.NORMAL)),
    gang_size=st.sampled_from((1, 1, 1, 2)),
)


@st.composite
def quotas(draw: st.DrawFn) -> Quota:
    rows = [
        ResourceLimit.cpu_cores(draw(st.integers(0, 8))),
        ResourceLimit.gpu_count(draw(st.integers(0, 3))),
        ResourceLimit.lease_count(draw(st.integers(0, 5))),
    ]
    table = draw(st.sampled_from(((), (GpuGenerationQuota(HOPPER, 1),))))
    return Quota(tuple(draw(st.lists(st.sampled_from(rows), unique=True))), table)


settings = st.builds(lambda o, q: SetQuota(o[0], q, o[1]), st.sampled_from(OWNERS), quotas())
steps = st.lists(submits | submits | submits | settings, min_size=3, max_size=14)


def desk(**how: Any) -> Desk:
    nodes = [NodeCapacity(6, 10**6, gpus=DEVICES)] * 2
    return Desk(nodes=nodes, grace_ms=0, queue_max=1000, **how)


def run(d: Desk, commands: Iterable[Any]) -> None:
    for command in commands:
        try:
            d.do(command)
        except BailiwickError:
            continue


class Slow:
    """Every lease and every limit, counted anew."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.leases = {i: state.ledger.told(state.handle(i)) for i in state.leases}

    def covers(self, scope: tuple[str, str | None], lease_id: int) -> bool:
        lease = self.leases[lease_id]
        return lease.tenant == scope[0] and scope[1] in (None, lease.project)

    def amounts(self, lease_id: int) -> dict[str, int]:
        lease = self.leases[lease_id]
        found = {"cpu": lease.resources.cpu_milli, "gpu": lease.resources.gpu_milli, "leases": 1}
        if lease.gpu_generation is not None:
            found[lease.gpu_generation.value] = lease.resources.gpu_milli
        return found

    def limits(self, scope: tuple[str, str | None]) -> dict[str, int]:
        quota = self.state.quotas.quota_of(*scope)
        words = {"cpu_milli": "cpu", "gpu_count": "gpu", "lease_count": "leases"}
        found = {words[each.dimension.value]: each.amount for each in quota.limits}
        if quota.gpu_generations:
            found |= dict.fromkeys((HOPPER.value, BLACKWELL.value), 0)
            found |= {g.generation.value: g.count * 1000 for g in quota.gpu_generations}
        return found

    def over(
        self, scope: tuple[str, str | None], *, without: Set[int] = frozenset()
    ) -> dict[str, int]:
        if not self.state.quotas.has_quota(*scope):
            return {}
        used: dict[str, int] = {}
        for lease_id in self.leases:
            if self.covers(scope, lease_id) and lease_id not in without:
                for word, amount in self.amounts(lease_id).items():
                    used[word] = used.get(word, 0) + amount
        limits = self.limits(scope)
        return {w: used[w] - limits[w] for w in limits if used.get(w, 0) > limits[w]}

    def units(self, scope: tuple[str, str | None]) -> list[set[int]]:
        """Gangs and single leases of the scope that may go."""
        found: dict[Any, set[int]] = {}
        for lease_id, lease in self.leases.items():
            if self.covers(scope, lease_id):
                key = ("gang", lease.gang) if lease.gang is not None else lease_id
                found.setdefault(key, set()).add(lease_id)
        guaranteed = LeaseClass.GUARANTEED
        return [
            unit
            for unit in found.values()
            if all(self.leases[i].lease_class is not guaranteed for i in unit)
        ]


@given(steps, st.sampled_from(OWNERS))
def test_by_command_just_those_go_whose_end_brings_the_scope_inside(
    commands: list[Any], scope: tuple[str, str | None]
) -> None:
    d = desk()
    run(d, commands)
    slow = Slow(d.state)
    over, units = slow.over(scope), slow.units(scope)
    helpful = [u for u in units if any(slow.amounts(i).get(w) for i in u for w in over)]
    try:
        d.do(RebalanceQuota(*scope))
    except Conflict:
        assert not over or not helpful
        return
    gone = slow.leases.keys() - d.state.leases.keys()
    chosen = [unit for unit in units if unit & gone]
    assert gone == set().union(*chosen)  # its own, whole gangs, and nothing guaranteed
    left = slow.over(scope, without=gone)
    for word in left:  # only where nobody is left who could go for it
        rest = [unit for unit in units if not unit & gone]
        assert not any(slow.amounts(i).get(word) for unit in rest for i in unit)
    for unit in chosen:  # without any of them it would be above by more
        more = slow.over(scope, without=gone - unit)
        assert any(more.get(w, 0) > left.get(w, 0) for w in more)


@given(steps, st.integers(1, 4), st.sampled_from((0, 500, 1000)))
def test_by_time_who_waited_starts_in_the_place_of_those_above_their_quota(
    commands: list[Any], cpus: int, milli: int
) -> None:
    d = desk(rebalance_ms=WAIT_MS)
    run(d, commands)
    d.do(Submit(ask("late", cpu_cores=cpus, gpu_milli=milli, ttl_ms=LONG)))
    d.tick()
    for _ in range(3):
        _tick_and_check(d)


def _tick_and_check(d: Desk) -> None:
    before = Kernel(decode(encode(d.state), d.digest), d.kernel.chain.anchor(), simulated=True)
    slow = Slow(before.state)
    d.tick(d.now_ms + WAIT_MS)
    gone = {
        r.body["lease_id"]
        for r in d.last
        if r.kind == "lease_preempted" and r.body["reason"] == "quota_rebalance"
    }
    if not gone:
        return
    approved = [r.body for r in d.last if r.kind == "admission_approved" and "entry_id" in r.body]
    (entry_id,) = {
        r.body["preemptor_entry_id"]
        for r in d.last
        if r.kind == "lease_preempted" and r.body["lease_id"] in gone
    }
    assert entry_id in [body["entry_id"] for body in approved]
    request = before.state.entry(entry_id).request
    others = [s for s in OWNERS if not _counts(s, request.tenant, request.project)]
    units = [u for tenant in "ab" for u in slow.units((tenant, None)) if u & gone]
    assert gone == set().union(*units)
    assert any(_each_relieves(slow, others, order) for order in permutations(units))
    for unit in units:
        assert not _would_start(before, gone - unit, request, d.now_ms)


def _counts(scope: tuple[str, str | None], tenant: str, project: str | None) -> bool:
    return scope[0] == tenant and scope[1] in (None, project)


def _each_relieves(slow: Slow, scopes: list[Any], order: tuple[set[int], ...]) -> bool:
    """Whether, one after the other, each goes while its scope is above by something it holds."""
    gone: set[int] = set()
    for unit in order:
        mine = [scope for scope in scopes if all(slow.covers(scope, i) for i in unit)]
        over = {word for scope in mine for word in slow.over(scope, without=gone)}
        if not any(slow.amounts(i).get(word) for i in unit for word in over):
            return False
        gone |= unit
    return True


def _would_start(before: Kernel, gone: set[int], request: Any, now_ms: int) -> bool:
    """Whether the request would start if only these had gone."""
    state = decode(encode(before.state), digest_of(before.state))
    kernel = Kernel(state, before.chain.anchor(), simulated=True)
    if gone:
        reason = PreemptionReason.QUOTA_REBALANCE
        kernel.execute(Envelope(Evict(tuple(sorted(gone)), reason, 0), "t", "t"), now_ms)
    return isinstance(kernel.state.admission.evaluate(request, now_ms=now_ms), Approved)


class SlowSurplus:
    """The units above quotas, one after the other, each looked at for each request."""

    def __init__(self, state: State, now_ms: int) -> None:
        self.state = state
        self.rests: dict[QuotaScope, list[int]] = {}
        found: dict[int, HeldUnit] = {}
        for excess in find_excesses(state.quotas):
            number = state.ids.__getitem__
            held = ScopeUnits(state.ledger, excess.scope, number=number, now_ms=now_ms)
            rest = held.rest_of(excess)
            if any(rest):
                self.rests[excess.scope] = rest
                counts = [
                    u
                    for u in held.units
                    if any(a and r for a, r in zip(u.amounts, rest, strict=True))
                ]
                found |= {u.number: u for u in counts}
        self.units = sorted(found.values(), key=lambda unit: (unit.cost, unit.number))

    def groups(self, request: PlacementRequest) -> list[list[HeldUnit]]:
        owner = QuotaScope(request.tenant, request.project)
        rests = {scope: rest for scope, rest in self.rests.items() if not covers(scope, owner)}
        nodes: dict[str, list[HeldUnit]] = {}
        for unit in self.units:
            if any(covers(scope, unit.scope) for scope in rests):
                for node in unit.nodes:
                    if self.serves(node, request):
                        nodes.setdefault(node, []).append(unit)
        if request.gang_size > 1:
            useful = {unit.number for units in nodes.values() for unit in units}
            return [take_within([unit for unit in self.units if unit.number in useful], rests)]
        return [take_within(units, rests) for units in nodes.values()]

    def serves(self, node: str, request: PlacementRequest) -> bool:
        entry, shape = self.state.ledger.entry(node), Shape.of(request)
        return entry.takes_leases and len(self.state.ledger.serving(entry, shape)) >= (
            shape.device_count
        )


@given(steps, st.lists(submits, max_size=4))
def test_who_asks_for_the_same_gets_the_same_answer_and_as_a_slow_look_gives(
    commands: list[Any], more: list[Any]
) -> None:
    d = desk()
    run(d, [*commands, *more, *more])
    state, now_ms = d.state, d.now_ms
    surplus = _Surplus(state, find_excesses(state.quotas), now_ms)
    slow, answers = SlowSurplus(state, now_ms), dict[Any, Any]()
    for entry in list(state.line.entries.values()):
        request = entry.request
        fast = sorted([u.number for u in units] for units in surplus.groups(request))
        assert fast == sorted([u.number for u in units] for units in slow.groups(request))
        assert surplus.might_serve(request) is any(slow.groups(request))
        if entry.id not in state.claims and entry.id not in state.line.promises:
            room = _room_for(state, entry, surplus, now_ms=now_ms)
            assert answers.setdefault(ask_of(request), room) == room


@given(steps, st.integers(1, 4), st.lists(st.integers(0, 3), max_size=6))
def test_who_can_be_helped_is_however_many_others_cannot(
    commands: list[Any], cpus: int, hopeless: list[int]
) -> None:
    d, alone = desk(rebalance_ms=WAIT_MS), desk(rebalance_ms=WAIT_MS)
    late = Submit(ask("late", cpu_cores=cpus, ttl_ms=LONG))
    for each, before in ((d, hopeless), (alone, [])):
        run(each, commands)
        for entry in list(each.state.line.entries):
            each.do(Cancel(entry))
        for number in before:  # of a tenant of its own, which has no room for so many devices
            each.do(Submit(ask("big", cpu_cores=6, gpu_milli=number * 250, gang_size=3)))
        each.do(late)
        for _ in range(2 + len(before)):
            each.tick(each.now_ms + WAIT_MS)
    starts = [
        [r for r in each.of_kind("admission_approved") if r.tenant == "late"] for each in (d, alone)
    ]
    assert bool(starts[0]) is bool(starts[1])


def test_the_slow_look_sees_a_scope_above_its_quota() -> None:
    d = desk()
    run(d, [Submit(ask("b", cpu_cores=2, ttl_ms=LONG)) for _ in range(2)])
    d.do(SetQuota("b", Quota((ResourceLimit.cpu_cores(3),))))
    assert Slow(d.state).over(("b", None)) == {"cpu": 1000}
    with pytest.raises(Conflict):
        d.do(RebalanceQuota("a"))
    d.do(Tick())
