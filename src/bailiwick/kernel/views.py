"""What can be seen in a state: who waits and why, what the fleet holds, what a tenant uses.

Rules:

- Looking changes nothing: a state has the same digest before and after.
- A waiting entry is told with everything that stands in its way, in the order of the line; where it
  stands is counted up to a number, so that a long line costs no more to look at. When it
  may start is an :class:`Estimate`: it holds if every lease ends when it says and nobody comes
  between, and it says on what it rests, or why there is none.
- Leases bear the kernel's numbers; a ledger's handle never leaves this package.

>>> waiting(State(), 0)
()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import islice, takewhile
from types import MappingProxyType

from bailiwick.fleet.resources import NOTHING, Resources
from bailiwick.kernel.state import State
from bailiwick.kernel.work.own_room import name_own
from bailiwick.scheduler.decision import Approved, Denied
from bailiwick.scheduler.explain import NO_RULES, Explanation, Remedy, RuleCounts, advise
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.lease import Lease
from bailiwick.scheduler.node_state import resources_of_node
from bailiwick.scheduler.quota_policy import QuotaScope, Room
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.reservation import CAPACITY_REASONS, Turn
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import MILLI, ProjectId, TenantId
from bailiwick.vocab.words import (
    Dimension,
    FilterReason,
    HardwareGeneration,
    PendingReason,
)

WAITING_MAX = 100
"""Entries of the line that are told in full when nobody says how many."""

POSITION_MAX = 100
"""Entries that are counted to tell where one stands; beyond it, it stands further back."""

AHEAD_MAX = 8
"""Entries ahead of one that are asked before it, as the kernel itself does."""


class EstimateBasis(StrEnum):
    """On what an estimate rests; the last three words say why there is none."""

    FITS_NOW = "fits_now"
    RESERVATION = "reservation"
    VICTIMS = "victims"
    EXPIRY = "expiry"
    WAITS_FOR_QUOTA = "waits_for_quota"
    BEYOND_HORIZON = "beyond_horizon"
    WAITING_DOES_NOT_HELP = "waiting_does_not_help"


@dataclass(frozen=True, slots=True)
class Estimate:
    """When an entry may start, by our best guess; ``None`` if nothing can be said."""

    starts_ms: int | None
    basis: EstimateBasis


@dataclass(frozen=True, slots=True)
class WaitingEntry:
    """One request in the line: where it stands, what stands in its way, what would help."""

    id: int
    request: PlacementRequest
    submitted_ms: int
    position: int
    """1 for the entry that is looked at first."""
    is_further: bool
    """Whether it stands further back than that: no more than :data:`POSITION_MAX` are counted."""
    raised: int
    """By how many priorities it stands higher for having waited."""
    slips: int
    """How often the start that it was promised moved later."""
    blocker: Denied | None
    """What must be cleared first; nothing if only those ahead of it are in the way."""
    blockers: tuple[Denied, ...]
    fallen: Mapping[FilterReason, int]
    fitting: int
    remedy: Remedy
    estimate: Estimate
    rules: RuleCounts = NO_RULES
    """How many nodes each rule of a policy closes to it."""

    @property
    def reason(self) -> PendingReason:
        """Why it waits, in one word."""
        return PendingReason.NOT_YET_LOOKED_AT if self.blocker is None else self.blocker.reason


def waiting(state: State, now_ms: int, *, limit: int = WAITING_MAX) -> tuple[WaitingEntry, ...]:
    """The first entries of the line, in the order in which they are looked at."""
    now = max(now_ms, state.clock_ms)
    turn = state.turn(now)
    rows = enumerate(islice(state.line.order(now), limit), 1)
    return tuple(_told(state, entry, position, turn=turn) for position, entry in rows)


def waiting_entry(state: State, entry_id: int, *, now_ms: int) -> WaitingEntry:
    """One entry; one that has started or was cancelled is an error."""
    (found,) = waiting_entries(state, (entry_id,), now_ms=now_ms)
    return found


def waiting_entries(
    state: State, entry_ids: Iterable[int], *, now_ms: int
) -> tuple[WaitingEntry, ...]:
    """These entries, after one look at the head of the line for all of them."""
    now = max(now_ms, state.clock_ms)
    asked = [state.entry(entry_id) for entry_id in entry_ids]
    left, turn = {entry.id for entry in asked}, state.turn(now)
    positions: dict[int, int] = {}
    is_far = all(state.line.least_ahead(each, now) >= POSITION_MAX for each in asked)
    most = AHEAD_MAX if is_far else POSITION_MAX
    for position, entry in enumerate(islice(state.line.order(now), most), 1):
        positions[entry.id] = position
        left.discard(entry.id)
        if not left:
            break
        if position <= AHEAD_MAX and entry.id not in state.claims and not turn.is_full:
            turn.ask(entry)  # further ones change nothing: room can be kept for nobody else
    return tuple(_told(state, each, positions.get(each.id), turn=turn) for each in asked)


def estimate_newcomer(state: State, request: PlacementRequest, *, now_ms: int) -> Estimate:
    """When a request that is not in the line yet may start, if it joins it now."""
    newcomer, turn = QueueEntry(state.line.next_id, request, now_ms), state.turn(now_ms)
    for other in islice(ahead_of(state, request, now_ms=now_ms), AHEAD_MAX):
        if other.id not in state.claims and not turn.is_full:
            turn.ask(other)
    return _estimate(state, newcomer, turn.ask(newcomer), turn=turn)


def ahead_of(state: State, request: PlacementRequest, *, now_ms: int) -> Iterator[QueueEntry]:
    """Behind whom a newcomer stands: entries of at least its rank."""
    line, rank = state.line, request.priority.rank
    return takewhile(lambda entry: line.rank(entry, now_ms) >= rank, line.order(now_ms))


def _told(state: State, entry: QueueEntry, position: int | None, *, turn: Turn) -> WaitingEntry:
    now, promise = turn.now_ms, state.line.promises.get(entry.id)
    if entry.id in state.claims:
        with state.guards.for_claimant(entry.id, now_ms=now) as admission:
            found = admission.explain(entry.request, now_ms=now)
        blocker = state.blocked[entry.id]
        estimate = _when_victims_left(state, entry, now)
    else:
        found = state.admission.explain(entry.request, now_ms=now)
        decision = turn.ask(entry)
        blocker = _first(found, decision)
        estimate = _estimate(state, entry, decision, turn=turn)
    blockers = found.blockers
    if blocker is not None and blocker not in blockers:
        blockers = tuple(sorted((*blockers, blocker), key=lambda b: b.reason.rank))
    return WaitingEntry(
        entry.id,
        entry.request,
        entry.submitted_ms,
        POSITION_MAX if position is None else position,
        position is None,
        state.line.rank(entry, now) - entry.request.priority.rank,
        0 if promise is None else promise.slips,
        blocker,
        blockers,
        MappingProxyType(found.fallen),
        found.fitting,
        found.remedy if blocker is None else _advice(state, entry, found, blocker=blocker),
        estimate,
        found.rules,
    )


def _advice(state: State, entry: QueueEntry, found: Explanation, *, blocker: Denied) -> Remedy:
    remedy = advise(blocker, found.fallen, fitting=found.fitting)
    return name_own(state, entry.request, blocker=blocker, remedy=remedy)


def _first(found: Explanation, decision: Approved | Denied) -> Denied | None:
    """The first of all obstacles; if there is none but the room kept for another, that."""
    if found.first_blocker is not None:
        return found.first_blocker
    return decision if isinstance(decision, Denied) else None


def _when_victims_left(state: State, entry: QueueEntry, now_ms: int) -> Estimate:
    victims = [i for i in state.claims[entry.id].victims if i in state.leases]
    until = max((state.fields(i).expires_ms for i in victims), default=now_ms)
    return Estimate(max(until, now_ms), EstimateBasis.VICTIMS)


def _estimate(
    state: State, entry: QueueEntry, decision: Approved | Denied, *, turn: Turn
) -> Estimate:
    if isinstance(decision, Approved):
        return Estimate(turn.now_ms, EstimateBasis.FITS_NOW)
    if not decision.reason.is_transient:
        return Estimate(None, EstimateBasis.WAITING_DOES_NOT_HELP)
    if decision.reason not in CAPACITY_REASONS:
        return Estimate(None, EstimateBasis.WAITS_FOR_QUOTA)
    kept = turn.reservation_of(entry)
    if kept is not None:
        return Estimate(kept.at_ms, EstimateBasis.RESERVATION)
    found = turn.foresee(entry)
    if found is None:
        return Estimate(None, EstimateBasis.BEYOND_HORIZON)
    return Estimate(found.at_ms, EstimateBasis.EXPIRY)


# -- the fleet -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class GenerationRow:
    """The devices of one generation: how many, and how their milli-shares stand."""

    generation: HardwareGeneration
    nodes: int
    devices: int
    leased_milli: int
    claimed_milli: int
    """Left by some for others, who have not started yet."""
    free_milli: int
    """Free on nodes that take leases."""

    @property
    def closed_milli(self) -> int:
        """Free, but on nodes that take no leases now."""
        return self.devices * MILLI - self.leased_milli - self.claimed_milli - self.free_milli


@dataclass(frozen=True, slots=True)
class FleetSummary:
    """The machines: how many in which mode, what they have, what is held and what is free."""

    nodes: int
    modes: Mapping[NodeMode, int]
    quarantined: int
    gated: int
    """Nodes that have yet to prove what is asked of them."""
    capacity: Resources
    leased: Resources
    claimed: Resources
    """Left by some for others, who have not started yet."""
    free: Resources
    """Free on nodes that take leases."""
    generations: tuple[GenerationRow, ...]
    fenced: int
    """Leases whose resources nobody gets until an operator says that they are clean."""


def fleet(state: State) -> FleetSummary:
    """The fleet in numbers."""
    modes = dict.fromkeys(NodeMode, 0)
    capacity, unused, claimed, closed, gated = NOTHING, NOTHING, NOTHING, 0, 0
    rows: dict[HardwareGeneration, list[int]] = {}
    for entry in state.ledger.entries.values():
        modes[entry.mode] += 1
        closed += entry.quarantined
        gated += entry.gated
        has = entry.capacity
        _, _, cpu, mem, block, devices, _ = state.ledger.engine.node(entry.handle)
        capacity += Resources(has.cpu_milli, has.mem_bytes, has.block_bytes, has.gpu_milli)
        unused += Resources(cpu, mem, block, sum(devices))
        for generation in {gpu.generation for gpu in has.gpus}:
            rows.setdefault(generation, [0, 0, 0, 0, 0])[0] += 1
        kept = state.ledger.holds.kept_on(entry.handle) or (0,) * (3 + len(devices))
        claimed += resources_of_node(kept)
        for gpu, free, waits in zip(has.gpus, devices, kept[3:], strict=True):
            row = rows[gpu.generation]
            row[1] += 1
            row[2] += MILLI - free - waits
            row[3] += waits
            row[4] += free if entry.takes_leases else 0
    return FleetSummary(
        nodes=len(state.ledger),
        modes=MappingProxyType({mode: count for mode, count in modes.items() if count}),
        quarantined=closed,
        gated=gated,
        capacity=capacity,
        leased=capacity - unused - claimed,
        claimed=claimed,
        free=state.ledger.free,
        generations=tuple(GenerationRow(g, *rows[g]) for g in HardwareGeneration if g in rows),
        fenced=len(state.fenced),
    )


def leases(state: State) -> Iterator[Lease]:
    """Every lease by its kernel number; a fenced one is told as of him who held it."""
    for lease_id in sorted(state.leases):
        told = replace(state.ledger.told(state.leases[lease_id]), id=lease_id)
        owner = state.fenced.get(lease_id)
        if owner is not None:
            project = None if owner.project is None else ProjectId(owner.project)
            told = replace(told, tenant=TenantId(str(owner.tenant)), project=project)
        yield told


# -- tenants ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ScopeUsage:
    """A tenant or a project of it: what it holds against its quota, and who of it waits."""

    scope: QuotaScope
    share: int
    leases: int
    held: Resources
    waiting: int
    dimensions: Mapping[Dimension, Room]
    generations: Mapping[HardwareGeneration, Room]
    """Of those that are limited or in use."""


def usage(state: State) -> tuple[ScopeUsage, ...]:
    """Every tenant and project that has a quota, a share, a lease or a waiting request."""
    held: dict[QuotaScope, tuple[int, Resources]] = {}
    queued: dict[QuotaScope, int] = {}
    shares = {QuotaScope.of(*scope): share for scope, share in _shares(state)}
    for lease in leases(state):
        if lease.id not in state.fenced:
            for scope in _scopes(lease.tenant, lease.project):
                count, amount = held.get(scope, (0, NOTHING))
                held[scope] = count + 1, amount + lease.resources
    for entry in state.line.entries.values():
        for scope in _scopes(entry.request.tenant, entry.request.project):
            queued[scope] = queued.get(scope, 0) + 1
    scopes = {scope for scope, _, _ in state.quotas.settings()} | {*held, *queued, *shares}
    scopes |= {QuotaScope(scope.tenant) for scope in scopes}
    rows = []
    for scope in sorted(scopes, key=lambda s: (s.tenant, s.project or "")):
        room = state.quotas.headroom(scope.tenant, scope.project)
        listed = {g: r for g, r in room.generations.items() if r.used or r.limit}
        count, amount = held.get(scope, (0, NOTHING))
        numbers = shares.get(scope, 1), count, amount, queued.get(scope, 0)
        rows.append(ScopeUsage(scope, *numbers, room.dimensions, MappingProxyType(listed)))
    return tuple(rows)


def _scopes(tenant: TenantId, project: ProjectId | None) -> tuple[QuotaScope, ...]:
    outer = QuotaScope(tenant)
    return (outer,) if project is None else (outer, QuotaScope(tenant, project))


def _shares(state: State) -> Iterator[tuple[tuple[str, ...], int]]:
    for scope, share in state.shares.dump()["shares"]:
        if isinstance(scope, list) and isinstance(share, int) and all(scope):
            yield tuple(scope), share
