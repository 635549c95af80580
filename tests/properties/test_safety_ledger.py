"""The ledger never tells a story that a plain list of leases would not tell.

A random history (nodes come, close, leave; holds are taken, renewed, revoked, fenced, expired) is
told to a ledger and to a reference in dicts and lists. After every step both must say the same, in
every resource and on every device, and the quota table must hold exactly what the leases add up
to. What is refused must have changed nothing.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bailiwick.fleet.node import NodeCapacity
from bailiwick.scheduler.admission import AdmissionController
from bailiwick.scheduler.decision import Approved
from bailiwick.scheduler.engine import has_compiled
from bailiwick.scheduler.lease import EndedLease, Lease
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.placement import PlacementScorer, ScoreWeights, Strategy
from bailiwick.scheduler.quota import QuotaManager
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.scheduler.revoker import LeaseRevoker, Revocation
from bailiwick.vocab.errors import (
    BailiwickError,
    Conflict,
    IllegalTransition,
    InvalidValue,
    NotFound,
    Stale,
)
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import LeaseClass, PreemptionReason
from tests.support.naive_fleet import (
    FENCED,
    NaiveFleet,
    NaiveNode,
    capacities,
    problems,
    remember,
    requests,
    snapshot,
)

NAMES = [f"n{i}" for i in range(6)]
names = st.sampled_from(NAMES)
Pick = tuple[str, int]


def picks(*sorts: str) -> st.SearchStrategy[Pick]:
    """Which lease: of what sort, and the how-manyth of them; now and then any id at all."""
    return st.tuples(st.sampled_from([*sorts, *sorts, "any"]), st.integers(0, 50))


GRACE_MS = 40

MODE_EDGES = {
    "accepting": {"draining", "fence_lost", "cordoned"},
    "draining": {"drained", "accepting", "fence_lost"},
    "drained": {"maintenance", "returning"},
    "maintenance": {"returning"},
    "returning": {"accepting", "fence_lost"},
    "fence_lost": {"maintenance"},
    "cordoned": {"accepting", "draining", "fence_lost"},
}
SPARES_GUARANTEED = {
    "priority_preemption",
    "quota_rebalance",
    "burst_credit_exhausted",
    "budget_exhausted",
    "cost_cap_eviction",
}
SCORERS = [
    PlacementScorer(),
    PlacementScorer(Strategy.BEST_FIT),
    PlacementScorer(Strategy.ROUND_ROBIN),
    PlacementScorer(Strategy.WEIGHTED, weights=ScoreWeights(0.5, 0.5, -0.5, 0.1)),
]


class LedgerMachine(RuleBasedStateMachine):
    """One ledger beside its reference; subclasses say on which engine."""

    engine = "auto"

    @initialize(
        first=st.lists(capacities, min_size=2, max_size=5),
        several=st.lists(requests(gang_max=3, small=True), min_size=2, max_size=6),
    )
    def open(self, first: list[NodeCapacity], several: list[PlacementRequest]) -> None:
        self.ledger = CapacityLedger(engine=self.engine, quotas=QuotaManager())
        self.fleet = NaiveFleet()
        self.ids: list[int] = []  # every id ever given, and some that never were
        self.now = 0
        self.torn = True
        self.revoker = LeaseRevoker(self.ledger, grace_ms=GRACE_MS, teardown=lambda _: self.torn)
        self.hasty = LeaseRevoker(self.ledger, teardown=lambda _: self.torn)
        for name, capacity in zip(NAMES, first, strict=False):
            self.ledger.register_node(name, capacity)
            self.fleet.nodes[name] = NaiveNode(capacity)
        self.fill(several)
        for request in several[:2]:
            self.hold_where_it_fits(request, 0, reserve=True)

    # -- helpers -----------------------------------------------------------------------------

    def refused(self, error: type[BailiwickError], call: Callable[[], object]) -> None:
        before = snapshot(self.ledger)
        with pytest.raises(error):
            call()
        assert snapshot(self.ledger) == before, "a refused call changed something"

    def pick(self, pick: Pick) -> int:
        """An id: of a live lease of that sort, or any that ever was or never was given."""
        sort, which = pick
        sorts = {
            "live": list(self.fleet.leases),
            "reserved": [i for i, lease in self.fleet.leases.items() if lease.reserved],
            "gang": [i for i, lease in self.fleet.leases.items() if lease.gang is not None],
        }
        in_state = [i for i, lease in self.fleet.leases.items() if lease.state == sort]
        pool = sorts.get(sort, in_state) or [*self.fleet.leases, *self.ids, 7 << 32, 2**62]
        return pool[which % len(pool)]

    def gone(self, lease_id: int, call: Callable[[], object]) -> bool:
        """Whether there is no such lease; then the call must say so."""
        if lease_id in self.fleet.leases:
            return False
        self.refused(NotFound, call)
        return True

    def forget(self, ended: tuple[EndedLease, ...], *, expected: list[int], cause: str) -> None:
        assert sorted(e.lease.id for e in ended) == sorted(expected)
        for e in ended:
            assert e.cause == cause
            assert (e.reason is not None) == (cause == "preempted")
            assert e.ended_ms == self.now
            del self.fleet.leases[e.lease.id]

    def took(self, leases: tuple[Lease, ...], request: PlacementRequest) -> None:
        remember(self.fleet, leases, request)
        self.ids.extend(lease.id for lease in leases)

    # -- time and nodes ----------------------------------------------------------------------

    @rule(ms=st.sampled_from([0, 1, 39, 40, 60, 5000]))
    def wait(self, ms: int) -> None:
        self.now += ms

    @rule(torn=st.booleans())
    def teardown_works(self, torn: bool) -> None:
        self.torn = torn

    @rule(name=names, capacity=capacities)
    def register(self, name: str, capacity: NodeCapacity) -> None:
        if name in self.fleet.nodes:
            self.refused(Conflict, lambda: self.ledger.register_node(name, capacity))
            return
        self.ledger.register_node(name, capacity)
        self.fleet.nodes[name] = NaiveNode(capacity)

    @rule(name=names)
    def depart(self, name: str) -> None:
        if name not in self.fleet.nodes:
            self.refused(NotFound, lambda: self.ledger.depart_node(name))
            return
        lost = {i for lease in self.fleet.on(name) for i in self.fleet.with_gang(lease.id)}
        ended = self.ledger.depart_node(name, now_ms=self.now)
        self.forget(ended, expected=list(lost), cause="node_departed")
        del self.fleet.nodes[name]

    @rule(name=names, mode=st.sampled_from(NodeMode))
    def set_mode(self, name: str, mode: NodeMode) -> None:
        node = self.fleet.nodes.get(name)
        if node is None:
            self.refused(NotFound, lambda: self.ledger.set_mode(name, mode))
        elif mode not in MODE_EDGES[node.mode]:
            self.refused(IllegalTransition, lambda: self.ledger.set_mode(name, mode))
        elif mode == "drained" and self.fleet.on(name):
            self.refused(Conflict, lambda: self.ledger.set_mode(name, mode))
        else:
            assert self.ledger.set_mode(name, mode).before == node.mode
            node.mode = mode.value

    @rule(name=names)
    def drain(self, name: str) -> None:
        """As far as the leases on it let it be drained."""
        node = self.fleet.nodes.get(name)
        if node is not None and node.mode == "accepting":
            self.set_mode(name, NodeMode.DRAINING)
            self.set_mode(name, NodeMode.DRAINED)

    @rule(name=names)
    def reopen(self, name: str) -> None:
        """The whole way back, so that closed nodes do not pile up."""
        node = self.fleet.nodes.get(name)
        way = {
            "draining": ["accepting"], "drained": ["returning", "accepting"],
            "maintenance": ["returning", "accepting"], "returning": ["accepting"],
            "fence_lost": ["maintenance", "returning", "accepting"], "cordoned": ["accepting"],
        }  # fmt: skip
        for mode in way.get(node.mode, []) if node is not None else []:
            self.ledger.set_mode(name, NodeMode(mode))
        if node is not None:
            node.mode = "accepting"

    @rule(name=names, quarantined=st.booleans())
    def quarantine(self, name: str, quarantined: bool) -> None:
        if name not in self.fleet.nodes:
            self.refused(NotFound, lambda: self.ledger.set_quarantine(name, quarantined))
            return
        self.ledger.set_quarantine(name, quarantined)
        self.fleet.nodes[name].quarantined = quarantined

    @rule(name=names, gated=st.booleans())
    def gate(self, name: str, gated: bool) -> None:
        if name not in self.fleet.nodes:
            self.refused(NotFound, lambda: self.ledger.set_gate(name, gated))
            return
        self.ledger.set_gate(name, gated)
        self.fleet.nodes[name].gated = gated

    @rule(name=names, proven=st.sampled_from([{}, {"attested.tpm2.boot": "ok"}]))
    def attest(self, name: str, proven: dict[str, str]) -> None:
        if name not in self.fleet.nodes:
            self.refused(NotFound, lambda: self.ledger.set_attested(name, proven))
            return
        self.ledger.set_attested(name, proven)
        self.fleet.nodes[name].attested = proven

    # -- holds -------------------------------------------------------------------------------

    @rule(name=names, request=requests(), reserve=st.booleans())
    def hold(self, name: str, request: PlacementRequest, reserve: bool) -> None:
        call = self.ledger.reserve if reserve else self.ledger.grant
        if name not in self.fleet.nodes:
            self.refused(NotFound, lambda: call(name, request))
        elif not self.fleet.can_hold(name, request):
            self.refused(Conflict, lambda: call(name, request))
        else:
            lease = call(name, request, now_ms=self.now)
            assert (lease.node, lease.reserved) == (name, reserve)
            assert lease.expires_ms == self.now + request.ttl_ms
            self.took((lease,), request)

    @rule(request=requests(gang_max=5), scorer=st.sampled_from(SCORERS))
    def admit(self, request: PlacementRequest, scorer: PlacementScorer) -> None:
        before = snapshot(self.ledger)
        answer = AdmissionController(self.ledger, scorer=scorer).admit(request, now_ms=self.now)
        if isinstance(answer, Approved):
            assert len(answer.leases) == request.gang_size
            assert (answer.leases[0].gang is not None) == (request.gang_size > 1)
            for lease in answer.leases:
                assert request.labels.items() <= self.fleet.labels_of(lease.node).items()
            self.took(answer.leases, request)
        else:
            assert snapshot(self.ledger) == before
            assert self.fleet.seats_in_all(request) < request.gang_size

    @rule(request=requests(small=True), which=st.integers(0, 5), reserve=st.booleans())
    def hold_where_it_fits(self, request: PlacementRequest, which: int, reserve: bool) -> None:
        fitting = [name for name in self.fleet.nodes if self.fleet.can_hold(name, request)]
        if fitting:
            self.hold(fitting[which % len(fitting)], request, reserve)

    @rule(several=st.lists(requests(gang_max=3, small=True), min_size=2, max_size=6))
    def fill(self, several: list[PlacementRequest]) -> None:
        """So that there is something to take away."""
        for request in several:
            self.admit(request, SCORERS[0])

    @rule(pick=picks("reserved"))
    def commit(self, pick: Pick) -> None:
        lease_id = self.pick(pick)
        if self.gone(lease_id, lambda: self.ledger.commit(lease_id, now_ms=self.now)):
            return
        lease = self.fleet.leases[lease_id]
        if not lease.reserved or lease.state != "active":
            self.refused(Conflict, lambda: self.ledger.commit(lease_id, now_ms=self.now))
            return
        term = lease.expires - self.ledger.lease(lease_id).granted_ms
        lease.expires = self.ledger.commit(lease_id, now_ms=self.now).expires_ms
        assert lease.expires == self.now + term
        lease.reserved = False

    @rule(
        pick=picks("live", "gang"),
        ttl=st.sampled_from([1, 30, 500]),
        generation=st.sampled_from([None, 0, 1]),
    )
    def renew(self, pick: Pick, ttl: int, generation: int | None) -> None:
        """``generation`` is how far behind the caller is: None for one that does not say."""
        lease_id = self.pick(pick)
        lease = self.fleet.leases.get(lease_id)
        held = None if generation is None or lease is None else lease.generation - generation

        def call() -> Lease:
            return self.ledger.renew(lease_id, ttl_ms=ttl, now_ms=self.now, generation=held)

        if lease is None:
            self.refused(NotFound, call)
        elif held == 0:
            self.refused(InvalidValue, call)
        elif held is not None and held != lease.generation:
            self.refused(Stale, call)
        elif lease.state != "active" or lease.expires <= self.now:
            self.refused(Conflict, call)
        else:
            call()
            lease.generation += 1
            lease.expires = self.now + ttl

    @rule(pick=picks("live"))
    def checkpoint(self, pick: Pick) -> None:
        lease_id = self.pick(pick)
        if not self.gone(lease_id, lambda: self.ledger.report_checkpoint(lease_id, now_ms=0)):
            self.ledger.report_checkpoint(lease_id, now_ms=self.now)
            self.fleet.leases[lease_id].checkpoint = self.now

    # -- ends --------------------------------------------------------------------------------

    @rule(pick=picks("live", "fenced"))
    def release(self, pick: Pick) -> None:
        lease_id = self.pick(pick)
        if self.gone(lease_id, lambda: self.ledger.release(lease_id)):
            return
        if self.fleet.leases[lease_id].owner == FENCED:
            self.refused(Conflict, lambda: self.ledger.release(lease_id))
            return
        ended = self.ledger.release(lease_id, now_ms=self.now)
        self.forget((ended,), expected=[lease_id], cause="released")

    @rule(pick=picks("live", "fenced"), reason=st.sampled_from(PreemptionReason))
    def evict(self, pick: Pick, reason: PreemptionReason) -> None:
        lease_id = self.pick(pick)
        if self.gone(lease_id, lambda: self.ledger.evict(lease_id, reason, now_ms=self.now)):
            return
        lease = self.fleet.leases[lease_id]
        guaranteed = lease.request.lease_class is LeaseClass.GUARANTEED
        if lease.owner == FENCED or (guaranteed and reason in SPARES_GUARANTEED):
            self.refused(Conflict, lambda: self.ledger.evict(lease_id, reason, now_ms=self.now))
            return
        ended = self.ledger.evict(lease_id, reason, now_ms=self.now)
        assert ended.reason is reason
        self.forget((ended,), expected=[lease_id], cause="preempted")

    @rule()
    def expire(self) -> None:
        due = [
            i
            for lease in self.fleet.leases.values()
            if lease.state == "active" and lease.expires <= self.now
            for i in self.fleet.with_gang(lease.id)
        ]
        ended = self.ledger.expire(self.now)
        self.forget(ended, expected=sorted(set(due)), cause="expired")

    # -- walks -------------------------------------------------------------------------------

    def walked(self, walk: Revocation, *, expected: list[int], torn: bool) -> None:
        """The leases left their owners; what was not torn down is fenced."""
        assert sorted(e.lease.id for e in walk.ended) == sorted(expected)
        last = {step.lease_id: step.after.value for step in walk.steps}
        for lease_id in expected:
            lease = self.fleet.leases[lease_id]
            if torn:
                assert last[lease_id] in ("torndown", "failed_closed")
                del self.fleet.leases[lease_id]
            else:
                assert last[lease_id] == "fenced"
                lease.owner, lease.state, lease.gang = FENCED, "fenced", None

    @rule(pick=picks("live", "gang"), reason=st.sampled_from(PreemptionReason), hasty=st.booleans())
    def revoke(self, pick: Pick, reason: PreemptionReason, hasty: bool) -> None:
        lease_id, revoker = self.pick(pick), self.hasty if hasty else self.revoker

        def call() -> Revocation:
            return revoker.revoke(lease_id, reason, now_ms=self.now)

        if self.gone(lease_id, call):
            return
        members = self.fleet.with_gang(lease_id)
        leases = [self.fleet.leases[i] for i in members]
        if any(lease.state != "active" for lease in leases):
            self.refused(IllegalTransition, call)
            return
        guaranteed = any(lease.request.lease_class is LeaseClass.GUARANTEED for lease in leases)
        if guaranteed and reason in SPARES_GUARANTEED:
            self.refused(Conflict, call)
            return
        walk = call()
        assert {step.reason for step in walk.steps} == {reason}
        for lease in leases:
            lease.state = "grace_running"
            lease.expires = min(lease.expires, self.now + (0 if hasty else GRACE_MS))
        if hasty:
            self.walked(walk, expected=members, torn=self.torn)
        else:
            assert walk.ended == ()

    @rule(pick=picks("grace_running"))
    def checkpoint_in_grace(self, pick: Pick) -> None:
        self.checkpoint_at(self.pick(pick))

    def checkpoint_at(self, lease_id: int) -> None:

        def call() -> Revocation:
            return self.revoker.report_checkpoint(lease_id, now_ms=self.now)

        if self.gone(lease_id, call):
            return
        if self.fleet.leases[lease_id].state != "grace_running":
            self.refused(IllegalTransition, call)
            return
        self.fleet.leases[lease_id].checkpoint = self.now
        self.walked(call(), expected=[lease_id], torn=self.torn)

    @rule(pick=picks("live", "gang"), torn=st.booleans())
    def save_and_go(self, pick: Pick, torn: bool) -> None:
        """One member of what is revoked reports its checkpoint at once."""
        lease_id = self.pick(pick)
        self.torn = torn
        self.revoke(pick, PreemptionReason.OPERATOR_DRAIN, hasty=False)
        if lease_id in self.fleet.leases:
            self.checkpoint_at(lease_id)

    @rule()
    def advance(self) -> None:
        due = {
            i
            for lease in self.fleet.leases.values()
            if lease.owner != FENCED and lease.expires <= self.now
            for i in self.fleet.with_gang(lease.id)
        }
        self.walked(self.revoker.advance(self.now), expected=list(due), torn=self.torn)

    @rule(pick=picks("fenced"))
    def clear_fence(self, pick: Pick) -> None:
        fenced = [i for i, lease in self.fleet.leases.items() if lease.owner == FENCED]
        lease_id = self.pick(pick)

        def call() -> EndedLease:
            return self.revoker.clear_fence(lease_id, now_ms=self.now)

        if self.gone(lease_id, call):
            return
        if lease_id not in fenced:
            self.refused(Conflict, call)
            return
        self.forget((call(),), expected=[lease_id], cause="released")

    @precondition(lambda self: self.fleet.leases)
    @rule(pick=picks("live", "gang"), less=st.integers(0, 1), through_revoker=st.booleans())
    def let_a_term_run_out(self, pick: Pick, less: int, through_revoker: bool) -> None:
        """To the very moment, or to one millisecond before it."""
        lease = self.fleet.leases.get(self.pick(pick))
        if lease is None or lease.owner == FENCED:
            return
        self.now = max(self.now, lease.expires - less)
        if through_revoker:
            self.advance()
        else:
            self.expire()

    # -- what must hold ----------------------------------------------------------------------

    @invariant()
    def both_tell_the_same_story(self) -> None:
        if hasattr(self, "fleet"):
            assert list(problems(self.ledger, self.fleet)) == []

    def teardown(self) -> None:
        """When everything has been given back, everything is free."""
        if not hasattr(self, "fleet"):
            return
        self.torn = True
        for lease_id, lease in list(self.fleet.leases.items()):
            if lease.owner == FENCED:
                self.revoker.clear_fence(lease_id, now_ms=self.now)
            else:
                self.ledger.release(lease_id, now_ms=self.now)
        self.fleet.leases.clear()
        assert list(problems(self.ledger, self.fleet)) == []
        assert not self.ledger.gangs


class PureLedgerMachine(LedgerMachine):
    engine = "pure"


class CompiledLedgerMachine(LedgerMachine):
    engine = "compiled"


TestPureLedger = PureLedgerMachine.TestCase
if has_compiled():
    TestCompiledLedger = CompiledLedgerMachine.TestCase
