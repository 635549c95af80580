"""Recorded histories: commands as they were spelled, and all that the kernel said to them.

``python -m tests.support.recorded_histories`` makes those of :data:`MAKERS` that are not there yet.
A recording is never made again under the same name: see ``tests/vectors/kernel/README.md``.

A history is lines of JSON, zipped: one for each command (who sent it, when, in the course of what,
how it is spelled; then the digest of the answer or the error, and the chain's head behind it), and
a last one for the whole. The state's bytes at the end stand beside it.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

from bailiwick.apps.manifest import RoleShape, RoleSpec
from bailiwick.apps.overlays import Overlay
from bailiwick.billing.rates import LIST_PRICES
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.topology import CacheDomain, NodeTopology
from bailiwick.iam import GivenBy, Permission, PrincipalKind, Role, ScopeLevel
from bailiwick.journal.record import encode_json
from bailiwick.journal.words import OfferOutcome, Severity
from bailiwick.kernel import (
    Command,
    Envelope,
    Kernel,
    RegisterNode,
    Submit,
    Tick,
    encode,
    encode_answer,
    encode_command,
)
from bailiwick.kernel.apps.commands import (
    ChangeApp,
    ChangeArtifact,
    PublishApp,
    RegisterArtifact,
    SetArtifactSource,
    SetEntitlement,
)
from bailiwick.kernel.fleet.commands import (
    ChangeMode,
    ChangeSettings,
    DepartNode,
    EndNote,
    LabelNode,
    NoteNode,
    OpenNode,
    SetQuota,
    SetShare,
)
from bailiwick.kernel.isolation.commands import (
    EnforceIsolation,
    ScrubDomain,
    SetIsolationPolicy,
)
from bailiwick.kernel.machine import Outcome
from bailiwick.kernel.maintenance.commands import (
    CancelWindow,
    PlanWindow,
    SetCalendar,
    WithdrawCalendar,
)
from bailiwick.kernel.money.commands import IssueInvoice, ReportFinding, SetRateCard
from bailiwick.kernel.people.commands import (
    ApplyGroups,
    BreakGlass,
    ChangeAccount,
    ChangeProject,
    ChangeTenant,
    CreateAccount,
    CreateProject,
    CreateTenant,
    IssueToken,
    NoteRefusal,
    RevokeToken,
    SetMember,
)
from bailiwick.kernel.people.credential_commands import (
    AddAccountKey,
    DeleteAccountKey,
    DeleteAccountTrust,
    GrantAccountToken,
    SetAccountTrust,
)
from bailiwick.kernel.people.home_commands import EndOffer, OfferRole, SetHome
from bailiwick.kernel.trust.commands import LiftQuarantine, Quarantine
from bailiwick.kernel.work.commands import Release, Renew, ReportTeardown
from bailiwick.kernel.work.execs.commands import NoteExecEnded, NoteExecStarted, NoteFilesCopied
from bailiwick.kernel.work.graph_commands import (
    NoteGraphEnded,
    NoteGraphSubmitted,
    NoteGraphTaskRetried,
)
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.apps import (
    AppLifecycle,
    AppVisibility,
    ArtifactKind,
    ArtifactLifecycle,
    ArtifactTrust,
    Channel,
    PolicyAxis,
    PolicyLimit,
    Privilege,
)
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.execs import CopyDirection, ExecEnd
from bailiwick.vocab.graphs import FailureCategory, GraphPhase
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import GIB, ProjectId, TenantId
from bailiwick.vocab.words import DomainKind, Priority
from tests.support.app_manifests import hello
from tests.support.booking_histories import booked_nodes
from tests.support.cell_histories import cells
from tests.support.health_histories import health
from tests.support.instance_histories import (
    calls,
    endpoints,
    instances,
    units_and_checks,
)
from tests.support.kernel_histories import Campus, busy_journal
from tests.support.mig_histories import mig_changes
from tests.support.money_histories import LARGE, Trouble
from tests.support.rebalance_histories import rebalances
from tests.support.shared_histories import shared_runtimes
from tests.support.shared_use_histories import shared_use
from tests.support.wide_open import wide_settings

FOLDER = Path(__file__).parents[1] / "vectors" / "kernel"


class Recorder:
    """Everything that kernels are told while it listens, and what they say to it."""

    def __init__(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.kernel: Kernel | None = None

    def listen(self, work: Callable[[], Campus]) -> Kernel:
        """Do the work; the kernel that it was done on, which must be one."""
        plain = Kernel.execute

        def heard(kernel: Kernel, envelope: Envelope, now_ms: int) -> Outcome:
            assert self.kernel in (None, kernel), "one history is of one kernel"
            self.kernel = kernel
            told = told_of(envelope, now_ms)
            try:
                outcome = plain(kernel, envelope, now_ms)
            except BailiwickError as error:
                self.lines.append(told | refused(error) | head(kernel))
                raise
            self.lines.append(told | answered(outcome) | head(kernel))
            return outcome

        Kernel.execute = heard  # type: ignore[method-assign]
        try:
            return work().kernel
        finally:
            Kernel.execute = plain  # type: ignore[method-assign]


def told_of(envelope: Envelope, now_ms: int) -> dict[str, Any]:
    """What the kernel is told."""
    spelled = encode_command(envelope.command)
    told = {"at_ms": now_ms, "actor": envelope.actor, "command": spelled}
    told["request"] = envelope.correlation_id
    return told | ({} if envelope.key is None else {"key": envelope.key})


def answered(outcome: Outcome) -> dict[str, Any]:
    """What the kernel answers, and in how many records."""
    return {"answer": short(encode_answer(outcome.answer)), "records": len(outcome.lines)}


def refused(error: BailiwickError) -> dict[str, Any]:
    """The error that the kernel raises instead."""
    return {"error": error.code.value, "says": short(str(error))}


def head(kernel: Kernel) -> dict[str, Any]:
    """Where the chain stands: each record's hash is of all before it, too."""
    return {"head": kernel.chain.anchor().hash[:16]}


def short(value: object) -> str:
    """Enough of a value's digest to see that it changed."""
    return sha256(encode_json({"it": value}).encode()).hexdigest()[:16]


def whole(kernel: Kernel) -> dict[str, Any]:
    """The chain's size and head at the end, and the digest of the state's bytes."""
    anchor = kernel.chain.anchor()
    digest = sha256(encode(kernel.state)).hexdigest()
    return {"records": anchor.size, "head": anchor.hash, "snapshot": digest}


def names() -> list[str]:
    """Every history that was recorded."""
    return sorted(path.name.removesuffix(".jsonl.gz") for path in FOLDER.glob("*.jsonl.gz"))


def read(name: str) -> tuple[list[dict[str, Any]], dict[str, Any], bytes]:
    """A history: what was told and said, the whole at its end, and the state's bytes."""
    text = gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).decode()
    *told, last = map(json.loads, text.splitlines())
    return told, last, gzip.decompress((FOLDER / f"{name}.snapshot.gz").read_bytes())


def write(name: str, work: Callable[[], Campus]) -> None:
    """Record a history, always to the same bytes."""
    recorder = Recorder()
    kernel = recorder.listen(work)
    rows = [*recorder.lines, whole(kernel)]
    text = "".join(encode_json(row) + "\n" for row in rows)
    (FOLDER / f"{name}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    (FOLDER / f"{name}.snapshot.gz").write_bytes(gzip.compress(encode(kernel.state), mtime=0))


# --- what is recorded ---------------------------------------------------------------------------


def _money() -> Campus:
    chance = Random(14)
    trouble = Trouble(chance, limits=(LARGE, 3, 40, 900), half_life_ms=600_000)
    trouble.begin()
    for step, _ in enumerate(trouble.steps(700)):
        if step % 20 == 0:
            with suppress(BailiwickError):
                trouble.campus.do(_bill(chance, trouble.campus, step), "finance")
    return trouble.campus


def _bill(chance: Random, campus: Campus, step: int) -> Command:
    tenant = chance.choice("ab")
    finding = ReportFinding(
        chance.choice(("usage_is_odd", "price_is_odd")),
        chance.choice(list(Severity)),
        f"tenant/{tenant}",
        chance.choice((None, f"{step:064x}")),
        chance.choice((None, "seen by eye")),
        chance.choice((None, tenant)),
    )
    invoice = IssueInvoice(
        invoice=f"2026-{step}",
        tenant=tenant,
        period_start_ms=0,
        period_end_ms=campus.now_ms + chance.choice((0, 0, 1)),
        journal_size=chance.choice((step, campus.kernel.chain.size)),
        total_micros=chance.randrange(-5, 10**6),
        currency="EUR",
        digest=f"{step:064x}",
        corrects=chance.choice((None, "2026-0")),
    )
    return chance.choice([finding, invoice, SetRateCard(LIST_PRICES)])


def _people() -> Campus:
    """Tenants, projects, members, accounts, tokens and refusals; every command may come twice."""
    chance, campus = Random(20), Campus()
    sent: list[Envelope] = []
    for step in range(600):
        campus.now_ms += chance.choice((0, 1, 50, 4_000))
        envelope = Envelope(
            _of_people(chance, campus, step), f"actor-{step % 3}", f"req-{step}",
            chance.choice((None, f"key-{step}")),
        )  # fmt: skip
        if sent and chance.random() < 0.15:
            envelope = chance.choice(sent)
        if sent and chance.random() < 0.02:
            envelope = replace(envelope, actor=sent[-1].actor, key=sent[-1].key)
        sent.append(envelope)
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def _homes() -> Campus:
    """Homes, offers and groups among three tenants: given, answered, withdrawn, moved, closed."""
    chance, campus = Random(34), Campus()
    for tenant in ("t0", "t1", "t2"):
        for command in (CreateTenant(tenant), CreateProject(tenant, "p")):
            campus.lines += campus.kernel.execute(Envelope(command, "setup", "s"), 1).lines
    for step in range(500):
        campus.now_ms += chance.choice((0, 1, 4_000, 600_000))
        envelope = Envelope(_of_homes(chance), f"actor-{step % 3}", f"req-{step}")
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def _of_homes(chance: Random) -> Command:
    member, tenant = f"m{chance.randrange(5)}", f"t{chance.randrange(3)}"
    project = chance.choice((None, "p"))
    roles = [Role.TENANT_ADMIN, Role.TENANT_AUDITOR]
    if project is not None:
        roles = [Role.PROJECT_ADMIN, Role.PROJECT_VIEWER]
    role, given_by = chance.choice(roles), chance.choice((None, *GivenBy))
    groups = tuple(f"t{each}/p={role}" for each in range(3) if chance.random() < 0.5)
    return chance.choice(
        [
            ApplyGroups(f"corp:{member}", "corp", groups if project is not None else ()),
            SetMember(f"corp:{member}", role, tenant, project),
            SetMember(member, role, tenant, project, None, given_by),
            SetMember(member, None, tenant, project),
            OfferRole(member, role.value, tenant, chance.choice((60_000, 10**9)), project),
            OfferRole(member, role.value, tenant, chance.choice((60_000, 10**9)), project),
            *(EndOffer(member, outcome, tenant, project) for outcome in OfferOutcome),
            SetHome(member, chance.choice((None, tenant))),
            ChangeProject(tenant, "p", is_open=chance.random() < 0.7),
        ]
    )


def _labels() -> Campus:
    """Labels that operators give nodes under work that asks for them; quotas inside a tenant's."""
    chance, campus = Random(143), Campus()
    machine = NodeCapacity(cpu_cores=8, mem_bytes=32 * GIB, labels={"pool": "plain"})
    people = (CreateTenant("t0"), CreateTenant("t1"), CreateProject("t0", "p"))
    allowed = (SetQuota(each, Quota((ResourceLimit.cpu_cores(16),))) for each in ("t0", "t1"))
    for command in (*people, *(RegisterNode(f"n{i}", machine) for i in range(4)), *allowed):
        campus.lines += campus.kernel.execute(Envelope(command, "setup", "s"), 1).lines
    for step in range(300):
        campus.now_ms += chance.choice((0, 1, 4_000, 60_000))
        envelope = Envelope(_of_labels(chance), f"actor-{step % 3}", f"req-{step}")
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def _of_labels(chance: Random) -> Command:
    node, pool = f"n{chance.randrange(5)}", chance.choice(("fast", "slow", "plain"))
    cores = chance.choice((4, 12, 40))
    quota, given_by = Quota((ResourceLimit.cpu_cores(cores),)), chance.choice((None, *GivenBy))
    asked = PlacementRequest(
        tenant=TenantId("t0"),
        project=ProjectId("p"),
        cpu_cores=chance.randint(1, 4),
        labels={"pool": pool},
        ttl_ms=chance.choice((30_000, 600_000)),
    )
    return chance.choice(
        [
            LabelNode(node, (f"pool={pool}", "tier=one")),
            LabelNode(node, (f"pool={pool}",), ("tier",)),
            LabelNode(node, (), ("pool",)),
            Submit(asked, wait=True),
            Submit(asked, wait=True),
            SetQuota("t0", quota, "p", None, given_by),
            SetShare("t0", chance.randint(1, 9), "p"),
            Tick(),
        ]
    )


def _node_life() -> Campus:
    """Nodes that are cordoned, drained, opened again and written about, under work that renews."""
    chance, campus = Random(144), Campus()
    machine = NodeCapacity(cpu_cores=8, mem_bytes=32 * GIB)
    for command in (CreateTenant("t0"), *(RegisterNode(f"n{i}", machine) for i in range(4))):
        campus.lines += campus.kernel.execute(Envelope(command, "setup", "s"), 1).lines
    for step in range(400):
        campus.now_ms += chance.choice((0, 1, 4_000, 60_000))
        envelope = Envelope(_of_node_life(chance, campus), f"actor-{step % 3}", f"req-{step}")
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def _of_node_life(chance: Random, campus: Campus) -> Command:
    state, node = campus.kernel.state, f"n{chance.randrange(4)}"
    if node not in state.ledger and chance.random() < 0.7:
        return RegisterNode(node, machine_of(chance))
    lease = chance.choice([*state.leases, 1])
    note = chance.choice([*state.notes.of(node), 1])
    asked = PlacementRequest(
        tenant=TenantId("t0"), cpu_cores=chance.randint(1, 4), ttl_ms=chance.choice((30_000, 10**6))
    )
    ttl_ms = chance.choice((5_000, 200_000, 10**8))
    return chance.choice(
        [
            ChangeMode(node, NodeMode.CORDONED),
            ChangeMode(node, NodeMode.CORDONED),
            ChangeMode(node, NodeMode.DRAINING, evict=chance.random() < 0.5),
            ChangeMode(node, chance.choice((NodeMode.MAINTENANCE, NodeMode.FENCE_LOST))),
            OpenNode(node),
            OpenNode(node),
            OpenNode(node),
            chance.choice((Quarantine(node, "odd"), *[LiftQuarantine(node)] * 2)),
            chance.choice((DepartNode(node), LiftQuarantine(node))),
            NoteNode(node, f"the fan is loud: {ttl_ms}", "ann@fleet", ttl_ms),
            NoteNode(node, "ask ann before it is opened", "bob@fleet", ttl_ms),
            EndNote(node, note),
            Renew(lease, chance.choice((60_000, 10**6))),
            Renew(lease, chance.choice((60_000, 10**6))),
            Submit(asked, wait=True),
            Submit(asked, wait=True),
            Tick(),
        ]
    )


def machine_of(chance: Random) -> NodeCapacity:
    """A machine with more or fewer cores."""
    return NodeCapacity(cpu_cores=chance.choice((4, 8)), mem_bytes=32 * GIB)


def _windows() -> Campus:
    """Windows of maintenance, by hand and by calendars, over work of every priority."""
    chance, campus = Random(183), Campus()
    allowed = SetQuota("t0", Quota((ResourceLimit.cpu_cores(64),)))
    nodes = (RegisterNode(f"n{i}", _machine_of(f"n{i}")) for i in range(4))
    for command in (CreateTenant("t0"), *nodes, allowed):
        campus.lines += campus.kernel.execute(Envelope(command, "setup", "s"), 1).lines
    for step in range(500):
        campus.now_ms += chance.choice((0, 1, 4_000, 60_000, 600_000))
        command = Tick() if step % 3 == 0 else _of_windows(chance, campus.now_ms)
        envelope = Envelope(command, f"actor-{step % 3}", f"req-{step}")
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def _of_windows(chance: Random, now_ms: int) -> Command:
    number, node = chance.randrange(8), f"n{chance.randrange(4)}"
    nodes = tuple(f"n{each}" for each in range(4) if chance.random() < 0.4) or (node,)
    starts = now_ms + chance.choice((1_000, 500_000, 3_000_000))
    ends = starts + chance.choice((1_000, 900_000))
    calendar = chance.choice((None, None, f"c{number % 2}"))
    planned = PlanWindow(f"w{number}", nodes, starts, ends, 300_000, "fans", calendar)
    asked = PlacementRequest(
        tenant=TenantId("t0"),
        cpu_cores=chance.randint(1, 4),
        priority=chance.choice((Priority.LOW, Priority.NORMAL, Priority.CRITICAL)),
        gang_size=chance.choice((1, 1, 2)),
        ttl_ms=chance.choice((30_000, 600_000, 6_000_000)),
    )
    lease, mode = chance.randint(1, 60), chance.choice(list(NodeMode))
    text = chance.choice(("", "", "fans"))
    return chance.choice(
        [
            *(planned, planned, CancelWindow(f"w{number}")),
            SetCalendar(f"c{number % 2}", "daily at 02:00 for 1h in UTC", (node,), text=text),
            WithdrawCalendar(f"c{number % 2}"),
            *(Submit(asked, wait=True),) * 3,
            Renew(lease, chance.choice((60_000, 900_000))),
            ReportTeardown(lease, clean=True),
            ChangeMode(node, mode),
            chance.choice((DepartNode(node), RegisterNode(node, _machine_of(node)))),
        ]
    )


def _machine_of(node: str) -> NodeCapacity:
    labels = {"executor": "agent"} if node == "n3" else {}
    return NodeCapacity(cpu_cores=8, mem_bytes=32 * GIB, labels=labels)


def _credentials() -> Campus:
    """How programs become accounts of two tenants: rules, keys that are rotated, what they get."""
    chance, campus = Random(35), Campus()
    for tenant in ("t0", "t1"):
        accounts = (CreateAccount(f"{tenant}-{each}", tenant) for each in ("bot", "ci"))
        for command in (CreateTenant(tenant), *accounts):
            campus.lines += campus.kernel.execute(Envelope(command, "setup", "s"), 1).lines
    for step in range(400):
        campus.now_ms += chance.choice((0, 1, 4_000, 600_000))
        command = _of_credentials(chance, campus.now_ms, step)
        envelope = Envelope(command, f"actor-{step % 3}", f"req-{step}")
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def _of_credentials(chance: Random, now_ms: int, step: int) -> Command:
    account = f"t{chance.randrange(2)}-{chance.choice(('bot', 'ci'))}"
    rule, key = f"rule-{chance.randrange(3)}", f"key-{chance.randrange(max(1, step // 8) + 1)}"
    digest = sha256(f"{step}".encode()).hexdigest()
    until, issuer = now_ms + chance.choice((60_000, 900_000, 10**7)), "https://ci.example"
    keys = chance.choice((None, tuple(list(Permission)[:2])))
    overlap = chance.choice((None, 0, 60_000))
    claimed = (None, rule, chance.choice((issuer, "https://other.example")), "repo:x", digest)
    return chance.choice(
        [
            SetAccountTrust(account, rule, issuer, "bailiwick", ("sub=repo:*:main",), keys),
            DeleteAccountTrust(account, rule),
            AddAccountKey(account, key, digest, chance.choice((1_000, 10**7)), overlap, keys),
            AddAccountKey(account, key, digest, chance.choice((1_000, 10**7)), overlap, keys),
            DeleteAccountKey(account, key),
            GrantAccountToken(f"got-{step}", account, digest, until, key),
            GrantAccountToken(f"got-{step}", account, digest, until, *claimed),
            ChangeAccount(account, is_enabled=chance.random() < 0.8),
        ]
    )


def _of_people(chance: Random, campus: Campus, step: int) -> Command:
    tenant, project = chance.choice(("lab", "firm", "school")), chance.choice(("vision", "speech"))
    who, account = f"user-{chance.randrange(4)}@{tenant}", f"robot-{chance.randrange(4)}"
    token, now = f"t-{chance.randrange(step + 2)}", campus.now_ms
    opened = chance.choice((None, True, True, False))
    role = chance.choice(list(Role))
    level = [ScopeLevel.FLEET, ScopeLevel.TENANT, ScopeLevel.PROJECT].index(role.level)
    revision = chance.choice((None, None, 1, 2))
    kind = chance.choice(list(PrincipalKind))
    keys = chance.choice((None, (), tuple(list(Permission)[:2])))
    within = chance.choice((None, (tenant,), (f"{tenant}/{project}",)))
    life_ms = chance.choice((10, 5_000, 10**7))
    commands: list[Command] = [
        CreateTenant(tenant, f"The {tenant}"),
        CreateProject(tenant, project),
        ChangeTenant(tenant, f"{tenant} {step}", opened, revision),
        ChangeProject(tenant, project, f"{project} {step}", opened, revision),
        SetMember(who, role, *(tenant, project)[:level]),
        SetMember(who, None, *(tenant, project)[:level]),
        CreateAccount(account, *(tenant, project)[: chance.randrange(3)]),
        ChangeAccount(account, chance.random() < 0.5),
        IssueToken(
            f"t-{step}", chance.choice((who, account)), kind, f"{step:064x}", now + life_ms,
            chance.random() < 0.5, keys, chance.choice((None, None, token)), within,
        ),
        IssueToken(f"t-{step}", who, PrincipalKind.HUMAN, f"{step:064x}", now + life_ms),
        RevokeToken(token),
        NoteRefusal(
            chance.choice(("bad_token", "no_token")),
            chance.choice((None, who)),
            chance.choice((None, Permission.QUEUE_SUBMIT)),
            *(tenant, project)[: chance.randrange(3)],
        ),
        BreakGlass("session", token, f"incident {step} of today, nobody is there", tenant, now + 9),
    ]  # fmt: skip
    return chance.choice(commands)


APART = (
    "vault: dedicated host for tenant bank\nkeep host for tenant bank until scrubbed\n",
    "never share rack among tenants\nat most 3 of tenant lab per rack\n",
    "never share cache, fabric among values of label level\n"
    "keep host for tenant lab 10m after it left\n",
    "label level=high only on nodes with zone=inner\nnever share host among tenants\n"
    "allow host between tenant bank and tenant lab owner ann until 2027-01-01\n",
)


def _apart() -> Campus:
    """Three tenants under policies that change, on machines with caches, fabrics and racks."""
    chance, campus = Random(6), Campus()
    campus.do(ChangeSettings(wide_settings()), "kernel")
    caches = NodeTopology((CacheDomain(8_000), CacheDomain(8_000, numa=1)), (0, 1))
    for number in range(6):
        gpus = [
            GpuDevice.named("NVIDIA H100", vram_bytes=GIB, fabric=f"f{number}-{i}") for i in (0, 1)
        ]
        labels = {"rack": f"r{number // 2}", "zone": "inner" if number % 2 else "outer"}
        offers = NodeCapacity(16, 64 * GIB, gpus=gpus, labels=labels, topology=caches)
        campus.do(RegisterNode(f"node-{number}", offers))
    for step in range(500):
        campus.now_ms += chance.choice((0, 500, 20_000, 90_000))
        with suppress(BailiwickError):
            campus.do(_of_apart(chance, campus, step), f"actor-{step % 3}")
    return campus


def _of_apart(chance: Random, campus: Campus, step: int) -> Command:
    if step % 40 == 10:
        version = campus.kernel.state.isolation.version
        text = chance.choice(APART)
        return SetIsolationPolicy(text, chance.choice((None, None, version, version + 1)))
    if step % 40 == 30:
        return EnforceIsolation(chance.choice(APART))
    if chance.random() < 0.4:
        leases = list(campus.kernel.state.leases)
        ended = [Release(chance.choice(leases))] if leases else []
        host = f"node-{chance.randrange(6)}"
        return chance.choice([*ended, *ended, Tick(), Tick(), ScrubDomain(DomainKind.HOST, host)])
    request = PlacementRequest(
        tenant=TenantId(chance.choice(("bank", "lab", "firm"))),
        cpu_cores=chance.choice((1, 4, 9)),
        gpu_count=chance.choice((0, 0, 1, 2)),
        gang_size=chance.choice((1, 1, 1, 3)),
        job_labels=chance.choice(({}, {"level": "low"}, {"level": "high"})),
        priority=chance.choice((Priority.LOW, Priority.NORMAL, Priority.HIGH)),
        ttl_ms=chance.choice((60_000, 600_000, 3_600_000)),
    )
    return Submit(request, wait=chance.random() < 0.7)


def _graphs() -> Campus:
    """What a loop tells of its graphs, often twice: it was killed and decides the same again."""
    chance, campus = Random(17), Campus()
    sent: list[Envelope] = []
    for step in range(300):
        campus.now_ms += chance.choice((0, 1, 200, 4_000))
        graph_id, command = _of_graphs(chance)
        key = chance.choice((None, f"graph-{graph_id}/{step}"))
        envelope = Envelope(command, "graphs", f"req-{graph_id}", key)
        if sent and chance.random() < 0.3:
            envelope = chance.choice(sent)
        sent.append(envelope)
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def _of_graphs(chance: Random) -> tuple[int, Command]:
    graph_id = chance.randrange(1, 30)
    tenant, project = chance.choice((("lab", "vision"), ("lab", None), ("firm", None)))
    own: dict[str, Any] = {"graph_id": graph_id, "tenant": tenant, "project": project}
    tasks, failed = chance.randrange(1, 500), chance.randrange(3)
    retried = NoteGraphTaskRetried(
        **own,
        task=chance.choice(("prep", "train[0]", "train[17]")),
        attempt=chance.randrange(1, 4),
        category=chance.choice(list(FailureCategory)),
        pause_ms=chance.choice((0, 10_000)),
        exit_code=chance.choice((None, 75)),
        reason=chance.choice((None, "folder_gone")),
        job_id=chance.choice((None, 12)),
    )
    submitted = NoteGraphSubmitted(**own, tasks=tasks, name=chance.choice((None, "nightly")))
    phase = chance.choice([each for each in GraphPhase if each.is_over])
    ended = NoteGraphEnded(**own, phase=phase, tasks=tasks, failed=failed)
    return graph_id, chance.choice([submitted, retried, ended])


def _execs() -> Campus:
    """What was run inside jobs, and copied in and out of them; some of it is told twice."""
    chance, campus = Random(77), Campus()
    for step in range(200):
        campus.now_ms += chance.choice((0, 1, 200, 4_000))
        command, key = _of_execs(chance), chance.choice((None, f"exec-{step // 2}"))
        envelope = Envelope(command, chance.choice(("ada", "ci-bot")), f"req-{step}", key)
        with suppress(BailiwickError):
            campus.lines += campus.kernel.execute(envelope, campus.now_ms).lines
    return campus


def _of_execs(chance: Random) -> Command:
    tenant, project = chance.choice((("lab", "vision"), ("lab", None), ("firm", None)))
    exec_id = f"{chance.randrange(40):08x}"
    own: dict[str, Any] = {"tenant": tenant, "project": project, "exec_id": exec_id}
    own["job_id"] = chance.randrange(1, 30)
    argv = chance.choice((("bash",), ("python3", "-c", "print(1)"), ()))
    started = NoteExecStarted(**own, lease_id=7, argv=argv, terminal=chance.random() < 0.5)
    end = chance.choice(list(ExecEnd))
    exit_code = chance.choice((0, 3)) if end is ExecEnd.EXITED else None
    signal = 9 if end is ExecEnd.SIGNALLED else None
    ended = NoteExecEnded(**own, end=end, exit_code=exit_code, signal=signal)
    direction, path = chance.choice(list(CopyDirection)), chance.choice(("out/a.txt", "."))
    copied = NoteFilesCopied(**own, direction=direction, path=path)
    return chance.choice([started, ended, copied])


def _apps() -> Campus:
    """Apps of the platform and of two tenants, lines about them, sources and artifacts."""
    chance, campus = Random(26), Campus()
    for tenant in ("lab", "firm"):
        campus.do(CreateTenant(tenant))
        campus.do(CreateProject(tenant, "vision"))
    for step in range(600):
        campus.now_ms += chance.choice((0, 1, 200, 4_000))
        command = chance.choice([_of_catalog, _of_lines, _of_artifacts])(chance)
        with suppress(BailiwickError):
            campus.do(command, f"actor-{step % 3}")
    return campus


def _of_catalog(chance: Random) -> Command:
    slug, tenant = chance.choice(("hello", "cluster")), chance.choice((None, "lab", "firm"))
    version = f"{chance.randrange(3)}.{chance.randrange(4)}.0"
    other = f"{chance.randrange(3)}.{chance.randrange(4)}.0"
    paths = ((other, version),) if other != version else ()
    shape, privileges = RoleShape(cpu_milli=500), chance.choice(list(Privilege))
    role = RoleSpec(count=(0, 9), shape=shape, artifact="service", privileges=privileges)
    found = hello(app=slug, version=version, upgrades=paths, roles={"worker": role})
    name = slug if tenant is None else f"{tenant}.{slug}"
    lifecycle = chance.choice(list(AppLifecycle))
    life = chance.choice((AppLifecycle.DRAFT, AppLifecycle.PUBLISHED, AppLifecycle.PUBLISHED))
    visibility = chance.choice(list(AppVisibility))
    return chance.choice(
        [
            PublishApp(found.canonical, tenant, visibility, life),
            ChangeApp(name, version, lifecycle),
            ChangeApp(name, version, host_granted=chance.random() < 0.7),
            ChangeApp(name, visibility=visibility, revision=chance.choice((None, 2))),
        ]
    )


def _of_lines(chance: Random) -> Command:
    axes = {
        PolicyAxis.REGIONS: ("east", "west"),
        PolicyAxis.VERSIONS: ("1.0.0", "1.1.0"),
        PolicyAxis.CHANNELS: ("dev", "prod"),
    }
    allow = {axis: words for axis, words in axes.items() if chance.random() < 0.3}
    deny = {axis: words[:1] for axis, words in axes.items() if chance.random() < 0.1}
    limits = {limit: chance.randrange(9) for limit in PolicyLimit if chance.random() < 0.3}
    where = chance.choice(((), ("lab",), ("lab", "vision"), ("firm", "vision")))
    app = chance.choice(("hello", "cluster", "lab.hello"))
    overlay = Overlay(allow, deny, limits)
    revision = chance.choice((None, None, 0, 1))
    tenant, project = [*where, None, None][:2]
    return SetEntitlement(app, chance.random() < 0.8, overlay, tenant, project, revision)


def _of_artifacts(chance: Random) -> Command:
    where = chance.choice(((), ("lab",), ("lab", "vision")))
    tenant, project = [*where, None, None][:2]
    digest, source = f"sha256:{chance.randrange(6):064x}", chance.choice(("main", "own"))
    kind = chance.choice(list(ArtifactKind))
    address = {"oci": "registry.example/apps", "blob": "https://store.example/apps"}[kind]
    keys = chance.choice(((), ("RW" + "Q" * 54,)))
    allowed = chance.random() < 0.9
    return chance.choice(
        [
            SetArtifactSource(source, kind, address, keys, allowed, tenant),
            RegisterArtifact(digest, kind, source, tenant, project),
            ChangeArtifact(digest, tenant, project, trust=chance.choice(list(ArtifactTrust))),
            ChangeArtifact(digest, tenant, project, trust=ArtifactTrust.VERIFIED),
            ChangeArtifact(
                digest, tenant, project, lifecycle=chance.choice(list(ArtifactLifecycle))
            ),
            ChangeArtifact(digest, tenant, project, channel=chance.choice(list(Channel))),
        ]
    )


MAKERS: dict[str, Callable[[], Campus]] = {
    "busy-18-firm": lambda: busy_journal(18, steps=400),
    "busy-22-executors-firm": lambda: busy_journal(22, steps=400, executors=3),
    "busy-16-guarded-firm": lambda: busy_journal(
        16,
        steps=400,
        executors=2,
        guarded=True,
        settings=wide_settings(min_run_ms=60_000, confirm_teardown=True),
    ),
    "money-14": _money,
    "people-20": _people,
    "apart-7": _apart,
    "graphs-17": _graphs,
    "execs-77": _execs,
    "apps-26": _apps,
    "instances-93": instances,
    "units-127": units_and_checks,
    "shared-119": shared_runtimes,
    "calls-116": calls,
    "shared-use-122": shared_use,
    "endpoints-125": endpoints,
    "homes-34": _homes,
    "credentials-35": _credentials,
    "labels-143": _labels,
    "cells-178": cells,
    "windows-183": _windows,
    "node-life-144": _node_life,
    "rebalance-31-firm": rebalances,
    "mig-147": mig_changes,
    "bookings-183": booked_nodes,
    "health-181": health,
}


def missing() -> Iterator[str]:
    """The histories that have a maker and no recording."""
    yield from (name for name in MAKERS if name not in names())


if __name__ == "__main__":
    for each in list(missing()):
        write(each, MAKERS[each])
        print(f"recorded {each}")
