"""Shared runtimes: parse, call one service, spell the answer."""

from __future__ import annotations

from typing import Annotated, assert_never

from fastapi import Depends, Response

from bailiwick.apps.shared.submitting import SubmitAllowed, SubmitAnswer, SubmitDenied
from bailiwick.kernel.apps.instance_commands import spell_parameters
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.apps.shared.book import (
    SharedAttachment,
    SharedContribution,
    SharedSettlement,
)
from bailiwick.server.http.answering import answers
from bailiwick.server.http.context import Changing, Here
from bailiwick.server.http.params import Limit, NameCursor, PathName, spell_page
from bailiwick.server.http.spelling import spell_done
from bailiwick.services.apps.shared import parts, runtimes
from bailiwick.services.apps.shared.parts import PartPlace
from bailiwick.services.apps.shared.pricing import hour_of
from bailiwick.services.apps.shared.runtimes import RuntimePlace, RuntimeRow
from bailiwick.wire import shared as wire
from bailiwick.wire.answers import Done
from bailiwick.wire.base import Page

_NOBODY = "0" * 64
"""What is accepted by who only asks for a plan."""


def place_of(tenant: PathName, runtime: PathName) -> RuntimePlace:
    """The runtime that a path names."""
    return RuntimePlace(tenant, runtime)


Place = Annotated[RuntimePlace, Depends(place_of)]


def part_of(place: Place, project: PathName) -> PartPlace:
    """The project's part in a runtime that a path names."""
    return PartPlace(place, project)


Part = Annotated[PartPlace, Depends(part_of)]


def _creation(
    tenant: str, body: wire.SharedRuntimeWish, *, digest: str, by: str
) -> cmd.CreateSharedRuntime:
    return cmd.CreateSharedRuntime(
        tenant=tenant,
        runtime=body.runtime,
        project=body.project,
        environment=body.environment,
        app=body.app,
        version=body.version,
        accepted_digest=digest,
        by=by,
        parameters=spell_parameters(body.parameters),
        counts=body.counts,
        controller=body.controller,
        withdraw_within_ms=body.withdraw_within_ms,
        rates=body.rates or None,
    )


@answers("shared_runtime.list")
async def list_runtimes(
    asked: Here, tenant: PathName, *, cursor: NameCursor = None, limit: Limit = 100
) -> Page[wire.SharedRuntimeRow]:
    """The shared runtimes of a tenant, by name."""
    return spell_page(await runtimes.page(asked, tenant, after=cursor, limit=limit), _row)


@answers("shared_runtime.plan")
async def plan_runtime(
    asked: Here, tenant: PathName, *, body: wire.SharedRuntimeWish
) -> wire.SharedPlan:
    """Who would pay for what. A creation has to accept the digest of just this."""
    by = asked.principal.name
    rule, card = await runtimes.plan(
        asked, tenant, wish=lambda: _creation(tenant, body, digest=_NOBODY, by=by)
    )
    prices = {line.role: hour_of(card, line) for line in rule.reserved}
    return wire.SharedPlan(
        rule=rule.text,
        digest=rule.digest,
        reserved=[
            wire.SharedReservation(
                role=line.role,
                part=line.part,
                count=line.count,
                shape=dict(line.shape),
                payer=rule.owner_project,
                micros_per_hour=prices[line.role].micros * line.count,
                is_upper_bound=prices[line.role].is_upper_bound,
            )
            for line in rule.reserved
        ],
        contributable=list(rule.contributable),
        withdraw_within_ms=rule.withdraw_within_ms,
        currency=card.currency,
        contributed=[
            wire.ContributedPrice(
                role=role,
                micros_per_hour=prices[role].micros,
                is_upper_bound=prices[role].is_upper_bound,
            )
            for role in rule.contributable
        ],
        rates=dict(rule.rates),
    )


@answers("shared_runtime.create")
async def create_runtime(
    asked: Changing, tenant: PathName, *, body: wire.NewSharedRuntime
) -> wire.SharedRuntimeDone:
    """Share an app between projects of a tenant; nobody is attached to it yet.

    Refused with ``shared_runtime_refused`` and the word for it, as without the digest of the plan.
    """
    digest, by = body.accepted_digest, asked.principal.name
    done, number = await runtimes.create(
        asked, tenant, wish=lambda: _creation(tenant, body, digest=digest, by=by)
    )
    return wire.SharedRuntimeDone(answer="done", seq=done.seq, instance_id=number)


@answers("shared_runtime.read")
async def read_runtime(asked: Here, place: Place) -> wire.SharedRuntimeView:
    """A runtime; of its parts, workers and policies those that the caller may read.

    Each names the number of the record that it follows from.
    """
    found = await runtimes.read(asked, place)
    return wire.SharedRuntimeView(
        runtime=_row(found.row),
        billing_rule=found.row.held.runtime.billing_rule,
        attachments=[_attachment(each) for each in found.attachments],
        workers=[_worker(each, lease_id) for each, lease_id in found.workers],
        submit_rights=[wire.SubmitRight(**each._asdict()) for each in found.rights],
        people=[
            wire.SharedPerson(principal=name, projects=list(projects))
            for name, projects in found.people
        ],
        parted=[
            wire.SharedParting(projects=[each.one, each.other], kinds=list(each.kinds))
            for each in found.parted
        ],
        used_until_ms=found.row.held.use.told_until_ms or None,
        settlement=spell_settlement(found.row.held.settlement),
    )


@answers("shared_runtime.delete")
async def delete_runtime(asked: Changing, place: Place) -> Done:
    """Have a runtime go: every project is detached and has its workers back first."""
    return spell_done(await runtimes.delete(asked, place))


@answers("shared_runtime.operator_token")
async def let_operator_in(
    asked: Changing, place: Place, *, body: wire.NewOperatorToken, response: Response
) -> wire.OperatorToken:
    """Make a token for the program that looks after a runtime, shown this once.

    It reads this runtime and acts on the instance behind it, and does nothing else anywhere.
    """
    authority = asked.house.door.authority
    minted = await runtimes.let_in(asked, authority, place=place, ttl_s=body.ttl_s)
    response.headers["cache-control"] = "no-store"
    return wire.OperatorToken(
        token=None if asked.dry_run else minted.token,
        token_id=minted.command.token_id,
        principal=minted.command.principal,
        expires_ms=minted.command.expires_ms,
    )


@answers("shared_runtime.note_use")
async def note_use(asked: Changing, place: Place, *, body: wire.CredentialUse) -> Done:
    """Seal that a credential of the runtime was used, before it is."""
    done = await runtimes.note_use(asked, place, credential=body.credential, purpose=body.purpose)
    return spell_done(done)


# -- attachments -----------------------------------------------------------------------------


@answers("shared_attachment.allow")
async def allow_project(asked: Changing, place: Place, *, project: PathName) -> Done:
    """Consent for the tenant; the project is attached once it accepts too."""
    return spell_done(await runtimes.allow(asked, place, project=project))


@answers("shared_attachment.end")
async def end_attachment(asked: Changing, place: Place, *, project: PathName) -> Done:
    """Detach a project, for the tenant; its workers go back within the time agreed."""
    return spell_done(await runtimes.end(asked, place, project=project))


@answers("shared_attachment.finish")
async def finish_detachment(asked: Changing, place: Place, *, project: PathName) -> Done:
    """Say, for the runtime's operator, that nothing of a project is left inside."""
    return spell_done(await runtimes.finish(asked, place, project=project))


@answers("shared_attachment.accept")
async def accept_attachment(asked: Changing, part: Part) -> Done:
    """Consent for the project: by somebody of that very project, and another person."""
    return spell_done(await parts.accept(asked, part))


@answers("shared_attachment.leave")
async def leave_runtime(asked: Changing, part: Part) -> Done:
    """End the project's part; its workers come back within the time agreed."""
    return spell_done(await parts.leave(asked, part))


# -- workers, policies -----------------------------------------------------------------------


@answers("shared_worker.change")
async def change_worker(asked: Changing, part: Part, *, body: wire.WorkerChange) -> Done:
    """Contribute, drain or withdraw a worker; under the same ``Idempotency-Key`` once."""
    key = asked.key or asked.correlation_id

    def command() -> cmd.ChangeContribution:
        return cmd.ChangeContribution(
            tenant=part.place.tenant,
            runtime=part.place.runtime,
            project=part.project,
            action=body.action,
            component_key=body.component_key,
            key=key,
            role=body.role,
            within_ms=body.within_ms,
        )

    return spell_done(await parts.change_worker(asked, part, command=command))


@answers("submit_policy.set")
async def set_policy(
    asked: Changing, part: Part, *, policy: PathName, body: wire.NewSubmitPolicy
) -> Done:
    """Let a project or a person use a queue of the project, until a time."""

    def command() -> cmd.SetSubmitPolicy:
        return cmd.SetSubmitPolicy(
            tenant=part.place.tenant,
            runtime=part.place.runtime,
            project=part.project,
            policy=policy,
            queue=body.queue,
            until_ms=body.until_ms,
            grantee_project=body.grantee_project,
            grantee_person=body.grantee_person,
            limits=body.limits,
        )

    return spell_done(await parts.set_policy(asked, part, command=command))


@answers("submit_policy.end")
async def end_policy(asked: Changing, part: Part, *, policy: PathName) -> Done:
    """Let them use it no more."""
    return spell_done(await parts.end_policy(asked, part, policy=policy))


@answers("submit_policy.ask")
async def ask_where(asked: Here, part: Part, *, body: wire.SubmitQuestion) -> wire.SubmitVerdict:
    """Whether the caller, as of this project, may submit to a queue of another or his own."""
    return _verdict(await parts.ask(asked, part, owner=body.owner, queue=body.queue))


# -- spelling --------------------------------------------------------------------------------


def _row(found: RuntimeRow) -> wire.SharedRuntimeRow:
    r, instance = found.held.runtime, found.instance
    return wire.SharedRuntimeRow(
        runtime=r.name,
        runtime_id=r.id,
        tenant=r.tenant,
        environment=r.environment,
        owner_project=r.project,
        app=r.app,
        version=instance.version,
        phase=instance.phase,
        instance_id=r.instance_id,
        controller=dict(r.controller),
        withdraw_within_ms=r.withdraw_within_ms,
        billing_digest=r.billing_digest,
        accepted_by=r.accepted_by,
        is_leaving=r.is_leaving,
        created_ms=r.created_ms,
        seq=r.seq,
    )


def spell_settlement(found: SharedSettlement | None) -> wire.SharedSettlement | None:
    """What use is worth, if anything."""
    if found is None:
        return None
    return wire.SharedSettlement(
        rates=dict(found.rates),
        accepted_by=found.accepted_by,
        since_ms=found.since_ms,
        seq=found.seq,
    )


def _attachment(found: SharedAttachment) -> wire.SharedAttachment:
    return wire.SharedAttachment(
        project=found.project,
        phase=found.phase,
        allowed_by=found.allowed_by,
        accepted_by=found.accepted_by,
        since_ms=found.since_ms,
        seq=found.seq,
    )


def _worker(found: SharedContribution, lease_id: int | None) -> wire.SharedWorker:
    return wire.SharedWorker(
        project=found.project,
        member_id=found.member_id,
        component_key=found.component_key,
        role=found.role,
        phase=found.phase,
        lease_id=lease_id,
        deadline_ms=found.deadline_ms,
        since_ms=found.since_ms,
        seq=found.seq,
    )


def _verdict(found: SubmitAnswer) -> wire.SubmitVerdict:
    match found:
        case SubmitAllowed(seq, policy, limits):
            return wire.SubmitVerdict(
                is_allowed=True, denied=None, policy=policy, limits=dict(limits), seq=seq
            )
        case SubmitDenied(reason, seq):
            return wire.SubmitVerdict(
                is_allowed=False, denied=reason, policy=None, limits={}, seq=seq
            )
        case _:
            assert_never(found)
