"""The sentences that a page reads are the command line's own, and none is missing."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from bailiwick.kernel.views import EstimateBasis
from bailiwick.phrases.jobs import phrase_job_reason
from bailiwick.phrases.words import SENTENCES
from bailiwick.server.problems import PROBLEMS
from bailiwick.vocab.health import HealthAction, HealthCheck, NodeTestOutcome
from bailiwick.vocab.jobs import HeldReason, JobFault
from bailiwick.vocab.mig import MigFailure
from bailiwick.vocab.readiness import Readiness, ReadinessCondition, ReadinessReason
from bailiwick.vocab.remedies import RemedyWord
from bailiwick.vocab.trust import MintDenial
from bailiwick.vocab.words import (
    BudgetState,
    CapacityDenial,
    FilterReason,
    PendingReason,
    PreemptionReason,
    QuotaViolation,
    RightsDenial,
)
from tests.support.http_house import http_house

DENIALS = (*CapacityDenial, *RightsDenial, *QuotaViolation)

LISTS: dict[str, Iterable[StrEnum]] = {
    "budget_state": BudgetState,
    "denial": DENIALS,
    "estimate": EstimateBasis,
    "estimate_basis": EstimateBasis,
    "filter_reason": FilterReason,
    "filter_reason_beside": FilterReason,
    "health_action": HealthAction,
    "health_check": HealthCheck,
    "held_reason": HeldReason,
    "job_fault": JobFault,
    "mig_failure": MigFailure,
    "mint_denial": MintDenial,
    "node_test_outcome": NodeTestOutcome,
    "pending_fix": PendingReason,
    "pending_reason": PendingReason,
    "preemption_reason": PreemptionReason,
    "readiness": Readiness,
    "readiness_condition": ReadinessCondition,
    "readiness_reason": ReadinessReason,
    "remedy": RemedyWord,
}


def test_every_word_of_a_list_has_its_sentence() -> None:
    assert SENTENCES.keys() == LISTS.keys() | {"shared_fix"}  # which says only what would help
    for name, words in LISTS.items():
        assert SENTENCES[name].keys() == {word.value for word in words}, name
        assert all(sentence.strip() for sentence in SENTENCES[name].values()), name


def test_a_page_says_of_a_job_what_the_command_line_says() -> None:
    for name in ("job_fault", "held_reason", "pending_reason", "preemption_reason"):
        for word, sentence in SENTENCES[name].items():
            assert phrase_job_reason(word) == sentence


def test_anybody_may_read_them_before_a_login(tmp_path: Path) -> None:
    with http_house(tmp_path) as house:
        found = house.client.get("/v1/words")
    assert found.status_code == 200
    words = found.json()["words"]
    assert words["pending_reason"] == SENTENCES["pending_reason"]
    assert words["error_code"].keys() == {code.value for code in PROBLEMS}
