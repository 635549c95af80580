"""The closed words: spelled once, spelled so, and apart from the sentences made of them."""

from __future__ import annotations

import inspect
import re
from enum import StrEnum
from types import ModuleType

import pytest

from bailiwick.scheduler import explain
from bailiwick.vocab import errors, transitions, words
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import (
    GENERATIONS,
    LEASE_CLASSES,
    PRIORITIES,
    RESOURCE_KINDS,
    CapacityDenial,
    Dimension,
    EndCause,
    Exclusivity,
    FilterReason,
    HardwareGeneration,
    LeaseClass,
    PendingReason,
    PreemptionReason,
    Priority,
    QuotaViolation,
    ResourceKind,
    RightsDenial,
    Strategy,
)


def enums_of(*modules: ModuleType) -> list[type[StrEnum]]:
    found: dict[type[StrEnum], None] = {}
    for module in modules:
        for _, value in inspect.getmembers(module, inspect.isclass):
            if issubclass(value, StrEnum) and value is not StrEnum:
                found[value] = None
    return list(found)


ENUMS = enums_of(words, transitions, errors, explain)

# What the two texts and the design spell out, letter by letter.
SPELLED: dict[type[StrEnum], str] = {
    Priority: "low normal high critical",
    LeaseClass: "guaranteed standard spot",
    Exclusivity: "shared session_exclusive device_exclusive partition_exclusive",
    PreemptionReason: (
        "priority_preemption quota_rebalance burst_credit_exhausted budget_exhausted"
        " cost_cap_eviction operator_drain operator_mig_profile_change maintenance_window"
        " policy_violation_recovery"
    ),
    EndCause: "released expired preempted node_departed",
    QuotaViolation: (
        "gpu_generation_required gpu_generation_limit_exceeded hard_limit_exceeded"
        " burst_credit_exhausted budget_exhausted cost_cap_exceeded"
    ),
    Dimension: "cpu_milli mem_bytes block_bytes gpu_count gpu_vram lease_count",
    ResourceKind: "cpu_milli mem_bytes block_bytes gpu_milli",
    PendingReason: (
        "misconfigured forbidden exceeds_maximum waiting_for_quota waiting_for_capacity"
        " fragmented waiting_for_victims not_yet_looked_at"
    ),
    CapacityDenial: (
        "deadline_passed no_such_hardware nodes_forbidden larger_than_any_node headroom_kept"
        " room_claimed room_reserved nodes_kept_apart not_enough_free fragmented victims_leaving"
        " node_closed node_kept_apart nodes_closed term_reserved"
        " nodes_maintained node_maintained nodes_booked node_booked"
    ),
    RightsDenial: (
        "scope_closed priority_too_high lease_class_forbidden term_too_long too_many_waiting"
    ),
    FilterReason: "node_mode quarantined attestation gpu_kind labels policy cpu memory block gpu",
    HardwareGeneration: (
        "nvidia_volta nvidia_turing nvidia_ampere nvidia_ada nvidia_hopper nvidia_blackwell"
        " nvidia_rubin amd_mi200 amd_mi300 amd_mi350 intel_gaudi2 intel_gaudi3 google_tpu_v5"
        " google_tpu_v6 aws_trainium2 other"
    ),
    transitions.NodeMode: "accepting draining drained maintenance returning fence_lost cordoned",
    Strategy: "round_robin best_fit weighted fragmentation_aware",
}


@pytest.mark.parametrize("enum", SPELLED, ids=lambda e: e.__name__)
def test_the_words_are_spelled_and_ordered_as_the_design_says(enum: type[StrEnum]) -> None:
    assert [word.value for word in enum] == SPELLED[enum].split()


@pytest.mark.parametrize("enum", ENUMS, ids=lambda e: e.__name__)
def test_every_word_is_snake_case(enum: type[StrEnum]) -> None:
    assert all(re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", word.value) for word in enum)


@pytest.mark.parametrize("enum", ENUMS, ids=lambda e: e.__name__)
def test_every_member_is_named_after_its_word(enum: type[StrEnum]) -> None:
    # __members__ lists aliases too, so a word given twice would show here.
    assert all(name == member.value.upper() for name, member in enum.__members__.items())


@pytest.mark.parametrize("enum", ENUMS, ids=lambda e: e.__name__)
def test_a_word_is_its_own_string(enum: type[StrEnum]) -> None:
    assert all(str(word) == word.value == f"{word}" for word in enum)


def test_there_are_nine_reasons_and_no_other() -> None:
    assert len(PreemptionReason) == 9
    assert "other" not in set(PreemptionReason)


def test_every_reason_has_a_sentence_of_its_own() -> None:
    sentences = [reason.human_summary() for reason in PreemptionReason]
    assert len(set(sentences)) == 9
    assert all(" " in sentence for sentence in sentences)


def test_no_sentence_can_be_taken_for_a_word() -> None:
    assert not {reason.human_summary() for reason in PreemptionReason} & set(PreemptionReason)


def test_only_operators_and_policy_may_end_a_guaranteed_lease() -> None:
    ends = {reason.value for reason in PreemptionReason if not reason.spares_guaranteed}
    assert ends == {
        "operator_drain",
        "operator_mig_profile_change",
        "maintenance_window",
        "policy_violation_recovery",
    }


def test_priorities_rank_from_low_to_critical() -> None:
    assert [p.rank for p in (Priority.LOW, Priority.NORMAL, Priority.HIGH, Priority.CRITICAL)] == [
        0, 1, 2, 3,
    ]  # fmt: skip


def test_pending_reasons_rank_in_the_order_they_must_be_cleared() -> None:
    assert [reason.rank for reason in PendingReason] == list(range(8))
    assert min(PendingReason, key=lambda r: r.rank) is PendingReason.MISCONFIGURED


def test_waiting_helps_from_quota_on_and_never_before() -> None:
    helps = {reason.value for reason in PendingReason if reason.is_transient}
    assert helps == {
        "waiting_for_quota",
        "waiting_for_capacity",
        "fragmented",
        "waiting_for_victims",
        "not_yet_looked_at",
    }


@pytest.mark.parametrize("generation", list(HardwareGeneration))
def test_a_generation_is_read_back_from_its_word(generation: HardwareGeneration) -> None:
    assert HardwareGeneration.from_word(generation.value) is generation


@pytest.mark.parametrize(
    "word", ["", "hopper", "NVIDIA_HOPPER", "nvidia-hopper", " nvidia_hopper", None, 5, True, 1.5]
)
def test_an_unknown_generation_is_an_error_that_lists_what_exists(word: str) -> None:
    with pytest.raises(InvalidValue, match="generation: expected one of nvidia_volta, ") as refused:
        HardwareGeneration.from_word(word)
    assert refused.value.field == "generation"
    assert all(g.value in refused.value.expected for g in HardwareGeneration)


@pytest.mark.parametrize(
    ("listed", "enum"),
    [(GENERATIONS, HardwareGeneration), (LEASE_CLASSES, LeaseClass), (PRIORITIES, Priority),
     (RESOURCE_KINDS, ResourceKind)],
)  # fmt: skip
def test_the_lists_that_tables_are_indexed_by_hold_every_word_in_order(
    listed: tuple[StrEnum, ...], enum: type[StrEnum]
) -> None:
    assert listed == tuple(enum)
