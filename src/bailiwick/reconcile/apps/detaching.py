"""Parts in shared runtimes that are to end though nobody says so now.

Rules:

- An operator that has to say that nothing of a project is left is waited for as long as a worker
  that is withdrawn would be, and no longer: either side ends an attachment alone, whether or not
  somebody is there who looks after the runtime.
- A project that was closed has no part in anything: it is detached, for the tenant.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from bailiwick.kernel.apps.shared.commands import DetachProject, FinishDetachment
from bailiwick.kernel.state import State
from bailiwick.vocab.shared import AttachmentPhase, ConsentSide

PartEnd: TypeAlias = DetachProject | FinishDetachment


def parts_to_end(state: State, now_ms: int) -> list[PartEnd]:
    """What is to be said in the place of whoever did not."""
    return [*_parts(state, now_ms)]


def _parts(state: State, now_ms: int) -> Iterator[PartEnd]:
    runtimes = state.apps.shared.held.values()
    rows = ((one, part) for one in runtimes for part in one.attachments.values())
    for held, each in rows:
        runtime, is_leaving = held.runtime, each.phase is AttachmentPhase.DETACHING
        own = {"tenant": runtime.tenant, "runtime": runtime.name, "project": each.project}
        is_late = now_ms >= each.since_ms + runtime.withdraw_within_ms
        is_open = state.directory.project(runtime.tenant, each.project).is_open
        if not is_leaving and not is_open:
            yield DetachProject(**own, side=ConsentSide.TENANT)
        elif is_leaving and is_late and not held.given_by(each.project):
            yield FinishDetachment(**own)
