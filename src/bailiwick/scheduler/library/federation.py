"""Several ledgers under one admission: cells that share quota, not fate.

Rules:

- A cell is one admission controller over one ledger: its guards and its headroom hold for whoever
  comes by the federation. A gang lives in one cell.
- Quota is one: every cell charges the same :class:`~.quota.QuotaManager`.
- Cells are asked from the one with the most free GPU (then CPU) on, as each was last seen
  (:mod:`.cell_order`); the first that approves gets the request. If none does, the answer is the
  most hopeful denial, with every cell's own beside it.
- Who is kept out of a cell by an isolation policy alone passes it over: the answer names the rule
  and its count of closed nodes, whichever cell takes the request, and each cell counts them.
- A cell that is cut off keeps its leases, its usage still counts, and it takes no new request.
- A preemption has one owner: the cell with the cheapest victims. While that claim is open, no
  other cell may evict for the same request; a claim whose cell was cut off is void.
- What victims leave is kept for the request, and with it the depth of the cascade that it carries.
  So nobody goes for nothing, and a chain of evictions ends, through whatever cells it goes. Who is
  admitted elsewhere first gives it up; what was kept for a void claim is free when its cell is
  back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.decision import AdmissionDecision, Approved, Denied, NodesKeptApart
from bailiwick.scheduler.library.cell_order import CellOrder
from bailiwick.scheduler.library.kept_room import KeptRoom
from bailiwick.scheduler.preemption import (
    Impossible,
    Obstacle,
    Preemptable,
    Preempted,
    PreemptionManager,
)
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.revoker import LeaseRevoker
from bailiwick.vocab.errors import Conflict, NotFound
from bailiwick.vocab.values import CellId, check_kind, check_name
from bailiwick.vocab.words import PendingReason


@dataclass(frozen=True, slots=True)
class Placed:
    """The request may run (or runs) in this cell; a policy keeps it out of those passed over."""

    cell: CellId
    decision: Approved
    passed_over: dict[CellId, NodesKeptApart] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Unplaced:
    """No reachable cell can take the request: the most hopeful reason, and each cell's own."""

    reason: PendingReason
    by_cell: dict[CellId, Denied]
    cut_off: tuple[CellId, ...]

    @property
    def passed_over(self) -> dict[CellId, NodesKeptApart]:
        """The cells out of which a policy keeps the request, with the rule and its nodes."""
        return _passed_over(self.by_cell)


FederatedDecision: TypeAlias = Placed | Unplaced


@dataclass(frozen=True, slots=True)
class PreemptionClaim:
    """The right to evict for one request, given to one cell."""

    request_name: str
    request: PlacementRequest
    cell: CellId
    plan: Preemptable
    epoch: int


@dataclass(slots=True)
class Cell:
    """One member of the federation."""

    id: CellId
    admission: AdmissionController
    reachable: bool = True
    epoch: int = 0
    claims: dict[str, PreemptionClaim] = field(default_factory=dict)
    rooms: dict[str, KeptRoom] = field(default_factory=dict)
    """What is kept, by the name of the request whose claim was carried out."""
    void_rooms: list[KeptRoom] = field(default_factory=list)
    """What is still kept here for claims that ended while nobody could reach it."""
    kept_apart: int = 0
    """How many requests that were to be admitted a policy alone kept out of it."""


class Federation:
    """One admission over several cells."""

    def __init__(self, *, quotas: QuotaManager | None = None) -> None:
        self.quotas = quotas
        self._cells: dict[CellId, Cell] = {}
        self._order = CellOrder()

    def add_cell(self, cell_id: str, admission: AdmissionController) -> None:
        """Join a cell; its ledger is charged to the federation's quota from now on."""
        name = CellId(cell_id)
        check_kind("admission", admission, AdmissionController)
        if name in self._cells:
            raise Conflict("cell", str(name), "has joined already")
        if self.quotas is not None:
            admission.ledger.attach_quotas(self.quotas)
        self._cells[name] = Cell(name, admission)
        self._order.add(name, admission.ledger)

    def cell(self, cell_id: str) -> Cell:
        """The cell by name."""
        found = self._cells.get(CellId(cell_id))
        if found is None:
            raise NotFound("cell", cell_id, hint="add it first")
        return found

    def cells(self) -> Iterator[Cell]:
        """Every cell, in the order they joined."""
        return iter(self._cells.values())

    def asked_in_turn(self) -> tuple[CellId, ...]:
        """The cells that can be reached, in the order in which a request would ask them."""
        return tuple(self._order)

    def cut_off(self, cell_id: str) -> None:
        """The cell cannot be reached: it keeps what it has and gets nothing new."""
        cell = self.cell(cell_id)
        cell.reachable = False
        cell.epoch += 1
        cell.claims.clear()
        cell.void_rooms += cell.rooms.values()
        cell.rooms.clear()
        self._order.remove(cell.id)

    def rejoin(self, cell_id: str, *, now_ms: int = 0) -> None:
        """The cell can be reached again; claims from before stay void, and keep nothing more."""
        cell = self.cell(cell_id)
        if cell.reachable:
            return
        for room in cell.void_rooms:
            cell.admission.give_up(room, now_ms=now_ms)
        cell.void_rooms.clear()
        cell.reachable = True
        self._order.add(cell.id, cell.admission.ledger)

    # -- admission ---------------------------------------------------------------------------

    def evaluate(self, request: PlacementRequest, *, now_ms: int = 0) -> FederatedDecision:
        """What ``admit`` would answer; nothing changes."""
        return self._decide(request, now_ms=now_ms, keep=False)

    def admit(
        self, request: PlacementRequest, *, now_ms: int = 0, claim: PreemptionClaim | None = None
    ) -> FederatedDecision:
        """Admit into the first cell that approves.

        With a ``claim`` its owner is asked first, where room is kept for the request once the
        claim was carried out. Wherever it is admitted, the claim ends with that.
        """
        if claim is None:
            decision = self._decide(request, now_ms=now_ms, keep=True)
        else:
            decision = self._claimed(request, claim, now_ms=now_ms)
        self._order.refresh()
        return decision

    def _claimed(
        self, request: PlacementRequest, claim: PreemptionClaim, *, now_ms: int
    ) -> FederatedDecision:
        owner = self._owner(claim)
        if request != claim.request:
            raise Conflict("preemption", claim.request_name, "is for another request")
        room = owner.rooms.get(claim.request_name)
        first = owner.admission.admit(request, now_ms=now_ms, hold=room)
        if isinstance(first, Denied):
            decision = self._decide(request, now_ms=now_ms, keep=True, told={owner.id: first})
        else:
            decision = Placed(owner.id, first)
        if isinstance(decision, Placed):
            self._end(owner, claim, now_ms=now_ms)
        return decision

    def _decide(
        self,
        request: PlacementRequest,
        *,
        now_ms: int,
        keep: bool,
        told: dict[CellId, Denied] | None = None,
    ) -> FederatedDecision:
        denials: dict[CellId, Denied] = {} if told is None else dict(told)
        for name in self._order:
            if name in denials:
                continue
            cell = self._cells[name]
            ask = cell.admission.admit if keep else cell.admission.evaluate
            decision: AdmissionDecision = ask(request, now_ms=now_ms)
            if isinstance(decision, Approved):
                return Placed(cell.id, decision, _passed_over(denials))
            denials[cell.id] = decision
            cell.kept_apart += keep and isinstance(decision.detail, NodesKeptApart)
        reason = max(
            (d.reason for d in denials.values()),
            key=lambda r: r.rank,
            default=PendingReason.WAITING_FOR_CAPACITY,
        )
        away = tuple(c.id for c in self._cells.values() if not c.reachable)
        return Unplaced(reason, denials, away)

    # -- preemption --------------------------------------------------------------------------

    def claim_preemption(
        self, name: str, request: PlacementRequest, *, manager: PreemptionManager, now_ms: int
    ) -> PreemptionClaim | Impossible:
        """Give one cell the right to evict for this request: the one with the cheapest victims."""
        check_name("name", name)
        for cell in self._cells.values():
            if name in cell.claims:
                raise Conflict("preemption", name, f"is owned by cell {cell.id} already")
        plans: list[tuple[int, str, Cell, Preemptable]] = []
        refusal = Impossible(Obstacle.HARDWARE)
        for cell in (self._cells[each] for each in self._order):
            door = cell.admission
            found = manager.find_victims(
                door.ledger,
                request,
                now_ms=now_ms,
                filters=door.scorer.filters,
                headroom=door.headroom,
            )
            if isinstance(found, Preemptable):
                plans.append((found.cost, str(cell.id), cell, found))
            else:
                refusal = refusal.combined(found)
        if not plans:
            return refusal
        _, _, owner, plan = min(plans, key=lambda row: row[:2])
        claim = PreemptionClaim(name, request, owner.id, plan, owner.epoch)
        owner.claims[name] = claim
        return claim

    def execute(
        self,
        claim: PreemptionClaim,
        *,
        manager: PreemptionManager,
        revoker: LeaseRevoker,
        now_ms: int,
    ) -> Preempted:
        """Evict what the claim names, once, in the owner's ledger, and keep what that leaves.

        The claim stays open, so that no other cell evicts for the request, until it is admitted
        with it or the claim is given back.
        """
        cell, name = self._owner(claim), claim.request_name
        if revoker.ledger is not cell.admission.ledger:
            raise Conflict("preemption", name, f"belongs to cell {cell.id}")
        if name in cell.rooms:
            raise Conflict("preemption", name, "is void or done", hint="claim anew")
        done = manager.preempt(claim.plan, revoker, now_ms=now_ms, hold_for=claim.request)
        assert done.hold is not None, "it was to be kept"
        cell.rooms[name] = done.hold
        return done

    def abandon(self, claim: PreemptionClaim, *, now_ms: int = 0) -> None:
        """Give the right back, and what is kept by it."""
        self._end(self._owner(claim), claim, now_ms=now_ms)

    def _owner(self, claim: PreemptionClaim) -> Cell:
        cell = self.cell(claim.cell)
        if claim.epoch != cell.epoch or cell.claims.get(claim.request_name) is not claim:
            raise Conflict("preemption", claim.request_name, "is void or done", hint="claim anew")
        return cell

    @staticmethod
    def _end(cell: Cell, claim: PreemptionClaim, *, now_ms: int) -> None:
        del cell.claims[claim.request_name]
        room = cell.rooms.pop(claim.request_name, None)
        if room is not None:
            cell.admission.give_up(room, now_ms=now_ms)


def _passed_over(denials: dict[CellId, Denied]) -> dict[CellId, NodesKeptApart]:
    details = {cell: denied.detail for cell, denied in denials.items()}
    return {cell: why for cell, why in details.items() if isinstance(why, NodesKeptApart)}
