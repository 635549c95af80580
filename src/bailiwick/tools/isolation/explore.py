"""Drives the real kernel through every short sequence of commands, and judges each state.

The model says what a scheduler should do; this asks the very code that decides. Both are judged by
:mod:`bailiwick.isolation.judge`.

Rules:

- A sequence is made of requests of every sort of work, for one seat, all seats of a node or all but
  one (so that beside room that is kept for somebody a seat can be free), calm or urgent, and for a
  gang of two where a rule counts; of small ones that will not wait, which are decided on before
  those who wait have started; of leases that are given back or evicted, of confirmed teardowns, of
  nodes that depart and are registered again or prove other labels, of scrubbed domains, and of time
  that passes.
- Where a policy has windows or exceptions, terms are short or long: a long one reaches every window
  and outlasts every exception, a short one reaches none. Exceptions end when that is so.
- All sequences of a length are tried, the shortest first. States that differ in ids and times alone
  are looked at once, so time is in them only as far as it shows in phases.
- Leases count as long as they hold something. Who claims counts in its room, against leases that
  nobody told to go.
- ``enforced=False`` leaves the policy out of the kernel and judges by it all the same, and a fault
  puts a wrong guard into it (:mod:`.faulty`): an explorer that finds nothing then would find
  nothing ever.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product

from bailiwick.fleet.node import ATTESTED_PREFIX, GpuDevice, NodeCapacity
from bailiwick.isolation.judge import Violation, opens_within, violations
from bailiwick.isolation.language.spelling import spell_policy
from bailiwick.isolation.model.faults import Fault
from bailiwick.isolation.model.shape import labels_named
from bailiwick.isolation.model.world import ModelWorld, spell_subject
from bailiwick.isolation.policy import Linger, OnlyOn, Policy, Spread
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel import (
    ChangeSettings,
    Command,
    DepartNode,
    Envelope,
    Evict,
    Kernel,
    RecordVerdict,
    RegisterNode,
    Release,
    Renew,
    ReportTeardown,
    ScrubDomain,
    SetIsolationPolicy,
    Settings,
    State,
    Submit,
    Tick,
)
from bailiwick.kernel.isolation.placements import placements, seats
from bailiwick.kernel.isolation.subjects import subject_of_request
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.ceilings import OPEN
from bailiwick.tools.isolation.faulty import seed_fault
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.trust import EvidenceKind
from bailiwick.vocab.values import ProjectId, TenantId
from bailiwick.vocab.words import HardwareGeneration, PreemptionReason, Priority

GRACE_MS = 1_000
STEP_MS = 2_000
TTL_MS = 3_600_000
LONG_MS = 8 * 24 * TTL_MS
"""A term that reaches every window, whichever day of the week it opens."""
_BEGIN_MS = 1_000
_GIB = 2**30
_SEAT_MILLI = 1_000
_ACTIVE = "active"
_EVIDENCE = "0" * 64


@dataclass(frozen=True, slots=True)
class Exploration:
    """What came of it: the first sequence that breaks a rule, or none."""

    story: tuple[str, ...]
    broken: tuple[Violation, ...]
    states: int


def explore_kernel(
    world: ModelWorld, *, depth: int, enforced: bool = True, fault: Fault | None = None
) -> Exploration:
    """Try every sequence of so many commands."""
    begin_ms = _calm_ms(world.policy)
    until_ms = begin_ms - _BEGIN_MS + 2 * TTL_MS  # a text can say whole minutes
    ends = tuple(replace(each, until_ms=until_ms) for each in world.policy.exceptions)
    world = replace(world, policy=replace(world.policy, exceptions=ends))
    begin: tuple[Command, ...] = (*_first(world, begin_ms, enforced=enforced),)
    seen: set[object] = set()
    line: deque[tuple[Command, ...]] = deque([()])
    while line:  # bounded: at most one sequence of each length leads to a state
        sequence = line.popleft()
        kernel, now_ms, is_done = _run(begin, sequence, begin_ms=begin_ms, fault=fault)
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


def _calm_ms(policy: Policy) -> int:
    """The first hour of a week from which on no window opens for a while; if there is none, any."""
    rules = [rule for rule in policy.rules if not isinstance(rule, Linger)]
    windows = [rule.window for rule in rules if rule.window is not None]
    for hour in range(7 * 24):
        at_ms = _BEGIN_MS + hour * TTL_MS
        if not any(opens_within(each, at_ms, to_ms=at_ms + 2 * TTL_MS) for each in windows):
            return at_ms
    return _BEGIN_MS


def judge_kernel(policy: Policy, state: State, *, now_ms: int) -> list[Violation]:
    """Every rule that leases and claimants of a state break, but for leases told to go for it."""
    residues = [*state.isolation.residues_at(now_ms)]
    there = [*placements(state)]
    shared = tuple(rule for rule in policy.rules if not isinstance(rule, OnlyOn))
    held_to = replace(policy, rules=shared)  # who leaves a node that lost a label is told to go
    found = violations(held_to, there, now_ms=now_ms, residues=residues)
    calm = [each for each in there if str(state.phase(int(each.id))) == _ACTIVE]
    with_claims = [*calm, *seats(state, now_ms=now_ms)]
    return [*found, *violations(policy, with_claims, now_ms=now_ms)]


def _first(world: ModelWorld, now_ms: int, *, enforced: bool) -> Iterator[Command]:
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
    for site in world.sites:
        yield from _proofs(world, site.node, now_ms, proven=True)
    if enforced:
        yield SetIsolationPolicy(spell_policy(world.policy))


def _register(world: ModelWorld, node: str) -> RegisterNode:
    site = next(each for each in world.sites if each.node == node)
    count = sum(seat.node == node for seat in world.seats)
    generation = HardwareGeneration.NVIDIA_HOPPER
    gpus = tuple(GpuDevice(generation, _GIB, fabric=name) for name in site.fabrics)
    own = site.labels.items()
    labels = {key: value for key, value in own if not key.startswith(ATTESTED_PREFIX)}
    capacity = NodeCapacity(count, count * _GIB, gpus=gpus, labels=labels, topology=site.topology)
    return RegisterNode(node, capacity)


def _proofs(world: ModelWorld, node: str, now_ms: int, *, proven: bool) -> Iterator[RecordVerdict]:
    """What the node proves of the labels that rules ask for: that, or something else."""
    for key, value in labels_named(world.policy):
        kind, _, claim = key.removeprefix(ATTESTED_PREFIX).partition(".")
        if key.startswith(ATTESTED_PREFIX) and kind in {*EvidenceKind}:
            told = {claim: value if proven else f"not-{value}"}
            until_ms, word = now_ms + 2 * LONG_MS, AttestationWord.TRUSTED
            yield RecordVerdict(
                node, EvidenceKind(kind), word, _EVIDENCE, valid_until_ms=until_ms, claims=told
            )


def _run(
    begin: tuple[Command, ...],
    sequence: tuple[Command, ...],
    *,
    begin_ms: int,
    fault: Fault | None,
) -> tuple[Kernel, int, bool]:
    """A kernel that was told all of it, and whether it took the last command."""
    kernel, now_ms = Kernel(simulated=True), begin_ms
    for command in begin:
        kernel.execute(Envelope(command), now_ms)
    if fault is not None:
        seed_fault(kernel.state, fault)
    for command in sequence:
        now_ms += STEP_MS if isinstance(command, Tick) else 1
        try:
            kernel.execute(Envelope(command), now_ms)
        except BailiwickError:
            return kernel, now_ms, False
    return kernel, now_ms, True


def _choices(world: ModelWorld, state: State, now_ms: int) -> Iterator[Command]:
    """Whatever can be tried next."""
    for request in _requests(world):
        yield Submit(request)
        if request.priority is Priority.LOW and request.cpu_milli == _SEAT_MILLI:
            yield Submit(request, wait=False)
    for lease_id in state.leases:
        if str(state.phase(lease_id)) == _ACTIVE:
            yield Release(lease_id)
            yield Evict((lease_id,), PreemptionReason.OPERATOR_DRAIN, GRACE_MS)
            if world.marks:
                yield Renew(lease_id, LONG_MS)
        else:
            yield ReportTeardown(lease_id, True)
    known = {str(entry.id) for entry in state.ledger.entries.values()}
    for site in world.sites:
        yield DepartNode(site.node) if site.node in known else _register(world, site.node)
        if site.node in known:
            yield from _proofs(world, site.node, now_ms, proven=False)
            yield from _proofs(world, site.node, now_ms, proven=True)
    for each in state.isolation.residues_at(now_ms):
        yield ScrubDomain(each.kind, each.domain)
    yield Tick()


def _requests(world: ModelWorld) -> Iterator[PlacementRequest]:
    """What anybody may ask for."""
    whole = max(sum(seat.node == site.node for seat in world.seats) for site in world.sites)
    terms = (TTL_MS, LONG_MS) if world.marks else (TTL_MS,)
    gangs = (1, 2) if any(isinstance(rule, Spread) for rule in world.policy.rules) else (1,)
    has_devices = any(site.fabrics for site in world.sites)
    counts = {1, max(1, whole - 1), whole}
    sizes = [(count, 1) for count in sorted(counts)] + [(1, gang) for gang in gangs[1:]]
    for subject, (count, gang), priority, ttl_ms in product(
        world.subjects, sizes, (Priority.LOW, Priority.CRITICAL), terms
    ):
        yield PlacementRequest(
            tenant=TenantId(subject.tenant),
            project=None if subject.project is None else ProjectId(subject.project),
            cpu_cores=count,
            gpu_count=count if has_devices else 0,
            gang_size=gang,
            ttl_ms=ttl_ms,
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
            # By what it is: numbers of shapes are given in the order of asking.
            state.ledger.handles.shapes[state.fields(int(each.id)).shape],
            state.fields(int(each.id)).priority,
            str(state.phase(int(each.id))),
            state.fields(int(each.id)).expires_ms - now_ms > 2 * TTL_MS,
        )
        for each in placements(state)
    )
    claims = sorted((spell_subject(s.subject), s.node) for s in seats(state, now_ms=now_ms))
    waiting = sorted(
        (
            spell_subject(subject_of_request(entry.request)),
            entry.request.cpu_milli,
            entry.request.gang_size,
            entry.request.ttl_ms,
            entry.request.priority.value,
        )
        for entry in state.line.entries.values()
    )
    left = sorted((r.rule, r.domain) for r in state.isolation.residues_at(now_ms))
    entries = state.ledger.entries.values()
    nodes = sorted((str(entry.id), sorted(entry.attested.items())) for entry in entries)
    return repr((leases, claims, waiting, left, nodes))


def _tell(command: Command) -> str:
    match command:
        case Submit(request=request, wait=waits):
            asked = f"{request.cpu_milli // _SEAT_MILLI}, {request.priority.value}"
            return f"{request.tenant} asks for {asked}{'' if waits else ', and will not wait'}"
        case Tick():
            return "time passes"
        case _:
            return str(command)
