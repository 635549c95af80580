"""Admission says yes only where it may, no only where it must, and asking leaves no trace.

A random fleet is filled by a random history; then questions are asked. The judge is a reference in
plain dicts: it says which nodes fit, whose quota is full and what headroom is left.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from bailiwick.fleet.node import NodeCapacity
from bailiwick.fleet.resources import Resources
from bailiwick.scheduler.admission import AdmissionController, ReservationHeadroom
from bailiwick.scheduler.decision import (
    AdmissionDecision,
    Approved,
    DeadlinePassed,
    Denied,
    HeadroomKept,
    LargerThanAnyNode,
    NodesForbidden,
    NoSuchHardware,
)
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.placement import PlacementScorer, ScoreWeights, Strategy
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_policy import (
    GpuGenerationQuota,
    Quota,
    ResourceLimit,
    WithinQuota,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.values import MILLI
from bailiwick.vocab.words import HardwareGeneration, PendingReason, Priority
from tests.support.naive_fleet import (
    SCOPES,
    NaiveFleet,
    Scope,
    build,
    capacities,
    problems,
    remember,
    requests,
    serves,
    snapshot,
    usage_told,
)

G = HardwareGeneration
ENGINES = ["pure", "compiled"] if has_compiled() else ["pure"]
each_engine = pytest.mark.parametrize("engine", ENGINES)
NOW = 1000


# --- what may be asked --------------------------------------------------------------------------


@dataclass
class Policy:
    """Hands every request of one tenant a set of nodes, and leaves the others alone."""

    tenant: str
    nodes: NodeSet

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        return self.nodes if request.tenant == self.tenant else None


def generation_tables(least: int = 0) -> st.SearchStrategy[tuple[GpuGenerationQuota, ...]]:
    generations = st.sampled_from([G.NVIDIA_HOPPER, G.NVIDIA_AMPERE, G.AMD_MI300, G.OTHER])
    tables = st.dictionaries(generations, st.integers(0, 4), min_size=least, max_size=3)
    return tables.map(lambda table: tuple(GpuGenerationQuota(g, n) for g, n in table.items()))


@st.composite
def quota_values(draw: st.DrawFn) -> Quota:
    limits = [
        ResourceLimit.cpu_cores(draw(st.sampled_from([0, 2, 8, 20]))),
        ResourceLimit.mem_bytes(draw(st.sampled_from([4, 40, 100]))),
        ResourceLimit.gpu_count(draw(st.sampled_from([0, 1, 3]))),
        ResourceLimit.gpu_vram(draw(st.sampled_from([48, 200]))),
        ResourceLimit.lease_count(draw(st.sampled_from([1, 3, 8]))),
    ]
    keep = draw(st.sets(st.integers(0, 4), max_size=2))
    return Quota(tuple(limits[i] for i in sorted(keep)), draw(generation_tables()))


@dataclass
class Scene:
    """Everything a history needs, without a ledger: it can be played on several."""

    fleet: list[NodeCapacity]
    quotas: dict[Scope, Quota]
    kept: ReservationHeadroom
    policies: list[tuple[str, set[int]]]
    closed: dict[int, str]
    strategy: Strategy
    history: list[tuple[PlacementRequest, bool]]
    questions: list[PlacementRequest]


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    fleet = draw(st.lists(capacities, min_size=1, max_size=6))
    indices = st.integers(0, len(fleet) - 1)
    kept = ReservationHeadroom()
    if draw(st.booleans()):
        amounts = Resources(
            draw(st.sampled_from([0, 4000, 20_000])),
            draw(st.sampled_from([0, 30])),
            0,
            draw(st.sampled_from([0, 1000, 3000])),
        )
        kept = ReservationHeadroom(amounts, draw(st.sampled_from(Priority)))
    tenants = st.sampled_from(["red", "blue", "green"])
    wanted = requests(gang_max=3)
    return Scene(
        fleet,
        draw(st.dictionaries(st.sampled_from(SCOPES), quota_values(), max_size=4)),
        kept,
        draw(st.lists(st.tuples(tenants, st.sets(indices)), max_size=2)),
        draw(st.dictionaries(indices, st.sampled_from(["draining", "quarantine"]), max_size=2)),
        draw(st.sampled_from(Strategy)),
        draw(st.lists(st.tuples(wanted, st.booleans()), max_size=8)),
        draw(st.lists(wanted, min_size=1, max_size=4)),
    )


class Stage:
    """A scene played on one ledger, beside the reference."""

    def __init__(self, scene: Scene, engine: str) -> None:
        self.scene = scene
        self.quotas = QuotaManager()
        self.ledger = CapacityLedger(engine=engine, quotas=self.quotas)
        self.fleet: NaiveFleet = build(scene.fleet, self.ledger)
        for (tenant, project), quota in scene.quotas.items():
            self.quotas.set_quota(tenant, quota, project=project)
        filters = [
            Policy(tenant, self.ledger.node_set([f"n{i}" for i in sorted(allowed)]))
            for tenant, allowed in scene.policies
        ]
        weights = ScoreWeights(0.3, -0.2, 0.4, 0.1)
        self.admission = AdmissionController(
            self.ledger,
            scorer=PlacementScorer(
                scene.strategy,
                weights=weights if scene.strategy is Strategy.WEIGHTED else None,
                filters=filters,
            ),
            headroom=scene.kept,
        )

    def play(self) -> None:
        """The history: some is admitted, and some of that given back; then nodes close."""
        for request, give_back in self.scene.history:
            answer = self.admit(request)
            if isinstance(answer, Approved) and give_back:
                lease = answer.leases[0]
                self.ledger.release(lease.id)
                del self.fleet.leases[lease.id]
        for i, how in self.scene.closed.items():
            if how == "quarantine":
                self.ledger.set_quarantine(f"n{i}", True)
                self.fleet.nodes[f"n{i}"].quarantined = True
            else:
                self.ledger.set_mode(f"n{i}", NodeMode.DRAINING)
                self.fleet.nodes[f"n{i}"].mode = "draining"

    def admit(self, request: PlacementRequest) -> AdmissionDecision:
        answer = self.admission.admit(request, now_ms=NOW)
        if isinstance(answer, Approved):
            remember(self.fleet, answer.leases, request)
        return answer

    # -- the reference's opinion -------------------------------------------------------------

    def allowed(self, request: PlacementRequest) -> set[str]:
        """The nodes that no policy forbids the request."""
        names = set(self.fleet.nodes)
        for tenant, indices in self.scene.policies:
            if tenant == request.tenant:
                names &= {f"n{i}" for i in indices}
        return names

    def short_of_headroom(self, request: PlacementRequest) -> bool:
        if request.priority.rank >= self.scene.kept.priority.rank:
            return False
        open_nodes = [
            name
            for name, node in self.fleet.nodes.items()
            if node.mode == "accepting" and not node.quarantined
        ]
        free = [sum(column) for column in zip(*map(self.fleet.free, open_nodes), strict=True)]
        need = (
            request.cpu_milli, request.mem_bytes, request.block_bytes, request.gpu_milli_total,
        )  # fmt: skip
        return any(
            one and kept and have - one * request.gang_size < kept
            for have, one, kept in zip(
                free or [0] * 4, need, self.scene.kept.kept.as_tuple(), strict=True
            )
        )

    def ought(self, request: PlacementRequest) -> bool | None:
        """Whether the request must be admitted; None if it may be, by the devices it would get."""
        quotas = self.scene.quotas
        if self.fleet.over_quota(request, quotas) or self.short_of_headroom(request):
            return False
        if self.fleet.seats_in_all(request, self.allowed(request)) < request.gang_size:
            return False
        sizes = self.fleet.memories(request)
        borne = [s for s in sizes if not self.fleet.over_quota(request, quotas, s)]
        if not request.device_count or borne == sizes:
            return True
        # Devices with no more memory than that are sure to be borne, whichever they are.
        small = replace(self.fleet, memory_max=borne[-1])
        return small.seats_in_all(request, self.allowed(request)) >= request.gang_size or None


# --- yes and no are right -----------------------------------------------------------------------


@each_engine
@given(scene=scenes())
def test_it_is_yes_exactly_when_quota_headroom_and_nodes_allow_it(
    engine: str, scene: Scene
) -> None:
    stage = Stage(scene, engine)
    stage.play()
    for request in scene.questions:
        answer = stage.admission.evaluate(request, now_ms=NOW)
        event(type(answer.detail).__name__ if isinstance(answer, Denied) else "Approved")
        ought = stage.ought(request)
        assert ought is None or isinstance(answer, Approved) == ought


@each_engine
@given(scene=scenes())
def test_usage_is_what_leases_really_hold_and_never_above_a_limit(
    engine: str, scene: Scene
) -> None:
    """Seen: a request that named no memory held devices of any size, and counted for nothing."""
    stage = Stage(scene, engine)
    stage.play()
    for request in scene.questions:
        stage.admit(request)
    for scope in SCOPES:
        used = stage.fleet.usage(scope)
        assert usage_told(stage.quotas, scope) == used
        for limit in scene.quotas.get(scope, Quota()).limits:
            assert used.get(limit.dimension, 0) <= limit.amount


@each_engine
@given(scene=scenes())
def test_an_approved_place_fits_and_passes_every_filter(engine: str, scene: Scene) -> None:
    stage = Stage(scene, engine)
    stage.play()
    for request in scene.questions:
        answer = stage.admit(request)  # ``remember`` refuses what would not fit
        if isinstance(answer, Approved):
            assert set(answer.nodes) <= stage.allowed(request)
            for name in answer.nodes:
                labels = stage.fleet.nodes[name].capacity.labels
                assert request.labels.items() <= labels.items()
        assert list(problems(stage.ledger, stage.fleet)) == []


@each_engine
@given(scene=scenes())
def test_a_denial_that_says_waiting_is_no_use_is_true_of_an_empty_fleet(
    engine: str, scene: Scene
) -> None:
    stage = Stage(scene, engine)
    stage.play()
    hardware = NaiveFleet({n: replace(x, mode="accepting", quarantined=False) for n, x in (
        stage.fleet.nodes.items())})  # fmt: skip
    for request in scene.questions:
        one = replace(request, gang_size=1)
        answer = stage.admission.evaluate(request, now_ms=NOW)
        match getattr(answer, "detail", None):
            case NoSuchHardware():
                assert not any(
                    (not one.device_count or any(serves(d, one) for d in x.capacity.gpus))
                    and one.labels.items() <= x.capacity.labels.items()
                    for x in hardware.nodes.values()
                )
            case LargerThanAnyNode() as told:
                assert told.requested > told.largest
                assert hardware.fitting(one, stage.allowed(one)) == []
            case NodesForbidden():
                assert hardware.fitting(one, stage.allowed(one)) == []
            case HeadroomKept() as told:
                assert told.free - told.requested < told.kept


@each_engine
@given(scene=scenes(), late=st.integers(0, NOW - 1))
def test_nothing_is_given_after_its_deadline(engine: str, scene: Scene, late: int) -> None:
    stage = Stage(scene, engine)
    stage.play()
    before = snapshot(stage.ledger)
    for request in scene.questions:
        answer = stage.admission.admit(replace(request, deadline_ms=late), now_ms=NOW)
        assert answer == Denied(PendingReason.MISCONFIGURED, DeadlinePassed(late, NOW))
    assert snapshot(stage.ledger) == before


# --- asking leaves no trace ---------------------------------------------------------------------


@each_engine
@given(scene=scenes())
def test_asking_changes_nothing_and_admitting_answers_the_same(engine: str, scene: Scene) -> None:
    stage = Stage(scene, engine)
    stage.play()
    for request in scene.questions:
        before = snapshot(stage.ledger)
        asked = stage.admission.evaluate(request, now_ms=NOW)
        stage.admission.explain(request, now_ms=NOW)
        assert stage.admission.plan(request, now_ms=NOW).decision == asked
        assert snapshot(stage.ledger) == before
        answer = stage.admit(request)
        if isinstance(answer, Approved):
            assert isinstance(asked, Approved)
            assert (asked.nodes, asked.leases, asked.burst) == (answer.nodes, (), answer.burst)
        else:
            assert asked == answer
            assert snapshot(stage.ledger) == before


@each_engine
@given(scene=scenes())
def test_a_ledger_that_was_asked_a_lot_lives_on_like_one_that_was_not(
    engine: str, scene: Scene
) -> None:
    """The strongest form of "nothing changes": later answers, places and lease ids are equal."""
    asked, left_alone = Stage(scene, engine), Stage(scene, engine)
    for stage in (asked, left_alone):
        stage.play()
    for request in scene.questions:
        for other in scene.questions:
            asked.admission.evaluate(other, now_ms=NOW)
            asked.admission.explain(other, now_ms=NOW)
        assert asked.admit(request) == left_alone.admit(request)


# --- explain ------------------------------------------------------------------------------------


@each_engine
@given(scene=scenes())
def test_an_explanation_counts_every_node_once_at_the_filter_it_fails(
    engine: str, scene: Scene
) -> None:
    stage = Stage(scene, engine)
    stage.play()
    for request in scene.questions:
        told = stage.admission.explain(request, now_ms=NOW)
        falls = [
            stage.fleet.falls_at(name, request, stage.allowed(request))
            for name in stage.fleet.nodes
        ]
        assert told.nodes == len(stage.fleet.nodes)
        assert told.fitting == falls.count(None)
        assert told.fallen == {word: falls.count(word) for word in set(falls) - {None}}
        assert told.decision == stage.admission.evaluate(request, now_ms=NOW)
        if isinstance(told.decision, Denied):
            assert told.decision in told.blockers
            ranks = [blocker.reason.rank for blocker in told.blockers]
            assert ranks == sorted(ranks)
        else:
            assert told.blockers == ()


# --- the allow-list -----------------------------------------------------------------------------


def listed(quotas: dict[Scope, Quota], request: PlacementRequest) -> list[dict[G, int]]:
    """The generation tables in force for a request, in milli-shares."""
    scopes = {(request.tenant, None), (request.tenant, request.project)}
    tables = [quotas[s].gpu_generations for s in scopes if s in quotas]
    return [{e.generation: e.count * MILLI for e in table} for table in tables if table]


WAYS = ["admit", "deadline", "gang", "grant"]


@each_engine
@given(
    scene=scenes(),
    tables=st.dictionaries(st.sampled_from(SCOPES), generation_tables(1), min_size=2, max_size=5),
    asks=st.lists(st.tuples(requests(small=True), st.sampled_from(WAYS)), min_size=3, max_size=10),
)
def test_the_allow_list_is_never_bypassed(
    engine: str,
    scene: Scene,
    tables: dict[Scope, tuple[GpuGenerationQuota, ...]],
    asks: list[tuple[PlacementRequest, str]],
) -> None:
    """Whatever the way in: admitted alone, with a deadline, as a gang, or granted after a check."""
    quotas = {scope: Quota((), table) for scope, table in tables.items()}
    stage = Stage(replace(scene, quotas=quotas, kept=ReservationHeadroom()), engine)
    for request, way in asks:
        if way == "grant":
            within = isinstance(stage.quotas.check(request, now_ms=NOW), WithinQuota)
            for name in stage.fleet.fitting(request)[:1] if within else []:
                lease = stage.ledger.grant(name, request, now_ms=NOW)
                remember(stage.fleet, [lease], request)
        else:
            terms = {"deadline": {"deadline_ms": NOW}, "gang": {"gang_size": 2}}.get(way, {})
            stage.admit(replace(request, **terms))
        for lease in stage.fleet.leases.values():
            for table in listed(quotas, lease.request) if lease.devices else []:
                assert lease.request.generation in table, "untagged or not on the list"
                for i in lease.devices:
                    device = stage.fleet.nodes[lease.node].capacity.gpus[i]
                    assert device.generation is lease.request.generation, "another generation"
        for scope, quota in quotas.items():
            used = stage.fleet.usage(scope)
            for entry in quota.gpu_generations:
                assert used.get(entry.generation, 0) <= entry.count * MILLI, "above the list"


@each_engine
@given(scene=scenes())
def test_no_tenant_is_ever_above_a_limit_through_admission(engine: str, scene: Scene) -> None:
    stage = Stage(scene, engine)
    stage.play()
    for request in scene.questions:
        stage.admit(request)
        for scope, quota in scene.quotas.items():
            used = stage.fleet.usage(scope)
            for limit in quota.limits:
                assert used.get(limit.dimension, 0) <= limit.amount
