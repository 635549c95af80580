"""Lanes: waiting work by rank and tenant, kept sorted as entries come and go, merged when read.

Rules:

- Order: rank, then lowest ``normalised``, then time of submission, then id. An entry once ordered
  counts as used by its tenant and project (``expected_usage``), so tenants take turns and one with
  many requests does not fill the head of the line with them.
- An entry's rank is that of its priority, raised by one with every ``step_ms`` that it has waited,
  within the bounds of :class:`Aging`. It says where the entry stands, and nothing else: never whom
  it may evict.
- Usage is taken as it was last refreshed (:mod:`bailiwick.scheduler.fairness`). So tenants stand
  sorted at each rank, and only those are moved who come, go, are raised, or whose share or usage
  changed or is due to be refreshed since the line was last read.
- Nothing here is decided by what was read before: the order follows from who waits, shares, usage
  and time alone, and may be read at any time, an earlier one than before too. Only when aging or
  the half-life changes is everybody sorted anew.
- Joining and leaving cost a search in a sorted list. So does moving a tenant. Reading costs one
  step for each entry that is read, however many wait (:mod:`.fair_order`).
- Nobody may join or leave, and no time may pass, while an order is being read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

from bailiwick.scheduler.backfill.fair_order import FairOrder
from bailiwick.scheduler.backfill.waiting_tenants import (
    Aged,
    Place,
    WaitingTenant,
    aged,
    take_out,
)
from bailiwick.scheduler.fairness import FairShares, QueueEntry
from bailiwick.vocab.values import check_amount, check_integer, check_kind
from bailiwick.vocab.words import PRIORITIES, Priority

_first = itemgetter(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aging:
    """How waiting raises an entry: by one priority a step, so many steps, no higher than that."""

    step_ms: int
    steps_max: int
    ceiling: Priority = Priority.HIGH

    def __post_init__(self) -> None:
        check_integer("step_ms", self.step_ms, low=1, high=2**53)
        check_integer("steps_max", self.steps_max, low=0, high=len(PRIORITIES) - 1)
        check_kind("ceiling", self.ceiling, Priority)

    def steps(self, entry: QueueEntry, now_ms: int) -> int:
        """By how much the entry stands higher than its priority for having waited."""
        most = self.steps_of(entry.request.priority)
        return max(min((now_ms - entry.submitted_ms) // self.step_ms, most), 0) if most else 0

    def steps_of(self, priority: Priority) -> int:
        """By how much waiting raises entries of the priority at most."""
        return max(min(self.steps_max, self.ceiling.rank - priority.rank), 0)

    def rank(self, entry: QueueEntry, now_ms: int) -> int:
        """Where the entry stands among priorities."""
        return entry.request.priority.rank + self.steps(entry, now_ms)


class Lanes:
    """Who waits, by rank and tenant."""

    __slots__ = (
        "_aging",
        "_by_age",
        "_changed",
        "_half_life_ms",
        "_moments",
        "_moved",
        "_now_ms",
        "_places",
        "_shares",
        "_tenants",
    )

    def __init__(self, shares: FairShares, aging: Aging) -> None:
        self._shares, self._aging = shares, aging
        self._changed = shares.watch()
        self._by_age: dict[Priority, list[Aged]] = {p: [] for p in PRIORITIES}
        self._now_ms = 0
        """As of when ranks and places stand."""
        self._empty()

    def _empty(self) -> None:
        self._half_life_ms = self._shares.half_life_ms
        self._tenants: dict[str, WaitingTenant] = {}
        self._places: list[list[Place]] = [[] for _ in PRIORITIES]
        self._moments: list[tuple[int, str]] = []
        """When in every ``refresh_ms`` a tenant's usage is refreshed."""
        self._moved: set[str] = set()
        """Tenants whose places may not be what they were."""

    @property
    def aging(self) -> Aging:
        """How waiting raises an entry from now on."""
        return self._aging

    @aging.setter
    def aging(self, aging: Aging) -> None:
        if aging != self._aging:
            self._aging = aging
            self._sort_anew(self._now_ms)

    # -- coming and going --------------------------------------------------------------------

    def join(self, entry: QueueEntry) -> None:
        """The entry waits from now on."""
        waiting = aged(entry)
        insort(self._by_age[entry.request.priority], waiting)
        self._enter(waiting)

    def _enter(self, waiting: Aged) -> None:
        name = waiting.entry.request.tenant
        tenant = self._tenants.get(name)
        if tenant is None:
            tenant = WaitingTenant(name, self._shares.refresh_offset_ms(name))
            self._tenants[name] = tenant
            insort(self._moments, (tenant.moment_ms, name))
        tenant.join(waiting, self._aging.rank(waiting.entry, self._now_ms))
        self._moved.add(name)

    def leave(self, entry: QueueEntry) -> None:
        """The entry waits no more."""
        take_out(self._by_age[entry.request.priority], entry)
        tenant = self._tenants[entry.request.tenant]
        tenant.leave(entry, self._aging.rank(entry, self._now_ms))
        if any(tenant.rows):
            self._moved.add(tenant.name)
            return
        del self._tenants[tenant.name]
        del self._moments[bisect_left(self._moments, (tenant.moment_ms, tenant.name))]
        for rank in range(len(PRIORITIES)):
            self._put(tenant, rank, None)

    # -- reading -----------------------------------------------------------------------------

    def reaches(self, priority: Priority, rank: int, *, now_ms: int) -> bool:
        """Whether any entry of the priority stands at that rank or higher."""
        entries = self._by_age[priority]
        if not entries:
            return False
        # Who is oldest has been raised most.
        return priority.rank >= rank or self._aging.rank(entries[0].entry, now_ms) >= rank

    def order(self, now_ms: int, front: Mapping[int, Sequence[QueueEntry]]) -> Iterator[QueueEntry]:
        """The entries as they are to be served; each in ``front`` comes first in its own rank."""
        check_amount("now_ms", now_ms)
        self._go_on(now_ms)
        found = FairOrder(self._tenants, front, shares=self._shares, now_ms=now_ms)
        return found.read(self._places)

    def least_ahead(self, entry: QueueEntry, now_ms: int) -> int:
        """At least so many stand ahead of the entry, if it is not in front; few are looked at.

        Of every tenant with a better place something is ahead: its first entry here or, if it was
        weighed again for something that was read before, that.
        """
        self._go_on(now_ms)
        rank, tenant = self._aging.rank(entry, now_ms), self._tenants[entry.request.tenant]
        place, row = tenant.places[rank], tenant.rows[rank][entry.request.project or ""]
        assert place is not None, "who waits has a place"
        return bisect_left(self._places[rank], place) + bisect_left(row, aged(entry))

    # -- keeping the order -------------------------------------------------------------------

    def _go_on(self, now_ms: int) -> None:
        """Move whoever does not stand where it should as of now."""
        if self._half_life_ms != self._shares.half_life_ms:
            self._sort_anew(now_ms)
        elif now_ms != self._now_ms:
            self._raise(now_ms)
            self._forget_usage(self._due(now_ms))
            self._now_ms = now_ms
        self._forget_usage(self._changed)
        self._changed.clear()
        for name in self._moved:
            tenant = self._tenants.get(name)
            if tenant is not None:
                self._place(tenant, now_ms)
        self._moved.clear()

    def _place(self, tenant: WaitingTenant, now_ms: int) -> None:
        for rank, (rows, before) in enumerate(zip(tenant.rows, tenant.places, strict=True)):
            if rows or before is not None:
                self._put(tenant, rank, tenant.place(rank, shares=self._shares, now_ms=now_ms))

    def _sort_anew(self, now_ms: int) -> None:
        self._now_ms = now_ms
        self._empty()
        for waiting in chain.from_iterable(self._by_age.values()):
            self._enter(waiting)

    def _raise(self, now_ms: int) -> None:
        """Whoever has waited for another number of steps by now stands at another rank."""
        early_ms, late_ms = sorted((self._now_ms, now_ms))
        raised: dict[int, QueueEntry] = {}
        for priority, entries in self._by_age.items():
            for step in range(1, self._aging.steps_of(priority) + 1):
                waited_ms = step * self._aging.step_ms
                start = bisect_right(entries, early_ms - waited_ms, key=_first)
                end = bisect_right(entries, late_ms - waited_ms, lo=start, key=_first)
                raised.update((each.id, each.entry) for each in entries[start:end])
        for entry in raised.values():
            tenant = self._tenants[entry.request.tenant]
            waiting = tenant.leave(entry, self._aging.rank(entry, self._now_ms))
            tenant.join(waiting, self._aging.rank(entry, now_ms))
            self._moved.add(tenant.name)

    def _due(self, now_ms: int) -> list[str]:
        """Whose usage is to be refreshed: whose moment lies between then and now."""
        round_ms, moments = self._shares.refresh_ms, self._moments
        early_ms, late_ms = sorted((self._now_ms, now_ms))
        if late_ms - early_ms >= round_ms:
            return list(self._tenants)
        start = bisect_right(moments, early_ms % round_ms, key=_first)
        end = bisect_right(moments, late_ms % round_ms, key=_first)
        same_round = late_ms // round_ms == early_ms // round_ms
        due = moments[start:end] if same_round else moments[start:] + moments[:end]
        return [name for _, name in due]

    def _forget_usage(self, names: Iterable[str]) -> None:
        for name in names:
            tenant = self._tenants.get(name)
            if tenant is not None:
                tenant.forget_usage()
                self._moved.add(name)

    def _put(self, tenant: WaitingTenant, rank: int, place: Place | None) -> None:
        """Let the tenant stand there at this rank, and nowhere else."""
        before, places = tenant.places[rank], self._places[rank]
        if before == place:
            return
        if before is not None:
            del places[bisect_left(places, before)]
        if place is not None:
            insort(places, place)
        tenant.places[rank] = place
