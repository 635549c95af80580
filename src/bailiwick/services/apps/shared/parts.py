"""A project's part in a shared runtime: accepted, given workers, opened to others, ended.

Rules:

- A project consents, gives workers and opens its queues through somebody who has a role at that
  very project: what a tenant's administrator may do everywhere is not the project's word.
- To take back a worker or a consent whoever has the key there may: it only ever costs less.
- Who asks where he may submit is answered about himself.
"""

from __future__ import annotations

from typing import NamedTuple

from bailiwick.apps.shared.submitting import SubmitAnswer, SubmitWish, may_submit
from bailiwick.iam import Scope
from bailiwick.kernel import Done
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.runtime.replica import View
from bailiwick.services.apps.catalog import require_human
from bailiwick.services.apps.shared.runtimes import RuntimePlace
from bailiwick.services.caller import Caller, Deferred
from bailiwick.vocab.shared import ConsentSide, WorkerAction


class PartPlace(NamedTuple):
    """A project's part in a runtime, as a path names it."""

    place: RuntimePlace
    project: str

    @property
    def scope(self) -> Scope:
        """Whose part it is."""
        return Scope(self.place.tenant, self.project)


def require_own(caller: Caller, scope: Scope) -> None:
    """Go on only with the key by a role at this very project."""
    caller.require(scope)
    role = caller.principal.roles.get(scope)
    if role is None or caller.permission not in role.permissions:
        message = f"somebody who has {caller.permission.value} at {scope} itself says this"
        raise caller.refuse(message, reason="needs_own_role")


async def accept(caller: Caller, part: PartPlace) -> Done:
    """Consent for the project that it is attached."""
    require_own(caller, part.scope)
    require_human(caller)
    command = cmd.ConsentAttachment(
        tenant=part.place.tenant,
        runtime=part.place.runtime,
        project=part.project,
        side=ConsentSide.PROJECT,
        by=caller.principal.name,
    )
    return await caller.change(command)


async def leave(caller: Caller, part: PartPlace) -> Done:
    """End the project's part; its workers come back within the time agreed."""
    caller.require(part.scope)
    command = cmd.DetachProject(
        tenant=part.place.tenant,
        runtime=part.place.runtime,
        project=part.project,
        side=ConsentSide.PROJECT,
    )
    return await caller.change(command)


async def change_worker(
    caller: Caller, part: PartPlace, *, command: Deferred[cmd.ChangeContribution]
) -> Done:
    """Give a worker, drain one of the project's own, or take it back."""
    caller.require(part.scope)
    wanted = command()
    if wanted.action is WorkerAction.CONTRIBUTE:
        require_own(caller, part.scope)
    return await caller.change(wanted)


async def set_policy(
    caller: Caller, part: PartPlace, *, command: Deferred[cmd.SetSubmitPolicy]
) -> Done:
    """Let others use one of the project's queues."""
    require_own(caller, part.scope)
    return await caller.change(command())


async def end_policy(caller: Caller, part: PartPlace, *, policy: str) -> Done:
    """Let them no more."""
    caller.require(part.scope)
    command = cmd.EndSubmitPolicy(
        tenant=part.place.tenant,
        runtime=part.place.runtime,
        project=part.project,
        policy=policy,
    )
    return await caller.change(command)


async def ask(caller: Caller, part: PartPlace, *, owner: str, queue: str) -> SubmitAnswer:
    """Whether the caller may submit, as of this project, to a queue of that one."""
    caller.require(part.scope)
    wish = SubmitWish(caller.principal.name, part.project, owner, queue)
    now_ms = caller.clock.now_ms()

    def look(view: View) -> SubmitAnswer:
        return may_submit(part.place.find(view).facts, wish, now_ms=now_ms)

    return await caller.lookup(look)
