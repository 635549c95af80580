"""Instances in a snapshot: what their records add up to, and not what follows from it."""

from __future__ import annotations

from typing import Any

from bailiwick.kernel.apps.book import AppBook
from bailiwick.kernel.apps.instance_apply import put_instance
from bailiwick.kernel.apps.instances import (
    AppInstance,
    AppMember,
    AppOperation,
    HeldInstance,
    InstanceBook,
    WantedState,
)
from bailiwick.kernel.apps.units.dump import dump_told, load_told, repair_told
from bailiwick.kernel.slice import Plain
from bailiwick.vocab.apps import (
    ControlPlaneScope,
    InstancePhase,
    MemberPhase,
    OperatingMode,
    OperationKind,
    OperationPhase,
)
from bailiwick.vocab.clock_repair import ClockRepair

# Where the times stand in a row: what was, and what is to be.
_INSTANCE_PAST, _INSTANCE_DUE = (18, 19), 16
_MEMBER_PAST, _MEMBER_DUE = (10,), 8
_OPERATION_PAST = (10, 11)


def dump_instances(book: InstanceBook) -> Plain:
    """The instances in their order, each with its members and operations."""
    return {
        "serials": [book.instance_serial, book.member_serial, book.operation_serial],
        "held": [_held_row(each) for each in book.held.values()],
    }


def _held_row(held: HeldInstance) -> Plain:
    return {
        "instance": _instance_row(held.instance),
        "members": [_member_row(each) for each in held.members.values()],
        "components": sorted(held.components.values()),
        "operations": [_operation_row(each) for each in held.operations.values()],
        "ended": list(held.ended),
        **dump_told(held.told),
    }


def _wanted_row(wanted: WantedState | None) -> list[Any] | None:
    if wanted is None:
        return None
    return [wanted.version, wanted.parameters, sorted(map(list, wanted.counts.items()))]


def _instance_row(i: AppInstance) -> list[Any]:
    return [
        *(i.id, i.tenant, i.project, i.name, i.app, _wanted_row(i.wanted), i.mode.value),
        *(i.scope.value, i.backend, i.phase.value, i.generation, i.observed_generation),
        *(i.settled_generation, _wanted_row(i.last_good), int(i.paused)),
        *(None if i.reported is None else i.reported.value, i.deadline_ms, int(i.is_overdue)),
        *(i.created_ms, i.changed_ms, i.reason, i.metadata, i.revision),
        _wanted_row(i.older_good),
    ]


def _member_row(m: AppMember) -> list[Any]:
    return [
        *(m.id, m.role, m.component_key, m.version, m.phase.value, m.lease_id, m.job_id),
        *(m.reason, m.deadline_ms, int(m.forced), m.changed_ms),
        *([] if m.source is None else [m.source]),
    ]


def _operation_row(o: AppOperation) -> list[Any]:
    return [
        *(o.id, o.kind.value, o.phase.value, o.key, o.component_key, o.member_id, o.title),
        *(o.generation, o.progress, list(o.log), o.begun_ms, o.ended_ms, o.result),
    ]


def load_instances(book: AppBook, plain: Plain) -> None:
    """Take up what :func:`dump_instances` told; the versions are there already."""
    instances = book.instances
    serials = plain["serials"]
    instances.instance_serial, instances.member_serial, instances.operation_serial = serials
    for row in plain["held"]:
        held = HeldInstance(_instance_from(row["instance"]))
        number = held.instance.id
        held.members = {each[0]: _member_from(each, number) for each in row["members"]}
        held.components = {held.members[each].component_key: each for each in row["components"]}
        held.operations = {each[0]: _operation_from(each, number) for each in row["operations"]}
        held.ended = dict.fromkeys(row["ended"])
        held.told = load_told(row)
        for each in held.operations.values():
            if each.key is not None:
                held.keys[each.component_key, each.key] = each.id
        put_instance(book, held)


def _wanted_from(row: list[Any]) -> WantedState:
    version, parameters, counts = row
    return WantedState(version, parameters, dict(counts))


def _instance_from(row: list[Any]) -> AppInstance:
    return AppInstance(
        id=row[0],
        tenant=row[1],
        project=row[2],
        name=row[3],
        app=row[4],
        wanted=_wanted_from(row[5]),
        mode=OperatingMode(row[6]),
        scope=ControlPlaneScope(row[7]),
        backend=row[8],
        phase=InstancePhase(row[9]),
        generation=row[10],
        observed_generation=row[11],
        settled_generation=row[12],
        last_good=None if row[13] is None else _wanted_from(row[13]),
        paused=bool(row[14]),
        reported=None if row[15] is None else InstancePhase(row[15]),
        deadline_ms=row[16],
        is_overdue=bool(row[17]),
        created_ms=row[18],
        changed_ms=row[19],
        reason=row[20],
        metadata=row[21],
        revision=row[22],
        older_good=None if row[23] is None else _wanted_from(row[23]),
    )


def _member_from(row: list[Any], instance_id: int) -> AppMember:
    return AppMember(
        id=row[0],
        instance_id=instance_id,
        role=row[1],
        component_key=row[2],
        version=row[3],
        phase=MemberPhase(row[4]),
        lease_id=row[5],
        job_id=row[6],
        reason=row[7],
        deadline_ms=row[8],
        forced=bool(row[9]),
        changed_ms=row[10],
        source=row[11] if len(row) > 11 else None,
    )


def _operation_from(row: list[Any], instance_id: int) -> AppOperation:
    return AppOperation(
        id=row[0],
        instance_id=instance_id,
        kind=OperationKind(row[1]),
        phase=OperationPhase(row[2]),
        key=row[3],
        component_key=row[4],
        member_id=row[5],
        title=row[6],
        generation=row[7],
        progress=row[8],
        log=tuple(row[9]),
        begun_ms=row[10],
        ended_ms=row[11],
        result=row[12],
    )


def repair_instances(plain: Plain, clock: ClockRepair) -> None:
    """What was done, and by when things are due, is as the clock that counts says."""
    for held in plain["held"]:
        _repair(held["instance"], _INSTANCE_PAST, clock, due=_INSTANCE_DUE)
        for row in held["members"]:
            _repair(row, _MEMBER_PAST, clock, due=_MEMBER_DUE)
        for row in held["operations"]:
            _repair(row, _OPERATION_PAST, clock)
        repair_told(held, clock)


def _repair(
    row: list[Any], past: tuple[int, ...], clock: ClockRepair, *, due: int | None = None
) -> None:
    for at in past:
        if row[at] is not None:
            row[at] = clock.past(row[at])
    if due is not None and row[due] is not None:
        row[due] = clock.end(row[due])
