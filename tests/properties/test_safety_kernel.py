"""Nothing bad ever happens in the kernel, whatever it is told: histories against a naive fold."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hypothesis import settings as profile
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import LIST_PRICES
from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.resources import Resources
from bailiwick.fleet.topology import CacheDomain, NodeTopology
from bailiwick.journal import Verified, parse_record, verify_lines
from bailiwick.journal.anchor import GENESIS
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel import (
    Cancel,
    ChangeMode,
    ChangeSettings,
    ClearFence,
    Command,
    DepartNode,
    Elect,
    EndNote,
    EnrolNode,
    Envelope,
    Evict,
    GrantToken,
    Kernel,
    LiftQuarantine,
    NoteNode,
    OpenNode,
    Quarantine,
    RecordVerdict,
    RegisterNode,
    Release,
    RemoveBudget,
    Renew,
    ReportCheckpoint,
    ReportTeardown,
    SetBudget,
    SetQuota,
    SetRateCard,
    SetShare,
    Settings,
    SetTrustPolicy,
    State,
    Submit,
    Tick,
    WithdrawEnrolment,
    decode,
    decode_command,
    digest_of,
    encode,
    encode_command,
)
from bailiwick.scheduler.quota_policy import BurstCredit, GpuGenerationQuota, Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import (
    Conflict,
    IllegalTransition,
    LimitReached,
    NotFound,
    Stale,
)
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.trust import EvidenceKind, Operation, UntrustedReason
from bailiwick.vocab.words import (
    Dimension,
    Exclusivity,
    HardwareGeneration,
    LeaseClass,
    PreemptionReason,
    Priority,
    Strategy,
)
from tests.support.naive_kernel import NaiveKernel
from tests.support.wide_open import wide_settings

KINDS = [EvidenceKind.TPM2, EvidenceKind.TPM2, EvidenceKind.GPU_CC, EvidenceKind.NITRO]
HOPPER, AMPERE = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_AMPERE
ERRORS = (Conflict, IllegalTransition, LimitReached, NotFound, Stale)

# Small numbers everywhere, so that requests get in each other's way.

machines = st.builds(
    lambda cores, families, rack, more, caches: NodeCapacity(
        cores,
        8,
        8,
        gpus=tuple(GpuDevice(f, 8, fabric=f"f{i // 2}") for i, f in enumerate(families)),
        labels={"rack": rack} | more,
        topology=NodeTopology((CacheDomain(3_000),) * caches),
    ),
    st.integers(1, 6),
    st.lists(st.sampled_from([HOPPER, HOPPER, AMPERE]), max_size=3),
    st.sampled_from(["a", "b"]),
    st.sampled_from([{}, {}, {"executor": "local"}]),
    st.sampled_from([0, 2, 3]),
)
terms = st.sampled_from(
    [
        {"cpu_cores": 1},
        {"cpu_cores": 3, "mem_bytes": 3},
        {"cpu_cores": 1, "gpu_count": 1},
        {"cpu_cores": 0.5, "block_bytes": 5},
        {"gpu_count": 2},
        {"gpu_count": 1, "generation": AMPERE},
        {"gpu_milli": 400, "cpu_cores": 1},
        {"gpu_milli": 600, "generation": HOPPER},
        {"gpu_milli": 200, "exclusivity": Exclusivity.SESSION_EXCLUSIVE, "gpu_vram": 4},
    ]
)
wishes = st.sampled_from([{}, {}, {}, {}, {"rack": "a"}, {"attested.tpm2.mode": "secure"}])
requests = st.builds(
    lambda wanted, labels, **others: PlacementRequest(**wanted, **others, labels=labels),
    terms,
    wishes,
    tenant=st.sampled_from(["a", "b", "c"]),
    project=st.sampled_from([None, None, "p", "q"]),
    tag=st.sampled_from([None, None, "t"]),
    gang_size=st.sampled_from([1, 1, 1, 2, 3]),
    ttl_ms=st.sampled_from([1, 20, 40, 500]),
    priority=st.sampled_from(list(Priority)),
    lease_class=st.sampled_from(list(LeaseClass)),
    deadline_ms=st.sampled_from([None, None, None, 60, 300]),
    preemptible_on_budget=st.booleans(),
    job_labels=st.sampled_from([{}, {}, {"team": "red"}]),
)
limits = st.dictionaries(st.sampled_from(list(Dimension)), st.integers(0, 4), max_size=2)
scales = {Dimension.CPU_MILLI: 1000, Dimension.MEM_BYTES: 2, Dimension.BLOCK_BYTES: 3}


@st.composite
def quotas(draw: st.DrawFn) -> Quota:
    """Limits that bite, sometimes with burst credit or a table of generations."""
    chosen = draw(limits)
    table = draw(st.sampled_from([(), (), (GpuGenerationQuota(HOPPER, 2),)]))
    rows = tuple(ResourceLimit(d, n * scales.get(d, 1)) for d, n in chosen.items())
    burst = None
    if chosen and draw(st.booleans()):
        dimension = sorted(chosen)[0]
        most = draw(st.sampled_from([1, 1000, 3000]))
        burst = BurstCredit(dimension, draw(st.integers(1, 30)), draw(st.integers(0, 2)), most)
    return Quota(rows, table, burst)


rules = st.builds(
    wide_settings,
    waiting_max=st.sampled_from([2, 1_000]),
    priority_max=st.sampled_from([Priority.CRITICAL, Priority.CRITICAL, Priority.HIGH]),
    strategy=st.sampled_from([s for s in Strategy if s is not Strategy.WEIGHTED]),
    headroom=st.sampled_from([Resources(), Resources(), Resources(cpu_milli=1000)]),
    preempt_from=st.sampled_from([Priority.LOW, Priority.HIGH]),
    grace_ms=st.sampled_from([0, 0, 5, 30]),
    confirm_teardown=st.booleans(),
    teardown_ms=st.sampled_from([1, 15]),
    min_run_ms=st.sampled_from([0, 10]),
    max_cascade_depth=st.sampled_from([0, 3]),
    fresh_checkpoint_ms=st.just(10),
    half_life_ms=st.just(50),
    patience_ms=st.sampled_from([20, 10**6]),
    horizon_ms=st.sampled_from([10, 1000]),
    queue_max=st.sampled_from([2, 100]),
    keys_ms=st.sampled_from([30, 1000]),
    keys_max=st.sampled_from([2, 100]),
)
small = st.integers(0, 30)
graces = st.sampled_from([None, None, 0, 10])


class Told(Kernel):
    """A kernel that writes down what its state was before each record."""

    def __init__(self, state: State, *, simulated: bool) -> None:
        super().__init__(state, simulated=simulated)
        self.digests: dict[int, str] = {}

    def _seal(self, *args: Any, **kwargs: Any) -> bytes:
        self.digests[self.state.size] = digest_of(self.state)
        return super()._seal(*args, **kwargs)


class KernelMachine(RuleBasedStateMachine):
    """Commands at random; after each, the naive fold, a twin from a snapshot, and the errors."""

    @initialize(
        engine=st.sampled_from(["auto", "pure"]),
        fleet=st.lists(machines, min_size=1, max_size=3),
        chosen=rules,
    )
    def begin(self, engine: str, fleet: list[NodeCapacity], chosen: Settings) -> None:
        self.engine = engine
        self.kernel = Told(State(engine=engine), simulated=True)
        self.naive = NaiveKernel()
        self.twin: Kernel | None = None
        self.lines: list[bytes] = []
        self.now_ms = 0
        self.names = 0
        self.tell(ChangeSettings(chosen))
        for capacity in fleet:
            self.join(capacity)

    # -- telling it --------------------------------------------------------------------------

    def tell(self, command: Command, key: str | None = None) -> None:
        state = self.kernel.state
        before, size = digest_of(state), state.size
        watched = self.under_executors()
        command = decode_command(encode_command(command))
        try:
            outcome = self.kernel.execute(Envelope(command, "ann", "c", key), self.now_ms)
        except ERRORS:
            assert (digest_of(state), state.size) == (before, size)
            return
        if key is not None and outcome.lines:
            again = self.kernel.execute(Envelope(command, "ann", "c", key), self.now_ms)
            assert (again.answer, again.lines) == (outcome.answer, ())
        self.take(outcome.lines)
        if not isinstance(command, ReportTeardown | ClearFence | DepartNode):
            assert watched <= set(state.leases), "freed, though nobody said that it is free"

    def under_executors(self) -> set[int]:
        """The leases on nodes where something of ours may still run."""
        state = self.kernel.state
        nodes = (state.ledger.entry(node) for node in state.ledger.entries)
        names = [str(entry.id) for entry in nodes if "executor" in entry.capacity.labels]
        return {lease_id for name in names for lease_id in state.leases_on(name)}

    def take(self, lines: tuple[bytes, ...]) -> None:
        records = [parse_record(line[:-1]) for line in lines]
        for record in records:
            self.naive.read(record)
        self.naive.compare(self.kernel.state)
        self.lines.extend(lines)
        if self.twin is not None:
            self.twin.follow(records, self.kernel.chain.anchor())
            assert digest_of(self.twin.state) == digest_of(self.kernel.state)

    def lease(self, pick: int) -> int:
        """A lease there is, mostly; sometimes one that ended or never was."""
        ids = list(self.kernel.state.leases)
        return ids[pick % len(ids)] if ids and pick < 28 else pick + 1

    def node(self, pick: int) -> str:
        names = list(self.kernel.state.ledger.entries)
        return str(names[pick % len(names)]) if names and pick < 28 else "nowhere"

    # -- the rules ---------------------------------------------------------------------------

    @rule(passed=st.sampled_from([-5, 0, 1, 5, 20, 60, 1100]))
    def time_passes(self, passed: int) -> None:
        self.now_ms = max(0, self.now_ms + passed)

    @rule(passed=st.sampled_from([0, 1, 10, 40]), limit=st.sampled_from([2, 3, 1000]))
    def tick(self, passed: int, limit: int) -> None:
        self.now_ms += passed
        self.tell(Tick(limit))

    @rule(request=requests, wait=st.booleans(), key=st.sampled_from([None, None, "k", "l", "m"]))
    def submit(self, request: PlacementRequest, wait: bool, key: str | None) -> None:
        self.tell(Submit(request, wait), key)

    @rule(request=requests)
    def submit_and_wait(self, request: PlacementRequest) -> None:
        self.tell(Submit(request))

    @rule(pick=small, key=st.sampled_from([None, "k", "t"]))
    def cancel(self, pick: int, key: str | None) -> None:
        ids = list(self.kernel.state.line.entries)
        self.tell(Cancel(ids[pick % len(ids)] if ids and pick < 28 else pick + 1), key)

    @rule(key=st.sampled_from(["k", "t", "u"]))
    def tick_with_a_key(self, key: str) -> None:
        self.tell(Tick(), key)

    @rule(pick=small, ttl_ms=st.sampled_from([1, 30]), generation=st.sampled_from([None, 1, 2]))
    def renew(self, pick: int, ttl_ms: int, generation: int | None) -> None:
        self.tell(Renew(self.lease(pick), ttl_ms, generation))

    @rule(pick=small)
    def release(self, pick: int) -> None:
        self.tell(Release(self.lease(pick)))

    @rule(pick=small)
    def report_checkpoint(self, pick: int) -> None:
        self.tell(ReportCheckpoint(self.lease(pick)))

    @rule(pick=small, clean=st.booleans())
    def report_teardown(self, pick: int, clean: bool) -> None:
        self.tell(ReportTeardown(self.lease(pick), clean))

    @rule(
        picks=st.lists(small, min_size=1, max_size=3),
        reason=st.sampled_from(list(PreemptionReason)),
        grace_ms=graces,
    )
    def evict(self, picks: list[int], reason: PreemptionReason, grace_ms: int | None) -> None:
        self.tell(Evict(tuple({self.lease(pick) for pick in picks}), reason, grace_ms))

    @rule(pick=small)
    def clear_fence(self, pick: int) -> None:
        fenced = list(self.kernel.state.fenced)
        self.tell(ClearFence(fenced[pick % len(fenced)] if fenced else self.lease(pick)))

    @precondition(lambda self: len(self.kernel.state.ledger) < 5)
    @rule(capacity=machines)
    def join(self, capacity: NodeCapacity) -> None:
        self.names += 1
        self.tell(RegisterNode(f"n{self.names}", capacity))

    @precondition(lambda self: len(self.kernel.state.ledger) > 1)
    @rule(pick=small)
    def depart(self, pick: int) -> None:
        self.tell(DepartNode(self.node(pick), self.now_ms))

    @rule(
        pick=small,
        mode=st.sampled_from(list(NodeMode)),
        reason=st.sampled_from(
            [PreemptionReason.OPERATOR_DRAIN, PreemptionReason.MAINTENANCE_WINDOW]
        ),
        grace_ms=graces,
    )
    def change_mode(
        self, pick: int, mode: NodeMode, reason: PreemptionReason, grace_ms: int | None
    ) -> None:
        self.tell(ChangeMode(self.node(pick), mode, reason, grace_ms))

    @rule(pick=small, drains=st.booleans())
    def cordon(self, pick: int, *, drains: bool) -> None:
        state, node = self.kernel.state, self.node(pick)
        before = {lease_id: state.phase(lease_id) for lease_id in state.leases}
        if drains:
            self.tell(ChangeMode(node, NodeMode.DRAINING, evict=False))
        else:
            self.tell(ChangeMode(node, NodeMode.CORDONED))
        assert {lease_id: state.phase(lease_id) for lease_id in state.leases} == before

    @rule(pick=small)
    def open_node(self, pick: int) -> None:
        self.tell(OpenNode(self.node(pick)))

    @rule(pick=small, ttl_ms=st.sampled_from((1, 500, 5_000)))
    def note_node(self, pick: int, ttl_ms: int) -> None:
        self.tell(NoteNode(self.node(pick), "the fan is loud", "op", ttl_ms))

    @rule(pick=small)
    def end_note(self, pick: int) -> None:
        for note_id in list(self.kernel.state.notes.of(self.node(pick)))[:1]:
            self.tell(EndNote(self.node(pick), note_id))

    @rule(pick=small, grace_ms=graces)
    def quarantine(self, pick: int, grace_ms: int | None) -> None:
        self.tell(Quarantine(self.node(pick), "odd", grace_ms))

    @rule(pick=small)
    def lift(self, pick: int) -> None:
        self.tell(LiftQuarantine(self.node(pick)))

    # -- trust -------------------------------------------------------------------------------

    @rule(pick=small, note=st.sampled_from(["", "seen by eye"]))
    def lift_by_word(self, pick: int, note: str) -> None:
        self.tell(LiftQuarantine(self.node(pick), override=bool(note), note=note))

    @rule(pick=st.integers(1, 6))
    def lift_by_name(self, pick: int) -> None:
        """Of a node that may have departed."""
        self.tell(LiftQuarantine(f"n{pick}", override=True, note="gone for good"))

    @precondition(lambda self: len(self.kernel.state.ledger) < 5)
    @rule(pick=st.integers(1, 6), capacity=machines)
    def come_back(self, pick: int, capacity: NodeCapacity) -> None:
        self.tell(RegisterNode(f"n{pick}", capacity))

    @rule(
        pattern=st.sampled_from(["*", "n1", "n*2", "m*"]),
        require=st.sampled_from(["tpm2", "tpm2 and gpu_cc", "tpm2 or nitro"]),
        grace_s=st.sampled_from([0, 0, 1]),
    )
    def ask_for_proof(self, pattern: str, require: str, grace_s: int) -> None:
        pool = {"nodes": [pattern], "require": require, "stale_grace_s": grace_s, "max_age_s": 10}
        self.tell(SetTrustPolicy(json.dumps({"pools": {"p": pool}})))

    @rule()
    def ask_for_nothing(self) -> None:
        self.tell(SetTrustPolicy('{"pools": {}}'))

    @rule(
        pick=small, kind=st.sampled_from(KINDS), life_ms=st.sampled_from([-1, 0, 30, 2000, 10**6])
    )
    def trust(self, pick: int, kind: EvidenceKind, life_ms: int) -> None:
        until = max(0, self.now_ms + life_ms)
        claims = {"mode": "secure", "boots": str(self.now_ms)}
        node, word = self.node(pick), AttestationWord.TRUSTED
        digest = f"{self.now_ms:064x}"
        self.tell(RecordVerdict(node, kind, word, digest, None, until, claims))

    @rule(
        pick=small,
        kind=st.sampled_from(KINDS),
        word=st.sampled_from([w for w in AttestationWord if w is not AttestationWord.TRUSTED]),
    )
    def distrust(self, pick: int, kind: EvidenceKind, word: AttestationWord) -> None:
        bad = UntrustedReason.PCR_POLICY if word is AttestationWord.UNTRUSTED else None
        self.tell(RecordVerdict(self.node(pick), kind, word, "ab" * 32, bad))

    @rule(pick=st.integers(1, 4), kind=st.sampled_from(KINDS), who=st.integers(0, 3))
    def enrol(self, pick: int, kind: EvidenceKind, who: int) -> None:
        keys = {"public_key": f"{who:02x}" * 32} | ({"capability_key": "01" * 32} if who else {})
        self.tell(EnrolNode(f"n{pick}", kind, keys, f"{who:064x}"))

    @rule(pick=st.integers(1, 4), kind=st.sampled_from(KINDS))
    def withdraw(self, pick: int, kind: EvidenceKind) -> None:
        self.tell(WithdrawEnrolment(f"n{pick}", kind))

    @rule(
        pick=small,
        tenant=st.sampled_from(["a", "b", "c"]),
        operations=st.sampled_from([(), (Operation.MEM_READ,), tuple(Operation)]),
        audience=st.sampled_from([None, None, "n1"]),
        ttl_ms=st.sampled_from([1, 300_000, 300_001]),
        generation=st.sampled_from([None, 1, 2]),
        key=st.sampled_from([None, "k", "t"]),
        by_node=st.booleans(),
    )
    def grant_token(self, pick: int, key: str | None, **terms: Any) -> None:
        self.tell(GrantToken(lease_id=self.lease(pick), token_id="t-1", **terms), key)

    @rule(tenant=st.sampled_from(["a", "b"]), project=st.sampled_from([None, "p"]), quota=quotas())
    def set_quota(self, tenant: str, project: str | None, quota: Quota) -> None:
        self.tell(SetQuota(tenant, quota, project))

    @rule(tenant=st.sampled_from(["a", "b"]), project=st.sampled_from([None, "p"]))
    def set_share(self, tenant: str, project: str | None) -> None:
        self.tell(SetShare(tenant, 3, project))

    @rule(
        tenant=st.sampled_from(["a", "b"]),
        project=st.sampled_from([None, "p"]),
        limit=st.sampled_from([0, 5, 100]),
        cap=st.sampled_from([None, 60]),
        opening=st.sampled_from([None, None, 3]),
    )
    def set_budget(
        self, tenant: str, project: str | None, limit: int, cap: int | None, opening: int | None
    ) -> None:
        budget = Budget(tenant, project, limit_micros=limit, cap_micros=cap, thresholds=(500,))
        self.tell(SetBudget(budget, opening))

    @rule(tenant=st.sampled_from(["a", "b"]), project=st.sampled_from([None, "p"]))
    def remove_budget(self, tenant: str, project: str | None) -> None:
        self.tell(RemoveBudget(tenant, project))

    @rule(tenant=st.sampled_from([None, "a"]), price=st.sampled_from([0, 3_600_000, 10**9]))
    def set_card(self, tenant: str | None, price: int) -> None:
        self.tell(SetRateCard(replace(LIST_PRICES, tenant=tenant, core_micros_per_hour=price)))

    @rule(chosen=rules)
    def change_settings(self, chosen: Settings) -> None:
        self.tell(ChangeSettings(chosen))

    @rule(epoch=st.integers(1, 5))
    def elect(self, epoch: int) -> None:
        self.tell(Elect(epoch, "r1", "host:1"))

    # -- snapshots and reads -----------------------------------------------------------------

    @rule(engine=st.sampled_from(["auto", "pure"]))
    def take_a_snapshot(self, engine: str) -> None:
        anchor = self.kernel.chain.anchor()
        made = self.kernel.checkpoint("ann", self.now_ms)
        state = decode(made.data, made.digest, engine=engine)
        assert encode(state) == made.data
        self.twin = Kernel(state, anchor, simulated=True)
        self.take((made.line,))

    @rule(request=requests)
    def read(self, request: PlacementRequest) -> None:
        """Asking changes nothing, and leaves no trace in any later digest."""
        state = self.kernel.state
        before = digest_of(state)
        now_ms = max(self.now_ms, state.clock_ms)
        for entry_id in (0, *state.claims):
            with state.guards.for_claimant(entry_id, now_ms=now_ms) as admission:
                admission.evaluate(request, now_ms=now_ms)
                admission.explain(request, now_ms=now_ms)
                admission.plan(request, now_ms=now_ms, preemption=state.preemption)
        list(state.line.order(now_ms))
        state.shares.usage("a", now_ms)
        assert digest_of(state) == before

    def teardown(self) -> None:
        """The journal, verified, gives the same state after every record, on either engine."""
        if not hasattr(self, "kernel") or len(self.lines) < self.kernel.state.size:
            return  # a rule failed half way
        assert isinstance(verify_lines(self.lines, GENESIS), Verified)
        other = Kernel(State(engine="pure" if self.engine == "auto" else "auto"))
        for line in self.lines:
            assert digest_of(other.state) == self.kernel.digests[other.state.size]
            other.replay([parse_record(line[:-1])], check_digests=True)
        assert digest_of(other.state) == digest_of(self.kernel.state)


KernelMachine.TestCase.settings = profile(stateful_step_count=50)
TestHistoriesFoldToWhatTheirRecordsSay = KernelMachine.TestCase
