"""What a request would lead to, as its caller may know it: the plan, whom it costs, its price.

Rules:

- The kernel plans; here a plan is only priced and cut to what the caller may see. A dry run, an
  explanation and a job's dry run give the same plan for the same request.
- Of a victim whose lease the caller may not read its number is not told; if it is another
  tenant's, neither is the tenant.
- The price is that of the GPUs the request would get. Where no place is known yet and it names no
  generation, it is that of the dearest that could serve it (``is_upper_bound``).
- To explain changes nothing and is never refused because the request would be: the answer says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bailiwick.billing.rates import HOUR_MS, Charge, RateCard, Used, cost_of
from bailiwick.iam import Allowed, Permission, Scope
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.kernel import Submit
from bailiwick.kernel.work import plan as pl
from bailiwick.runtime.replica import View
from bailiwick.scheduler.explain import RuleCounts
from bailiwick.services.authority import Principal
from bailiwick.services.caller import Caller, Deferred
from bailiwick.services.decisions import ANOTHER
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, Priority


@dataclass(frozen=True, slots=True)
class PlanPrice:
    """What a request costs; for its whole term, ``micros_total``."""

    currency: str
    micros_per_hour: int
    micros_total: int
    is_upper_bound: bool


@dataclass(frozen=True, slots=True)
class ShownVictim:
    """A lease that would have to go, as far as the caller may know of it."""

    lease_id: int | None
    tenant: str
    priority: Priority
    lease_class: LeaseClass


@dataclass(frozen=True, slots=True)
class PricedPlan:
    """A plan, the victims it names, and what the request would cost."""

    plan: pl.Plan
    victims: tuple[ShownVictim, ...]
    price: PlanPrice
    rules: RuleCounts
    """How many nodes each rule of a policy closes to it, if it would not run."""


async def plan_request(caller: Caller, command: Submit) -> PricedPlan:
    """What the command would lead to; nothing changes."""

    def read(view: View) -> PricedPlan:
        planned = pl.plan(view.state, command, now_ms=view.now_ms)
        return _priced(caller, view, command=command, planned=planned)

    return await caller.read(read)


async def explain_request(
    caller: Caller, scope: Scope, *, ask: Deferred[Submit]
) -> tuple[pl.Explained, PricedPlan]:
    """Why a request would run, wait or be refused now, and what would help; nothing changes."""
    caller.require(scope)
    command = ask()

    def read(view: View) -> tuple[pl.Explained, PricedPlan]:
        view.state.directory.check_scope(scope)
        found = pl.explain(view.state, command, now_ms=view.now_ms)
        return found, _priced(caller, view, command=command, planned=found.plan)

    return await caller.read(read)


def _priced(caller: Caller, view: View, *, command: Submit, planned: pl.Plan) -> PricedPlan:
    now_ms = max(view.now_ms, view.state.clock_ms)
    card = view.state.spending.book.card_for(str(command.request.tenant), now_ms)
    fleet = pl.generations_for(view.state, command.request)
    found = planned.victims if isinstance(planned, pl.PreemptPlan) else ()
    victims = tuple(_shown(each, command, principal=caller.principal) for each in found)
    price = price_of(planned, command, card=card, fleet=fleet)
    rules = pl.rules_closing(view.state, planned, command=command)
    return PricedPlan(planned, victims, price, rules)


def _shown(victim: pl.PlannedVictim, command: Submit, *, principal: Principal) -> ShownVictim:
    seen = isinstance(principal.may(Permission.LEASE_READ, Scope(*victim.owner)), Allowed)
    own = victim.owner.tenant == command.request.tenant
    return ShownVictim(
        lease_id=victim.lease_id if seen else None,
        tenant=str(victim.owner.tenant) if seen or own else ANOTHER,
        priority=victim.priority,
        lease_class=victim.lease_class,
    )


def price_of(
    planned: pl.Plan | None, command: Submit, *, card: RateCard, fleet: Iterable[HardwareGeneration]
) -> PlanPrice:
    """What the plan costs, or (``None``) a request of which no place is known.

    ``fleet`` are the generations that could serve the request.
    """
    request = command.request
    members: Mapping[HardwareGeneration | None, int]
    is_bound = False
    if isinstance(planned, pl.GrantPlan):
        members = Counter(planned.generations)
    else:
        is_bound = bool(request.device_count) and request.generation is None
        dearest = card.dearest(fleet) or card.dearest(HardwareGeneration)
        members = {dearest if is_bound else request.generation: request.gang_size}

    def cost(span_ms: int) -> int:
        one = Used.over(
            span_ms,
            cpu_milli=request.cpu_milli,
            mem_bytes=request.mem_bytes,
            block_bytes=request.block_bytes,
            gpu_milli=request.gpu_milli_total,
        )
        charges = [
            Charge(one.times(count), generation, request.lease_class)
            for generation, count in members.items()
        ]
        return min(cost_of(card, charges), INTEGER_MAX)

    return PlanPrice(card.currency, cost(HOUR_MS), cost(request.ttl_ms), is_bound)
