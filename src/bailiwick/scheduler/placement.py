"""Which node suits a request best: four strategies, one ranked answer.

Rules:

- Hard filters come first (mode, quarantine, hardware, labels, policy, capacity); a strategy only
  orders what is left. Policies are handed in as :class:`~.node_set.NodeFilter`.
- ``best`` is what admission uses and does not look at every node; ``score`` ranks every node that
  fits and is for people. They name the same first node, except that ``BEST_FIT`` may pick a near
  tie: its index compares one candidate per list, not all.
- Equal scores go to the node that stands first: nodes stand in order of registration, and a new
  node takes the place of a departed one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bailiwick.scheduler.engine import protocol
from bailiwick.scheduler.handles import Prepared
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeFilter, judges_gangs
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.values import NodeId, check_amount, check_finite, check_kind
from bailiwick.vocab.words import Strategy

__all__ = ["PlacementScore", "PlacementScorer", "ScoreWeights", "Strategy"]


_CODES = {
    Strategy.ROUND_ROBIN: protocol.ROUND_ROBIN,
    Strategy.BEST_FIT: protocol.BEST_FIT,
    Strategy.WEIGHTED: protocol.WEIGHTED,
    Strategy.FRAGMENTATION_AWARE: protocol.FRAGMENTATION_AWARE,
}


@dataclass(frozen=True, slots=True)
class ScoreWeights:
    """How much each leftover counts against a node; negative weights spread instead of pack."""

    cpu: float = 0.25
    mem: float = 0.25
    gpu: float = 0.4
    block: float = 0.1

    def __post_init__(self) -> None:
        for name in ("cpu", "mem", "gpu", "block"):
            check_finite(name, getattr(self, name), low=-1.0, high=1.0)

    def per_mille(self) -> tuple[int, int, int, int]:
        """The weights as the engine takes them: cpu, mem, block, gpu in thousandths."""
        cpu, mem, block, gpu = (round(1000 * w) for w in (self.cpu, self.mem, self.block, self.gpu))
        return cpu, mem, block, gpu


@dataclass(frozen=True, slots=True)
class PlacementScore:
    """One node that fits: its score (higher is better) and the devices the lease would get."""

    node: NodeId
    score: int
    devices: tuple[int, ...]


class PlacementScorer:
    """Ranks the nodes of a ledger for a request."""

    def __init__(
        self,
        strategy: Strategy = Strategy.FRAGMENTATION_AWARE,
        *,
        weights: ScoreWeights | None = None,
        filters: Sequence[NodeFilter] = (),
    ) -> None:
        self.strategy = check_kind("strategy", strategy, Strategy)
        if (strategy is Strategy.WEIGHTED) != (weights is not None):
            raise InvalidValue("weights", weights, "ScoreWeights with WEIGHTED, and only then")
        self.weights = None if weights is None else check_kind("weights", weights, ScoreWeights)
        if not isinstance(filters, list | tuple):
            raise InvalidValue("filters", filters, "a tuple or list of NodeFilter")
        self.filters = tuple(filters)
        self.gang_filters = tuple(f for f in self.filters if judges_gangs(f))

    @property
    def code(self) -> int:
        """The strategy as the engine takes it."""
        return _CODES[self.strategy]

    def ready(self, ledger: CapacityLedger, request: PlacementRequest) -> Prepared:
        """The request prepared for this ledger with this scorer's filters."""
        check_kind("ledger", ledger, CapacityLedger)
        check_kind("request", request, PlacementRequest)
        if self.weights is not None:
            ledger.use_weights(self.weights.per_mille())
        return ledger.prepare(request, self.filters)

    def next_member(self, ready: Prepared, placed: Sequence[int]) -> Prepared:
        """The request as its next member is placed, with others on these nodes already."""
        found = (f.nodes_beside(ready.request, placed) for f in self.gang_filters)
        sets = [nodes for nodes in found if nodes is not None]
        return ready.beside(sets) if sets else ready

    def best(self, ledger: CapacityLedger, request: PlacementRequest) -> NodeId | None:
        """Where one member of the request would go now, or ``None``."""
        ready = self.ready(ledger, request)
        entry = ledger.find(ready, self.code)
        return entry.id if entry is not None else None

    def score(
        self, ledger: CapacityLedger, request: PlacementRequest, *, limit: int | None = None
    ) -> list[PlacementScore]:
        """Every node that fits, best first (at most ``limit``)."""
        if limit is not None:
            check_amount("limit", limit)
        ready = self.ready(ledger, request)
        mask, reach = ledger.reach_of(ready, by_device=False).mask, ledger.reach_of(ready)
        found: list[tuple[int, int, PlacementScore]] = []
        for entry in ledger.entries.values():
            handle = entry.handle
            if mask is not None and not mask[handle >> 3] >> (handle & 7) & 1:
                continue
            scored = ledger.engine.score(self.code, ready.shape, handle, reach.within(handle))
            if scored is not None:
                score, bits = scored
                devices = tuple(i for i in range(bits.bit_length()) if bits >> i & 1)
                found.append((-score, handle, PlacementScore(entry.id, score, devices)))
        found.sort(key=lambda row: row[:2])
        return [row[2] for row in found[:limit]]
