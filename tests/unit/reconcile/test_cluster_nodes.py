"""A cluster's machines as nodes: closed on one side they are on the other, and nobody's is taken.

The machine below does at random what operators of both sides may do, and looks as the duty does.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.executors.clusters import (
    ClusterExecutor,
    ClusterHands,
    ClusterNode,
    ClusterReach,
    NodeGate,
)
from bailiwick.fleet.liveness import HeartbeatRule
from bailiwick.fleet.node import EXECUTOR_LABEL, NodeCapacity
from bailiwick.kernel import ChangeMode, Envelope, Refused, Submit
from bailiwick.reconcile.clusters.gates import Agreement, agree
from bailiwick.reconcile.clusters.nodes import ClusterNodes
from bailiwick.runtime.replica import Replica, Role
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.services.beats import Beats
from bailiwick.vocab.errors import Unavailable
from bailiwick.vocab.transitions import NODE_MODE_EDGES, WAYS_OPEN, NodeMode
from tests.support.fresh_store import open_fresh
from tests.support.waiting import WAIT_S, until

M = NodeMode
SMALL = NodeCapacity(4, 2**30)


# -- the decision, against operators who do anything -----------------------------------------

ACTS = st.sampled_from(
    ["look", "drain there", "resume there", *(f"mode {mode.value}" for mode in NodeMode)]
)


@given(st.lists(ACTS, max_size=30))
def test_both_sides_agree_and_what_others_closed_there_is_never_opened(acts: list[str]) -> None:
    mode, gate, is_noted = M.ACCEPTING, NodeGate.OPEN, False
    for act in (*acts, *(["look"] * 4)):
        if act == "drain there":
            gate = NodeGate.CLOSED
        elif act == "resume there":
            gate = NodeGate.OPEN
        elif act != "look":
            wanted = NodeMode(act.removeprefix("mode "))
            mode = wanted if wanted in NODE_MODE_EDGES[mode] else mode
        else:
            match agree(mode, gate, is_noted=is_noted):
                case Agreement.NOTHING:
                    pass
                case Agreement.CLOSE_HERE:
                    assert M.CORDONED in NODE_MODE_EDGES[mode]
                    mode, is_noted = M.CORDONED, True
                case Agreement.OPEN_HERE:
                    assert is_noted
                    for each in WAYS_OPEN[mode]:
                        assert each in NODE_MODE_EDGES[mode]
                        mode = each
                    is_noted = False
                case Agreement.CLOSE_THERE:
                    assert gate is NodeGate.OPEN
                    gate, is_noted = NodeGate.CLOSED_BY_US, False
                case Agreement.OPEN_THERE:
                    assert gate is NodeGate.CLOSED_BY_US
                    gate, is_noted = NodeGate.OPEN, False
    # In the end a node takes work on both sides or on neither, but where only a person goes on.
    if mode not in (M.FENCE_LOST, M.RETURNING):
        assert (mode is M.ACCEPTING) == (gate is NodeGate.OPEN)


# -- the duty --------------------------------------------------------------------------------


class PaperCluster:
    """A cluster of which the test says what it has."""

    def __init__(self, **nodes: NodeGate) -> None:
        self.gates = dict(nodes)
        self.is_there = self.may_close = True
        self.has = SMALL
        self.may_answer, self.is_asked = threading.Event(), threading.Event()
        self.may_answer.set()

    def nodes(self) -> Mapping[str, ClusterNode]:
        if not self.may_answer.is_set():
            self.is_asked.set()
            assert self.may_answer.wait(WAIT_S)
        if not self.is_there:
            raise Unavailable("the cluster", "is away")
        return {name: ClusterNode(self.has, gate) for name, gate in self.gates.items()}

    def set_open(self, node: str, *, is_open: bool) -> bool:
        if not self.may_close:
            raise Unavailable("the cluster", "access denied")
        self.gates[node] = NodeGate.OPEN if is_open else NodeGate.CLOSED_BY_US
        return True


class House:
    """A leading replica, and clusters whose nodes take part."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock, self.said = folder, SystemClock(), list[str]()
        self.beats = Beats(self.clock)
        replica = Replica(open_fresh(folder / "data"), self.clock, name="one")
        self.runner = Runner(replica, wait_s=WAIT_S)
        self.runner.start()
        assert self.runner.wait_for(Role.LEADING, wait_s=WAIT_S)

    def hands(self, name: str, cluster: PaperCluster, *, kind: str = "paper") -> ClusterHands:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return ClusterHands(kind, cast(ClusterExecutor, cluster), folder=folder)

    def duty(self, hands: ClusterHands, *others: ClusterHands) -> ClusterNodes:
        say = self.said.append
        return ClusterNodes(hands, self.runner, beats=self.beats, say=say, others=others)

    def mode(self, node: str) -> NodeMode:
        return self.runner.read(lambda view: view.state.ledger.entry(node).mode)

    def change(self, node: str, *modes: NodeMode) -> None:
        for mode in modes:
            self.runner.execute(Envelope(ChangeMode(node, mode)))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path)
    try:
        yield made
    finally:
        made.runner.stop()


def test_what_the_cluster_closes_is_closed_here_and_opened_again_also_after_a_restart(
    house: House,
) -> None:
    cluster = PaperCluster(h1=NodeGate.OPEN, h2=NodeGate.CLOSED)
    duty = house.duty(house.hands("one", cluster))
    assert duty.once() == ("h1", "h2")
    assert (house.mode("h1"), house.mode("h2")) == (M.ACCEPTING, M.CORDONED)
    cluster.gates = {"h1": NodeGate.CLOSED, "h2": NodeGate.OPEN}
    house.duty(house.hands("one", cluster)).once()  # another life: who closed it was kept
    assert (house.mode("h1"), house.mode("h2")) == (M.CORDONED, M.ACCEPTING)


def test_what_is_closed_here_is_closed_there_and_opened_with_it(house: House) -> None:
    cluster = PaperCluster(h1=NodeGate.OPEN)
    duty = house.duty(house.hands("one", cluster))
    duty.once()
    house.change("h1", M.DRAINING)
    duty.once()
    assert cluster.gates["h1"] is NodeGate.CLOSED_BY_US
    if house.mode("h1") is M.DRAINED:
        house.change("h1", M.RETURNING)
    house.change("h1", M.ACCEPTING)
    duty.once()
    assert cluster.gates["h1"] is NodeGate.OPEN


def test_a_cluster_that_lets_us_close_nothing_is_still_heard(house: House) -> None:
    cluster = PaperCluster(h1=NodeGate.OPEN)
    hands = house.hands("one", cluster)
    duty = house.duty(hands)
    duty.once()
    house.change("h1", M.DRAINING)
    cluster.may_close = False
    assert duty.once() == ("h1",)
    assert hands.look.state is ClusterReach.REACHABLE
    assert any("stays as it is" in each for each in house.said)


def test_two_clusters_of_a_kind_keep_their_nodes_and_one_name_is_taken_once(house: House) -> None:
    one, two = (
        PaperCluster(a=NodeGate.OPEN, b=NodeGate.OPEN),
        PaperCluster(b=NodeGate.OPEN, c=NodeGate.OPEN),
    )
    first, second = house.hands("one", one), house.hands("two", two)
    duties = [house.duty(first, first, second), house.duty(second, first, second)]
    assert [duty.once() for duty in duties] == [("a", "b"), ("c",)]
    assert [duty.once() for duty in duties] == [("a", "b"), ("c",)]
    assert any("another has that name" in each for each in house.said)
    assert (first.look.nodes, second.look.nodes) == (2, 1)


def test_how_a_cluster_was_found_is_kept_and_its_silence_is_told(house: House) -> None:
    cluster = PaperCluster(h1=NodeGate.OPEN)
    hands = house.hands("one", cluster)
    assert hands.look.state is ClusterReach.NOT_ASKED
    duty = house.duty(hands)
    duty.once()
    assert (hands.look.state, hands.look.nodes) == (ClusterReach.REACHABLE, 1)
    seen_ms = hands.look.answered_ms
    cluster.is_there = False
    assert duty.once() == ("h1",)  # it has lost no node
    look = hands.look
    assert (look.state, look.nodes, look.answered_ms) == (ClusterReach.UNREACHABLE, 1, seen_ms)
    assert "is away" in look.trouble


class CountedBeats(Beats):
    """Beats every few milliseconds, and how often each node was heard."""

    def __init__(self) -> None:
        super().__init__(SystemClock(), rule=HeartbeatRule(beat_ms=5, timeout_ms=10))
        self.counts = Counter[str]()

    def beat(self, node: str) -> None:
        super().beat(node)
        self.counts[node] += 1


def test_while_a_cluster_takes_long_to_answer_its_nodes_are_heard(house: House) -> None:
    cluster, beats = PaperCluster(h1=NodeGate.OPEN), CountedBeats()
    duty = ClusterNodes(house.hands("one", cluster), house.runner, beats=beats, say=print)
    stop = threading.Event()
    thread = threading.Thread(target=duty.run, args=(stop,))
    thread.start()
    try:
        until(lambda: beats.counts["h1"] > 1, "it is heard")
        cluster.may_answer.clear()
        assert cluster.is_asked.wait(WAIT_S)
        before = beats.counts["h1"]
        until(lambda: beats.counts["h1"] > before + 3, "it is heard while nobody answers")
    finally:
        cluster.may_answer.set()
        stop.set()
        thread.join(WAIT_S)


def test_a_node_bears_the_name_of_its_executor(house: House) -> None:
    house.duty(house.hands("one", PaperCluster(h1=NodeGate.OPEN), kind="cluster")).once()
    labels = house.runner.read(lambda view: view.state.ledger.entry("h1").capacity.labels)
    assert labels[EXECUTOR_LABEL] == "cluster"


def test_a_machine_that_is_another_now_is_at_no_time_none(house: House) -> None:
    """Whoever asks in that moment for what only it has would be told that it never can be had."""
    cluster = PaperCluster(h1=NodeGate.OPEN)
    duty = house.duty(house.hands("one", cluster))
    duty.once()
    stop, told = threading.Event(), Counter[str]()
    labels = {EXECUTOR_LABEL: "paper"}
    request = PlacementRequest(tenant="lab", cpu_cores=SMALL.cpu_cores + 2, labels=labels)

    def ask() -> None:
        while not stop.is_set():
            answer = house.runner.execute(Envelope(Submit(request, wait=False)))
            assert isinstance(answer, Refused)
            told[type(answer.denied.detail).__name__] += 1

    askers = [threading.Thread(target=ask) for _ in range(3)]
    for each in askers:
        each.start()
    try:
        for turn in range(60):
            cluster.has = NodeCapacity(SMALL.cpu_cores + turn % 2, 2**30)
            duty.once()
    finally:
        stop.set()
        for each in askers:
            each.join(WAIT_S)
    assert len(told) == 1, told
