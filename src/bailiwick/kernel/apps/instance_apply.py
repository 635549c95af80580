"""The book of instances after one more record: nothing is decided here."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from json import loads
from typing import assert_never

from bailiwick.iam import Scope
from bailiwick.kernel.apps import instance_events as ev
from bailiwick.kernel.apps.book import AppBook
from bailiwick.kernel.apps.instances import (
    ENDED_MAX,
    LOG_ENDED_MAX,
    LOG_MAX,
    AppInstance,
    AppMember,
    AppOperation,
    HeldInstance,
    InstanceBook,
    WantedState,
    serves,
)
from bailiwick.vocab.apps import InstanceChange, InstancePhase, MemberPhase


def apply_instance(book: AppBook, event: ev.InstanceEvent, *, at_ms: int) -> None:
    """The book after one more record about an instance."""
    match event:
        case ev.AppInstanceRequested():
            put_instance(book, HeldInstance(_requested(event, at_ms)))
            book.instances.instance_serial = event.instance_id
        case ev.AppInstanceChanged():
            _change(book, event, at_ms=at_ms)
        case ev.AppInstanceMoved():
            _move(book, event)
        case ev.AppMemberChanged():
            _put_member(book.instances, event, at_ms=at_ms)
        case ev.AppOperationChanged():
            _put_operation(book.instances, event.operation, at_ms=at_ms)
        case _:
            assert_never(event)


def put_instance(book: AppBook, held: HeldInstance) -> None:
    """One more instance, found by all that it is looked for by."""
    instances, i = book.instances, held.instance
    instances.held[i.id] = held
    instances.names[i.tenant, i.project, i.name] = i.id
    projects = instances.by_project.setdefault(i.tenant, {})
    projects.setdefault(i.project, {})[i.id] = None
    for scope in Scope(i.tenant, i.project).around:
        instances.tally[i.app, scope] = instances.count(i.app, scope) + 1
    for each in held.members.values():
        if each.lease_id is not None:
            instances.by_lease[each.lease_id] = i.id, each.id
    _index_answers(book, i)


def _take_instance(book: AppBook, held: HeldInstance) -> None:
    instances, i = book.instances, held.instance
    _forget_answers(book, i)
    del instances.held[i.id], instances.names[i.tenant, i.project, i.name]
    projects = instances.by_project[i.tenant]
    del projects[i.project][i.id]
    if not projects[i.project]:
        del projects[i.project]
    if not projects:
        del instances.by_project[i.tenant]
    for scope in Scope(i.tenant, i.project).around:
        instances.tally[i.app, scope] -= 1
        if not instances.tally[i.app, scope]:
            del instances.tally[i.app, scope]
    for each in held.members.values():
        if each.lease_id is not None:
            instances.by_lease.pop(each.lease_id, None)


@lru_cache(maxsize=256)
def _types_in(canonical: str) -> tuple[str, ...]:
    # Not judged again, as with all that is read back.
    return tuple(loads(canonical).get("scheduler_types", ()))


def _words_of(book: AppBook, instance: AppInstance) -> Iterable[str]:
    return _types_in(book.versions[instance.app][instance.version].canonical)


def _index_answers(book: AppBook, instance: AppInstance) -> None:
    for word in _words_of(book, instance):
        book.instances.answers.setdefault((word, serves(instance)), {})[instance.id] = None


def _forget_answers(book: AppBook, instance: AppInstance) -> None:
    answers = book.instances.answers
    for word in _words_of(book, instance):
        key = word, serves(instance)
        del answers[key][instance.id]
        if not answers[key]:
            del answers[key]


def _requested(event: ev.AppInstanceRequested, at_ms: int) -> AppInstance:
    tenant, project = event.owner
    return AppInstance(
        id=event.instance_id,
        tenant=str(tenant),
        project=str(project),
        name=event.name,
        app=event.app,
        wanted=WantedState(event.version, event.parameters, event.counts),
        mode=event.mode,
        scope=event.scope,
        backend=event.backend,
        metadata=event.metadata,
        created_ms=at_ms,
        changed_ms=at_ms,
    )


def _change(book: AppBook, event: ev.AppInstanceChanged, *, at_ms: int) -> None:
    held = book.instances.held[event.instance_id]
    i = held.instance
    wanted = i.wanted
    if event.version is not None:
        wanted = replace(wanted, version=event.version)
    if event.parameters is not None:
        wanted = replace(wanted, parameters=event.parameters)
    if event.counts is not None:
        wanted = replace(wanted, counts=event.counts)
    found = replace(i, wanted=wanted, revision=i.revision + 1)
    if event.generation != i.generation:
        found = replace(
            found, generation=event.generation, changed_ms=at_ms, reported=None, reason=""
        )
    if event.change in (InstanceChange.PAUSE, InstanceChange.RESUME):
        found = replace(found, paused=event.change is InstanceChange.PAUSE)
    if event.metadata is not None:
        found = replace(found, metadata=event.metadata)
    if event.deadline_ms is not None:
        found = replace(found, deadline_ms=event.deadline_ms)
    if found.version != i.version:
        _forget_answers(book, i)
        _index_answers(book, found)
    held.instance = found


def _move(book: AppBook, event: ev.AppInstanceMoved) -> None:
    held = book.instances.held[event.instance_id]
    i = held.instance
    if event.phase is InstancePhase.DELETED:
        _take_instance(book, held)
        return
    found = replace(
        i,
        phase=event.phase,
        observed_generation=event.observed_generation,
        reported=event.reported,
        reason=event.reason,
        is_overdue=event.overdue,
        revision=i.revision + 1,
    )
    if event.metadata is not None:
        found = replace(found, metadata=event.metadata)
    if event.phase is InstancePhase.RUNNING:
        older = i.older_good
        if older == i.wanted:
            older = None  # it went back, and not to what it came from
        elif i.last_good is not None and i.last_good.version != i.version:
            older = i.last_good
        found = replace(
            found, settled_generation=event.generation, last_good=i.wanted, older_good=older
        )
    held.instance = found


def _put_member(book: InstanceBook, event: ev.AppMemberChanged, *, at_ms: int) -> None:
    member = replace(event.member, changed_ms=at_ms)
    held = book.held[member.instance_id]
    known = held.members.get(member.id)
    if known is None:
        book.member_serial = max(book.member_serial, member.id)
        held.components[member.component_key] = member.id
    elif known.lease_id is not None:
        del book.by_lease[known.lease_id]
    if member.phase is MemberPhase.REMOVED:
        _take_member(held, member)
        return
    held.members[member.id] = member
    if member.lease_id is not None:
        book.by_lease[member.lease_id] = member.instance_id, member.id


def _take_member(held: HeldInstance, member: AppMember) -> None:
    held.members.pop(member.id, None)
    if held.components.get(member.component_key) == member.id:
        del held.components[member.component_key]


def _put_operation(book: InstanceBook, told: AppOperation, *, at_ms: int) -> None:
    held = book.held[told.instance_id]
    known = held.operations.get(told.id)
    if known is None:
        book.operation_serial = told.id
        found = replace(told, begun_ms=at_ms)
        if told.key is not None:
            held.keys[told.component_key, told.key] = told.id
    else:
        log = (*known.log, *told.log)[-LOG_MAX:]
        found = replace(told, begun_ms=known.begun_ms, log=log)
    if not told.phase.is_ended:
        held.operations[told.id] = found
        return
    held.operations[told.id] = replace(found, ended_ms=at_ms, log=found.log[-LOG_ENDED_MAX:])
    held.ended[told.id] = None
    if len(held.ended) > ENDED_MAX:
        oldest = next(iter(held.ended))
        del held.ended[oldest]
        gone = held.operations.pop(oldest)
        if gone.key is not None:
            held.keys.pop((gone.component_key, gone.key), None)
