"""The order of the waiting line, written for reading: everybody is sorted anew at every look."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from bailiwick.scheduler.backfill.lanes import Aging
from bailiwick.scheduler.fairness import SHARE_MAX, FairShares, QueueEntry, Scope, expected_usage
from bailiwick.vocab.words import PRIORITIES


def naive_rank(entry: QueueEntry, aging: Aging, now_ms: int) -> int:
    """The rank of its priority, one higher for each whole step waited, within the bounds."""
    rank = entry.request.priority.rank
    for step in range(1, aging.steps_max + 1):
        waited = now_ms - entry.submitted_ms >= step * aging.step_ms
        if waited and entry.request.priority.rank + step <= aging.ceiling.rank:
            rank += 1
    return rank


def naive_refresh(tenant: str, *, half_life_ms: int, now_ms: int) -> int:
    """When usage was last refreshed: ten minutes or a hundredth of a half-life after another."""
    every_ms = max(min(600_000, half_life_ms // 100), 1)
    moment_ms = zlib.crc32(tenant.encode()) % every_ms
    return max(t for t in range(now_ms - every_ms + 1, now_ms + 1) if t % every_ms == moment_ms)


def naive_order(
    entries: Iterable[QueueEntry],
    shares: FairShares,
    *,
    aging: Aging,
    now_ms: int,
    front: Mapping[int, Sequence[QueueEntry]],
    changed_ms: Mapping[Scope, int],
) -> Iterator[QueueEntry]:
    """Each time, of all that are left at the highest rank, the one whose turn it is.

    Usage counts as of when the scope's last changed, as told, or its tenant's was refreshed.
    """
    used: dict[Scope, int] = {}
    known: dict[Scope, tuple[int, int]] = {}

    def normalised(scope: Scope) -> int:
        if scope not in known:
            half_life_ms = shares.half_life_ms
            at_ms = naive_refresh(scope[0], half_life_ms=half_life_ms, now_ms=now_ms)
            at_ms = max(at_ms, changed_ms.get(scope, 0))
            known[scope] = shares.share_and_usage(scope, at_ms)
        share, usage = known[scope]
        return (usage + used.get(scope, 0)) * SHARE_MAX // share

    def key(entry: QueueEntry) -> tuple[int, ...]:
        return entry.submitted_ms, entry.id

    ahead = {entry.id for placed in front.values() for entry in placed}
    left = {entry.id: entry for entry in entries if entry.id not in ahead}
    for rank in reversed(range(len(PRIORITIES))):
        waiting = list(front.get(rank, ()))
        here = [e for e in left.values() if naive_rank(e, aging, now_ms) == rank]
        while waiting or here:
            if waiting:
                entry = waiting.pop(0)
            else:
                entry = _first(here, normalised, key)
                here.remove(entry)
            yield entry
            tenant, project = entry.request.tenant, entry.request.project or ""
            for scope in ((tenant,), (tenant, project)):
                used[scope] = used.get(scope, 0) + expected_usage(entry.request)


def _first(
    here: list[QueueEntry],
    normalised: Callable[[Scope], int],
    key: Callable[[QueueEntry], tuple[int, ...]],
) -> QueueEntry:
    """Each project's oldest; of those each tenant's that is owed most; of those the first."""
    projects: dict[Scope, QueueEntry] = {}
    for entry in sorted(here, key=key):
        scope = (entry.request.tenant, entry.request.project or "")
        projects.setdefault(scope, entry)
    tenants: dict[Scope, QueueEntry] = {}
    for scope in sorted(projects, key=lambda s: (normalised(s), *key(projects[s]))):
        tenants.setdefault(scope[:1], projects[scope])
    best = min(tenants, key=lambda s: (normalised(s), *key(tenants[s])))
    return tenants[best]
