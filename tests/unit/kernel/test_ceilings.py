"""Ceilings and the default quota: who may ask for what, and who says so."""

from __future__ import annotations

from typing import Any

import pytest

from bailiwick.kernel import (
    Cancel,
    ChangeSettings,
    Done,
    Granted,
    Queued,
    Refused,
    Renew,
    SetQuota,
    Settings,
    Submit,
    digest_of,
)
from bailiwick.kernel.precondition import quota_digest
from bailiwick.kernel.snapshot import decode, encode
from bailiwick.kernel.work.rights import ceiling_of
from bailiwick.scheduler.quota_policy import HardLimitExceeded, Quota, QuotaScope, ResourceLimit
from bailiwick.scheduler.rights.ceilings import DAY_MS, OPEN, Ceiling
from bailiwick.scheduler.rights.denials import (
    LeaseClassForbidden,
    PriorityTooHigh,
    TermTooLong,
    TooManyWaiting,
)
from bailiwick.vocab.errors import Conflict, InvalidValue, Stale
from bailiwick.vocab.words import Dimension, LeaseClass, PendingReason, Priority
from tests.unit.kernel.desk import CRITICAL, HIGH, TTL_MS, Desk, ask, cores

LAB, PART = QuotaScope.of("lab"), QuotaScope.of("lab", "p")
USUAL = Ceiling()


def desk(size: int = 8, **how: Any) -> Desk:
    """A kernel with the settings that everybody begins with."""
    d = Desk(nodes=[cores(size)])
    d.do(ChangeSettings(Settings(**how)))
    return d


def denied(d: Desk, **terms: Any) -> object:
    answer = d.do(Submit(ask(**terms)))
    assert isinstance(answer, Refused), answer
    assert d.kinds == ["admission_denied"]
    assert digest_of(d.replayed().state) == d.digest
    return answer.denied.detail


# --- what everybody may ask for ---------------------------------------------------------------


def test_the_usual_ceiling_is_high_without_guaranteed_for_a_week() -> None:
    d = desk()
    assert Settings().ceiling() == USUAL
    assert denied(d, priority=CRITICAL) == PriorityTooHigh(CRITICAL, HIGH)
    forbidden = LeaseClassForbidden(LeaseClass.GUARANTEED)
    assert denied(d, lease_class=LeaseClass.GUARANTEED) == forbidden
    assert denied(d, ttl_ms=7 * DAY_MS + 1) == TermTooLong(7 * DAY_MS + 1, 7 * DAY_MS)
    d.lease(priority=HIGH, lease_class=LeaseClass.SPOT, ttl_ms=7 * DAY_MS)


def test_what_may_not_be_asked_for_is_told_as_such_and_with_whose_ceiling() -> None:
    d = desk()
    answer = d.do(Submit(ask(project="p", priority=CRITICAL)))
    assert isinstance(answer, Refused)
    assert answer.denied.reason is PendingReason.FORBIDDEN
    assert getattr(answer.denied.detail, "scope", None) == LAB


def test_only_so_many_requests_wait() -> None:
    d = desk(1, waiting_max=2)
    d.lease()
    first = d.wait()
    d.wait(project="p")
    assert denied(d) == TooManyWaiting(2, 2)
    d.wait("other")
    assert isinstance(d.beside(), Refused)
    d.do(Cancel(first))
    d.wait()
    assert denied(d) == TooManyWaiting(2, 2)


def test_who_starts_waits_no_more() -> None:
    d = desk(1, waiting_max=1)
    d.lease()
    d.wait()
    d.tick(1_000 + TTL_MS)
    assert d.state.waiting == {}
    d.wait()


def test_those_who_would_evict_at_once_do_not_wait() -> None:
    d = desk(1, waiting_max=0, grace_ms=0)
    d.lease(priority=Priority.LOW)
    assert isinstance(d.do(Submit(ask("other", priority=HIGH))), Granted)
    assert denied(d) == TooManyWaiting(0, 0)


# --- by tenant and project ----------------------------------------------------------------------


def allow(d: Desk, project: str | None = None, **terms: Any) -> None:
    d.do(SetQuota("lab", Quota(ceiling=Ceiling(**terms)), project))


def test_a_tenants_own_ceiling_counts_instead_of_the_usual_one() -> None:
    d = desk()
    allow(d, priority_max=CRITICAL, lease_classes=tuple(LeaseClass), term_max_ms=30 * DAY_MS)
    d.lease(priority=CRITICAL, lease_class=LeaseClass.GUARANTEED, ttl_ms=30 * DAY_MS)
    d.lease(project="p", priority=CRITICAL)
    answer = d.do(Submit(ask("other", priority=CRITICAL)))
    assert isinstance(answer, Refused)


def test_a_projects_ceiling_is_narrower_and_its_tenants_counts_too() -> None:
    d = desk()
    allow(d, "p", priority_max=Priority.NORMAL, term_max_ms=DAY_MS)
    assert denied(d, project="p", priority=HIGH) == PriorityTooHigh(HIGH, Priority.NORMAL)
    d.lease(priority=HIGH)
    allow(d, priority_max=Priority.LOW)  # below what the project has
    assert denied(d, project="p") == PriorityTooHigh(Priority.NORMAL, Priority.LOW)
    assert ceiling_of(d.state, PART).priority_max is Priority.LOW
    assert ceiling_of(d.state, PART).term_max_ms == DAY_MS


@pytest.mark.parametrize(
    "more",
    [
        {"priority_max": CRITICAL},
        {"lease_classes": tuple(LeaseClass)},
        {"term_max_ms": 8 * DAY_MS},
        {"waiting_max": 1_001},
    ],
)
def test_a_project_cannot_be_allowed_more_than_its_tenant(more: dict[str, Any]) -> None:
    d = desk()
    too_much = SetQuota("lab", Quota(ceiling=Ceiling(**more)), "p")
    assert "its tenant's" in d.refuses(Conflict, too_much)
    d.do(SetQuota("lab", Quota(ceiling=OPEN)))
    assert isinstance(d.do(too_much), Done)


def test_a_quota_without_a_ceiling_has_the_usual_one_again() -> None:
    d = desk()
    allow(d, priority_max=CRITICAL)
    d.do(SetQuota("lab", Quota((ResourceLimit.cpu_cores(4),))))
    assert denied(d, priority=CRITICAL) == PriorityTooHigh(CRITICAL, HIGH)


def test_a_ceiling_is_part_of_what_must_have_been_seen() -> None:
    d = desk()
    allow(d, priority_max=CRITICAL)
    seen = quota_digest(Quota())
    d.refuses(Stale, SetQuota("lab", Quota(), None, seen))
    own = quota_digest(d.state.quotas.quota_of("lab"))
    d.do(SetQuota("lab", Quota(), None, own))


def test_a_ceiling_judges_what_is_asked_and_not_what_waits_or_runs() -> None:
    d = desk(1, priority_max=CRITICAL)
    lease = d.lease(priority=CRITICAL)
    d.wait("other", priority=CRITICAL)
    d.do(ChangeSettings(Settings()))
    assert d.phase(lease) == "active"
    d.tick(1_000 + TTL_MS)
    assert "admission_approved" in d.kinds


def test_a_renewal_is_bound_by_the_longest_term() -> None:
    d = desk()
    lease = d.lease(project="p")
    allow(d, "p", term_max_ms=DAY_MS)
    answer = d.do(Renew(lease, DAY_MS + 1))
    assert isinstance(answer, Refused)
    assert answer.denied.detail == TermTooLong(DAY_MS + 1, DAY_MS)
    assert isinstance(d.do(Renew(lease, DAY_MS)), Done)


def test_ceilings_and_who_waits_are_in_a_snapshot() -> None:
    d = desk(1, waiting_max=2)
    allow(d, "p", priority_max=Priority.NORMAL, waiting_max=2)
    d.lease()
    d.wait(project="p")
    again = decode(encode(d.state), d.digest)
    assert ceiling_of(again, PART) == ceiling_of(d.state, PART)
    assert again.waiting == d.state.waiting == {("lab", None): 1, ("lab", "p"): 1}


@pytest.mark.parametrize(
    "bad",
    [
        {"priority_max": "high!"},
        {"lease_classes": ("spot", "spot")},
        {"term_max_ms": 0},
        {"term_max_ms": OPEN.term_max_ms + 1},
        {"waiting_max": -1},
    ],
)
def test_a_ceiling_that_makes_no_sense_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidValue):
        Ceiling(**bad)


# --- the default quota --------------------------------------------------------------------------


def test_a_tenant_without_a_quota_has_the_default_one() -> None:
    d = desk(64, tenant_cpu_milli=2_000)
    d.lease()
    d.lease(project="p")
    answer = d.do(Submit(ask(), wait=False))
    assert isinstance(answer, Refused)
    assert answer.denied.detail == HardLimitExceeded(Dimension.CPU_MILLI, 2_000, 2_000, 1_000)
    assert not d.state.quotas.has_quota("lab")
    assert d.state.quotas.quota_of("lab") == d.state.settings.default_quota()
    assert d.state.quotas.headroom("nobody").dimensions[Dimension.CPU_MILLI].limit == 2_000


def test_a_quota_of_its_own_replaces_the_default_one_whole() -> None:
    d = desk(64, tenant_cpu_milli=2_000)
    d.do(SetQuota("lab", Quota((ResourceLimit.lease_count(50),))))
    d.lease(cpu_cores=40)
    assert d.state.quotas.has_quota("lab")
    assert d.state.quotas.headroom("lab").dimensions[Dimension.CPU_MILLI].limit is None


def test_another_default_counts_from_then_on_and_ends_nothing() -> None:
    d = desk(64)
    lease = d.lease(cpu_cores=10)
    d.do(ChangeSettings(Settings(tenant_cpu_milli=5_000)))
    assert d.phase(lease) == "active"
    assert isinstance(d.beside(), Refused)
    assert isinstance(d.do(Renew(lease, 2 * TTL_MS)), Refused)
    d.do(ChangeSettings(Settings()))
    assert isinstance(d.beside(), Granted)
    again = decode(encode(d.state), d.digest)
    assert again.quotas.headroom("lab") == d.state.quotas.headroom("lab")


def test_a_project_has_no_default_beside_its_tenants() -> None:
    d = desk()
    assert d.state.quotas.quota_of("lab", "p") == Quota()
    assert isinstance(d.do(Submit(ask(project="p", cpu_cores=9))), Refused | Queued)
