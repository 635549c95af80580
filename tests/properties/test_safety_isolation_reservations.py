"""Who is kept out by a rule gets its turn: what is promised is kept, and no rule is broken for it.

Work of one rank comes on small fleets, ends when it says or before, and nobody renews. So nothing
but a rule, or whoever starts beside a reservation, could make a promise come late.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import event, given, settings
from hypothesis import strategies as st

from bailiwick.isolation.judge import violations
from bailiwick.isolation.placements import Placement, Residue
from bailiwick.isolation.policy import Linger, Policy
from bailiwick.kernel import Queued, Release, Submit
from bailiwick.kernel.isolation.placements import placements, site_of
from bailiwick.kernel.isolation.subjects import subject_of_request
from bailiwick.kernel.work.plan import PreemptPlan, plan
from bailiwick.scheduler.backfill.openings import PoliciesAhead
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.words import Priority
from tests.support.isolation_grounds import INNER, OUTER, policies
from tests.support.isolation_histories import HOUR_MS, History
from tests.unit.kernel.desk import CRITICAL

ALL = (*OUTER, *INNER)
BROKEN = {"room_postponed", "room_lost"}


class Plain(History):
    """A history in which all work is of one rank, and nobody is evicted or stays longer."""

    def __init__(self, policy: Policy, seed: int, *, nodes: int = 3) -> None:
        calm = {"grace_ms": 0, "preempt_from": CRITICAL, "aging_max": 0}
        super().__init__(policy, seed, nodes=nodes, patience_ms=10**12, **calm)
        self.own = Random(seed)

    def request(self) -> PlacementRequest:
        return replace(super().request(), priority=Priority.NORMAL)

    def go_on(self, *, early: bool) -> None:
        """Somebody comes, or leaves before its time; then time passes to the next end."""
        state, random = self.desk.state, self.own
        for _ in range(random.choice((1, 2, 3))):
            self.desk.do(Submit(self.request()))
        if early and state.leases and random.random() < 0.2:
            self.desk.do(Release(random.choice(sorted(state.leases))))
        self.desk.tick()
        ends = [state.fields(i).expires_ms for i in state.leases]
        ends += [promise.starts_ms for promise in state.line.promises.values()]
        later = [at_ms for at_ms in ends if at_ms > self.desk.now_ms]
        self.desk.tick(min(later, default=self.desk.now_ms + HOUR_MS))


@settings(max_examples=60)
@given(policies(kinds=ALL), st.integers(0, 10**6))
def test_no_promise_comes_late_because_of_a_rule(policy: Policy, seed: int) -> None:
    history = Plain(policy, seed)
    for _ in range(12):
        history.go_on(early=bool(seed % 3))
        assert history.violations() == []
    kinds = {str(record.kind) for record in history.desk.records}
    event("promised" if "room_reserved" in kinds else "nothing promised")
    assert not kinds & BROKEN


def _later(history: History, at_ms: int, gone: set[str]) -> tuple[list[Placement], list[Residue]]:
    """Who is still there at a time, and what those who left have left behind."""
    state = history.desk.state
    there = [each for each in placements(state) if each.id not in gone]
    left = list(state.isolation.residues_at(at_ms))
    for each in placements(state):
        if each.id not in gone or each.until_ms is None:
            continue
        for rule in history.policy.rules:
            if isinstance(rule, Linger) and rule.whose.matches(each.subject):
                span = rule.for_ms
                end_ms = min(each.until_ms, at_ms)
                until_ms = None if span is None else end_ms + span
                for kind in rule.kinds:
                    for name in each.domains[kind]:
                        stay = [e for e in there if rule.whose.matches(e.subject)]
                        if not any(name in e.domains[kind] for e in stay):
                            left.append(Residue(rule.name, kind, name, end_ms, until_ms))
    return there, left


def _is_open(history: History, request: PlacementRequest, node: str, at_ms: int) -> bool:
    """Whether the judge finds nothing against one who comes then, with any part of the node."""
    state = history.desk.state
    gone = {e.id for e in placements(state) if e.until_ms is not None and e.until_ms <= at_ms}
    there, left = _later(history, at_ms, gone)
    site = site_of(state.ledger.entry(node))
    devices = tuple(range(len(site.fabrics))) if request.device_count else ()
    subject, until_ms = subject_of_request(request), at_ms + request.ttl_ms
    # After all who left at this very moment.
    new = Placement(
        "new", subject, node, site.domains(devices=devices), site.labels, at_ms, until_ms
    )
    left = [e for e in left if e.until_ms is None or e.until_ms > at_ms]
    left = [replace(e, left_ms=e.left_ms - 1) for e in left]
    others = [replace(each, until_ms=None) for each in there]
    told = violations(history.policy, [*others, new], now_ms=at_ms, residues=left)
    return not any("new" in each.who for each in told)


@settings(max_examples=60)
@given(policies(kinds=ALL), st.integers(0, 10**6))
def test_a_node_opens_when_the_judge_says_so(policy: Policy, seed: int) -> None:
    history = Plain(policy, seed)
    for _ in range(4):
        history.go_on(early=True)
    state, now_ms = history.desk.state, history.desk.now_ms
    ahead = PoliciesAhead(state.guards.policies, now_ms=now_ms, terms={})
    request = replace(history.request(), gang_size=1)
    timeless = not policy.exceptions and not any(getattr(e, "window", None) for e in policy.rules)
    timeless = timeless and not any(isinstance(rule, Linger) for rule in policy.rules)
    for name, entry in state.ledger.entries.items():
        found = ahead.opens(request, entry.handle, from_ms=now_ms + 1)
        event("never" if found is None else "at once" if found == now_ms + 1 else "later")
        if found is not None:
            assert _is_open(history, request, str(name), found)
        if timeless:
            ends = {state.fields(i).expires_ms for i in state.leases} | {now_ms + 1}
            for at_ms in ends if found is None else {at for at in ends if at < found}:
                assert not _is_open(history, request, str(name), at_ms)


@settings(max_examples=60)
@given(policies(kinds=ALL), st.integers(0, 10**6))
def test_victims_leave_a_place_that_is_open_to_who_comes(policy: Policy, seed: int) -> None:
    history = History(policy, seed, nodes=3, grace_ms=5_000)
    for _ in range(10):
        history.step()
    state, now_ms = history.desk.state, history.desk.now_ms
    for _ in range(4):
        request = replace(history.request(), priority=Priority.CRITICAL)
        planned = plan(state, Submit(request), now_ms=now_ms)
        if not isinstance(planned, PreemptPlan):
            continue
        event("a gang makes room" if request.gang_size > 1 else "one makes room")
        gone = {str(each.lease_id) for each in planned.victims}
        gone |= {str(i) for i in state.leaving if i not in state.fenced}
        there, left = _later(history, now_ms, gone)
        new = []
        for number, node in enumerate(planned.nodes):
            site = site_of(state.ledger.entry(node))
            subject, until_ms = subject_of_request(request), now_ms + request.ttl_ms
            # As little of the node as there is to hold: the most that could be said against it.
            held = site.domains(caches=(), devices=())
            place = node, held, site.labels, now_ms + 1, until_ms
            new.append(Placement(f"new-{number}", subject, *place))
        others = [replace(each, until_ms=None) for each in there]
        told = violations(policy, [*others, *new], now_ms=now_ms, residues=left)
        assert not any(who.startswith("new") for each in told for who in each.who)


def test_an_entry_is_told_when_it_may_start() -> None:
    """The makers above do queue work (so that the tests can fail)."""
    history = Plain(Policy(()), 1)
    answers = [history.desk.do(Submit(history.request())) for _ in range(20)]
    assert any(isinstance(answer, Queued) for answer in answers)
