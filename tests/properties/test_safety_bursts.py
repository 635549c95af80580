"""Who is above a limit with no credit left is told as by a look at every row, and goes."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from bailiwick import PlacementRequest
from bailiwick.kernel import (
    Cancel,
    ChangeSettings,
    Release,
    Renew,
    SetQuota,
    State,
    Submit,
    decode,
    encode,
)
from bailiwick.scheduler.burst import BurstOverrun
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import BurstCredit, Quota, ResourceLimit
from bailiwick.scheduler.rights.excess import find_excesses
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.transitions import RevokeState
from bailiwick.vocab.words import Dimension, LeaseClass, Priority
from tests.unit.kernel.desk import Desk, ask, cores


def naive(quotas: QuotaManager, now_ms: int) -> tuple[BurstOverrun, ...]:
    """Row by row."""
    table, bursts = quotas._table, quotas._bursts
    views = [table.view(table.scopes[row]) for row in sorted(bursts._buckets)]
    found = (bursts.overrun(view, now_ms) for view in views)
    return tuple(each for each in found if each is not None)


@pytest.mark.parametrize("seed", range(10))
def test_overruns_are_those_of_a_look_at_every_row(seed: int) -> None:
    rng, quotas, now_ms, told = random.Random(seed), QuotaManager(), 0, 0
    held: list[PlacementRequest] = []
    for _ in range(400):
        tenant, project = rng.choice("abc"), rng.choice([None, "p"])
        dice = rng.random()
        if dice < 0.15:
            burst = BurstCredit(Dimension.CPU_MILLI, rng.choice([1, 50, 2_000]), 10, 9_000)
            limit = ResourceLimit(Dimension.CPU_MILLI, rng.choice([1_000, 4_000]))
            quota = Quota((limit,), burst=rng.choice([None, burst, burst]))
            quotas.set_quota(tenant, quota, project=project, now_ms=now_ms)
        elif dice < 0.45:
            owner: dict[str, Any] = {"tenant": tenant, "project": project}
            request = PlacementRequest(cpu_cores=1, **owner)
            quotas.record_alloc(request, now_ms=now_ms)
            held.append(request)
        elif dice < 0.65 and held:
            quotas.record_free(held.pop(rng.randrange(len(held))), now_ms=now_ms)
        else:
            now_ms += rng.choice([0, 10, 400, 5_000])
        if rng.random() < 0.5:
            expected = naive(quotas, now_ms)
            assert quotas.burst_exhausted(now_ms) == expected
            told += bool(expected)
    assert told > 5


# --- what credit does not carry -----------------------------------------------------------------

SCOPES = (("a", None), ("a", "x"), ("b", None))
LONG = 10**9


def credited(rng: random.Random) -> Quota:
    """So many cores or leases, and credit that is soon gone."""
    dimension = rng.choice([Dimension.CPU_MILLI, Dimension.LEASE_COUNT])
    unit = 1_000 if dimension is Dimension.CPU_MILLI else 1
    most = rng.randint(1, 6) * unit
    burst = BurstCredit(dimension, rng.choice([1, 4, 30]) * unit, rng.choice([0, unit]), 4 * unit)
    return Quota((ResourceLimit(dimension, most),), burst=burst)


def held(state: State, scope: tuple[str, str | None], dimension: Dimension, *, firm: bool) -> int:
    """What the leases of a scope add up to, or the guaranteed ones of them."""
    leases = [state.ledger.told(state.handle(i)) for i in state.leases]
    mine = [x for x in leases if x.tenant == scope[0] and scope[1] in (None, x.project)]
    counted = [x for x in mine if not firm or x.lease_class is LeaseClass.GUARANTEED]
    by_core = dimension is Dimension.CPU_MILLI
    return sum(x.resources.cpu_milli if by_core else 1 for x in counted)


def step(d: Desk, rng: random.Random) -> None:
    """One thing that a tenant or an operator does."""
    (tenant, project), dice = rng.choice(SCOPES), rng.random()
    if dice < 0.5:
        request = ask(
            tenant,
            project=project,
            cpu_cores=rng.randint(1, 3),
            gang_size=rng.choice([1, 1, 2]),
            lease_class=rng.choice([LeaseClass.GUARANTEED, *LeaseClass]),
            priority=rng.choice([Priority.NORMAL, Priority.HIGH]),
            ttl_ms=rng.choice([LONG, LONG, 20_000]),
        )
        d.do(Submit(request, wait=rng.random() < 0.5))
    elif dice < 0.65:
        # Not below what is guaranteed: that alone would be above, and would stay.
        quota = credited(rng)
        dimension = quota.limits[0].dimension
        least = held(d.state, (tenant, project), dimension, firm=True)
        limit = ResourceLimit(dimension, max(least, quota.limits[0].amount))
        d.do(SetQuota(tenant, Quota((limit,), burst=quota.burst), project))
    elif dice < 0.75 and d.state.leases:
        d.do(Release(rng.choice(sorted(d.state.leases))))
    elif dice < 0.85 and d.state.leases:
        d.do(Renew(rng.choice(sorted(d.state.leases)), LONG))
    elif dice < 0.9:
        least_ms = rng.choice([0, 500, 2_000, 60_000])
        d.do(ChangeSettings(replace(d.state.settings, burst_min_run_ms=least_ms)))
    elif dice < 0.95 and d.state.line.entries:
        d.do(Cancel(rng.choice(sorted(d.state.line.entries))))


def run_dry(state: State, now_ms: int) -> list[tuple[tuple[str, str | None], Dimension, int]]:
    """The scopes whose credit is gone, none of whose leases is leaving: what credit, what limit."""
    found = []
    for scope, quota, bucket in state.quotas.settings():
        if quota.burst is None or bucket is None:
            continue
        name = (scope.tenant, scope.project)
        leases = [state.ledger.told(state.handle(i)) for i in state.leases]
        mine = [x for x in leases if x.tenant == scope.tenant and name[1] in (None, x.project)]
        is_gone = not state.quotas.bursts.has_credit(state.quotas.table.view(scope), now_ms)
        if is_gone and all(x.state is RevokeState.ACTIVE for x in mine):
            limits = {each.dimension: each.amount for each in quota.limits}
            found.append((name, quota.burst.dimension, limits[quota.burst.dimension]))
    return found


@pytest.mark.parametrize("seed", range(24))
def test_with_credit_gone_and_nobody_leaving_no_scope_is_above_its_limit(seed: int) -> None:
    rng, seen = random.Random(seed), 0
    d = Desk(nodes=[cores(9), cores(9)], grace_ms=rng.choice([0, 400]), burst_min_run_ms=0)
    for scope in SCOPES:
        d.do(SetQuota(scope[0], credited(rng), scope[1]))
    for _ in range(120):
        with suppress(BailiwickError):
            step(d, rng)
        d.tick(d.now_ms + rng.choice([0, 10, 300, 3_000]))
        for scope, dimension, limit in run_dry(d.state, d.now_ms):
            assert held(d.state, scope, dimension, firm=False) <= limit
            seen += 1
        anew = decode(encode(d.state), d.digest)
        assert find_excesses(anew.quotas) == find_excesses(d.state.quotas)
    assert seen
