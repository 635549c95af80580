"""Who is above a limit with no credit left is told as by a look at every row."""

from __future__ import annotations

import random
from typing import Any

import pytest

from bailiwick import PlacementRequest
from bailiwick.scheduler.burst import BurstOverrun
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import BurstCredit, Quota, ResourceLimit
from bailiwick.vocab.words import Dimension


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
