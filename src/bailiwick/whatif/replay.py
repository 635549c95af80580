"""Does a history again, as it was or with something changed, through the kernel's own decisions.

Rules:

- Requests come when they came, and operators do what they did when they did it. What the kernel
  decides follows: it is asked by ``decide`` and told by ``apply``, as in production.
- Work that starts does what it did before, so long after ITS start: renewals, checkpoints, release.
- Time is looked at when the journal shows that it was, and beyond that on the journal's own grid
  whenever something is due, something changed while somebody waits, or a minute has passed.
- A command that this world refuses (its node never came, it is not drained yet) is counted and
  left out.
- Nothing here is chance, so the same history and changes give the same world.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeAlias

from bailiwick.kernel.commands import Command, Tick
from bailiwick.kernel.events import Event
from bailiwick.kernel.slices import apply, decide
from bailiwick.kernel.state import State
from bailiwick.kernel.trust.events import AttestationVerdict, NodeQuarantineLifted, PolicyChanged
from bailiwick.kernel.work import lease_events as le
from bailiwick.kernel.work.commands import (
    LEASES_MAX,
    Cancel,
    ClearFence,
    Evict,
    Release,
    Renew,
    ReportCheckpoint,
    ReportTeardown,
    Submit,
)
from bailiwick.kernel.work.events import AdmissionApproved, AdmissionDenied, RequestQueued
from bailiwick.vocab.errors import BailiwickError, InvariantBroken
from bailiwick.vocab.transitions import RevokeState
from bailiwick.whatif.changes import Changes
from bailiwick.whatif.history import (
    Action,
    Arrive,
    CancelWork,
    ClearMember,
    EvictMembers,
    JournalHistory,
    Member,
    NoteApp,
    StepWord,
    Teardown,
    WorkStep,
    member_of,
)
from bailiwick.whatif.tally import EventTally, Tally

IDLE_MS = 60_000
"""How often at least the line is looked at while somebody waits."""

# Before what the journal tells of a millisecond: shifted deeds, then a tick that left no record.
_SHIFTED, _UNTOLD = -2, -1
_TEARING = (RevokeState.FORCED_TEARDOWN, RevokeState.CHECKPOINT_REPORTED, RevokeState.EXPIRED)

Watch: TypeAlias = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class HolderStep:
    """A holder does this with a lease."""

    lease_id: int
    step: WorkStep


@dataclass(frozen=True, slots=True)
class TeardownReport:
    """An executor reports on a lease."""

    lease_id: int
    clean: bool


Deed: TypeAlias = Action | HolderStep | TeardownReport


@dataclass(frozen=True, slots=True)
class World:
    """How one replay went: every event with its time, the sums, and what could not be done."""

    events: tuple[tuple[int, Event], ...]
    opening: int
    """How many of the events, at the beginning, only put the changes in force."""
    tally: Tally
    skipped: dict[str, int]
    """Commands that were refused, by the word of the error."""


class Replayer:
    """One replay of a history from a state, which it changes."""

    def __init__(
        self, history: JournalHistory, state: State, changes: Changes | None = None
    ) -> None:
        self._history, self._state = history, state
        self._changes = changes or Changes()
        self._ticks = history.ticks
        self._heap: list[tuple[int, int, int, Deed]] = []
        self._serial = 0
        self._extra: set[int] = set()
        self._events: list[tuple[int, Event]] = []
        self._skipped: dict[str, int] = {}
        self._now, self._opening = history.start_ms, False
        self._member = {i: m for i, m in member_of(history.works).items() if i in state.leases}
        self._leases = {member: i for i, member in self._member.items()}
        self._entries = self._waiting_before()
        self._entry_of = {work: entry_id for entry_id, work in self._entries.items()}
        works = {lease_id: member.work for lease_id, member in self._member.items()}
        self._counter = EventTally(state, history.start_ms, works=works)

    def run(self, watch: Watch | None = None) -> World:
        """Do everything, in order; ``watch`` is told the time as it passes."""
        self._take_up()
        self._opening = True  # a change that cannot be made is an error, not a skipped command
        for command in self._changes.opening(self._state, self._history):
            self._execute(command, None)
        self._opening, begun = False, len(self._events)
        for each in self._history.plan:
            action = self._changes.rewrite(each.action)
            if action is not None:
                self._push(each.at_ms, each.seq, action)
        while (
            self._heap
        ):  # bounded: every deed is in the plan, a work's, or one of a grid to an end
            at_ms, _, _, deed = heappop(self._heap)
            self._now = at_ms
            if watch is not None:
                watch(at_ms)
            self._do(deed)
        tally = self._counter.close(self._history.end_ms)
        return World(tuple(self._events), begun, tally, dict(sorted(self._skipped.items())))

    # -- beginning -----------------------------------------------------------------------------

    def _waiting_before(self) -> dict[int, int]:
        """The entries of the line, each with the request it is."""
        line = self._state.line.entries
        works = enumerate(self._history.works)
        return {w.entry_id: n for n, w in works if w.seq < self._first and w.entry_id in line}

    @property
    def _first(self) -> int:
        return self._history.first

    def _take_up(self) -> None:
        """What runs and waits already when the time looked at begins."""
        state, works = self._state, self._history.works
        for lease_id, member in self._member.items():
            began = works[member.work].started_ms or 0
            self._script(lease_id, member, began)
            self._due(state.fields(lease_id).expires_ms)
        for entry_id, work in self._entries.items():
            entry = state.entry(entry_id)
            since, tenant = entry.submitted_ms, str(entry.request.tenant)
            self._counter.entry(entry_id, work=work, tenant=tenant, since_ms=since)
            if entry.request.deadline_ms is not None:
                self._due(entry.request.deadline_ms + 1)
        self._look_again()

    def _push(self, at_ms: int, order: int, deed: Deed) -> None:
        if self._now <= at_ms <= self._history.end_ms:
            self._serial += 1
            heappush(self._heap, (at_ms, order, self._serial, deed))

    def _script(self, lease_id: int, member: Member, began_ms: int) -> None:
        """What the holder did with this member before, from its new start on."""
        work = self._history.works[member.work]
        for step in work.steps.get(member.index, ()):
            if began_ms == work.started_ms and step.seq < self._first:
                continue  # done before the time looked at
            order = step.seq if began_ms == work.started_ms else _SHIFTED
            self._push(began_ms + step.offset_ms, order, HolderStep(lease_id, step))

    # -- doing ---------------------------------------------------------------------------------

    def _do(self, deed: Deed) -> None:
        match deed:
            case Arrive():
                work = self._history.works[deed.work]
                self._execute(Submit(work.request, work.wait), deed.work)
            case CancelWork():
                entry_id = self._entry_of.get(deed.work, 0)
                if entry_id in self._state.line.entries:
                    self._execute(Cancel(entry_id), None)
            case EvictMembers():
                self._evict(deed)
            case ClearMember():
                lease_id = self._leases.get(deed.member, 0)
                if lease_id in self._state.fenced:
                    self._execute(ClearFence(lease_id), None)
            case NoteApp():
                apply(self._state, deed.event, max(self._now, self._state.clock_ms))
                self._look_again()
            case HolderStep():
                self._step(deed.lease_id, deed.step)
            case TeardownReport():
                if deed.lease_id in self._state.leases:
                    self._execute(ReportTeardown(deed.lease_id, deed.clean), None)
            case _:
                self._execute(deed, None)

    def _step(self, lease_id: int, step: WorkStep) -> None:
        state = self._state
        if lease_id not in state.leases:
            return
        noticed = state.phase(lease_id) is not RevokeState.ACTIVE
        if step.under_notice != noticed and step.word is not StepWord.RELEASE:
            return
        if step.under_notice and not noticed:
            return  # it was given back because it had to go, and here it has not
        match step.word:
            case StepWord.RELEASE:
                self._execute(Release(lease_id), None)
            case StepWord.RENEW:
                self._execute(Renew(lease_id, step.ttl_ms), None)
            case StepWord.CHECKPOINT:
                self._execute(ReportCheckpoint(lease_id), None)

    def _evict(self, deed: EvictMembers) -> None:
        state = self._state
        ids = [self._leases.get(member) for member in deed.members]
        held = [i for i in ids if i is not None and i in state.leases]
        active = tuple(i for i in held if state.phase(i) is RevokeState.ACTIVE)
        if active:
            command = Evict(active[:LEASES_MAX], deed.reason, deed.grace_ms)
            self._execute(command, None)

    def _execute(self, command: Command, work: int | None) -> None:
        """Decide and apply, as :class:`.machine.Kernel` does; nothing has to be sealed."""
        state, before = self._state, len(self._events)
        now = max(self._now, state.clock_ms)
        try:
            for event in decide(state, command, now):
                apply(state, event, now)
                self._events.append((now, event))
                work = self._note(now, event, work)
        except InvariantBroken:
            raise
        except BailiwickError as error:
            if len(self._events) > before or self._opening:
                raise
            word = error.code.value
            self._skipped[word] = self._skipped.get(word, 0) + 1
        if isinstance(command, Tick) and self._is_idle_watched():
            self._due(now + max(IDLE_MS, self._history.grid.spacing_ms))
        if len(self._events) > before:
            self._look_again()

    # -- what follows ----------------------------------------------------------------------------

    def _note(self, now: int, event: Event, work: int | None) -> int | None:
        """Keep the books; the work that a later event of the same command may still begin."""
        begins = None
        match event:
            case RequestQueued():
                begins, work = work, None
                if begins is not None:
                    self._entries[event.entry_id] = begins
                    self._entry_of[begins] = event.entry_id
                if event.request.deadline_ms is not None:
                    self._due(event.request.deadline_ms + 1)
            case AdmissionDenied():
                begins, work = work, None
            case AdmissionApproved():
                begins = self._started(now, event, work)
                work = None
            case le.LeaseRenewed() | le.LeaseRestored():
                self._due(event.expires_ms)
            case AttestationVerdict() | PolicyChanged() | NodeQuarantineLifted():
                if self._state.trust.next_due_ms is not None:
                    self._due(self._state.trust.next_due_ms)
            case le.LeaseRevoked() if event.expires_ms is not None:
                self._due(event.expires_ms)
                if event.after in _TEARING:
                    self._torn(now, event.lease_id)
            case _:
                pass
        self._counter.note(now, event, work=begins)
        return work

    def _started(self, now: int, event: AdmissionApproved, work: int | None) -> int | None:
        """The leases of a work, each with what its holder does; the work if this begins it."""
        begins = work
        if event.entry_id is not None:
            work, begins = self._entries.get(event.entry_id), None
        elif work is None:
            work = self._member[event.lease_ids[0] - 1].work  # the gang's record before
        if work is None:
            raise InvariantBroken(f"leases {event.lease_ids} of a request that nobody made")
        size = event.request.gang_size
        first = size - event.members_left - len(event.lease_ids)
        for index, lease_id in enumerate(event.lease_ids, first):
            member = Member(work, index)
            self._member[lease_id], self._leases[member] = member, lease_id
            self._script(lease_id, member, now)
        self._due(now + event.request.ttl_ms)
        return begins

    def _torn(self, now: int, lease_id: int) -> None:
        """Somebody must report that the lease's resources are free: as before, or as is usual."""
        member = self._member[lease_id]
        usual = Teardown(self._history.teardown_ms)
        told = self._history.works[member.work].teardowns.get(member.index, usual)
        if told.delay_ms is not None:
            order = told.seq if told.seq >= 0 else _SHIFTED
            self._push(now + told.delay_ms, order, TeardownReport(lease_id, told.clean))

    # -- looking at the time -----------------------------------------------------------------------

    def _is_idle_watched(self) -> bool:
        """Whether time alone may make a difference."""
        if self._state.line.entries or self._state.spending.purses:
            return True
        return any(bucket is not None for _, _, bucket in self._state.quotas.settings())

    def _look_again(self) -> None:
        """Something changed: if somebody waits for something, there is a tick after this moment."""
        if self._state.line.entries or self._state.draining:
            self._due(self._now)

    def _due(self, at_ms: int) -> None:
        """There must be a tick at that time or soon after it, but after this moment."""
        grid, at = self._history.grid, max(at_ms, self._now + 1)
        late = grid.spacing_ms if grid.regular else 2 * grid.spacing_ms
        found = bisect_left(self._ticks, at)
        if found < len(self._ticks) and self._ticks[found] - at < late:
            return
        moment = grid.at_or_after(at)
        if moment not in self._extra:
            self._extra.add(moment)
            self._push(moment, _UNTOLD, Tick())
