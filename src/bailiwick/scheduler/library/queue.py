"""The waiting queue: who is asked next, what is kept for a gang that must wait, who may go ahead.

Rules:

- Entries are looked at in fair order; see :mod:`~bailiwick.scheduler.fairness`.
- The first entries that are denied for lack of capacity get a reservation each
  (:mod:`~bailiwick.scheduler.reservation`). The first of a rank then stands first there until it
  starts, is cancelled, is denied for another reason, or loses it
  (:mod:`~bailiwick.scheduler.backfill.promises`).
- Those behind may start if they end by that time, or take nothing that is kept. So the first of
  those with a reservation starts no later than it was told, unless a lease is renewed, a node is
  closed, somebody is admitted past the queue, or an entry of higher rank comes.
- Denials for quota and other reasons hold nobody back. A denied entry stays until cancelled.
- Room is kept for few entries at a time, and what is too small for them is used by others, whatever
  their share: shares come true among work of like size, and bend where sizes differ much.
- Before ``schedule`` the caller ends leases that expired. ``order`` tells, ``schedule`` admits.

>>> from bailiwick import AdmissionController, CapacityLedger, NodeCapacity
>>> ledger = CapacityLedger()
>>> _ = ledger.register_node("node-1", NodeCapacity(cpu_cores=16, mem_bytes=0))
>>> queue = WaitingQueue(AdmissionController(ledger), FairShares(half_life_ms=86_400_000))
>>> for cores, ttl_ms in ((12, 50), (16, 50), (4, 40), (4, 60)):
...     ask = PlacementRequest(tenant="lab", cpu_cores=cores, ttl_ms=ttl_ms)
...     _ = queue.submit(ask, now_ms=0)
>>> result = queue.schedule(now_ms=0, limit=100)
>>> [started.entry.id for started in result.started]
[1, 3]
>>> [(kept.entry.id, kept.at_ms, kept.nodes) for kept in result.reservations]
[(2, 50, (NodeId('node-1'),)), (4, 100, (NodeId('node-1'),))]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.backfill.lanes import Aging
from bailiwick.scheduler.backfill.promises import (
    Promise,
    PromiseGiven,
    PromiseKept,
    PromiseLost,
    PromiseSlipped,
    judge,
)
from bailiwick.scheduler.backfill.reserved import Reservation
from bailiwick.scheduler.backfill.rules import DAY_MS, LineRules
from bailiwick.scheduler.decision import AdmissionDecision, Approved, Denied
from bailiwick.scheduler.fairness import FairShares, QueueEntry
from bailiwick.scheduler.queue import FairQueue
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.reservation import CAPACITY_REASONS, Turn, bits_of
from bailiwick.vocab.errors import LimitReached
from bailiwick.vocab.values import check_amount, check_integer, check_kind
from bailiwick.vocab.words import ReservationLoss

__all__ = [
    "Aging",
    "LineRules",
    "QueueEntry",
    "Reservation",
    "ScheduleResult",
    "Started",
    "Waiting",
    "WaitingQueue",
]

_SIZE_MAX = 10**7


@dataclass(frozen=True, slots=True)
class Started:
    """An entry that left the queue, and the leases it got."""

    entry: QueueEntry
    approved: Approved


@dataclass(frozen=True, slots=True)
class Waiting:
    """An entry that was looked at and stays, and what stands first in its way."""

    entry: QueueEntry
    denied: Denied


@dataclass(frozen=True, slots=True)
class ScheduleResult:
    """What one call did: who started, for whom room is kept, who was told to wait."""

    started: tuple[Started, ...]
    reservations: tuple[Reservation, ...]
    waiting: tuple[Waiting, ...]


class WaitingQueue:
    """Requests that wait for one admission controller, ordered by priority and fair share."""

    def __init__(
        self,
        admission: AdmissionController,
        shares: FairShares,
        *,
        size_max: int = 100_000,
        horizon_ms: int = 30 * DAY_MS,
        rules: LineRules | None = None,
    ) -> None:
        self.admission = check_kind("admission", admission, AdmissionController)
        self.size_max = check_integer("size_max", size_max, low=1, high=_SIZE_MAX)
        self.horizon_ms = check_integer("horizon_ms", horizon_ms, low=1, high=2**53)
        rules = LineRules() if rules is None else check_kind("rules", rules, LineRules)
        self._line = FairQueue(check_kind("shares", shares, FairShares), rules)
        self._denied: dict[int, Denied] = {}

    def __len__(self) -> int:
        return len(self._line.entries)

    def __contains__(self, entry_id: object) -> bool:
        return entry_id in self._line.entries

    def submit(self, request: PlacementRequest, now_ms: int) -> QueueEntry:
        """Let a request wait; nothing is decided yet."""
        check_kind("request", request, PlacementRequest)
        check_amount("now_ms", now_ms)
        if len(self) >= self.size_max:
            raise LimitReached("entries in the queue", self.size_max)
        quotas = self.admission.ledger.quotas
        if quotas is not None:
            # A quota table that is full is better told here than in the middle of a schedule.
            quotas.row_of(request.tenant, request.project)
        return self._line.join(request, now_ms)

    def entry(self, entry_id: int) -> QueueEntry:
        """The entry by its id, while it waits."""
        return self._line.entry(entry_id)

    def cancel(self, entry_id: int) -> QueueEntry:
        """Take an entry out that is not to start any more."""
        entry = self.entry(entry_id)
        self._line.leave(entry)
        self._denied.pop(entry_id, None)
        return entry

    def blocker(self, entry_id: int) -> Denied | None:
        """What stood first in the entry's way when it was last looked at; ``None`` before that."""
        return self._denied.get(self.entry(entry_id).id)

    def order(self, now_ms: int) -> tuple[QueueEntry, ...]:
        """Every entry, in the order in which ``schedule`` looks at them."""
        return tuple(self._line.order(now_ms))

    def position(self, entry_id: int, now_ms: int) -> int:
        """How many entries come before this one."""
        return self.order(now_ms).index(self.entry(entry_id))

    def schedule(self, now_ms: int, *, limit: int) -> ScheduleResult:
        """Look at no more than ``limit`` entries, and start those that may start."""
        check_amount("now_ms", now_ms)
        check_integer("limit", limit, low=2, high=_SIZE_MAX)
        window = self._line.window(now_ms, limit)
        turn = self._turn(now_ms)
        started, waiting = list[Started](), list[Waiting]()
        for entry in window:
            decision = self._admit(turn, entry)
            match decision:
                case Approved():
                    if self._line.is_overdue(entry, now_ms):
                        self._line.had_turn(entry, now_ms)
                    self.cancel(entry.id)
                    started.append(Started(entry, decision))
                case Denied():
                    if decision.reason in CAPACITY_REASONS:
                        self._settle(turn, entry)
                    else:
                        self._line.step_back(entry)
                    self._denied[entry.id] = decision
                    waiting.append(Waiting(entry, decision))
                case _:
                    assert_never(decision)
        return ScheduleResult(tuple(started), turn.reservations, tuple(waiting))

    def _turn(self, now_ms: int) -> Turn:
        until_ms = now_ms + self.horizon_ms
        return Turn(self.admission, self._line, now_ms=now_ms, until_ms=until_ms)

    def _settle(self, turn: Turn, entry: QueueEntry) -> None:
        """An entry lacks capacity: is room kept for it, and was its turn to have it kept?"""
        line, now_ms, kept = self._line, turn.now_ms, turn.reservation_of(entry)
        line.mark_short(entry, now_ms)
        if (kept is None and turn.is_full) or not line.may_promise(entry, now_ms):
            return
        line.had_turn(entry, now_ms)
        promise, starts_ms = line.promises.get(entry.id), None if kept is None else kept.at_ms
        change = judge(promise, starts_ms, slips_max=line.rules.slips_max, now_ms=now_ms)
        match change:
            case PromiseKept():
                pass
            case PromiseGiven():
                assert kept is not None, "what is given is there"
                line.promise(Promise(entry, kept.at_ms, kept.nodes), now_ms, overdue=False)
            case PromiseSlipped():
                assert kept is not None, "what slips is there"
                line.postpone(entry, kept.at_ms, nodes=kept.nodes)
            case PromiseLost():
                turn.withdraw(entry)
                barred = change.cause is not ReservationLoss.BEYOND_HORIZON
                until_ms = now_ms + line.rules.patience_ms if barred else None
                line.lose(entry, now_ms, until_ms=until_ms)
            case _:
                assert_never(change)

    @staticmethod
    def _admit(turn: Turn, entry: QueueEntry) -> AdmissionDecision:
        decision = turn.ask(entry)
        if isinstance(decision, Approved):
            decision = turn.admission_for(entry).admit(entry.request, now_ms=turn.now_ms)
        if isinstance(decision, Approved):
            turn.started(entry, ((le.node, bits_of(le.devices)) for le in decision.leases))
        return decision
