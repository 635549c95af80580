"""A history of quotas that are lowered under running work, and of who goes for that."""

from __future__ import annotations

from contextlib import suppress
from random import Random

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import ChangeSettings, Command, Envelope, RegisterNode, Submit, Tick
from bailiwick.kernel.fleet.commands import RebalanceQuota, SetQuota
from bailiwick.kernel.work.commands import Cancel, Release
from bailiwick.scheduler.quota_policy import BurstCredit, GpuGenerationQuota, Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.values import GIB, ProjectId, TenantId
from bailiwick.vocab.words import Dimension, HardwareGeneration, LeaseClass, Priority
from tests.support.kernel_histories import Campus
from tests.support.wide_open import wide_settings

_OWNERS = (("t0", None), ("t0", "p"), ("t1", None), ("t2", None))


def rebalances() -> Campus:
    """Quotas up and down under work of three tenants; some go by command, some for who waits."""
    chance, campus = Random(31), Campus()
    machine = NodeCapacity(8, 64 * GIB, gpus=(GpuDevice(HardwareGeneration.NVIDIA_HOPPER),) * 2)
    rules = ChangeSettings(wide_settings(rebalance_ms=60_000, grace_ms=5_000))
    for command in (rules, *(RegisterNode(f"n{i}", machine) for i in range(2))):
        campus.lines += campus.kernel.execute(Envelope(command, "setup", "s"), 1).lines
    for step in range(400):
        campus.now_ms += chance.choice((1, 4_000, 30_000, 90_000))
        envelope = Envelope(_next(chance, campus), f"actor-{step % 3}", f"req-{step}")
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def _next(chance: Random, campus: Campus) -> Command:
    tenant, project = chance.choice(_OWNERS)
    state = campus.kernel.state
    leases, entries = sorted(state.leases), sorted(state.line.entries)
    asked = PlacementRequest(
        tenant=TenantId(tenant),
        project=None if project is None else ProjectId(project),
        cpu_cores=chance.randint(1, 4),
        gpu_milli=chance.choice((0, 500, 1000)),
        gang_size=chance.choice((1, 1, 1, 2)),
        lease_class=chance.choice((*LeaseClass, LeaseClass.STANDARD)),
        priority=chance.choice((Priority.LOW, Priority.NORMAL)),
        ttl_ms=chance.choice((3_600_000, 36_000_000)),
    )
    return chance.choice(
        [
            *[Submit(asked, wait=True)] * 6,
            SetQuota(tenant, _quota(chance), project),
            RebalanceQuota(tenant, project, chance.choice((None, 0, 1_000))),
            *[Tick()] * 4,
            Release(chance.choice(leases)) if len(leases) > 12 else Tick(),
            Cancel(chance.choice(entries)) if len(entries) > 4 else Tick(),
        ]
    )


def _quota(chance: Random) -> Quota:
    limits = (
        ResourceLimit.cpu_cores(chance.choice((2, 30, 30, 30))),
        ResourceLimit.gpu_count(chance.choice((1, 6, 6, 6))),
    )
    burst = BurstCredit(Dimension.CPU_MILLI, 60_000, 100, 2_000) if chance.random() < 0.2 else None
    table = (GpuGenerationQuota(HardwareGeneration.NVIDIA_HOPPER, chance.randrange(4)),)
    return Quota(limits, table if chance.random() < 0.1 else (), burst)
