"""What would become of a waiting request if there were more quota, more nodes, another generation.

Rules:

- What is supposed is done to a copy (:mod:`.trial`) by the kernel's own commands; then the kernel
  looks at its line, as it would. The answer is what it decides then.
- More quota is so much more than each limit that the request's project and tenant have now; what is
  not limited stays so. More GPUs raise the limit of the request's generation as well.
- A new node is like one that is there and could hold one member of the request if it were empty: it
  has the same labels and has proven the same. Without such a machine there is no new node.
- Another generation is another request, so it stands where a new one would: at the end of its
  priority. Models that were named are not asked for then, because they are of a generation.
- Nothing is told of others but what whoever reads the entry is told anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from bailiwick.fleet.node import NodeCapacity
from bailiwick.journal.words import CancelCause
from bailiwick.kernel.events import Event
from bailiwick.kernel.fleet.commands import RegisterNode, SetQuota
from bailiwick.kernel.state import State
from bailiwick.kernel.views import WaitingEntry, waiting_entry
from bailiwick.kernel.work.commands import Cancel, Submit
from bailiwick.kernel.work.events import (
    AdmissionApproved,
    AdmissionDenied,
    RequestCancelled,
    RequestQueued,
)
from bailiwick.scheduler.decision import Denied
from bailiwick.scheduler.node_state import NodeEntry
from bailiwick.scheduler.quota_policy import Quota, QuotaScope, unit_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvariantBroken
from bailiwick.vocab.values import AMOUNT_MAX, check_integer
from bailiwick.vocab.words import Dimension, HardwareGeneration
from bailiwick.whatif.changes import QuotaChange, changed_quota
from bailiwick.whatif.trial import StateTrial

NODES_MAX = 64
"""New nodes that may be supposed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supposed:
    """What is supposed."""

    quota: Mapping[Dimension, int] = field(default_factory=dict)
    """So much more of each, in the unit that the limit counts."""
    nodes: int = 0
    generation: HardwareGeneration | None = None

    def __post_init__(self) -> None:
        check_integer("nodes", self.nodes, low=0, high=NODES_MAX)
        for dimension, more in self.quota.items():
            check_integer(dimension.value, more, low=0, high=AMOUNT_MAX // unit_of(dimension))


@dataclass(frozen=True, slots=True)
class WouldStart:
    """It would start at once, so many of its members on new nodes."""

    members: int
    on_new_nodes: int


@dataclass(frozen=True, slots=True)
class WouldWait:
    """It would still wait: where, why, and until when by our best guess."""

    entry: WaitingEntry


@dataclass(frozen=True, slots=True)
class WouldBeRefused:
    """As another request it would not even be taken up."""

    denied: Denied


@dataclass(frozen=True, slots=True)
class WouldEnd:
    """It would leave the line without having run: its deadline is over."""

    cause: CancelCause


Outcome: TypeAlias = WouldStart | WouldWait | WouldBeRefused | WouldEnd


@dataclass(frozen=True, slots=True)
class EntryTried:
    """What would become of it, and what new nodes were taken to be."""

    outcome: Outcome
    like: NodeCapacity | None = None
    """What each new node has; nothing if none was supposed, or no machine could hold it."""


def try_entry(trial: StateTrial, entry_id: int, *, supposed: Supposed) -> EntryTried:
    """What would become of the entry; the trial is used up."""
    request = trial.state.entry(entry_id).request
    wanted = _wanted(request, supposed)
    _raise_quota(trial, wanted, more=supposed.quota)
    like = _like(trial.state, wanted) if supposed.nodes else None
    new, kind = frozenset[str](), None
    if like is not None:
        new, kind = _add_nodes(trial, like, count=supposed.nodes), like.capacity
    events: list[Event] = []
    if wanted != request:
        trial.do(Cancel(entry_id))
        events = trial.do(Submit(wanted))
        refused = [event for event in events if isinstance(event, AdmissionDenied)]
        if refused:
            return EntryTried(WouldBeRefused(refused[0].denied), kind)
        queued = [event for event in events if isinstance(event, RequestQueued)]
        entry_id = queued[0].entry_id if queued else entry_id
    events += trial.look()
    return EntryTried(_outcome(trial, entry_id, events, new=new), kind)


def _wanted(request: PlacementRequest, supposed: Supposed) -> PlacementRequest:
    generation = supposed.generation
    if generation is None or generation is request.generation:
        return request
    return replace(request, generation=generation, gpu_models=())


def _outcome(
    trial: StateTrial, entry_id: int, events: list[Event], *, new: frozenset[str]
) -> Outcome:
    if entry_id in trial.state.line.entries:
        return WouldWait(waiting_entry(trial.state, entry_id, now_ms=trial.now_ms))
    nodes = [
        node
        for event in events
        if isinstance(event, AdmissionApproved) and event.entry_id in (entry_id, None)
        for node in event.nodes
    ]
    if not nodes:
        ended = [each for each in events if isinstance(each, RequestCancelled)]
        if any(each.entry_id == entry_id for each in ended):
            return WouldEnd(next(each.cause for each in ended if each.entry_id == entry_id))
        raise InvariantBroken(f"entry {entry_id} neither waits nor runs")
    return WouldStart(len(nodes), sum(node in new for node in nodes))


# -- more quota ------------------------------------------------------------------------------


def _raise_quota(
    trial: StateTrial, request: PlacementRequest, *, more: Mapping[Dimension, int]
) -> None:
    scopes = {QuotaScope(request.tenant), QuotaScope(request.tenant, request.project)}
    for scope in sorted(scopes, key=str) if any(more.values()) else ():
        before = trial.state.quotas.quota_of(scope.tenant, scope.project)
        changes = _raised(before, scope, request=request, more=more)
        after = changed_quota(before, changes)
        if after != before:
            trial.do(SetQuota(scope.tenant, after, scope.project))


def _raised(
    before: Quota, scope: QuotaScope, *, request: PlacementRequest, more: Mapping[Dimension, int]
) -> list[QuotaChange]:
    found = []
    for each in before.limits:
        limit = min(each.limit + more.get(each.dimension, 0), _most(each.dimension))
        found.append(QuotaChange(scope, each.dimension, limit))
    gpus, kind = more.get(Dimension.GPU_COUNT, 0), request.generation
    if gpus and kind is not None and before.gpu_generations:
        held = {each.generation: each.count for each in before.gpu_generations}
        limit = min(held.get(kind, 0) + gpus, _most(Dimension.GPU_COUNT))
        found.append(QuotaChange(scope, kind, limit))
    return found


def _most(dimension: Dimension) -> int:
    return AMOUNT_MAX // unit_of(dimension)


# -- more nodes ------------------------------------------------------------------------------


def _like(state: State, request: PlacementRequest) -> NodeEntry | None:
    """A machine of the class that most open nodes are of which could hold it when empty."""
    best: tuple[int, NodeEntry] | None = None
    for members in state.ledger.by_class.values():
        fitting = [each for each in members.values() if _bears(each, request)]
        if fitting and (best is None or len(fitting) > best[0]):
            best = len(fitting), fitting[0]
    return None if best is None else best[1]


def _bears(entry: NodeEntry, request: PlacementRequest) -> bool:
    has = entry.capacity
    if not entry.takes_leases or not entry.has_labels(request.labels):
        return False
    if request.cpu_milli > has.cpu_milli or request.mem_bytes > has.mem_bytes:
        return False
    gpus = [
        gpu
        for gpu in has.gpus
        if request.generation in (None, gpu.generation)
        and gpu.vram_bytes >= request.gpu_vram
        and (not request.gpu_models or gpu.model in request.gpu_models)
    ]
    return request.block_bytes <= has.block_bytes and len(gpus) >= request.device_count


def _add_nodes(trial: StateTrial, like: NodeEntry, *, count: int) -> frozenset[str]:
    ledger, names, number = trial.state.ledger, set[str](), 0
    while len(names) < count:  # bounded: every number is tried once, and names are finite
        number += 1
        name = f"whatif-{number}"
        if name in ledger or name in trial.state.trust.quarantines:
            continue
        trial.do(RegisterNode(name, like.capacity))
        # It has proven what the other has: whether a new machine is trusted is not the question.
        ledger.set_attested(name, like.attested)
        ledger.labelled.give(ledger.entry(name), like.given)
        ledger.set_gate(name, False)
        names.add(name)
    return frozenset(names)
