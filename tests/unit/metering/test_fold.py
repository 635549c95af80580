"""What each kind of record means for the meter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from bailiwick.journal.kinds import RecordKind
from bailiwick.metering.fold import MEANINGS, JournalMeter
from bailiwick.metering.meter import Meter
from bailiwick.metering.owners import (
    IDLE,
    Account,
    Leased,
    Owner,
    Stage,
    UnavailableCapacity,
)
from bailiwick.metering.records import MeterFinding, MeterFindingWord
from bailiwick.metering.values import Line
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind
from tests.support.kernel_histories import busy_journal, small_journal

HOPPER, AMPERE = HardwareGeneration.NVIDIA_HOPPER, HardwareGeneration.NVIDIA_AMPERE
GPU, CPU = ResourceKind.GPU_MILLI, ResourceKind.CPU_MILLI


@dataclass(frozen=True)
class Told:
    """A record, as the fold reads it."""

    seq: int
    at_ms: int
    kind: str
    body: Mapping[str, Any]
    tenant: str | None = None
    project: str | None = None
    moves_shares: bool = True


@dataclass
class Journal:
    """A journal that is told record by record, and metered."""

    findings: list[MeterFinding] = field(default_factory=list)
    seq: int = 0
    meter: JournalMeter = field(init=False)

    def __post_init__(self) -> None:
        self.meter = JournalMeter(Meter(logs=True))

    def tell(self, at_ms: int, kind: str, **body: Any) -> tuple[MeterFinding, ...]:
        record = Told(self.seq, at_ms, kind, body, body.pop("tenant", None), "vision")
        self.seq += 1
        found = self.meter.add(record)
        self.findings += found
        self.meter.check()
        return found

    def node(self, at_ms: int, name: str = "node-1", gpus: tuple[str, ...] = (HOPPER,)) -> None:
        amounts = {"cpu_milli": 8_000, "mem_bytes": 100, "gpu_milli": 1_000 * len(gpus)}
        body: dict[str, Any] = {"node": name, "resources": amounts, "gpu_generations": gpus}
        self.tell(at_ms, "node_registered", **body)

    def grant(
        self, at_ms: int, lease_id: int, node: str = "node-1", mask: int = 1, **amounts: int
    ) -> tuple[MeterFinding, ...]:
        held = amounts or {"gpu_milli": 1_000 * mask.bit_count(), "cpu_milli": 1_000}
        return self.tell(
            at_ms,
            "admission_approved",
            tenant="lab",
            lease_ids=(lease_id,),
            nodes=(node,),
            resources=held,
            lease_class="spot",
            tag="t",
            devices=(mask,),
        )

    def used(self, at_ms: int, kind: ResourceKind = GPU) -> dict[str, int]:
        """What everybody has used by now, by word or lease."""
        sums: Counter[str] = Counter()
        for line, amount in self.meter.meter.totals(at_ms).items():
            if line.kind is kind and amount:
                sums[_word(line.payer)] += amount
        return dict(sums)


def _word(payer: object) -> str:
    match payer:
        case Account():
            return payer.tenant
        case UnavailableCapacity():
            return payer.cause.value
        case _:
            return "idle"


def owners_of(journal: Journal, kind: ResourceKind = GPU) -> set[Owner]:
    return {
        part.owner
        for pool in journal.meter.meter.pools()
        if pool.share.kind is kind
        for part in journal.meter.meter.parts_of(pool)
    }


# --- the table ---------------------------------------------------------------------------------


def test_every_kind_of_record_that_moves_shares_has_a_meaning() -> None:
    assert set(MEANINGS) == {kind for kind in RecordKind if kind.moves_shares}


def test_a_kind_that_the_table_does_not_have_is_refused() -> None:
    with pytest.raises(InvalidValue, match="kind"):
        Journal().tell(0, "something_new")


# --- leases ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["lease_released", "lease_expired", "lease_preempted"])
def test_a_lease_owns_its_shares_from_its_grant_to_its_end(kind: str) -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1)
    journal.tell(25, kind, lease_id=1)
    assert journal.used(40) == {"lab": 15_000, "idle": 25_000}
    assert journal.used(40, CPU) == {"lab": 15_000, "idle": 8_000 * 40 - 15_000}
    account = Account("lab", "vision", "t", LeaseClass.SPOT, HOPPER)
    assert Leased(1, account) in {each.owner for each in journal.meter.meter.drain()}


def test_half_a_device_is_half_a_device() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1, gpu_milli=400)
    journal.grant(20, 2, gpu_milli=600)
    journal.tell(30, "lease_released", lease_id=1)
    assert journal.used(50) == {"lab": 400 * 20 + 600 * 30, "idle": 50_000 - 26_000}


def test_a_lease_on_devices_of_two_generations_is_two_accounts() -> None:
    journal = Journal()
    journal.node(0, gpus=(HOPPER, AMPERE, HOPPER))
    journal.grant(10, 1, mask=0b011)
    totals = journal.meter.meter.totals(20)
    for generation in (HOPPER, AMPERE):
        account = Account("lab", "vision", "t", LeaseClass.SPOT, generation)
        assert totals[Line(GPU, generation, account)] == 10_000
    first = Account("lab", "vision", "t", LeaseClass.SPOT, HOPPER)
    assert totals[Line(CPU, None, first)] == 10_000


def test_a_lease_without_devices_has_no_generation() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1, mask=0, cpu_milli=500)
    account = Account("lab", "vision", "t", LeaseClass.SPOT, None)
    assert journal.meter.meter.totals(20)[Line(CPU, None, account)] == 5_000


def test_what_is_fenced_costs_its_holder_nothing_until_it_is_cleared() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1)
    journal.tell(20, "lease_fenced", lease_id=1)
    journal.tell(50, "fence_cleared", lease_id=1)
    assert journal.used(60) == {"lab": 10_000, "fenced": 30_000, "idle": 20_000}


# --- how a lease ends --------------------------------------------------------------------------


def stages(journal: Journal, at_ms: int) -> dict[tuple[str, str | None], int]:
    """GPU time of each stage and reason, up to now."""
    sums: Counter[tuple[str, str | None]] = Counter()
    for line, used in journal.meter.meter.totals(at_ms).items():
        if line.kind is GPU and isinstance(line.payer, Account) and used:
            reason = line.payer.reason
            sums[line.payer.stage.value, None if reason is None else reason.value] += used
    return dict(sums)


def step(journal: Journal, at_ms: int, after: str, **more: Any) -> None:
    journal.tell(at_ms, "lease_revoked", lease_id=1, before="active", after=after, **more)


def test_grace_and_teardown_are_stages_of_their_own_with_the_reason() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1)
    step(journal, 20, "revoke_warning", reason="operator_drain")
    step(journal, 20, "grace_running", reason="operator_drain", expires_ms=50)
    assert stages(journal, 45) == {("held", None): 10_000, ("grace", "operator_drain"): 25_000}
    step(journal, 48, "forced_teardown", reason="operator_drain", expires_ms=90)
    journal.tell(60, "lease_preempted", lease_id=1)
    assert stages(journal, 70) == {
        ("held", None): 10_000,
        ("grace", "operator_drain"): 28_000,
        ("teardown", "operator_drain"): 12_000,
    }
    assert journal.used(70)["lab"] == 50_000


def test_a_lease_that_stayed_was_in_grace_for_a_while_and_whoever_is_next_is_not() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1)
    step(journal, 20, "grace_running", reason="operator_drain", expires_ms=50)
    journal.tell(30, "lease_restored", lease_id=1, expires_ms=1_000)
    told = {("held", None): 30_000, ("grace", "operator_drain"): 10_000}
    assert stages(journal, 50) == told
    journal.tell(50, "lease_released", lease_id=1)
    assert stages(journal, 50) == told
    journal.grant(50, 2)
    assert stages(journal, 60) == told | {("held", None): 40_000}


def test_a_grace_that_ran_out_was_over_then_and_not_when_it_was_recorded() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1)
    step(journal, 20, "grace_running", reason="budget_exhausted", expires_ms=30)
    step(journal, 44, "forced_teardown", reason="budget_exhausted")
    journal.tell(44, "lease_preempted", lease_id=1)
    told = stages(journal, 50)
    assert told["grace", "budget_exhausted"] == 10_000
    assert told["teardown", "budget_exhausted"] == 14_000


def test_what_its_holder_gave_back_is_told_apart_from_what_ran_out() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1)
    step(journal, 20, "expired", released=1, expires_ms=90)
    journal.tell(26, "lease_released", lease_id=1)
    payers = [line.payer for line, used in journal.meter.meter.totals(30).items() if used]
    torn = [p for p in payers if isinstance(p, Account) and p.stage is Stage.TEARDOWN]
    assert len(torn) == 2
    assert all(payer.is_released for payer in torn)


@pytest.mark.parametrize("renewed", [False, True])
def test_a_term_that_ran_out_was_over_then_and_not_when_it_was_recorded(renewed: bool) -> None:
    journal = Journal()
    journal.node(0)
    body = {"lease_ids": (1,), "nodes": ("node-1",), "devices": (1,), "lease_class": "spot"}
    amounts = {"gpu_milli": 1_000}
    journal.tell(10, "admission_approved", tenant="lab", resources=amounts, ttl_ms=20, **body)
    if renewed:
        journal.tell(15, "lease_renewed", lease_id=1, expires_ms=40, generation=2)
    journal.tell(55, "lease_expired", lease_id=1)
    over_ms = 40 if renewed else 30
    held, late = (over_ms - 10) * 1_000, (55 - over_ms) * 1_000
    assert stages(journal, 60) == {("held", None): held, ("teardown", None): late}


def test_what_was_lost_before_its_warning_was_never_in_grace() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1)
    step(journal, 40, "grace_running", reason="operator_drain", expires_ms=90)
    journal.tell(60, "node_departed", node="node-1", lease_ids=(1,), last_seen_ms=30)
    assert stages(journal, 100) == {("held", None): 20_000}
    assert journal.used(100) == {"lab": 20_000, "idle": 10_000, "departed": 30_000}
    assert journal.findings == []


# --- nodes -------------------------------------------------------------------------------------


def test_what_a_closed_node_has_free_is_unavailable_and_its_leases_keep_theirs() -> None:
    journal = Journal()
    journal.node(0, gpus=(HOPPER, HOPPER))
    journal.grant(0, 1)
    journal.tell(10, "node_mode_changed", node="node-1", after="draining")
    journal.tell(30, "lease_preempted", lease_id=1)
    journal.tell(30, "node_mode_changed", node="node-1", after="drained")
    journal.tell(40, "node_mode_changed", node="node-1", after="returning")
    journal.tell(45, "node_mode_changed", node="node-1", after="accepting")
    used = {"lab": 30_000, "idle": 10_000 + 10_000, "draining": 20_000, "drained": 20_000}
    assert journal.used(50) == used | {"returning": 10_000}


def test_quarantine_hides_the_mode_and_lifting_it_shows_the_mode_again() -> None:
    journal = Journal()
    journal.node(0)
    journal.tell(10, "node_quarantined", node="node-1")
    journal.tell(20, "node_mode_changed", node="node-1", after="draining")
    journal.tell(30, "node_quarantined", node="node-1")
    journal.tell(40, "node_quarantine_lifted", node="node-1")
    assert journal.used(50) == {"idle": 10_000, "quarantined": 30_000, "draining": 10_000}


def test_usage_of_what_is_lost_with_its_node_stops_at_the_last_proof_of_life() -> None:
    journal = Journal()
    journal.node(0, gpus=(HOPPER, HOPPER))
    journal.grant(10, 1)
    journal.tell(100, "node_departed", node="node-1", lease_ids=(1,), last_seen_ms=70)
    assert journal.used(500) == {"lab": 60_000, "idle": 80_000, "departed": 60_000}
    assert journal.findings == []
    assert journal.meter.meter.pools() == ()


def test_a_departure_without_a_last_proof_of_life_is_now() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1)
    journal.tell(100, "node_departed", node="node-1", lease_ids=(1,))
    assert journal.used(500) == {"lab": 90_000, "idle": 10_000}


def test_a_last_proof_of_life_in_the_future_is_now() -> None:
    journal = Journal()
    journal.node(0)
    journal.tell(100, "node_departed", node="node-1", last_seen_ms=900)
    assert journal.used(1_000) == {"idle": 100_000}


def test_a_gang_is_lost_with_one_node_and_its_other_nodes_are_free_once_that_is_noticed() -> None:
    journal = Journal()
    journal.node(0)
    journal.node(0, "node-2")
    journal.grant(10, 1)
    journal.grant(10, 2, "node-2")
    journal.tell(
        100, "node_departed", node="node-1", lease_ids=(1,), leases_left=1, last_seen_ms=70
    )
    journal.tell(100, "node_departed", node="node-1", lease_ids=(2,), last_seen_ms=70)
    assert journal.used(150) == {"lab": 120_000, "departed": 60_000, "idle": 20_000 + 50_000}
    assert owners_of(journal) == {IDLE}


def test_a_lease_left_on_a_node_that_is_gone_ended_with_it() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1)
    journal.tell(100, "node_departed", node="node-1", last_seen_ms=70)
    assert journal.used(200) == {"lab": 60_000, "idle": 10_000, "departed": 30_000}
    (finding,) = journal.tell(110, "lease_released", lease_id=1)
    assert finding.word is MeterFindingWord.UNKNOWN_LEASE


def test_a_fenced_lease_that_is_lost_stays_nobodys() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1)
    journal.tell(20, "lease_fenced", lease_id=1)
    journal.tell(100, "node_departed", node="node-1", lease_ids=(1,), last_seen_ms=70)
    assert journal.used(200) == {
        "lab": 10_000,
        "idle": 10_000,
        "fenced": 50_000,
        "departed": 30_000,
    }


def test_a_node_that_comes_back_is_metered_from_then_on() -> None:
    journal = Journal()
    journal.node(0)
    journal.tell(10, "node_quarantined", node="node-1")
    journal.tell(20, "node_departed", node="node-1")
    journal.node(50)
    assert journal.used(60) == {"idle": 10_000 + 10_000, "quarantined": 10_000}


# --- what does not fit -------------------------------------------------------------------------


def test_a_lease_charged_past_its_nodes_last_proof_of_life_is_told_and_nothing_is_negative() -> (
    None
):
    journal = Journal()
    journal.node(0)
    journal.grant(80, 1)
    (finding,) = journal.tell(100, "node_departed", node="node-1", lease_ids=(1,), last_seen_ms=70)[
        :1
    ]
    assert (finding.word, finding.subject) == (MeterFindingWord.LATE, "1")
    assert finding.late_ms == 10
    assert journal.used(200) == {"idle": 80_000, "departed": 20_000}


def test_more_than_is_free_is_not_metered_and_is_told_with_its_numbers() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1, gpu_milli=700)
    assert journal.grant(20, 2, gpu_milli=400, cpu_milli=10) == (
        MeterFinding(MeterFindingWord.OVERCOMMITTED, 2, "2", wanted=400, found=300),
    )
    assert journal.tell(30, "lease_released", lease_id=2) == ()
    assert journal.used(40) == {"lab": 700 * 30, "idle": 40_000 - 21_000}
    assert journal.used(40, CPU) == {"idle": 8_000 * 40}
    assert journal.meter.counts == {MeterFindingWord.OVERCOMMITTED: 1}


@pytest.mark.parametrize(
    ("mask", "amounts"),
    [
        (0b10, {"gpu_milli": 1_000}),  # a device that the node does not have
        (0, {"gpu_milli": 1_000}),  # no device named
        (0b11, {"gpu_milli": 1_000}),
        (1, {"gpu_milli": 1_000, "block_bytes": 5}),  # a resource that the node does not have
    ],
)
def test_what_the_node_does_not_have_is_not_metered(mask: int, amounts: dict[str, int]) -> None:
    journal = Journal()
    journal.node(0)
    (finding,) = journal.grant(10, 1, mask=mask, **amounts)
    assert finding.word is MeterFindingWord.OVERCOMMITTED
    assert owners_of(journal) == {IDLE}


def test_devices_must_share_an_amount_evenly() -> None:
    journal = Journal()
    journal.node(0, gpus=(HOPPER, HOPPER))
    (finding,) = journal.grant(10, 1, mask=0b11, gpu_milli=1_001)
    assert finding.word is MeterFindingWord.OVERCOMMITTED


def test_records_about_what_nobody_told_of_are_findings() -> None:
    journal = Journal()
    journal.node(0)
    words = []
    for kind in ("lease_released", "lease_fenced", "fence_cleared"):
        words += [each.word for each in journal.tell(1, kind, lease_id=9)]
    words += [each.word for each in journal.tell(1, "node_departed", node="node-1", lease_ids=(9,))]
    assert words == [MeterFindingWord.UNKNOWN_LEASE] * 4
    words = [each.word for each in journal.grant(2, 1, "node-9")]
    for kind in ("node_departed", "node_quarantined"):
        words += [each.word for each in journal.tell(2, kind, node="node-9")]
    words += [
        each.word for each in journal.tell(2, "node_mode_changed", node="node-9", after="draining")
    ]
    assert words == [MeterFindingWord.UNKNOWN_NODE] * 4
    assert journal.tell(3, "lease_released", lease_id=1) == ()


def test_a_quarantine_in_which_a_node_departed_may_be_lifted_while_it_is_away() -> None:
    journal = Journal()
    journal.node(0)
    journal.tell(1, "node_quarantined", node="node-1")
    journal.tell(2, "node_departed", node="node-1")
    assert journal.tell(3, "node_quarantine_lifted", node="node-1") == ()


def test_what_is_told_twice_counts_once() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(10, 1, gpu_milli=100)
    (held,) = journal.grant(20, 1, gpu_milli=100)
    assert held.word is MeterFindingWord.ALREADY_HELD
    journal.node(25)
    assert journal.findings[-1].word is MeterFindingWord.ALREADY_REGISTERED
    assert journal.used(30) == {"lab": 2_000, "idle": 28_000}


def test_a_clock_that_goes_back_is_told_and_charges_nothing() -> None:
    journal = Journal()
    journal.node(0)
    journal.grant(50, 1)
    (finding,) = journal.tell(20, "lease_released", lease_id=1)
    assert (finding.word, finding.late_ms) == (MeterFindingWord.TIME_WENT_BACK, 30)
    assert journal.used(60) == {"idle": 60_000}


def test_memory_of_the_meter_does_not_grow_with_the_number_of_leases() -> None:
    journal, chance, held = Journal(), Random(1), []
    journal.node(0)
    for number in range(1, 800):
        if len(held) == 10:
            lease_id = held.pop(chance.randrange(10))
            journal.tell(number, "lease_released", lease_id=lease_id)
        amounts = {"gpu_milli": chance.randrange(1, 100), "cpu_milli": chance.randrange(1, 800)}
        journal.grant(number, number, **amounts)
        held.append(number)
    # Three shares with what is free of each, and ten leases with a part of two of them.
    assert len(journal.meter.meter.core.rows()) == 3 + 2 * 10
    assert len(journal.meter.leases) == 10


# --- journals of the real kernel ---------------------------------------------------------------


def test_the_journal_of_the_manual_balances_and_has_nothing_that_does_not_fit() -> None:
    meter = JournalMeter()
    assert [found for record in small_journal().records for found in meter.add(record)] == []
    meter.check()
    assert all(each.owned == each.capacity for each in meter.meter.balances(meter.clock_ms))


@pytest.mark.parametrize("seed", range(6))
def test_a_busy_journal_balances_and_has_nothing_that_does_not_fit(seed: int) -> None:
    meter = JournalMeter()
    for record in busy_journal(seed, steps=150, executors=seed % 3).records:
        assert meter.add(record) == ()
        meter.check()
    balances = meter.meter.balances(meter.clock_ms)
    assert {each.generation for each in balances if each.kind is GPU} == {HOPPER, AMPERE}
    assert all(each.owned == each.capacity for each in balances)
