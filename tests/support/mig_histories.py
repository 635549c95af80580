"""A history of GPUs that are divided and made whole, under work, with agents of every kind."""

from __future__ import annotations

from contextlib import suppress
from random import Random

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import (
    CancelMig,
    ChangeMig,
    ChangeMode,
    ChangeSettings,
    Command,
    DepartNode,
    Envelope,
    OpenNode,
    RegisterNode,
    ReportMig,
    Submit,
    Tick,
)
from bailiwick.kernel.work.commands import ReportTeardown
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.mig import BY_AGENT
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import GIB, TenantId
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, Priority
from tests.support.kernel_histories import Campus
from tests.support.wide_open import wide_settings


def mig_changes() -> Campus:
    """Four nodes of two GPUs, one with an executor, are divided over and over; some fail."""
    chance, campus = Random(147), Campus()
    rules = ChangeSettings(wide_settings(grace_ms=5_000, teardown_ms=20_000))
    nodes = (RegisterNode(f"n{i}", machine(f"n{i}")) for i in range(4))
    for command in (rules, *nodes):
        campus.lines += campus.kernel.execute(Envelope(command, "setup", "s"), 1).lines
    for step in range(800):
        campus.now_ms += chance.choice((1, 1_000, 6_000, 40_000))
        command = Tick() if step % 3 == 0 else _next(chance, campus)
        envelope = Envelope(command, f"actor-{step % 3}", f"req-{step}")
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def machine(node: str, *, divided: bool = False) -> NodeCapacity:
    """A machine; the last has an executor of its own."""
    labels = {"executor": "agent"} if node == "n3" else {}
    gpu = GpuDevice(HardwareGeneration.NVIDIA_HOPPER, partitionable=divided)
    return NodeCapacity(8, 64 * GIB, gpus=(gpu, gpu), labels=labels)


def _next(chance: Random, campus: Campus) -> Command:
    node, state = f"n{chance.randrange(4)}", campus.kernel.state
    asked = PlacementRequest(
        tenant=TenantId("t0"),
        cpu_cores=chance.randint(1, 3),
        gpu_count=chance.choice((0, 1)),
        gang_size=chance.choice((1, 1, 1, 2)),
        lease_class=chance.choice((LeaseClass.STANDARD, LeaseClass.GUARANTEED)),
        priority=chance.choice((Priority.LOW, Priority.CRITICAL)),
        ttl_ms=chance.choice((60_000, 3_600_000)),
    )
    wanted = chance.choice(((), ("3g.71gb", "4g.71gb"), ("1g.18gb",) * 7))
    wait_ms, grace_ms = chance.choice((60_000, 900_000)), chance.choice((None, 0, 10_000))
    change = ChangeMig(node, chance.choice(((0,), (0, 1))), wanted, grace_ms, wait_ms)
    on = state.mig.going_on()
    one = chance.choice(on) if on else None
    which = (node, 1) if one is None else (one.node, one.id)
    found = (str(e.id) for e in state.ledger.entries.values() if not e.takes_leases)
    closed = chance.choice(sorted(found) or [node])
    cause = chance.choice((None, None, None, *sorted(BY_AGENT)))
    now = machine(which[0], divided=chance.random() < 0.5) if cause is None else None
    lease = chance.choice(sorted(state.leases)) if state.leases else 1
    return chance.choice(
        [
            *[Submit(asked, wait=True)] * 4,
            *[change] * 2,
            *[ReportMig(*which, cause, now)] * 4,
            CancelMig(which[0]),
            *[OpenNode(closed)] * 4,
            ChangeMode(node, chance.choice((NodeMode.DRAINING, NodeMode.MAINTENANCE))),
            *[ReportTeardown(lease, clean=chance.random() < 0.8)] * 2,
            chance.choice((DepartNode(node), RegisterNode(node, machine(node)))),
        ]
    )
