"""The one list of the kernel's slices, and all that goes through it by type.

``decide(state, command, now_ms)`` is a generator of events. It reads the state and changes nothing;
whoever drives it applies each event before asking for the next, so a decision of many steps sees
what its earlier steps did. Rules:

- All that can be refused is refused before the first event. After it nothing may fail: an error
  there is a broken invariant.
- No clock, no chance, no I/O. The same state, command and time give the same events.
- ``apply`` is the fold that rebuilds everything from the journal. It depends on the state, the
  event, and the record's time and course, and on nothing else.
- A tick does what is due in one order (:data:`_DUE`): leases end before the line is looked at,
  and before that those are spared who would go for nobody. Booked nodes are given back after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from bailiwick.journal.kinds import RecordKind
from bailiwick.journal.record import Record
from bailiwick.kernel.apps import dump as apps_dump
from bailiwick.kernel.apps import rules as apps
from bailiwick.kernel.apps.commands import AppCommand
from bailiwick.kernel.bookings import dump as bookings_dump
from bailiwick.kernel.bookings import rules as bookings
from bailiwick.kernel.bookings.commands import BookingCommand
from bailiwick.kernel.cells import dump as cells_dump
from bailiwick.kernel.cells import rules as cells
from bailiwick.kernel.cells.commands import CellCommand
from bailiwick.kernel.commands import Command, Tick
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet import dump as fleet_dump
from bailiwick.kernel.fleet import rules as fleet
from bailiwick.kernel.fleet.commands import FleetCommand
from bailiwick.kernel.fleet.events import ClockRepaired
from bailiwick.kernel.fleet.rebalance_line import rebalance_line
from bailiwick.kernel.health import dump as health_dump
from bailiwick.kernel.health import rules as health
from bailiwick.kernel.health.commands import HealthCommand
from bailiwick.kernel.isolation import dump as isolation_dump
from bailiwick.kernel.isolation import rules as isolation
from bailiwick.kernel.isolation.commands import IsolationCommand
from bailiwick.kernel.isolation.recovery import follow_proofs, follow_repair
from bailiwick.kernel.maintenance import causes as maintenance_causes
from bailiwick.kernel.maintenance import dump as maintenance_dump
from bailiwick.kernel.maintenance import rules as maintenance
from bailiwick.kernel.maintenance.commands import MaintenanceCommand
from bailiwick.kernel.mig import dump as mig_dump
from bailiwick.kernel.mig import rules as mig
from bailiwick.kernel.mig.commands import MigCommand
from bailiwick.kernel.money import dump as money_dump
from bailiwick.kernel.money import rules as money
from bailiwick.kernel.money.commands import MoneyCommand
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.people import dump as people_dump
from bailiwick.kernel.people import rules as people
from bailiwick.kernel.people.commands import PeopleCommand
from bailiwick.kernel.slice import Apply, Cause, Decide, Slice, TickPart, word_of
from bailiwick.kernel.state import State
from bailiwick.kernel.story.book import NO_COURSE
from bailiwick.kernel.trust import dump as trust_dump
from bailiwick.kernel.trust import rules as trust
from bailiwick.kernel.trust.commands import TrustCommand
from bailiwick.kernel.work import dump as work_dump
from bailiwick.kernel.work import rules as work
from bailiwick.kernel.work.claims.sparing import spare_victims
from bailiwick.kernel.work.commands import WorkCommand
from bailiwick.kernel.work.ending import end_due
from bailiwick.kernel.work.requests import look_at_line
from bailiwick.vocab.clock_repair import ClockRepair
from bailiwick.vocab.errors import InvariantBroken


def _decide_fleet(state: State, command: FleetCommand, now_ms: int) -> Iterator[Event]:
    """What follows for the fleet; and for work when the first leader comes after a repair."""
    return follow_repair(state, fleet.decide(state, command, now_ms), now_ms=now_ms)


def _decide_trust(state: State, command: TrustCommand, now_ms: int) -> Iterator[Event]:
    """What follows from evidence; and for work on nodes that prove something else by it."""
    return follow_proofs(state, trust.decide(state, command, now_ms), now_ms=now_ms)


def _lapse(state: State, *, now_ms: int, limit: int) -> Iterator[Event]:
    """Evidence that became too old, and what follows from that."""
    lapsed = trust.lapse(state, now_ms=now_ms, limit=limit)
    return follow_proofs(state, lapsed, now_ms=now_ms)


SLICES: tuple[Slice, ...] = (
    Slice(
        name="fleet",
        commands=get_args(FleetCommand),
        decide=_decide_fleet,
        apply=fleet.APPLY,
        causes=fleet.CAUSES,
        told_only=fleet.TOLD_ONLY,
        dump=fleet_dump.dump,
        load=fleet_dump.load,
        repair=fleet_dump.repair,
        settle=fleet_dump.settle,
    ),
    Slice(
        name="work",
        commands=get_args(WorkCommand),
        decide=work.decide,
        apply=work.APPLY,
        causes={},
        told_only=work.TOLD_ONLY,
        dump=work_dump.dump,
        load=work_dump.load,
        repair=work_dump.repair,
    ),
    Slice(
        name="people",
        commands=get_args(PeopleCommand),
        decide=people.decide,
        apply=people.APPLY,
        causes={},
        told_only=people.TOLD_ONLY,
        dump=people_dump.dump,
        load=people_dump.load,
        repair=people_dump.repair,
    ),
    Slice(
        name="money",
        commands=get_args(MoneyCommand),
        decide=money.decide,
        apply=money.APPLY,
        causes=money.CAUSES,
        told_only=money.TOLD_ONLY,
        dump=money_dump.dump,
        load=money_dump.load,
        repair=money_dump.repair,
    ),
    Slice(
        name="trust",
        commands=get_args(TrustCommand),
        decide=_decide_trust,
        apply=trust.APPLY,
        causes=trust.CAUSES,
        told_only=trust.TOLD_ONLY,
        dump=trust_dump.dump,
        load=trust_dump.load,
        repair=trust_dump.repair,
        settle=trust_dump.settle,
    ),
    Slice(
        name="isolation",
        commands=get_args(IsolationCommand),
        decide=isolation.decide,
        apply=isolation.APPLY,
        causes=isolation.CAUSES,
        told_only=(),
        dump=isolation_dump.dump,
        load=isolation_dump.load,
        repair=isolation_dump.repair,
    ),
    Slice(
        name="apps",
        commands=get_args(AppCommand),
        decide=apps.decide,
        apply=apps.APPLY,
        causes={},
        told_only=apps.TOLD_ONLY,
        dump=apps_dump.dump,
        load=apps_dump.load,
        repair=apps_dump.repair,
    ),
    Slice(
        name="cells",
        commands=get_args(CellCommand),
        decide=cells.decide,
        apply=cells.APPLY,
        causes={},
        told_only=cells.TOLD_ONLY,
        dump=cells_dump.dump,
        load=cells_dump.load,
        repair=cells_dump.repair,
    ),
    Slice(
        name="maintenance",
        commands=get_args(MaintenanceCommand),
        decide=maintenance.decide,
        apply=maintenance.APPLY,
        causes=maintenance_causes.CAUSES,
        told_only=(),
        dump=maintenance_dump.dump,
        load=maintenance_dump.load,
        repair=maintenance_dump.repair,
        settle=maintenance_dump.settle,
    ),
    Slice(
        name="mig",
        commands=get_args(MigCommand),
        decide=mig.decide,
        apply=mig.APPLY,
        causes={},
        told_only=mig.TOLD_ONLY,
        dump=mig_dump.dump,
        load=mig_dump.load,
        repair=mig_dump.repair,
    ),
    Slice(
        name="bookings",
        commands=get_args(BookingCommand),
        decide=bookings.decide,
        apply=bookings.APPLY,
        causes=bookings.CAUSES,
        told_only=(),
        dump=bookings_dump.dump,
        load=bookings_dump.load,
        repair=bookings_dump.repair,
        settle=bookings_dump.settle,
    ),
    Slice(
        name="health",
        commands=get_args(HealthCommand),
        decide=health.decide,
        apply=health.APPLY,
        causes={},
        told_only=health.TOLD_ONLY,
        dump=health_dump.dump,
        load=health_dump.load,
        repair=health_dump.repair,
    ),
)
"""Each stands on those before it: a snapshot is read in this order."""

_DUE: tuple[TickPart, ...] = (
    spare_victims,
    end_due,
    bookings.keep_bookings,
    maintenance.keep_windows,
    fleet.finish_drains,
    fleet.expire_notes,
    maintenance.enter_windows,
    mig.keep_mig,
    health.keep_tests,
    fleet.end_bursts,
    money.watch_budgets,
    cells.keep_lost,
    _lapse,
    look_at_line,
    bookings.give_back_nodes,
    rebalance_line,
)
"""What a tick does, in this order."""


def _tick(state: State, command: Tick, now_ms: int) -> Iterator[Event]:
    for due in _DUE:
        yield from due(state, now_ms=now_ms, limit=command.limit)


_DECIDE: Mapping[type, Decide] = {
    Tick: _tick,
    **{command: each.decide for each in SLICES for command in each.commands},
}
COMMANDS: Mapping[str, type[Any]] = {word_of(command): command for command in _DECIDE}
"""Every command by its word."""

APPLY: Mapping[type[Any], Apply] = {
    event: how for each in SLICES for event, how in each.apply.items()
}
EVENTS: Mapping[RecordKind, type[Any]] = {event.kind: event for event in APPLY}
"""Every event by the kind of its record."""

CAUSES: Mapping[type, Cause] = {
    event: cause for each in SLICES for event, cause in each.causes.items()
}
TOLD_ONLY: frozenset[type] = frozenset(event for each in SLICES for event in each.told_only)
"""Events from which no decision about placement follows."""


def decide(state: State, command: Command, now_ms: int) -> Iterator[Event]:
    """The events that follow from a command at a time that is not before the state's."""
    return _DECIDE[type(command)](state, command, now_ms)


def apply(state: State, event: Event, at_ms: int, *, course: str = NO_COURSE) -> None:
    """The state after one more record; its course is its correlation id."""
    if isinstance(event, ClockRepaired):
        _repair_clock(state, event, at_ms)
    elif at_ms < state.clock_ms:
        raise InvariantBroken(f"time went back from {state.clock_ms} to {at_ms}")
    state.clock_ms = at_ms
    state.courses.note(event, course)
    state.times.note(state.size, at_ms)
    APPLY[type(event)](state, event, at_ms)
    state.size += 1


def _repair_clock(state: State, event: ClockRepaired, at_ms: int) -> None:
    """Set every time right: in the state as it is written down, where each has its place."""
    if (event.before_ms, event.after_ms) != (state.clock_ms, at_ms):
        raise InvariantBroken(f"a repair from {event.before_ms}, the clock is {state.clock_ms}")
    repair = ClockRepair(event.before_ms, event.after_ms)
    if not repair.goes_back:
        return
    plain: dict[str, Any] = {}
    for each in SLICES:
        plain |= each.dump(state)
    fresh = State(engine=state.engine_name)
    fresh.size, fresh.answers, fresh.courses = state.size, state.answers, state.courses
    fresh.answers.repair(repair.past)
    for each in SLICES:
        each.repair(plain, repair)
        each.load(fresh, plain)
    for each in SLICES:
        each.settle(fresh, plain)
    state.take_over(fresh)


def event_of(record: Record) -> Event:
    """The event that a record tells."""
    event: Event = EVENTS[record.kind].read(record.body, Owner(record.tenant, record.project))
    return event


def cause_of(event: Event) -> Command | None:
    """The command that an event answers; ``None`` if it is time that brought it about."""
    return CAUSES[type(event)](event)
