"""What costs money of a lease's time: one row, one test."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bailiwick.billing.charges import CHARGED, OWN_LIMITS, ChargeCause, cause_of, is_charged
from bailiwick.metering.owners import Account, Stage
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, PreemptionReason

C, S, R = ChargeCause, Stage, PreemptionReason
HELD = Account("acme", "p", None, LeaseClass.STANDARD, HardwareGeneration.NVIDIA_HOPPER)
SPOT = replace(HELD, lease_class=LeaseClass.SPOT)


def going(account: Account, reason: PreemptionReason | None) -> dict[Stage, bool]:
    """What is charged of a lease that has to go for this reason, by stage."""
    later = {stage: replace(account, stage=stage, reason=reason) for stage in (S.GRACE, S.TEARDOWN)}
    return {S.HELD: is_charged(account)} | {s: is_charged(each) for s, each in later.items()}


def test_every_cause_has_a_row_and_held_time_is_in_each() -> None:
    assert set(CHARGED) == set(ChargeCause)
    assert all(S.HELD in stages and S.TEARDOWN not in stages for stages in CHARGED.values())


def test_plain_held_time_has_no_cause_and_is_charged() -> None:
    assert cause_of(HELD) is None
    assert is_charged(HELD)


def test_expired_or_released_early_a_lease_is_charged_while_it_was_held_and_no_longer() -> None:
    ended = replace(HELD, stage=S.TEARDOWN)
    assert cause_of(ended) is C.EXPIRED
    assert cause_of(replace(ended, is_released=True)) is C.RELEASED_EARLY
    assert not is_charged(ended)
    assert CHARGED[C.EXPIRED] == CHARGED[C.RELEASED_EARLY] == {S.HELD}


@pytest.mark.parametrize("reason", [r for r in R if r not in OWN_LIMITS])
def test_preempted_by_somebody_else_grace_is_free(reason: PreemptionReason) -> None:
    assert cause_of(replace(HELD, stage=S.GRACE, reason=reason)) is C.PREEMPTED
    assert going(HELD, reason) == {S.HELD: True, S.GRACE: False, S.TEARDOWN: False}


@pytest.mark.parametrize("reason", [r for r in R if r not in OWN_LIMITS])
def test_a_spot_lease_pays_for_its_grace(reason: PreemptionReason) -> None:
    assert cause_of(replace(SPOT, stage=S.GRACE, reason=reason)) is C.SPOT_EVICTED
    assert going(SPOT, reason) == {S.HELD: True, S.GRACE: True, S.TEARDOWN: False}


@pytest.mark.parametrize("account", [HELD, SPOT])
@pytest.mark.parametrize(
    "reason", [R.BUDGET_EXHAUSTED, R.COST_CAP_EVICTION, R.BURST_CREDIT_EXHAUSTED]
)
def test_who_hits_its_own_limit_pays_for_the_grace(
    account: Account, reason: PreemptionReason
) -> None:
    assert cause_of(replace(account, stage=S.GRACE, reason=reason)) is C.OWN_LIMIT
    assert going(account, reason) == {S.HELD: True, S.GRACE: True, S.TEARDOWN: False}


def test_lost_with_its_node_or_fenced_nothing_but_held_time_is_charged() -> None:
    """The rest is owned by ``unavailable``, which is no account at all."""
    assert CHARGED[C.NODE_LOST] == CHARGED[C.TEARDOWN_FAILED] == {S.HELD}
