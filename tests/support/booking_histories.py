"""A history of bookings of three projects, by hand and by series, over work of every priority."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.kernel import (
    Book,
    Cancel,
    CancelBooking,
    ChangeSettings,
    Command,
    DepartNode,
    Envelope,
    LabelNode,
    OpenNode,
    PlanWindow,
    RegisterNode,
    Release,
    Renew,
    ReplaceBooked,
    SetQuota,
    SetSeries,
    Submit,
    Tick,
    WithdrawSeries,
)
from bailiwick.kernel.fleet.commands import ChangeMode
from bailiwick.kernel.work.commands import ReportTeardown
from bailiwick.scheduler.quota_policy import GpuGenerationQuota, Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import GIB, ProjectId, TenantId
from bailiwick.vocab.words import HardwareGeneration, Priority
from tests.support.kernel_histories import Campus
from tests.support.wide_open import wide_settings

MINUTE = 60_000
TERMS = {"grace_ms": 5_000, "booking_wait_ms": 4 * MINUTE, "term_max_ms": 60 * MINUTE}
OWNERS = (("t0", "class"), ("t0", "runs"), ("t1", "class"))


def booked_nodes(seed: int = 183) -> Campus:
    """Eight nodes of one to four GPUs, one with an executor, are booked over and over."""
    chance, campus = Random(seed), Campus()
    rules = ChangeSettings(wide_settings(**TERMS))
    old, new = HardwareGeneration.NVIDIA_AMPERE, HardwareGeneration.NVIDIA_HOPPER
    listed = (GpuGenerationQuota(old, 2), GpuGenerationQuota(new, 9))
    quotas = (
        SetQuota("t1", Quota((ResourceLimit.gpu_count(5),))),
        SetQuota("t0", Quota((), listed)),
        SetQuota("t0", Quota((), listed[1:]), project="runs"),
    )
    nodes = (RegisterNode(f"n{i}", machine(i)) for i in range(8))
    for command in (rules, *quotas, *nodes, LabelNode("n2", ("room=b2",))):
        campus.lines += campus.kernel.execute(Envelope(command, "setup", "s"), 1).lines
    for step in range(1_100):
        campus.now_ms += chance.choice((1, 1_000, 20_000, MINUTE))
        command = Tick() if step % 3 == 0 else _next(chance, campus)
        envelope = Envelope(command, f"actor-{step % 3}", f"req-{step}")
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def machine(number: int) -> NodeCapacity:
    """A machine; the last has an executor of its own."""
    labels = {"executor": "agent"} if number == 7 else {}
    old, new = HardwareGeneration.NVIDIA_AMPERE, HardwareGeneration.NVIDIA_HOPPER
    gpu = GpuDevice(old if number < 2 else new)
    return NodeCapacity(8, 64 * GIB, gpus=(gpu,) * (number % 4 + 1), labels=labels)


def _ask(chance: Random) -> dict[str, Any]:
    narrow: dict[str, Any] = {}
    if chance.random() < 0.3:
        narrow["generation"] = HardwareGeneration.NVIDIA_HOPPER
    if chance.random() < 0.1:
        narrow["labels"] = ("room=b2",)
    named = tuple(sorted(chance.sample([f"n{i}" for i in range(8)], chance.randint(1, 2))))
    return chance.choice(
        (
            {"nodes": named},
            {"count": chance.randint(1, 4), **narrow},
            {"gpus": chance.randint(1, 9), **narrow},
        )
    )


def _book(chance: Random, campus: Campus) -> Book:
    state, owner = campus.kernel.state, chance.choice(OWNERS)
    own = (each.id for each in state.bookings.series.values() if each.owner == owner)
    series = chance.choice((None, *sorted(own)))
    starts = campus.now_ms + chance.choice((MINUTE, 5 * MINUTE, 40 * MINUTE))
    ends = starts + chance.choice((2, 10, 30)) * MINUTE
    wait_ms = chance.choice((None, None, 0, 2 * MINUTE))
    name = f"b{chance.randrange(12)}"
    told = {"wait_ms": wait_ms, "text": "a class", "series": series}
    return Book(name, *owner, starts, ends, **_ask(chance), **told)


def _cancelled(chance: Random, campus: Campus) -> Command:
    found = campus.kernel.state.bookings.in_order()
    if not found:
        return CancelBooking("b0", *OWNERS[0])
    booking = chance.choice(found)
    if chance.random() < 0.5:
        owner = str(booking.owner.tenant), str(booking.owner.project)
        return ReplaceBooked(booking.id, *owner)
    return CancelBooking(booking.id, str(booking.owner.tenant), str(booking.owner.project))


def _series(chance: Random) -> Command:
    number = chance.randrange(3)
    name = f"s{number}"
    if chance.random() < 0.3:
        return WithdrawSeries(name, *OWNERS[number])
    days = chance.choice((7, 14))
    if chance.random() < 0.5:
        return SetSeries(name, "daily", *OWNERS[number], count=1, ahead_days=days)
    return SetSeries(name, "weekly", *OWNERS[number], **_ask(chance), ahead_days=7)


def _closing(chance: Random, campus: Campus, node: str) -> Command:
    starts = campus.now_ms + 20 * MINUTE
    window = PlanWindow(f"w{node}", (node,), starts, starts + 5 * MINUTE, MINUTE)
    return chance.choice((window, ChangeMode(node, NodeMode.DRAINING), DepartNode(node)))


def _next(chance: Random, campus: Campus) -> Command:
    node, number, state = f"n{chance.randrange(8)}", chance.randrange(8), campus.kernel.state
    on = [each for each in state.bookings.in_order() if each.starts_ms <= campus.now_ms]
    whose = chance.choice(on).owner if on and chance.random() < 0.6 else chance.choice(OWNERS)
    asked = PlacementRequest(
        tenant=TenantId(str(whose[0])),
        project=ProjectId(str(whose[1])),
        cpu_cores=chance.randint(1, 6),
        gpu_count=chance.choice((0, 0, 1, 1, 2)),
        gang_size=chance.choice((1, 1, 1, 2)),
        priority=chance.choice((Priority.LOW, Priority.NORMAL, Priority.HIGH)),
        ttl_ms=chance.choice((1, 1, 3, 3, 8, 60)) * MINUTE,
    )
    lease = chance.choice(sorted(state.leases)) if state.leases else 1
    entry = chance.choice(sorted(state.line.entries)) if state.line.entries else 1
    return chance.choice(
        [
            *[Submit(asked, wait=chance.random() < 0.8)] * 6,
            *[_book(chance, campus)] * 5,
            *[Renew(lease, chance.choice((1, 10, 60)) * MINUTE)] * 3,
            *[Release(lease)] * 2,
            Cancel(entry),
            ReportTeardown(lease, clean=True),
            _cancelled(chance, campus),
            *([_series(chance)] if chance.random() < 0.6 else []),
            OpenNode(node),
            RegisterNode(f"n{number}", machine(number)),
            *([_closing(chance, campus, node)] if chance.random() < 0.6 else []),
        ]
    )
