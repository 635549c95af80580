"""A tenant that plays for a place beside another never gets one that a policy forbids."""

from __future__ import annotations

import pytest

from tests.simulation import placement_attack
from tests.simulation.placement_attack import POLICIES, Attack, main

QUICK = 12 * len(POLICIES)
"""Histories of a test run; ``python -m tests.simulation.placement_attack`` plays 100,000."""


def test_no_attack_ends_in_a_forbidden_meeting() -> None:
    assert [seed for seed in range(QUICK) if Attack(seed, guarded=True).meets()] == []


def test_the_same_attacker_succeeds_against_every_rule_without_the_policy() -> None:
    met = [seed % len(POLICIES) for seed in range(QUICK) if Attack(seed, guarded=False).meets()]
    assert set(met) == set(range(len(POLICIES))), "an attacker who never succeeds shows nothing"
    assert len(met) > QUICK // 4


def test_the_command_tells_progress_and_every_seed_that_met(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placement_attack, "BLOCK", 4)
    met = [seed for seed in range(3, 13) if Attack(seed, guarded=False).meets()]
    assert main(["--from", "3", "--histories", "13", "--workers", "2", "--unguarded"]) == 1
    said = capsys.readouterr()
    told = [line for line in said.out.splitlines() if line.startswith("seed ")]
    assert told == [f"seed {seed}: a meeting that the policy forbids" for seed in met]
    assert f"10 histories, {len(met)} with a forbidden meeting" in said.out
    nexts = [line.rsplit(" ", 1)[1] for line in said.err.splitlines()]
    assert nexts == ["7", "11", "13"], "what is told as done is done, in the order of the seeds"


def test_an_interrupted_run_says_how_to_go_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(placement_attack, "BLOCK", 2)
    monkeypatch.setattr(placement_attack, "_tell", interrupt)
    assert main(["--histories", "6", "--workers", "1"]) == 130
    assert "go on with --from 2" in capsys.readouterr().out
