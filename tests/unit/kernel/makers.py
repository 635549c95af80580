"""Values of every sort that commands and events are made of, for hypothesis."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from hypothesis import strategies as st

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.resources import Resources
from bailiwick.fleet.topology import NUMA_MAX, CacheDomain, NodeTopology
from bailiwick.iam import GivenBy
from bailiwick.journal.fields import INTEGER_MAX
from bailiwick.journal.words import CancelCause, NoteOutcome
from bailiwick.kernel import Settings
from bailiwick.kernel.commands import Tick
from bailiwick.kernel.fleet.commands import (
    ChangeMode,
    ChangeSettings,
    DepartNode,
    Elect,
    EndNote,
    LabelNode,
    NoteNode,
    OpenNode,
    RebalanceQuota,
    RegisterNode,
    SetQuota,
    SetShare,
)
from bailiwick.kernel.fleet.events import (
    ClockRepaired,
    LeaderElected,
    NodeDeparted,
    NodeLabelled,
    NodeModeChanged,
    NodeNoted,
    NodeNoteEnded,
    NodeRegistered,
    QuotaChanged,
    SettingsChanged,
    ShareChanged,
    StateCheckpoint,
)
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.spelling import _DETAILS
from bailiwick.kernel.trust.commands import LiftQuarantine, Quarantine
from bailiwick.kernel.trust.events import NodeQuarantined, NodeQuarantineLifted
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
from bailiwick.kernel.work.events import (
    AdmissionApproved,
    AdmissionDenied,
    RequestBlocked,
    RequestCancelled,
    RequestQueued,
    RoomLost,
    RoomPostponed,
    RoomReserved,
)
from bailiwick.kernel.work.lease_events import (
    CheckpointReported,
    FenceCleared,
    LeaseExpired,
    LeaseFenced,
    LeasePreempted,
    LeaseReleased,
    LeaseRenewed,
    LeaseRestored,
    LeaseRevoked,
    RenewalDenied,
    TakenBy,
)
from bailiwick.scheduler.decision import DeadlinePassed, Denied, NoSuchHardware
from bailiwick.scheduler.quota_policy import (
    BurstCredit,
    GpuGenerationQuota,
    Quota,
    QuotaScope,
    ResourceLimit,
)
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.rights.ceilings import Ceiling
from bailiwick.scheduler.room_holds import Seat
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.values import TERM_MAX_MS, WAITING_MAX
from bailiwick.vocab.words import (
    Dimension,
    Exclusivity,
    FilterReason,
    HardwareGeneration,
    LeaseClass,
    PendingReason,
    PreemptionReason,
    Priority,
    ReservationLoss,
    ResourceKind,
    Strategy,
)
from tests.unit.journal.makers import amounts, hashes, names, principals
from tests.unit.kernel import (
    app_makers,
    booking_makers,
    cell_makers,
    exec_makers,
    graph_makers,
    health_makers,
    iam_makers,
    instance_makers,
    isolation_makers,
    maintenance_makers,
    mig_makers,
    money_makers,
    shared_makers,
    trust_makers,
)

ids = st.integers(1, INTEGER_MAX)
times = st.integers(0, INTEGER_MAX)
maybe_names = st.none() | names
generations = st.sampled_from(list(HardwareGeneration))
reasons = st.sampled_from(list(PreemptionReason))
models = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9)
note_lines = st.text(st.characters(categories=["L", "N", "P", "S"]), max_size=20).map(
    lambda text: f"see {text}"
)
labels = st.dictionaries(names, names, max_size=3)
given_labels = st.dictionaries(
    names.map(lambda key: f"x{key[:60]}"), names, min_size=1, max_size=3
).map(lambda told: tuple(f"{key}={value}" for key, value in sorted(told.items())))
"""Labels that an operator may give, as they are told."""
cores = st.integers(0, 10**9).map(lambda milli: milli // 1000 if milli % 7 else milli / 1000)
resources = st.builds(Resources, amounts, amounts, amounts, amounts)
owners = st.builds(Owner, names, maybe_names)
modes = st.sampled_from(list(NodeMode))
phases = st.sampled_from(list(RevokeState))

numas = st.integers(0, NUMA_MAX - 1)
caches = st.lists(st.builds(CacheDomain, st.just(10**9), numas), max_size=3).map(tuple)
near = st.lists(st.none() | numas, max_size=3)
devices = st.builds(GpuDevice, generations, st.integers(0, 2**50), models, models, st.booleans())
machines = st.builds(
    lambda *amounts, gpus, caches, near, **others: NodeCapacity(
        *amounts, gpus=gpus, topology=NodeTopology(caches, tuple(near[: len(gpus)])), **others
    ),
    cores,
    amounts,
    amounts,
    gpus=st.lists(devices, max_size=3),
    labels=labels,
    caches=caches,
    near=near,
)
gpu_terms = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"gpu_count": st.integers(1, 16)}),
    st.fixed_dictionaries(
        {
            "gpu_milli": st.integers(1, 1000),
            "gpu_vram": st.integers(0, 2**50),
            "gpu_models": st.lists(models, max_size=2, unique=True),
            "generation": st.none() | generations,
            "exclusivity": st.none() | st.sampled_from(list(Exclusivity)),
        }
    ),
)
held_cores = st.none() | st.dictionaries(
    st.integers(0, 255), st.sampled_from([1, 1000, 10**9]), max_size=6
).map(lambda held: tuple(sorted(held.items())))
requests = st.builds(
    lambda gpus, **others: PlacementRequest(**gpus, **others),
    gpu_terms,
    tenant=names,
    project=maybe_names,
    tag=maybe_names,
    cpu_cores=cores.map(lambda count: count or 1),
    mem_bytes=amounts,
    block_bytes=amounts,
    labels=labels,
    priority=st.sampled_from(list(Priority)),
    lease_class=st.sampled_from(list(LeaseClass)),
    gang_size=st.integers(1, 4096),
    ttl_ms=st.just(3_600_000) | st.integers(1, INTEGER_MAX),
    deadline_ms=st.none() | times,
    preemptible_on_budget=st.booleans(),
    job_labels=labels,
)
limits = st.dictionaries(st.sampled_from(list(Dimension)), st.integers(0, 10**9), max_size=4)
tables = st.dictionaries(generations, st.integers(0, 10**6), max_size=3)


priorities = st.sampled_from(list(Priority))
lease_classes = st.lists(st.sampled_from(list(LeaseClass)), unique=True).map(
    lambda found: tuple(kind for kind in LeaseClass if kind in found)
)
ceilings = st.builds(
    Ceiling, priorities, lease_classes, st.integers(1, TERM_MAX_MS), st.integers(0, WAITING_MAX)
)


@st.composite
def quotas(draw: st.DrawFn) -> Quota:
    """Any quota."""
    rows = tuple(ResourceLimit(d, n) for d, n in draw(limits).items())
    table = tuple(GpuGenerationQuota(g, n) for g, n in draw(tables).items())
    most = draw(st.none() | ceilings)
    if not rows or draw(st.booleans()):
        return Quota(rows, table, ceiling=most)
    numbers = draw(ids), draw(amounts), draw(ids)
    return Quota(rows, table, BurstCredit(rows[0].dimension, *numbers), most)


@st.composite
def settings(draw: st.DrawFn) -> Settings:
    """Any settings."""
    strategy = draw(st.sampled_from(list(Strategy)))
    weights = None
    if strategy is Strategy.WEIGHTED:
        weights = tuple(draw(st.lists(st.integers(-1000, 1000), min_size=4, max_size=4)))
    return Settings(
        strategy=strategy,
        weights=weights,  # type: ignore[arg-type]  # four of them
        headroom=draw(resources),
        headroom_priority=draw(st.sampled_from(list(Priority))),
        preempt_from=draw(st.sampled_from(list(Priority))),
        confirm_teardown=draw(st.booleans()),
        offer_platform_managed=draw(st.booleans()),
        grace_ms=draw(st.integers(0, 2**52)),
        untrusted_grace_ms=draw(st.integers(0, 2**52)),
        max_cascade_depth=draw(st.integers(0, 255)),
        half_life_ms=draw(ids),
        keys_max=draw(st.integers(1, 10**7)),
        clock_step_ms=draw(st.integers(1_000, 2**53 - 1)),
        outage_ms=draw(st.integers(1_000, 2**53 - 1)),
        burst_min_run_ms=draw(st.integers(0, 2**52)),
        rebalance_ms=draw(st.integers(0, 2**52)),
        booking_wait_ms=draw(st.integers(0, 31 * 86_400_000)),
        booking_wait_max_ms=draw(st.integers(1, 31 * 86_400_000)),
        health_drain_milli=draw(st.integers(1, 1_000)),
        test_wait_ms=draw(st.integers(10_000, 86_400_000)),
        test_every_ms=draw(st.integers(0, 2**52)),
        job_mem_bytes_per_core=draw(st.integers(1, 2**40)),
        reservations_max=draw(st.integers(1, 64)),
        slips_max=draw(ids),
        aging_ms=draw(ids),
        aging_max=draw(st.integers(0, 3)),
        aging_ceiling=draw(st.sampled_from(list(Priority))),
    )


_VALUES: dict[str, st.SearchStrategy[Any]] = {
    "generation": generations,
    "dimension": st.sampled_from(list(Dimension)),
    "resource": st.sampled_from(list(ResourceKind)),
    "scope": st.none() | st.builds(QuotaScope.of, names, maybe_names),
    "node": names,
    "rule": st.none() | names,
    "closed_by": st.sampled_from(list(FilterReason)),
    "asked_priority": priorities,
    "priority_max": priorities,
    "asked_class": st.sampled_from(list(LeaseClass)),
}


@st.composite
def denials(draw: st.DrawFn) -> Denied:
    """Any denial."""
    kind = draw(st.sampled_from(list(_DETAILS.values())))
    values = {f.name: draw(_VALUES.get(f.name, amounts)) for f in fields(kind)}
    return Denied(draw(st.sampled_from(list(PendingReason))), kind(**values))


@st.composite
def denied_requests(draw: st.DrawFn) -> tuple[PlacementRequest, Denied]:
    """A request and what stands in its way; a deadline that passed is the request's own."""
    request, denied = draw(requests), draw(denials())
    if isinstance(denied.detail, DeadlinePassed):
        passed = request.deadline_ms
        if passed is None:
            return request, Denied(denied.reason, NoSuchHardware(3))
        return request, Denied(denied.reason, DeadlinePassed(passed, denied.detail.now_ms))
    return request, denied


def approvals() -> st.SearchStrategy[AdmissionApproved]:
    """Any approval: as many nodes and devices as leases."""
    rows = st.lists(st.tuples(ids, names, st.integers(0, 2**16 - 1)), min_size=1, max_size=4)

    def made(r: PlacementRequest, given: list[tuple[int, str, int]], **more: Any) -> object:
        lease_ids, nodes, bits = zip(*given, strict=True)
        bits = bits if r.device_count else (0,) * len(bits)
        gang, left = more.pop("gang"), more.pop("left")
        gang = gang if r.gang_size > 1 else None
        more["cores"] = tuple(more["cores"][: len(nodes)])
        return AdmissionApproved(
            r, lease_ids, nodes, bits, gang=gang, members_left=left if gang else 0, **more
        )

    return st.builds(
        made,
        requests,
        rows,
        entry_id=st.none() | ids,
        gang=ids,
        left=amounts,
        depth=amounts,
        burst=amounts,
        cores=st.lists(held_cores, max_size=4),
    )  # type: ignore[return-value]


lists = st.lists(ids, max_size=4).map(tuple)
some_names = st.lists(names, max_size=4).map(tuple)


@st.composite
def blocks(draw: st.DrawFn) -> RequestBlocked:
    """Any blocker, with victims or without."""
    owner, entry_id, denied, victims = draw(owners), draw(ids), draw(denials()), draw(lists)
    if not victims:
        return RequestBlocked(owner, entry_id, denied, gave_way=draw(st.booleans()))
    seats = draw(st.lists(st.builds(Seat, names, amounts), max_size=3).map(tuple))
    return RequestBlocked(owner, entry_id, denied, victims, seats, draw(amounts))


EVENTS: dict[type[Any], st.SearchStrategy[Any]] = {
    NodeRegistered: st.builds(NodeRegistered, names, machines),
    NodeDeparted: st.builds(NodeDeparted, names, lists, amounts, st.none() | times),
    NodeLabelled: st.builds(NodeLabelled, names, given_labels, given_labels),
    NodeNoted: st.builds(NodeNoted, names, ids, note_lines, principals, times),
    NodeNoteEnded: st.builds(NodeNoteEnded, names, ids, st.sampled_from(list(NoteOutcome))),
    NodeModeChanged: st.builds(
        lambda node, before, after, how: NodeModeChanged(node, before, after, *how),
        *(names, modes, modes, st.sampled_from([(True,), (False,), (True, True)])),
    ),
    NodeQuarantined: st.builds(NodeQuarantined, names, names, st.none() | hashes, st.booleans()),
    NodeQuarantineLifted: st.builds(
        NodeQuarantineLifted, names, st.none() | hashes, models | st.just(""), st.booleans()
    ),
    QuotaChanged: st.builds(QuotaChanged, owners, quotas()),
    ShareChanged: st.builds(ShareChanged, owners, st.integers(1, 10**6)),
    SettingsChanged: st.builds(SettingsChanged, settings()),
    AdmissionApproved: approvals(),
    AdmissionDenied: st.builds(
        lambda pair, wait: AdmissionDenied(*pair, wait), denied_requests(), st.booleans()
    ),
    RequestQueued: st.builds(
        lambda pair, entry, told: RequestQueued(pair[0], entry, pair[1] if told else None),
        denied_requests(),
        ids,
        st.booleans(),
    ),
    RequestBlocked: blocks(),
    RequestCancelled: st.builds(RequestCancelled, owners, ids, st.sampled_from(list(CancelCause))),
    RoomReserved: st.builds(RoomReserved, owners, ids, times, some_names, st.booleans()),
    RoomPostponed: st.builds(RoomPostponed, owners, ids, times, some_names, ids),
    RoomLost: st.builds(
        RoomLost, owners, ids, st.sampled_from(list(ReservationLoss)), st.none() | times
    ),
    LeaderElected: st.builds(
        LeaderElected, ids, names, st.text("ab:/.", max_size=9), st.booleans()
    ),
    StateCheckpoint: st.builds(StateCheckpoint, hashes, amounts, amounts, amounts),
    ClockRepaired: st.builds(ClockRepaired, times, times, st.text("ab c", max_size=9)),
    LeaseRenewed: st.builds(LeaseRenewed, owners, ids, ids, times),
    RenewalDenied: st.builds(RenewalDenied, owners, ids, ids, denials()),
    LeaseRevoked: st.builds(
        LeaseRevoked,
        owners,
        ids,
        phases,
        phases,
        st.none() | reasons,
        st.none() | times,
        st.booleans(),
        st.none() | principals,
        st.none() | ids,
        st.none() | names,
        st.none() | names,
    ),
    LeaseRestored: st.builds(LeaseRestored, owners, ids, ids, times, st.none() | principals),
    LeaseReleased: st.builds(LeaseReleased, owners, ids, names, resources),
    LeaseExpired: st.builds(LeaseExpired, owners, ids, names, resources),
    LeasePreempted: st.builds(
        LeasePreempted,
        owners,
        ids,
        names,
        resources,
        reasons,
        principals,
        st.none() | names,
        st.builds(TakenBy, st.none() | ids, st.none() | ids, amounts),
    ),
    LeaseFenced: st.builds(LeaseFenced, owners, ids, names, resources, st.none() | reasons),
    FenceCleared: st.builds(FenceCleared, owners, ids, names),
    CheckpointReported: st.builds(CheckpointReported, owners, ids),
    **graph_makers.EVENTS,
    **exec_makers.EVENTS,
    **money_makers.EVENTS,
    **trust_makers.EVENTS,
    **isolation_makers.EVENTS,
    **maintenance_makers.EVENTS,
    **mig_makers.EVENTS,
    **booking_makers.EVENTS,
    **health_makers.EVENTS,
    **app_makers.EVENTS,
    **instance_makers.EVENTS,
    **shared_makers.EVENTS,
    **iam_makers.EVENTS,
    **cell_makers.cell_events(requests),
}
graces = st.none() | st.integers(0, 2**52)
seen = st.none() | hashes
operators = st.sampled_from([r for r in PreemptionReason if not r.spares_guaranteed])
COMMANDS: dict[type[Any], st.SearchStrategy[Any]] = {
    Submit: st.builds(Submit, requests, st.booleans()),
    Cancel: st.builds(Cancel, ids),
    Renew: st.builds(Renew, ids, st.integers(1, 2**52), st.none() | st.integers(1, 2**31)),
    Release: st.builds(Release, ids),
    ReportCheckpoint: st.builds(ReportCheckpoint, ids),
    ReportTeardown: st.builds(ReportTeardown, ids, st.booleans()),
    Evict: st.builds(Evict, st.lists(ids, min_size=1, max_size=4), reasons, graces),
    ClearFence: st.builds(ClearFence, ids),
    RegisterNode: st.builds(RegisterNode, names, machines),
    DepartNode: st.builds(DepartNode, names, st.none() | times),
    ChangeMode: st.builds(ChangeMode, names, modes, operators, graces)
    | st.builds(
        lambda n, r, g: ChangeMode(n, NodeMode.DRAINING, r, g, evict=False),
        names,
        operators,
        graces,
    ),
    Quarantine: st.builds(Quarantine, names, names, graces),
    LiftQuarantine: st.builds(LiftQuarantine, names, st.just(False), models)
    | st.builds(LiftQuarantine, names, st.just(True), names),
    SetQuota: st.builds(SetQuota, names, quotas(), maybe_names, seen)
    | st.builds(SetQuota, names, quotas(), names, seen, st.sampled_from(list(GivenBy))),
    OpenNode: st.builds(OpenNode, names),
    NoteNode: st.builds(NoteNode, names, note_lines, principals, st.integers(1, 10**9)),
    EndNote: st.builds(EndNote, names, ids),
    LabelNode: st.builds(LabelNode, names, given_labels, st.just(())),
    RebalanceQuota: st.builds(RebalanceQuota, names, maybe_names, graces),
    SetShare: st.builds(SetShare, names, st.integers(1, 10**6), maybe_names),
    ChangeSettings: st.builds(ChangeSettings, settings(), seen),
    Elect: st.builds(Elect, ids, names, st.text(max_size=9)),
    Tick: st.builds(Tick, st.integers(2, 10**6)),
    **graph_makers.COMMANDS,
    **exec_makers.COMMANDS,
    **money_makers.COMMANDS,
    **trust_makers.COMMANDS,
    **isolation_makers.COMMANDS,
    **maintenance_makers.COMMANDS,
    **mig_makers.COMMANDS,
    **booking_makers.COMMANDS,
    **health_makers.COMMANDS,
    **app_makers.COMMANDS,
    **instance_makers.COMMANDS,
    **shared_makers.COMMANDS,
    **iam_makers.COMMANDS,
    **cell_makers.cell_commands(requests),
}
