"""Every closed word has its sentence, in every voice: none is forgotten."""

from __future__ import annotations

from typing import get_args

import pytest

from bailiwick.kernel.spelling import denial_body
from bailiwick.kernel.views import EstimateBasis
from bailiwick.metering.report import ReportFindingWord
from bailiwick.phrases.amounts import amount
from bailiwick.phrases.denials import denial_numbers, phrase_denial
from bailiwick.phrases.estimates import ESTIMATES, phrase_estimate
from bailiwick.phrases.evictions import eviction_rows
from bailiwick.phrases.findings import PHRASES
from bailiwick.phrases.jobs import FAULTS, phrase_job_reason
from bailiwick.phrases.reasons import REASONS, fix_of, phrase_turn
from bailiwick.phrases.remedies import phrase_remedy, remedy_beside
from bailiwick.phrases.shared import SHARED_FIXES, fix_of_shared
from bailiwick.phrases.states import BUDGETS, FALLEN, FILTERS
from bailiwick.phrases.tokens import MINT_DENIALS
from bailiwick.scheduler.decision import DeadlinePassed, Denied, NotEnoughFree, VictimsLeaving
from bailiwick.scheduler.explain import Remedy, remedy_for
from bailiwick.scheduler.quota_policy import GpuGenerationLimitExceeded, QuotaScope
from bailiwick.vocab.jobs import JobFault
from bailiwick.vocab.remedies import RemedyWord
from bailiwick.vocab.shared import SharedRefusal, SubmitDenial
from bailiwick.vocab.trust import MintDenial
from bailiwick.vocab.words import (
    BudgetState,
    Dimension,
    FilterReason,
    HardwareGeneration,
    PendingReason,
    PreemptionReason,
    ResourceKind,
)
from bailiwick.wire.words import EstimateWord


def remedy(word: str, amount: int = 0, unit: str = "") -> dict[str, object]:
    """As the contract tells it."""
    return {"remedy": word, "amount": amount, "unit": unit, "lease_ids": []}


def test_every_closed_word_has_its_sentence() -> None:
    assert REASONS.keys() == set(PendingReason)
    assert FILTERS.keys() == FALLEN.keys() == set(FilterReason)
    assert ESTIMATES.keys() == set(EstimateBasis) == set(get_args(EstimateWord))
    assert FAULTS.keys() == set(JobFault)
    assert MINT_DENIALS.keys() == set(MintDenial)
    assert BUDGETS.keys() == set(BudgetState)
    assert PHRASES.keys() == set(ReportFindingWord)
    assert SHARED_FIXES.keys() == {*SharedRefusal, *SubmitDenial}
    assert all(fix_of_shared(word.value) for word in (*SharedRefusal, *SubmitDenial))


@pytest.mark.parametrize("reason", PendingReason)
def test_every_reason_has_its_advice(reason: PendingReason) -> None:
    assert fix_of(reason, "not_enough_free")


def test_what_a_quota_never_allows_is_no_matter_of_nodes_or_of_policy() -> None:
    """Seen: who asked for a generation that his quota does not list was sent to ask for nodes."""
    scope = QuotaScope.of("lab")
    denied = GpuGenerationLimitExceeded(HardwareGeneration.NVIDIA_BLACKWELL, 0, 0, 2, scope)
    told = Denied.because(denied)
    assert "quota" in fix_of(told.reason, denied.code)
    assert "quota of lab does not list" in phrase_denial(denial_body(told))
    assert remedy_for(told) == Remedy(RemedyWord.RAISE_QUOTA, 2, "nvidia_blackwell")
    assert "quota" in phrase_remedy(remedy("raise_quota", 2, "nvidia_blackwell"))


def test_who_is_first_in_the_line_is_not_told_that_others_are_before_it() -> None:
    assert "next look" in phrase_turn(1)
    assert phrase_turn(2) == REASONS[PendingReason.NOT_YET_LOOKED_AT]


@pytest.mark.parametrize("word", RemedyWord)
def test_every_remedy_has_its_sentence(word: RemedyWord) -> None:
    assert remedy_beside(word, value=2, unit="members")
    assert "_" not in phrase_remedy(remedy(word)).replace("nvidia_hopper", "")
    assert phrase_remedy(remedy(word, 2**30, "mem_bytes"))


@pytest.mark.parametrize("unit", [*Dimension, *ResourceKind])
def test_every_amount_has_its_unit(unit: str) -> None:
    assert unit not in amount(unit, 1)


@pytest.mark.parametrize("word", [*JobFault, *PendingReason, *PreemptionReason])
def test_a_job_tells_its_reason_in_words(word: str) -> None:
    assert phrase_job_reason(word) != word


def test_a_reason_that_nobody_knows_is_told_as_it_is() -> None:
    assert phrase_job_reason("from_a_newer_server") == "from_a_newer_server"


def test_a_denial_has_a_sentence_and_numbers_beside_its_word() -> None:
    denied = NotEnoughFree(ResourceKind.MEM_BYTES, free=2**30, requested=2**36)
    assert (
        phrase_denial(denial_body(Denied.because(denied)))
        == "64 GiB of memory asked, 1 GiB of memory free in all"
    )
    told = denial_numbers(denied, when=str, late=str)
    assert told == "mem_bytes: free 1 GiB, requested 64 GiB"


def test_moments_are_told_on_the_clock_of_whoever_asks() -> None:
    leaving = VictimsLeaving(leases=1, until_ms=7)
    assert denial_numbers(leaving, when=lambda ms: f"<{ms}>", late=str) == "1 lease leaving by <7>"
    passed = DeadlinePassed(deadline_ms=5, now_ms=9)
    assert denial_numbers(passed, when=str, late=lambda ms: f"{ms} ms") == (
        "had to start by 5, 4 ms ago"
    )


def test_an_estimate_is_told_as_one() -> None:
    assert (
        phrase_estimate({"starts_ms": 1, "basis": "expiry"})
        == "now; an estimate: leases in its way end by then"
    )
    assert phrase_estimate({"starts_ms": None, "basis": "beyond_horizon"}).startswith("no time")


def test_the_table_of_evictions_says_what_is_decided() -> None:
    rows = {row[0]: row[1:] for row in eviction_rows()}
    assert len(rows) == 12
    assert rows["standard high"] == ("none", "low, normal", "any")
    assert rows["spot critical"] == ("none", "none", "low, normal, high")
    assert rows["spot low"] == ("none", "none", "none")
