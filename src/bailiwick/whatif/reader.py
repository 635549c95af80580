"""Reads causes from records: which command a record answers, or of which one it is an effect.

Rules:

- Records of one command follow each other and share their time, actor and correlation id; those of
  a tick, time and actor. Where two commands share all that, the order in which the kernel tells
  events keeps them apart.
- A record that only a tick can have caused means a tick; a second one right behind it is the same.
- What a record does not say is taken to be what the kernel does if nobody says: a request that was
  admitted at once would have waited (unless it was let past somebody who waits, which only one that
  will not wait is), a grace that equals the setting was left to the setting.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias, assert_never

from bailiwick.journal.record import Record
from bailiwick.journal.words import CancelCause
from bailiwick.kernel.apps.events import AppEvent
from bailiwick.kernel.commands import Tick
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.commands import ChangeMode
from bailiwick.kernel.fleet.events import (
    LeaderElected,
    NodeDeparted,
    NodeModeChanged,
    SettingsChanged,
)
from bailiwick.kernel.isolation.events import IsolationViolated
from bailiwick.kernel.money.commands import SetBudget
from bailiwick.kernel.money.events import BudgetChanged, BudgetStateChanged
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.settings import Settings
from bailiwick.kernel.slices import TOLD_ONLY, cause_of, event_of
from bailiwick.kernel.trust.events import NodeQuarantined
from bailiwick.kernel.trust.rules import STALE
from bailiwick.kernel.work import lease_events as le
from bailiwick.kernel.work.events import (
    AdmissionApproved,
    AdmissionDenied,
    RequestBlocked,
    RequestCancelled,
    RequestQueued,
    RoomLost,
    RoomPostponed,
    RoomReserved,
    WorkEvent,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue, InvariantBroken
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.words import PreemptionReason
from bailiwick.whatif.draft import Draft, DraftLease
from bailiwick.whatif.history import (
    Action,
    Arrive,
    CancelWork,
    ClearMember,
    Grid,
    Happened,
    JournalHistory,
    Member,
    NoteApp,
    Planned,
    StepWord,
    Teardown,
    Work,
    WorkStep,
)

_BY_SCHEDULER = (PreemptionReason.PRIORITY_PREEMPTION, PreemptionReason.BURST_CREDIT_EXHAUSTED)
_OF_MONEY = (PreemptionReason.BUDGET_EXHAUSTED, PreemptionReason.COST_CAP_EVICTION)

Key: TypeAlias = tuple[int, str, str]


class HistoryReader:
    """Takes records one by one, and gives the history from some record on."""

    def __init__(self, settings: Settings | None = None) -> None:
        self._works: list[Work] = []
        self._plan: list[Planned | Draft] = []
        self._happened: list[Happened] = []
        self._leases: dict[int, DraftLease] = {}
        self._entries: dict[int, int] = {}
        self._line: dict[int, int] = {}  # entries that wait, with the rank of their priority
        self._gangs: dict[int, int] = {}
        self._settings = settings or Settings()
        self._key: Key = (-1, "", "")
        self._begins = False  # whether a record is the first of its time and actor
        self._open: Draft | type[Tick | SetBudget] | None = None
        self._budgets: set[Owner] = set()
        self._victims: frozenset[int] = frozenset()
        self._claimant: int | None = None
        self._gave_way: set[int] = set()  # who seeks room anew in the same command
        self._fell = False  # whether what comes next may be evictions from a node the kernel closed

    def take(self, record: Record) -> None:
        """Read the next record."""
        try:
            event = event_of(record)
        except (InvariantBroken, KeyError, TypeError, ValueError) as error:
            told = f"record {record.seq} ({record.kind})"
            raise InvalidValue("journal", told, "a record of the kernel") from error
        key = record.at_ms, record.actor, record.correlation_id
        if key != self._key and not (self._open is Tick and key[:2] == self._key[:2]):
            self._open, self._fell = None, False
            self._victims, self._claimant = frozenset(), None
            self._gave_way.clear()
        self._begins = key[:2] != self._key[:2]
        self._key = key
        began = len(self._works)
        self._read(record, event)
        work = began if len(self._works) > began else None
        self._happened.append(Happened(record.at_ms, record.seq, event, work))

    def history(
        self,
        first: int = 0,
        *,
        end_ms: int | None = None,
        start_ms: int | None = None,
        spacing_ms: int | None = None,
    ) -> JournalHistory:
        """What was done from record ``first`` on, and all works there ever were.

        The time looked at goes from that record to the last, or to and from where it is told.
        """
        if end_ms is None:
            end_ms = self._happened[-1].at_ms if self._happened else 0
        happened = [h for h in self._happened if h.seq >= first and h.at_ms <= end_ms]
        plan = [p if isinstance(p, Planned) else Planned(*p.at, p.action()) for p in self._plan]
        plan = [p for p in plan if p.seq >= first and p.at_ms <= end_ms]
        if start_ms is None or not first:
            start_ms = happened[0].at_ms if happened else end_ms
        ticks = [p.at_ms for p in plan if isinstance(p.action, Tick)]
        grid = Grid.of(ticks, spacing_ms=spacing_ms)
        leaders = sum(isinstance(h.event, LeaderElected) for h in happened)
        told = tuple(self._works), tuple(plan), tuple(happened)
        return JournalHistory(*told, grid, first, start_ms, end_ms, leaders)

    # -- one record ----------------------------------------------------------------------------

    def _read(self, record: Record, event: Event) -> None:
        if isinstance(event, AppEvent):
            self._do(record, NoteApp(event))
        if type(event) in TOLD_ONLY:
            return
        match event:
            case NodeDeparted() if event.leases_left:
                pass  # the last record of it tells the command
            case NodeModeChanged():
                self._mode(record, event)
            case NodeQuarantined():
                self._quarantined(record, event)
            case IsolationViolated():  # by the policy or the evidence that stands before
                self._fell = True
            case BudgetStateChanged():
                if self._open is not SetBudget:  # setting a budget tells at once how it stands
                    self._tick(record)
            case _ if isinstance(event, WorkEvent):
                self._read_work(record, event)
            case _:
                done = cause_of(event)
                self._tick(record) if done is None else self._do(record, done)
                self._note(event)

    def _note(self, event: Event) -> None:
        """What later records are read by."""
        match event:
            case SettingsChanged():
                self._settings = event.settings
            case BudgetChanged(is_removed=True):
                self._budgets.discard(event.owner)
            case BudgetChanged():
                self._budgets.add(event.owner)
                self._open = SetBudget
            case _:
                pass

    def _read_work(self, record: Record, event: WorkEvent) -> None:
        match event:
            case AdmissionApproved() | AdmissionDenied() | RequestQueued():
                self._answered(record, event)
            case RequestBlocked() if not event.gave_way:  # what it gave way to is told behind it
                self._blocked(record, event)
            case RoomReserved() | RoomPostponed() | RoomLost():
                self._tick(record)
            case RequestCancelled():
                self._line.pop(event.entry_id, None)
                if event.cause is CancelCause.ASKED:
                    self._do(record, CancelWork(self._entries[event.entry_id]))
                else:
                    self._tick(record)
            case le.LeaseRevoked():
                self._stepped(record, event)
            case RequestBlocked():
                self._gave_way.add(event.entry_id)
            case le.LeaseRestored():  # by what let its room go, told before it; else by time
                if self._begins:
                    self._tick(record)
                held = self._leases[event.lease_id]
                held.expires_ms, held.noticed, held.graced = event.expires_ms, False, None
            case le.LeaseReleased() | le.LeaseExpired() | le.LeasePreempted() | le.LeaseFenced():
                self._ended(record, event)
            case le.FenceCleared():
                self._do(record, ClearMember(self._leases[event.lease_id].member))
            case le.LeaseRenewed():
                held = self._leases[event.lease_id]
                held.expires_ms = event.expires_ms
                self._step(record, held, StepWord.RENEW, ttl_ms=event.expires_ms - record.at_ms)
            case le.RenewalDenied(lease_id=lease_id):  # elsewhere it might be granted
                self._step(record, self._leases[lease_id], StepWord.RENEW, ttl_ms=event.ttl_ms)
            case le.CheckpointReported():
                self._step(record, self._leases[event.lease_id], StepWord.CHECKPOINT)
            case _:
                assert_never(event)

    def _has_budget(self, owner: Owner) -> bool:
        """Whether a tick may evict for money: of others only an operator can have done so."""
        return bool({owner, Owner(owner.tenant)} & self._budgets)

    def _quarantined(self, record: Record, event: NodeQuarantined) -> None:
        """By an operator; or by evidence, time or a return, told before or as a tick."""
        if event.evidence is None and not event.is_kept:
            self._begin(record, node=event.node, trust=event.reason)
            return
        if event.reason == STALE and not event.is_kept:
            self._tick(record)
        self._fell = True

    def _do(self, record: Record, action: Action) -> None:
        self._fell = False
        self._plan.append(Planned(record.at_ms, record.seq, action))
        self._open = None

    def _tick(self, record: Record) -> None:
        if self._open is not Tick:
            self._do(record, Tick())
            self._open = Tick

    def _begin(
        self,
        record: Record,
        *,
        node: str | None = None,
        mode: NodeMode | None = None,
        trust: str | None = None,
    ) -> Draft:
        draft = Draft((record.at_ms, record.seq), node, mode, trust)
        self._plan.append(draft)
        self._open, self._fell = draft, False
        return draft

    # -- requests --------------------------------------------------------------------------------

    def _answered(
        self, record: Record, event: AdmissionApproved | AdmissionDenied | RequestQueued
    ) -> None:
        match event:
            case AdmissionApproved():
                self._approved(record, event)
            case AdmissionDenied():
                self._arrived(record, event.request, event.wait)
            case RequestQueued():
                number = self._arrived(record, event.request, True)
                self._entries[event.entry_id] = number
                self._line[event.entry_id] = event.request.priority.rank
                self._works[number].entry_id = event.entry_id
                # Only one that was asked about may have its victims told right behind.
                self._claimant = event.entry_id if event.denied is not None else None
            case _:
                assert_never(event)

    def _approved(self, record: Record, event: AdmissionApproved) -> None:
        if event.entry_id is not None:
            number = self._entries[event.entry_id]
            self._line.pop(event.entry_id, None)
            if event.entry_id not in self._gave_way:
                self._tick(record)
        elif event.gang is not None and event.gang in self._gangs:
            number = self._gangs[event.gang]
        else:
            number = self._arrived(record, event.request, not self._passed(event.request))
        if event.gang is not None:
            self._gangs[event.gang] = number
        work, expires = self._works[number], record.at_ms + event.request.ttl_ms
        work.started_ms = record.at_ms
        for lease_id in event.lease_ids:
            self._leases[lease_id] = DraftLease(Member(number, len(work.lease_ids)), expires)
            work.lease_ids.append(lease_id)

    def _passed(self, request: PlacementRequest) -> bool:
        """Whether somebody waits whom only a request that will not wait is let past."""
        return any(rank >= request.priority.rank for rank in self._line.values())

    def _arrived(self, record: Record, request: PlacementRequest, wait: bool) -> int:
        draft = self._open
        if isinstance(draft, Draft) and draft.node is None and draft.reason in _BY_SCHEDULER:
            self._plan.pop()  # they made room for this very request
        number = len(self._works)
        self._works.append(Work(record.at_ms, record.seq, request, wait, record.actor))
        self._do(record, Arrive(number))
        return number

    def _blocked(self, record: Record, event: RequestBlocked) -> None:
        if not (event.victims and event.entry_id in (self._claimant, *self._gave_way)):
            self._tick(record)
        self._victims = frozenset(event.victims)
        self._claimant = None

    # -- leases ----------------------------------------------------------------------------------

    def _step(self, record: Record, held: DraftLease, word: StepWord, *, ttl_ms: int = 0) -> None:
        work = self._works[held.member.work]
        offset = record.at_ms - (work.started_ms or 0)
        step = WorkStep(word, offset, record.seq, ttl_ms, held.noticed)
        work.steps.setdefault(held.member.index, []).append(step)
        self._open = None

    def _stepped(self, record: Record, event: le.LeaseRevoked) -> None:
        held, now = self._leases[event.lease_id], record.at_ms
        usual = self._settings.grace_ms
        match event.after:
            case RevokeState.REVOKE_WARNING:
                held.noticed = True
                self._warned(record, event, held)
            case RevokeState.GRACE_RUNNING:
                held.graced = self._key
                until = held.expires_ms if event.expires_ms is None else event.expires_ms
                draft = self._open
                if isinstance(draft, Draft):
                    draft.graced(until - now, capped=until == held.expires_ms, usual_ms=usual)
                held.expires_ms = until
            case _ if event.is_released:
                self._step(record, held, StepWord.RELEASE)
            case RevokeState.FORCED_TEARDOWN if held.graced == self._key:
                pass  # there was no grace
            case RevokeState.FORCED_TEARDOWN | RevokeState.EXPIRED if event.departed is None:
                self._tick(record)
            case _:
                pass  # a checkpoint, or a node of its gang that departed: told before
        torn = event.after not in (RevokeState.REVOKE_WARNING, RevokeState.GRACE_RUNNING)
        if torn and event.expires_ms is not None:
            held.tearing = now, event.expires_ms
            self._works[held.member.work].teardowns[held.member.index] = Teardown(None)

    def _warned(self, record: Record, event: le.LeaseRevoked, held: DraftLease) -> None:
        reason = event.reason
        is_told = self._fell and reason is PreemptionReason.POLICY_VIOLATION_RECOVERY
        if reason is None or is_told or event.lease_id in self._victims:
            return
        by_budget = reason in _OF_MONEY and self._has_budget(event.owner)
        by_window = reason is PreemptionReason.MAINTENANCE_WINDOW and self._open is Tick
        if by_budget or by_window or reason is PreemptionReason.BURST_CREDIT_EXHAUSTED:
            self._tick(record)
            return
        draft = self._open
        if not isinstance(draft, Draft) or not draft.may_evict_for(reason):
            draft = self._begin(record)
        draft.reason = reason
        draft.members.append(held.member)

    def _ended(self, record: Record, event: le.LeaseEnd) -> None:
        held = self._leases[event.lease_id]
        fenced = isinstance(event, le.LeaseFenced)
        if held.tearing is None:
            if isinstance(event, le.LeaseExpired):
                self._tick(record)
            elif isinstance(event, le.LeaseReleased):
                self._step(record, held, StepWord.RELEASE)
            return
        since, until = held.tearing
        told = Teardown(record.at_ms - since, not fenced, record.seq)
        if fenced and record.at_ms >= until:
            self._tick(record)
            return
        self._works[held.member.work].teardowns[held.member.index] = told

    def _mode(self, record: Record, event: NodeModeChanged) -> None:
        if event.by_window or (event.before, event.after) == (NodeMode.DRAINING, NodeMode.DRAINED):
            drains = isinstance(self._open, Draft) and self._open.mode is NodeMode.DRAINING
            if not drains:
                self._tick(record)
            return
        if event.after is NodeMode.DRAINING and event.evicts:
            self._begin(record, node=event.node, mode=event.after)
        else:
            self._do(record, ChangeMode(event.node, event.after, evict=event.evicts))


def read_history(records: Iterable[Record], *, spacing_ms: int | None = None) -> JournalHistory:
    """The history of a whole journal."""
    reader = HistoryReader()
    for record in records:
        reader.take(record)
    return reader.history(spacing_ms=spacing_ms)
