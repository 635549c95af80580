"""Shared runtimes: what follows from making and ending one, and who hands on the rest.

Rules:

- A runtime is made only by somebody who names the digest of who pays for what of it. Of one app a
  tenant has one in an environment. What runs is an instance of the owner record's project, which
  that project's own commands do not delete.
- A runtime that goes takes everybody's part in it along, before it is gone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from bailiwick.apps.shared.billing import BillingRule, contributable_roles, reserved_lines
from bailiwick.iam import Scope
from bailiwick.kernel.apps import instance_commands as icmd
from bailiwick.kernel.apps.instance_rules import counts_for, decide_instance
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.apps.shared import events as ev
from bailiwick.kernel.apps.shared import use_commands as ucmd
from bailiwick.kernel.apps.shared.book import RUNTIMES_MAX, SharedRuntime
from bailiwick.kernel.apps.shared.following import ended_event, follow
from bailiwick.kernel.apps.shared.joining import (
    change_contribution,
    check_roots,
    consent,
    detach,
    finish_detachment,
    leave,
)
from bailiwick.kernel.apps.shared.policies import end_policy, set_policy
from bailiwick.kernel.apps.shared.use_rules import (
    check_known,
    report_use,
    set_settlement,
    settlement_event,
)
from bailiwick.kernel.events import Event
from bailiwick.kernel.state import State
from bailiwick.vocab.errors import Conflict, LimitReached, NotFound, SharedRuntimeRefused
from bailiwick.vocab.shared import ConsentSide, SharedRefusal

_WHY = SharedRefusal


def decide(state: State, command: cmd.SharedCommand, *, now_ms: int) -> Iterator[Event]:
    """The events that follow from such a command."""
    match command:
        case cmd.CreateSharedRuntime():
            events = _create(state, command, now_ms)
        case cmd.DeleteSharedRuntime():
            events = _delete(state, command, now_ms)
        case cmd.ConsentAttachment():
            events = consent(state, command)
        case cmd.DetachProject():
            events = detach(state, command, now_ms=now_ms)
        case cmd.FinishDetachment():
            events = finish_detachment(state, command)
        case cmd.ChangeContribution():
            events = change_contribution(state, command, now_ms=now_ms)
        case cmd.SetSubmitPolicy():
            events = set_policy(state, command, now_ms=now_ms)
        case cmd.EndSubmitPolicy():
            events = end_policy(state, command)
        case cmd.NoteCredentialUse():
            events = _note_use(state, command)
        case ucmd.ReportSharedUse():
            events = report_use(state, command, now_ms=now_ms)
        case ucmd.SetSharedSettlement():
            events = set_settlement(state, command)
        case _:
            assert_never(command)
    return follow(state, events)


# -- a runtime -------------------------------------------------------------------------------


def billing_rule(state: State, command: cmd.CreateSharedRuntime) -> BillingRule:
    """Who would pay for what, if this runtime were made as the command says."""
    owner = Scope(command.tenant, command.project)
    known = state.apps.versions_at(command.app, owner).get(command.version)
    if known is None:
        raise NotFound("version", f"{command.app} {command.version}")
    counts = counts_for(known.manifest, {}, changed=command.counts)
    rates = command.rates or {}
    check_known(command.runtime, rates, known=known.manifest.billing_units)
    return BillingRule(
        command.runtime,
        command.environment,
        command.tenant,
        command.project,
        command.app,
        command.version,
        reserved_lines(known.manifest, counts),
        contributable_roles(known.manifest),
        command.withdraw_within_ms,
        rates,
    )


def _create(state: State, command: cmd.CreateSharedRuntime, now_ms: int) -> Iterator[Event]:
    book = state.apps.shared
    state.directory.check_scope(Scope(command.tenant, command.project))
    if book.find(command.tenant, command.runtime) is not None:
        raise Conflict("shared runtime", command.runtime, "exists already")
    if len(book.held) >= RUNTIMES_MAX:
        raise LimitReached("shared runtimes", RUNTIMES_MAX)
    for each in book.of(command.tenant):
        other = each.runtime
        if (other.environment, other.app) == (command.environment, command.app):
            told = {"environment": other.environment, "runtime": other.name}
            raise SharedRuntimeRefused(_WHY.ENVIRONMENT_TAKEN, command.runtime, **told)
    rule = billing_rule(state, command)
    if rule.digest != command.accepted_digest:
        told = {"digest": rule.digest, "accepted": command.accepted_digest}
        raise SharedRuntimeRefused(_WHY.BILLING_RULE_NOT_ACCEPTED, command.runtime, **told)
    check_roots(state, command.runtime, labels=command.controller)
    yield from decide_instance(state, command.request, now_ms=now_ms)
    runtime = SharedRuntime(
        id=book.serial + 1,
        tenant=command.tenant,
        name=command.runtime,
        environment=command.environment,
        project=command.project,
        app=command.app,
        instance_id=state.apps.instances.instance_serial,
        controller=command.controller,
        withdraw_within_ms=command.withdraw_within_ms,
        billing_rule=rule.text,
        billing_digest=rule.digest,
        accepted_by=command.by,
    )
    yield ev.SharedRuntimeCreated(runtime.owner, runtime)
    if command.rates:
        yield settlement_event(runtime, command.rates, rule=rule.text, by=command.by)


def _delete(state: State, command: cmd.DeleteSharedRuntime, now_ms: int) -> Iterator[Event]:
    held = state.apps.shared.get(command.tenant, command.runtime)
    if held.runtime.is_leaving:
        return
    yield ended_event(held.runtime, gone=False)
    for each in [*held.attachments.values()]:
        side = ConsentSide.TENANT
        yield from leave(state, held, attachment=each, side=side, now_ms=now_ms)
    r = held.runtime
    gone = icmd.DeleteInstance(tenant=r.tenant, project=r.project, instance_id=r.instance_id)
    yield from decide_instance(state, gone, now_ms=now_ms)


def check_not_shared(state: State, command: icmd.DeleteInstance) -> None:
    """Refuse to delete an instance by itself that is behind a runtime: others have a part in it."""
    held = state.apps.shared.behind(command.instance_id)
    if held is not None and held.runtime.project == command.project:
        told = {"attached": len(held.attachments)}
        raise SharedRuntimeRefused(_WHY.BACKS_A_RUNTIME, held.runtime.name, **told)


def _note_use(state: State, command: cmd.NoteCredentialUse) -> Iterator[Event]:
    r = state.apps.shared.get(command.tenant, command.runtime).runtime
    told = command.credential, command.purpose, command.by
    yield ev.SharedCredentialUsed(r.owner, r.id, r.name, *told)
