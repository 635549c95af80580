"""A fleet kept in plain dicts and lists: slow, readable, and the judge of the real one.

Nothing here is shared with the scheduler but its words and values. Amounts in use are summed anew
from the list of leases each time they are asked for, so there is no count that could be off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from hypothesis import strategies as st

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.scheduler.lease import Lease
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import Quota
from bailiwick.scheduler.quota_rows import FLAGS, GENERATION_USED, ROW_WIDTH, USED
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.values import MILLI
from bailiwick.vocab.words import (
    Dimension,
    Exclusivity,
    HardwareGeneration,
    LeaseClass,
    Priority,
)

G = HardwareGeneration
FENCED = "fenced"

Scope = tuple[str, str | None]
Amounts = tuple[int, int, int, int]


@dataclass
class NaiveLease:
    """One hold, as the reference remembers it."""

    id: int
    node: str
    request: PlacementRequest
    devices: tuple[int, ...]
    gang: int | None
    expires: int
    reserved: bool = False
    owner: str = ""
    state: str = "active"
    generation: int = 1
    checkpoint: int | None = None

    @property
    def amounts(self) -> Amounts:
        """cpu, mem, block, gpu milli."""
        r = self.request
        return r.cpu_milli, r.mem_bytes, r.block_bytes, r.device_milli * len(self.devices)


@dataclass
class NaiveNode:
    """One machine, as the reference remembers it."""

    capacity: NodeCapacity
    mode: str = "accepting"
    quarantined: bool = False
    gated: bool = False
    attested: dict[str, str] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether it takes leases."""
        return self.mode == "accepting" and not self.quarantined and not self.gated

    @property
    def total(self) -> Amounts:
        """cpu, mem, block, gpu milli of the empty machine."""
        c = self.capacity
        return c.cpu_milli, c.mem_bytes, c.block_bytes, MILLI * len(c.gpus)


@dataclass
class NaiveFleet:
    """Nodes and leases."""

    nodes: dict[str, NaiveNode] = field(default_factory=dict)
    leases: dict[int, NaiveLease] = field(default_factory=dict)
    memory_max: int | None = None
    """Devices with more memory serve nobody, if this is set."""

    # -- what is there -----------------------------------------------------------------------

    def on(self, name: str) -> list[NaiveLease]:
        """The leases on a node, oldest first."""
        return [lease for lease in self.leases.values() if lease.node == name]

    def free(self, name: str) -> Amounts:
        """What no lease on the node holds."""
        left = list(self.nodes[name].total)
        for lease in self.on(name):
            left = [a - b for a, b in zip(left, lease.amounts, strict=True)]
        cpu, mem, block, gpu = left
        return cpu, mem, block, gpu

    def device_free(self, name: str) -> list[int]:
        """Free milli of each device."""
        left = [MILLI] * len(self.nodes[name].capacity.gpus)
        for lease in self.on(name):
            for i in lease.devices:
                left[i] -= lease.request.device_milli
        return left

    def members_of(self, gang: int | None) -> list[int]:
        """The leases of a gang."""
        return [le.id for le in self.leases.values() if gang is not None and le.gang == gang]

    def with_gang(self, lease_id: int) -> list[int]:
        """The lease, and its gang if it has one."""
        return self.members_of(self.leases[lease_id].gang) or [lease_id]

    def labels_of(self, name: str) -> dict[str, str]:
        """All labels of a node; what it says of its own name does not count."""
        own = self.nodes[name].capacity.labels
        found = {**own, **self.nodes[name].attested, "node-name": name}
        if "executor" in own:
            found["runs-jobs"] = "yes"
        if own.get("executor") in ("local", "node"):
            found["runs-jobs-itself"] = "yes"
        return found

    def serves(self, device: GpuDevice, request: PlacementRequest) -> bool:
        """Whether the request may get the device."""
        small = self.memory_max is None or device.vram_bytes <= self.memory_max
        return small and serves(device, request)

    # -- what would fit ----------------------------------------------------------------------

    def falls_at(
        self, name: str, request: PlacementRequest, allowed: Iterable[str] | None = None
    ) -> str | None:
        """The first hard filter at which the node falls for one member, or None if it fits."""
        node = self.nodes[name]
        usable = [i for i, d in enumerate(node.capacity.gpus) if self.serves(d, request)]
        cpu, mem, block, _ = self.free(name)
        free = self.device_free(name)
        room = [i for i in usable if free[i] >= request.device_milli]
        checks = [
            ("node_mode", node.mode == "accepting"),
            ("quarantined", not node.quarantined),
            ("attestation", not node.gated),
            ("gpu_kind", not request.device_count or usable),
            ("labels", request.labels.items() <= self.labels_of(name).items()),
            ("policy", allowed is None or name in allowed),
            ("cpu", cpu >= request.cpu_milli),
            ("memory", mem >= request.mem_bytes),
            ("block", block >= request.block_bytes),
            ("gpu", len(room) >= request.device_count),
        ]
        return next((word for word, passed in checks if not passed), None)

    def can_hold(self, name: str, request: PlacementRequest) -> bool:
        """Whether one member fits, wherever it wished to be."""
        return self.falls_at(name, replace(request, labels={})) is None

    def fitting(self, request: PlacementRequest, allowed: Iterable[str] | None = None) -> list[str]:
        """The nodes on which one member fits."""
        return [name for name in self.nodes if self.falls_at(name, request, allowed) is None]

    def seats(self, name: str, request: PlacementRequest) -> int:
        """How many members the node could take one after another (all members are alike)."""
        counts = [
            have // need
            for have, need in zip(
                self.free(name)[:3],
                (request.cpu_milli, request.mem_bytes, request.block_bytes),
                strict=True,
            )
            if need
        ]
        if request.device_count:
            gpus = self.nodes[name].capacity.gpus
            free = self.device_free(name)
            serving = [i for i, d in enumerate(gpus) if self.serves(d, request)]
            shares = [free[i] // request.device_milli for i in serving]
            counts.append(sum(shares) // request.device_count)
        return min(counts)

    def seats_in_all(self, request: PlacementRequest, allowed: Iterable[str] | None = None) -> int:
        """How many members fit on the whole fleet."""
        return sum(self.seats(name, request) for name in self.fitting(request, allowed))

    # -- who uses what -----------------------------------------------------------------------

    def usage(self, scope: Scope) -> dict[str, int]:
        """What a tenant (with its projects) or one project holds, by dimension and generation."""
        tenant, project = scope
        total: Counter[str] = Counter()
        for lease in self.leases.values():
            request = lease.request
            inside = project is None or request.project == project
            if lease.owner == FENCED or request.tenant != tenant or not inside:
                continue
            cpu, mem, block, gpu = lease.amounts
            total[Dimension.CPU_MILLI] += cpu
            total[Dimension.MEM_BYTES] += mem
            total[Dimension.BLOCK_BYTES] += block
            total[Dimension.GPU_COUNT] += gpu
            gpus = self.nodes[lease.node].capacity.gpus
            total[Dimension.GPU_VRAM] += sum(
                share_of(gpus[i].vram_bytes, request.device_milli) for i in lease.devices
            )
            total[Dimension.LEASE_COUNT] += 1
            for i in lease.devices:
                generation = self.nodes[lease.node].capacity.gpus[i].generation
                total[generation] += request.device_milli
        return dict(+total)

    def memories(self, request: PlacementRequest) -> list[int]:
        """The memory of all devices there are that may serve the request, the least first."""
        gpus = (gpu for node in self.nodes.values() for gpu in node.capacity.gpus)
        return sorted({gpu.vram_bytes for gpu in gpus if serves(gpu, request)})

    def over_quota(
        self, request: PlacementRequest, quotas: dict[Scope, Quota], memory: int | None = None
    ) -> bool:
        """Whether some row of the request's owner does not bear the whole request.

        Each of its devices has ``memory``; left out, the least that any has.
        """
        gpu = request.gpu_milli_total * request.gang_size
        if memory is None:
            memory = min(self.memories(request), default=request.gpu_vram)
        devices = request.device_count * request.gang_size
        need = {
            Dimension.CPU_MILLI: request.cpu_milli * request.gang_size,
            Dimension.MEM_BYTES: request.mem_bytes * request.gang_size,
            Dimension.BLOCK_BYTES: request.block_bytes * request.gang_size,
            Dimension.GPU_COUNT: gpu,
            Dimension.GPU_VRAM: devices * share_of(memory, request.device_milli),
            Dimension.LEASE_COUNT: request.gang_size,
        }
        scopes: set[Scope] = {(request.tenant, None), (request.tenant, request.project)}
        for scope in scopes:
            quota, used = quotas.get(scope, Quota()), self.usage(scope)
            for limit in quota.limits:
                asked = need[limit.dimension]
                if asked and used.get(limit.dimension, 0) + asked > limit.amount:
                    return True
            if not gpu or not quota.gpu_generations:
                continue
            listed = {entry.generation: entry.count * MILLI for entry in quota.gpu_generations}
            wanted = request.generation
            if wanted is None or used.get(wanted, 0) + gpu > listed.get(wanted, 0):
                return True
        return False


def share_of(amount: int, milli: int) -> int:
    """Thousandths of an amount, rounded up."""
    return (amount * milli + 999) // 1000


def serves(device: GpuDevice, request: PlacementRequest) -> bool:
    """Whether the device is of a kind the request accepts."""
    if request.generation is not None and device.generation != request.generation:
        return False
    if request.gpu_models and device.model not in request.gpu_models:
        return False
    if request.exclusivity is Exclusivity.PARTITION_EXCLUSIVE and not device.partitionable:
        return False
    return device.vram_bytes >= request.gpu_vram


# --- looking at the real one --------------------------------------------------------------------


def usage_told(quotas: QuotaManager, scope: Scope) -> dict[str, int]:
    """The same numbers as ``NaiveFleet.usage``, read from the manager's own table."""
    base = quotas.row_of(*scope) * ROW_WIDTH
    rows = [(d, quotas.buffer[base + USED + i]) for i, d in enumerate(Dimension)]
    rows += [(g, quotas.buffer[base + GENERATION_USED + i]) for i, g in enumerate(G)]
    return {str(word): amount for word, amount in rows if amount}


def snapshot(ledger: CapacityLedger) -> object:
    """Everything a caller can see of a ledger and its quotas."""
    # By scope, not row by row: asking may make a blank row for a tenant, which nobody can see.
    quotas = ledger.quotas
    used: list[list[int]] = []
    for scope in SCOPES if quotas is not None else []:
        base = quotas.row_of(*scope) * ROW_WIDTH
        used.append(quotas.buffer[base + FLAGS : base + ROW_WIDTH].tolist())
    leases: list[list[Lease]] = [list(ledger.leases(node=name)) for name in ledger.entries]
    gangs = {gang: sorted(members) for gang, members in ledger.gangs.items()}
    return list(ledger.nodes()), leases, ledger.total, ledger.free, used, gangs


# --- what may happen ----------------------------------------------------------------------------

H100 = GpuDevice(G.NVIDIA_HOPPER, 80, "H100")
MIG = GpuDevice(G.NVIDIA_HOPPER, 80, "H100", partitionable=True)
A40 = GpuDevice(G.NVIDIA_AMPERE, 48, "A40")
MI300 = GpuDevice(G.AMD_MI300, 192, "MI300X")

CAPACITIES = [
    NodeCapacity(cpu_cores=8, mem_bytes=64, block_bytes=10, labels={"zone": "a"}),
    NodeCapacity(cpu_cores=16, mem_bytes=32, gpus=(H100, H100), labels={"zone": "a", "net": "ib"}),
    NodeCapacity(cpu_cores=4, mem_bytes=64, block_bytes=99, gpus=(A40,) * 4, labels={"zone": "b"}),
    NodeCapacity(cpu_cores=12, mem_bytes=48, gpus=(H100, A40, MIG)),
    NodeCapacity(cpu_cores=2.5, mem_bytes=8, gpus=(MI300,), labels={"net": "ib"}),
    NodeCapacity(cpu_cores=0, mem_bytes=64),
    NodeCapacity(cpu_cores=3, mem_bytes=16, labels={"executor": "ray", "node-name": "n1"}),
    NodeCapacity(cpu_cores=5, mem_bytes=16, labels={"executor": "node"}),
]
TENANTS: list[Scope] = [
    ("red", None),
    ("red", "one"),
    ("red", "two"),
    ("blue", None),
    ("green", "g"),
]
SCOPES: list[Scope] = [*TENANTS, ("green", None)]

capacities = st.sampled_from(CAPACITIES)


@st.composite
def gpu_terms(draw: st.DrawFn) -> dict[str, object]:
    """What a request may ask of GPUs."""
    terms: dict[str, object] = {}
    if draw(st.booleans()):
        terms["gpu_milli"] = draw(st.sampled_from([1, 100, 250, 333, 500, 700, 1000]))
        terms["exclusivity"] = draw(st.sampled_from([None, None, *Exclusivity]))
    else:
        terms["gpu_count"] = draw(st.sampled_from([1, 1, 2, 3, 4]))
    if draw(st.booleans()):
        terms["generation"] = draw(st.sampled_from([G.NVIDIA_HOPPER, G.NVIDIA_AMPERE, G.AMD_MI300]))
    if draw(st.integers(0, 4)) == 0:
        terms["gpu_vram"] = draw(st.sampled_from([48, 80, 100, 500]))
    if draw(st.integers(0, 4)) == 0:
        terms["gpu_models"] = draw(st.sampled_from([("H100",), ("A40", "MI300X"), ("T4",)]))
    return terms


@st.composite
def requests(draw: st.DrawFn, *, gang_max: int = 1, small: bool = False) -> PlacementRequest:
    """Requests that fit often and are refused often; ``small`` ones mostly fit."""
    tenant, project = draw(st.sampled_from(TENANTS))
    terms: dict[str, object] = {
        "cpu_cores": draw(st.sampled_from([0, 0.5] if small else [0, 0.5, 1, 2, 4, 9])),
        "mem_bytes": draw(st.sampled_from([1, 3] if small else [1, 4, 8, 16, 33])),
        "block_bytes": 0 if small else draw(st.sampled_from([0, 0, 0, 5, 50])),
    }
    if draw(st.booleans()):
        terms |= draw(gpu_terms())
    if not small and draw(st.integers(0, 3)) == 0:
        wishes = [{"zone": "a"}, {"zone": "b", "net": "ib"}, {"net": "ib"}]
        wishes += [{"runs-jobs": "yes"}, {"runs-jobs-itself": "yes"}, {"node-name": "n1"}]
        terms["labels"] = draw(st.sampled_from([*wishes, {"attested.tpm2.boot": "ok"}]))
    return PlacementRequest(
        tenant=tenant,  # type: ignore[arg-type]
        project=project,  # type: ignore[arg-type]
        priority=draw(st.sampled_from(Priority)),
        lease_class=draw(st.sampled_from(LeaseClass)),
        gang_size=draw(st.integers(1, gang_max)),
        ttl_ms=draw(st.sampled_from([1, 50, 100, 10_000])),
        **terms,  # type: ignore[arg-type]
    )


def build(capacities: Iterable[NodeCapacity], ledger: CapacityLedger) -> NaiveFleet:
    """The same nodes (n0, n1, ...) in the ledger and in a reference."""
    fleet = NaiveFleet()
    for i, capacity in enumerate(capacities):
        ledger.register_node(f"n{i}", capacity)
        fleet.nodes[f"n{i}"] = NaiveNode(capacity)
    return fleet


def remember(fleet: NaiveFleet, leases: Iterable[Lease], request: PlacementRequest) -> None:
    """Write granted leases into the reference, refusing any that the fleet could not have given."""
    for lease in leases:
        assert lease.id not in fleet.leases, "an id was given twice"
        assert fleet.can_hold(lease.node, request), "it does not fit there"
        free, gpus = fleet.device_free(lease.node), fleet.nodes[lease.node].capacity.gpus
        assert len(lease.devices) == len(set(lease.devices)) == request.device_count
        for i in lease.devices:
            assert serves(gpus[i], request), "a device of the wrong kind"
            assert free[i] >= request.device_milli, "a device without room"
        fleet.leases[lease.id] = NaiveLease(
            lease.id, lease.node, request, lease.devices, lease.gang, lease.expires_ms,
            lease.reserved, request.tenant,
        )  # fmt: skip


def problems(ledger: CapacityLedger, fleet: NaiveFleet) -> Iterator[str]:
    """Where the ledger and the reference tell different stories, in words."""
    if [node.id for node in ledger.nodes()] != list(fleet.nodes):
        yield "the nodes differ"
        return
    for node in ledger.nodes():
        naive, mine = fleet.nodes[node.id], fleet.on(node.id)
        told = [node.reserved.as_tuple(), node.leased.as_tuple(), node.free.as_tuple()]
        if node.total.as_tuple() != naive.total:
            yield f"{node.id}: total {node.total}"
        if tuple(map(sum, zip(*told, strict=True))) != naive.total:
            yield f"{node.id}: reserved + leased + free is not total: {told}"
        if any(amount < 0 for row in told for amount in row):
            yield f"{node.id}: below zero: {told}"
        if node.free.as_tuple() != fleet.free(node.id):
            yield f"{node.id}: free {node.free}, reference {fleet.free(node.id)}"
        held = [lease.amounts for lease in mine if lease.reserved]
        if node.reserved.as_tuple() != tuple(map(sum, zip(*[(0, 0, 0, 0), *held], strict=True))):
            yield f"{node.id}: reserved {node.reserved}"
        if list(node.device_free_milli) != fleet.device_free(node.id):
            yield f"{node.id}: devices {node.device_free_milli}"
        entry = ledger.entry(node.id)
        if (entry.gated, entry.attested) != (naive.gated, naive.attested):
            yield f"{node.id}: gated {entry.gated}, attested {entry.attested}"
        if (node.mode, node.quarantined) != (naive.mode, naive.quarantined):
            yield f"{node.id}: {node.mode}, quarantined {node.quarantined}"
        if not node.lease_count == len(mine) == len(list(ledger.leases(node=node.id))):
            yield f"{node.id}: {node.lease_count} leases, reference {len(mine)}"
    told_leases = {lease.id: lease for lease in ledger.leases()}
    if set(told_leases) != set(fleet.leases):
        yield f"leases {sorted(told_leases)}, reference {sorted(fleet.leases)}"
        return
    for lease_id, naive_lease in fleet.leases.items():
        yield from _lease_problems(told_leases[lease_id], naive_lease)
    open_nodes = [n for n, x in fleet.nodes.items() if x.is_open]
    free = [fleet.free(name) for name in open_nodes]
    if ledger.free.as_tuple() != tuple(map(sum, zip(*[(0, 0, 0, 0), *free], strict=True))):
        yield f"free in all: {ledger.free}"
    total = [node.total for node in fleet.nodes.values()]
    if ledger.total.as_tuple() != tuple(map(sum, zip(*[(0, 0, 0, 0), *total], strict=True))):
        yield f"total in all: {ledger.total}"
    if ledger.quotas is not None:
        for scope in SCOPES:
            used = usage_told(ledger.quotas, scope)
            if used != {str(word): n for word, n in fleet.usage(scope).items()}:
                yield f"{scope} uses {used}, reference {fleet.usage(scope)}"


def _lease_problems(lease: Lease, naive: NaiveLease) -> Iterator[str]:
    told = {
        "node": lease.node, "amounts": lease.resources.as_tuple(), "devices": lease.devices,
        "gang": lease.gang, "owner": str(lease.tenant), "state": lease.state.value,
        "generation": lease.generation, "reserved": lease.reserved,
        "checkpoint": lease.checkpoint_ms,
    }  # fmt: skip
    for word, value in told.items():
        if value != getattr(naive, word):
            yield f"lease {lease.id}: {word} {value}, reference {getattr(naive, word)}"
    if naive.state != "fenced" and lease.expires_ms != naive.expires:
        yield f"lease {lease.id}: expires {lease.expires_ms}, reference {naive.expires}"
