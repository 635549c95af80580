"""The two state tables: every edge passes, every other pair is refused with what was allowed."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from bailiwick.vocab.errors import IllegalTransition
from bailiwick.vocab.transitions import (
    NODE_MODE_EDGES,
    REVOKE_EDGES,
    REVOKE_STATES,
    WAYS_OPEN,
    NodeMode,
    RevokeState,
    check_mode_change,
    check_revoke_change,
)

# Written out here a second time, by hand and in words, from the design (section 5), and of leases
# from the decision on who gets a place back (ADR 15).
MODES = """
accepting -> draining fence_lost cordoned
draining -> drained accepting fence_lost
drained -> maintenance returning
maintenance -> returning
returning -> accepting fence_lost
fence_lost -> maintenance
cordoned -> accepting draining fence_lost
"""
STATES = """
active -> revoke_warning expired
revoke_warning -> grace_running expired
grace_running -> active checkpoint_reported forced_teardown
checkpoint_reported -> torndown fenced
forced_teardown -> torndown fenced
expired -> failed_closed fenced
torndown ->
fenced ->
failed_closed ->
"""
TERMINAL = {"torndown", "fenced", "failed_closed"}


def edges(text: str) -> dict[str, set[str]]:
    rows = (line.split("->") for line in text.strip().splitlines())
    return {source.strip(): set(targets.split()) for source, targets in rows}


MODE_EDGES, STATE_EDGES = edges(MODES), edges(STATES)


@pytest.mark.parametrize(("current", "wanted"), list(product(NodeMode, NodeMode)))
def test_a_node_changes_mode_along_the_table_and_no_other_way(
    current: NodeMode, wanted: NodeMode
) -> None:
    allowed = MODE_EDGES[current.value]
    if wanted.value in allowed:
        check_mode_change(current, wanted)
        return
    with pytest.raises(IllegalTransition) as refused:
        check_mode_change(current, wanted)
    told = refused.value
    assert (told.machine, told.current, told.wanted) == ("node_mode", current, wanted)
    # Recorded histories have the sentence of before there were cordoned nodes.
    assert told.allowed == tuple(sorted(allowed - {"cordoned"}))


@pytest.mark.parametrize(("current", "wanted"), list(product(RevokeState, RevokeState)))
def test_a_lease_ends_along_the_table_and_no_other_way(
    current: RevokeState, wanted: RevokeState
) -> None:
    allowed = STATE_EDGES[current.value]
    if wanted.value in allowed:
        check_revoke_change(current, wanted)
        return
    with pytest.raises(IllegalTransition) as refused:
        check_revoke_change(current, wanted)
    told = refused.value
    assert (told.machine, told.current, told.wanted) == ("revoke_state", current, wanted)
    assert told.allowed == tuple(sorted(allowed))


def test_the_tables_have_a_row_for_every_word() -> None:
    assert set(NODE_MODE_EDGES) == set(NodeMode) == set(MODE_EDGES)
    assert set(REVOKE_EDGES) == set(RevokeState) == set(STATE_EDGES)


@pytest.mark.parametrize("state", list(RevokeState))
def test_a_state_is_terminal_exactly_when_nothing_follows(state: RevokeState) -> None:
    assert state.is_terminal == (state.value in TERMINAL) == (not STATE_EDGES[state.value])


def test_no_state_leads_to_itself() -> None:
    assert not any(mode in after for mode, after in NODE_MODE_EDGES.items())
    assert not any(state in after for state, after in REVOKE_EDGES.items())


@pytest.mark.parametrize("start", list(NodeMode))
def test_every_mode_can_be_left_for_accepting_in_the_end(start: NodeMode) -> None:
    assert "accepting" in reachable(MODE_EDGES, start.value)


@pytest.mark.parametrize("start", list(RevokeState))
def test_every_ending_can_reach_an_end(start: RevokeState) -> None:
    assert reachable(STATE_EDGES, start.value) & TERMINAL


@pytest.mark.parametrize("start", list(NodeMode))
def test_the_way_open_is_the_shortest_along_the_table_but_not_for_a_node_that_is_fenced(
    start: NodeMode,
) -> None:
    way = WAYS_OPEN[start]
    modes = [start, *way]
    assert all(after in NODE_MODE_EDGES[before] for before, after in pairwise(modes))
    if start in (NodeMode.ACCEPTING, NodeMode.FENCE_LOST):
        assert way == ()
        return
    assert way[-1] is NodeMode.ACCEPTING
    assert len(way) == (1 if "accepting" in MODE_EDGES[start] else 2)


def test_a_node_whose_fence_was_lost_never_goes_straight_back_to_work() -> None:
    assert MODE_EDGES["fence_lost"] == {"maintenance"}


def test_the_order_of_states_is_fixed_because_ledgers_store_its_numbers() -> None:
    assert [state.value for state in REVOKE_STATES] == list(STATE_ORDER)


STATE_ORDER = (
    "active", "revoke_warning", "grace_running", "checkpoint_reported", "forced_teardown",
    "torndown", "expired", "fenced", "failed_closed",
)  # fmt: skip


def reachable(table: dict[str, set[str]], start: str) -> set[str]:
    seen, todo = {start}, [start]
    while todo:
        new = table[todo.pop()] - seen
        seen |= new
        todo.extend(new)
    return seen
