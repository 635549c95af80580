"""Policies hold for everybody and always; claims bind all but their claimant.

The policy of these tests is harsher than most: nodes belong to who runs there, a tenant is kept off
some nodes for ever, and members of a gang never share one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import pytest

from bailiwick.fleet.resources import Resources
from bailiwick.kernel import (
    Cancel,
    ChangeSettings,
    ClearFence,
    DepartNode,
    Granted,
    Queued,
    Refused,
    RegisterNode,
    Release,
    ReportTeardown,
    SetQuota,
    Submit,
    digest_of,
    encode,
)
from bailiwick.kernel.guards import Guards, HeldLease, PolicyGuard
from bailiwick.scheduler.decision import Approved, Denied
from bailiwick.scheduler.ledger import CapacityLedger
from bailiwick.scheduler.node_set import NodeSet
from bailiwick.scheduler.quota_policy import Quota, ResourceLimit
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.words import PendingReason
from tests.support.wide_open import wide_settings
from tests.unit.kernel.desk import CRITICAL, HIGH, LOW, Desk, ask, cores, started

FORBIDDEN = PendingReason.FORBIDDEN


class Apart:
    """No two tenants on one node, no two members of a gang, and ``banned`` nodes for some."""

    def __init__(self, ledger: CapacityLedger, banned: dict[str, set[str]] | None = None) -> None:
        self._ledger, self._banned = ledger, banned or {}
        self.held: dict[int, tuple[str, str]] = {}
        self.told: list[str] = []

    def nodes_for(
        self, request: PlacementRequest, *, without: Collection[int] = ()
    ) -> NodeSet | None:
        others = {
            node
            for lease_id, (tenant, node) in self.held.items()
            if tenant != request.tenant and lease_id not in without
        }
        return self._all_but(others | self._banned.get(request.tenant, set()))

    def nodes_ever(self, request: PlacementRequest) -> NodeSet | None:
        allowed = self._all_but(self._banned.get(request.tenant, set()))
        return allowed if len(allowed) >= request.gang_size else NodeSet()

    def look(self, now_ms: int) -> None:
        del now_ms

    def closed_by(self, request: PlacementRequest) -> dict[str, int]:
        del request
        return {"apart": len(self.held)}

    def renewal_breaks(self, lease_id: int, *, ttl_ms: int) -> str | None:
        del lease_id, ttl_ms
        return None

    def nodes_beside(
        self, request: PlacementRequest, placed: Sequence[int], *, without: Collection[int] = ()
    ) -> NodeSet | None:
        del request, without
        return self._all_but({str(self._ledger.node_at(handle)) for handle in placed})

    def granted(self, lease_id: int, held: HeldLease) -> None:
        self.held[lease_id] = str(held.owner.tenant), str(held.node)
        self.told.append(f"granted {lease_id} on {held.node}")

    def ended(self, lease_id: int) -> None:
        del self.held[lease_id]
        self.told.append(f"ended {lease_id}")

    def fleet_changed(self, node: str) -> None:
        self.told.append(f"fleet changed: {node}")

    def _all_but(self, names: set[str]) -> NodeSet:
        allowed = NodeSet()
        for name, entry in self._ledger.entries.items():
            if str(name) not in names:
                allowed.add(entry.handle)
        return allowed


def desk(nodes: int = 2, *, banned: dict[str, set[str]] | None = None, **how: object) -> Desk:
    """Nodes of four cores behind that policy; nobody has grace unless told."""
    made = Desk(nodes=[cores(4)] * nodes, **{"grace_ms": 0, **how})
    made.state.guards.add(Apart(made.state.ledger, banned))
    return made


def policy(made: Desk) -> Apart:
    (found,) = made.state.guards.policies
    assert isinstance(found, Apart)
    return found


def nodes_of(made: Desk, tenant: str) -> list[str]:
    held = policy(made).held
    return sorted(node for i, (who, node) in held.items() if who == tenant and i > 0)


def kept(made: Desk) -> Desk:
    """The desk, on which no node has two tenants and none runs where it is banned."""
    held, banned = policy(made).held, policy(made)._banned
    assert not [i for i in held if i < 0] or made.state.claims, "a claim that ended is known still"
    tenants: dict[str, set[str]] = {}
    for tenant, node in (told for i, told in held.items() if i > 0):
        tenants.setdefault(node, set()).add(tenant)
        assert node not in banned.get(tenant, set())
    assert all(len(found) == 1 for found in tenants.values()), tenants
    assert {i: str(made.state.node_of(i)) for i in made.state.leases} == {
        i: node for i, (_, node) in held.items() if i > 0
    }
    return made


# --- everybody ----------------------------------------------------------------------------------


def test_a_request_lands_where_the_policy_lets_it() -> None:
    d = desk()
    d.lease("a")
    d.lease("b")
    d.lease("a")
    assert len(nodes_of(d, "a")) == 2
    assert not set(nodes_of(d, "a")) & set(nodes_of(d, "b"))
    kept(d)


def test_members_of_a_gang_are_judged_with_each_other() -> None:
    d = desk(3)
    d.gang(3, "a")
    assert nodes_of(d, "a") == ["n1", "n2", "n3"]
    kept(d)


def test_a_gang_that_finds_too_few_nodes_waits_and_takes_none() -> None:
    d = desk(3)
    blocker = d.lease("b")
    d.wait("a", gang_size=3)
    assert nodes_of(d, "a") == []
    d.do(Release(blocker))
    d.tick(2_000)
    assert nodes_of(d, "a") == ["n1", "n2", "n3"]
    kept(d)


def test_a_gang_in_the_line_is_judged_with_each_other_beside_a_reservation() -> None:
    d = desk(3)
    d.lease("b", cpu_cores=4, ttl_ms=50_000)
    d.wait("c", gang_size=3, cpu_cores=4, priority=HIGH)
    d.do(Submit(ask("a", gang_size=2, ttl_ms=100)))
    d.tick(1_500)
    assert len(set(nodes_of(d, "a"))) == len(nodes_of(d, "a"))
    kept(d)


def test_who_backfills_keeps_the_policy() -> None:
    d = desk(2)
    d.lease("b", cpu_cores=1, ttl_ms=50_000)
    d.wait("c", gang_size=2, cpu_cores=4, priority=HIGH)
    answer = d.beside("a", ttl_ms=100)
    assert isinstance(answer, Granted)
    assert answer.nodes[0] not in nodes_of(d, "b")
    assert isinstance(d.beside("d", ttl_ms=100), Refused), "the last node is another's now"
    kept(d)


def test_who_may_not_take_reserved_room_keeps_the_policy_beside_it() -> None:
    d = desk(3)
    taken = [d.lease("b", ttl_ms=90_000), d.lease("c", cpu_cores=4, ttl_ms=5_000)]
    d.wait("c", gang_size=2, cpu_cores=4)
    d.tick(1_100)
    assert d.of_kind("room_reserved")
    answer = d.beside("a", ttl_ms=90_000)
    assert isinstance(answer, Refused), "one node is kept, and the other two are others'"
    assert sorted(d.state.leases) == taken
    kept(d)


def test_room_is_reserved_only_where_the_policy_lets_the_entry() -> None:
    d = desk(2, banned={"a": {"n1"}})
    d.lease("a", cpu_cores=4, ttl_ms=9_000)
    d.lease("b", cpu_cores=4, ttl_ms=5_000)
    assert nodes_of(d, "b") == ["n1"]
    d.wait("a", cpu_cores=4)
    d.tick(2_000)
    (record,) = d.of_kind("room_reserved")
    assert tuple(record.body["nodes"]) == ("n2",)
    d.tick(6_500)
    assert nodes_of(d, "a") == ["n2"]
    d.tick(10_500)
    assert nodes_of(d, "a") == ["n2"]
    kept(d)


# --- victims ------------------------------------------------------------------------------------


def test_who_has_to_leave_is_not_in_the_way_of_the_policy() -> None:
    d = desk(1)
    victim = d.lease("b", cpu_cores=4, priority=LOW)
    d.lease("a", cpu_cores=4, priority=CRITICAL)
    assert victim not in d.state.leases
    assert nodes_of(d, "a") == ["n1"]
    kept(d)


def test_nobody_is_evicted_where_somebody_else_would_stay() -> None:
    d = desk(1)
    d.lease("b", cpu_cores=2, priority=LOW)
    stays = d.lease("b", cpu_cores=1, priority=CRITICAL)
    d.wait("a", cpu_cores=3, priority=HIGH)
    assert len(nodes_of(d, "b")) == 2, "one of them would stay, so neither has to go"
    assert stays in d.state.leases
    kept(d)


def test_victims_are_sought_only_where_the_policy_lets_the_request() -> None:
    d = desk(2, banned={"a": {"n1"}})
    d.lease("b", cpu_cores=4, priority=LOW)
    d.lease("b", cpu_cores=4, priority=LOW)
    d.lease("a", cpu_cores=4, priority=CRITICAL)
    assert nodes_of(d, "a") == ["n2"]
    assert nodes_of(d, "b") == ["n1"]
    kept(d)


def test_many_nodes_that_are_forbidden_for_ever_do_not_hide_one_that_is_not() -> None:
    d = desk(12)
    d.lease("b", cpu_cores=4)  # dearer than all others
    (allowed,) = nodes_of(d, "b")
    for _ in range(11):
        d.lease("b", cpu_cores=4, priority=LOW)
    policy(d)._banned["a"] = set(map(str, d.state.ledger.entries)) - {allowed}
    d.lease("a", cpu_cores=4, priority=CRITICAL)
    assert nodes_of(d, "a") == [allowed]
    kept(d)


# --- claims -------------------------------------------------------------------------------------


def test_a_claimant_keeps_the_policy() -> None:
    d = desk(2, grace_ms=5_000)
    d.lease("b", cpu_cores=4, priority=LOW)
    other = d.lease("c", cpu_cores=3, priority=CRITICAL, ttl_ms=90_000)
    entry = d.wait("a", cpu_cores=1, priority=CRITICAL)
    assert list(d.state.claims) == [entry]
    d.do(DepartNode(str(d.state.claims[entry].seats[0].node)))
    d.tick(7_000)
    assert nodes_of(d, "a") == [], "free cores beside another tenant are none for a claimant"
    assert other in d.state.leases
    kept(d)


def test_a_claim_binds_all_but_its_claimant() -> None:
    d = desk(1, grace_ms=5_000)
    d.lease("b", cpu_cores=4, priority=LOW)
    entry = d.wait("a", cpu_cores=1, priority=CRITICAL)
    assert isinstance(d.beside("b", cpu_cores=1), Refused)
    d.tick(7_000)
    assert nodes_of(d, "a") == ["n1"]
    assert entry not in d.state.claims
    kept(d)


def test_nobody_comes_beside_a_claimant_with_whom_it_may_not_be() -> None:
    d = desk(1, grace_ms=5_000)
    victim = d.lease("b", cpu_cores=3, priority=LOW)
    entry = d.wait("a", cpu_cores=3, priority=CRITICAL)
    assert isinstance(d.beside("b", cpu_cores=1), Refused), "there is a core, but a is to come"
    d.do(Release(victim))
    assert isinstance(d.beside("c", cpu_cores=1), Refused)
    assert isinstance(d.beside("a", cpu_cores=1), Granted), "with whom it may be"
    d.tick(1_100)
    assert started(d) == [entry]
    kept(d)


def test_a_more_urgent_request_takes_over_a_node_on_which_the_claimant_may_not_be_beside_it() -> (
    None
):
    d = desk(1, grace_ms=5_000)
    d.lease("b", cpu_cores=4, priority=LOW)
    first = d.wait("a", cpu_cores=1, priority=HIGH)
    second = d.wait("c", cpu_cores=1, priority=CRITICAL)
    assert list(d.state.claims) == [second]
    d.tick(6_100)
    assert started(d) == [second]
    assert first in d.state.line.entries
    kept(d)


def test_asking_for_a_claimant_changes_nothing() -> None:
    d = desk(3, grace_ms=5_000)
    for _ in range(2):
        d.lease("b", cpu_cores=4, priority=LOW)
    d.lease("c", cpu_cores=4, priority=CRITICAL, ttl_ms=90_000)
    first = d.wait("a", cpu_cores=4, priority=CRITICAL)
    second = d.wait("a", cpu_cores=4, priority=CRITICAL)
    d.tick(1_100)
    assert set(d.state.claims) == {first, second}
    before, told = encode(d.state), list(policy(d).told)
    for number in (first, second):
        request = d.state.entry(number).request
        with d.state.guards.for_claimant(number, now_ms=2_000) as admission:
            admission.evaluate(request, now_ms=2_000)
            admission.explain(request, now_ms=2_000)
        assert encode(d.state) == before
    assert policy(d).told == told


def test_a_claimant_is_bound_by_the_claims_of_others() -> None:
    d = desk(2, grace_ms=5_000)
    leases = [d.lease("b", cpu_cores=4, priority=LOW) for _ in range(2)]
    first = d.wait("a", cpu_cores=4, priority=CRITICAL)
    second = d.wait("a", cpu_cores=4, priority=CRITICAL)
    d.tick(1_100)
    other = d.state.claims[second].seats[0].node
    d.do(Release(next(i for i in leases if d.state.node_of(i) == other)))
    with d.state.guards.for_claimant(first, now_ms=1_200) as admission:
        decision = admission.evaluate(d.state.entry(first).request, now_ms=1_200)
    assert isinstance(decision, Denied), "the free node is another's"
    with d.state.guards.for_claimant(second, now_ms=1_200) as admission:
        decision = admission.evaluate(d.state.entry(second).request, now_ms=1_200)
    assert isinstance(decision, Approved)


def test_a_policy_that_comes_later_learns_of_the_claims_there_are() -> None:
    d = Desk(nodes=[cores(4)], grace_ms=5_000)
    d.lease("b", cpu_cores=3, priority=LOW)
    d.wait("a", cpu_cores=3, priority=CRITICAL)
    late = Apart(d.state.ledger)
    d.state.guards.add(late)
    assert [who for i, who in late.held.items() if i < 0] == [("a", "n1")]


# --- never and not yet --------------------------------------------------------------------------


def test_what_a_policy_forbids_for_ever_is_refused_at_once() -> None:
    d = desk(2, banned={"a": {"n1", "n2"}})
    answer = d.do(Submit(ask("a")))
    assert isinstance(answer, Refused)
    assert answer.denied.reason is FORBIDDEN


def _busy(d: Desk) -> None:
    d.lease("b", cpu_cores=4)
    d.lease("b", cpu_cores=4)


def _over_quota(d: Desk) -> None:
    banned = policy(d)._banned.pop("a")
    d.do(SetQuota("a", Quota((ResourceLimit.cpu_cores(1),))))
    d.lease("a")
    policy(d)._banned["a"] = banned


def _kept_for_others(d: Desk) -> None:
    d.do(ChangeSettings(wide_settings(grace_ms=0, headroom=Resources(cpu_milli=8_000))))


def _behind_another(d: Desk) -> None:
    _busy(d)
    d.wait("c", cpu_cores=4)


def _claimed(d: Desk) -> None:
    d.do(ChangeSettings(wide_settings(grace_ms=5_000)))
    for _ in range(2):
        d.lease("b", cpu_cores=4, priority=LOW)
    d.wait("c", cpu_cores=4, priority=CRITICAL)
    assert d.state.claims


@pytest.mark.parametrize(
    "meanwhile", [_busy, _over_quota, _kept_for_others, _behind_another, _claimed]
)
@pytest.mark.parametrize("wait", [True, False])
def test_never_is_never_told_as_wait(meanwhile: object, wait: bool) -> None:
    d = desk(2, banned={"a": {"n1", "n2"}})
    meanwhile(d)  # type: ignore[operator]
    answer = d.do(Submit(ask("a"), wait))
    assert isinstance(answer, Refused), "something that passes was told instead"
    assert answer.denied.reason is FORBIDDEN


def test_a_gang_that_can_never_be_spread_is_refused_at_once() -> None:
    answer = desk(2).do(Submit(ask("a", gang_size=3)))
    assert isinstance(answer, Refused)
    assert answer.denied.reason is FORBIDDEN


def test_what_only_others_work_keeps_out_waits() -> None:
    d = desk(1)
    lease = d.lease("b")
    answer = d.do(Submit(ask("a")))
    assert isinstance(answer, Queued)
    assert answer.denied is not None
    assert answer.denied.reason.is_transient
    d.do(Release(lease))
    d.tick(2_000)
    assert nodes_of(d, "a") == ["n1"]


def test_what_only_a_claim_keeps_out_waits() -> None:
    d = desk(1, grace_ms=5_000)
    d.lease("b", cpu_cores=4, priority=LOW)
    d.wait("a", cpu_cores=1, priority=CRITICAL)
    answer = d.do(Submit(ask("a", cpu_cores=1)))
    assert isinstance(answer, Queued)


# --- being told ---------------------------------------------------------------------------------


def test_guards_are_told_of_every_grant_and_end_and_change_of_the_fleet() -> None:
    d = desk(1, grace_ms=0)
    told = policy(d).told
    lease = d.lease("b")
    d.do(Release(lease))
    assert told == [f"granted {lease} on n1", f"ended {lease}"]
    del told[:]
    d.do(RegisterNode("n2", cores(4)))
    gang = d.gang(2, "b", ttl_ms=500)
    d.tick(5_000)
    assert told == [
        "fleet changed: n2",
        *(f"granted {lease_id} on {node}" for lease_id, node in zip(gang, _on(told), strict=True)),
        *(f"ended {lease_id}" for lease_id in gang),
    ]
    del told[:]
    lost = d.lease("b", ttl_ms=90_000)
    node = policy(d).held[lost][1]
    d.do(DepartNode(node))
    assert told == [f"granted {lost} on {node}", f"ended {lost}", f"fleet changed: {node}"]


def _on(told: list[str]) -> Iterator[str]:
    return (line.rpartition(" ")[2] for line in told if line.startswith("granted"))


def test_what_a_fence_holds_is_still_its_holders_for_a_policy() -> None:
    d = desk(1, grace_ms=0, confirm_teardown=True)
    lease = d.lease("b", ttl_ms=500)
    d.tick(2_000)
    d.do(ReportTeardown(lease, clean=False))
    assert policy(d).held
    assert isinstance(d.do(Submit(ask("a"))), Queued)
    d.do(ClearFence(lease))
    assert not policy(d).held
    d.tick(3_000)
    assert nodes_of(d, "a") == ["n1"]


def test_a_cancelled_claimant_keeps_nobody_out() -> None:
    d = desk(1, grace_ms=5_000)
    victim = d.lease("b", cpu_cores=3, priority=LOW)
    entry = d.wait("c", cpu_cores=2, priority=CRITICAL)
    d.do(Release(victim))
    assert isinstance(d.beside("b", cpu_cores=1), Refused)
    d.do(Cancel(entry))
    assert not d.state.claims
    assert isinstance(d.beside("b", cpu_cores=4), Granted)


def test_a_policy_is_no_part_of_the_state() -> None:
    plain, guarded = Desk(nodes=[cores(4)] * 2), Desk(nodes=[cores(4)] * 2)
    guarded.state.guards.add(Apart(guarded.state.ledger))
    for each in (plain, guarded):
        each.lease("a")
    assert digest_of(plain.state) == digest_of(guarded.state)


def test_the_policy_of_these_tests_is_one() -> None:
    found: PolicyGuard = Apart(Desk().state.ledger)
    assert isinstance(Desk().state.guards, Guards)
    assert found.nodes_ever(ask("a")) is not None
