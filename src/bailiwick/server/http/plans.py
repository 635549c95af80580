"""What a request would lead to, as it is told: the plan, whom it would cost, and its price.

Rules:

- The kernel plans; here a plan is only spelled. A dry run, an explanation and a job's dry run give
  the same plan for the same request.
- Of a victim whose lease the caller may not read its number is not told; if it is another
  tenant's, neither is the tenant.
- The price is that of the GPUs the request would get. Where no place is known yet and it names no
  generation, it is that of the dearest that could serve it (``is_upper_bound``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, assert_never

from pydantic import TypeAdapter

from bailiwick.billing.rates import HOUR_MS, Charge, RateCard, Used, cost_of
from bailiwick.iam import Allowed, Permission, Scope
from bailiwick.kernel import Submit
from bailiwick.kernel.codec import decode_command
from bailiwick.kernel.spelling import denial_body
from bailiwick.kernel.work import plan as pl
from bailiwick.runtime.replica import View
from bailiwick.server.http.context import Asked
from bailiwick.services.authority import Principal
from bailiwick.services.decisions import ANOTHER, card_now
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.words import HardwareGeneration
from bailiwick.wire import answers as told
from bailiwick.wire.base import INTEGER_MAX
from bailiwick.wire.work import LeaseRequest, Remedy

Plain = dict[str, Any]

_PLAN: TypeAdapter[told.Plan] = TypeAdapter(told.Plan)
_DENIAL: TypeAdapter[told.Denial] = TypeAdapter(told.Denial)
_NAMED = {"tenant", "project", "wait"}


def submit_of(body: LeaseRequest) -> Submit:
    """The command that a request on the wire stands for."""
    fields = set(LeaseRequest.model_fields) - _NAMED
    request = body.model_dump(mode="json", include=fields, exclude_defaults=True)
    request |= {
        "resources": body.resources.model_dump(),
        "priority": body.priority.value,
        "lease_class": body.lease_class.value,
    }
    if body.preemptible_on_budget:
        request["preemptible_on_budget"] = 1
    plain: Plain = {"command": "submit", "tenant": body.tenant, "wait": body.wait}
    if body.project is not None:
        plain["project"] = body.project
    command = decode_command(plain | {"request": request})
    if not isinstance(command, Submit):
        raise InvariantBroken(f"a request was read as {type(command).__name__}")
    return command


async def plan_of(asked: Asked, command: Submit) -> told.Plan:
    """What the command would lead to, as its caller may know it; nothing changes."""

    def read(view: View) -> told.Plan:
        planned = pl.plan(view.state, command, now_ms=view.now_ms)
        speller = Speller(asked.principal, card_now(view, command))
        return speller.spell(
            planned, command, fleet=pl.generations_for(view.state, command.request)
        )

    return await asked.read(read)


@dataclass(frozen=True, slots=True)
class Speller:
    """Tells plans to one principal, at the prices of one card."""

    principal: Principal
    card: RateCard

    def spell(
        self, planned: pl.Plan, command: Submit, *, fleet: Iterable[HardwareGeneration]
    ) -> told.Plan:
        """The plan on the wire; ``fleet`` are the generations that could serve the request."""
        price = self._price(planned, command, fleet)
        match planned:
            case pl.GrantPlan():
                nodes = [str(node) for node in planned.nodes]
                return told.WouldGrant(plan="grant", nodes=nodes, price=price)
            case pl.PreemptPlan():
                return told.WouldPreempt(
                    plan="preempt",
                    nodes=[str(node) for node in planned.nodes],
                    victims=[self._victim(each, command) for each in planned.victims],
                    until_ms=planned.until_ms,
                    price=price,
                )
            case pl.QueuePlan():
                return _PLAN.validate_python(
                    {
                        "plan": "queue",
                        "denied": None if planned.denied is None else denial_body(planned.denied),
                        "estimate": {
                            "starts_ms": planned.estimate.starts_ms,
                            "basis": planned.estimate.basis.value,
                        },
                        "price": price,
                    }
                )
            case pl.RefusePlan():
                denied = denial_body(planned.denied)
                return _PLAN.validate_python({"plan": "refuse", "denied": denied, "price": price})
            case _:
                assert_never(planned)

    def _victim(self, victim: pl.PlannedVictim, command: Submit) -> told.Victim:
        seen = isinstance(self.principal.may(Permission.LEASE_READ, Scope(*victim.owner)), Allowed)
        own = victim.owner.tenant == command.request.tenant
        return told.Victim(
            lease_id=victim.lease_id if seen else None,
            tenant=str(victim.owner.tenant) if seen or own else ANOTHER,
            priority=victim.priority,
            lease_class=victim.lease_class,
        )

    def _price(
        self, planned: pl.Plan, command: Submit, fleet: Iterable[HardwareGeneration]
    ) -> told.Price:
        request = command.request
        members: Mapping[HardwareGeneration | None, int]
        is_bound = False
        if isinstance(planned, pl.GrantPlan):
            members = Counter(planned.generations)
        else:
            is_bound = bool(request.device_count) and request.generation is None
            dearest = self.card.dearest(fleet) or self.card.dearest(HardwareGeneration)
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
            return min(cost_of(self.card, charges), INTEGER_MAX)

        return told.Price(
            currency=self.card.currency,
            micros_per_hour=cost(HOUR_MS),
            micros_total=cost(request.ttl_ms),
            is_upper_bound=is_bound,
        )


def spell_remedy(remedy: Any) -> Remedy:
    """The change that would help."""
    return Remedy(remedy=remedy.word.value, amount=remedy.amount, unit=str(remedy.unit))


def spell_denial(denied: Any) -> told.Denial:
    """An obstacle, with its numbers."""
    return _DENIAL.validate_python(denial_body(denied))
