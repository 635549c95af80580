"""Room that is kept for urgent work, and who has to go so that it stays free.

Rules:

- Headroom is an amount of each kind, of the whole fleet: what is free on nodes that take leases
  stays free of it, except for requests of at least its priority. It binds a request only in what
  the request asks for.
- A request that headroom alone keeps out may evict: anybody whose end gives back what is lacking,
  wherever it is, because free room elsewhere serves the headroom as well.
- The cheapest such leases go, and of those that nobody could tell apart the newest. ``bound`` says
  what any choice costs at least; they are equal unless so many sorts of leases run that the search
  had to leave some out (:mod:`.supply`).
- The leases are not walked: of each sort (:mod:`.unit_index`) one is judged, and as many are read
  as would suffice alone. Only those with a fresh checkpoint are judged one by one.
- Nothing changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from operator import ge
from typing import TypeAlias

from bailiwick.fleet.resources import NOTHING, Resources
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.victims.supply import Amounts, Piece, copies, supply
from bailiwick.scheduler.victims.unit_index import UnitRow, index_of
from bailiwick.scheduler.victims.units import Judge, VictimUnit, gang_unit
from bailiwick.vocab.values import check_amount, check_kind
from bailiwick.vocab.words import RESOURCE_KINDS, Priority


@dataclass(frozen=True, slots=True)
class ReservationHeadroom:
    """Free capacity kept for requests of at least this priority."""

    kept: Resources = NOTHING
    priority: Priority = Priority.CRITICAL

    def __post_init__(self) -> None:
        check_kind("kept", self.kept, Resources)
        check_kind("priority", self.priority, Priority)
        for kind, amount in zip(RESOURCE_KINDS, self.kept.as_tuple(), strict=True):
            check_amount(f"kept.{kind}", amount)

    def binds(self, request: PlacementRequest) -> bool:
        """Whether it keeps anything from the request."""
        return any(self.lacking(request, free=Resources()))

    def lacking(self, request: PlacementRequest, *, free: Resources) -> Amounts:
        """Of each kind, what must become free before the request leaves the headroom alone."""
        if request.priority.rank >= self.priority.rank:
            return (0, 0, 0, 0)
        rows = zip(wanted_by(request), self.kept.as_tuple(), free.as_tuple(), strict=True)
        return tuple(
            max(wanted + kept - have, 0) if wanted and kept else 0 for wanted, kept, have in rows
        )


def wanted_by(request: PlacementRequest) -> Amounts:
    """Of each kind, what all members of a request take together."""
    one = request.cpu_milli, request.mem_bytes, request.block_bytes, request.gpu_milli_total
    return tuple(amount * request.gang_size for amount in one)


@dataclass(frozen=True, slots=True)
class HeadroomVictims:
    """Leases whose end gives back what headroom lacks, and what any choice costs at least."""

    lease_ids: tuple[int, ...]
    cost: int
    bound: int


def gifts_of(ledger: CapacityLedger, unit: VictimUnit) -> Amounts:
    """Of each kind, what a unit gives back on nodes that take leases."""
    given = [0, 0, 0, 0]
    for part in unit.parts:
        entry, shape = ledger.by_handle[part.node], part.shape
        if entry is not None and entry.takes_leases:
            gpu_milli = shape.device_count * shape.device_milli
            for kind, amount in enumerate((shape.cpu_milli, shape.mem_bytes, shape.block_bytes)):
                given[kind] += amount
            given[3] += gpu_milli
    return tuple(given)


def find_headroom_victims(
    ledger: CapacityLedger,
    lacking: Amounts,
    *,
    judge: Judge,
    spared: Collection[int] = (),
) -> HeadroomVictims | None:
    """The cheapest leases whose end gives back what is lacking; ``None`` if all are too few.

    ``spared`` are leases that go anyway, or must not.
    """
    found = _Supplies(ledger, lacking, judge, frozenset(spared))
    chosen = supply(found.lacking, found.pieces())
    if chosen is None:
        return None
    leases = [i for number in chosen.units for i in found.leases_of[number]]
    return HeadroomVictims(tuple(sorted(leases)), chosen.cost, chosen.bound)


_Sort: TypeAlias = tuple[int, Amounts]
"""Cost and gifts: units that agree in both are as good as each other."""


class _Supplies:
    """Everything in a fleet that could go and that could matter, by what it costs and gives."""

    def __init__(
        self, ledger: CapacityLedger, lacking: Amounts, judge: Judge, spared: frozenset[int]
    ) -> None:
        self._ledger, self._judge = ledger, judge
        self._kinds = [kind for kind, amount in enumerate(lacking) if amount > 0]
        self.lacking = tuple(lacking[kind] for kind in self._kinds)
        self.leases_of: list[tuple[int, ...]] = []
        self._sorts: dict[_Sort, list[UnitRow]] = {}
        if not self.lacking:
            return
        index = index_of(ledger)
        for rows in index.sorts(judge.terms, spared=spared):
            self._add(rows)
        for row in index.fresh(judge.terms):
            if spared.isdisjoint(row[1]):
                self._add(iter((row,)))

    def _add(self, rows: Iterator[UnitRow]) -> None:
        """As many of these as would suffice alone; they are judged alike, so by the first."""
        first = next(rows, None)
        sort = None if first is None else self._sort_of(first[1])
        if first is not None and sort is not None and any(sort[1]):
            members = self._sorts.setdefault(sort, [])
            members += first, *islice(rows, self._enough(sort[1]) - 1)

    def _sort_of(self, leases: tuple[int, ...]) -> _Sort | None:
        """What a unit costs, and gives of what is lacking; ``None`` if it may not go."""
        ledger, fields = self._ledger, self._ledger.fields(leases[0])
        given: Amounts
        if len(leases) == 1:
            cost = self._judge.cost_of(leases[0], fields)
            given = ledger.resources_of(fields.shape).as_tuple()
        else:
            unit = gang_unit(ledger, fields.gang, judge=self._judge)
            cost, given = (None, ()) if unit is None else (unit.cost, gifts_of(ledger, unit))
        return None if cost is None else (cost, tuple(given[kind] for kind in self._kinds))

    def _enough(self, gives: Amounts) -> int:
        """So many of one sort suffice alone."""
        rows = zip(self.lacking, gives, strict=True)
        return max(-(-lack // gift) for lack, gift in rows if gift)

    def pieces(self) -> Iterator[Piece]:
        """All of them that could matter: of each sort no more than would suffice alone."""
        plenty: list[_Sort] = []
        for (cost, gives), members in sorted(self._sorts.items()):
            # Where a cheaper sort gives no less of anything, and there is as much of it as could
            # be of use, one of it can always be had instead: the cheapest choice has none of these.
            if any(less < cost and all(map(ge, more, gives)) for less, more in plenty):
                continue
            numbers: list[int] = []
            enough = self._enough(gives)
            for _, leases in nsmallest(enough, members):
                numbers.append(len(self.leases_of))
                self.leases_of.append(leases)
            if len(numbers) == enough:
                plenty.append((cost, gives))
            yield from copies(cost, gives, units=numbers)
