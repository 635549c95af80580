"""Instances: what follows from requesting, changing, reporting on and deleting one.

Rules:

- An instance is reached through its project alone.
- What it is to be is checked when it is requested and at each change of it
  (:mod:`.instance_checks`). A change is one more generation; a pause lets nothing new begin.
- Its phase follows from its members and from what its operator says (:mod:`bailiwick.apps.status`),
  and moves by its table alone. Work on it ends by what happens to it.
- It goes when no member is left and its operator, if one ever reported, has seen that it is to go.
  When its time for that is over somebody may force it; then every member left is told as removed.
- To say again what is so already does nothing where a loop says it, and is a conflict elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from bailiwick.apps.life import INSTANCE_EDGES
from bailiwick.apps.manifest import Manifest
from bailiwick.apps.status import derive
from bailiwick.iam import Scope
from bailiwick.kernel.apps import instance_commands as cmd
from bailiwick.kernel.apps import instance_events as ev
from bailiwick.kernel.apps.instance_checks import InstanceOf, check_room, check_wanted
from bailiwick.kernel.apps.instances import (
    INSTANCES_MAX,
    AppInstance,
    AppOperation,
    HeldInstance,
    WantedState,
)
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.vocab.apps import (
    InstanceChange,
    InstancePhase,
    InstanceRefusal,
    MemberPhase,
    OperationKind,
    OperationPhase,
)
from bailiwick.vocab.errors import Conflict, InstanceRefused, LimitReached, Stale

AS_IT_IS = "is like that already"
SUPERSEDED = "superseded"

CHANGES = frozenset({OperationKind.CHANGE, OperationKind.UPGRADE, OperationKind.ROLLBACK})
"""Work that is over when something else is wanted."""

_LIFE = CHANGES | {OperationKind.CREATE}


def held_by(state: State, command: cmd.InstanceCommand) -> HeldInstance:
    """The instance that a command is about."""
    assert not isinstance(command, cmd.RequestInstance)  # for the type checker
    instances, number = state.apps.instances, command.instance_id
    return instances.get(command.tenant, command.project, instance_id=number)


def decide_instance(state: State, command: cmd.LifeCommand, *, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.RequestInstance():
            return _request(state, command)
        case cmd.ChangeInstance():
            return _change(state, command)
        case cmd.ReportInstance():
            return _report(state, command)
        case cmd.DeleteInstance():
            return _delete(state, command, now_ms)
        case cmd.NoteDeletionOverdue():
            return _note_overdue(state, command, now_ms)
        case cmd.FinishDeletion():
            return _finish(state, command)
        case cmd.ForceDeletion():
            return _force(state, command, now_ms)
        case _:
            assert_never(command)


def _request(state: State, command: cmd.RequestInstance) -> Iterator[Event]:
    book, owner = state.apps, Scope(command.tenant, command.project)
    state.directory.check_scope(owner)
    instances = book.instances
    if instances.named(command.tenant, command.project, name=command.name) is not None:
        raise Conflict("instance", command.name, "exists already")
    if len(instances.held) >= INSTANCES_MAX:
        raise LimitReached("instances", INSTANCES_MAX)
    of = InstanceOf(command.name, command.app, owner, command.mode, command.scope)
    known = book.versions_at(command.app, owner).get(command.version)
    counts = command.counts
    if known is not None:
        counts = counts_for(known.manifest, {}, changed=counts)
    wanted = WantedState(command.version, command.parameters, counts)
    manifest = check_wanted(state, of, wanted=wanted)
    check_room(book, of)
    number = instances.instance_serial + 1
    yield ev.AppInstanceRequested(
        Owner(*owner),
        number,
        command.app,
        command.name,
        command.version,
        command.mode,
        command.scope,
        manifest.runtime_backend,
        command.parameters,
        counts,
        command.metadata,
    )
    held = instances.held[number]
    yield begin(state, held, kind=OperationKind.CREATE)
    yield from settle(held)


def counts_for(
    manifest: Manifest, present: Mapping[str, int], *, changed: Mapping[str, int]
) -> dict[str, int]:
    """How many members of each role of a version: as said, as they are, or the least."""
    roles = {
        role: changed.get(role, present.get(role, spec.count[0]))
        for role, spec in sorted(manifest.roles.items())
    }
    return roles | {role: count for role, count in changed.items() if role not in roles}


# -- changing --------------------------------------------------------------------------------


def _change(state: State, command: cmd.ChangeInstance) -> Iterator[Event]:
    held = held_by(state, command)
    i = held.instance
    check_revision(i, command.revision)
    check_stays(i)
    wanted = wanted_after(state, held, command=command)
    if wanted != i.wanted:
        _check_path(state, i, wanted, is_rollback=command.rollback)
        check_wanted(state, InstanceOf.of(i), wanted=wanted, held=held)
    is_other = (
        wanted != i.wanted,
        command.paused not in (None, i.paused),
        command.metadata not in (None, i.metadata),
    )
    if not any(is_other):
        raise Conflict("instance", i.name, AS_IT_IS)
    if is_other[0]:
        yield from _want(state, held, wanted, is_rollback=command.rollback)
    if is_other[1]:
        change = InstanceChange.PAUSE if command.paused else InstanceChange.RESUME
        yield _changed(held.instance, change)
    if is_other[2]:
        now = held.instance
        yield replace(
            _changed(now, InstanceChange.METADATA),
            generation=now.generation,
            metadata=command.metadata,
        )
    yield from settle(held)


def wanted_after(state: State, held: HeldInstance, *, command: cmd.ChangeInstance) -> WantedState:
    """What a change would have wanted, whether or not it may be."""
    if command.rollback:
        return _rolled_back(held)
    instance = held.instance
    version, changed = command.version or instance.version, command.counts or {}
    known, present = state.apps.version(instance.app, version), instance.wanted.counts
    parameters = command.parameters
    if parameters is None:
        parameters = instance.wanted.parameters
    return WantedState(version, parameters, counts_for(known.manifest, present, changed=changed))


def _rolled_back(held: HeldInstance) -> WantedState:
    i = held.instance
    found = i.goes_back_to
    if found is None:
        raise InstanceRefused(InstanceRefusal.NOTHING_TO_ROLL_BACK, i.name, version=i.version)
    return found


def _check_path(
    state: State, instance: AppInstance, wanted: WantedState, *, is_rollback: bool
) -> None:
    step = instance.version, wanted.version
    if is_rollback or step[0] == step[1]:
        return
    owner = Scope(instance.tenant, instance.project)
    versions = state.apps.versions_at(instance.app, owner)
    if not any(step in each.upgrades for each in versions.values()):
        numbers: dict[str, int | str] = {"version": step[0], "to": step[1]}
        raise InstanceRefused(InstanceRefusal.NO_UPGRADE_PATH, instance.name, **numbers)


def _want(
    state: State, held: HeldInstance, wanted: WantedState, *, is_rollback: bool
) -> Iterator[Event]:
    """Something else is wanted; work on what was wanted before is over."""
    i = held.instance
    is_other_version = wanted.version != i.version
    change, kind = InstanceChange.PARAMETERS, OperationKind.CHANGE
    if is_rollback:
        change, kind = InstanceChange.ROLLBACK, OperationKind.ROLLBACK
    elif is_other_version:
        change, kind = InstanceChange.VERSION, OperationKind.UPGRADE
    elif wanted.counts != i.wanted.counts:
        change = InstanceChange.COUNTS
    data = state.apps.version(i.app, i.version).manifest.rollback_data
    yield replace(
        _changed(i, change),
        before=i.version if is_other_version else None,
        version=wanted.version if is_other_version else None,
        parameters=None if wanted.parameters == i.wanted.parameters else wanted.parameters,
        counts=None if wanted.counts == i.wanted.counts else wanted.counts,
        data=data if is_rollback else None,
    )
    yield from end_all(held, CHANGES, phase=OperationPhase.FAILED, result=SUPERSEDED)
    yield begin(state, held, kind=kind)


def want_counts(held: HeldInstance, counts: Mapping[str, int]) -> Event:
    """Another number of members is wanted."""
    return replace(_changed(held.instance, InstanceChange.COUNTS), counts=counts)


def _changed(instance: AppInstance, change: InstanceChange) -> ev.AppInstanceChanged:
    return ev.AppInstanceChanged(
        owner=instance.owner,
        instance_id=instance.id,
        app=instance.app,
        change=change,
        generation=instance.generation + 1,
    )


def check_revision(instance: AppInstance, revision: int | None) -> None:
    """Refuse who holds another revision of an instance."""
    if revision is not None and revision != instance.revision:
        raise Stale("instance", instance.name, held=revision, current=instance.revision)


def check_stays(instance: AppInstance) -> None:
    """Refuse a change of what is being deleted."""
    if instance.is_leaving:
        raise Conflict("instance", instance.name, "is being deleted")


# -- reporting -------------------------------------------------------------------------------


def _report(state: State, command: cmd.ReportInstance) -> Iterator[Event]:
    held = held_by(state, command)
    i = held.instance
    check_revision(i, command.revision)
    if not i.observed_generation <= command.observed_generation <= i.generation:
        why = f"its generation is {i.generation}, {i.observed_generation} was seen already"
        raise Conflict("instance", i.name, why)
    # What is said of an earlier generation says nothing of this one.
    is_now = command.observed_generation == i.generation and not i.is_leaving
    told = replace(
        i,
        observed_generation=command.observed_generation,
        reported=command.phase if is_now else None,
        reason=command.reason,
        metadata=i.metadata if command.metadata is None else command.metadata,
    )
    if told == i:
        return
    moved = ev.AppInstanceMoved.of(told, i.phase)
    yield replace(moved, metadata=None if told.metadata == i.metadata else told.metadata)
    yield from settle(held)


def step_to(current: InstancePhase, derived: InstancePhase) -> InstancePhase:
    """The next phase on the way to another: what never ran is provisioned first."""
    if derived is current or derived in INSTANCE_EDGES[current]:
        return derived
    return InstancePhase.PROVISIONING


def settle(held: HeldInstance) -> Iterator[Event]:
    """The moves that follow from what is so now, and the work that ends by them."""
    moved = False
    for _ in range(2):  # what never ran is provisioned first
        i = held.instance
        derived = derive(held.facts)
        is_new = derived is InstancePhase.RUNNING and i.settled_generation != i.generation
        if derived is not i.phase or is_new:
            yield ev.AppInstanceMoved.of(i, step_to(i.phase, derived))
            moved = True
    if moved and held.instance.phase is InstancePhase.RUNNING:
        yield from end_all(held, _LIFE, phase=OperationPhase.SUCCEEDED)
    elif moved and held.instance.phase is InstancePhase.FAILED:
        yield from end_all(held, _LIFE, phase=OperationPhase.FAILED, result=held.instance.reason)


# -- operations ------------------------------------------------------------------------------


def begin(state: State, held: HeldInstance, *, kind: OperationKind) -> ev.AppOperationChanged:
    """A piece of work begins."""
    i = held.instance
    operation = AppOperation(
        id=state.apps.instances.operation_serial + 1,
        instance_id=i.id,
        kind=kind,
        phase=OperationPhase.RUNNING,
        generation=i.generation,
    )
    return ev.AppOperationChanged(i.owner, i.app, operation)


def end(
    held: HeldInstance, operation: AppOperation, *, phase: OperationPhase, result: str = ""
) -> Event:
    """A piece of work is over."""
    i, progress = held.instance, operation.progress
    if phase is OperationPhase.SUCCEEDED:
        progress = 100
    told = replace(operation, phase=phase, result=result, progress=progress, log=())
    return ev.AppOperationChanged(i.owner, i.app, told)


def end_all(
    held: HeldInstance,
    kinds: frozenset[OperationKind],
    *,
    phase: OperationPhase,
    result: str = "",
) -> Iterator[Event]:
    """All work of these kinds is over."""
    for each in [each for each in held.running() if each.kind in kinds]:
        yield end(held, each, phase=phase, result=result)


# -- deleting --------------------------------------------------------------------------------


def _delete(state: State, command: cmd.DeleteInstance, now_ms: int) -> Iterator[Event]:
    held = held_by(state, command)
    i = held.instance
    if i.is_leaving:
        return
    check_revision(i, command.revision)
    within_ms = state.apps.version(i.app, i.version).manifest.delete_within_ms
    deadline_ms = now_ms + within_ms
    yield replace(_changed(i, InstanceChange.DELETE), deadline_ms=deadline_ms)
    yield ev.AppInstanceMoved.of(held.instance, InstancePhase.DELETING)
    yield from end_all(held, _LIFE, phase=OperationPhase.FAILED, result=SUPERSEDED)
    yield begin(state, held, kind=OperationKind.DELETE)


def _check_leaving(instance: AppInstance) -> None:
    if not instance.is_leaving:
        raise Conflict("instance", instance.name, "is not being deleted")


def _check_overdue(instance: AppInstance, now_ms: int) -> None:
    _check_leaving(instance)
    until_ms = instance.deadline_ms or 0
    if now_ms <= until_ms:
        raise Conflict("instance", instance.name, f"its deletion has until {until_ms} ms")


def _note_overdue(state: State, command: cmd.NoteDeletionOverdue, now_ms: int) -> Iterator[Event]:
    i = held_by(state, command).instance
    _check_overdue(i, now_ms)
    if not i.is_overdue:
        yield replace(ev.AppInstanceMoved.of(i, i.phase), overdue=True)


def _finish(state: State, command: cmd.FinishDeletion) -> Iterator[Event]:
    held = held_by(state, command)
    i = held.instance
    _check_leaving(i)
    if held.members:
        raise Conflict("instance", i.name, f"{len(held.members)} of its members are left")
    if i.observed_generation not in (0, i.generation):
        raise Conflict("instance", i.name, "its operator has not seen that it is to go")
    yield from end_all(held, frozenset({OperationKind.DELETE}), phase=OperationPhase.SUCCEEDED)
    yield ev.AppInstanceMoved.of(held.instance, InstancePhase.DELETED)


def _force(state: State, command: cmd.ForceDeletion, now_ms: int) -> Iterator[Event]:
    held = held_by(state, command)
    i = held.instance
    _check_overdue(i, now_ms)
    for member in [*held.members.values()]:
        gone = replace(member, phase=MemberPhase.REMOVED, reason="forced", forced=True)
        yield ev.AppMemberChanged(i.owner, i.app, gone, member.phase)
    kinds = frozenset({OperationKind.DELETE})
    yield from end_all(held, kinds, phase=OperationPhase.SUCCEEDED, result="forced")
    moved = ev.AppInstanceMoved.of(held.instance, InstancePhase.DELETED)
    yield replace(moved, reason=command.reason, forced=True)
