"""Several ledgers under one admission: cells that share quota, not fate.

Rules:

- A cell is one admission controller over one ledger. A gang lives in one cell.
- Quota is one: every cell charges the same :class:`~.quota.QuotaManager`.
- Cells are asked from the one with the most free GPU (then CPU) on; the first that approves gets
  the request. If none does, the answer is the most hopeful denial, with every cell's own beside it.
- Who is kept out of a cell by an isolation policy alone passes it over: the answer names the rule
  and its count of closed nodes, whichever cell takes the request, and each cell counts them.
- A cell that is cut off keeps its leases, its usage still counts, and it takes no new request.
- A preemption has one owner: the cell with the cheapest victims. While that claim is open, no
  other cell may evict for the same request; a claim whose cell was cut off is void.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.decision import Approved, Denied, NodesKeptApart
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
    kept_apart: int = 0
    """How many requests that were to be admitted a policy alone kept out of it."""


class Federation:
    """One admission over several cells."""

    def __init__(self, *, quotas: QuotaManager | None = None) -> None:
        self.quotas = quotas
        self._cells: dict[CellId, Cell] = {}

    def add_cell(self, cell_id: str, admission: AdmissionController) -> None:
        """Join a cell; its ledger is charged to the federation's quota from now on."""
        name = CellId(cell_id)
        check_kind("admission", admission, AdmissionController)
        if name in self._cells:
            raise Conflict("cell", str(name), "has joined already")
        if self.quotas is not None:
            admission.ledger.attach_quotas(self.quotas)
        self._cells[name] = Cell(name, admission)

    def cell(self, cell_id: str) -> Cell:
        """The cell by name."""
        for cell in self._cells.values():
            if cell.id == cell_id:
                return cell
        raise NotFound("cell", cell_id, hint="add it first")

    def cells(self) -> Iterator[Cell]:
        """Every cell, in the order they joined."""
        return iter(self._cells.values())

    def cut_off(self, cell_id: str) -> None:
        """The cell cannot be reached: it keeps what it has and gets nothing new."""
        cell = self.cell(cell_id)
        cell.reachable = False
        cell.epoch += 1
        cell.claims.clear()

    def rejoin(self, cell_id: str) -> None:
        """The cell can be reached again; claims from before stay void."""
        self.cell(cell_id).reachable = True

    # -- admission ---------------------------------------------------------------------------

    def evaluate(self, request: PlacementRequest, *, now_ms: int = 0) -> FederatedDecision:
        """What ``admit`` would answer; nothing changes."""
        return self._decide(request, now_ms=now_ms, keep=False)

    def admit(self, request: PlacementRequest, *, now_ms: int = 0) -> FederatedDecision:
        """Admit into the first cell that approves."""
        return self._decide(request, now_ms=now_ms, keep=True)

    def _decide(self, request: PlacementRequest, *, now_ms: int, keep: bool) -> FederatedDecision:
        denials: dict[CellId, Denied] = {}
        for cell in self._by_room():
            ask = cell.admission.admit if keep else cell.admission.evaluate
            decision = ask(request, now_ms=now_ms)
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

    def _by_room(self) -> list[Cell]:
        def room(cell: Cell) -> tuple[int, int, str]:
            free = cell.admission.ledger.free
            return -free.gpu_milli, -free.cpu_milli, str(cell.id)

        return sorted((c for c in self._cells.values() if c.reachable), key=room)

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
        for cell in self._by_room():
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
        claim = PreemptionClaim(name, owner.id, plan, owner.epoch)
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
        """Evict what the claim names, once, in the owner's ledger."""
        cell = self._owner(claim)
        if revoker.ledger is not cell.admission.ledger:
            raise Conflict("preemption", claim.request_name, f"belongs to cell {cell.id}")
        del cell.claims[claim.request_name]
        return manager.preempt(claim.plan, revoker, now_ms=now_ms)

    def abandon(self, claim: PreemptionClaim) -> None:
        """Give the right back without evicting anybody."""
        del self._owner(claim).claims[claim.request_name]

    def _owner(self, claim: PreemptionClaim) -> Cell:
        cell = self.cell(claim.cell)
        if claim.epoch != cell.epoch or cell.claims.get(claim.request_name) is not claim:
            raise Conflict("preemption", claim.request_name, "is void or done", hint="claim anew")
        return cell


def _passed_over(denials: dict[CellId, Denied]) -> dict[CellId, NodesKeptApart]:
    details = {cell: denied.detail for cell, denied in denials.items()}
    return {cell: why for cell, why in details.items() if isinstance(why, NodesKeptApart)}
