"""Operations on instances: work that takes its time, with progress, a log and what came of it.

Rules:

- What the platform itself does ends by what happens; only a task that the operator began is ended
  by him. Progress never goes back.
- Those that ended are known for a while; the journal has all of them.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.kernel import Done
from bailiwick.kernel.apps.instance_commands import (
    AdvanceOperation,
    BeginOperation,
    FinishOperation,
)
from bailiwick.kernel.apps.instances import AppOperation
from bailiwick.runtime.replica import View
from bailiwick.services.apps.instances import Created, InstancePlace, require_instance
from bailiwick.services.caller import Caller
from bailiwick.services.pages import Rows, cut
from bailiwick.vocab.apps import OperationPhase


class OperationPlace(NamedTuple):
    """One operation, as a path names it."""

    instance: InstancePlace
    operation_id: int


async def page_operations(
    caller: Caller,
    place: InstancePlace,
    *,
    phase: OperationPhase | None,
    before: int | None,
    limit: int,
) -> Rows[AppOperation]:
    """The operations of an instance, newest first."""
    await require_instance(caller, place, changes=False)

    def read(view: View) -> Rows[AppOperation]:
        found = (
            each
            for each in place.find(view).operations.values()
            if (before is None or each.id < before) and phase in (None, each.phase)
        )
        rows = sorted(found, key=lambda each: -each.id)[: limit + 1]
        return cut(rows, limit, key=lambda each: each.id)

    return await caller.read(read)


async def read_operation(caller: Caller, place: OperationPlace) -> AppOperation:
    """One operation."""
    await require_instance(caller, place.instance, changes=False)

    def read(view: View) -> AppOperation:
        return place.instance.find(view).operation(place.operation_id)

    return await caller.lookup(read)


async def begin(caller: Caller, place: InstancePlace, *, title: str) -> Created:
    """Begin a task of the operator's; under the same key, the one that was begun."""
    await require_instance(caller, place, changes=True)
    key = caller.key or caller.correlation_id
    command = BeginOperation(
        tenant=place.tenant,
        project=place.project,
        instance_id=place.instance_id,
        key=key,
        title=title,
    )
    done = await caller.change(command)
    if caller.dry_run:
        return Created(done, None)

    def look(view: View) -> int | None:
        return place.find(view).keys.get((None, key))

    return Created(done, await caller.lookup(look))


async def advance(
    caller: Caller, place: OperationPlace, *, progress: int | None, log: tuple[str, ...]
) -> Done:
    """Tell how far an operation is."""
    await require_instance(caller, place.instance, changes=True)
    command = AdvanceOperation(
        tenant=place.instance.tenant,
        project=place.instance.project,
        instance_id=place.instance.instance_id,
        operation_id=place.operation_id,
        progress=progress,
        log=log,
    )
    return await caller.change(command)


async def finish(caller: Caller, place: OperationPlace, *, succeeded: bool, result: str) -> Done:
    """Tell what came of a task."""
    await require_instance(caller, place.instance, changes=True)
    command = FinishOperation(
        tenant=place.instance.tenant,
        project=place.instance.project,
        instance_id=place.instance.instance_id,
        operation_id=place.operation_id,
        succeeded=succeeded,
        result=result,
    )
    return await caller.change(command)
