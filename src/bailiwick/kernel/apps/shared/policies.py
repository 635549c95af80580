"""Policies of a project by which others use its queues: set, and ended.

Rules:

- A project that is attached lets a project of its tenant, or a person, use one queue of its own,
  with limits, until a time. What is over already cannot be set.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from bailiwick.apps.shared.submitting import SubmitPolicy
from bailiwick.iam import Scope
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.apps.shared import events as ev
from bailiwick.kernel.apps.shared.book import POLICIES_MAX, HeldRuntime
from bailiwick.kernel.events import Event
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.state import State
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound, SharedRuntimeRefused
from bailiwick.vocab.shared import SharedRefusal, SubmitPolicyChange


def stays(state: State, tenant: str, *, name: str) -> HeldRuntime:
    """The tenant's runtime of that name, if it is not on its way out."""
    held = state.apps.shared.get(tenant, name)
    if held.runtime.is_leaving:
        raise SharedRuntimeRefused(SharedRefusal.RUNTIME_LEAVING, name)
    return held


def set_policy(state: State, command: cmd.SetSubmitPolicy, *, now_ms: int) -> Iterator[Event]:
    """A project lets others use one of its queues."""
    held = stays(state, command.tenant, name=command.runtime)
    if not held.is_attached(command.project):
        told = {"project": command.project}
        raise SharedRuntimeRefused(SharedRefusal.NOT_ATTACHED, command.runtime, **told)
    if command.grantee_project is not None:
        state.directory.check_scope(Scope(command.tenant, command.grantee_project))
        if command.grantee_project == command.project:
            raise Conflict("policy", command.policy, "a project needs none for its own queues")
    if command.until_ms <= now_ms:
        raise Conflict("policy", command.policy, f"would have ended at {command.until_ms}")
    policy = SubmitPolicy(
        name=command.policy,
        project=command.project,
        queue=command.queue,
        until_ms=command.until_ms,
        grantee_project=command.grantee_project,
        grantee_person=command.grantee_person,
        limits=command.limits,
    )
    known = held.policies.get((command.project, command.policy))
    if known is None and len(held.policies) >= POLICIES_MAX:
        raise LimitReached(f"policies of {command.runtime}", POLICIES_MAX)
    if known is not None and replace(known, seq=0) == policy:
        raise Conflict("policy", command.policy, "is like that already")
    yield policy_event(held, SubmitPolicyChange.SET, policy=policy)


def end_policy(state: State, command: cmd.EndSubmitPolicy) -> Iterator[Event]:
    """It does so no more."""
    held = state.apps.shared.get(command.tenant, command.runtime)
    known = held.policies.get((command.project, command.policy))
    if known is None:
        raise NotFound("policy", command.policy)
    yield policy_event(held, SubmitPolicyChange.ENDED, policy=known)


def policy_event(held: HeldRuntime, change: SubmitPolicyChange, *, policy: SubmitPolicy) -> Event:
    """A policy is so from now on, or no more."""
    r = held.runtime
    told = replace(policy, seq=0)
    return ev.SubmitPolicySet(Owner(r.tenant, policy.project), r.id, r.name, change, told)
