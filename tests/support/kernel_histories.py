"""Journals made by driving a kernel on a seeded clock: what happened is known, because it was done.

``busy_journal`` is a random but repeatable campus: three tenants, a small fleet, operators who
drain and quarantine, ticks on a grid. ``small_journal`` is the worked example of the manual.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.journal import Record, parse_record
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel import (
    Cancel,
    ChangeMode,
    ChangeSettings,
    ClearFence,
    Command,
    DepartNode,
    Elect,
    EnrolNode,
    Envelope,
    Evict,
    Granted,
    GrantToken,
    Kernel,
    LiftQuarantine,
    Quarantine,
    RecordVerdict,
    RegisterNode,
    Release,
    Renew,
    ReportCheckpoint,
    ReportTeardown,
    ScrubDomain,
    SetIsolationPolicy,
    SetQuota,
    SetShare,
    Settings,
    SetTrustPolicy,
    Submit,
    Tick,
    WithdrawEnrolment,
)
from bailiwick.kernel.answers import Answer
from bailiwick.scheduler.quota_policy import BurstCredit, Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import BailiwickError, Conflict, InvariantBroken, NotFound
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.trust import EvidenceKind, Operation, UntrustedReason
from bailiwick.vocab.values import GIB, TenantId
from bailiwick.vocab.words import (
    Dimension,
    DomainKind,
    HardwareGeneration,
    LeaseClass,
    PreemptionReason,
    Priority,
)
from tests.support.forbidden_work import forbidden, small_policy
from tests.support.wide_open import wide_settings

START_MS = 1_794_700_800_000
"""2026-11-15 00:00:00 UTC."""

MINUTE, HOUR = 60_000, 3_600_000
TENANTS = ("lab-a", "lab-b", "lab-c")
HOPPER, AMPERE = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_AMPERE


def node(
    gpus: int,
    *,
    generation: HardwareGeneration = HOPPER,
    cores: int = 64,
    labels: dict[str, str] | None = None,
) -> NodeCapacity:
    device = GpuDevice(generation, 80 * GIB)
    return NodeCapacity(
        cpu_cores=cores, mem_bytes=512 * GIB, gpus=(device,) * gpus, labels=labels or {}
    )


@dataclass
class Campus:
    """A kernel, its journal, and the time."""

    now_ms: int = START_MS
    kernel: Kernel = field(default_factory=lambda: Kernel(simulated=True))
    lines: list[bytes] = field(default_factory=list)
    serial: int = 0

    def do(self, command: Command, actor: str = "operator") -> Answer:
        self.serial += 1
        outcome = self.kernel.execute(Envelope(command, actor, f"req-{self.serial}"), self.now_ms)
        self.lines += outcome.lines
        return outcome.answer

    def submit(self, tenant: str, *, wait: bool = True, **terms: object) -> Answer:
        request = PlacementRequest(tenant=TenantId(tenant), **terms)  # type: ignore[arg-type]
        return self.do(Submit(request, wait), actor=f"user-of-{tenant}")

    def pass_time(self, span_ms: int, *, tick_ms: int = MINUTE) -> None:
        end = self.now_ms + span_ms
        while self.now_ms < end:
            self.now_ms = min(self.now_ms + tick_ms, end)
            self.do(Tick(), "kernel")

    @property
    def records(self) -> list[Record]:
        return [parse_record(line[:-1]) for line in self.lines]

    def write(self, path: Path) -> Path:
        path.write_bytes(b"".join(self.lines))
        return path


def small_journal() -> Campus:
    """Two tenants on sixteen GPUs: one holds most of them, the other waits; six hours."""
    campus = Campus()
    campus.do(Elect(1, "replica-1"), "kernel")
    campus.do(ChangeSettings(wide_settings()), "kernel")
    for number in (1, 2):
        campus.do(RegisterNode(f"node-{number}", node(8)))
    campus.do(SetQuota("physics", Quota((ResourceLimit.gpu_count(16),))))
    campus.do(SetQuota("biology", Quota((ResourceLimit.gpu_count(8),))))
    runs: list[tuple[int, int]] = []
    arrivals = [
        (0, "physics", 8, 150), (5, "physics", 6, 200), (10, "biology", 4, 45),
        (20, "biology", 2, 30), (40, "physics", 2, 60), (65, "biology", 8, 40),
        (100, "physics", 4, 90), (150, "biology", 4, 80), (180, "physics", 8, 60),
    ]  # fmt: skip
    held: dict[int, int] = {}
    for minute in range(6 * 60):
        for at, tenant, gpus, _ in arrivals:
            if at == minute:
                campus.submit(tenant, gpu_count=gpus, cpu_cores=gpus, ttl_ms=8 * HOUR)
        campus.pass_time(MINUTE)
        for lease_id in campus.kernel.state.leases:
            held.setdefault(lease_id, campus.now_ms)
        del runs[:]
        for lease_id in list(campus.kernel.state.leases):
            minutes = _minutes(campus, lease_id, arrivals)
            if campus.now_ms - held[lease_id] >= minutes * MINUTE:
                campus.do(Release(lease_id), "agent")
    return campus


def _minutes(campus: Campus, lease_id: int, arrivals: list[tuple[int, str, int, int]]) -> int:
    owner = campus.kernel.state.owner_of(lease_id)
    gpus = campus.kernel.state.fields(lease_id).devices.bit_count()
    found = [a[3] for a in arrivals if a[1] == owner.tenant and a[2] == gpus]
    return found[0]


def busy_journal(
    seed: int,
    *,
    steps: int = 400,
    tick_ms: int = 10_000,
    settings: Settings | None = None,
    executors: int = 0,
    guarded: bool = False,
    ruled: bool = False,
) -> Campus:
    """A random campus; the same seed gives the same one. So many nodes have an executor.

    On a ``guarded`` one nodes must attest, and do so well, badly or too late. On a ``ruled`` one
    policies of isolation come and go, and nothing that they forbid ever stays.
    """
    chance, campus = Random(seed), Campus()
    campus.do(Elect(1, "replica-1"), "kernel")
    campus.do(
        ChangeSettings(settings or wide_settings(min_run_ms=chance.choice((0, 60_000)))), "kernel"
    )
    for number in range(6):
        kind = HOPPER if number < 4 else AMPERE
        labels = {"executor": "local"} if number < executors else {}
        capacity = node(8, generation=kind, labels=labels)
        campus.do(RegisterNode(f"node-{number}", capacity))
    burst = BurstCredit(Dimension.GPU_COUNT, 1_200_000, 100, 4_000)
    campus.do(SetQuota("lab-a", Quota((ResourceLimit.gpu_count(20),), burst=burst)))
    campus.do(SetQuota("lab-b", Quota((ResourceLimit.gpu_count(30),))))
    campus.do(SetShare("lab-b", 3))
    since_tick = 0
    for _ in range(steps):
        for _ in range(chance.randrange(3)):
            with suppress(BailiwickError):
                _act(campus, chance)
        if guarded:
            with suppress(BailiwickError):
                _guard(campus, chance)
        if ruled:
            with suppress(Conflict, NotFound):
                _rule(campus, chance)
            _check_apart(campus)
        gap = chance.choice((1_000, 2_500, 5_000, 20_000))
        while gap > 0:
            part = min(gap, tick_ms - since_tick)
            gap, since_tick = gap - part, since_tick + part
            campus.now_ms += part
            if since_tick == tick_ms:
                campus.do(Tick(), "kernel")
                since_tick = 0
        if ruled:
            _check_apart(campus)
    return campus


def _act(campus: Campus, chance: Random) -> None:
    state = campus.kernel.state
    roll = chance.random()
    held = sorted(state.leases)
    if roll < 0.5 or not held:
        _ask(campus, chance)
    elif roll < 0.72:
        campus.do(Release(chance.choice(held)), "agent")
    elif roll < 0.78:
        campus.do(Renew(chance.choice(held), chance.choice((60_000, 600_000))), "agent")
    elif roll < 0.82:
        campus.do(ReportCheckpoint(chance.choice(held)), "agent")
    elif roll < 0.86:
        _tear_down(campus, chance)
    elif roll < 0.9 and state.line.entries:
        campus.do(Cancel(chance.choice(sorted(state.line.entries))), "user")
    elif roll < 0.93:
        reason = chance.choice(list(PreemptionReason)[3:])
        campus.do(Evict((chance.choice(held),), reason, chance.choice((None, 0, 7_000))))
    else:
        _operate(campus, chance)


def _guard(campus: Campus, chance: Random) -> None:
    name = f"node-{chance.randrange(6)}"
    kind = chance.choice((EvidenceKind.TPM2, EvidenceKind.TPM2, EvidenceKind.GPU_CC))
    digest, roll = f"{chance.randrange(2**64):064x}", chance.random()
    if roll < 0.06:
        require = chance.choice(("tpm2", "tpm2 and gpu_cc", "tpm2 or gpu_cc"))
        of, grace_s = chance.choice(("*", "node-*3")), chance.choice((0, 20, 60))
        pool = {"nodes": [of], "require": require, "stale_grace_s": grace_s}
        campus.do(SetTrustPolicy(json.dumps({"pools": {"p": pool}})))
    elif roll < 0.1:
        campus.do(EnrolNode(name, kind, {"key": digest}, f"{int(name[-1]):064x}"))
    elif roll < 0.12:
        campus.do(WithdrawEnrolment(name, kind))
    elif roll < 0.2:
        bad, word = UntrustedReason.PCR_POLICY, AttestationWord.UNTRUSTED
        campus.do(RecordVerdict(name, kind, word, digest, bad), "gate")
    elif roll < 0.25:
        campus.do(LiftQuarantine(name, override=True, note="seen by eye"))
    elif roll < 0.3 and campus.kernel.state.leases:
        held, wanted = min(campus.kernel.state.leases), (Operation.MEM_READ,)
        campus.do(GrantToken(held, "lab-a", "t-1", wanted, None, 5_000), "user")
    elif roll < 0.9:
        until, word = campus.now_ms + chance.choice((15_000, 90_000)), AttestationWord.TRUSTED
        campus.do(RecordVerdict(name, kind, word, digest, None, until, {"boot": "ok"}), "gate")


def _rule(campus: Campus, chance: Random) -> None:
    """Now and then a policy is set, changed or lifted, a host is cleaned, a node relabelled."""
    name, roll = f"node-{chance.randrange(6)}", chance.random()
    if roll < 0.08:
        campus.do(SetIsolationPolicy(small_policy(chance, TENANTS)))
    elif roll < 0.1:
        campus.do(ScrubDomain(DomainKind.HOST, name))
    elif roll < 0.13:
        if name in campus.kernel.state.ledger:
            campus.do(DepartNode(name))
        labels = {"zone": chance.choice("ab"), "rack": chance.choice(("r1", "r2"))}
        campus.do(RegisterNode(name, node(8, labels=labels)))


def _check_apart(campus: Campus) -> None:
    state = campus.kernel.state
    assert forbidden(state, state.isolation.text, now_ms=campus.now_ms) == []


def _ask(campus: Campus, chance: Random) -> None:
    gang = chance.choice((1, 1, 1, 1, 2, 3))
    campus.submit(
        chance.choice(TENANTS),
        wait=chance.random() < 0.85,
        project=chance.choice((None, "vision", "speech")),
        gpu_count=chance.choice((1, 2, 4, 8)),
        cpu_cores=chance.choice((1, 4, 8)),
        gang_size=gang,
        priority=chance.choice(list(Priority)),
        lease_class=chance.choice(list(LeaseClass)),
        ttl_ms=chance.choice((45_000, 120_000, 900_000)),
        deadline_ms=chance.choice((None, None, None, campus.now_ms + 90_000)),
    )


def _tear_down(campus: Campus, chance: Random) -> None:
    state = campus.kernel.state
    if state.fenced:
        campus.do(ClearFence(min(state.fenced)))
        return
    for lease_id in sorted(state.leases):
        with suppress(BailiwickError):
            campus.do(ReportTeardown(lease_id, chance.random() < 0.8), "executor")
            return


def _operate(campus: Campus, chance: Random) -> None:
    name = f"node-{chance.randrange(6)}"
    known = name in campus.kernel.state.ledger
    commands: list[Command] = [
        ChangeMode(name, NodeMode.DRAINING, grace_ms=chance.choice((None, 3_000))),
        ChangeMode(name, NodeMode.RETURNING),
        ChangeMode(name, NodeMode.ACCEPTING),
        ChangeMode(name, NodeMode.ACCEPTING),
        Quarantine(name, "evidence_is_stale", chance.choice((None, 0))),
        LiftQuarantine(name),
        LiftQuarantine(name),
        DepartNode(name) if known else RegisterNode(name, node(8)),
        SetQuota("lab-c", Quota((ResourceLimit.gpu_count(chance.choice((4, 12, 24))),))),
        SetShare("lab-c", chance.choice((1, 2, 5))),
        ChangeSettings(
            wide_settings(
                grace_ms=chance.choice((0, 30_000)), min_run_ms=chance.choice((0, 60_000))
            )
        ),
    ]
    try:
        campus.do(chance.choice(commands))
    except InvariantBroken:
        raise
    except BailiwickError:
        return


def granted(answer: Answer) -> tuple[int, ...]:
    assert isinstance(answer, Granted), answer
    return answer.lease_ids


def kinds(records: Iterable[Record]) -> set[str]:
    return {record.kind.value for record in records}
