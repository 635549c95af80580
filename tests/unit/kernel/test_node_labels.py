"""Labels that operators give nodes: what counts, what stays, and what nobody can forge."""

from __future__ import annotations

import pytest

from bailiwick.fleet.inventory import RESERVED
from bailiwick.fleet.node import NodeCapacity
from bailiwick.kernel import DepartNode, Granted, LabelNode, Queued, RegisterNode, Submit
from bailiwick.kernel.snapshot import decode, encode
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.errors import Conflict, InvalidValue, LimitReached, NotFound
from tests.unit.kernel.desk import Desk, ask, cores


def two() -> Desk:
    return Desk(nodes=[cores(8), cores(8)])


def wants(cpu: int = 1, **labels: str) -> PlacementRequest:
    return ask("lab", cpu_cores=cpu, labels=labels)


def start(d: Desk, request: PlacementRequest) -> str:
    """The node on which it starts at once."""
    answer = d.do(Submit(request))
    assert isinstance(answer, Granted), answer
    return str(d.state.node_of(answer.lease_ids[0]))


def test_a_request_finds_the_node_by_a_label_that_an_operator_gave() -> None:
    d = two()
    d.do(LabelNode("n2", ("pool=fast",)))
    assert d.kinds == ["node_labelled"]
    assert start(d, wants(pool="fast")) == "n2"
    d.do(LabelNode("n1", ("pool=fast",)))
    d.do(LabelNode("n2", ("pool=slow",)))
    assert start(d, wants(pool="fast")) == "n1"
    d.do(LabelNode("n2", (), ("pool",)))
    assert not d.state.ledger.entry("n2").has_labels({"pool": "slow"})


def test_who_waits_for_a_label_starts_once_another_node_has_it() -> None:
    d = two()
    d.do(LabelNode("n1", ("pool=fast",)))
    start(d, wants(8, pool="fast"))
    assert isinstance(d.do(Submit(wants(4, pool="fast"), wait=True)), Queued)
    d.tick(2_000)
    assert d.state.line.entries
    d.do(LabelNode("n2", ("pool=fast",)))
    assert "admission_approved" in d.tick(3_000)


def test_what_runs_goes_on_when_its_label_is_taken_away() -> None:
    d = two()
    d.do(LabelNode("n1", ("pool=fast",)))
    start(d, wants(pool="fast"))
    d.do(LabelNode("n1", (), ("pool",)))
    assert d.tick(2_000) == []
    assert len(d.state.leases) == 1


def test_an_operators_label_counts_more_than_the_machines_and_ends_without_a_trace() -> None:
    d = Desk(nodes=[NodeCapacity(8, 2**30, labels={"zone": "a"})])
    d.do(LabelNode("n1", ("zone=b",)))
    entry = d.state.ledger.entry("n1")
    assert (entry.has_labels({"zone": "b"}), entry.has_labels({"zone": "a"})) == (True, False)
    assert start(d, wants(zone="b")) == "n1"
    d.do(LabelNode("n1", (), ("zone",)))
    assert start(d, wants(zone="a")) == "n1"
    d.refuses(NotFound, LabelNode("n1", (), ("zone",)))  # the machine's own is not taken away


def test_labels_outlive_a_machine_that_departs_and_no_machine_speaks_against_them() -> None:
    d = two()
    d.do(LabelNode("n1", ("pool=safe",)))
    d.do(DepartNode("n1"))
    d.do(RegisterNode("n1", NodeCapacity(8, 2**30, labels={"pool": "other"})))
    assert d.state.ledger.entry("n1").has_labels({"pool": "safe"})
    assert start(d, wants(pool="safe")) == "n1"
    d.do(LabelNode("n2", ("pool=safe",)))
    d.do(DepartNode("n2"))
    d.refuses(NotFound, LabelNode("n2", ("pool=x",)))
    d.do(LabelNode("n2", (), ("pool",)))  # what is left of it can be cleared up
    assert "n2" not in d.state.node_labels


@pytest.mark.parametrize(
    "key", [*sorted(RESERVED), "attested.tpm2.ok", "bailiwick.member", "bailiwick.scheduler"]
)
def test_nobody_gives_a_label_that_others_believe(key: str) -> None:
    with pytest.raises(InvalidValue):
        LabelNode("n1", (f"{key}=yes",))


@pytest.mark.parametrize("put", [(), ("a=b", "a=c"), ("a",), ("a=b=c",), ("=b",), ("a b=c",)])
def test_what_is_no_label_is_refused(put: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValue):
        LabelNode("n1", put)
    with pytest.raises(InvalidValue):
        LabelNode("n1", ("a=b",), ("a",))


def test_labels_are_bounded_and_nothing_is_sealed_that_changes_nothing() -> None:
    d = two()
    d.refuses(NotFound, LabelNode("n9", ("a=b",)))
    d.do(LabelNode("n1", tuple(f"k{number}=v" for number in range(64))))
    d.refuses(LimitReached, LabelNode("n1", ("one-more=v",)))
    d.refuses(Conflict, LabelNode("n1", ("k1=v",)))
    d.do(LabelNode("n1", ("one-more=v",), ("k1",)))


def test_a_snapshot_has_the_labels_and_without_any_it_is_as_before() -> None:
    d = two()
    assert b"node_labels" not in encode(d.state)
    d.do(LabelNode("n1", ("pool=fast",)))
    d.do(LabelNode("n2", ("pool=fast",)))
    d.do(DepartNode("n2"))
    again = decode(encode(d.state), d.digest)
    assert again.node_labels == d.state.node_labels
    assert encode(again) == encode(d.state)
    assert again.ledger.entry("n1").has_labels({"pool": "fast"})
    assert len(again.ledger.labelled.nodes_with(("pool", "fast"))) == 1
