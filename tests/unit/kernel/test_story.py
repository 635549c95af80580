"""The story stays whole: a record stands in the course of what brought it about, also at a tick."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from bailiwick.billing.budgets import Budget
from bailiwick.journal.words import AttestationWord
from bailiwick.kernel import (
    Cancel,
    ChangeMode,
    ChangeSettings,
    Envelope,
    Evict,
    Kernel,
    Quarantine,
    RecordVerdict,
    Release,
    SetBudget,
    SetQuota,
    Submit,
    Tick,
    decode,
    digest_of,
    encode,
)
from bailiwick.kernel.machine import step_of, take_step
from bailiwick.kernel.state import State
from bailiwick.scheduler.quota_policy import BurstCredit, Quota, ResourceLimit
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import Dimension, PreemptionReason
from tests.support.kernel_histories import Campus, busy_journal
from tests.support.money_histories import LARGE, Trouble
from tests.support.naive_story import expected_course
from tests.support.wide_open import wide_settings
from tests.unit.kernel.desk import CRITICAL, HIGH, LOW, Desk, ask, cores
from tests.unit.kernel.trust_desk import LIFE_MS, TPM, Gate, evidence

LONG = 10**6


def courses(d: Desk) -> dict[str, set[str]]:
    """Of the last command's records, the correlation ids by kind."""
    found: dict[str, set[str]] = {}
    for record in d.last:
        found.setdefault(str(record.kind), set()).add(record.correlation_id)
    return found


def tick(d: Desk, now_ms: int) -> dict[str, set[str]]:
    d.at(now_ms).do(Tick(), actor="kernel", correlation_id="tick")
    return courses(d)


def desk(**how: Any) -> Desk:
    return Desk(nodes=[cores(8)], grace_ms=500, **how)


# --- requests -----------------------------------------------------------------------------------


def test_a_request_is_traced_from_its_question_to_its_start() -> None:
    d = desk()
    victim = d.lease(cpu_cores=8, priority=LOW, ttl_ms=LONG)
    d.do(Submit(ask("fast", cpu_cores=8, priority=HIGH)), actor="ann", correlation_id="urgent")
    assert set().union(*courses(d).values()) == {"urgent"}
    found = tick(d, 1_500)
    assert found == {
        "lease_revoked": {"urgent"},
        "lease_preempted": {"urgent"},
        "admission_approved": {"urgent"},
    }
    assert {record.actor for record in d.last} == {"kernel"}
    story = [str(r.kind) for r in d.records if r.correlation_id == "urgent"]
    assert story == [
        *("request_queued", "request_blocked", "lease_revoked", "lease_revoked"),
        *("lease_revoked", "lease_preempted", "admission_approved"),
    ]
    assert victim not in d.state.leases


def test_who_waits_and_starts_starts_in_the_course_of_its_own_request() -> None:
    d = desk()
    held = d.lease(cpu_cores=8, ttl_ms=LONG)
    d.do(Submit(ask("one", cpu_cores=4)), correlation_id="first")
    d.do(Submit(ask("two", cpu_cores=4)), correlation_id="second")
    d.do(Release(held), correlation_id="freed")
    tick(d, 2_000)
    assert [r.correlation_id for r in d.last] == ["first", "second"]


def test_a_deadline_that_passes_is_told_in_the_course_of_its_request() -> None:
    d = desk()
    d.lease(cpu_cores=8, ttl_ms=LONG)
    d.do(Submit(ask("late", cpu_cores=8, deadline_ms=1_100)), correlation_id="late")
    assert tick(d, 2_000) == {"request_cancelled": {"late"}}


def test_victims_go_in_the_course_of_who_counts_on_them_at_the_end() -> None:
    d = desk()
    d.lease(cpu_cores=8, priority=LOW, ttl_ms=LONG)
    d.do(Submit(ask("fast", cpu_cores=8, priority=HIGH)), correlation_id="urgent")
    d.do(Submit(ask("first", cpu_cores=8, priority=CRITICAL)), correlation_id="more-urgent")
    found = tick(d, 1_500)
    assert found["lease_preempted"] == found["admission_approved"] == {"more-urgent"}
    assert d.of_kind("lease_preempted")[-1].body["preemptor"] == "first"


def test_who_gets_his_place_back_at_a_tick_does_so_in_the_course_of_who_took_it() -> None:
    d = Desk(nodes=[cores(8), cores(8)], grace_ms=500)
    d.lease(cpu_cores=8, priority=LOW, ttl_ms=LONG)
    free = d.lease(cpu_cores=8, priority=HIGH, ttl_ms=LONG)
    d.do(Submit(ask("fast", cpu_cores=8, priority=HIGH)), correlation_id="urgent")
    d.do(Release(free), correlation_id="gone")
    assert tick(d, 1_100) == {"admission_approved": {"urgent"}, "lease_restored": {"urgent"}}


def test_a_command_tells_all_that_follows_from_it_in_its_own_course() -> None:
    d = desk()
    d.lease(cpu_cores=8, priority=LOW, ttl_ms=LONG)
    entry = d.wait("fast", cpu_cores=8, priority=HIGH)
    d.do(Cancel(entry), actor="ann", correlation_id="changed-my-mind")
    assert courses(d) == {
        "request_cancelled": {"changed-my-mind"},
        "lease_restored": {"changed-my-mind"},
    }


def test_what_only_time_brings_about_stands_in_the_course_of_the_tick() -> None:
    d = desk()
    d.lease(cpu_cores=8)
    assert tick(d, 90_000) == {"lease_expired": {"tick"}}


# --- operators, quotas, budgets -----------------------------------------------------------------


def test_a_drain_ends_in_the_course_of_the_drain() -> None:
    d = desk()
    d.lease(cpu_cores=8, ttl_ms=LONG)
    d.do(ChangeMode("n1", NodeMode.DRAINING), correlation_id="patch-day")
    found = tick(d, 1_500)
    assert found.keys() == {"lease_revoked", "lease_preempted", "node_mode_changed"}
    assert set().union(*found.values()) == {"patch-day"}


def test_an_eviction_ends_in_the_course_of_the_command_that_began_it() -> None:
    d = desk()
    held = d.lease(cpu_cores=8, ttl_ms=LONG)
    reason = PreemptionReason.OPERATOR_DRAIN
    d.do(Evict((held,), reason), correlation_id="by-hand")
    assert tick(d, 1_500)["lease_preempted"] == {"by-hand"}


def test_a_fence_stands_in_the_course_of_the_eviction_nobody_confirmed() -> None:
    d = desk(confirm_teardown=True, teardown_ms=100)
    held = d.lease(cpu_cores=8, ttl_ms=LONG)
    d.do(Evict((held,), PreemptionReason.OPERATOR_DRAIN), correlation_id="by-hand")
    tick(d, 1_500)
    assert tick(d, 1_700) == {"lease_fenced": {"by-hand"}}


def test_burst_credit_ends_in_the_course_of_the_quota_that_gave_it() -> None:
    d = desk(burst_min_run_ms=0)
    credit = BurstCredit(Dimension.CPU_MILLI, 2_000, 0, 2_000)
    quota = Quota((ResourceLimit.cpu_cores(1),), burst=credit)
    d.do(SetQuota("lab", quota), correlation_id="quota-42")
    d.lease(cpu_cores=1, ttl_ms=LONG)
    d.lease(cpu_cores=1, ttl_ms=LONG)
    assert tick(d, 3_000)["lease_revoked"] == {"quota-42"}
    assert tick(d, 3_500)["lease_preempted"] == {"quota-42"}


def test_a_spent_budget_is_told_and_evicts_in_the_course_of_the_budget() -> None:
    d = Desk(nodes=[cores(64)], grace_ms=500)
    d.do(SetBudget(Budget("lab", limit_micros=1)), correlation_id="budget-7")
    d.lease(cpu_cores=64, ttl_ms=10**9, preemptible_on_budget=True)
    found = tick(d, 10**8)
    assert found["budget_state_changed"] == found["lease_revoked"] == {"budget-7"}


# --- trust --------------------------------------------------------------------------------------


def test_bad_evidence_is_told_as_such_and_has_its_own_shorter_grace() -> None:
    d = Gate(grace_ms=30_000)
    d.trust()
    held = d.lease(ttl_ms=LONG)
    d.distrust()
    steps = [r.body for r in d.last if r.kind == "lease_revoked"]
    assert {body["preemptor"] for body in steps} == {"attestation"}
    assert steps[-1]["expires_ms"] == d.now_ms + 5_000
    d.tick(d.now_ms + 5_000)
    assert held not in d.state.leases
    assert d.last[-1].body["preemptor"] == "attestation"
    assert d.last[-1].body["reason"] == "policy_violation_recovery"


@pytest.mark.parametrize(("usual", "untrusted", "given"), [(700, 300, 300), (200, 300, 200)])
def test_the_grace_of_the_untrusted_is_set_and_never_longer_than_the_usual(
    usual: int, untrusted: int, given: int
) -> None:
    d = Gate()
    d.do(ChangeSettings(wide_settings(grace_ms=usual, untrusted_grace_ms=untrusted)))
    d.trust()
    d.lease(ttl_ms=LONG)
    d.distrust()
    assert d.last[-1].body["expires_ms"] == d.now_ms + given


def test_evidence_that_only_became_too_old_leaves_the_usual_grace() -> None:
    d = Gate(grace_ms=30_000)
    d.trust()
    d.lease(ttl_ms=LONG)
    d.tick(70_000)
    d.tick(101_000)
    assert d.kinds == ["node_quarantined", "lease_revoked", "lease_revoked"]
    assert d.last[-1].body["expires_ms"] == 131_000
    assert d.last[-1].body["preemptor"] == "attestation"


def test_a_lapse_stands_in_the_course_of_the_evidence_that_lapsed() -> None:
    d = Gate(grace_ms=500)
    d.trust()
    d.do(believed(d, number=4), correlation_id="attest-4")
    d.lease(ttl_ms=LONG)
    assert tick(d, 70_000) == {"attestation_verdict": {"attest-4"}}
    found = tick(d, 101_000)
    assert found == {"node_quarantined": {"attest-4"}, "lease_revoked": {"attest-4"}}
    assert tick(d, 102_000)["lease_preempted"] == {"attest-4"}


def believed(d: Gate, *, number: int) -> RecordVerdict:
    """The command by which a node's evidence is good for a minute."""
    until = d.now_ms + LIFE_MS
    return RecordVerdict("n1", TPM, AttestationWord.TRUSTED, evidence(number), None, until, {})


def test_a_gang_goes_in_the_course_of_the_node_that_failed_wherever_its_members_are() -> None:
    d = Gate(2, grace_ms=500)
    for node in ("n1", "n2"):
        d.trust(node)
    gang = d.gang(2, cpu_cores=3, ttl_ms=LONG)
    assert len({d.state.node_of(i) for i in gang}) == 2
    d.do(believed(d, number=9), correlation_id="attest-9")
    d.trust("n2", number=8)
    d.at(50_000).trust("n2", number=10)
    tick(d, 70_000)
    found = tick(d, 101_000)
    assert found == {"node_quarantined": {"attest-9"}, "lease_revoked": {"attest-9"}}


def test_an_operators_quarantine_is_the_operators() -> None:
    d = Gate(grace_ms=500)
    d.trust()
    d.lease(ttl_ms=LONG)
    d.do(Quarantine("n1", "smells"), correlation_id="by-hand")
    assert {r.body.get("preemptor") for r in d.last[1:]} == {"operator"}
    assert d.last[-1].body["expires_ms"] == d.now_ms + 500
    assert tick(d, 1_600)["lease_preempted"] == {"by-hand"}
    assert d.last[-1].body["preemptor"] == "operator"


# --- what a preemption names --------------------------------------------------------------------


def test_a_preemption_names_tag_claimant_depth_and_what_it_freed() -> None:
    d = desk()
    d.lease(cpu_cores=8, priority=LOW, ttl_ms=LONG, tag="grant-1")
    entry = d.wait("fast", cpu_cores=8, priority=HIGH)
    assert all(r.body["preemptor"] == "fast" for r in d.last if r.kind == "lease_revoked")
    d.tick(1_500)
    end, start = d.last[1], d.last[2]
    assert (end.body["tag"], end.body["preemptor"], end.body["depth"]) == ("grant-1", "fast", 1)
    assert end.body["freed"] == {"cpu_milli": 8_000}
    assert end.body["preemptor_entry_id"] == start.body["entry_id"] == entry
    assert "preemptor_lease_id" not in end.body, "nobody knows it yet"


def test_a_preemption_at_once_names_the_lease_that_took_the_place() -> None:
    d = Desk(nodes=[cores(8)], grace_ms=0)
    d.lease(cpu_cores=8, priority=LOW, ttl_ms=LONG, tag="grant-1")
    taken = d.lease("fast", cpu_cores=8, priority=HIGH)
    end = d.of_kind("lease_preempted")[0].body
    assert (end["preemptor"], end["preemptor_lease_id"], end["depth"]) == ("fast", taken, 1)
    assert end["tag"] == "grant-1"
    revoked = [r.body["preemptor"] for r in d.last if r.kind == "lease_revoked"]
    assert set(revoked) == {"fast"}


def test_a_place_given_back_names_who_had_taken_it() -> None:
    d = desk()
    d.lease(cpu_cores=8, priority=LOW, ttl_ms=LONG)
    d.do(Cancel(d.wait("fast", cpu_cores=8, priority=HIGH)))
    assert d.last[-1].body["preemptor"] == "fast"


# --- the same from the journal, a snapshot, and a naive reader ------------------------------------


def troubled() -> Campus:
    """Budgets that run out, and quotas and nodes that change."""
    trouble = Trouble(Random(24), limits=(LARGE, 40, 400))
    trouble.begin()
    for _ in trouble.steps(400):
        pass
    return trouble.campus


def stories() -> list[tuple[str, Callable[[], Campus]]]:
    return [
        ("plain", lambda: busy_journal(21, steps=150)),
        ("executors", lambda: busy_journal(22, steps=150, executors=3)),
        ("guarded", lambda: busy_journal(23, steps=150, guarded=True)),
        ("ruled", lambda: busy_journal(26, steps=150, guarded=True, ruled=True)),
        ("money", troubled),
    ]


@pytest.mark.parametrize(("name", "made"), stories(), ids=[name for name, _ in stories()])
def test_every_record_of_a_tick_stands_where_a_naive_reader_puts_it(
    name: str, made: Callable[[], Campus], monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks: set[int] = set()
    plain = Kernel.execute

    def watched(kernel: Kernel, envelope: Any, now_ms: int) -> Any:
        first = kernel.chain.size
        outcome = plain(kernel, envelope, now_ms)
        if isinstance(envelope.command, Tick):
            ticks.update(range(first, kernel.chain.size))
        else:
            own = {step.course for step in outcome.steps}
            assert own <= {envelope.correlation_id}
        return outcome

    monkeypatch.setattr(Kernel, "execute", watched)
    records = made().records
    told = 0
    for record in records:
        if record.seq not in ticks:
            continue
        wanted = expected_course(records[: record.seq], record)
        told += wanted is not None
        own = wanted is None
        assert own or record.correlation_id in wanted, (record, wanted)
    assert told > 20, name


def test_a_kernel_made_from_a_snapshot_tells_the_same_story() -> None:
    d = desk()
    d.lease(cpu_cores=8, priority=LOW, ttl_ms=LONG)
    d.do(Submit(ask("fast", cpu_cores=8, priority=HIGH)), correlation_id="urgent")
    data, digest = encode(d.state), digest_of(d.state)
    again = Kernel(decode(data, digest), d.kernel.chain.anchor())
    assert digest_of(again.state) == digest
    envelope = Envelope(Tick(), "kernel", "tick")
    lines = again.execute(envelope, 1_500).lines
    d.at(1_500).do(Tick(), actor="kernel", correlation_id="tick")
    assert lines == d.told


def test_a_state_that_follows_step_by_step_or_record_by_record_is_the_same() -> None:
    campus = busy_journal(25, steps=80, guarded=True)
    state = State()
    for record in campus.records:
        take_step(state, step_of(record))
    assert digest_of(state) == digest_of(campus.kernel.state)
