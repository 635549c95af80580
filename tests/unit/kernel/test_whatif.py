"""A history decided again: exactly as it was, and otherwise only where the change reaches."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import pytest

from bailiwick.apps.overlays import Overlay
from bailiwick.billing.budgets import Budget
from bailiwick.billing.rates import LIST_PRICES
from bailiwick.fleet.node import NodeCapacity
from bailiwick.journal.record import parse_record
from bailiwick.journal.words import Severity
from bailiwick.kernel import (
    ChangeMode,
    ChangeSettings,
    Evict,
    Kernel,
    RegisterNode,
    Release,
    RemoveBudget,
    ReportFinding,
    SetBudget,
    SetRateCard,
    Settings,
    State,
    Submit,
    Tick,
    WithdrawRateCard,
    decode,
    encode,
)
from bailiwick.kernel.apps.commands import SetEntitlement
from bailiwick.kernel.work.events import AdmissionApproved
from bailiwick.kernel.work.lease_events import LeaseReleased
from bailiwick.scheduler.request import PlacementRequest
from bailiwick.vocab.app_uses import INSTANCE_LABEL
from bailiwick.vocab.apps import PolicyAxis
from bailiwick.vocab.errors import BailiwickError, Conflict, InvalidValue
from bailiwick.vocab.transitions import NodeMode
from bailiwick.vocab.words import PreemptionReason
from bailiwick.whatif.changes import NAMES, Changes, KnownNames, parse_change
from bailiwick.whatif.compare import MoveWord, WhatIfReport, compare
from bailiwick.whatif.history import Grid, JournalHistory
from bailiwick.whatif.reader import HistoryReader, read_history
from bailiwick.whatif.tally import Ending, Fate, Waits, cost_of
from tests.support.app_house import OWN, AppHouse
from tests.support.kernel_histories import (
    HOUR,
    MINUTE,
    START_MS,
    Campus,
    busy_journal,
    node,
    small_journal,
)
from tests.support.wide_open import wide_settings
from tests.unit.kernel.desk import Desk, cores

CONFIRMED = wide_settings(confirm_teardown=True, teardown_ms=20_000)


def changes(history: JournalHistory, *texts: str) -> Changes:
    known = KnownNames.of(history, State())
    return Changes(parse_change(text, known) for text in texts)


def ask(campus: Campus, *texts: str) -> WhatIfReport:
    history = read_history(campus.records)
    return compare(history, State, changes=changes(history, *texts))


@pytest.fixture(scope="module")
def small() -> Campus:
    return small_journal()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 140))
def test_the_control_of_a_long_history_is_exact(seed: int) -> None:
    report = ask(busy_journal(seed, steps=400, settings=CONFIRMED if seed % 3 == 0 else None))
    assert report.fidelity.exact, report.fidelity


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("settings", [None, CONFIRMED], ids=["at_once", "confirmed"])
def test_the_control_decides_everything_as_it_was_decided(
    seed: int, settings: Settings | None
) -> None:
    report = ask(busy_journal(seed, steps=110, settings=settings))
    assert report.fidelity.exact, report.fidelity
    assert report.fidelity.differing == 0
    assert report.same
    assert report.journal == report.control.tally == report.changed.tally
    assert report.moved == ()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("settings", [None, CONFIRMED], ids=["at_once", "confirmed"])
def test_the_control_of_a_guarded_campus_is_exact_too(seed: int, settings: Settings | None) -> None:
    campus = busy_journal(seed, steps=110, settings=settings, guarded=True)
    told = [record.body for record in campus.records if record.kind == "node_quarantined"]
    assert any("evidence" in body for body in told), "nobody was closed by evidence or its want"
    report = ask(campus)
    assert report.fidelity.exact, report.fidelity
    assert report.journal == report.control.tally


@pytest.mark.parametrize(("seed", "guarded"), [(0, False), (2, False), (3, True)])
def test_the_control_of_a_campus_with_policies_is_exact_too(seed: int, guarded: bool) -> None:
    campus = busy_journal(seed, steps=110, guarded=guarded, ruled=True)
    told = {record.kind.value for record in campus.records}
    assert {"isolation_policy_set", "isolation_violated"} <= told
    report = ask(campus)
    assert report.fidelity.exact, report.fidelity
    assert report.journal == report.control.tally


def test_a_node_that_never_came_attests_nothing_either() -> None:
    campus = busy_journal(3, steps=110, guarded=True)
    report = ask(campus, "nodes.node-1=absent")
    assert not any(getattr(e, "node", None) == "node-1" for _, e in report.changed.events)


@pytest.mark.parametrize("guarded", [False, True], ids=["open", "guarded"])
@pytest.mark.parametrize("seed", range(4))
def test_the_control_is_exact_from_any_moment_on(seed: int, guarded: bool) -> None:
    records = busy_journal(seed, steps=120, guarded=guarded).records
    reader = HistoryReader()
    for record in records:
        reader.take(record)
    cut = len(records) // (2 + seed)
    while records[cut].at_ms == records[cut - 1].at_ms:
        cut += 1
    kernel = Kernel()
    kernel.replay(records[:cut])
    data = encode(kernel.state)
    history = reader.history(cut)
    report = compare(history, lambda: decode(data, sha256(data).hexdigest()), changes=Changes())
    assert report.fidelity.exact, report.fidelity
    assert report.journal == report.control.tally


def test_ticks_at_irregular_times_are_told_and_cost_little() -> None:
    campus, gap = Campus(), 0
    for name in ("a", "b"):
        campus.do(RegisterNode(name, node(8)))
    for number in range(400):
        campus.now_ms += 180 + number * 37 % 90
        campus.do(Tick(), "kernel")
        if number % 7 == 0:
            campus.submit("biology", gpu_count=8, cpu_cores=1, ttl_ms=1_000 + gap)
            gap = (gap + 1_313) % 5_000
    report = ask(campus)
    assert not report.history.grid.regular
    assert not report.fidelity.regular
    assert report.fidelity.differing * 20 <= report.fidelity.records
    assert report.journal.admitted == report.control.tally.admitted


def test_budgets_and_prices_are_decided_again_as_they_were() -> None:
    """With a top-up, evictions for the budget and for the cap, and an operator's own for it."""
    campus = Campus()
    campus.do(RegisterNode("node-1", node(8)))
    campus.do(SetRateCard(replace(LIST_PRICES, name="ours")))
    budget = Budget("physics", limit_micros=5_000_000, cap_micros=90_000_000, thresholds=(500,))
    campus.do(SetBudget(budget))
    for _ in range(2):
        campus.submit("physics", gpu_count=1, ttl_ms=9 * HOUR, preemptible_on_budget=True)
    campus.submit("physics", gpu_count=1, ttl_ms=9 * HOUR)
    campus.submit("biology", gpu_count=1, ttl_ms=9 * HOUR)
    campus.do(Evict((4,), PreemptionReason.BUDGET_EXHAUSTED, 0))
    campus.pass_time(2 * HOUR)
    campus.submit("physics", gpu_count=1, ttl_ms=HOUR)
    campus.do(SetBudget(replace(budget, limit_micros=90_000_000)))
    campus.pass_time(HOUR)
    campus.do(SetRateCard(replace(LIST_PRICES, tenant="physics", effective_ms=campus.now_ms + 7)))
    campus.do(SetBudget(replace(budget, limit_micros=90_000_000, cap_micros=9_000_000)))
    campus.pass_time(HOUR)
    campus.do(ReportFinding("attribution_drift", Severity.LOW, "node-1"))
    campus.do(WithdrawRateCard("physics"))
    campus.do(RemoveBudget("physics"))
    campus.pass_time(HOUR)
    told = [record.body.get("reason") for record in campus.records]
    assert {"budget_exhausted", "cost_cap_eviction"} < set(told)
    report = ask(campus)
    assert report.fidelity.exact, report.fidelity
    assert report.same


def test_the_same_question_has_the_same_answer_twice() -> None:
    campus = busy_journal(11, steps=90)
    texts = ("grace_ms=0", "quota.lab-b.gpu_count=9", "strategy=best_fit")
    one, two = ask(campus, *texts), ask(campus, *texts)
    assert one.changed == two.changed
    assert one.moved == two.moved


def test_a_smaller_quota_really_keeps_work_out(small: Campus) -> None:
    report = ask(small, "quota.physics.gpu_count=8")
    assert report.fidelity.exact
    before, after = report.control.tally.tenants, report.changed.tally.tenants
    assert after["physics"].gpu_milli_ms < before["physics"].gpu_milli_ms
    assert after["biology"].waits.total_ms < before["biology"].waits.total_ms
    words = {move.word for move in report.moved}
    assert {MoveWord.STILL_WAITS, MoveWord.LATER, MoveWord.EARLIER} <= words
    running: dict[int, int] = {}
    held = most = 0
    for _, event in report.changed.events:
        if isinstance(event, AdmissionApproved) and event.owner.tenant == "physics":
            running[event.lease_ids[0]] = event.request.gpu_count
        elif isinstance(event, LeaseReleased):
            running.pop(event.lease_id, 0)
        held = sum(running.values())
        most = max(most, held)
    assert most == 8


def test_what_exceeds_the_new_limit_is_refused_with_its_word(small: Campus) -> None:
    report = ask(small, "quota.physics.gpu_count=4")
    assert report.changed.tally.refused == {"hard_limit_exceeded": 3}
    lost = [m for m in report.moved if m.word is MoveWord.NEVER_STARTS]
    assert len(lost) == 3
    assert all(m.changed.fate is Fate.REFUSED for m in lost)


def test_work_runs_as_long_as_it_ran_from_its_own_start(small: Campus) -> None:
    report = ask(small, "quota.physics.gpu_count=8")
    for work, before in report.control.tally.outcomes.items():
        after = report.changed.tally.outcomes[work]
        if before.ending is after.ending is Ending.RELEASED:
            assert before.ended_ms is not None
            assert after.ended_ms is not None
            ran = before.ended_ms - (before.started_ms or 0)
            assert after.ended_ms - (after.started_ms or 0) == ran


def test_an_absent_node_takes_its_capacity_with_it(small: Campus) -> None:
    report = ask(small, "nodes.node-2=absent")
    half, whole = report.changed.tally, report.control.tally
    assert 2 * half.gpu_present_milli_ms == whole.gpu_present_milli_ms
    assert half.waiting > whole.waiting
    assert all(
        str(n) != "node-2" for _, e in report.changed.events for n in getattr(e, "nodes", ())
    )


def test_no_preemption_means_nobody_evicted_for_urgent_work() -> None:
    campus = busy_journal(0, steps=180)
    report = ask(campus, "preempt_from=critical", "min_run_ms=10d")
    word = "priority_preemption"
    assert report.control.tally.evicted[word] > 0
    assert word not in report.changed.tally.evicted
    assert any(move.word is MoveWord.SPARED for move in report.moved)


def test_a_change_that_changes_nothing_is_told(small: Campus) -> None:
    report = ask(small, "strategy=fragmentation_aware", "quota.biology.gpu_count=8", "grace_ms=5s")
    assert [str(each).split("(")[0] for each in report.idle] == ["SettingChange", "QuotaChange"]
    assert report.same  # nobody is ever evicted there, so the grace is not asked for


def test_a_window_begins_with_what_stood_there(small: Campus) -> None:
    reader, kernel = HistoryReader(), Kernel()
    for record in small.records:
        reader.take(record)
    early = [r for r in small.records if r.at_ms < START_MS + HOUR]
    kernel.replay(early)
    data = encode(kernel.state)
    history = reader.history(len(early), start_ms=START_MS + HOUR)
    state = decode(data, sha256(data).hexdigest())
    known = KnownNames.of(history, state)
    report = compare(
        history,
        lambda: decode(data, sha256(data).hexdigest()),
        changes=Changes([parse_change("nodes.node-1=absent", known)]),
    )
    assert report.control.tally.gpu_present_milli_ms == 16_000 * (history.end_ms - history.start_ms)
    assert report.changed.tally.lost == 1
    assert report.fidelity.exact


def test_what_cannot_be_changed_any_more_is_an_error_not_a_result(small: Campus) -> None:
    kernel = Kernel()
    kernel.replay(small.records)
    data = encode(kernel.state)
    reader = HistoryReader()
    more = small_journal()
    more.submit("biology", gpu_count=1)
    for record in more.records:
        reader.take(record)
    history = reader.history(len(small.records))
    with pytest.raises(Conflict):
        compare(
            history,
            lambda: decode(data, sha256(data).hexdigest()),
            changes=Changes([parse_change("half_life_ms=1h", KnownNames((), ()))]),
        )


@pytest.mark.parametrize(
    ("text", "lists"),
    [
        ("nonsense=1", NAMES[0]),
        ("strategy=worst_fit", "best_fit"),
        ("quota.physics.gpus=1", "gpu_count"),
        ("quota.chemistry.gpu_count=1", "physics"),
        ("share.chemistry=1", "biology"),
        ("nodes.node-9=absent", "node-1"),
        ("nodes.node-1=gone", "absent"),
        ("headroom.gpus=1", "gpu_milli"),
        ("grace_ms=soon", "milliseconds"),
        ("queue_max=5m", "whole number"),
        ("strategy", "NAME=VALUE"),
    ],
)
def test_a_name_that_is_not_known_lists_those_that_are(
    small: Campus, text: str, lists: str
) -> None:
    with pytest.raises(InvalidValue, match=lists):
        changes(read_history(small.records), text)


def test_values_that_do_not_go_together_are_refused(small: Campus) -> None:
    with pytest.raises(BailiwickError, match="weights"):
        ask(small, "strategy=weighted")
    report = ask(small, "strategy=weighted", "weights=0,0,1000,0")
    assert report.idle == ()


def test_limits_shares_and_headroom_can_be_set(small: Campus) -> None:
    texts = ("quota.physics.gpu_count=none", "quota.physics.nvidia_hopper=16", "share.biology=9")
    report = ask(small, *texts, "headroom.gpu_milli=2000", "headroom_priority=high")
    assert report.idle == ()
    assert report.changed.opening >= 1
    told = {type(event).__name__ for _, event in report.changed.events}
    assert "ShareChanged" in told


def test_the_grid_is_the_largest_on_which_all_ticks_lie() -> None:
    assert Grid.of([1_000, 3_000, 6_000]) == Grid(1_000, 0, regular=True)
    assert Grid.of([70, 270, 471]).regular is False
    assert Grid.of([500, 10_500]).at_or_after(501) == 10_500
    assert Grid.of([], spacing_ms=MINUTE) == Grid(MINUTE, 0, regular=True)


def test_sums_are_exact_and_percentiles_by_nearest_rank() -> None:
    assert cost_of(1_000 * HOUR, 2_500_000) == 2_500_000
    assert cost_of(1, 10**6) == 0
    assert cost_of(1_800_000_000, 1) == 1  # half a millionth, up
    waits = Waits.of(range(1, 101))
    assert (waits.p50_ms, waits.p95_ms, waits.max_ms, waits.mean_ms) == (50, 95, 100, 50)
    assert Waits.of([7]).p95_ms == 7
    assert Waits.of([]).count == 0


def test_a_cordon_is_read_back_as_one() -> None:
    d = Desk(nodes=[cores(8)])
    lease = d.lease()
    d.do(ChangeMode("n1", NodeMode.DRAINING, evict=False))
    d.do(Release(lease))
    d.tick()
    history = read_history(parse_record(line[:-1]) for line in d.lines)
    drains = [p.action for p in history.plan if isinstance(p.action, ChangeMode)]
    assert drains == [ChangeMode("n1", NodeMode.DRAINING, evict=False)]
    report = compare(history, State, changes=Changes())
    assert report.fidelity.exact, report.fidelity


def test_the_control_knows_where_members_of_instances_may_run() -> None:
    house = AppHouse()
    house.do(ChangeSettings(wide_settings()))
    for number, region in enumerate(("west", "east", "west")):
        house.do(RegisterNode(f"n{number}", NodeCapacity(4, 2**30, labels={"region": region})))
    house.request()
    for regions in (("east",), ("east", "west"), ("west",)):
        house.do(SetEntitlement("hello", True, Overlay({PolicyAxis.REGIONS: regions}), "lab"))
        labels = {INSTANCE_LABEL: "1"}
        about = {**OWN, "cpu_cores": 2, "ttl_ms": MINUTE, "job_labels": labels}
        house.do(*(Submit(PlacementRequest(**about)) for _ in range(2)), Tick())
    history = read_history(house.records)
    report = compare(history, State, changes=changes(history))
    assert report.fidelity.exact, report.fidelity
    assert len({node for each in house.records for node in each.body.get("nodes", ())}) > 1
