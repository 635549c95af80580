"""A cordon while somebody leaves for work that waits: what runs there goes on, and so does he."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.fleet.resources import Resources
from bailiwick.kernel import LabelNode, RegisterNode, Renew, SetQuota, digest_of
from bailiwick.kernel.fleet.commands import ChangeMode
from bailiwick.kernel.trust.commands import Quarantine
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import PendingReason
from tests.unit.kernel.desk import HIGH, LOW, Desk, cores, started
from tests.unit.kernel.health_desk import ECC, mode, tell

GRACE = 10_000
LONG = 900_000
WAIT_MS = 5_000


def desk(*nodes: int, **how: Any) -> Desk:
    return Desk(nodes=[cores(n) for n in nodes], **{"grace_ms": GRACE, **how})


def cordon(d: Desk, node: str = "n1") -> None:
    d.do(ChangeMode(node, NodeMode.CORDONED))


def for_urgent(d: Desk) -> int:
    """Somebody in whose place urgent work is to start."""
    victim = d.lease("lab", cpu_cores=8, priority=LOW, ttl_ms=LONG)
    d.wait("pond", cpu_cores=2, priority=HIGH, ttl_ms=LONG)
    return victim


def above_quota(d: Desk) -> int:
    """Somebody who holds more than his owner may, in whose place another is to start."""
    victim = d.lease("lab", cpu_cores=8, ttl_ms=LONG)
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(4),))))
    d.wait("pond", cpu_cores=2, ttl_ms=LONG)
    d.tick(d.now_ms + WAIT_MS)
    return victim


@pytest.mark.parametrize("going", [for_urgent, above_quota])
def test_who_was_to_go_from_a_node_that_is_cordoned_stays(going: Any) -> None:
    d = desk(8, rebalance_ms=WAIT_MS)
    victim = going(d)
    assert d.phase(victim) == "grace_running"
    cordon(d)
    d.tick(d.now_ms + 1_000)
    assert d.kinds == ["request_blocked", "lease_restored"]
    d.tick(d.now_ms + GRACE)
    assert d.phase(victim) == "active"
    assert not d.state.claims
    assert digest_of(d.replayed().state) == d.digest


def test_who_stays_on_a_cordoned_node_may_be_renewed_there() -> None:
    d = desk(8)
    victim = for_urgent(d)
    cordon(d)
    d.tick(2_000)
    assert d.state.fields(victim).expires_ms == 1_000 + LONG, "it has its old term"
    d.do(Renew(victim, LONG))
    assert d.state.fields(victim).expires_ms == 2_000 + LONG


def test_a_cordon_at_the_last_moment_is_in_time() -> None:
    d = desk(8)
    victim = for_urgent(d)
    d.at(1_000 + GRACE)
    cordon(d)
    d.tick()
    assert d.phase(victim) == "active"
    assert not d.of_kind("lease_preempted")


def test_a_machine_that_is_held_back_for_its_health_ends_nobody_for_a_claim() -> None:
    d = desk(8, 1)
    tell(d, ECC, node="n2")  # of two machines one is drained for its health at a time
    victim = for_urgent(d)
    tell(d, ECC)
    assert mode(d) is NodeMode.CORDONED
    d.tick(1_000 + GRACE)
    assert d.phase(victim) == "active"


def test_whose_room_is_cordoned_plans_anew_elsewhere() -> None:
    d = desk(8, 8)
    first = d.lease("lab", cpu_cores=8, priority=LOW, ttl_ms=LONG)
    second = d.lease("lab", cpu_cores=8, priority=LOW, ttl_ms=LONG)
    entry = d.wait("pond", cpu_cores=2, priority=HIGH, ttl_ms=LONG)
    (victim,) = d.state.claims[entry].victims
    cordon(d, str(d.state.node_of(victim)))
    d.tick(2_000)
    d.tick(3_000)
    assert d.state.claims[entry].victims == ({first, second}.difference({victim}).pop(),)
    d.tick(3_000 + GRACE)
    assert started(d) == [entry]
    assert d.phase(victim) == "active"


def test_room_elsewhere_is_given_before_the_claim_ends() -> None:
    d = desk(8)
    victim = for_urgent(d)
    cordon(d)
    d.do(RegisterNode("n2", cores(2)))
    d.tick(2_000)
    assert d.kinds == ["admission_approved", "lease_restored"]
    assert d.phase(victim) == "active"


def test_nobody_goes_for_a_gang_of_which_one_place_is_cordoned() -> None:
    d = desk(8, 8)
    held = [d.lease("lab", cpu_cores=8, priority=LOW, ttl_ms=LONG) for _ in range(2)]
    d.wait("pond", cpu_cores=5, gang_size=2, priority=HIGH, ttl_ms=LONG)
    assert {d.phase(i) for i in held} == {"grace_running"}
    cordon(d)
    d.tick(1_000 + GRACE)
    assert {d.phase(i) for i in held} == {"active"}


def test_nobody_goes_for_headroom_from_a_node_that_is_cordoned() -> None:
    d = desk(8, 4, headroom=Resources(cpu_milli=4_000))
    d.do(LabelNode("n2", ("pool=fast",)))
    victim = d.lease("lab", cpu_cores=8, priority=LOW, ttl_ms=LONG)
    entry = d.wait("pond", cpu_cores=2, priority=HIGH, ttl_ms=LONG, labels={"pool": "fast"})
    claim = d.state.claims[entry]
    assert ([seat.node for seat in claim.seats], claim.victims) == (["n2"], (victim,))
    cordon(d)
    d.tick(2_000)
    assert d.phase(victim) == "active"
    d.tick(2_000 + GRACE)
    assert d.phase(victim) == "active"


def test_a_node_that_is_not_trusted_is_emptied_though_it_is_cordoned() -> None:
    d = desk(8)
    victim = for_urgent(d)
    d.do(Quarantine("n1", "found_open"))
    cordon(d)
    d.tick(2_000)
    assert not d.state.claims
    assert d.phase(victim) == "grace_running"
    d.tick(1_000 + GRACE)
    assert victim not in d.state.leases


def test_a_cordon_of_another_node_ends_no_claim() -> None:
    d = desk(8, 1)
    victim = for_urgent(d)
    cordon(d, "n2")
    d.tick(2_000)
    assert d.phase(victim) == "grace_running"
    blocked = next(iter(d.state.blocked.values()))
    assert blocked is not None
    assert blocked.reason is PendingReason.WAITING_FOR_VICTIMS
