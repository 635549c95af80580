"""Calls of shared runtimes: people ask one for a project that has a part in it.

Rules:

- The key of the verb is had by a role at the very project for which one asks: by that, and by no
  other, the app knows him. A service account asks for its own project alone.
- Whether the project has a part, and whether another's queue is open to him, the kernel decides, by
  the same function that tells people where they may submit; then it is sealed.
- From there it is a call of the instance behind the runtime, which its own operator answers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from bailiwick.apps.calls import AskedPart
from bailiwick.kernel.apps.calls.commands import CallInstance
from bailiwick.services.apps.calls import CallDesk, CallWish, put_question
from bailiwick.services.apps.instances import InstancePlace, require_home
from bailiwick.services.apps.shared.parts import PartPlace, require_own
from bailiwick.services.caller import Caller, Deferred
from bailiwick.store.calls.rows import CallRow


@dataclass(frozen=True, slots=True)
class QueueWish:
    """Whose queue is meant; none: the project's own, and of those the first."""

    owner: str | None = None
    queue: str | None = None


async def ask(
    caller: Caller,
    desk: CallDesk,
    *,
    part: PartPlace,
    where: QueueWish,
    wish: Deferred[CallWish],
) -> CallRow | None:
    """Ask a runtime for a project, and wait for the answer as long as wished."""
    require_own(caller, part.scope)
    await require_home(caller, part.scope, changes=True)
    meant = AskedPart(part.project, where.owner or part.project, where.queue)
    wanted = wish()
    wanted = replace(wanted, question=replace(wanted.question, part=meant))
    r = (await caller.lookup(part.place.find)).runtime
    command = CallInstance(
        tenant=r.tenant,
        project=part.project,
        instance_id=r.instance_id,
        verb=wanted.verb,
        digest=wanted.question.digest,
        within_ms=wanted.within_ms,
        runtime=r.name,
        by=caller.principal.name,
        owner=None if meant.owner == part.project else meant.owner,
        queue=meant.queue,
    )
    place = InstancePlace(r.tenant, r.project, r.instance_id)
    return await put_question(caller, desk, place=place, command=command, wanted=wanted)
