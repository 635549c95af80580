"""Burst credit and guaranteed work: what is never evicted for quota is never carried by credit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from bailiwick.kernel import (
    Cancel,
    ChangeSettings,
    Done,
    Granted,
    Queued,
    RebalanceQuota,
    Refused,
    Release,
    Renew,
    SetQuota,
    Submit,
    decode,
    digest_of,
    encode,
)
from bailiwick.scheduler.quota_policy import (
    BurstCredit,
    HardLimitExceeded,
    Quota,
    QuotaScope,
    ResourceLimit,
)
from bailiwick.scheduler.rights.excess import find_excesses, guaranteed_in
from bailiwick.vocab.errors import Conflict
from bailiwick.vocab.words import Dimension, LeaseClass
from tests.unit.kernel.desk import HIGH, Desk, ask, cores, started

GUARANTEED = LeaseClass.GUARANTEED
LONG = 10**9
CPU = Dimension.CPU_MILLI


def desk(*, nodes: tuple[int, ...] = (16,), **how: Any) -> Desk:
    how = {"grace_ms": 500, "burst_min_run_ms": 0, **how}
    return Desk(nodes=[cores(count) for count in nodes], **how)


def limit(count: int, *, spends: int = 4_000, refill: int = 0) -> Quota:
    """So many cores, and for ``spends`` core-milliseconds up to four more."""
    credit = BurstCredit(CPU, spends, refill, 4_000)
    return Quota((ResourceLimit.cpu_cores(count),), burst=credit)


def firm(d: Desk, **terms: Any) -> int:
    return d.lease(cpu_cores=1, ttl_ms=LONG, lease_class=GUARANTEED, **terms)


def plain(d: Desk, **terms: Any) -> int:
    return d.lease(**{"cpu_cores": 1, "ttl_ms": LONG, **terms})


def warned(d: Desk) -> list[int]:
    """Who goes for its owner's overrun, as the last command told."""
    told = [r.body for r in d.last if r.kind == "lease_revoked"]
    assert {body["reason"] for body in told} <= {"burst_credit_exhausted"}
    return list(dict.fromkeys(body["lease_id"] for body in told))


def looks(d: Desk, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The leases that are looked at from now on, and how often all of an owner's are sought."""
    ledger, seen = d.state.ledger, list[object]()
    told, fields, owned = ledger.told, ledger.fields, ledger.handles.accounts_owned

    def tells(lease_id: int) -> Any:
        seen.append(lease_id)
        return told(lease_id)

    def reads(lease_id: int) -> Any:
        seen.append(lease_id)
        return fields(lease_id)

    def seeks(owners: Any) -> Any:
        seen.append("sought")
        return owned(owners)

    monkeypatch.setattr(ledger, "told", tells)
    monkeypatch.setattr(ledger, "fields", reads)
    monkeypatch.setattr(ledger.handles, "accounts_owned", seeks)
    return seen


# --- starting -----------------------------------------------------------------------------------


def test_a_guaranteed_lease_is_not_started_on_burst_credit() -> None:
    """Seen: such leases held a tenant above its quota for as long as they ran."""
    d = desk()
    d.do(SetQuota("lab", limit(2)))
    firm(d)
    firm(d)
    refused = d.beside(cpu_cores=1, lease_class=GUARANTEED)
    assert isinstance(refused, Refused)
    assert refused.denied.detail == HardLimitExceeded(CPU, 2_000, 2_000, 1_000)
    assert refused.denied.reason.value == "waiting_for_quota"
    plain(d)
    assert d.last[0].body["burst"] == 1_000


def test_a_guaranteed_request_larger_than_the_limit_is_told_that_it_never_can() -> None:
    d = desk()
    d.do(SetQuota("lab", limit(2)))
    refused = d.beside(cpu_cores=3, lease_class=GUARANTEED)
    assert isinstance(refused, Refused)
    assert refused.denied.reason.value == "exceeds_maximum"


@pytest.mark.parametrize("project", [None, "p"])
def test_a_guaranteed_lease_does_not_push_others_onto_burst_credit(project: str | None) -> None:
    d = desk()
    d.do(SetQuota("lab", limit(2)))
    first = plain(d, cpu_cores=2, project=project)
    answer = d.do(Submit(ask(cpu_cores=1, ttl_ms=LONG, project=project, lease_class=GUARANTEED)))
    assert isinstance(answer, Queued)
    d.do(Release(first))
    assert d.tick() == ["admission_approved"], "it waits until the limit bears it"


def test_when_the_credit_is_gone_whatever_is_above_the_limit_goes() -> None:
    d = desk(grace_ms=0)
    d.do(SetQuota("lab", limit(2)))
    kept = [firm(d), firm(d)]
    gone = [plain(d), plain(d)]
    d.tick(d.now_ms + 2_000)
    assert warned(d) == gone
    assert sorted(d.state.leases) == kept
    assert not d.state.quotas.burst_exhausted(d.now_ms)


def promised(d: Desk) -> int:
    """An urgent guaranteed request of the lab for which another's work has to go."""
    d.lease("slow", cpu_cores=4, ttl_ms=LONG)
    entry = d.wait(cpu_cores=3, ttl_ms=LONG, priority=HIGH, lease_class=GUARANTEED)
    assert entry in d.state.claims
    return entry


def test_who_was_promised_room_for_guaranteed_work_gets_it_beside_what_bursts_since() -> None:
    """Its own tenant's work came above the limit after the room was kept: that goes, not this."""
    d = desk(nodes=(6,), grace_ms=3_000)
    d.do(SetQuota("lab", limit(4, spends=60_000)))
    entry = promised(d)
    beside = d.beside(cpu_cores=2, ttl_ms=LONG)
    assert isinstance(beside, Granted)
    d.tick(d.now_ms + 3_000)
    assert started(d) == [entry]
    d.tick(d.now_ms + 60_000)
    assert warned(d) == [*beside.lease_ids]
    assert digest_of(d.replayed().state) == d.digest


def test_who_was_promised_room_for_guaranteed_work_gets_none_above_a_lowered_limit() -> None:
    d = desk(nodes=(6,), grace_ms=3_000)
    d.do(SetQuota("lab", limit(4, spends=60_000)))
    entry = promised(d)
    d.do(SetQuota("lab", limit(2, spends=60_000)))
    d.tick(d.now_ms + 3_000)
    assert started(d) == []
    assert entry not in d.state.claims


# --- renewing -----------------------------------------------------------------------------------


def test_a_guaranteed_lease_is_renewed_whatever_its_owner_holds_on_credit() -> None:
    d = desk()
    d.do(SetQuota("lab", limit(2)))
    lease = firm(d)
    for _ in range(3):
        plain(d)
    assert isinstance(d.do(Renew(lease, 2 * LONG)), Done)
    d.tick(d.now_ms + 2_000)
    assert "lease_revoked" in d.kinds, "the credit is gone"
    assert isinstance(d.do(Renew(lease, 3 * LONG)), Done)


def test_guaranteed_leases_above_a_lowered_limit_run_to_the_end_of_their_terms() -> None:
    d = desk()
    d.do(SetQuota("lab", limit(3)))
    lease, other = firm(d), firm(d)
    d.do(SetQuota("lab", limit(1)))
    answer = d.do(Renew(lease, 2 * LONG))
    assert isinstance(answer, Refused), "though there is credit"
    assert answer.denied.detail == HardLimitExceeded(CPU, 1_000, 1_000, 1_000)
    d.do(Release(other))
    assert isinstance(d.do(Renew(lease, 2 * LONG)), Done)


def test_what_is_guaranteed_is_counted_whole_when_others_are_taken_for_gone() -> None:
    d = desk()
    d.do(SetQuota("lab", limit(2)))
    firm(d)
    other = d.state.handle(plain(d))
    ledger = d.state.ledger
    with ledger.holds.shadow(gone=[other], now_ms=d.now_ms):
        assert guaranteed_in(ledger, QuotaScope.of("lab"))[0] == 1_000


# --- an overrun that nobody can end -------------------------------------------------------------


def stuck() -> Desk:
    """A tenant whose limit was lowered under guaranteed work, and its credit is gone."""
    d = desk(nodes=(200,))
    d.do(SetQuota("lab", limit(4)))
    for _ in range(3):
        firm(d)
    for _ in range(40):
        plain(d, tenant="rival")
    d.do(SetQuota("lab", limit(1)))
    return d


def test_an_overrun_that_nobody_can_end_costs_a_tick_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    d = stuck()
    own = {handle for i, handle in d.state.leases.items() if d.state.owner_of(i)[0] == "lab"}
    seen = looks(d, monkeypatch)
    d.tick(d.now_ms + 10_000)
    assert set(seen) == {"sought", *own}, "of others none is looked at"
    seen.clear()
    for _ in range(3):
        d.tick(d.now_ms + 1_000)
    assert seen == []
    assert len(d.state.quotas.burst_exhausted(d.now_ms)) == 1, "it is told to whoever asks"


def test_an_overrun_that_is_being_ended_costs_a_tick_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    d = desk(grace_ms=100_000)
    d.do(SetQuota("lab", limit(1)))
    for _ in range(3):
        plain(d)
    d.tick(d.now_ms + 10_000)
    assert "lease_revoked" in d.kinds
    d.tick(d.now_ms + 1_000)
    seen = looks(d, monkeypatch)
    d.tick(d.now_ms + 1_000)
    assert seen == []


def test_a_look_at_waiting_work_is_no_reason_to_look_at_an_overrun_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    d = stuck()
    d.tick(d.now_ms + 10_000)
    seen = looks(d, monkeypatch)
    with d.state.ledger.holds.shadow(now_ms=d.now_ms):
        pass
    d.tick(d.now_ms + 1_000)
    assert seen == []


def test_an_overrun_is_looked_at_again_once_anything_of_its_scope_changes() -> None:
    d = stuck()
    d.tick(d.now_ms + 10_000)
    d.do(SetQuota("lab", limit(4)))
    later = plain(d)
    d.do(SetQuota("lab", limit(1)))
    d.tick()
    assert warned(d) == [later]


def test_a_lease_that_stays_after_all_goes_for_its_owners_overrun() -> None:
    """It was leaving for somebody else when the credit ended, so nobody else had to go."""
    d = desk(nodes=(4,), grace_ms=60_000)
    d.do(SetQuota("lab", limit(1, spends=2_000)))
    lease = plain(d, cpu_cores=2)
    entry = d.wait("fast", cpu_cores=4, priority=HIGH)
    assert d.phase(lease) == "grace_running"
    assert d.tick(d.now_ms + 10_000) == []
    d.do(Cancel(entry))
    assert d.phase(lease) == "active"
    d.tick()
    assert warned(d) == [lease]


# --- above the quota, by whom and since when ----------------------------------------------------


def test_credit_that_is_gone_carries_nobody_above_a_quota() -> None:
    d = stuck()
    assert "not above its quota" in d.refuses(Conflict, RebalanceQuota("lab"))
    d.tick(d.now_ms + 10_000)
    assert "by guaranteed leases alone" in d.refuses(Conflict, RebalanceQuota("lab"))


def test_a_longer_minimum_run_is_known_at_once_to_leave_scopes_above_their_quotas() -> None:
    """Seen: only who was started anew knew it."""
    d = desk(burst_min_run_ms=60_000)
    d.do(SetQuota("lab", limit(1, spends=4_000 * 600)))
    for _ in range(5):
        plain(d)
    assert find_excesses(d.state.quotas) == []
    d.do(ChangeSettings(replace(d.state.settings, burst_min_run_ms=3_600_000)))
    (found,) = find_excesses(d.state.quotas)
    assert (str(found.scope), max(found.amounts)) == ("lab", 3_334)
    anew = decode(encode(d.state), d.digest)
    assert find_excesses(anew.quotas) == [found]
