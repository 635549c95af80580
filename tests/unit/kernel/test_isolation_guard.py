"""What a policy of isolation lets begin, stay and make room, and what it tells who is kept out."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.fleet.node import GpuDevice, NodeCapacity
from bailiwick.fleet.topology import CacheDomain, NodeTopology
from bailiwick.kernel import (
    Done,
    Granted,
    Queued,
    Refused,
    RegisterNode,
    Release,
    Renew,
    ScrubDomain,
    SetIsolationPolicy,
    Submit,
    decode,
    encode,
)
from bailiwick.kernel.spelling import denial_body
from bailiwick.kernel.views import waiting
from bailiwick.kernel.work.plan import explain
from bailiwick.phrases.denials import phrase_denial
from bailiwick.scheduler.decision import Denied, NodeKeptApart, NodesForbidden, NodesKeptApart
from bailiwick.vocab.values import NodeId
from bailiwick.vocab.words import DomainKind, PendingReason
from tests.unit.kernel.desk import CRITICAL, HOPPER, LOW, Desk, ask

HOUR_MS = 3_600_000
MONDAY_MS = 4 * 24 * HOUR_MS


def desk(text: str, *, nodes: int = 2, racks: int = 1, **how: Any) -> Desk:
    """Nodes of four cores behind the policy, on a Monday at seven."""
    made = Desk(**{"grace_ms": 0, **how})
    made.now_ms = MONDAY_MS + 7 * HOUR_MS
    for number in range(1, nodes + 1):
        labels = {"rack": f"r{number % racks}"}
        made.do(RegisterNode(f"n{number}", NodeCapacity(4, 10**6, labels=labels)))
    made.do(SetIsolationPolicy(text))
    return made


def test_work_that_is_kept_apart_waits_and_is_told_the_rule() -> None:
    d = desk("vault: dedicated host for tenant bank", nodes=1)
    lease = d.lease("bank")
    answer = d.do(Submit(ask("lab")))
    assert isinstance(answer, Queued)
    assert answer.denied is not None
    assert answer.denied.detail == NodesKeptApart(1, "vault")
    d.do(Release(lease))
    d.tick(d.now_ms + 2_000)
    assert len(d.state.leases) == 1


def test_a_node_that_is_full_is_not_told_as_kept_apart() -> None:
    d = desk("vault: dedicated host for tenant bank", nodes=2)
    d.lease("bank", cpu_cores=4)
    d.lease("lab", cpu_cores=4)
    answer = d.do(Submit(ask("lab"), wait=False))
    assert isinstance(answer, Refused)
    assert not isinstance(answer.denied.detail, NodesKeptApart)


@pytest.mark.parametrize(
    ("text", "gang"),
    [
        ("tenant lab only on nodes with zone=inner", 1),
        ("at most 1 of tenant lab per rack", 2),
    ],
)
def test_what_no_waiting_clears_is_told_as_never(text: str, gang: int) -> None:
    d = desk(text, nodes=3)
    answer = d.do(Submit(ask("lab", gang_size=gang)))
    assert isinstance(answer, Refused)
    assert answer.denied.reason is PendingReason.FORBIDDEN
    assert isinstance(answer.denied.detail, NodesForbidden)


def test_members_of_a_gang_are_spread_as_the_policy_says() -> None:
    d = desk("at most 1 of tenant lab per rack", nodes=4, racks=2)
    gang = d.gang(2, "lab")
    assert len({int(str(d.state.node_of(i))[1:]) % 2 for i in gang}) == 2


def test_a_renewal_into_a_window_is_denied_by_its_rule_and_one_before_it_is_not() -> None:
    d = desk("day: never share host among tenants between 08:00 and 18:00", nodes=1)
    mine = d.lease("lab", ttl_ms=600_000)
    d.lease("bank", ttl_ms=600_000)
    assert isinstance(d.do(Renew(mine, 30 * 60_000)), Done)
    denied = d.do(Renew(mine, 2 * HOUR_MS))
    assert isinstance(denied, Refused)
    assert denied.denied.detail == NodeKeptApart(NodeId("n1"), "day")
    told = phrase_denial(denial_body(denied.denied))
    assert told == "n1, where it runs, is closed to it for so long by rule day"


def test_it_is_explained_how_many_nodes_each_rule_closes_the_most_first() -> None:
    tenants = [f"t{number:02}" for number in range(12)]
    apart = "never share host between tenant lab and tenant"
    pairs = (f"r{number:02}: {apart} {tenant}" for number, tenant in enumerate(tenants))
    d = desk("\n".join(["vault: dedicated host for tenant bank", *pairs]), nodes=14)
    big = {"cpu_cores": 4}
    for tenant in ("bank", "bank", *tenants):
        d.lease(tenant, **big)
    command = Submit(ask("lab"))
    found = explain(d.state, command, now_ms=d.now_ms)
    assert found.rules.told[0] == ("vault", 2)
    assert found.rules.told[1:] == tuple((f"r{number:02}", 1) for number in range(9))
    assert found.rules.more == 3
    entry = d.do(command)
    assert isinstance(entry, Queued)
    (told,) = waiting(d.state, d.now_ms)
    assert told.rules == found.rules


def test_work_that_would_run_into_a_window_is_kept_apart_before_it_opens() -> None:
    d = desk("day: never share host among tenants between 08:00 and 18:00", nodes=1)
    d.lease("bank", ttl_ms=2 * HOUR_MS)
    assert isinstance(d.beside("lab", ttl_ms=2 * HOUR_MS), Refused)
    assert isinstance(d.beside("lab", ttl_ms=30 * 60_000), Granted)


def test_nobody_is_evicted_from_what_would_stay_theirs() -> None:
    d = desk("keep host for tenant bank 10m after it left", nodes=1)
    victim = d.lease("bank", cpu_cores=4, priority=LOW)
    answer = d.beside("lab", cpu_cores=4, priority=CRITICAL)
    assert isinstance(answer, Refused)
    assert victim in d.state.leases


def test_what_lingers_keeps_others_out_until_its_time_or_a_scrub() -> None:
    d = desk("dust: keep host for tenant bank 10m after it left", nodes=1)
    d.do(Release(d.lease("bank")))
    assert isinstance(d.beside("lab"), Refused)
    assert isinstance(d.beside("bank"), Granted)
    d = desk("dust: keep host for tenant bank 10m after it left", nodes=1)
    d.do(Release(d.lease("bank")))
    d.tick(d.now_ms + 600_000)
    assert isinstance(d.beside("lab"), Granted)
    d = desk("dust: keep host for tenant bank until scrubbed", nodes=1)
    d.do(Release(d.lease("bank")))
    assert isinstance(d.beside("lab"), Refused)
    d.do(ScrubDomain(DomainKind.HOST, "n1"))
    assert isinstance(d.beside("lab"), Granted)


def test_a_policy_is_kept_by_a_state_that_was_read_back() -> None:
    d = desk("vault: dedicated host for tenant bank", nodes=1)
    d.lease("bank")
    (guard,) = decode(encode(d.state), d.digest).guards.policies
    assert guard.nodes_for(ask("lab")) is not None
    assert len(guard.nodes_for(ask("lab")) or ()) == 0
    assert len(guard.nodes_for(ask("bank")) or ()) == 1


def test_a_policy_without_rules_is_none() -> None:
    d = desk("vault: dedicated host for tenant bank", nodes=1)
    d.do(SetIsolationPolicy("# nothing"))
    assert d.state.guards.policies == ()


def test_a_refusal_reads_well() -> None:
    assert "rule vault" in phrase_denial(denial_body(Denied.because(NodesKeptApart(3, "vault"))))


def _parted(text: str) -> Desk:
    """One node of two caches with two cores each, and a GPU on either of two fabrics."""
    made = Desk(grace_ms=0)
    gpus = tuple(GpuDevice(HOPPER, fabric=fabric) for fabric in ("left", "right"))
    topology = NodeTopology((CacheDomain(2_000), CacheDomain(2_000)))
    made.do(RegisterNode("n1", NodeCapacity(4, 10**6, gpus=gpus, topology=topology)))
    made.do(SetIsolationPolicy(text))
    return made


def test_work_that_may_share_no_cache_shares_a_node() -> None:
    d = _parted("never share cache among tenants")
    mine, theirs = d.lease("lab", cpu_cores=1), d.lease("bank", cpu_cores=2)
    assert d.state.cores.of(mine) == ((0, 1_000),)
    assert d.state.cores.of(theirs) == ((1, 2_000),)
    assert isinstance(d.beside("acme", cpu_cores=1), Refused)
    assert isinstance(d.beside("lab", cpu_cores=2), Refused)
    assert isinstance(d.do(Renew(mine, 30 * HOUR_MS)), Done)
    assert d.state.cores.of(d.lease("lab", cpu_cores=1)) == ((0, 1_000),)


def test_members_of_a_gang_take_together_no_more_than_is_open() -> None:
    d = _parted("never share cache among tenants")
    d.lease("bank", cpu_cores=1)
    assert isinstance(d.beside("lab", cpu_cores=1, gang_size=3), Refused)
    gang = d.gang(2, "lab", cpu_cores=1)
    assert {d.state.cores.of(i) for i in gang} == {((1, 1_000),)}


def test_work_that_may_share_no_fabric_gets_the_open_one() -> None:
    d = _parted("never share fabric among tenants")
    gpu = {"gpu_count": 1, "generation": HOPPER, "cpu_cores": 1}
    held = {d.state.fields(d.lease(tenant, **gpu)).devices for tenant in ("lab", "bank")}
    assert held == {0b01, 0b10}
    assert isinstance(d.beside("acme", **gpu), Refused)
    assert isinstance(d.beside("acme", cpu_cores=1), Granted)
