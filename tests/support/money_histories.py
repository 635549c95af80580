"""Random histories in which money matters, and what a journal's meter says was spent in them.

The campus is small, shared by the milli and in trouble: nodes are lost with or without a proof of
life, leases are evicted for every reason, teardowns fail, prices and budgets change meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random

from bailiwick.billing.budgets import Budget
from bailiwick.billing.charges import is_charged
from bailiwick.billing.rates import (
    LIST_PRICES,
    WHOLE,
    Charge,
    RateBook,
    RateCard,
    Used,
    card_of,
    weigh,
)
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.journal import Record
from bailiwick.kernel import (
    ChangeMode,
    ChangeSettings,
    ClearFence,
    Command,
    DepartNode,
    Elect,
    Evict,
    Quarantine,
    RegisterNode,
    Release,
    Renew,
    ReportCheckpoint,
    ReportTeardown,
    Tick,
)
from bailiwick.kernel.money.commands import RemoveBudget, SetBudget, SetRateCard, WithdrawRateCard
from bailiwick.metering import JournalMeter, Leased, Meter, Share
from bailiwick.vocab.errors import BailiwickError, InvariantBroken
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import (
    HardwareGeneration,
    LeaseClass,
    PreemptionReason,
    Priority,
    ResourceKind,
)
from tests.support.kernel_histories import Campus
from tests.support.wide_open import wide_settings

HOPPER, AMPERE = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_AMPERE
TENANTS, PROJECTS = ("a", "b"), (None, "p")
SCOPES = tuple((tenant, project) for tenant in TENANTS for project in PROJECTS)
LARGE = 2**50
TERMS: list[dict[str, object]] = [
    {"gpu_milli": 400, "cpu_cores": 0.5},
    {"gpu_milli": 250, "mem_bytes": 3},
    {"gpu_count": 1, "cpu_cores": 1},
    {"gpu_count": 2, "block_bytes": 2},
    {"cpu_cores": 1.5, "mem_bytes": 2},
]
USED = {
    ResourceKind.CPU_MILLI: "cpu_milli_ms",
    ResourceKind.MEM_BYTES: "mem_byte_ms",
    ResourceKind.BLOCK_BYTES: "block_byte_ms",
    ResourceKind.GPU_MILLI: "gpu_milli_ms",
}


@dataclass
class Trouble:
    """A campus on which one thing after the other happens, by chance; a seed gives the same one."""

    chance: Random
    limits: tuple[int, ...] = (LARGE,)
    """What budgets may be; the large one is never reached."""
    half_life_ms: int = 10**15
    campus: Campus = field(default_factory=lambda: Campus(now_ms=1_000))

    def begin(self) -> None:
        """A leader, settings, and three nodes."""
        chance = self.chance
        settings = wide_settings(
            grace_ms=chance.choice((0, 5, 40)),
            teardown_ms=chance.choice((1, 8)),
            confirm_teardown=chance.random() < 0.5,
            min_run_ms=0,
            half_life_ms=self.half_life_ms,
        )
        self.campus.do(Elect(1, "replica-1"), "kernel")
        self.campus.do(ChangeSettings(settings), "kernel")
        for number in range(3):
            self.campus.do(RegisterNode(f"node-{number}", self._node()))

    def steps(self, count: int) -> Iterator[bool]:
        """So many steps: where time has gone on, and again (true) where it was looked at too."""
        for _ in range(count):
            try:
                self._act()
            except InvariantBroken:
                raise
            except BailiwickError:
                pass
            self.campus.now_ms += self.chance.choice((0, 0, 1, 3, 10, 30))
            yield False
            if self.chance.random() < 0.4:
                self.campus.do(Tick(), "kernel")
                yield True

    def _node(self) -> NodeCapacity:
        chance = self.chance
        kinds = [chance.choice((HOPPER, AMPERE)) for _ in range(chance.randrange(4))]
        labels = {"executor": "local"} if chance.random() < 0.3 else {}
        gpus = tuple(GpuDevice(kind, 8) for kind in kinds)
        block = chance.choice((0, 6))
        return NodeCapacity(chance.choice((2, 4)), 8, block, gpus=gpus, labels=labels)

    def _act(self) -> None:
        campus, chance = self.campus, self.chance
        held = sorted(campus.kernel.state.leases)
        roll = chance.random()
        if roll < 0.45 or not held:
            campus.submit(
                chance.choice(TENANTS),
                wait=chance.random() < 0.5,
                project=chance.choice(PROJECTS),
                priority=chance.choice(list(Priority)),
                lease_class=chance.choice(list(LeaseClass)),
                gang_size=chance.choice((1, 1, 1, 2)),
                ttl_ms=chance.choice((5, 20, 500)),
                preemptible_on_budget=chance.random() < 0.5,
                **chance.choice(TERMS),
            )
        elif roll < 0.52:
            campus.do(Release(chance.choice(held)), "agent")
        elif roll < 0.56:
            campus.do(Renew(chance.choice(held), chance.choice((10, 100))), "agent")
        elif roll < 0.59:
            campus.do(ReportCheckpoint(chance.choice(held)), "agent")
        elif roll < 0.66:
            reason = chance.choice(list(PreemptionReason))
            campus.do(Evict((chance.choice(held),), reason, chance.choice((None, 0, 15))))
        elif roll < 0.72:
            for lease_id in held:
                with suppress(BailiwickError):
                    campus.do(ReportTeardown(lease_id, chance.random() < 0.5), "executor")
        elif roll < 0.75 and campus.kernel.state.fenced:
            campus.do(ClearFence(min(campus.kernel.state.fenced)))
        elif roll < 0.88:
            campus.do(self._operation())
        else:
            campus.do(self._money())

    def _operation(self) -> Command:
        campus, chance = self.campus, self.chance
        name = f"node-{chance.randrange(3)}"
        if name not in campus.kernel.state.ledger:
            return RegisterNode(name, self._node())
        seen = chance.choice((None, *(max(campus.now_ms - ago, 0) for ago in (0, 4, 30, 200))))
        return chance.choice(
            [
                ChangeMode(name, chance.choice(list(NodeMode))),
                ChangeMode(name, NodeMode.ACCEPTING),
                Quarantine(name, "evidence_is_stale", chance.choice((None, 0))),
                DepartNode(name, seen),
                DepartNode(name, seen),
            ]
        )

    def _money(self) -> Command:
        chance, now = self.chance, self.campus.now_ms
        tenant, project = chance.choice(SCOPES)
        later = chance.choice((0, now, now + 7, now + 50))
        commands: list[Command] = [
            SetRateCard(self._card(chance.choice((None, tenant)), later)),
            WithdrawRateCard(tenant, later),
            RemoveBudget(tenant, project),
        ]
        from_ms = chance.choice((0, now - 3, now + 20))
        budget = Budget(
            tenant,
            project,
            limit_micros=chance.choice(self.limits),
            cap_micros=chance.choice((None, *self.limits)),
            from_ms=from_ms,
            until_ms=chance.choice((None, None, from_ms + 300)),
            thresholds=chance.choice(((), (500,), (250, 900))),
        )
        opening = chance.choice((None, None, 0, 2))
        return chance.choice([*commands, SetBudget(budget, opening), SetBudget(budget)])

    def _card(self, tenant: str | None, effective_ms: int) -> RateCard:
        dearer = self.chance.choice((1, 3, 7_000))
        prices = {g: p * dearer for g, p in LIST_PRICES.gpu_micros_per_hour.items()}
        return replace(
            LIST_PRICES,
            gpu_micros_per_hour=prices,
            core_micros_per_hour=self.chance.choice((0, 20_000, 10**9)),
            tenant=tenant,
            effective_ms=effective_ms,
        )


# --- what the meter says -----------------------------------------------------------------------

Scope = tuple[str, str | None]


@dataclass(frozen=True)
class Counted:
    """A budget, and since when it counts, from how much."""

    budget: Budget
    began_ms: int
    opening_micros: int


def budgets_of(records: list[Record]) -> dict[Scope, Counted]:
    """The budgets that records tell of."""
    found: dict[Scope, Counted] = {}
    for record in records:
        if record.kind != "budget_changed":
            continue
        tenant, body = str(record.tenant), record.body
        scope = tenant, record.project
        if body.get("removed"):
            del found[scope]
            continue
        numbers = {n: body.get(n) for n in ("limit_micros", "cap_micros", "from_ms", "until_ms")}
        budget = Budget(tenant, record.project, thresholds=body.get("thresholds", ()), **numbers)
        if "opening_micros" in body:
            found[scope] = Counted(budget, record.at_ms, body["opening_micros"])
        else:
            found[scope] = replace(found[scope], budget=budget)
    return found


def metered_money(records: list[Record], at_ms: int) -> dict[Scope, int]:
    """What records say was spent by then: by window and account, at its price; times ``WHOLE``."""
    budgets = budgets_of(records)
    meter, changes = JournalMeter(Meter(sorted(set(_times(records))))), []
    for record in records:
        meter.add(record)
        if record.kind == "rate_card_changed":
            changes.append(card_of(record.body))
    meter.check()
    book = RateBook(changes)
    found = {scope: each.opening_micros * WHOLE for scope, each in budgets.items()}
    for use in meter.meter.uses(at_ms):
        account = use.account
        if use.from_ms >= at_ms or not is_charged(account):
            continue
        used = Used(**{USED[use.kind]: use.used})
        card = book.card_for(account.tenant, use.from_ms)
        cost = weigh(card, Charge(used, account.generation, account.lease_class))
        for scope in {(account.tenant, account.project), (account.tenant, None)}:
            each = budgets.get(scope)
            if each and each.budget.is_on(use.from_ms) and use.from_ms >= each.began_ms:
                found[scope] += cost
    return found


def _times(records: list[Record]) -> Iterator[int]:
    """Where prices change, and where budgets begin to count or end."""
    for record in records:
        if record.kind == "rate_card_changed":
            yield record.body["effective_ms"]
        if record.kind == "budget_changed":
            yield record.at_ms
            yield from (record.body[n] for n in ("from_ms", "until_ms") if n in record.body)


def metered_usage(records: list[Record], at_ms: int) -> dict[tuple[str, ...], int]:
    """What each tenant and project used, as fair shares weigh it: weight x the time it owned."""
    meter = JournalMeter(Meter(logs=True))
    weights: dict[int, tuple[Scope, int]] = {}
    for record in records:
        meter.add(record)
        if record.kind == "admission_approved":
            held = record.body["resources"]
            weight = max(held.get("gpu_milli", 0), held.get("cpu_milli", 0) // 16, 1)
            owner = str(record.tenant), record.project
            weights |= dict.fromkeys(record.body["lease_ids"], (owner, weight))
    rows = [*meter.meter.drain(), *map(meter.meter.segment, meter.meter.running(at_ms))]
    spans: dict[int, dict[Share, int]] = {}
    for row in rows:
        if isinstance(row.owner, Leased):
            of_lease = spans.setdefault(row.owner.lease_id, {})
            of_lease[row.share] = of_lease.get(row.share, 0) + row.to_ms - row.from_ms
    found: dict[tuple[str, ...], int] = {}
    for lease_id, of_lease in spans.items():
        (owner, weight), owned_ms = weights[lease_id], max(of_lease.values())
        assert set(of_lease.values()) == {owned_ms}, "it owned all of its shares equally long"
        for key in ((owner[0],), (owner[0], owner[1] or "")):
            found[key] = found.get(key, 0) + weight * owned_ms
    return found
