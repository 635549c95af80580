"""Members of instances, and the operations on them: what follows from each command.

Rules:

- A member operation is known by its component and key: the same again does nothing, something else
  under that key is a conflict.
- To add more than are wanted makes more wanted, to take one of those that are wanted makes fewer
  wanted, within what the role and the policy allow. Who fills up what is wanted changes nothing
  of it.
- A member starts only if the version may be run there now. A paused instance starts none.
- A member that runs is drained, by its time limit or at once, and removed when its job has ended.
  One that failed is removed as it is. Of an instance that goes every member may.
- A lease is one member's, and of the project that pays for it: the instance's own, or the one that
  contributed the member. Contributed members are beside what is wanted.
- An operation goes forward only. Tasks end when their operator says so, all else by what happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import assert_never

from bailiwick.apps.life import check_move
from bailiwick.apps.manifest import Manifest
from bailiwick.iam import Scope
from bailiwick.kernel.apps import instance_commands as cmd
from bailiwick.kernel.apps import instance_events as ev
from bailiwick.kernel.apps.instance_checks import (
    InstanceOf,
    check_beside_contributed,
    check_counts,
    check_members,
    check_startable,
    out_of_range,
)
from bailiwick.kernel.apps.instance_rules import (
    begin,
    check_stays,
    end,
    held_by,
    settle,
    want_counts,
)
from bailiwick.kernel.apps.instances import (
    MEMBERS_MAX,
    TASKS_MAX,
    AppInstance,
    AppMember,
    AppOperation,
    HeldInstance,
    payer_of,
)
from bailiwick.kernel.events import Event
from bailiwick.kernel.state import State
from bailiwick.vocab.apps import (
    MemberAction,
    MemberPhase,
    OperationKind,
    OperationPhase,
)
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound

_M = MemberPhase
_KINDS = {
    MemberAction.ADD: OperationKind.MEMBER_ADD,
    MemberAction.DRAIN: OperationKind.MEMBER_DRAIN,
    MemberAction.REMOVE: OperationKind.MEMBER_REMOVE,
    MemberAction.REPLACE: OperationKind.MEMBER_REPLACE,
}
_STARTS = (OperationKind.MEMBER_ADD, OperationKind.MEMBER_REPLACE)
_STOPS = (OperationKind.MEMBER_DRAIN, OperationKind.MEMBER_REMOVE)


def decide_member(state: State, command: cmd.MemberCommand, *, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.ChangeMember():
            return _change_member(state, command, now_ms)
        case cmd.MoveMember():
            return _move_member(state, command)
        case cmd.BeginOperation():
            return _begin(state, command)
        case cmd.AdvanceOperation():
            return _advance(state, command)
        case cmd.FinishOperation():
            return _finish(state, command)
        case _:
            assert_never(command)


def is_done(held: HeldInstance, command: cmd.ChangeMember) -> bool:
    """Whether this very thing was begun before; something else under its key is a conflict."""
    known = held.keys.get((command.component_key, command.key))
    if known is None:
        return False
    kind = held.operations[known].kind
    if kind is not _KINDS[command.action]:
        raise Conflict("key", command.key, f"was used for {kind}")
    return True


def _change_member(state: State, command: cmd.ChangeMember, now_ms: int) -> Iterator[Event]:
    held = held_by(state, command)
    if is_done(held, command):
        return
    check_stays(held.instance)
    member = None if command.member_id is None else _named(held, command, command.member_id)
    match command.action:
        case MemberAction.ADD:
            yield from _add(state, held, command)
        case MemberAction.REPLACE:
            yield from _replace(state, held, command, now_ms=now_ms)
        case MemberAction.DRAIN | MemberAction.REMOVE:
            yield from _stop(state, held, command, member=member, now_ms=now_ms)
    yield from settle(held)


def _named(held: HeldInstance, command: cmd.ChangeMember, number: int) -> AppMember:
    """The member of a number: the one that is there, or one that leaves it and is to go now."""
    member = held.member(number)
    leaves = command.action is MemberAction.REMOVE and member.phase is _M.DRAINING
    is_there = held.components.get(command.component_key) == member.id
    if not is_there and not (leaves and member.component_key == command.component_key):
        raise Conflict("member", member.id, f"is not {command.component_key} any more")
    return member


def _add(state: State, held: HeldInstance, command: cmd.ChangeMember) -> Iterator[Event]:
    role = command.role or ""
    _check_free(held, command)
    counts = _counts_with(state, held, role=role, live=held.live(role) + 1)
    if counts is not None:
        yield want_counts(held, counts)
    yield from _start(state, held, command, role=role)


def _check_free(held: HeldInstance, command: cmd.ChangeMember) -> None:
    if command.component_key in held.components:
        raise Conflict("member", command.component_key, "exists already", hint="replace it")


def add_contributed(
    state: State, held: HeldInstance, *, command: cmd.ChangeMember, source: str
) -> Iterator[Event]:
    """One more member, which another project gives and pays for."""
    role = command.role or ""
    _check_free(held, command)
    _check_contributed(state, held, role, source=source)
    yield from _start(state, held, command, role=role, source=source)
    yield from settle(held)


def _check_contributed(
    state: State, held: HeldInstance, role: str, *, source: str, more: int = 1
) -> None:
    """Refuse a member that its project may not run, or one more than the app can have."""
    i = held.instance
    of = InstanceOf.of(i)._replace(owner=Scope(i.tenant, source))
    spec = _check_start(state, held, of, role=role).roles[role]
    live = held.live(role) + held.contributed(role) + more
    if live > spec.count[1]:
        least, most = spec.count
        raise out_of_range(i.name, role, count=live, least=least, most=most)
    check_members(state.apps, of, total=sum(i.wanted.counts.values()) + held.contributed() + more)


def end_contributed(
    state: State,
    held: HeldInstance,
    *,
    command: cmd.ChangeMember,
    member: AppMember,
    until_ms: int,
    now_ms: int,
) -> Iterator[Event]:
    """A contributed member is to go by a time, or sooner if that was said before."""
    yield _begun(state, held, command, member_id=member.id)
    if member.phase is _M.FAILED:
        yield from _put(held, replace(member, phase=_M.REMOVED))
    else:
        until_ms = until_ms if member.deadline_ms is None else min(until_ms, member.deadline_ms)
        forced = member.forced or until_ms <= now_ms
        gone = replace(member, phase=_M.DRAINING, deadline_ms=until_ms, forced=forced)
        yield from _put(held, gone)
    yield from settle(held)


def _replace(
    state: State, held: HeldInstance, command: cmd.ChangeMember, *, now_ms: int
) -> Iterator[Event]:
    old = held.component(command.component_key)
    if not old.is_live and old.phase is not _M.FAILED:
        raise Conflict("member", old.component_key, f"is {old.phase}")
    counts, more = None, int(not old.is_live)
    if old.source is not None:
        _check_contributed(state, held, old.role, source=old.source, more=more)
    else:
        counts = _counts_with(state, held, role=old.role, live=held.live(old.role) + more)
    if counts is not None:
        yield want_counts(held, counts)
    if old.is_live:
        until_ms = now_ms + _within_ms(state, held.instance)
        yield from _put(held, replace(old, phase=_M.DRAINING, deadline_ms=until_ms))
    else:
        yield from _put(held, replace(old, phase=_M.REMOVED))
    yield from _start(state, held, command, role=old.role, source=old.source)


def _check_start(state: State, held: HeldInstance, of: InstanceOf, *, role: str) -> Manifest:
    """The manifest, if one more member of a role may be started now."""
    i = held.instance
    if i.paused:
        raise Conflict("instance", i.name, "is paused")
    manifest = check_startable(state, of, version=i.version)
    if role not in manifest.roles:
        raise NotFound("role", role)
    if len(held.members) >= MEMBERS_MAX:
        raise LimitReached(f"members of {i.name}", MEMBERS_MAX)
    return manifest


def _counts_with(
    state: State, held: HeldInstance, *, role: str, live: int
) -> dict[str, int] | None:
    """Whether one more may start; what is to be wanted if it would be one more than is."""
    i, of = held.instance, InstanceOf.of(held.instance)
    manifest = _check_start(state, held, of, role=role)
    if live <= i.wanted.counts.get(role, 0):
        return None
    counts = {**i.wanted.counts, role: live}
    wanted = replace(i.wanted, counts=counts)
    check_counts(state.apps, of, wanted=wanted, manifest=manifest)
    check_beside_contributed(held, wanted, manifest=manifest)
    return counts


def _start(
    state: State,
    held: HeldInstance,
    command: cmd.ChangeMember,
    *,
    role: str,
    source: str | None = None,
) -> Iterator[Event]:
    member = AppMember(
        id=state.apps.instances.member_serial + 1,
        instance_id=held.instance.id,
        role=role,
        component_key=command.component_key,
        version=held.instance.version,
        source=source,
    )
    yield _begun(state, held, command, member_id=member.id)
    yield from _put(held, member)


def _stop(
    state: State,
    held: HeldInstance,
    command: cmd.ChangeMember,
    *,
    member: AppMember | None,
    now_ms: int,
) -> Iterator[Event]:
    """A member is to go; if one less is there than is wanted, one less is wanted."""
    i, member = held.instance, member or held.component(command.component_key)
    forced = command.action is MemberAction.REMOVE
    if not member.is_live and not forced:
        raise Conflict("member", member.component_key, f"is {member.phase}")
    wanted, live = i.wanted.counts.get(member.role, 0), held.live(member.role)
    counts = None
    if member.source is None and member.is_live and live - 1 < wanted:
        counts = {**i.wanted.counts, member.role: live - 1}
        _check_least(state, i, member.role, count=live - 1)
    if counts is not None:
        yield want_counts(held, counts)
    yield _begun(state, held, command, member_id=member.id)
    if member.phase is _M.FAILED:
        yield from _put(held, replace(member, phase=_M.REMOVED))
        return
    until_ms = now_ms if forced else now_ms + _within_ms(state, i)
    gone = replace(member, phase=_M.DRAINING, deadline_ms=until_ms, forced=forced)
    yield from _put(held, gone)


def _check_least(state: State, instance: AppInstance, role: str, *, count: int) -> None:
    spec = state.apps.version(instance.app, instance.version).manifest.roles.get(role)
    if spec is not None and count < spec.count[0]:
        least, most = spec.count
        raise out_of_range(instance.name, role, count=count, least=least, most=most)


def _within_ms(state: State, instance: AppInstance) -> int:
    return state.apps.version(instance.app, instance.version).manifest.delete_within_ms


def _begun(state: State, held: HeldInstance, command: cmd.ChangeMember, *, member_id: int) -> Event:
    operation = begin(state, held, kind=_KINDS[command.action])
    return operation.about(command.key, component_key=command.component_key, member_id=member_id)


def _put(held: HeldInstance, member: AppMember) -> Iterator[Event]:
    """A member as it is now, and the work that ends by it."""
    i, known = held.instance, held.members.get(member.id)
    yield ev.AppMemberChanged(i.owner, i.app, member, None if known is None else known.phase)
    for each in [each for each in held.running() if each.member_id == member.id]:
        ended = _ended_by(each.kind, member.phase)
        if ended is not None:
            yield end(held, each, phase=ended, result=member.reason or "")


def _ended_by(kind: OperationKind, phase: MemberPhase) -> OperationPhase | None:
    """How an operation on a member ends when that comes to be in a phase; not by every one."""
    if kind in _STARTS and phase not in (_M.REQUESTED, _M.JOINING):
        return OperationPhase.SUCCEEDED if phase is _M.READY else OperationPhase.FAILED
    if kind in _STOPS and phase is _M.REMOVED:
        return OperationPhase.SUCCEEDED
    return None


# -- what happens to members -----------------------------------------------------------------


def _move_member(state: State, command: cmd.MoveMember) -> Iterator[Event]:
    held = held_by(state, command)
    member = held.member(command.member_id)
    _check_lease(state, held, command)
    found = replace(
        member,
        phase=command.phase,
        lease_id=member.lease_id if command.lease_id is None else command.lease_id,
        job_id=member.job_id if command.job_id is None else command.job_id,
        reason=member.reason if command.reason is None else command.reason,
    )
    if found == member:
        return
    if found.phase is not member.phase:
        check_move(member.phase, found.phase)
    if found.phase is _M.REMOVED and member.is_live and not held.instance.is_leaving:
        raise Conflict("member", member.component_key, f"is {member.phase}, it is not drained")
    yield from _put(held, found)
    yield from settle(held)


def _check_lease(state: State, held: HeldInstance, command: cmd.MoveMember) -> None:
    """Refuse a lease of somebody else, be it another project or another member."""
    lease_id = command.lease_id
    if lease_id is None or held.member(command.member_id).lease_id == lease_id:
        return
    state.handle(lease_id)
    if state.owner_of(lease_id) != payer_of(held.instance, held.member(command.member_id)):
        raise NotFound("lease", lease_id, hint="it never existed or has ended")
    if lease_id in state.apps.instances.by_lease:
        raise Conflict("lease", lease_id, "is another member's")


# -- operations ------------------------------------------------------------------------------


def _begin(state: State, command: cmd.BeginOperation) -> Iterator[Event]:
    held = held_by(state, command)
    if (None, command.key) in held.keys:
        return
    if sum(each.kind is OperationKind.TASK for each in held.running()) >= TASKS_MAX:
        raise LimitReached(f"running tasks of {held.instance.name}", TASKS_MAX)
    operation = begin(state, held, kind=OperationKind.TASK)
    yield operation.about(command.key, title=command.title)


def _running(held: HeldInstance, operation_id: int) -> AppOperation:
    found = held.operation(operation_id)
    if found.phase.is_ended:
        raise Conflict("operation", operation_id, f"{found.phase} already")
    return found


def _advance(state: State, command: cmd.AdvanceOperation) -> Iterator[Event]:
    held = held_by(state, command)
    found, i = _running(held, command.operation_id), held.instance
    progress = found.progress if command.progress is None else command.progress
    if progress < found.progress:
        raise Conflict("operation", found.id, f"is at {found.progress} already")
    if progress != found.progress or command.log:
        told = replace(found, progress=progress, log=command.log)
        yield ev.AppOperationChanged(i.owner, i.app, told)


def _finish(state: State, command: cmd.FinishOperation) -> Iterator[Event]:
    held = held_by(state, command)
    found = held.operation(command.operation_id)
    if found.kind is not OperationKind.TASK:
        raise Conflict("operation", found.id, f"a {found.kind} ends by what happens")
    phase = OperationPhase.SUCCEEDED if command.succeeded else OperationPhase.FAILED
    if (found.phase, found.result) == (phase, command.result):
        return
    _running(held, found.id)
    yield end(held, found, phase=phase, result=command.result)
