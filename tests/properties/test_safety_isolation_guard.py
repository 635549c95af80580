"""Whatever the kernel grants, the judge finds nothing against it; and it keeps nobody out for less.

Histories have gangs, preemption with and without grace, claims, reservations, renewals, nodes that
come and go, and time that passes over windows and the ends of exceptions, on both engines.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.isolation.policy import Policy
from bailiwick.kernel import Refused
from bailiwick.scheduler.decision import NodesForbidden, NodesKeptApart
from tests.support.isolation_grounds import INNER, OUTER, policies
from tests.support.isolation_histories import History

ALL = (*OUTER, *INNER)
STEPS = 25


@given(policies(kinds=ALL), st.integers(0, 10**6))
def test_nothing_that_is_granted_breaks_a_rule(policy: Policy, seed: int) -> None:
    history = History(policy, seed)
    for _ in range(STEPS):
        history.step()
        assert history.violations() == []


@given(policies(kinds=ALL), st.integers(0, 10**6))
def test_nobody_is_kept_out_where_the_judge_finds_nothing(policy: Policy, seed: int) -> None:
    history = History(policy, seed)
    for _ in range(STEPS // 2):
        history.step()
    request = history.request()
    while request.gang_size > 1:
        request = history.request()
    allowed = history.allowed(request)
    (guard,) = history.desk.state.guards.policies
    guard.look(history.desk.now_ms)
    found = guard.nodes_for(request)
    assert found is not None
    handles = {str(node): entry.handle for node, entry in history.desk.state.ledger.entries.items()}
    assert {node for node, handle in handles.items() if handle in found} == allowed
    answer = history.ask(request)
    if isinstance(answer, Refused):
        detail = answer.denied.detail
        assert not (allowed == set(handles) and isinstance(detail, NodesKeptApart | NodesForbidden))
        if isinstance(detail, NodesKeptApart):
            assert detail.rule in {rule.name for rule in policy.rules}
    else:
        assert set(map(str, answer.nodes)) <= allowed


@given(policies(kinds=ALL), st.integers(0, 10**6))
def test_who_fits_somewhere_without_breaking_a_rule_is_let_there(policy: Policy, seed: int) -> None:
    history = History(policy, seed, nodes=3, patient=0)
    for _ in range(STEPS // 2):
        history.step()
    for _ in range(4):
        request = replace(history.request(), gang_size=1)
        fitting = history.fitting(request)
        answer = history.ask(request)
        if isinstance(answer, Refused):
            assert not fitting
        else:
            assert set(map(str, answer.nodes)) <= fitting
        assert history.violations() == []


@given(policies(kinds=INNER), st.integers(0, 10**6))
def test_parts_of_nodes_are_shared_out_and_no_rule_is_broken(policy: Policy, seed: int) -> None:
    history = History(policy, seed, nodes=2, grace_ms=5_000)
    for _ in range(STEPS):
        history.step()
        assert history.violations() == []
