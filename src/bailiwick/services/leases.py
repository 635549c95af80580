"""Leases: asked for, listed, held on to, given back, and ended by those who run the fleet.

Rules:

- A request is granted, waits or is refused; a refusal is an answer, with the decision in it.
- A lease of another is not there: same answer, same words.
- What only a machine knows (whether what a lease held is free) a node says for itself alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from bailiwick.apps.places import SCHEDULER_LABEL
from bailiwick.iam import FLEET, Scope
from bailiwick.kernel import (
    ClearFence,
    Command,
    Done,
    Evict,
    Granted,
    Queued,
    Refused,
    Release,
    Renew,
    ReportCheckpoint,
    ReportTeardown,
    State,
    Submit,
)
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.work.lease_events import RenewalDenied
from bailiwick.runtime.indexes import Scan
from bailiwick.runtime.replica import View
from bailiwick.scheduler.core_book import Cores
from bailiwick.scheduler.lease import Lease
from bailiwick.services.caller import Caller, Deferred, Hidden
from bailiwick.services.pages import Rows
from bailiwick.services.plans import PricedPlan, plan_request
from bailiwick.vocab.errors import InvariantBroken, NotFound
from bailiwick.vocab.words import PreemptionReason


@dataclass(frozen=True, slots=True)
class OwnedLease:
    """A lease under its number in the journal, and whose it is."""

    lease_id: int
    owner: Owner
    lease: Lease
    job_labels: Mapping[str, str]
    cores: Cores | None = None
    """How many lie under which cache; nothing if that is not known."""
    maintained_ms: int | None = None
    """When the next maintenance of its node begins."""


async def request_lease(
    caller: Caller, scope: Scope, *, ask: Deferred[Submit]
) -> Granted | Queued | Refused | PricedPlan:
    """Ask for resources now or, if it may wait, as soon as they are free; a dry run is a plan.

    What is wrong with a request is said to those alone who may make it, so ``ask`` comes second.
    """
    await check_scope(caller, scope)
    command = ask()
    await check_scheduler(caller, command)
    if caller.dry_run:
        return await plan_request(caller, command)
    answer = await caller.execute(command)
    if not isinstance(answer, Granted | Queued | Refused):
        raise InvariantBroken(f"a request was answered with {answer}")
    return answer


async def check_scope(caller: Caller, scope: Scope) -> None:
    """Go on only if the caller may ask there, and there is somebody to ask for."""
    caller.require(scope)
    await caller.read(lambda view: view.state.directory.check_scope(scope))


async def check_scheduler(caller: Caller, command: Submit) -> None:
    """Go on only if somebody answers to the scheduler's word that a request names, if it does."""
    request = command.request
    word = request.job_labels.get(SCHEDULER_LABEL)
    if word is None:
        return
    tenant, project = request.tenant, request.project
    hint = "an instance of an app that offers it must be there, and the app be enabled"
    if project is None or not await caller.read(
        lambda view: view.state.apps.answering(word, tenant, project=project) is not None
    ):
        raise NotFound("scheduler", word, hint=hint)


async def list_leases(
    caller: Caller, *, after: int, limit: int, node: str | None = None
) -> Rows[OwnedLease]:
    """The leases that the caller may see, on all nodes or on one, oldest first."""
    caller.require_within(FLEET)

    def read(view: View) -> Rows[OwnedLease]:
        leases = view.leases
        if node is not None:
            there = view.state.leases_on(node) if node in view.state.ledger else []
            leases = Scan((number, view.state.owner_of(number)) for number in there)
        ids = leases.page(seen_by(caller), after=after, limit=limit + 1)
        rows = [_owned(view.state, lease_id) for lease_id in ids[:limit]]
        return rows, str(ids[limit - 1]) if len(ids) > limit else None

    return await caller.read(read)


async def read_lease(caller: Caller, lease_id: int) -> OwnedLease:
    """One lease; the operator of a shared runtime has those of its members."""
    if caller.principal.runtime_id is None:
        await require_lease(caller, lease_id)
    else:
        await require_operated_lease(caller, lease_id)
    return await caller.read(lambda view: _owned(view.state, lease_id))


async def renew_lease(
    caller: Caller, lease_id: int, *, ttl_ms: int, generation: int | None
) -> Done | Refused:
    """Hold a lease for another term from now, if what it adds is allowed; a dry run only asks."""
    command = Renew(lease_id, ttl_ms, generation)
    await require_lease(caller, lease_id, command=command)
    if caller.dry_run:
        event = await caller.rehearse(command)
        return Refused(event.denied) if isinstance(event, RenewalDenied) else Done(None)
    answer = await caller.execute(command)
    if not isinstance(answer, Done | Refused):
        raise InvariantBroken(f"a renewal was answered with {answer}")
    return answer


async def release_lease(caller: Caller, lease_id: int) -> Done:
    """Give a lease back."""
    return await _change(caller, lease_id, command=Release(lease_id))


async def report_checkpoint(caller: Caller, lease_id: int) -> Done:
    """Say that the work is saved; during grace this ends the lease now."""
    return await _change(caller, lease_id, command=ReportCheckpoint(lease_id))


async def evict_lease(
    caller: Caller, lease_id: int, *, reason: PreemptionReason, grace_ms: int | None
) -> Done:
    """End a lease, and its gang, for one of the operator's reasons."""
    return await _change(caller, lease_id, command=Evict((lease_id,), reason, grace_ms))


async def clear_fence(caller: Caller, lease_id: int) -> Done:
    """Say that somebody looked at what a fenced lease held, and that it is clean."""
    caller.require(FLEET)
    await _node_of(caller, lease_id)
    return await caller.change(ClearFence(lease_id))


async def report_teardown(caller: Caller, lease_id: int, *, clean: bool) -> Done:
    """Say whether what a lease held is free; only that, or a fence, ends a confirmed teardown."""
    caller.require(FLEET)
    caller.require_node(await _node_of(caller, lease_id))
    return await caller.change(ReportTeardown(lease_id, clean))


# -- what they share -------------------------------------------------------------------------


def seen_by(caller: Caller) -> Callable[[Owner], bool] | None:
    """Whose rows the caller may see; ``None`` for everybody's."""
    return None if caller.may(FLEET) else lambda owner: caller.may(Scope(*owner))


async def require_lease(caller: Caller, lease_id: int, *, command: Command | None = None) -> None:
    """Go on only if the caller has the action's key where the lease belongs."""

    def owner(view: View) -> Scope | None:
        return lease_scope(view.state, lease_id)

    caller.for_lease(lease_id)
    await caller.require_at(owner, command)


async def require_operated_lease(caller: Caller, lease_id: int) -> None:
    """Go on only if it is the lease of a member of the runtime whose operator asks."""

    def find(view: View) -> Scope | None:
        return None if lease_id not in member_leases(view, caller) else operated_by(view, caller)

    owner = await caller.locate(find)
    caller.for_runtime(caller.principal.runtime_id)
    caller.require(owner)


def operated_by(view: View, caller: Caller) -> Scope | None:
    """Where the runtime is whose operator asks, if it is there."""
    held = view.state.apps.shared.held.get(caller.principal.runtime_id or 0)
    return None if held is None else Scope(held.runtime.tenant, held.runtime.project)


def member_leases(view: View, caller: Caller) -> set[int]:
    """The leases of the members of the runtime whose operator asks."""
    held = view.state.apps.shared.held.get(caller.principal.runtime_id or 0)
    if held is None:
        return set()
    members = view.state.apps.instances.held[held.runtime.instance_id].members
    return {each.lease_id for each in members.values() if each.lease_id in view.state.leases}


def lease_scope(state: State, lease_id: int) -> Scope | None:
    """Where a lease belongs, if there is one of that number."""
    return Scope(*state.owner_of(lease_id)) if lease_id in state.leases else None


async def _change(caller: Caller, lease_id: int, *, command: Command) -> Done:
    await require_lease(caller, lease_id, command=command)
    return await caller.change(command)


async def _node_of(caller: Caller, lease_id: int) -> str:
    def read(view: View) -> str | None:
        state = view.state
        return str(state.node_of(lease_id)) if lease_id in state.leases else None

    found = await caller.read(read)
    if found is None:
        raise Hidden
    return found


def _owned(state: State, lease_id: int) -> OwnedLease:
    told = state.ledger.told(state.handle(lease_id))
    labels, cores = state.job_labels.get(lease_id, {}), state.cores.of(lease_id)
    next_ms = state.maintenance.next_start(str(told.node))
    return OwnedLease(lease_id, state.owner_of(lease_id), told, labels, cores, next_ms)
