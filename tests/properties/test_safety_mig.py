"""Changes of MIG profiles against a slow look at the whole state, whatever everybody does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bailiwick.kernel import (
    CancelMig,
    ChangeMig,
    ChangeMode,
    Command,
    DepartNode,
    OpenNode,
    RegisterNode,
    ReportMig,
    Submit,
    decode,
    digest_of,
    encode,
)
from bailiwick.vocab.errors import BailiwickError
from bailiwick.vocab.mig import MigFailure, MigPhase
from bailiwick.vocab.transitions import NodeMode, RevokeState
from bailiwick.vocab.words import LeaseClass, PreemptionReason
from tests.support.naive_kernel import fold
from tests.unit.kernel.desk import Desk, ask, cores

NODES = ("n1", "n2", "n3")
WHOLE = cores(4, gpus=2)
DIVIDED = replace(WHOLE, gpus=(replace(WHOLE.gpus[0], partitionable=True),) * 2)
REASON = PreemptionReason.OPERATOR_MIG_PROFILE_CHANGE
SECOND, WAIT = 1_000, 60_000
node = st.sampled_from(NODES)
steps = st.one_of(
    st.tuples(st.just("change"), node, st.sampled_from([0, 2_000])),
    st.tuples(st.just("change"), node, st.sampled_from([0, 2_000])),
    st.tuples(st.just("submit"), st.sampled_from(LeaseClass), st.sampled_from([1, 1, 2])),
    st.tuples(st.just("submit"), st.sampled_from(LeaseClass), st.sampled_from([1, 1, 2])),
    st.tuples(st.just("pass"), st.sampled_from([1, 2_000, WAIT // 2])),
    st.tuples(st.just("report"), node, st.sampled_from([None, None, MigFailure.IN_USE])),
    st.tuples(st.just("cancel"), node),
    st.tuples(st.just("open"), node),
    st.tuples(st.just("mode"), node, st.sampled_from([NodeMode.DRAINING, NodeMode.MAINTENANCE])),
    st.tuples(st.just("depart"), node),
    st.tuples(st.just("register"), node),
)


class House:
    """A kernel, and a naive look at each change."""

    def __init__(self) -> None:
        self.desk = Desk(nodes=[WHOLE] * len(NODES), grace_ms=0)

    def take(self, step: tuple[Any, ...]) -> None:
        desk = self.desk
        if step[0] == "pass":
            desk.tick(desk.now_ms + step[1])
            desk.tick(desk.now_ms + 1)
            self.check_time()
            return
        before = {i: desk.state.node_of(i) for i in desk.state.leases}
        phases = {i: desk.state.phase(i) for i in before}
        try:
            desk.do(self.command(step))
        except BailiwickError:
            return
        if step[0] == "change":
            self.check_who_went(step[1], before, phases)

    def command(self, step: tuple[Any, ...]) -> Command:
        match step:
            case ("change", name, grace_ms):
                return ChangeMig(name, (0,), ("3g.71gb",), grace_ms, WAIT)
            case ("submit", lease_class, members):
                asked = ask(ttl_ms=WAIT * 9, lease_class=lease_class, gang_size=members)
                return Submit(asked)
            case ("report", name, cause):
                found = self.desk.state.mig.changes.get(name)
                number = 0 if found is None else found.id
                return ReportMig(name, number, cause, DIVIDED if cause is None else None)
            case ("cancel", name):
                return CancelMig(name)
            case ("open", name):
                return OpenNode(name)
            case ("mode", name, mode):
                return ChangeMode(name, mode)
            case ("depart", name):
                return DepartNode(name)
            case ("register", name):
                return RegisterNode(name, WHOLE)
        raise AssertionError(step)

    def check_who_went(
        self, name: str, before: dict[int, Any], phases: dict[int, RevokeState]
    ) -> None:
        """All of that node and their gangs have to go or are gone, and nobody else is touched."""
        state = self.desk.state
        on_it = {i for i, where in before.items() if where == name}
        gangs = {i for i in before if i not in state.leases}  # gone by now: who went with grace 0
        gangs |= {i for i in on_it if i in state.leases}
        for lease_id in before:
            if lease_id not in state.leases:
                continue
            goes = state.phase(lease_id) is not RevokeState.ACTIVE
            if lease_id in on_it:
                assert goes
            elif goes and phases[lease_id] is RevokeState.ACTIVE:
                assert state.ledger.revoking[state.handle(lease_id)] is REASON
                mates = set(state.with_gangs([lease_id])) - {lease_id}
                assert mates & gangs, "somebody elsewhere went who is in no gang with the node"
        took = [i for i in state.leases_on(name) if state.phase(i) is RevokeState.ACTIVE]
        assert took == []

    def check_time(self) -> None:
        state, now_ms = self.desk.state, self.desk.now_ms
        for name, change in state.mig.changes.items():
            assert name in state.ledger, "nothing is kept of a machine that is not there"
            mode = state.ledger.entry(name).mode
            assert not state.ledger.entry(name).takes_leases
            match change.phase:
                case MigPhase.DRAINING:
                    assert mode in (NodeMode.DRAINING, NodeMode.DRAINED)
                case MigPhase.REPARTITIONING:
                    assert mode is NodeMode.MAINTENANCE
                    assert state.leases_on(name) == []
                    assert change.due_ms is not None
                    assert now_ms < change.due_ms <= now_ms + WAIT
                case MigPhase.FAILED:
                    assert change.cause is not None


@settings(max_examples=150, deadline=None)
@given(st.lists(steps, min_size=4, max_size=30))
def test_a_divided_node_is_empty_and_closed_and_nobody_elsewhere_goes(
    told: list[tuple[Any, ...]],
) -> None:
    house = House()
    for step in told:
        house.take(step)
    state = house.desk.state
    fold(house.desk.records).compare(state)
    again = decode(encode(state), digest_of(state))
    assert again.mig.changes == state.mig.changes
