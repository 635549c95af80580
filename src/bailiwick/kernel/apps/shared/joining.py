"""A project's part in a shared runtime: consents, workers that it gives and takes back, its end.

Rules:

- A project is attached when both sides consented, and not by the same person. Either side ends it:
  then the project's policies and those for it end, and its workers come back.
- A project gives workers only while it is attached, takes back its own alone, and has each back
  within the time that was agreed. What steers a runtime is not given.
- No node whose jobs may do what its executor may has a part in a runtime: who has it has it all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from hashlib import sha256
from typing import assert_never

from bailiwick.apps.life import check_move
from bailiwick.apps.shared.billing import contributable_roles
from bailiwick.fleet.node import gives_root
from bailiwick.iam import Scope
from bailiwick.kernel.apps import instance_commands as icmd
from bailiwick.kernel.apps.instances import AppMember, HeldInstance
from bailiwick.kernel.apps.member_rules import add_contributed, end_contributed, is_done
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.apps.shared.book import ATTACHMENTS_MAX, HeldRuntime, SharedAttachment
from bailiwick.kernel.apps.shared.following import attachment_event, detach_if_empty
from bailiwick.kernel.apps.shared.policies import policy_event, stays
from bailiwick.kernel.events import Event
from bailiwick.kernel.state import State
from bailiwick.vocab.apps import MemberAction
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound, SharedRuntimeRefused
from bailiwick.vocab.shared import (
    AttachmentPhase,
    ConsentSide,
    SharedRefusal,
    SubmitPolicyChange,
    WorkerAction,
)

_A, _WHY = AttachmentPhase, SharedRefusal


def consent(state: State, command: cmd.ConsentAttachment) -> Iterator[Event]:
    """One side has a project attached; it is, once the other has said so too."""
    held = stays(state, command.tenant, name=command.runtime)
    state.directory.check_scope(Scope(command.tenant, command.project))
    known = held.attachments.get(command.project)
    if known is None:
        if len(held.attachments) >= ATTACHMENTS_MAX:
            raise LimitReached(f"attachments of {command.runtime}", ATTACHMENTS_MAX)
        new = SharedAttachment(project=command.project, phase=_A.REQUESTED)
        yield attachment_event(held, _signed(new, command), side=command.side)
        return
    by_side = {ConsentSide.TENANT: known.allowed_by, ConsentSide.PROJECT: known.accepted_by}
    if known.phase is not _A.REQUESTED or by_side[command.side] is not None:
        why = "has this consent already" if known.phase is _A.REQUESTED else f"is {known.phase}"
        raise Conflict("attachment", command.project, why)
    if command.by in by_side.values():
        told = {"project": command.project, "person": command.by}
        raise SharedRuntimeRefused(_WHY.SAME_PERSON, command.runtime, **told)
    check_move(known.phase, _A.ATTACHED)
    joined = replace(_signed(known, command), phase=_A.ATTACHED)
    yield attachment_event(held, joined, before=known.phase, side=command.side)


def _signed(attachment: SharedAttachment, command: cmd.ConsentAttachment) -> SharedAttachment:
    if command.side is ConsentSide.TENANT:
        return replace(attachment, allowed_by=command.by)
    return replace(attachment, accepted_by=command.by)


def detach(state: State, command: cmd.DetachProject, *, now_ms: int) -> Iterator[Event]:
    """Either side ends an attachment."""
    held = state.apps.shared.get(command.tenant, command.runtime)
    known = held.attachments.get(command.project)
    if known is None:
        raise NotFound("attachment", command.project)
    if known.phase is not _A.DETACHING:
        yield from leave(state, held, attachment=known, side=command.side, now_ms=now_ms)


def leave(
    state: State,
    held: HeldRuntime,
    *,
    attachment: SharedAttachment,
    side: ConsentSide,
    now_ms: int,
) -> Iterator[Event]:
    """A project's part ends: its policies at once, its workers within the time agreed."""
    before, project = attachment.phase, attachment.project
    phase = _A.DETACHED if before is _A.REQUESTED else _A.DETACHING
    if before is phase:
        return
    check_move(before, phase)
    yield attachment_event(held, replace(attachment, phase=phase), before=before, side=side)
    for policy in [*held.policies.values()]:
        if project in (policy.project, policy.grantee_project):
            yield policy_event(held, SubmitPolicyChange.ENDED, policy=policy)
    for given in held.given_by(project):
        member = state.apps.instances.held[held.runtime.instance_id].members[given.member_id]
        about = _about(held, MemberAction.REMOVE, member.component_key, key=f"detach.{member.id}")
        until_ms = now_ms + held.runtime.withdraw_within_ms
        yield from _end_member(state, about, member, until_ms=until_ms, now_ms=now_ms)
    yield from detach_if_empty(state, held, project=project)


def finish_detachment(state: State, command: cmd.FinishDetachment) -> Iterator[Event]:
    """Whoever looks after the runtime says that nothing of a project is left in it."""
    held = state.apps.shared.get(command.tenant, command.runtime)
    known = held.attachments.get(command.project)
    if known is None:
        raise NotFound("attachment", command.project)
    if known.phase is not _A.DETACHING:
        raise Conflict("attachment", command.project, f"is {known.phase}")
    if held.given_by(command.project):
        raise Conflict("attachment", command.project, "has workers that are not back yet")
    gone = replace(known, phase=_A.DETACHED)
    yield attachment_event(held, gone, before=known.phase)


def change_contribution(
    state: State, command: cmd.ChangeContribution, *, now_ms: int
) -> Iterator[Event]:
    """A project gives a worker, drains one of its own, or takes it back."""
    held = state.apps.shared.get(command.tenant, command.runtime)
    instance = state.apps.instances.held[held.runtime.instance_id]
    # The same word of two projects is two things.
    key = f"{command.project}.{sha256(command.key.encode()).hexdigest()[:32]}"
    action = _ACTIONS[command.action]
    about = _about(held, action, command.component_key, key=key, role=command.role)
    if is_done(instance, about):
        return
    match command.action:
        case WorkerAction.CONTRIBUTE:
            _check_contribution(state, held, command)
            yield from add_contributed(state, instance, command=about, source=command.project)
        case WorkerAction.DRAIN:
            member = _own_workers(instance, command)[0]
            if not member.is_live:
                raise Conflict("worker", member.component_key, f"is {member.phase}")
            version = state.apps.version(held.runtime.app, member.version)
            until_ms = now_ms + version.manifest.delete_within_ms
            yield from _end_member(state, about, member, until_ms=until_ms, now_ms=now_ms)
        case WorkerAction.WITHDRAW:
            within_ms = held.runtime.withdraw_within_ms
            if command.within_ms is not None:
                within_ms = min(within_ms, command.within_ms)
            # With it those whose place it took, and which are not gone yet.
            for member in _own_workers(instance, command):
                until_ms = now_ms + within_ms
                yield from _end_member(state, about, member, until_ms=until_ms, now_ms=now_ms)
        case _:
            assert_never(command.action)


_ACTIONS = {
    WorkerAction.CONTRIBUTE: MemberAction.ADD,
    WorkerAction.DRAIN: MemberAction.DRAIN,
    WorkerAction.WITHDRAW: MemberAction.REMOVE,
}


def _about(
    held: HeldRuntime,
    action: MemberAction,
    component_key: str,
    *,
    key: str,
    role: str | None = None,
) -> icmd.ChangeMember:
    """What is done to a member of the instance behind a runtime."""
    r = held.runtime
    return icmd.ChangeMember(
        tenant=r.tenant,
        project=r.project,
        instance_id=r.instance_id,
        action=action,
        component_key=component_key,
        key=key,
        role=role,
    )


def _check_contribution(state: State, held: HeldRuntime, command: cmd.ChangeContribution) -> None:
    r, role = held.runtime, command.role or ""
    state.directory.check_scope(Scope(command.tenant, command.project))
    if r.is_leaving:
        raise SharedRuntimeRefused(_WHY.RUNTIME_LEAVING, r.name)
    if not held.is_attached(command.project):
        raise SharedRuntimeRefused(_WHY.NOT_ATTACHED, r.name, project=command.project)
    instance = state.apps.instances.held[r.instance_id].instance
    manifest = state.apps.version(r.app, instance.version).manifest
    if role in manifest.roles and role not in contributable_roles(manifest):
        raise SharedRuntimeRefused(_WHY.ROLE_NOT_CONTRIBUTED, r.name, role=role)
    check_roots(state, r.name, labels={})


def _own_workers(instance: HeldInstance, command: cmd.ChangeContribution) -> list[AppMember]:
    """The project's workers of that name, the newest first; those of another are not there."""
    own = [
        each
        for each in instance.members.values()
        if (each.component_key, each.source) == (command.component_key, command.project)
    ]
    if not own:
        raise NotFound("worker", command.component_key)
    return sorted(own, key=lambda each: -each.id)


def _end_member(
    state: State, about: icmd.ChangeMember, member: AppMember, *, until_ms: int, now_ms: int
) -> Iterator[Event]:
    held = state.apps.instances.held[about.instance_id]
    times = {"until_ms": until_ms, "now_ms": now_ms}
    yield from end_contributed(state, held, command=about, member=member, **times)


def check_roots(state: State, name: str, *, labels: Mapping[str, str]) -> None:
    """Refuse what could only run where everybody's jobs may do everything."""
    entries = state.ledger.entries.values()
    told = ({**each.labels, **each.implied} for each in entries)
    nodes = [each for each in told if labels.items() <= each.items()]
    if nodes and all(gives_root(each) for each in nodes):
        raise SharedRuntimeRefused(_WHY.NODES_GIVE_ROOT, name, nodes=len(nodes))
