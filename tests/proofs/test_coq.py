"""Coq accepts every proof from nothing, assumes nothing, and refuses what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "proofs"))
from coq_check import CoqProver, mutants
from proven import Verdict

# `make prove` tries all of them; these are of each kind, and quick.
SOME_MUTANTS = (
    "the next holder is charged",
    "a conflict is billed",
    "program: no lock around a change",
    "program: acknowledged, not applied",
)


@pytest.mark.timeout(7200)
def test_every_theorem_is_proven_without_an_assumption_and_not_of_what_is_wrong(
    coq_prover: CoqProver, report: Callable[[str, Verdict], None]
) -> None:
    proven = coq_prover.theorems()
    report("every theorem is proven", proven)
    assert proven.is_proven, proven.said
    for mutant in [each for each in mutants() if each.what in SOME_MUTANTS]:
        refused = coq_prover.mutant(mutant)
        report(f"refused: {mutant.what}", refused)
        assert refused.is_proven, refused.said


def test_the_mutants_that_are_tried_are_there() -> None:
    assert {each.what for each in mutants()} >= set(SOME_MUTANTS)
