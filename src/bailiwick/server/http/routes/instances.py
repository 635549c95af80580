"""Instances of apps, their members and operations: parse, call one service, spell the answer."""

from __future__ import annotations

from json import loads
from typing import Annotated

from fastapi import Depends, Query, Response

from bailiwick.iam import Scope
from bailiwick.kernel.apps import instance_commands as cmd
from bailiwick.kernel.apps.instances import AppMember, AppOperation
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import (
    IfMatch,
    Limit,
    NumberCursor,
    PathName,
    PathNumber,
    RowCursor,
    number_in,
    revision_of,
    spell_page,
)
from bailiwick.server.http.spelling import spell_done
from bailiwick.server.problems import Trouble
from bailiwick.services.apps import instances, members, operations
from bailiwick.services.apps.instances import InstanceFilter, InstancePlace
from bailiwick.services.apps.members import MemberFilter, MemberWish
from bailiwick.services.apps.operations import OperationPlace
from bailiwick.vocab.apps import InstancePhase, MemberPhase, OperationPhase
from bailiwick.wire import instances as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.apps import APP_PATTERN, WORD_PATTERN
from bailiwick.wire.base import NAME_PATTERN, Page
from bailiwick.wire.problem import EdgeCode


def place_of(tenant: PathName, project: PathName, *, instance_id: PathNumber) -> InstancePlace:
    """The instance that a path names."""
    return InstancePlace(tenant, project, instance_id)


def scope_of(tenant: PathName, project: PathName) -> Scope:
    """The project that a path names."""
    return Scope(tenant, project)


Place = Annotated[InstancePlace, Depends(place_of)]
InProject = Annotated[Scope, Depends(scope_of)]


def operation_of(place: Place, operation_id: PathNumber) -> OperationPlace:
    """The operation that a path names."""
    return OperationPlace(place, operation_id)


OfOperation = Annotated[OperationPlace, Depends(operation_of)]


def _some(words: type[InstancePhase] | type[MemberPhase]) -> str:
    one = "|".join(word.value for word in words)
    return f"^({one})(,({one}))*$"


_PHASES = "Only those in one of these phases, with commas between them."


def filter_of(
    name: Annotated[str | None, Query(pattern=NAME_PATTERN, description="Of this name.")] = None,
    app: Annotated[str | None, Query(pattern=APP_PATTERN, description="Of this app.")] = None,
    *,
    phase: Annotated[
        str | None, Query(pattern=_some(InstancePhase), max_length=200, description=_PHASES)
    ] = None,
) -> InstanceFilter:
    """Which instances are asked for."""
    phases = None if phase is None else tuple(map(InstancePhase, phase.split(",")))
    return InstanceFilter(name, app, phases)


def members_of(
    role: Annotated[str | None, Query(pattern=WORD_PATTERN, description="Of this role.")] = None,
    phase: Annotated[
        str | None, Query(pattern=_some(MemberPhase), max_length=200, description=_PHASES)
    ] = None,
) -> MemberFilter:
    """Which members are asked for."""
    phases = None if phase is None else tuple(map(MemberPhase, phase.split(",")))
    return MemberFilter(role, phases)


# -- instances -------------------------------------------------------------------------------


@answers("instance.list")
async def list_instances(
    asked: Here,
    scope: InProject,
    *,
    which: Annotated[InstanceFilter, Depends(filter_of)],
    cursor: NumberCursor = None,
    limit: Limit = 100,
) -> Page[wire.Instance]:
    """The instances of a project, the oldest first."""
    after = number_in(cursor) or 0
    found = await instances.page_instances(asked, scope, which=which, after=after, limit=limit)
    return spell_page(found, _instance)


@answers("instance.create")
async def create_instance(
    asked: Changing, scope: InProject, *, body: wire.NewInstance
) -> wire.InstanceDone:
    """Have a project run an app that it is entitled to.

    What the entitlement, the manifest or an artifact does not allow is refused with
    ``instance_refused`` and the word for it.
    """

    def wish() -> cmd.RequestInstance:
        return cmd.RequestInstance(
            tenant=str(scope.tenant),
            project=str(scope.project),
            name=body.name,
            app=body.app,
            version=body.version,
            parameters=cmd.spell_parameters(body.parameters),
            counts=body.counts,
            mode=body.operating_mode,
            scope=body.control_plane_scope,
            metadata=body.metadata,
        )

    done, number = await instances.create(asked, scope, wish=wish)
    return wire.InstanceDone(answer="done", seq=done.seq, instance_id=number)


@answers("instance.read")
async def read_instance(asked: Here, place: Place, *, response: Response) -> wire.Instance:
    """One instance; its revision is the ``ETag``."""
    found = await instances.read_instance(asked, place)
    response.headers["etag"] = f'"{found.instance.revision}"'
    return _instance(found)


@answers("instance.change")
async def change_instance(
    asked: Changing, place: Place, *, body: wire.InstanceChange, if_match: IfMatch = None
) -> Done:
    """Change what is wanted: an upgrade, a rollback, parameters, counts, a pause."""
    told = body.parameters

    def command() -> cmd.ChangeInstance:
        return cmd.ChangeInstance(
            tenant=place.tenant,
            project=place.project,
            instance_id=place.instance_id,
            revision=revision_of(if_match),
            version=body.version,
            rollback=body.rollback,
            parameters=None if told is None else cmd.spell_parameters(told),
            counts=body.counts,
            paused=body.is_paused,
            metadata=body.metadata,
        )

    return spell_done(await instances.act(asked, place, command=command))


@answers("instance.delete")
async def delete_instance(asked: Changing, place: Place, *, if_match: IfMatch = None) -> Done:
    """Have an instance go; it is gone once its members are, and its operator has seen to it."""

    def command() -> cmd.DeleteInstance:
        return cmd.DeleteInstance(
            tenant=place.tenant,
            project=place.project,
            instance_id=place.instance_id,
            revision=revision_of(if_match),
        )

    return spell_done(await instances.act(asked, place, command=command))


@answers("instance.report")
async def report_instance(
    asked: Changing, place: Place, *, body: wire.InstanceReport, if_match: IfMatch = None
) -> Done:
    """Tell what the operator sees; ``If-Match`` has to name the revision that it is about."""

    def command() -> cmd.ReportInstance:
        revision = revision_of(if_match)
        if revision is None:
            message = "If-Match is needed: the ETag of the instance that was read"
            raise Trouble(EdgeCode.PRECONDITION_REQUIRED, message)
        return cmd.ReportInstance(
            tenant=place.tenant,
            project=place.project,
            instance_id=place.instance_id,
            revision=revision,
            observed_generation=body.observed_generation,
            phase=body.phase,
            reason=body.reason or "",
            metadata=body.metadata,
        )

    return spell_done(await instances.act(asked, place, command=command))


@answers("instance.force_delete")
async def force_delete(asked: Changing, place: Place, *, body: wire.ForcedDeletion) -> Done:
    """Have done with an instance whose deletion is overdue: people of the fleet, openly."""
    return spell_done(await instances.force_delete(asked, place, reason=body.reason))


# -- members ---------------------------------------------------------------------------------


@answers("instance_member.list")
async def list_members(
    asked: Here,
    place: Place,
    *,
    which: Annotated[MemberFilter, Depends(members_of)],
    cursor: NumberCursor = None,
    limit: Limit = 100,
) -> Page[wire.InstanceMember]:
    """The members of an instance, the oldest first."""
    after = number_in(cursor) or 0
    found = await members.page_members(asked, place, which=which, after=after, limit=limit)
    return spell_page(found, _member)


@answers("instance_member.list_all")
async def list_all_members(
    asked: Here,
    scope: InProject,
    *,
    which: Annotated[MemberFilter, Depends(members_of)],
    cursor: RowCursor = None,
    limit: Limit = 100,
) -> Page[wire.InstanceMember]:
    """The members of all instances of a project: what an operator reads when it begins."""
    found = await members.page_all_members(asked, scope, which=which, after=cursor, limit=limit)
    return spell_page(found, _member)


@answers("instance_member.change")
async def change_member(
    asked: Changing, place: Place, *, body: wire.InstanceMemberChange
) -> wire.OperationDone:
    """Add, drain, remove or replace a member; under the same ``Idempotency-Key`` it happens once.

    A member is named by its ``component_key``, or by its ``member_id``: then nothing is done to one
    that came in its place. Where it runs is the platform's to choose.
    """
    wish = MemberWish(body.action, body.component_key, body.role, body.member_id)
    done, number = await members.change_member(asked, place, wish=wish)
    return wire.OperationDone(answer="done", seq=done.seq, operation_id=number)


# -- operations ------------------------------------------------------------------------------


@answers("instance_operation.list")
async def list_operations(
    asked: Here,
    place: Place,
    *,
    phase: Annotated[OperationPhase | None, Query(description="Only those in this phase.")] = None,
    cursor: NumberCursor = None,
    limit: Limit = 100,
) -> Page[wire.InstanceOperation]:
    """The operations on an instance, newest first; of those that ended, the last."""
    found = await operations.page_operations(
        asked, place, phase=phase, before=number_in(cursor), limit=limit
    )
    return spell_page(found, _operation)


@answers("instance_operation.begin")
async def begin_operation(
    asked: Changing, place: Place, *, body: wire.NewOperation
) -> wire.OperationDone:
    """Begin a task of the operator's; under the same ``Idempotency-Key`` it is the same one."""
    done, number = await operations.begin(asked, place, title=body.title)
    return wire.OperationDone(answer="done", seq=done.seq, operation_id=number)


@answers("instance_operation.read")
async def read_operation(asked: Here, place: OfOperation) -> wire.InstanceOperation:
    """One operation."""
    return _operation(await operations.read_operation(asked, place))


@answers("instance_operation.advance")
async def advance_operation(
    asked: Changing, place: OfOperation, *, body: wire.OperationProgress
) -> Done:
    """Tell how far an operation is, with lines for its log."""
    log = tuple(body.log)
    done = await operations.advance(asked, place, progress=body.progress, log=log)
    return spell_done(done)


@answers("instance_operation.finish")
async def finish_operation(
    asked: Changing, place: OfOperation, *, body: wire.OperationResult
) -> Done:
    """Tell what came of a task; what the platform does itself ends by what happens."""
    done = await operations.finish(asked, place, succeeded=body.is_succeeded, result=body.result)
    return spell_done(done)


# -- spelling --------------------------------------------------------------------------------


def _instance(found: instances.InstanceRow) -> wire.Instance:
    told, status = found.instance, found.status
    return wire.Instance(
        instance_id=told.id,
        tenant=told.tenant,
        project=told.project,
        name=told.name,
        app=told.app,
        version=told.version,
        parameters=loads(told.wanted.parameters),
        counts=dict(told.wanted.counts),
        ready={role: row.ready for role, row in status.roles.items()},
        operating_mode=told.mode,
        control_plane_scope=told.scope,
        runtime_backend=told.backend,
        phase=told.phase,
        conditions=list(status.conditions),
        reason=told.reason or None,
        generation=told.generation,
        observed_generation=told.observed_generation,
        rollback_version=None if told.goes_back_to is None else told.goes_back_to.version,
        is_paused=told.paused,
        deadline_ms=told.deadline_ms,
        created_ms=told.created_ms,
        metadata=told.metadata,
        revision=told.revision,
    )


def _member(found: AppMember) -> wire.InstanceMember:
    return wire.InstanceMember(
        member_id=found.id,
        instance_id=found.instance_id,
        role=found.role,
        component_key=found.component_key,
        version=found.version,
        phase=found.phase,
        lease_id=found.lease_id,
        job_id=found.job_id,
        reason=found.reason,
        deadline_ms=found.deadline_ms,
        source_project=found.source,
        changed_ms=found.changed_ms,
    )


def _operation(found: AppOperation) -> wire.InstanceOperation:
    return wire.InstanceOperation(
        operation_id=found.id,
        instance_id=found.instance_id,
        kind=found.kind,
        phase=found.phase,
        title=found.title,
        component_key=found.component_key,
        member_id=found.member_id,
        generation=found.generation,
        progress=found.progress,
        log=list(found.log),
        result=found.result,
        begun_ms=found.begun_ms,
        ended_ms=found.ended_ms,
    )
