"""The state: everything the journal's records add up to.

Rules:

- Only :mod:`.apply` changes it. Deciding and looking read it; caches inside (prepared requests,
  the engine's indexes) may grow by reading, and no digest ever sees them.
- A lease has a number of its own, given once and never again. The ledger's handle for it is
  internal: handles are reused and may differ from one replica to the next.
- Lookups by lease number, by handle and by entry take constant time.
"""

from __future__ import annotations

from dataclasses import dataclass

from bailiwick.iam import Directory
from bailiwick.kernel.answers import AnswerBook
from bailiwick.kernel.money.book import Issued
from bailiwick.kernel.money.spending import Leaving, Spending
from bailiwick.kernel.owner import Owner
from bailiwick.kernel.settings import Settings
from bailiwick.kernel.trust.book import TrustBook
from bailiwick.kernel.work.arrivals import ArrivalBook
from bailiwick.kernel.work.usage import RunningShares
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.decision import AdmissionDecision, Approved, Denied, HeadroomKept
from bailiwick.scheduler.engine.protocol import FLAG_RELEASED, LeaseFields
from bailiwick.scheduler.fairness import QueueEntry
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.placement import PlacementScorer
from bailiwick.scheduler.preemption import PreemptionManager
from bailiwick.scheduler.queue import FairQueue
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.quota_rows import demand_of
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import NotFound
from bailiwick.vocab.transitions import REVOKE_STATES, RevokeState
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import RESOURCE_KINDS


@dataclass(frozen=True, slots=True)
class Claim:
    """Room that is being made for one entry: who leaves, from where, and how deep the cascade is.

    Until the entry starts, nobody else is placed on those nodes.
    """

    victims: tuple[int, ...]
    nodes: tuple[str, ...]
    depth: int


class ClaimedNodes:
    """A node filter that keeps everybody off claimed nodes; the claimant is asked without it."""

    def __init__(self, ledger: CapacityLedger) -> None:
        self._ledger = ledger
        self._allowed: NodeSet | None = None

    def put(self, claims: dict[int, Claim]) -> None:
        """The claims that count from now on."""
        names = {node for claim in claims.values() for node in claim.nodes}
        closed = [self._ledger.handle_of(name) for name in names if name in self._ledger]
        self._allowed = None
        if closed:
            allowed = NodeSet()
            allowed.bits = bytearray(b"\xff" * (len(self._ledger.by_handle) // 8 + 1))
            for handle in closed:
                allowed.discard(handle)
            self._allowed = allowed

    def refresh(self, claims: dict[int, Claim]) -> None:
        """The fleet changed; a node that joined is not claimed by anybody."""
        if claims:
            self.put(claims)

    def nodes_for(self, request: PlacementRequest) -> NodeSet | None:
        """The nodes that are nobody's claim; all of them, mostly."""
        del request
        return self._allowed


class GuardedAdmission(AdmissionController):
    """Admission that keeps off claimed nodes, and tells a claim as what it is: no policy.

    A claim passes. So what only claims keep out is never told that it can never run.
    """

    def evaluate(self, request: PlacementRequest, *, now_ms: int = 0) -> AdmissionDecision:
        """What the request may have of what nobody claims."""
        decision = super().evaluate(request, now_ms=now_ms)
        if isinstance(decision, Approved) or decision.reason.is_transient:
            return decision
        scorer = PlacementScorer(self.scorer.strategy, weights=self.scorer.weights)
        plain = AdmissionController(self.ledger, scorer=scorer, headroom=self.headroom)
        freely = plain.evaluate(request, now_ms=now_ms)
        if isinstance(freely, Denied):
            return freely
        rows = zip(RESOURCE_KINDS, self.ledger.free.as_tuple(), demand_of(request), strict=False)
        kind, free, wanted = [row for row in rows if row[2]][-1]
        return Denied.because(HeadroomKept(kind, free, free, wanted))


class State:
    """The kernel's state; see the module's rules for who may change it."""

    def __init__(self, settings: Settings | None = None, *, engine: str = "auto") -> None:
        self.size = 0
        self.clock_ms = 0
        self.epoch = 0
        self.lease_serial = 0
        self.gang_serial = 0
        self.engine_name = engine
        self.settings = settings or Settings()
        self.quotas = QuotaManager()
        self.ledger = CapacityLedger(quotas=self.quotas, engine=engine)
        self.arrivals = ArrivalBook()
        self.arrivals.learn(self.ledger)
        self.shares = RunningShares(self.settings.half_life_ms)
        self.line = FairQueue(self.shares, patience_ms=self.settings.patience_ms)
        self.blocked: dict[int, Denied | None] = {}
        self.claims: dict[int, Claim] = {}
        self.claimed = ClaimedNodes(self.ledger)
        self.leases: dict[int, int] = {}
        self.ids: dict[int, int] = {}
        self.fenced: dict[int, Owner] = {}
        self.leaving: dict[int, Leaving] = {}
        self.draining: dict[str, None] = {}
        self.spending = Spending()
        self.invoices: dict[str, Issued] = {}
        self.billed: dict[str, list[Issued]] = {}
        """What was issued for each tenant; it follows from the invoices."""
        self.answers = AnswerBook()
        self.directory = Directory()
        self.trust = TrustBook()
        self.use_settings(self.settings)

    def use_settings(self, settings: Settings) -> None:
        """Work by these settings from now on."""
        self.settings = settings
        self.shares.half_life_ms = settings.half_life_ms
        kept, weights = settings.kept(), settings.score_weights()
        guarded = PlacementScorer(settings.strategy, weights=weights, filters=(self.claimed,))
        plain = PlacementScorer(settings.strategy, weights=weights)
        self.admission = GuardedAdmission(self.ledger, scorer=guarded, headroom=kept)
        self.unguarded = AdmissionController(self.ledger, scorer=plain, headroom=kept)
        self.preemption = PreemptionManager(settings.preemption())
        self.line.patience_ms = settings.patience_ms

    # -- looking -----------------------------------------------------------------------------

    def handle(self, lease_id: int) -> int:
        """The ledger's handle of a lease; an unknown or ended one is an error."""
        handle = self.leases.get(lease_id)
        if handle is None:
            raise NotFound("lease", lease_id, hint="it never existed or has ended")
        return handle

    def fields(self, lease_id: int) -> LeaseFields:
        """The engine's record of a lease."""
        return self.ledger.fields(self.handle(lease_id))

    def phase(self, lease_id: int) -> RevokeState:
        """How far the ending of a lease has come."""
        return REVOKE_STATES[self.fields(lease_id).state]

    def is_released(self, lease_id: int) -> bool:
        """Whether its holder gave the lease back, and only its teardown is waited for."""
        return bool(self.fields(lease_id).flags & FLAG_RELEASED)

    def owner_of(self, lease_id: int) -> Owner:
        """Whose the lease is; of a fenced one, whose it was."""
        if lease_id in self.fenced:
            return self.fenced[lease_id]
        account = self.ledger.handles.accounts[self.fields(lease_id).account]
        return Owner(account.tenant, account.project)

    def node_of(self, lease_id: int) -> NodeId:
        """The node a lease is on."""
        return self.ledger.node_of(self.handle(lease_id))

    def entry(self, entry_id: int) -> QueueEntry:
        """The waiting entry; one that started or was cancelled is an error."""
        return self.line.entry(entry_id)

    def with_gangs(self, lease_ids: tuple[int, ...] | list[int]) -> list[int]:
        """The leases and every other member of their gangs, by lease number, each once."""
        handles = self.ledger.with_gangs(self.handle(lease_id) for lease_id in lease_ids)
        # By number, not by handle: a state that was read back has other handles.
        return sorted(self.ids[handle] for handle in handles)

    def leases_on(self, node: str) -> list[int]:
        """Numbers of the leases on a node, oldest first."""
        handles = self.ledger.engine.leases_on(self.ledger.entry(node).handle)
        return sorted(self.ids[handle] for handle in handles)
