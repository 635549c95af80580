"""A history of machines that fall ill, are drained, tested and back, by every way there is."""

from __future__ import annotations

from contextlib import suppress
from random import Random

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import (
    BeginTest,
    CancelMig,
    CancelWindow,
    ChangeMig,
    ChangeMode,
    ChangeSettings,
    Command,
    DepartNode,
    Envelope,
    OpenNode,
    PlanWindow,
    RegisterNode,
    ReportHealth,
    ReportMig,
    ReportTest,
    Submit,
    Tick,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.health import HealthCheck, HealthFinding, HealthLevel
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import GIB, TenantId
from bailiwick.vocab.words import HardwareGeneration
from tests.support.kernel_histories import Campus
from tests.support.wide_open import wide_settings

NODES = 8


def health() -> Campus:
    """Eight nodes, of which all but one can be tested, over some hours."""
    chance, campus = Random(174), Campus()
    rules = ChangeSettings(
        wide_settings(
            grace_ms=5_000, health_drain_milli=250, test_wait_ms=120_000, test_every_ms=1_800_000
        )
    )
    nodes = (RegisterNode(f"n{i}", machine()) for i in range(NODES))
    agents = (ReportHealth(f"n{i}", (), can_test=i > 0) for i in range(NODES))
    for command in (rules, *nodes, *agents):
        campus.lines += campus.kernel.execute(Envelope(command, "setup", "s"), 1).lines
    for step in range(1_200):
        campus.now_ms += chance.choice((1, 1_000, 6_000, 40_000))
        command = Tick() if step % 3 == 0 else _next(chance, campus, step)
        envelope = Envelope(command, f"actor-{step % 3}", f"req-{step}")
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def machine() -> NodeCapacity:
    """One of the machines."""
    gpu = GpuDevice(HardwareGeneration.NVIDIA_HOPPER)
    return NodeCapacity(8, 64 * GIB, gpus=(gpu, gpu))


def findings(chance: Random) -> tuple[HealthFinding, ...]:
    """Mostly nothing, or what is only told."""
    level = chance.choice((HealthLevel.WARN, HealthLevel.WARN, HealthLevel.FAIL))
    check = chance.choice(tuple(HealthCheck))
    one = HealthFinding(check, level, chance.choice((None, 0, 1)), chance.randrange(100), 50)
    return chance.choice(((), (), (one,)))


def _next(chance: Random, campus: Campus, step: int) -> Command:
    node, state = f"n{chance.randrange(NODES)}", campus.kernel.state
    asked = PlacementRequest(
        tenant=TenantId("t0"),
        cpu_cores=chance.randint(1, 6),
        gpu_count=chance.choice((0, 1)),
        gang_size=chance.choice((1, 1, 1, 2)),
        ttl_ms=chance.choice((60_000, 600_000)),
    )
    tests = state.health.going_on()
    test = chance.choice(tests) if tests else None
    which = (node, 1) if test is None else (test.node, test.id)
    found = (str(e.id) for e in state.ledger.entries.values() if not e.takes_leases)
    closed = chance.choice(sorted(found) or [node])
    change = state.mig.changes.get(node)
    windows = sorted(state.maintenance.windows) or ["none"]
    starts_ms = campus.now_ms + chance.choice((10_000, 90_000))
    window = PlanWindow(f"w{step}", (node,), starts_ms, starts_ms + 200_000, 5_000)
    return chance.choice(
        [
            *[Submit(asked, wait=True)] * 4,
            *[ReportHealth(node, findings(chance), can_test=node != "n0")] * 5,
            *[ReportTest(*which, findings(chance), chance.randrange(60_000))] * 5,
            *[OpenNode(closed)] * 4,
            OpenNode(closed, untested=True),
            BeginTest(chance.choice((node, closed))),
            chance.choice((ChangeMig(node, (0,)), CancelMig(node))),
            *[ReportMig(node, 1 if change is None else change.id)] * 2,
            chance.choice((window, window, CancelWindow(chance.choice(windows)))),
            ChangeMode(node, chance.choice(tuple(NodeMode))),
            chance.choice((DepartNode(node), RegisterNode(node, machine()))),
            *[
                RegisterNode(f"n{i}", machine())
                for i in range(NODES)
                if f"n{i}" not in state.ledger
            ],
        ]
    )
