"""A fleet of a given size with its leases, budgets and waiting line: what ``bench growth`` asks.

Rules:

- Everything grows together: a node for every hundred leases, a tenant with a budget for every ten.
  Half of the leases are one more tenant's, whose budget has a cap.
- The line is made of many tenants, each with about one request, or of :data:`FEW_TENANTS`, each
  with many: a line that is kept by tenant may be quick with one and slow with the other.
- Every node has a few cores left. What waits asks for more than that, so nothing of it can start;
  what is granted asks for less, and for so short that it stands in nobody's way.
- Terms end between one and seven days from the start, and all that is timed is within the first
  hour: nothing ends by itself.
- Between two calls that are timed the fleet lives: a lease is granted and given back, and some
  others are renewed. So no figure rests on a cache that real work would have made stale.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from enum import StrEnum

from bailiwick.billing.budgets import Budget
from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel import Envelope, Granted, Kernel, Queued, RegisterNode, State, Submit, Tick
from bailiwick.kernel.answers import Answer
from bailiwick.kernel.commands import Command
from bailiwick.kernel.fleet.commands import SetQuota
from bailiwick.kernel.money.commands import SetBudget
from bailiwick.kernel.work.commands import Release, Renew
from bailiwick.scheduler.quota_policy import Quota
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.ceilings import OPEN
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.values import TenantId

START_MS = 10**12
HOUR_MS = 3_600_000
LEASES_PER_NODE, SPARE_CORES, GANG = 100, 8, 10
WAITING_CORES = (16, 24, 32)
RENEWALS = 3
FEW_TENANTS = 50
CAPPED = TenantId("capped")
"""The tenant whose budget has a cap."""

_PLENTY = 10**15
_TICKS_MAX = 1_000


class WaitingTenants(StrEnum):
    """Whose requests wait: any tenant's, or those of :data:`FEW_TENANTS`."""

    MANY = "many"
    FEW = "few"


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is of what a decision might have to look at."""

    leases: int
    waiting: int


class GrownFleet:
    """A kernel with so many leases, and a line that grows on demand."""

    def __init__(
        self,
        leases: int,
        *,
        waiting_tenants: WaitingTenants = WaitingTenants.MANY,
        engine: str = "auto",
    ) -> None:
        self.kernel = Kernel(State(engine=engine))
        self.now_ms = START_MS
        self.chance = random.Random(leases)
        self.waiting: list[int] = []
        nodes = max(1, leases // LEASES_PER_NODE)
        tenants = max(1, leases // 10 - 1)  # with the capped one as many as may have a budget
        self.tenants = [TenantId(f"tenant-{number}") for number in range(tenants)]
        self.waiting_tenants = waiting_tenants
        for tenant in (CAPPED, *self.tenants):
            self.do(SetQuota(tenant, Quota(ceiling=OPEN)))
            cap = _PLENTY if tenant == CAPPED else None
            self.do(SetBudget(Budget(tenant, limit_micros=_PLENTY, cap_micros=cap)))
        for number in range(nodes):
            self._fill(f"node-{number}", (leases * (number + 1)) // nodes)
        self.leases = list(self.state.leases)
        if len(self.leases) != leases:
            raise InvariantBroken(f"{len(self.leases)} leases instead of {leases}")

    @property
    def state(self) -> State:
        """The kernel's state."""
        return self.kernel.state

    def do(self, command: Command) -> Answer:
        """Have a command decided at the fleet's time."""
        return self.kernel.execute(Envelope(command, "bench", "growth"), self.now_ms).answer

    def small(self, tenant: TenantId | None = None) -> PlacementRequest:
        """A request that fits beside everybody, for a minute."""
        return PlacementRequest(tenant=tenant or self.tenant(), cpu_cores=1, ttl_ms=60_000)

    def large(self) -> PlacementRequest:
        """A request that fits nowhere now, of one of the tenants that wait."""
        few = self.waiting_tenants is WaitingTenants.FEW
        tenant = self.chance.choice(self.tenants[:FEW_TENANTS] if few else self.tenants)
        cores = self.chance.choice(WAITING_CORES)
        return PlacementRequest(tenant=tenant, cpu_cores=cores, ttl_ms=HOUR_MS)

    def tenant(self) -> TenantId:
        """One of the many tenants."""
        return self.chance.choice(self.tenants)

    def line_up(self, waiting: int) -> None:
        """Let the line grow to so many entries, and have each of them been told why it waits."""
        while len(self.waiting) < waiting:  # bounded: each submit queues one, or this breaks off
            answer = self.do(Submit(self.large()))
            if not isinstance(answer, Queued):
                raise InvariantBroken(f"a request that fits nowhere was answered {answer!r}")
            self.waiting.append(answer.entry_id)
        for _ in range(_TICKS_MAX):
            self.pass_time()
            self.do(Tick())
            if all(denied is not None for denied in self.state.blocked.values()):
                return

    def pass_time(self) -> None:
        """Go on by a second."""
        self.now_ms += 1_000

    def live(self) -> None:
        """Let something happen that no figure is about, and a second pass."""
        self.pass_time()
        answer = self.do(Submit(self.small(), wait=False))
        if isinstance(answer, Granted):
            self.do(Release(answer.lease_ids[0]))
        for _ in range(RENEWALS):
            self.do(self.renewal())

    def renewal(self) -> Renew:
        """Another term for one of the leases."""
        return Renew(self.chance.choice(self.leases), self._term_ms())

    def _term_ms(self) -> int:
        return self.chance.randrange(24 * HOUR_MS, 7 * 24 * HOUR_MS)

    def _fill(self, name: str, leases: int) -> None:
        """One more node, with what is missing to so many leases on it."""
        missing = leases - len(self.state.leases)
        cores = missing + SPARE_CORES
        self.do(RegisterNode(name, NodeCapacity(cores, 2**40, labels={"place": name})))
        for at in range(0, missing, GANG):
            tenant = CAPPED if at // GANG % 2 else self.tenant()
            request = PlacementRequest(
                tenant=tenant,
                cpu_cores=1,
                gang_size=min(GANG, missing - at),
                ttl_ms=self._term_ms(),
                labels={"place": name},
            )
            self.do(Submit(request, wait=False))
