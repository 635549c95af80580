"""Whether a project's quota stays within its tenant's: what a tenant's own people may set.

Rules:

- A limit is at most the tenant's on the same thing, with what the project's burst adds counted in.
  What the tenant has no limit on can be limited as one likes.
- A generation is at most the tenant's; one that the tenant's table does not list is 0 there.
- What a project's quota leaves out is no excess: the tenant's own row is asked at every request.
- Projects are not added up: several may be promised the same, and the tenant's row decides.

>>> from bailiwick.scheduler.quota_policy import ResourceLimit
>>> lab, few = Quota((ResourceLimit.gpu_count(8),)), Quota((ResourceLimit.gpu_count(4),))
>>> find_excess(few, lab) is None, find_excess(lab, few)
(True, QuotaExcess(word='gpu_count', wanted=8, most=4))
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bailiwick.scheduler.quota_policy import Quota, unit_of, units_up


@dataclass(frozen=True, slots=True)
class QuotaExcess:
    """What a project would be allowed more of than its tenant, and how much its tenant is."""

    word: str
    wanted: int
    most: int


def find_excess(inner: Quota, outer: Quota) -> QuotaExcess | None:
    """The first thing that the inner quota allows more of than the outer, if there is one."""
    return next(_excesses(inner, outer), None)


def _excesses(inner: Quota, outer: Quota) -> Iterator[QuotaExcess]:
    most = {each.dimension: each for each in outer.limits}
    for limit in inner.limits:
        bound, unit = most.get(limit.dimension), unit_of(limit.dimension)
        burst = inner.burst
        lent = burst.ceiling if burst is not None and burst.dimension is limit.dimension else 0
        if bound is not None and limit.amount + lent > bound.amount:
            wanted = units_up(limit.amount + lent, unit)
            yield QuotaExcess(limit.dimension.value, wanted, bound.limit)
    listed = {each.generation: each.count for each in outer.gpu_generations}
    for kind in inner.gpu_generations if listed else ():
        if kind.count > listed.get(kind.generation, 0):
            most_of = listed.get(kind.generation, 0)
            yield QuotaExcess(kind.generation.value, kind.count, most_of)
