"""What is foreseen is what happens, and foreseeing changes nothing: drains, quotas, what-ifs.

The reference is naive: the journal is replayed into a second kernel, the change is really made
there by its commands, time is looked at, and what became of everybody is read off.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from bailiwick.kernel import Cancel, ChangeMode, Kernel, RegisterNode, SetQuota, Submit, Tick
from bailiwick.kernel.answers import Granted, Queued, Refused
from bailiwick.kernel.fleet.foresight import foresee_mode
from bailiwick.kernel.snapshot import digest_of, encode
from bailiwick.kernel.views import fleet
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.words import Dimension, HardwareGeneration
from bailiwick.whatif import entry_trial as et
from bailiwick.whatif.scope_trial import try_on_scope
from bailiwick.whatif.trial import TICKS, StateTrial
from tests.support.kernel_histories import AMPERE, HOPPER, TENANTS, Campus, busy_journal, node

SEEDS = range(8)


def again(campus: Campus) -> Campus:
    """Another kernel that was told the same records."""
    kernel = Kernel(simulated=True)
    kernel.follow(campus.records, campus.kernel.chain.anchor())
    return Campus(campus.now_ms, kernel)


def moments(seed: int) -> list[Campus]:
    """A busy campus where somebody waits; none if nobody does."""
    campus = busy_journal(seed, steps=60)
    return [campus] if campus.kernel.state.line.entries else []


def trial_of(campus: Campus) -> StateTrial:
    return StateTrial(encode(campus.kernel.state), now_ms=campus.now_ms)


def look(campus: Campus) -> None:
    for _ in range(TICKS):
        campus.do(Tick(), "kernel")


# -- drains ----------------------------------------------------------------------------------


def test_whom_a_drain_would_end_it_ends_and_the_room_is_what_is_left() -> None:
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        campus, chance = busy_journal(seed, steps=60), Random(seed)
        for name in sorted(map(str, campus.kernel.state.ledger.entries)):
            if campus.kernel.state.ledger.entry(name).mode is not NodeMode.ACCEPTING:
                continue
            other = again(campus)
            for entry_id in sorted(other.kernel.state.line.entries):
                other.do(Cancel(entry_id))  # nobody takes what becomes free meanwhile
            grace_ms = chance.choice((None, 0, 5_000))
            change = ChangeMode(
                name, NodeMode.DRAINING, grace_ms=grace_ms, evict=chance.random() < 0.8
            )
            state, before = other.kernel.state, digest_of(other.kernel.state)
            active = {i for i in state.leases if state.phase(i) is RevokeState.ACTIVE}
            on_it, terms = set(state.leases_on(name)), len(state.leases)
            found = foresee_mode(state, change, now_ms=other.now_ms)
            assert digest_of(state) == before
            other.do(change)
            gone = {i for i in active if i not in state.leases}
            warned = {i for i in active - gone if state.phase(i) is not RevokeState.ACTIVE}
            assert found.leaving == len(gone | warned)
            assert {each.lease_id for each in found.told} == gone | warned
            assert found.elsewhere == len((gone | warned) - on_it)
            assert found.staying == len(on_it) - len((gone | warned) & on_it)
            for each in found.told:
                if each.lease_id in warned:
                    assert state.fields(each.lease_id).expires_ms == each.until_ms
            assert terms >= found.leaving
            seen["evicting" if found.leaving else "closing"] += 1
            seen["gangs"] += found.gangs
            if found.leaving and not state.settings.confirm_teardown and len(gone) == found.leaving:
                free = {row.generation: row.free_milli for row in fleet(state).generations}
                assert {r.generation: r.free_after_milli for r in found.room} == {
                    r.generation: free[r.generation] for r in found.room
                }
                seen["room"] += 1
    assert min(seen[word] for word in ("evicting", "closing", "gangs", "room")) >= 3, seen


# -- quotas ----------------------------------------------------------------------------------


def test_who_would_start_under_another_quota_starts() -> None:
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        for campus in moments(seed):
            for tenant, limit in ((each, limit) for each in TENANTS for limit in (0, 6, 60)):
                change = SetQuota(tenant, Quota((ResourceLimit.gpu_count(limit),)))
                before = digest_of(campus.kernel.state)
                scope = et.QuotaScope.of(tenant)
                found = try_on_scope(trial_of(campus), change, scope=scope)
                assert digest_of(campus.kernel.state) == before, "a trial changes nothing"
                other = again(campus)
                state = other.kernel.state
                mine = {i for i, e in state.line.entries.items() if e.request.tenant == tenant}
                active = {i for i in state.leases if state.phase(i) is RevokeState.ACTIVE}
                owners = {i: state.owner_of(i).tenant for i in active}
                other.do(change)
                other.lines.clear()
                look(other)
                kinds = [(r.kind, dict(r.body)) for r in other.records]
                began = {b["entry_id"] for k, b in kinds if k == "admission_approved"}
                warned = {
                    b["lease_id"]
                    for k, b in kinds
                    if k == "lease_revoked" and b["before"] == "active" and b.get("reason")
                }
                assert found.starts.count == len(began & mine)
                assert set(found.starts.first) <= began
                assert found.ends.count == sum(owners[i] == tenant for i in warned)
                assert found.others_end == sum(owners[i] != tenant for i in warned)
                seen["starts"] += found.starts.count
                seen["hopeless"] += found.hopeless.count
    assert min(seen[word] for word in ("starts", "hopeless")) >= 3, seen


# -- what if ---------------------------------------------------------------------------------


def naive(campus: Campus, entry_id: int, supposed: et.Supposed) -> str:
    """What becomes of the entry once the change was really made."""
    state = campus.kernel.state
    request = state.entry(entry_id).request
    kind = supposed.generation or request.generation
    for project in {None, request.project}:
        quota = state.quotas.quota_of(request.tenant, project)
        more = supposed.quota.get(Dimension.GPU_COUNT, 0)
        limits = tuple(
            ResourceLimit(e.dimension, e.limit + more * (e.dimension is Dimension.GPU_COUNT))
            for e in quota.limits
        )
        changed = Quota(limits, quota.gpu_generations, quota.burst, quota.ceiling)
        if changed != quota:
            campus.do(SetQuota(request.tenant, changed, project))
    if supposed.nodes:
        open_ones = [e for e in state.ledger.entries.values() if e.takes_leases]
        kinds = Counter(
            gpus[0].generation
            for each in open_ones
            if (gpus := each.capacity.gpus) and kind in (None, gpus[0].generation)
        )
        if kinds:
            for number in range(supposed.nodes):
                like = node(8, generation=kinds.most_common(1)[0][0])
                campus.do(RegisterNode(f"whatif-{number + 1}", like))
    answer: object = None
    if supposed.generation not in (None, request.generation):
        campus.do(Cancel(entry_id))
        terms = {name: getattr(request, name) for name in _TERMS}
        wish = PlacementRequest(**terms, generation=kind)
        answer = campus.do(Submit(wish), "user")
        match answer:
            case Refused():
                return "refused"
            case Granted():
                return "starts"
            case Queued():
                entry_id = answer.entry_id
    waits_until = state.entry(entry_id).request.deadline_ms
    look(campus)
    if entry_id in state.line.entries:
        return "waits"
    overdue = waits_until is not None and waits_until < campus.now_ms
    return "ends" if overdue else "starts"


_TERMS = (
    "tenant", "project", "cpu_cores", "mem_bytes", "gpu_count", "priority", "lease_class",
    "gang_size", "ttl_ms", "deadline_ms",
)  # fmt: skip
_WORDS = {
    et.WouldStart: "starts",
    et.WouldWait: "waits",
    et.WouldBeRefused: "refused",
    et.WouldEnd: "ends",
}


def test_what_would_become_of_a_request_becomes_of_it_once_the_change_is_made() -> None:
    seen: Counter[str] = Counter()
    helped = 0
    for seed in range(16):
        for campus in moments(seed):
            chance, before = Random(seed), digest_of(campus.kernel.state)
            for entry_id in sorted(campus.kernel.state.line.entries)[:6]:
                request = campus.kernel.state.entry(entry_id).request
                other: tuple[HardwareGeneration | None, ...] = (None, HOPPER, AMPERE)
                supposed = et.Supposed(
                    quota={Dimension.GPU_COUNT: chance.choice((0, 8, 64))},
                    nodes=chance.choice((0, 0, 1, 3)),
                    generation=chance.choice(other),
                )
                found = et.try_entry(trial_of(campus), entry_id, supposed=supposed)
                wanted = naive(again(campus), entry_id, supposed)
                assert _WORDS[type(found.outcome)] == wanted, (seed, entry_id, supposed, request)
                plain = et.try_entry(trial_of(campus), entry_id, supposed=et.Supposed())
                helped += wanted == "starts" and not isinstance(plain.outcome, et.WouldStart)
                seen[wanted] += 1
            assert digest_of(campus.kernel.state) == before, "a trial changes nothing"
    assert min(seen[word] for word in ("starts", "waits")) >= 5, seen
    assert helped >= 3, "what is supposed makes a difference"


def test_what_cannot_be_supposed_is_refused_before_anything_is_copied() -> None:
    for terms in ({"nodes": 65}, {"nodes": -1}, {"quota": {Dimension.GPU_COUNT: -1}}):
        with pytest.raises(BailiwickError):
            et.Supposed(**terms)  # type: ignore[arg-type]
