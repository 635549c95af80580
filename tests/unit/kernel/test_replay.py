"""The journal is the state: replays, snapshots and engines come to the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.journal import Chain, Context, parse_record
from bailiwick.kernel import (
    Cancel,
    ChangeMode,
    Command,
    DepartNode,
    Elect,
    Evict,
    Kernel,
    Quarantine,
    Refused,
    RegisterNode,
    Release,
    Renew,
    ReportCheckpoint,
    ReportTeardown,
    SetQuota,
    SetShare,
    State,
    Submit,
    Tick,
    decode,
    digest_of,
    encode,
)
from bailiwick.kernel import machine as driving
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.events import LeaderElected, NodeDeparted
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.slices import apply, decide
from bailiwick.kernel.snapshot import FORMAT_NUMBER
from bailiwick.kernel.work.events import AdmissionApproved, RequestQueued
from bailiwick.kernel.work.lease_events import CheckpointReported, LeaseRevoked
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.quota_policy import BurstCredit, GpuGenerationQuota, Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import Damaged, InvalidValue, InvariantBroken, Unavailable
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.words import (
    Dimension,
    Exclusivity,
    HardwareGeneration,
    LeaseClass,
    PreemptionReason,
    Priority,
    Strategy,
)
from tests.support.naive_kernel import fold
from tests.unit.kernel.desk import HIGH, HOPPER, Desk, ask, cores

R = PreemptionReason
ENGINES = ["pure", "compiled"] if has_compiled() else ["pure"]


def story(d: Desk) -> None:
    """A little of everything, ending in the middle of things."""
    d.do(Elect(1, "r1", "host:1"))
    box = NodeCapacity(8, 100, 50, gpus=(GpuDevice(HOPPER, 80, "H100", "f1", True),) * 2)
    d.do(RegisterNode("g1", box))
    d.do(RegisterNode("g2", NodeCapacity(6, 100, gpus=(GpuDevice(HOPPER, 40),), labels={"a": "b"})))
    d.do(RegisterNode("gone", cores(4)))
    credit = BurstCredit(Dimension.CPU_MILLI, 90_000, 10, 4_000)
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(3),), burst=credit)))
    allowed = (GpuGenerationQuota(HOPPER, 2),)
    d.do(SetQuota("gpu", Quota((ResourceLimit.gpu_count(3),), allowed), "p"))
    d.do(SetShare("lab", 3))
    d.do(SetShare("lab", 5, "p"))
    first = d.lease("lab", cpu_cores=4, tag="t")
    d.do(Submit(ask("gpu", project="p", gpu_milli=300, generation=HOPPER)), key="half")
    d.gang(3, "other", cpu_cores=1, mem_bytes=7, labels={"a": "b"}, ttl_ms=60_000)
    d.lease("spot", lease_class=LeaseClass.SPOT, preemptible_on_budget=True, ttl_ms=90_000)
    d.lease("whole", gpu_milli=10, exclusivity=Exclusivity.SESSION_EXCLUSIVE, gpu_vram=30)
    d.at(2_000).do(Renew(first, 50_000))
    d.do(ReportCheckpoint(first))
    d.at(15_000).do(DepartNode("gone", 14_000))
    d.tick()
    fenced = d.lease("fen", block_bytes=3)
    d.do(Evict((fenced,), R.OPERATOR_MIG_PROFILE_CHANGE, grace_ms=0))
    d.do(ReportTeardown(fenced, False))
    d.do(Quarantine("n1", "odd", 10))
    d.do(ChangeMode("g2", NodeMode.DRAINING, grace_ms=9_000))
    d.wait("big", cpu_cores=8, priority=HIGH, deadline_ms=10**6, tag="x")
    d.do(Submit(ask("big", project="q", gpu_count=2)), key="wait")
    d.tick(16_000)
    d.do(Cancel(d.wait("lab", cpu_cores=1)), key="gone")


@pytest.fixture(params=list(Strategy))
def told(request: pytest.FixtureRequest) -> Desk:
    """A desk after the story, by each strategy."""
    how = {"weights": (100, -200, 300, 50)} if request.param is Strategy.WEIGHTED else {}
    d = Desk(nodes=[cores(2)], confirm_teardown=True, strategy=request.param, **how)
    story(d)
    return d


# --- replay -------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_a_replay_comes_to_the_same_state_at_every_record(told: Desk, engine: str) -> None:
    told.kernel.checkpoint("ann", told.now_ms)
    one = Kernel(State(engine="auto"), simulated=True)
    two = Kernel(State(engine=engine), simulated=True)
    for record in told.records:
        one.replay([record])
        two.replay([record])
        assert digest_of(one.state) == digest_of(two.state), record.seq


def test_a_replay_comes_to_the_state_that_was_decided(told: Desk) -> None:
    assert digest_of(told.replayed().state) == told.digest
    fold(told.records).compare(told.state)


def test_every_prefix_of_the_journal_is_what_the_state_was_then() -> None:
    d = Desk(nodes=[cores(2)], confirm_teardown=True)
    seen = {}
    execute = d.kernel.execute

    def noting(*args: object) -> object:
        seen[d.state.size] = d.digest
        return execute(*args)  # type: ignore[arg-type]

    d.kernel.execute = noting  # type: ignore[method-assign, assignment]
    story(d)
    other = Kernel()
    for record in d.records:
        assert seen.get(other.state.size, digest_of(other.state)) == digest_of(other.state)
        other.replay([record])
    assert len(seen) > 25


def test_a_replica_goes_on_where_the_journal_ends(told: Desk) -> None:
    other = told.replayed()
    told.tick(40_000)
    more = told.last
    other.follow(more, told.kernel.chain.anchor())
    assert digest_of(other.state) == told.digest


def test_a_replay_checks_the_digests_it_passes() -> None:
    d = Desk(nodes=[cores(2)])
    made = d.kernel.checkpoint("ann", 2_000)
    d.lines.append(made.line)
    Kernel().replay(d.records, check_digests=True)
    body = {"digest": "0" * 64, "leases": 0, "waiting": 0}
    kind, context = d.records[-1].kind, Context("a", "c")
    told = body | {"format": FORMAT_NUMBER}
    lie = parse_record(Chain().seal(kind, context, at_ms=1, body=told).line[:-1])
    Kernel().replay([lie])
    with pytest.raises(InvariantBroken, match="says the state was 0000"):
        Kernel().replay([lie], check_digests=True)
    # Of a journal from before the state was written as it is now, nobody can tell.
    old = parse_record(Chain().seal(kind, context, at_ms=1, body=body).line[:-1])
    Kernel().replay([old], check_digests=True)


def test_a_checkpoint_tells_the_state_before_its_own_record(told: Desk) -> None:
    before = told.digest
    made = told.kernel.checkpoint("ann", 0)
    record = parse_record(made.line[:-1])
    assert made.digest == before == sha256(made.data).hexdigest() == record.body["digest"]
    assert record.body["leases"] == len(told.state.leases)
    assert record.body["waiting"] == len(told.state.line.entries) > 0
    assert record.at_ms == told.state.clock_ms


def test_an_anchor_and_a_state_must_be_of_the_same_size() -> None:
    d = Desk(nodes=[cores(2)])
    with pytest.raises(InvariantBroken, match="2 records, but a state of 0"):
        Kernel(State(), d.kernel.chain.anchor())
    with pytest.raises(InvariantBroken, match="2 records, but a state of 0"):
        Kernel().follow([], d.kernel.chain.anchor())


def test_a_gang_in_several_records_is_counted_once_among_what_arrives() -> None:
    whole, parts = Desk(nodes=[cores(400)]), Desk(nodes=[cores(400)])
    for _ in range(4):
        whole.gang(75)
    parts.gang(300)
    assert whole.state.arrivals.total == parts.state.arrivals.total == 300
    assert list(parts.state.arrivals.counts.values()) == [300]


# --- snapshots ----------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_a_snapshot_is_read_back_to_the_same_bytes(told: Desk, engine: str) -> None:
    data = encode(told.state)
    again = decode(data, told.digest, engine=engine)
    assert encode(again) == data
    fold(told.records).compare(again)


def test_a_kernel_from_a_snapshot_decides_on_and_both_stay_equal(told: Desk) -> None:
    anchor = told.kernel.chain.anchor()
    twin = Kernel(decode(encode(told.state), told.digest), anchor, simulated=True)
    first = told.kernel
    told.kernel = twin
    told.tick(25_000)
    told.do(Submit(ask("new", cpu_cores=1), wait=False))
    told.do(RegisterNode("late", cores(9)))
    told.tick(26_500)
    told.do(Submit(ask("late", gang_size=2, cpu_cores=2, priority=Priority.CRITICAL)))
    told.tick(200_000)
    first.follow(told.records[first.state.size :], twin.chain.anchor())
    assert digest_of(first.state) == digest_of(twin.state)
    assert digest_of(told.replayed().state) == digest_of(twin.state)


def test_the_room_of_a_claim_is_kept_by_replays_and_snapshots_too() -> None:
    d = Desk(nodes=[cores(4)])
    victim = d.lease("slow", cpu_cores=4)
    d.wait("fast", cpu_cores=4, priority=HIGH)
    d.do(Release(victim))
    anchor = d.kernel.chain.anchor()
    again = Kernel(decode(encode(d.state), d.digest), anchor, simulated=True)
    for kernel in (d.replayed(), again):
        d.kernel = kernel
        assert isinstance(d.beside("boss", priority=Priority.CRITICAL), Refused)


def test_a_checkpoint_at_time_zero_survives_a_snapshot() -> None:
    d = Desk().at(0)
    d.do(RegisterNode("n1", cores(2)))
    d.do(ReportCheckpoint(d.lease()))
    data = encode(d.state)
    assert encode(decode(data, d.digest)) == data


def test_damaged_bytes_are_refused_whatever_is_damaged() -> None:
    d = Desk(nodes=[cores(2)])
    d.lease()
    data, digest = encode(d.state), d.digest
    for bad in (data[:-1], data + b"\0", b"", data.replace(b'"n1"', b'"n2"', 1)):
        with pytest.raises(Damaged, match="its digest is another"):
            decode(bad, digest)
    small = data.replace(b'"cpu_milli":2000', b'"cpu_milli":0', 1).replace(b"[[2000,", b"[[0,", 1)
    for bad, why in (
        (data.replace(b"state/v5", b"state/v3", 1), "bailiwick-state/v3"),
        (data[:-8], "for 1 leases"),
        (small, "does not fit"),
    ):
        with pytest.raises(Damaged, match=why):
            decode(bad, sha256(bad).hexdigest())


# --- reading ------------------------------------------------------------------------------------


def questions() -> Iterator[PlacementRequest]:
    """Requests of strangers, of many shapes."""
    for number in range(60):
        terms = {"gpu_count": 1} if number % 3 else {"cpu_cores": number % 7 + 1}
        yield ask(f"stranger-{number}", project=f"p{number}", gang_size=number % 4 + 1, **terms)
    yield ask("x", gpu_milli=5, generation=HardwareGeneration.OTHER, labels={"no": "where"})


def test_reading_leaves_no_trace_in_any_snapshot(told: Desk) -> None:
    before, state = encode(told.state), told.state
    holds = state.ledger.holds
    for request in questions():
        for lifted in ((), holds.numbers()):
            with holds.shadow(lifted=lifted, now_ms=20_000):
                state.admission.evaluate(request, now_ms=20_000)
                state.admission.explain(request, now_ms=20_000)
                state.admission.plan(request, now_ms=20_000, preemption=state.preemption)
    list(state.line.order(20_000))
    state.quotas.burst_exhausted(20_000)
    state.shares.standing("lab", 20_000)
    assert encode(state) == before
    again = told.replayed()
    told.tick(30_000)
    again.follow(told.last, told.kernel.chain.anchor())
    assert digest_of(again.state) == told.digest


@pytest.mark.parametrize(
    "command",
    [
        Submit(ask(cpu_cores=1)),
        Submit(ask(cpu_cores=9)),
        Submit(ask(cpu_cores=2)),
        Submit(ask(cpu_cores=1), wait=False),
        Cancel(1),
        Renew(1, 99),
        Release(1),
        ReportCheckpoint(1),
        RegisterNode("n9", cores(1)),
        DepartNode("n1"),
        SetQuota("lab", Quota()),
        SetShare("lab", 4),
        Elect(1, "r"),
    ],
    ids=lambda c: type(c).__name__,
)
def test_deciding_changes_nothing_until_an_event_is_applied(command: Command) -> None:
    d = Desk(nodes=[cores(2)], preempt_from=Priority.CRITICAL)
    d.lease()
    d.wait(cpu_cores=2)
    before = d.digest
    events = list(decide(d.state, command, d.now_ms))
    assert len(events) == 1
    assert d.digest == before
    d.do(command)
    assert d.last[0].kind == events[0].kind


# --- what must never happen ---------------------------------------------------------------------


OWNER = Owner("lab")
STEP = (RevokeState.REVOKE_WARNING, RevokeState.GRACE_RUNNING)


@pytest.mark.parametrize(
    "event",
    [
        AdmissionApproved(ask(cpu_cores=2), (2,), ("n1",), (0,)),
        AdmissionApproved(ask(cpu_cores=1), (3,), ("n1",), (0,)),
        RequestQueued(ask(), 7, None),
        LeaderElected(0, "r"),
        NodeDeparted("n1", ()),
        LeaseRevoked(OWNER, 1, *STEP),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_event_that_does_not_fit_the_state_is_a_broken_invariant(event: Event) -> None:
    d = Desk(nodes=[cores(2)])
    d.lease()
    with pytest.raises(InvariantBroken):
        apply(d.state, event, at_ms=5_000)


def test_time_that_goes_back_in_a_journal_is_a_broken_invariant() -> None:
    d = Desk(nodes=[cores(2)])
    event = CheckpointReported(OWNER, d.lease())
    with pytest.raises(InvariantBroken, match="time went back"):
        apply(d.state, event, at_ms=d.state.clock_ms - 1)


def test_a_kernel_that_failed_half_way_refuses_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    d = Desk(nodes=[cores(2)])
    lease = d.lease()

    def failing(*args: object) -> Iterator[object]:
        yield from decide(d.state, Release(lease), d.now_ms)
        raise InvalidValue("x", 1, "a bug")

    monkeypatch.setattr(driving, "decide", failing)
    with pytest.raises(InvalidValue):
        d.do(Release(lease))
    monkeypatch.undo()
    with pytest.raises(Unavailable, match="half way"):
        d.do(Tick())


def test_an_error_before_the_first_event_loses_nothing() -> None:
    d = Desk(nodes=[cores(2)])
    with pytest.raises(Exception, match="no lease"):
        d.do(Release(9))
    assert d.lease() == 1
