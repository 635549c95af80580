"""A tenant that plays for a place beside another never gets one that a policy forbids."""

from __future__ import annotations

from tests.simulation.placement_attack import POLICIES, Attack

QUICK = 12 * len(POLICIES)
"""Histories of a test run; ``python -m tests.simulation.placement_attack`` plays 100,000."""


def test_no_attack_ends_in_a_forbidden_meeting() -> None:
    assert [seed for seed in range(QUICK) if Attack(seed, guarded=True).meets()] == []


def test_the_same_attacker_succeeds_against_every_rule_without_the_policy() -> None:
    met = [seed % len(POLICIES) for seed in range(QUICK) if Attack(seed, guarded=False).meets()]
    assert set(met) == set(range(len(POLICIES))), "an attacker who never succeeds shows nothing"
    assert len(met) > QUICK // 4
