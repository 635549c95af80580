"""One reading of a line: whoever is first at each rank, down to the lowest.

Rules:

- Tenants stand sorted at each rank before anything is read. Only those of whom something was read
  (what stands in front of the rank is read first) are weighed anew, with that counted as used: it
  is these that are merged with the others. So what a reading costs follows from how much is read,
  not from how many wait.
- What was read counts at all lower ranks too: what is urgent counts as used before what is not.
- A tenant's projects are interleaved in the same way, from when the tenant has its first turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from itertools import islice
from typing import TypeAlias

from bailiwick.scheduler.backfill.waiting_tenants import Aged, Place, WaitingTenant, normalised
from bailiwick.scheduler.fairness import FairShares, QueueEntry, expected_usage
from bailiwick.vocab.words import PRIORITIES

_Turn: TypeAlias = tuple[int, int, int, WaitingTenant, Aged, Iterator[Aged]]
"""A place by what counts as used by now, and what comes after its first entry."""

_ProjectTurn: TypeAlias = tuple[int, Aged, str, Iterator[Aged]]
"""``normalised`` of a project by then, its first entry, which it is, and what comes after."""


class FairOrder:
    """What was read so far, and what counts as used because of it."""

    __slots__ = ("_ahead", "_front", "_now_ms", "_project_used", "_shares", "_tenants", "_used")

    def __init__(
        self,
        tenants: Mapping[str, WaitingTenant],
        front: Mapping[int, Sequence[QueueEntry]],
        *,
        shares: FairShares,
        now_ms: int,
    ) -> None:
        self._tenants, self._front = tenants, front
        self._shares, self._now_ms = shares, now_ms
        self._ahead = {entry.id for entries in front.values() for entry in entries}
        self._used: dict[str, int] = {}
        self._project_used: dict[tuple[str, str], int] = {}

    def read(self, places: Sequence[Sequence[Place]]) -> Iterator[QueueEntry]:
        """Every entry, the first to be served first, if tenants stand like this at each rank."""
        for rank in reversed(range(len(PRIORITIES))):
            for entry in self._front.get(rank, ()):
                yield entry
                self._count(entry, expected_usage(entry.request))
            yield from self._merge(places[rank], rank)

    def _merge(self, places: Sequence[Place], rank: int) -> Iterator[QueueEntry]:
        """Entries of one rank, each time from the tenant that is owed most."""
        turns, single = self._weighed(rank), list[Aged]()
        for place in places:
            *_, tenant, first = place
            if tenant.name in self._used:
                continue
            if turns and turns[0] < place:
                yield from self._take(turns, until=place)
            if tenant.is_single(rank):
                single.append(first)
                yield first.entry
                continue
            rest = self._rest(tenant, rank)
            yield next(rest).entry
            self._count(first.entry, first.weight)
            following = next(rest, None)
            if following is not None:
                heappush(turns, self._turn(tenant, following, rest))
        yield from self._take(turns, until=None)
        for each in single:  # it is only now that anything may be weighed by them
            self._count(each.entry, each.weight)

    def _weighed(self, rank: int) -> list[_Turn]:
        """The turns of those of whom something was read already."""
        turns = []
        for name in self._used:
            tenant = self._tenants.get(name)
            if tenant is not None and tenant.rows[rank]:
                rest = self._rest(tenant, rank)
                turns += [self._turn(tenant, first, rest) for first in islice(rest, 1)]
        heapify(turns)
        return turns

    def _take(self, turns: list[_Turn], *, until: Place | None) -> Iterator[QueueEntry]:
        """Entries of those who go before this place, as long as they do."""
        while turns and (until is None or turns[0] < until):  # bounded: takes one
            *_, tenant, first, rest = turns[0]
            yield first.entry
            self._count(first.entry, first.weight)
            following = next(rest, None)
            if following is None:
                heappop(turns)
            else:
                heapreplace(turns, self._turn(tenant, following, rest))

    def _turn(self, tenant: WaitingTenant, first: Aged, rest: Iterator[Aged]) -> _Turn:
        assert tenant.standing is not None, "who has a place was weighed"
        share, usage = tenant.standing
        used = normalised(share, usage + self._used.get(tenant.name, 0))
        return used, first[0], first[1], tenant, first, rest

    def _rest(self, tenant: WaitingTenant, rank: int) -> Iterator[Aged]:
        """A tenant's entries at the rank but for those in front, each counted before the next."""
        rows = tenant.rows[rank]
        if len(rows) > 1:
            return self._interleave(tenant, rows)
        (row,) = rows.values()  # nobody inside to weigh it against
        return self._row(row)

    def _row(self, row: list[Aged]) -> Iterator[Aged]:
        ahead = self._ahead
        return (each for each in row if each[1] not in ahead) if ahead else iter(row)

    def _interleave(self, tenant: WaitingTenant, rows: Mapping[str, list[Aged]]) -> Iterator[Aged]:
        """Each time from the project that is owed most."""

        def turn(project: str, first: Aged, *, rest: Iterator[Aged]) -> _ProjectTurn:
            share, usage = tenant.project_usage(project, shares=self._shares, now_ms=self._now_ms)
            used = normalised(share, usage + self._project_used.get((tenant.name, project), 0))
            return used, first, project, rest

        turns: list[_ProjectTurn] = []
        for project, row in rows.items():
            rest = self._row(row)
            turns += [turn(project, first, rest=rest) for first in islice(rest, 1)]
        heapify(turns)
        while turns:  # bounded: takes one
            _, first, project, rest = turns[0]
            yield first
            following = next(rest, None)
            if following is None:
                heappop(turns)
            else:
                heapreplace(turns, turn(project, following, rest=rest))

    def _count(self, entry: QueueEntry, weight: int) -> None:
        """What was read counts as used by its tenant and its project."""
        tenant, project = entry.request.tenant, entry.request.project or ""
        self._used[tenant] = self._used.get(tenant, 0) + weight
        inner = tenant, project
        self._project_used[inner] = self._project_used.get(inner, 0) + weight
