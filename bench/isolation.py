"""What a policy of 50 rules adds to a decision on 10,000 nodes.

Two kernels get the same fleet and the same requests, one of them behind the policy. A cycle is one
request that will not wait and, if it was granted, one lease given back, so that both stay as full
as they were. They take turns in short blocks, and the ratio is that of the quieter blocks: a busy
moment of the machine meets both.

The policy has every sort of rule: pairs of tenants on hosts, racks and fabrics, sole tenancy,
distrust by a label, windows, exceptions, nodes with labels, numbers for each rack, what lingers.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from time import thread_time

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.topology import DomainKind
from bailiwick.isolation.policy import (
    Dedicated,
    Distrust,
    EachValue,
    Linger,
    NeverShare,
    OfTenant,
    OnlyOn,
    Others,
    Policy,
    PolicyException,
    Rule,
    Spread,
    Window,
)
from bailiwick.kernel import (
    ChangeSettings,
    Envelope,
    Granted,
    Kernel,
    RegisterNode,
    Release,
    Settings,
    State,
    Submit,
)
from bailiwick.kernel.isolation.guard import stand_guard
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import TenantId
from bailiwick.vocab.words import HardwareGeneration
from bench.measure import QUIET, no_collection, percentile, say
from bench.report import Section, Table

NODES, QUICK_NODES = 10_000, 1_000
RULES = 50
RATIO_MAX = 1.5
TENANTS = 60
BLOCK, BLOCKS, QUICK_BLOCKS = 100, 60, 20
LEASES_PER_NODE = 3
NOW_MS = 1_000_000
_HOPPER = HardwareGeneration.NVIDIA_HOPPER
_HOUR_MS = 3_600_000


def policy_of_fifty() -> Policy:
    """Fifty rules that each bind some tenants."""
    host, rack, fabric = DomainKind.HOST, DomainKind.RACK, DomainKind.FABRIC
    tenant = [OfTenant(f"tenant-{number}") for number in range(TENANTS)]
    day = Window(8 * 60, 18 * 60, (0, 1, 2, 3, 4))
    rules: list[Rule] = []
    for number in range(0, 32, 2):
        kinds = ((host,), (host, fabric), (fabric,), (rack,))[number // 2 % 4]
        pair = tenant[number], tenant[number + 1]
        rules.append(NeverShare(f"pair-{number}", kinds, *pair))
    for number in range(10):
        pair = tenant[number], tenant[number + 20]
        rules.append(NeverShare(f"day-{number}", (host,), *pair, day))
    rules += [Dedicated(f"own-{n}", host, tenant[n]) for n in range(32, 38)]
    rules += [NeverShare(f"aside-{n}", (host,), tenant[n], Others()) for n in range(38, 42)]
    rules += [OnlyOn(f"zone-{n}", tenant[n], (("zone", f"z{n % 4}"),)) for n in range(42, 48)]
    rules += [Spread(f"few-{n}", 6, tenant[n], rack) for n in range(48, 53)]
    rules += [Linger(f"keep-{n}", (host,), tenant[n], 60_000) for n in range(53, 55)]
    rules.append(Distrust("clearance", (host,), EachValue("clearance")))
    exceptions = tuple(
        PolicyException(f"joint-{n}", (host,), tenant[n], tenant[n + 1], "alice", NOW_MS * 1_000)
        for n in range(0, 8, 4)
    )
    assert len(rules) == RULES, len(rules)
    return Policy(tuple(rules), exceptions)


def requests(count: int, *, seed: int) -> Iterator[PlacementRequest]:
    """So many requests of all tenants, a third of them for GPUs."""
    rng = random.Random(seed)
    for _ in range(count):
        gpus = rng.choice((0, 0, 1))
        yield PlacementRequest(
            tenant=TenantId(f"tenant-{rng.randrange(TENANTS)}"),
            cpu_cores=rng.choice((1, 2, 4)),
            mem_bytes=10**9,
            gpu_count=gpus,
            generation=_HOPPER if gpus else None,
            ttl_ms=_HOUR_MS,
            job_labels={"clearance": "open"},
        )


class House:
    """One kernel with its fleet."""

    def __init__(self, nodes: int) -> None:
        self.kernel = Kernel(State(), simulated=True)
        self.rng, self.live = random.Random(5), list[int]()
        wide = Settings(
            tenant_cpu_milli=10**15,
            tenant_mem_bytes=10**15,
            tenant_gpu_count=10**15,
            tenant_lease_count=10**9,
        )
        self.do(ChangeSettings(wide))
        for number in range(nodes):
            gpus = tuple(GpuDevice(_HOPPER, fabric=f"f{number}-{at // 2}") for at in range(4))
            labels = {"rack": f"r{number // 40}", "zone": f"z{number % 4}"}
            self.do(RegisterNode(f"n{number}", NodeCapacity(32, 10**12, gpus=gpus, labels=labels)))

    def do(self, command: object) -> object:
        """What a command is answered."""
        return self.kernel.execute(Envelope(command), NOW_MS).answer  # type: ignore[arg-type]

    def submit(self, request: PlacementRequest) -> bool:
        """Whether a request was granted."""
        answer = self.do(Submit(request, wait=False))
        if isinstance(answer, Granted):
            self.live.extend(answer.lease_ids)
        return isinstance(answer, Granted)

    def cycles(self, block: list[PlacementRequest]) -> tuple[float, int]:
        """CPU seconds for a block, and how many were granted."""
        granted, begun = 0, thread_time()
        for request in block:
            if self.submit(request):
                granted += 1
                at = self.rng.randrange(len(self.live))
                self.live[at], self.live[-1] = self.live[-1], self.live[at]
                self.do(Release(self.live.pop()))
        return thread_time() - begun, granted


def run(*, quick: bool = False) -> Section:
    """The cost of a cycle with the policy and without."""
    nodes, blocks = (QUICK_NODES, QUICK_BLOCKS) if quick else (NODES, BLOCKS)
    plain, guarded = House(nodes), House(nodes)
    state = guarded.kernel.state
    state.isolation.set_policy(1, "", policy=policy_of_fifty(), at_ms=0)
    stand_guard(state)
    say(f"isolation: {nodes} nodes twice, {RULES} rules for one")
    for request in requests(LEASES_PER_NODE * nodes, seed=1):
        if guarded.submit(request):
            plain.submit(request)
    say(f"isolation: {len(guarded.live)} leases")
    taken: list[list[float]] = [[], []]
    granted = [0, 0]
    with no_collection():
        for number in range(blocks):
            block = list(requests(BLOCK, seed=100 + number))
            for at, house in enumerate((plain, guarded)):
                seconds, count = house.cycles(block)
                taken[at].append(1e6 * seconds / BLOCK)
                granted[at] += count
    told = [percentile(each, QUIET) for each in taken]
    section = Section("isolation", f"Isolation: {RULES} rules on {nodes:,} nodes")
    rows = [
        [word, f"{us:.0f} us", f"{100 * count / (BLOCK * blocks):.0f} %"]
        for word, us, count in zip(("no policy", f"{RULES} rules"), told, granted, strict=True)
    ]
    heads = ["policy", "CPU of one request and one end", "granted"]
    section.tables.append(Table("A cycle", heads, rows))
    section.bar_at_most("with the policy, against without", told[1] / told[0], RATIO_MAX)
    section.data["us"] = {"plain": told[0], "guarded": told[1]}
    return section
