"""Which nodes have a label: the index against a slow look, whatever operators and machines say."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel import Command, DepartNode, LabelNode, RegisterNode
from bailiwick.kernel.snapshot import decode, encode
from bailiwick.vocab.errors import BailiwickError
from tests.unit.kernel.desk import Desk

NODES, KEYS, VALUES = ("n1", "n2", "n3"), ("a", "b"), ("x", "y")
told = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=2)
node = st.sampled_from(NODES)


def label(name: str, put: dict[str, str], drop: set[str]) -> LabelNode:
    spelled = tuple(f"{key}={value}" for key, value in sorted(put.items()))
    return LabelNode(name, spelled, tuple(sorted(drop - put.keys())))


labellings = st.builds(
    label,
    node,
    st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), min_size=1, max_size=2),
    st.sets(st.sampled_from(KEYS), max_size=2),
) | st.builds(label, node, st.just({}), st.sets(st.sampled_from(KEYS), min_size=1, max_size=2))
steps = st.one_of(
    st.builds(lambda n, own: RegisterNode(n, NodeCapacity(4, 2**30, labels=own)), node, told),
    st.builds(DepartNode, node),
    labellings,
)


class Naive:
    """What machines say, and what operators do, looked at anew for every question."""

    def __init__(self) -> None:
        self.own: dict[str, dict[str, str]] = {}
        self.given: dict[str, dict[str, str]] = {name: {} for name in NODES}

    def take(self, command: Command) -> None:
        match command:
            case RegisterNode():
                self.own[command.node] = dict(command.capacity.labels)
            case DepartNode():
                del self.own[command.node]
            case LabelNode():
                held = self.given[command.node]
                for key in command.drop:
                    del held[key]
                held.update(each.split("=") for each in command.put)

    def nodes_with(self, key: str, value: str) -> set[str]:
        return {
            name
            for name, own in self.own.items()
            if self.given[name].get(key, own.get(key)) == value
        }


def check(desk: Desk, naive: Naive) -> None:
    for state in (desk.state, decode(encode(desk.state), desk.digest)):
        ledger = state.ledger
        for key in KEYS:
            for value in VALUES:
                nodes = naive.nodes_with(key, value)
                found = ledger.labelled.nodes_with((key, value))
                there = {str(e.id) for e in ledger.entries.values() if e.handle in found}
                assert there == nodes
                wanted = {key: value}
                held = {str(e.id) for e in ledger.entries.values() if e.has_labels(wanted)}
                assert held == nodes


@given(st.lists(steps, max_size=12))
def test_a_label_is_found_where_a_slow_look_finds_it(commands: list[Command]) -> None:
    desk, naive = Desk(), Naive()
    for command in commands:
        try:
            desk.do(command)
        except BailiwickError:
            continue
        naive.take(command)
        check(desk, naive)
