"""What can be evicted for a request: leases and gangs, what each costs, what it gives back where.

Rules:

- A gang goes whole: every member, wherever it is, must be a legal victim, and the loss of all of
  them is its cost.
- Which lease is a legal victim and what its loss costs is said by :mod:`..victim_cost` alone. Here
  it is asked once for all leases that it could not tell apart, because a fleet has many leases and
  few sorts of them.
- Nothing changes.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from bailiwick.scheduler.engine.protocol import FLAG_PINNED, NEVER, LeaseFields
from bailiwick.scheduler.handles import Shape
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.victim_cost import VictimTerms, lease_cost, may_be_victim


class HeldPart(NamedTuple):
    """What one lease holds: of which node (by handle), and which devices there, as bits."""

    node: int
    shape: Shape
    devices: int


@dataclass(frozen=True, slots=True)
class VictimUnit:
    """A lease, or a whole gang: what goes together, and what its loss is reckoned at."""

    lease_ids: tuple[int, ...]
    cost: int
    parts: tuple[HeldPart, ...]
    granted_ms: int
    """When the newest of its leases began."""


class Judge:
    """Which leases may go for a request, and at what cost."""

    def __init__(
        self, ledger: CapacityLedger, request: PlacementRequest, *, terms: VictimTerms
    ) -> None:
        self._ledger, self._request, self.terms = ledger, request, terms
        self._known: dict[tuple[object, ...], int | None] = {}

    def cost_of(self, lease_id: int, fields: LeaseFields) -> int | None:
        """What the loss of the lease costs; ``None`` if it may not go."""
        terms = self.terms
        ran = terms.now_ms - fields.granted_ms >= terms.min_run_ms
        saved = fields.checkpoint_ms
        fresh = saved != NEVER and terms.now_ms - saved <= terms.fresh_checkpoint_ms
        # All that a rule may ask of a lease: those that agree in it are judged alike.
        sort = (
            fields.shape, fields.priority, fields.lease_class, fields.state, fields.flags,
            fields.depth, ran, fresh,
        )  # fmt: skip
        if sort not in self._known:
            lease = self._ledger.lease(lease_id)
            legal = not fields.flags & FLAG_PINNED and may_be_victim(lease, terms, by=self._request)
            self._known[sort] = lease_cost(lease, terms) if legal else None
        return self._known[sort]


def rows_on(
    ledger: CapacityLedger, nodes: Iterable[NodeEntry]
) -> Iterator[tuple[int, LeaseFields]]:
    """Every lease on these nodes, with its fields."""
    ids = array("q", (i for entry in nodes for i in ledger.engine.leases_on(entry.handle)))
    table = array("q")
    table.frombytes(ledger.engine.dump(ids))
    columns = (table[at : at + len(ids)] for at in range(0, len(table), len(ids) or 1))
    return zip(ids, map(LeaseFields._make, zip(*columns, strict=True)), strict=True)


def units_on(
    ledger: CapacityLedger, nodes: Iterable[NodeEntry], *, judge: Judge
) -> list[VictimUnit]:
    """Every unit with a lease on these nodes that may go: cheapest first, then oldest."""
    units: list[VictimUnit] = []
    gangs: dict[int, None] = {}
    for lease_id, fields in rows_on(ledger, nodes):
        if fields.gang >= 0 and not fields.flags & FLAG_PINNED:
            gangs[fields.gang] = None
            continue
        cost = judge.cost_of(lease_id, fields)
        if cost is not None:
            part = _part(ledger, fields)
            units.append(VictimUnit((lease_id,), cost, (part,), fields.granted_ms))
    for gang in gangs:
        unit = gang_unit(ledger, gang, judge=judge)
        if unit is not None:
            units.append(unit)
    return sorted(units, key=lambda u: (u.cost, u.lease_ids))


def gang_unit(ledger: CapacityLedger, gang: int, *, judge: Judge) -> VictimUnit | None:
    """The gang as one unit, or ``None`` if one of its members may not go."""
    members = [(lease_id, ledger.fields(lease_id)) for lease_id in sorted(ledger.gangs[gang])]
    cost, granted_ms = 0, 0
    for lease_id, fields in members:
        loss = judge.cost_of(lease_id, fields)
        if loss is None:
            return None
        cost, granted_ms = cost + loss, max(granted_ms, fields.granted_ms)
    parts = tuple(_part(ledger, fields) for _, fields in members)
    return VictimUnit(tuple(i for i, _ in members), cost, parts, granted_ms)


def _part(ledger: CapacityLedger, fields: LeaseFields) -> HeldPart:
    return HeldPart(fields.node, ledger.handles.shapes[fields.shape], fields.devices)
