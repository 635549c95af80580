"""What an instance's members say of it: its phase, its conditions, and what is to be done next.

Rules:

- It runs when every role has its members ready at the wanted version and its operator, if one ever
  reported, has seen the wanted generation. An operator may say that it is less well than that, and
  never that it is better.
- Until it first ran it is being provisioned. Later, what is not there yet is an update if something
  else is wanted than what last ran, and else a loss.
- It has failed when nobody is left of whom something could still come, and somebody failed.
- Members that others contributed are beside all that: they count for nothing that is wanted.
- A member that failed is replaced; more than are wanted are drained, the least useful first. To
  another version members go one of a role at a time, and only while all others of it are ready.

>>> facts = InstanceFacts({"worker": 2}, "1.0.0", (MemberFact("worker-0", "worker", _M.READY),))
>>> derive(facts).value, plan_members(facts).add
('provisioning', (('worker', 'worker-1'),))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from bailiwick.vocab.apps import InstanceCondition, InstancePhase, MemberPhase

_I, _M, _C = InstancePhase, MemberPhase, InstanceCondition


class MemberFact(NamedTuple):
    """What counts of a member."""

    component_key: str
    role: str
    phase: MemberPhase
    version: str = "1.0.0"
    is_contributed: bool = False
    """Whether another project gave it: it is beside what is wanted, and never too many."""


@dataclass(frozen=True, slots=True)
class InstanceFacts:
    """What counts of an instance."""

    counts: Mapping[str, int]
    version: str
    members: tuple[MemberFact, ...]
    """Only who answers to a component key, and those who leave."""
    phase: InstancePhase = InstancePhase.REQUESTED
    has_run: bool = False
    is_settled: bool = False
    """Whether what is wanted is what last ran."""
    is_observed: bool = True
    """Whether its operator has seen what is wanted; true if it has none."""
    reported: InstancePhase | None = None

    @property
    def own(self) -> tuple[MemberFact, ...]:
        """Its own members, of which so many are wanted."""
        return tuple(each for each in self.members if not each.is_contributed)


class RoleTally(NamedTuple):
    """How many members of a role there are."""

    wanted: int
    ready: int
    """Of the wanted version."""
    live: int
    failed: int
    leaving: int
    outdated: int
    """Live ones of another version."""


@dataclass(frozen=True, slots=True)
class InstanceStatus:
    """What is known of an instance at a time."""

    phase: InstancePhase
    conditions: tuple[InstanceCondition, ...]
    roles: Mapping[str, RoleTally]


@dataclass(frozen=True, slots=True)
class MemberPlan:
    """What is to be done to members, by component key, so that they become what is wanted."""

    add: tuple[tuple[str, str], ...] = ()
    """Role and component key."""
    replace: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    drain: tuple[str, ...] = ()
    renew: tuple[str, ...] = ()
    """Contributed ones to replace, each at its project's cost."""


def tally(facts: InstanceFacts) -> dict[str, RoleTally]:
    """The members of each role, counted; those that others contributed are beside them."""
    rows = {role: [0, 0, 0, 0, 0] for role in facts.counts}
    for member in facts.own:
        row = rows.setdefault(member.role, [0, 0, 0, 0, 0])
        is_current = member.version == facts.version
        row[0] += is_current and member.phase is _M.READY
        row[1] += member.phase.is_live
        row[2] += member.phase is _M.FAILED
        row[3] += member.phase is _M.DRAINING
        row[4] += member.phase.is_live and not is_current
    return {role: RoleTally(facts.counts.get(role, 0), *row) for role, row in rows.items()}


def derive(facts: InstanceFacts) -> InstancePhase:
    """The phase that follows from the members and from what the operator says."""
    if facts.phase in (_I.DELETING, _I.DELETED):
        return facts.phase
    if facts.reported is _I.FAILED:
        return _I.FAILED
    roles = tally(facts).values()
    if facts.is_observed and all(row.ready >= row.wanted for row in roles):
        return _I.DEGRADED if facts.reported is _I.DEGRADED else _I.RUNNING
    if any(row.failed for row in roles) and not any(row.live for row in roles):
        return _I.FAILED
    if not facts.has_run:
        is_new = facts.phase is _I.REQUESTED and not facts.members
        return _I.REQUESTED if is_new else _I.PROVISIONING
    return _I.DEGRADED if facts.is_settled else _I.UPDATING


@dataclass(frozen=True, slots=True)
class InstanceTimes:
    """Until when an instance is to be ready, and gone; and as of when that is asked."""

    now_ms: int
    ready_by_ms: int
    deadline_ms: int | None = None


def conditions(
    facts: InstanceFacts, times: InstanceTimes, *, is_paused: bool, is_entitled: bool
) -> tuple[InstanceCondition, ...]:
    """What else is to be known of it, in the order of the words."""
    roles, is_leaving = tally(facts).values(), facts.phase is _I.DELETING
    is_late = derive(facts) is not _I.RUNNING and times.now_ms > times.ready_by_ms
    missing = any(row.live < row.wanted for row in roles)
    found = {
        _C.PAUSED: is_paused,
        _C.NOT_ENTITLED: not is_entitled,
        _C.UNOBSERVED: not facts.is_observed,
        _C.MEMBERS_MISSING: missing and not is_leaving,
        _C.MEMBERS_FAILED: any(row.failed for row in roles),
        _C.MEMBERS_OUTDATED: any(row.outdated for row in roles) and not is_leaving,
        _C.READY_OVERDUE: is_late and not is_leaving,
        _C.DELETION_OVERDUE: (
            is_leaving and times.deadline_ms is not None and times.now_ms > times.deadline_ms
        ),
    }
    return tuple(each for each in _C if found[each])


def plan_members(facts: InstanceFacts) -> MemberPlan:
    """What is to be done next; nothing to what is being deleted: all of that goes."""
    if facts.phase in (_I.DELETING, _I.DELETED):
        return MemberPlan()
    taken = {each.component_key for each in facts.members}
    add, replace = list[tuple[str, str]](), list[str]()
    remove, drain = list[str](), list[str]()
    for role, row in tally(facts).items():
        own = [each for each in facts.own if each.role == role]
        failed = [each.component_key for each in own if each.phase is _M.FAILED]
        live = [each for each in own if each.phase.is_live]
        lacking = max(row.wanted - row.live, 0)
        replace += failed[:lacking]
        remove += failed[lacking:]
        for _ in range(lacking - len(failed[:lacking])):
            key = _free_key(role, taken)
            taken.add(key)
            add.append((role, key))
        surplus = max(row.live - row.wanted, 0)
        by_use = sorted(live, key=lambda each: _use_of(each, facts.version))
        drain += [each.component_key for each in by_use[:surplus]]
        if row.outdated and row.live == row.wanted and not row.leaving:
            old = [each for each in live if each.version != facts.version]
            if all(each.phase is _M.READY for each in live if each not in old):
                replace.append(old[0].component_key)
    plan = tuple(add), tuple(replace), tuple(remove), tuple(drain)
    return MemberPlan(*plan, _renewals(facts))


def _renewals(facts: InstanceFacts) -> tuple[str, ...]:
    """Contributed members to replace: those that failed; of another version, one at a time."""
    given = [each for each in facts.members if each.is_contributed]
    failed = tuple(each.component_key for each in given if each.phase is _M.FAILED)
    live = [each for each in given if each.phase.is_live]
    old = [each.component_key for each in live if each.version != facts.version]
    is_calm = all(each.phase is _M.READY for each in live) and len(live) == len(given)
    return failed or (tuple(old[:1]) if is_calm else ())


def _use_of(member: MemberFact, version: str) -> tuple[bool, bool]:
    """The less useful sorts first: of another version, then what is not ready."""
    return member.version == version, member.phase is _M.READY


def _free_key(role: str, taken: set[str]) -> str:
    """The first number of a role that nobody answers to."""
    return next(key for at in range(len(taken) + 1) if (key := f"{role}-{at}") not in taken)
