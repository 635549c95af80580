"""Shared runtimes: planned, made, read and ended by a tenant; their operators let in.

Rules:

- A tenant's people make, allow and end; a program does not consent. What a project does with its
  part is in :mod:`.parts`.
- Of a runtime whoever has a role at some project of the tenant sees that it is there; of parts,
  workers and policies, those of the projects that he may read.
- The operator of a runtime has a token of a kind of its own: it is good for that runtime and the
  instance behind it, and for nothing else, whatever else there is in that project.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from bailiwick.apps.shared.billing import BillingRule
from bailiwick.billing.rates import RateCard
from bailiwick.iam import RUNTIME_PREFIX, Permission, PrincipalKind, Scope
from bailiwick.kernel import Done
from bailiwick.kernel.apps.instances import AppInstance
from bailiwick.kernel.apps.shared import commands as cmd
from bailiwick.kernel.apps.shared.book import HeldRuntime, SharedAttachment, SharedContribution
from bailiwick.kernel.apps.shared.rules import billing_rule
from bailiwick.runtime.replica import View
from bailiwick.services.apps.catalog import require_human
from bailiwick.services.apps.shared.parting import PartedProjects, parted
from bailiwick.services.authority import Authority, Minted, Terms
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.pages import Rows, page_of
from bailiwick.vocab.shared import AttachmentPhase, ConsentSide

_SUBMIT: Final = Permission.QUEUE_SUBMIT


class RuntimePlace(NamedTuple):
    """One runtime, as a path names it."""

    tenant: str
    runtime: str

    def find(self, view: View) -> HeldRuntime:
        """What is there; that of another tenant is not."""
        return view.state.apps.shared.get(self.tenant, self.runtime)


class RuntimeRow(NamedTuple):
    """A runtime, and the instance behind it."""

    held: HeldRuntime
    instance: AppInstance


class SubmitRow(NamedTuple):
    """Who may submit to whose queues, and from which record that follows."""

    owner: str
    project: str | None
    person: str | None
    queue: str | None
    policy: str | None
    limits: dict[str, int]
    until_ms: int | None
    seq: int


class RuntimeSight(NamedTuple):
    """A runtime with what the caller may see of it."""

    row: RuntimeRow
    attachments: list[SharedAttachment]
    workers: list[tuple[SharedContribution, int | None]]
    """Each with its lease, if it has one."""
    rights: list[SubmitRow]
    people: list[tuple[str, tuple[str, ...]]]
    """Who may submit for which attached projects."""
    parted: list[PartedProjects]


def _row(view: View, held: HeldRuntime) -> RuntimeRow:
    instances = view.state.apps.instances.held
    return RuntimeRow(held, instances[held.runtime.instance_id].instance)


async def page(caller: Caller, tenant: str, *, after: str | None, limit: int) -> Rows[RuntimeRow]:
    """The runtimes of a tenant, by name."""
    caller.require_within(Scope(tenant))

    def read(view: View) -> Rows[RuntimeRow]:
        rows = (_row(view, each) for each in view.state.apps.shared.of(tenant))
        return page_of(rows, after=after, limit=limit, key=lambda each: each.held.runtime.name)

    return await caller.read(read)


async def require_operated(caller: Caller, place: RuntimePlace) -> None:
    """Go on only with the key at the tenant, or as the operator of this very runtime."""
    if caller.principal.runtime_id is None:
        caller.require(Scope(place.tenant))
        return

    def find(view: View) -> tuple[int, Scope] | None:
        held = view.state.apps.shared.find(place.tenant, place.runtime)
        if held is None:
            return None
        return held.runtime.id, Scope(held.runtime.tenant, held.runtime.project)

    number, owner = await caller.locate(find)
    caller.for_runtime(number)
    caller.require(owner)


async def read(caller: Caller, place: RuntimePlace) -> RuntimeSight:
    """One runtime: all of it, or of its parts those that the caller may read."""
    if caller.principal.runtime_id is None:
        caller.require_within(Scope(place.tenant))
        visible = caller.visible_projects(place.tenant)
    else:
        await require_operated(caller, place)
        visible = None
    now_ms = caller.clock.now_ms()

    def sees(project: str | None) -> bool:
        return visible is None or project in visible

    def look(view: View) -> RuntimeSight:
        held = place.find(view)
        members = view.state.apps.instances.held[held.runtime.instance_id].members
        workers = [
            (each, members[each.member_id].lease_id)
            for each in held.contributions.values()
            if sees(each.project)
        ]
        attachments = [each for each in held.attachments.values() if sees(each.project)]
        is_operator = caller.principal.runtime_id is not None
        return RuntimeSight(
            _row(view, held),
            attachments,
            workers,
            _rights(held, sees, now_ms=now_ms),
            _people(view, held) if is_operator else [],
            _parted(view, held, now_ms=now_ms) if is_operator else [],
        )

    return await caller.lookup(look)


def _parted(view: View, held: HeldRuntime, *, now_ms: int) -> list[PartedProjects]:
    attached = [
        each.project for each in held.attachments.values() if each.phase is AttachmentPhase.ATTACHED
    ]
    policy, tenant = view.state.isolation.policy, held.runtime.tenant
    return parted(policy, tenant, projects=attached, now_ms=now_ms)


def _people(view: View, held: HeldRuntime) -> list[tuple[str, tuple[str, ...]]]:
    """Who may submit for an attached project by a role at that very project.

    A tenant's administrator may everywhere by his own; he is not of each project for it.
    """
    tenant, directory = held.runtime.tenant, view.state.directory
    attached = {
        Scope(tenant, each.project): each.project
        for each in held.attachments.values()
        if each.phase is AttachmentPhase.ATTACHED
    }
    found = []
    for name, roles in sorted(directory.roles.items()):
        own = {scope: role for scope, role in roles.items() if scope in attached}
        projects = [attached[s] for s, role in own.items() if _SUBMIT in role.permissions]
        account = directory.accounts.get(name)
        if projects and (account is None or account.is_enabled):
            found.append((name, tuple(sorted(projects))))
    return found


def _rights(
    held: HeldRuntime, sees: Callable[[str | None], bool], *, now_ms: int
) -> list[SubmitRow]:
    """All that anybody may: one's own project, and what policies in force allow."""
    if held.runtime.is_leaving:
        return []
    own = [
        SubmitRow(each.project, each.project, None, None, None, {}, None, each.seq)
        for each in held.attachments.values()
        if each.phase is AttachmentPhase.ATTACHED and sees(each.project)
    ]
    granted = [
        SubmitRow(
            *(p.project, p.grantee_project, p.grantee_person, p.queue, p.name),
            *(dict(p.limits), p.until_ms, p.seq),
        )
        for p in held.policies.values()
        if now_ms < p.until_ms
        and held.is_attached(p.project)
        and (p.grantee_project is None or held.is_attached(p.grantee_project))
        and (sees(p.project) or sees(p.grantee_project))
    ]
    return own + granted


async def plan(
    caller: Caller, tenant: str, *, wish: Deferred[cmd.CreateSharedRuntime]
) -> tuple[BillingRule, RateCard]:
    """Who would pay for what of a runtime, and at which prices now; nothing is made."""
    caller.require(Scope(tenant))
    command = wish()

    def look(view: View) -> tuple[BillingRule, RateCard]:
        now_ms = max(view.now_ms, view.state.clock_ms)
        card = view.state.spending.book.card_for(tenant, now_ms)
        return billing_rule(view.state, command), card

    return await caller.lookup(look)


class RuntimeMade(NamedTuple):
    """What was made, and which instance is behind it; of a dry run, none."""

    done: Done
    instance_id: int | None


async def create(
    caller: Caller, tenant: str, *, wish: Deferred[cmd.CreateSharedRuntime]
) -> RuntimeMade:
    """Have a tenant share an app; who asks has accepted who pays for what of it."""
    caller.require(Scope(tenant))
    require_human(caller)
    command = wish()
    done = await caller.change(command)
    if caller.dry_run:
        return RuntimeMade(done, None)

    def look(view: View) -> int | None:
        found = view.state.apps.shared.find(command.tenant, command.runtime)
        return None if found is None else found.runtime.instance_id

    return RuntimeMade(done, await caller.lookup(look))


async def delete(caller: Caller, place: RuntimePlace) -> Done:
    """Have a runtime go, and everybody's part in it first."""
    caller.require(Scope(place.tenant))
    command = cmd.DeleteSharedRuntime(tenant=place.tenant, runtime=place.runtime)
    return await caller.change(command)


async def allow(caller: Caller, place: RuntimePlace, *, project: str) -> Done:
    """Consent for the tenant that a project is attached."""
    caller.require(Scope(place.tenant))
    require_human(caller)
    command = cmd.ConsentAttachment(
        tenant=place.tenant,
        runtime=place.runtime,
        project=project,
        side=ConsentSide.TENANT,
        by=caller.principal.name,
    )
    return await caller.change(command)


async def end(caller: Caller, place: RuntimePlace, *, project: str) -> Done:
    """Detach a project, for the tenant."""
    caller.require(Scope(place.tenant))
    command = cmd.DetachProject(
        tenant=place.tenant, runtime=place.runtime, project=project, side=ConsentSide.TENANT
    )
    return await caller.change(command)


# -- its operator ----------------------------------------------------------------------------


async def finish(caller: Caller, place: RuntimePlace, *, project: str) -> Done:
    """Say that nothing of a project that is being detached is left inside."""
    await require_operated(caller, place)
    command = cmd.FinishDetachment(tenant=place.tenant, runtime=place.runtime, project=project)
    return await caller.change(command)


async def let_in(
    caller: Caller, authority: Authority, *, place: RuntimePlace, ttl_s: int
) -> Minted:
    """A token for the operator of a runtime: bound to it, and no project's account."""
    caller.require(Scope(place.tenant))
    runtime = (await caller.lookup(place.find)).runtime
    minted = authority.mint(
        f"{RUNTIME_PREFIX}{runtime.id}",
        PrincipalKind.RUNTIME_OPERATOR,
        token_id=caller.ids(),
        now_ms=caller.clock.now_ms(),
        ttl_s=ttl_s,
        terms=Terms(within=(str(Scope(runtime.tenant, runtime.project)),)),
    )
    await caller.change(minted.command)
    return minted


async def note_use(caller: Caller, place: RuntimePlace, *, credential: str, purpose: str) -> Done:
    """Seal that a credential which the tenant keeps for a runtime was used."""
    await require_operated(caller, place)
    command = cmd.NoteCredentialUse(
        tenant=place.tenant,
        runtime=place.runtime,
        credential=credential,
        purpose=purpose,
        by=caller.principal.name,
    )
    return await caller.change(command)
