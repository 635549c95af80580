"""What follows for a shared runtime from what happens to its members and its instance.

Rules:

- What happens to a contributed member is told to its project, whoever brought it about.
- A project that is being detached is detached once no worker of it is left and, where an operator
  looks after the runtime, that has said that nothing of it is left inside.
- When the instance is gone, so is the runtime, and nobody is attached to it any more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bailiwick.kernel.apps import instance_events as iev
from bailiwick.kernel.apps.shared import events as ev
from bailiwick.kernel.apps.shared.book import (
    HeldRuntime,
    SharedAttachment,
    SharedContribution,
    SharedRuntime,
)
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.vocab.apps import InstancePhase, MemberPhase
from bailiwick.vocab.shared import AttachmentPhase, ConsentSide, ContributionPhase

_A = AttachmentPhase


def follow(state: State, events: Iterator[Event]) -> Iterator[Event]:
    """The events, and after each what follows from it for a shared runtime."""
    for event in events:
        yield event
        if isinstance(event, iev.AppMemberChanged) and event.member.source is not None:
            yield from _follow_member(state, event)
        elif isinstance(event, iev.AppInstanceMoved) and event.phase is InstancePhase.DELETED:
            yield from _follow_end(state, event.instance_id)


def _follow_member(state: State, event: iev.AppMemberChanged) -> Iterator[Event]:
    member, held = event.member, state.apps.shared.behind(event.member.instance_id)
    if held is None:
        return
    phase = _phase_of(event)
    if phase is None:
        return
    r = held.runtime
    given = SharedContribution(
        project=str(member.source),
        member_id=member.id,
        component_key=member.component_key,
        role=member.role,
        phase=phase,
        deadline_ms=member.deadline_ms,
    )
    owner = Owner(r.tenant, given.project)
    yield ev.SharedContributionChanged(owner, r.id, r.name, r.app, r.instance_id, given)
    if phase is ContributionPhase.ENDED:
        yield from detach_if_empty(state, held, project=given.project)


def _phase_of(event: iev.AppMemberChanged) -> ContributionPhase | None:
    match event.member.phase:
        case MemberPhase.REMOVED:
            return ContributionPhase.ENDED
        case MemberPhase.DRAINING:
            return ContributionPhase.DRAINING
        case _:
            return ContributionPhase.CONTRIBUTED if event.before is None else None


def _follow_end(state: State, instance_id: int) -> Iterator[Event]:
    held = state.apps.shared.behind(instance_id)
    if held is None:
        return
    for known in [*held.attachments.values()]:
        gone = replace(known, phase=_A.DETACHED)
        yield attachment_event(held, gone, before=known.phase)
    yield ended_event(held.runtime, gone=True)


def attachment_event(
    held: HeldRuntime,
    attachment: SharedAttachment,
    *,
    before: AttachmentPhase | None = None,
    side: ConsentSide | None = None,
) -> Event:
    """A project's part in a runtime is so from now on."""
    r = held.runtime
    owner = Owner(r.tenant, attachment.project)
    return ev.SharedAttachmentChanged(owner, r.id, r.name, attachment, before, side)


def detach_if_empty(state: State, held: HeldRuntime, *, project: str) -> Iterator[Event]:
    """What is detaching is detached once nothing of it is left.

    What is inside the app nobody but its operator knows: one that has ever reported is waited for.
    """
    known = held.attachments.get(project)
    if state.apps.instances.held[held.runtime.instance_id].instance.observed_generation:
        return
    if known is not None and known.phase is _A.DETACHING and not held.given_by(project):
        gone = replace(known, phase=_A.DETACHED)
        yield attachment_event(held, gone, before=known.phase)


def ended_event(runtime: SharedRuntime, *, gone: bool) -> Event:
    """A runtime is to go, or is gone."""
    r = runtime
    return ev.SharedRuntimeEnded(r.owner, r.id, r.name, r.app, r.instance_id, gone)
