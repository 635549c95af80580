"""A desk of machines whose agents tell what they find, and test when they are told to."""

from __future__ import annotations

from bailiwick.kernel import (
    ReportHealth,
    ReportTest,
    State,
    decode,
    digest_of,
    encode,
)
from bailiwick.kernel.health.book import NodeHealth, NodeTest
from bailiwick.vocab.health import (
    HealthCheck,
    HealthFinding,
    HealthLevel,
)
from bailiwick.vocab.transitions import NodeMode
from tests.unit.kernel.desk import Desk, cores

MACHINE = cores(4, gpus=2)
ECC = HealthFinding(HealthCheck.ECC, HealthLevel.FAIL, gpu=1, value=2)
XID = HealthFinding(HealthCheck.XID, HealthLevel.FAIL, gpu=0, value=1, code=79)
HOT = HealthFinding(HealthCheck.THERMAL, HealthLevel.WARN, gpu=0, value=88, limit=85)
MINUTE = 60_000


def desk(nodes: int = 2, **how: object) -> Desk:
    """So many nodes, with half a second of grace."""
    return Desk(nodes=[MACHINE] * nodes, **{"grace_ms": 500, **how})


def mode(d: Desk, node: str = "n1") -> NodeMode:
    """The mode of a node."""
    return d.state.ledger.entry(node).mode


def health(d: Desk, node: str = "n1") -> NodeHealth:
    """What is known of a node."""
    return d.state.health.of(node)


def order_of(d: Desk, node: str = "n1") -> NodeTest:
    """The test that goes on there."""
    found = d.state.health.order(node)
    assert found is not None
    return found


def tell(d: Desk, *findings: HealthFinding, node: str = "n1", can_test: bool = True) -> None:
    """An agent tells what is wrong."""
    d.do(ReportHealth(node, findings, can_test))


def passes(d: Desk, node: str = "n1", *findings: HealthFinding) -> None:
    """An agent tells how its test went."""
    d.do(ReportTest(node, order_of(d, node).id, findings, 7_000))


def read_back(d: Desk) -> State:
    """The state as a snapshot keeps it."""
    return decode(encode(d.state), digest_of(d.state))


def drained(d: Desk, node: str = "n1") -> None:
    """A node that its findings have emptied."""
    tell(d, ECC, node=node)
    d.tick(d.now_ms + 1)
    assert mode(d, node) is NodeMode.DRAINED
