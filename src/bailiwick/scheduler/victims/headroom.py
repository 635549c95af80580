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
- Nothing changes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from heapq import nsmallest
from typing import TypeAlias

from bailiwick.fleet.resources import NOTHING, Resources
from bailiwick.scheduler.engine.protocol import FLAG_PINNED
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.victims.supply import Amounts, Piece, copies, supply
from bailiwick.scheduler.victims.units import Judge, VictimUnit, gang_unit, rows_on
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

_Member: TypeAlias = tuple[int, tuple[int, ...]]
"""When it began, the newest first, and its leases."""


class _Supplies:
    """Everything in a fleet that could go, sorted by what tells one from another."""

    def __init__(
        self, ledger: CapacityLedger, lacking: Amounts, judge: Judge, spared: frozenset[int]
    ) -> None:
        self._kinds = [kind for kind, amount in enumerate(lacking) if amount > 0]
        self.lacking = tuple(lacking[kind] for kind in self._kinds)
        self.leases_of: list[tuple[int, ...]] = []
        self._sorts: dict[_Sort, list[_Member]] = {}
        gangs: dict[int, None] = {}
        gifts: dict[int, Amounts] = {}
        open_nodes = [entry for entry in ledger.entries.values() if entry.takes_leases]
        for lease_id, fields in rows_on(ledger, open_nodes):
            if lease_id in spared:
                continue
            if fields.gang >= 0 and not fields.flags & FLAG_PINNED:
                gangs[fields.gang] = None
                continue
            cost = judge.cost_of(lease_id, fields)
            if cost is None:
                continue
            if fields.shape not in gifts:
                gifts[fields.shape] = self._of(ledger.resources_of(fields.shape).as_tuple())
            self._add((cost, gifts[fields.shape]), (-fields.granted_ms, (lease_id,)))
        for gang in gangs:
            unit = gang_unit(ledger, gang, judge=judge)
            if unit is not None:
                gives = self._of(gifts_of(ledger, unit))
                self._add((unit.cost, gives), (-unit.granted_ms, unit.lease_ids))

    def _of(self, amounts: Amounts) -> Amounts:
        return tuple(amounts[kind] for kind in self._kinds)

    def _add(self, sort: _Sort, member: _Member) -> None:
        if any(sort[1]):
            self._sorts.setdefault(sort, []).append(member)

    def pieces(self) -> Iterator[Piece]:
        """All of them that could matter: of each sort no more than would suffice alone."""
        for (cost, gives), members in sorted(self._sorts.items()):
            rows = zip(self.lacking, gives, strict=True)
            enough = max(-(-lack // gift) for lack, gift in rows if gift)
            numbers: list[int] = []
            for _, leases in nsmallest(enough, members):
                numbers.append(len(self.leases_of))
                self.leases_of.append(leases)
            yield from copies(cost, gives, units=numbers)
