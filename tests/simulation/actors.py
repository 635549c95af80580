"""Who talks to the cluster and what they say: tenants, node agents, operators, and liars.

Everything is drawn from the world's one source of chance. Leases and nodes are picked from what is
really there most of the time, and are made up or somebody else's for the rest.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.resources import Resources
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel.bookings.commands import Book, CancelBooking
from bailiwick.kernel.commands import Command
from bailiwick.kernel.fleet.commands import (
    ChangeMode,
    ChangeSettings,
    DepartNode,
    EndNote,
    NoteNode,
    OpenNode,
    RebalanceQuota,
    RegisterNode,
    SetQuota,
    SetShare,
)
from bailiwick.kernel.health.commands import BeginTest, ReportHealth, ReportTest
from bailiwick.kernel.isolation.commands import ScrubDomain, SetIsolationPolicy
from bailiwick.kernel.mig.commands import CancelMig, ChangeMig, ReportMig
from bailiwick.kernel.settings import Settings
from bailiwick.kernel.trust import commands as tc
from bailiwick.kernel.trust.commands import LiftQuarantine, Quarantine
from bailiwick.kernel.work.commands import (
    Cancel,
    ClearFence,
    Evict,
    Release,
    Renew,
    ReportCheckpoint,
    ReportTeardown,
    Submit,
)
from bailiwick.scheduler.quota_policy import (
    BurstCredit,
    GpuGenerationQuota,
    Quota,
    ResourceLimit,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.health import HealthCheck, HealthFinding, HealthLevel
from bailiwick.vocab.mig import MigFailure
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.trust import EvidenceKind, Operation, UntrustedReason
from bailiwick.vocab.values import GIB
from bailiwick.vocab.words import (
    Dimension,
    DomainKind,
    Exclusivity,
    HardwareGeneration,
    LeaseClass,
    PreemptionReason,
    Priority,
    Strategy,
)
from tests.simulation.clock import EPOCH_MS
from tests.simulation.model import Model
from tests.support.forbidden_work import small_policy
from tests.support.wide_open import WIDE

TENANTS = ("acme", "lab", "zoo", "fenced")
"""One bears the name under which fenced holds are shown: it must not be mistaken for them."""

GENERATIONS = (HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_AMPERE)
_UNTRUSTED = AttestationWord.UNTRUSTED
_REASONS = tuple(PreemptionReason)
_OPERATOR_REASONS = tuple(r for r in _REASONS if not r.spares_guaranteed)


@dataclass(frozen=True, slots=True)
class Said:
    """A command and who sends it."""

    actor: str
    command: Command


def settings_of(rng: Random) -> Settings:
    """Settings of a cluster in which everything happens within seconds."""
    strategy = rng.choice(tuple(Strategy))
    weights = (300, 200, 400, 100) if strategy is Strategy.WEIGHTED else None
    headroom = Resources(rng.choice((0, 8_000)), 0, 0, rng.choice((0, 1_000)))
    ceilings = {"waiting_max": rng.choice((2, 1_000))} if rng.random() < 0.2 else WIDE
    return Settings(
        **ceilings,
        strategy=strategy,
        weights=weights,
        headroom=headroom,
        headroom_priority=rng.choice((Priority.HIGH, Priority.CRITICAL)),
        preempt_from=rng.choice((Priority.NORMAL, Priority.HIGH, Priority.CRITICAL)),
        grace_ms=rng.choice((0, 0, 400, 3_000)),
        confirm_teardown=rng.random() < 0.4,
        teardown_ms=rng.choice((300, 2_000)),
        min_run_ms=rng.choice((0, 0, 1_000)),
        max_cascade_depth=rng.choice((1, 3)),
        fresh_checkpoint_ms=2_000,
        patience_ms=rng.choice((500, 5_000)),
        rebalance_ms=rng.choice((0, 300, 2_000)),
        test_wait_ms=rng.choice((10_000, 600_000)),
        test_every_ms=rng.choice((0, 60_000)),
        horizon_ms=rng.choice((2_000, 60_000)),
        queue_max=rng.choice((3, 12, 100_000)),
        keys_ms=rng.choice((3_000, 86_400_000, 86_400_000)),
        keys_max=rng.choice((4, 1_000_000, 1_000_000)),
    )


class Actors:
    """What is said next."""

    def __init__(
        self, rng: Random, model: Model, now: Callable[[], int], *, apart: bool = False
    ) -> None:
        self._rng, self._model, self._now = rng, model, now
        self._nodes = [f"node-{n}" for n in range(rng.randrange(2, 9))]
        self._kinds: tuple[tuple[Callable[[], Said], int], ...] = (
            (self._submit, rng.choice((20, 40, 60))),
            (self._holder, 14),
            (self._agent, rng.choice((6, 12))),
            (self._executor, rng.choice((2, 10))),
            (self._operator, rng.choice((2, 6, 12))),
            (self._liar, rng.choice((1, 4))),
            (self._attest, rng.choice((0, 4, 12))),
            (self._book, rng.choice((0, 8))),
        )
        if apart:
            self._kinds += ((self._keep_apart, rng.choice((5, 15))),)

    def first(self) -> list[Said]:
        """How a cluster begins: some nodes are there, some tenants have quotas."""
        joined = [Said(f"agent:{n}", RegisterNode(n, self._inventory())) for n in self._nodes]
        return joined + [self._set_quota() for _ in range(self._rng.randrange(4))]

    def next(self) -> Said:
        """One more command from somebody."""
        kinds, weights = zip(*self._kinds, strict=True)
        return self._rng.choices(kinds, weights)[0]()

    # -- tenants -------------------------------------------------------------------------------

    def _submit(self) -> Said:
        rng = self._rng
        tenant = rng.choice(TENANTS)
        terms: dict[str, Any] = {
            "tenant": tenant,
            "project": rng.choice((None, "p", "q")),
            "cpu_cores": rng.choice((1, 2, 4, 0.5, 16)),
            "mem_bytes": rng.choice((0, GIB, 8 * GIB, 50 * GIB)),
            "block_bytes": rng.choice((0, 0, 10 * GIB)),
            "priority": rng.choice(tuple(Priority)),
            "lease_class": rng.choice((*LeaseClass, LeaseClass.STANDARD)),
            "gang_size": rng.choice((1, 1, 1, 1, 2, 3, 5)),
            "ttl_ms": rng.choice((300, 2_000, 8_000, 60_000, 3_600_000)),
        }
        if rng.random() < 0.6:
            terms |= self._devices()
        if rng.random() < 0.15:
            wishes = ({"zone": "a"}, {"zone": "b"}, {"attested.tpm2.boot": "secure"})
            terms["labels"] = rng.choice(wishes)
        if rng.random() < 0.15:
            terms["deadline_ms"] = EPOCH_MS + self._now() + rng.randrange(-500, 6_000)
        if rng.random() < 0.1:
            terms["tag"] = "tag-1"
        request = PlacementRequest(**terms)
        return Said(f"user:{tenant}", Submit(request, wait=rng.random() < 0.7))

    def _devices(self) -> dict[str, Any]:
        rng = self._rng
        if rng.random() < 0.5:
            terms: dict[str, Any] = {"gpu_milli": rng.choice((250, 500, 700))}
            terms["exclusivity"] = rng.choice((None, None, *Exclusivity))
        else:
            terms = {"gpu_count": rng.choice((1, 1, 2, 4))}
        if rng.random() < 0.5:
            terms["generation"] = rng.choice(GENERATIONS)
        if rng.random() < 0.2:
            terms["gpu_vram"] = rng.choice((10, 60)) * GIB
        return terms

    def _holder(self) -> Said:
        """The holder of a lease, or of a place in the queue."""
        rng, model = self._rng, self._model
        if model.waiting and rng.random() < 0.2:
            entry = rng.choice(list(model.waiting))
            return Said(f"user:{model.waiting[entry][0]}", Cancel(entry))
        if not model.leases:
            return self._submit()
        lease_id = rng.choice(list(model.leases))
        actor = f"user:{model.leases[lease_id].scope[0]}"
        pick = rng.randrange(4)
        if pick == 0:
            generation = rng.choice((None, None, 1, 2))
            ttl_ms = rng.choice((500, 5_000, 60_000))
            return Said(actor, Renew(lease_id, ttl_ms, generation))
        if pick == 1:
            return Said(actor, ReportCheckpoint(lease_id))
        return Said(actor, Release(lease_id))

    # -- machines ------------------------------------------------------------------------------

    def _inventory(self) -> NodeCapacity:
        rng = self._rng
        count = rng.choice((0, 1, 2, 4, 8))
        mixed = rng.random() < 0.2
        first = rng.choice(GENERATIONS)
        gpus = tuple(
            GpuDevice(
                rng.choice(GENERATIONS) if mixed else first,
                rng.choice((40, 80)) * GIB,
                partitionable=rng.random() < 0.5,
            )
            for _ in range(count)
        )
        labels = {"zone": rng.choice(("a", "b"))} if rng.random() < 0.5 else {}
        cores, mem = rng.choice((4, 16, 64)), rng.choice((16, 128)) * GIB
        return NodeCapacity(cores, mem, rng.choice((0, 50 * GIB)), gpus, labels=labels)

    def _agent(self) -> Said:
        """A machine goes, comes back (maybe as another), or says twice that it is there."""
        rng = self._rng
        node = rng.choice(self._nodes)
        actor = f"agent:{node}"
        if node in self._model.nodes and rng.random() < 0.8:
            seen = rng.choice((None, EPOCH_MS + self._now()))
            return Said(actor, DepartNode(node, seen))
        return Said(actor, RegisterNode(node, self._inventory()))

    def _executor(self) -> Said:
        tearing = ("forced_teardown", "checkpoint_reported", "expired")
        due = [i for i, lease in self._model.leases.items() if lease.phase in tearing]
        if not due:
            return self._holder()
        clean = self._rng.random() < 0.7
        return Said("executor", ReportTeardown(self._rng.choice(due), clean))

    def _liar(self) -> Said:
        """Somebody says what is not so: of leases that are others', unknown, or not going."""
        rng, model = self._rng, self._model
        made_up = rng.randrange(1, model.lease_serial + 20)
        lease_id = rng.choice([*model.leases, made_up])
        lie = rng.choice(
            (
                Release(made_up),
                ReportTeardown(lease_id, rng.random() < 0.5),
                ReportCheckpoint(made_up),
                ClearFence(lease_id),
                Renew(lease_id, 2**40, 7),
                Cancel(made_up),
                DepartNode("node-nowhere"),
                RegisterNode(rng.choice(self._nodes), self._inventory()),
                LiftQuarantine(rng.choice(self._nodes)),
            )
        )
        return Said("agent:liar", lie)

    # -- trust -----------------------------------------------------------------------------------

    def _attest(self) -> Said:
        """Somebody asks for proof, a node gives some, good or bad, or a token is asked for."""
        rng, model = self._rng, self._model
        pick, node = rng.randrange(10), rng.choice(self._nodes)
        kind = rng.choice((EvidenceKind.TPM2, EvidenceKind.GPU_CC))
        if pick == 0:
            return Said("operator", tc.SetTrustPolicy(self._policy()))
        if pick == 1:
            identity = f"{rng.randrange(6):064x}"
            return Said("operator", tc.EnrolNode(node, kind, {"key": "ab"}, identity))
        if pick == 2:
            return Said("operator", tc.WithdrawEnrolment(node, kind))
        if pick == 3 and model.leases:
            lease_id = rng.choice([*model.leases, model.lease_serial + 1])
            operations = rng.choice(((), (Operation.MEM_READ,)))
            ttl_ms, tenant = rng.choice((1_000, 300_000, 400_000)), rng.choice(TENANTS)
            token = f"t-{rng.randrange(10**6)}"
            asked = tc.GrantToken(lease_id, tenant, token, operations, None, ttl_ms)
            return Said(f"user:{tenant}", asked)
        if pick == 4:
            return Said("operator", LiftQuarantine(node, override=True, note="seen by eye"))
        evidence = f"{rng.randrange(2**64):064x}"
        if pick == 5:
            word = rng.choice((_UNTRUSTED, AttestationWord.UNSUPPORTED, AttestationWord.STALE))
            why = UntrustedReason.PCR_POLICY if word is _UNTRUSTED else None
            return Said("gate", tc.RecordVerdict(node, kind, word, evidence, why))
        until = EPOCH_MS + self._now() + rng.choice((100, 2_000, 60_000))
        word, claims = AttestationWord.TRUSTED, {"boot": rng.choice(("secure", "measured"))}
        return Said("gate", tc.RecordVerdict(node, kind, word, evidence, None, until, claims))

    def _policy(self) -> str:
        rng = self._rng
        pool = {
            "nodes": [rng.choice(("node-*", "node-1", "node-*2"))],
            "require": rng.choice(("tpm2", "tpm2 and gpu_cc", "tpm2 or gpu_cc")),
            "max_age_s": 10,
            "stale_grace_s": rng.choice((0, 1, 5)),
        }
        return json.dumps({"pools": {"p": pool} if rng.random() < 0.7 else {}})

    # -- isolation -------------------------------------------------------------------------------

    def _keep_apart(self) -> Said:
        """A policy is set, changed or lifted, a host is cleaned, a node goes to be relabelled."""
        rng, node = self._rng, self._rng.choice(self._nodes)
        pick = rng.randrange(6)
        if pick == 0:
            return Said("operator", ScrubDomain(DomainKind.HOST, node))
        if pick == 1 and node in self._model.nodes:
            return Said(f"agent:{node}", DepartNode(node))
        if pick <= 2:
            return Said(f"agent:{node}", RegisterNode(node, self._inventory()))
        return Said("operator", SetIsolationPolicy(small_policy(rng, TENANTS)))

    # -- operators -----------------------------------------------------------------------------

    def _operator(self) -> Said:
        rng, model = self._rng, self._model
        node = rng.choice(self._nodes)
        grace = rng.choice((None, 0, 1_000))
        fences = [i for i, lease in model.leases.items() if lease.phase == "fenced"]
        pick = rng.randrange(8)
        if pick == 0:
            mode, reason = self._next_mode(node), rng.choice(_OPERATOR_REASONS)
            return Said("operator", ChangeMode(node, mode, reason, grace))
        if pick == 1:
            return Said("operator", Quarantine(node, "attestation-failed", grace))
        if pick == 2:
            return Said("operator", LiftQuarantine(node))
        if pick == 3:
            return self._set_quota()
        if pick == 4:
            return Said("operator", ChangeSettings(settings_of(rng)))
        if pick == 5 and fences:
            return Said("operator", ClearFence(rng.choice(fences)))
        if pick == 6 and model.leases:
            ids = rng.sample(list(model.leases), min(len(model.leases), rng.randrange(1, 4)))
            return Said("operator", Evict(tuple(ids), rng.choice(_REASONS), grace))
        if rng.random() < 0.6:
            return self._tend(node)
        return Said("operator", SetShare(rng.choice(TENANTS), rng.randrange(1, 10)))

    def _book(self) -> Said:
        """Nodes are booked for a project, or a booking is called off."""
        rng, node = self._rng, self._rng.choice(self._nodes)
        name, known = f"b{rng.randrange(8)}", sorted(self._model.bookings.bookings)
        if known and rng.random() < 0.15:
            tenant, project, name = rng.choice(known).split("/")
            return Said("operator", CancelBooking(name, tenant, project))
        now = max(EPOCH_MS + self._now(), self._model.clock_ms)
        starts = now + rng.choice((2_000, 10_000, 60_000))
        times = starts, starts + rng.choice((3_000, 20_000, 60_000))
        asked = rng.choice(({"nodes": (node,)}, {"count": 1}, {"gpus": rng.randrange(1, 6)}))
        wait_ms = rng.choice((0, 300, 1_500))
        whose = rng.choice(TENANTS), rng.choice(("p", "q"))
        return Said("operator", Book(name, *whose, *times, **asked, wait_ms=wait_ms))

    def _tend(self, node: str) -> Said:
        """A node is cordoned, opened again, or written about."""
        pick = self._rng.randrange(9)
        if pick == 0:
            return Said("operator", ChangeMode(node, NodeMode.CORDONED))
        if pick > 5:
            return self._nurse(node)
        if pick > 3:
            return self._divide(node)
        return Said("operator", OpenNode(node)) if pick == 1 else self._note(node)

    def _divide(self, node: str) -> Said:
        """A node is repartitioned, its agent answers, or it is called off."""
        rng, migs = self._rng, self._model.migs
        if not migs or rng.random() < 0.3:
            wanted = rng.choice(((), ("3g.71gb", "4g.71gb")))
            return Said("operator", ChangeMig(node, (0,), wanted, rng.choice((None, 0)), 60_000))
        of = rng.choice(list(migs))
        if rng.random() < 0.2:
            return Said("operator", CancelMig(of))
        cause = rng.choice((None, None, MigFailure.IN_USE))
        return Said("operator", ReportMig(of, migs[of], cause))

    def _nurse(self, node: str) -> Said:
        """A node's agent tells what it found, or how its test went; somebody has one tested."""
        rng, tests = self._rng, self._model.tests
        level = rng.choice((HealthLevel.WARN, HealthLevel.FAIL))
        found = (HealthFinding(rng.choice(tuple(HealthCheck)), level, value=rng.randrange(9)),)
        told = rng.choice(((), (), found))
        if tests and rng.random() < 0.6:
            of = rng.choice(list(tests))
            return Said("operator", ReportTest(of, tests[of], told, 1_000))
        if rng.random() < 0.2:
            return Said("operator", BeginTest(node))
        return Said("operator", ReportHealth(node, told, rng.random() < 0.7))

    def _note(self, node: str) -> Said:
        """One more note, or one less."""
        rng, notes = self._rng, list(self._model.notes)
        if notes and rng.random() < 0.4:
            return Said("operator", EndNote(*rng.choice(notes)))
        ttl_ms = rng.choice((1, 2_000, 60_000))
        return Said("operator", NoteNode(node, "the fan is loud", "operator", ttl_ms))

    def _next_mode(self, node: str) -> NodeMode:
        """Mostly the way back to work, so that nodes do not stay closed."""
        machine = self._model.nodes.get(node)
        if machine is None or self._rng.random() < 0.2:
            return self._rng.choice(tuple(NodeMode))
        onward = {"drained": NodeMode.RETURNING, "maintenance": NodeMode.RETURNING}
        onward |= {"returning": NodeMode.ACCEPTING, "fence_lost": NodeMode.MAINTENANCE}
        return onward.get(machine.mode, NodeMode.DRAINING)

    def _set_quota(self) -> Said:
        rng = self._rng
        limits = [ResourceLimit.gpu_count(rng.randrange(0, 8))]
        if rng.random() < 0.5:
            limits.append(ResourceLimit.cpu_cores(rng.choice((4, 30, 100))))
        if rng.random() < 0.3:
            limits.append(ResourceLimit.lease_count(rng.randrange(1, 10)))
        burst = None
        if rng.random() < 0.5:
            burst = BurstCredit(
                Dimension.GPU_COUNT, rng.choice((500, 20_000)), rng.choice((0, 100)), 3_000
            )
        table = ()
        if rng.random() < 0.3:
            table = tuple(GpuGenerationQuota(g, rng.randrange(0, 6)) for g in GENERATIONS)
        quota = Quota(tuple(limits), table, burst) if rng.random() < 0.9 else Quota()
        tenant, project = rng.choice(TENANTS), rng.choice((None, None, "p"))
        if rng.random() < 0.3:
            return Said("operator", RebalanceQuota(tenant, project, rng.choice((None, 0, 400))))
        return Said("operator", SetQuota(tenant, quota, project))
