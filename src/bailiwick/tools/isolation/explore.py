"""Drives the real kernel through every short sequence of commands, and judges each state.

The model says what a scheduler should do; this asks the very code that decides. Both are judged by
:mod:`bailiwick.isolation.judge`.

Rules:

- A sequence is made of requests of every sort of work, for one seat or a whole node, calm or
  urgent; of leases that are given back or evicted, of confirmed teardowns, of nodes that depart and
  are registered again, of scrubbed domains, and of time that passes.
- All sequences of a length are tried, the shortest first. States that differ in ids and times alone
  are looked at once, so time is in them only as far as it shows in phases.
- Leases count as long as they hold something. Who claims counts in its room, against leases that
  nobody told to go.
- ``enforced=False`` leaves the policy out of the kernel and judges by it all the same: an explorer
  that finds nothing then would find nothing ever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.isolation.judge import Violation, violations
from bailiwick.isolation.language.spelling import spell_policy
from bailiwick.isolation.model.world import ModelWorld, spell_subject
from bailiwick.isolation.policy import Policy, Subject
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.kernel import (
    ChangeSettings,
    Command,
    DepartNode,
    Envelope,
    Evict,
    Kernel,
    RegisterNode,
    Release,
    ReportTeardown,
    ScrubDomain,
    SetIsolationPolicy,
    Settings,
    State,
    Submit,
    Tick,
)
from bailiwick.kernel.isolation.placements import placements, seats
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.ceilings import OPEN
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.values import ProjectId, TenantId
from bailiwick.vocab.words import HardwareGeneration, PreemptionReason, Priority

GRACE_MS = 1_000
STEP_MS = 2_000
TTL_MS = 3_600_000
_BEGIN_MS = 1_000
_GIB = 2**30
_ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class Exploration:
    """What came of it: the first sequence that breaks a rule, or none."""

    story: tuple[str, ...]
    broken: tuple[Violation, ...]
    states: int


def explore_kernel(world: ModelWorld, *, depth: int, enforced: bool = True) -> Exploration:
    """Try every sequence of so many commands."""
    begin: tuple[Command, ...] = (*_first(world, enforced=enforced),)
    seen: set[object] = set()
    line: deque[tuple[Command, ...]] = deque([()])
    while line:  # bounded: at most one sequence of each length leads to a state
        sequence = line.popleft()
        kernel, now_ms, is_done = _run(begin, sequence)
        if not is_done:
            continue
        broken = judge_kernel(world.policy, kernel.state, now_ms=now_ms)
        if broken:
            return Exploration(tuple(map(_tell, sequence)), tuple(broken), len(seen))
        alike = _signature(kernel.state, now_ms)
        if alike in seen or len(sequence) >= depth:
            continue
        seen.add(alike)
        line.extend((*sequence, each) for each in _choices(world, kernel.state, now_ms))
    return Exploration((), (), len(seen))


def judge_kernel(policy: Policy, state: State, *, now_ms: int) -> list[Violation]:
    """Every rule that leases and claimants of a state break, but for leases told to go for it."""
    residues = [*state.isolation.residues_at(now_ms)]
    there = [*placements(state)]
    found = violations(policy, there, now_ms=now_ms, residues=residues)
    calm = [each for each in there if str(state.phase(int(each.id))) == _ACTIVE]
    with_claims = [*calm, *seats(state, now_ms=now_ms)]
    return [*found, *violations(policy, with_claims, now_ms=now_ms)]


def _first(world: ModelWorld, *, enforced: bool) -> Iterator[Command]:
    yield ChangeSettings(
        Settings(
            grace_ms=GRACE_MS,
            priority_max=OPEN.priority_max,
            lease_classes=OPEN.lease_classes,
            term_max_ms=OPEN.term_max_ms,
            waiting_max=OPEN.waiting_max,
            tenant_cpu_milli=INTEGER_MAX,
            tenant_mem_bytes=INTEGER_MAX,
            tenant_gpu_count=INTEGER_MAX,
            tenant_lease_count=INTEGER_MAX,
        )
    )
    yield from (_register(world, site.node) for site in world.sites)
    if enforced:
        yield SetIsolationPolicy(spell_policy(world.policy))


def _register(world: ModelWorld, node: str) -> RegisterNode:
    site = next(each for each in world.sites if each.node == node)
    count = sum(seat.node == node for seat in world.seats)
    generation = HardwareGeneration.NVIDIA_HOPPER
    gpus = tuple(GpuDevice(generation, _GIB, fabric=name) for name in site.fabrics)
    labels = {key: value for key, value in site.labels.items() if "." not in key}
    capacity = NodeCapacity(count, count * _GIB, gpus=gpus, labels=labels, topology=site.topology)
    return RegisterNode(node, capacity)


def _run(begin: tuple[Command, ...], sequence: tuple[Command, ...]) -> tuple[Kernel, int, bool]:
    """A kernel that was told all of it, and whether it took the last command."""
    kernel, now_ms = Kernel(simulated=True), _BEGIN_MS
    for command in begin:
        kernel.execute(Envelope(command), now_ms)
    for command in sequence:
        now_ms += STEP_MS if isinstance(command, Tick) else 1
        try:
            kernel.execute(Envelope(command), now_ms)
        except BailiwickError:
            return kernel, now_ms, False
    return kernel, now_ms, True


def _choices(world: ModelWorld, state: State, now_ms: int) -> Iterator[Command]:
    """Whatever can be tried next."""
    whole = max(sum(seat.node == site.node for seat in world.seats) for site in world.sites)
    for subject, count, priority in product(
        world.subjects, {1, whole}, (Priority.LOW, Priority.CRITICAL)
    ):
        yield Submit(_request(world, subject, count=count, priority=priority))
    for lease_id in state.leases:
        if str(state.phase(lease_id)) == _ACTIVE:
            yield Release(lease_id)
            yield Evict((lease_id,), PreemptionReason.OPERATOR_DRAIN, GRACE_MS)
        else:
            yield ReportTeardown(lease_id, True)
    known = {str(entry.id) for entry in state.ledger.entries.values()}
    for site in world.sites:
        yield DepartNode(site.node) if site.node in known else _register(world, site.node)
    for each in state.isolation.residues_at(now_ms):
        yield ScrubDomain(each.kind, each.domain)
    yield Tick()


def _request(
    world: ModelWorld, subject: Subject, *, count: int, priority: Priority
) -> PlacementRequest:
    has_devices = any(site.fabrics for site in world.sites)
    return PlacementRequest(
        tenant=TenantId(subject.tenant),
        project=None if subject.project is None else ProjectId(subject.project),
        cpu_cores=count,
        gpu_count=count if has_devices else 0,
        ttl_ms=TTL_MS,
        priority=priority,
        job_labels=dict(subject.labels),
    )


def _signature(state: State, now_ms: int) -> object:
    """Equal for states that differ in ids and times alone."""
    leases = sorted(
        (
            spell_subject(each.subject),
            each.node,
            str(state.cores.of(int(each.id))),
            state.fields(int(each.id)).devices,
            state.fields(int(each.id)).shape,
            state.fields(int(each.id)).priority,
            str(state.phase(int(each.id))),
        )
        for each in placements(state)
    )
    claims = sorted((spell_subject(s.subject), s.node) for s in seats(state, now_ms=now_ms))
    waiting = sorted(
        (str(entry.request.tenant), entry.request.cpu_milli, entry.request.priority.value)
        for entry in state.line.entries.values()
    )
    left = sorted((r.rule, r.domain) for r in state.isolation.residues_at(now_ms))
    nodes = sorted(str(entry.id) for entry in state.ledger.entries.values())
    return repr((leases, claims, waiting, left, nodes))


def _tell(command: Command) -> str:
    match command:
        case Submit(request=request):
            return (
                f"{request.tenant} asks for {request.cpu_milli // 1000}, {request.priority.value}"
            )
        case Tick():
            return "time passes"
        case _:
            return str(command)
