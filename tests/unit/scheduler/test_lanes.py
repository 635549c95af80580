"""A line that is kept sorted stands as one that is sorted anew, and is not weighed for nothing."""

from __future__ import annotations

import random
from itertools import islice

import pytest

from bailiwick.kernel.work.usage import RunningShares
from bailiwick.scheduler.backfill.lanes import Aging, Lanes
from bailiwick.scheduler.fairness import REFRESH_MS, QueueEntry, Scope
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import TenantId
from tests.support.naive_line import naive_order

NEVER = Aging(step_ms=1, steps_max=0)
ROUND_MS = 200
WEEK_MS = 604_800_000


class CountedShares(RunningShares):
    """Shares that tell how often a place was weighed."""

    weighed = 0

    def share_and_usage_in_line(self, scope: Scope, now_ms: int) -> tuple[int, int]:
        self.weighed += 1
        return super().share_and_usage_in_line(scope, now_ms)


def waiting(number: int, *, tenants: int, project: str | None = None) -> QueueEntry:
    tenant = TenantId(f"t{number % tenants}")
    ask = PlacementRequest(tenant=tenant, project=project, cpu_cores=16, ttl_ms=1_000)
    return QueueEntry(number, ask, number)


def lanes_of(shares: RunningShares, entries: list[QueueEntry]) -> Lanes:
    lanes = Lanes(shares, NEVER)
    for entry in entries:
        lanes.join(entry)
    return lanes


@pytest.mark.parametrize("back", [False, True])
def test_the_order_is_the_same_whenever_it_was_read_before(back: bool) -> None:
    chance, shares = random.Random(7), RunningShares(100 * ROUND_MS)
    entries = [waiting(n, tenants=12) for n in range(12)]
    changed_ms: dict[Scope, int] = {}
    for entry in entries:
        at_ms = chance.randrange(ROUND_MS)
        shares.change(entry.request.tenant, None, rate=chance.randrange(90, 110), now_ms=at_ms)
        shares.charge(entry.request.tenant, chance.randrange(9_000), now_ms=at_ms)
        changed_ms[(entry.request.tenant,)] = at_ms
    lanes = lanes_of(shares, entries)
    times, now_ms = list[int](), ROUND_MS
    for _ in range(60):
        now_ms += chance.choice([1, 30, 90, ROUND_MS - 1, ROUND_MS, ROUND_MS + 30])
        times.append(now_ms)
    found = set()
    for at_ms in reversed(times) if back else times:
        order = tuple(entry.id for entry in lanes.order(at_ms, {}))
        expected = naive_order(
            entries, shares, aging=NEVER, now_ms=at_ms, front={}, changed_ms=changed_ms
        )
        assert order == tuple(entry.id for entry in expected)
        found.add(order)
    assert len(found) > 20


def test_another_half_life_sorts_the_line_anew() -> None:
    shares = RunningShares(WEEK_MS)
    entries = [waiting(n, tenants=8) for n in range(8)]
    for entry in entries:
        shares.charge(entry.request.tenant, 1_000 - entry.id, now_ms=entry.id * 100)
    lanes = lanes_of(shares, entries)
    before = list(lanes.order(10_000, {}))
    shares.half_life_ms = 1_000
    after = list(lanes.order(10_000, {}))
    assert after == list(lanes_of(shares, entries).order(10_000, {})) != before


def test_whoever_leaves_is_found_by_the_moment_it_had_before_the_half_life_changed() -> None:
    shares = RunningShares(1_000)
    entries = [waiting(n, tenants=8) for n in range(8)]
    lanes = lanes_of(shares, entries)
    shares.half_life_ms = WEEK_MS
    for entry in entries:
        lanes.leave(entry)
    assert list(lanes.order(10_000, {})) == []


def test_a_line_cannot_be_read_before_time_began() -> None:
    with pytest.raises(InvalidValue, match="now_ms"):
        lanes_of(RunningShares(WEEK_MS), []).order(-1, {})


# --- what it costs ------------------------------------------------------------------------------


def test_reading_weighs_only_whose_usage_changed_or_is_due() -> None:
    shares, tenants = CountedShares(WEEK_MS), 600
    lanes = lanes_of(shares, [waiting(n, tenants=tenants) for n in range(tenants)])
    for _ in lanes.order(0, {}):
        pass
    assert shares.weighed == tenants
    for _ in range(3):
        list(islice(lanes.order(0, {}), 64))
    assert shares.weighed == tenants
    shares.change("t5", None, rate=1, now_ms=0)
    shares.change("nobody", None, rate=1, now_ms=0)
    list(islice(lanes.order(0, {}), 64))
    assert shares.weighed == tenants + 1
    # Moments are spread evenly: in each second it is one tenant's in six hundred, or few.
    most = 0
    for now_ms in range(1_000, REFRESH_MS + 1, 1_000):
        before = shares.weighed
        list(islice(lanes.order(now_ms, {}), 64))
        most = max(most, shares.weighed - before)
    assert shares.weighed == 2 * tenants + 1
    assert most <= 8


def test_a_joining_entry_does_not_have_its_tenant_weighed_again() -> None:
    shares = CountedShares(WEEK_MS)
    lanes = lanes_of(shares, [waiting(n, tenants=5) for n in range(20)])
    next(lanes.order(0, {}))
    joined = waiting(20, tenants=5)
    lanes.join(joined)
    next(lanes.order(0, {}))
    lanes.leave(joined)
    next(lanes.order(0, {}))
    assert shares.weighed == 5


def test_projects_are_weighed_only_where_there_are_several() -> None:
    shares = CountedShares(WEEK_MS)
    lanes = lanes_of(shares, [waiting(n, tenants=1, project="p") for n in range(3)])
    next(lanes.order(0, {}))
    assert shares.weighed == 1
    lanes.join(waiting(3, tenants=1, project="q"))
    next(lanes.order(0, {}))
    assert shares.weighed == 3


def test_how_many_stand_ahead_at_least_is_known_without_reading_the_order() -> None:
    each_its_own = [waiting(number, tenants=300) for number in range(300)]
    lanes = lanes_of(RunningShares(WEEK_MS), each_its_own)
    assert [lanes.least_ahead(entry, 1_000) for entry in each_its_own] == list(range(300))
    of_few = [waiting(number, tenants=3) for number in range(300)]
    lanes = lanes_of(RunningShares(WEEK_MS), of_few)
    # Those of its own tenant that came before it are ahead, whatever the others do.
    assert lanes.least_ahead(of_few[299], 1_000) == 101
