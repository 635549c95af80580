"""The demo: a campus in simulated time, and a report that a person and a script can read."""

from __future__ import annotations

import io
import re
from collections import Counter
from dataclasses import replace

import pytest
from rich.console import Console

from bailiwick import (
    CapacityDenial,
    EndCause,
    LeaseClass,
    PlacementRequest,
    PreemptionReason,
    Priority,
    QuotaViolation,
)
from bailiwick.demo import charts, phrases
from bailiwick.demo.agenda import Agenda
from bailiwick.demo.books import CampusBooks
from bailiwick.demo.campus import run_demo, simulate
from bailiwick.demo.closing import audit_journal
from bailiwick.demo.driver import SETTINGS, Driver, Run, RunStep
from bailiwick.demo.fleet import (
    HOUR_MS,
    LABS,
    G,
    capacity_of,
    node_names,
    price_micros_per_hour,
)
from bailiwick.demo.report import print_report
from bailiwick.demo.traffic import draw_jobs
from bailiwick.journal import RecordKind, Verified, parse_record, verify_lines
from bailiwick.journal.chain import Chain
from bailiwick.journal.record import Context
from bailiwick.vocab.errors import BailiwickError

R = PreemptionReason


def run(days: int = 1, seed: int = 7, *, engine: str = "auto") -> CampusBooks:
    return simulate(days, seed, watcher=lambda step: None, engine=engine)


def printed(books: CampusBooks, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    print_report(console, books, days=1, seed=7)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


@pytest.fixture(scope="module")
def watched() -> tuple[CampusBooks, list[RunStep]]:
    steps: list[RunStep] = []
    return simulate(1, 7, watcher=steps.append), steps


@pytest.fixture(scope="module")
def one_day(watched: tuple[CampusBooks, list[RunStep]]) -> CampusBooks:
    return watched[0]


@pytest.fixture(scope="module")
def report(one_day: CampusBooks) -> str:
    return printed(one_day, 100)


# --- the campus ---------------------------------------------------------------------------------


def test_sixty_nodes_of_six_generations_and_some_without_a_gpu() -> None:
    capacities = [capacity_of(node) for node in node_names()]
    families = {device.generation for c in capacities for device in c.gpus}
    assert len(capacities) == 60
    assert families == {
        G.NVIDIA_HOPPER, G.NVIDIA_AMPERE, G.NVIDIA_ADA, G.NVIDIA_VOLTA, G.NVIDIA_TURING, G.AMD_MI300
    }  # fmt: skip
    assert any(not c.gpus for c in capacities)


def test_at_least_eight_tenants_no_two_with_the_same_quota_and_some_with_projects() -> None:
    assert len(LABS) >= 8
    assert len({repr(lab.quota) for lab in LABS}) == len(LABS)
    assert sum(bool(lab.projects) for lab in LABS) >= 2
    assert any(lab.quota.burst for lab in LABS)


def test_traffic_has_every_priority_and_class_and_gangs_shares_deadlines_and_labels() -> None:
    requests = [job.request for job in draw_jobs(3, 7)]
    assert len(requests) > 2_000
    assert {r.priority for r in requests} == set(Priority)
    assert {r.lease_class for r in requests} == set(LeaseClass)
    assert any(r.gang_size > 1 for r in requests)
    assert any(0 < r.gpu_milli < 1000 for r in requests)
    assert any(r.deadline_ms for r in requests)
    assert any(r.labels for r in requests)


def test_the_same_seed_draws_the_same_jobs_and_another_draws_others() -> None:
    def drawn(seed: int) -> list[tuple[int, int, PlacementRequest]]:
        return [(j.arrives_ms, j.length_ms, j.request) for j in draw_jobs(2, seed)]

    assert drawn(7) == drawn(7)
    assert drawn(7) != drawn(8)


def test_a_gang_costs_as_much_as_its_members_and_spot_costs_less() -> None:
    one = PlacementRequest(tenant="a", cpu_cores=8, gpu_count=2, generation=G.NVIDIA_HOPPER)
    price = price_micros_per_hour(one)
    assert price == 2 * 2_400_000 + 8 * 20_000
    assert price_micros_per_hour(replace(one, gang_size=3)) == 3 * price
    assert price_micros_per_hour(replace(one, lease_class=LeaseClass.SPOT)) < price


# --- repeatable ---------------------------------------------------------------------------------


def root(books: CampusBooks) -> str:
    assert books.audit is not None
    assert books.audit.root
    return books.audit.root


def test_the_same_seed_gives_the_same_root_and_the_same_report(one_day: CampusBooks) -> None:
    again = run()
    assert root(again) == root(one_day)
    assert printed(again, 100) == printed(one_day, 100)


def test_both_engines_give_the_same_root(one_day: CampusBooks) -> None:
    assert root(run(engine="pure")) == root(one_day)


# --- the journal and the bills ------------------------------------------------------------------


def test_every_decision_is_sealed_and_the_journal_verifies(one_day: CampusBooks) -> None:
    verdict = verify_lines(one_day.lines)
    assert isinstance(verdict, Verified)
    assert verdict.count == len(one_day.lines)
    assert verdict.root.hex() == root(one_day)
    kinds = Counter(parse_record(line[:-1]).kind for line in one_day.lines)
    assert kinds[RecordKind.ADMISSION_APPROVED] >= sum(b.granted for b in one_day.tenants.values())
    assert kinds[RecordKind.NODE_REGISTERED] >= 60
    assert kinds[RecordKind.TENANT_CREATED] == kinds[RecordKind.INVOICE_ISSUED] == len(LABS)
    assert kinds[RecordKind.LEASE_PREEMPTED] == sum(
        eviction.job.request.gang_size
        for eviction in one_day.evictions
        if eviction.word is not EndCause.NODE_DEPARTED and not eviction.fenced
    )
    assert kinds[RecordKind.STATE_CHECKPOINT] == 1


@pytest.mark.parametrize("at", [0, 1000, -1])
def test_a_changed_decision_is_found(one_day: CampusBooks, at: int) -> None:
    lines = list(one_day.lines)
    lines[at] = lines[at].replace(b'"actor":"', b'"actor":"x', 1)
    verdict = verify_lines([*lines, *one_day.lines[:1]] if at == -1 else lines)
    assert not isinstance(verdict, Verified)


def test_the_auditor_finds_all_as_it_was_said(one_day: CampusBooks) -> None:
    audit = one_day.audit
    assert audit is not None
    assert audit.is_clean
    assert audit.invoices == audit.agreed == len(LABS)
    assert not isinstance(audit.tampered, Verified)


def test_the_auditor_stops_at_a_journal_that_comes_to_another_state(one_day: CampusBooks) -> None:
    """A record left out: what follows is not what a kernel would have sealed after it."""
    at = next(n for n, line in enumerate(one_day.lines) if b'"kind":"lease_released"' in line)
    with pytest.raises(BailiwickError):
        audit_journal([*one_day.lines[:at], *one_day.lines[at + 1 :]])


def test_gpu_time_leased_idle_and_closed_is_all_there_was(one_day: CampusBooks) -> None:
    used = sum(book.gpu_micros.total() for book in one_day.tenants.values())
    assert min(used, one_day.idle_micros, one_day.closed_micros) > 0
    assert used + one_day.idle_micros + one_day.closed_micros == one_day.capacity_micros


def test_the_bills_are_those_of_the_journal(one_day: CampusBooks) -> None:
    records = (parse_record(line[:-1]) for line in one_day.lines)
    issued = {r.tenant: r.body["total_micros"] for r in records if r.kind == "invoice_issued"}
    assert issued == {name: book.owed_micros for name, book in one_day.tenants.items()}
    assert all(issued.values())


# --- what happens -------------------------------------------------------------------------------


def test_every_request_is_granted_refused_or_waiting_for_its_first_start(
    one_day: CampusBooks,
) -> None:
    books = one_day.tenants.values()
    first_wait = sum(not job.attempts for job in one_day.waiting)
    assert sum(b.asked - b.granted - b.refused for b in books) == first_wait


def test_evictions_name_at_least_seven_of_the_nine_reasons(one_day: CampusBooks) -> None:
    words = {eviction.word for eviction in one_day.evictions}
    assert EndCause.NODE_DEPARTED in words
    assert len(words - {EndCause.NODE_DEPARTED}) >= 7


def test_money_and_quota_end_only_work_that_may_end_on_that(one_day: CampusBooks) -> None:
    for eviction in one_day.evictions:
        request = eviction.job.request
        if eviction.word is R.BUDGET_EXHAUSTED:
            assert request.preemptible_on_budget
        if isinstance(eviction.word, PreemptionReason) and eviction.word.spares_guaranteed:
            assert request.lease_class is not LeaseClass.GUARANTEED


def test_priority_evicts_only_what_is_less_urgent_and_no_deeper_than_allowed(
    one_day: CampusBooks,
) -> None:
    urgent = [m for m in one_day.moments if m.word is R.PRIORITY_PREEMPTION]
    assert urgent
    for moment in urgent:
        assert moment.job is not None
        assert moment.depth <= SETTINGS.max_cascade_depth
        for eviction in moment.evictions:
            assert eviction.job.request.priority.rank < moment.job.request.priority.rank


def test_one_teardown_is_fenced_and_later_cleared(one_day: CampusBooks) -> None:
    assert sum(e.fenced for e in one_day.evictions) == 1
    told = [note.what for note in one_day.notes]
    assert "draining → fence_lost" in told
    assert any("fence cleared" in what for what in told)


# --- time ---------------------------------------------------------------------------------------


def test_the_agenda_keeps_time_and_the_order_of_planning() -> None:
    agenda, seen = Agenda(), list[tuple[int, str]]()
    agenda.at(20, lambda: seen.append((agenda.now_ms, "late")))
    agenda.at(10, lambda: seen.append((agenda.now_ms, "first")))
    agenda.at(10, lambda: seen.append((agenda.now_ms, "second")))
    agenda.every(15, lambda: seen.append((agenda.now_ms, "tick")))
    agenda.run(30)
    assert seen == [(0, "tick"), (10, "first"), (10, "second"), (15, "tick"), (20, "late")]
    assert agenda.now_ms == 30


# --- the report ---------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 100])
def test_no_line_of_the_report_is_wider_than_the_terminal(one_day: CampusBooks, width: int) -> None:
    lines = printed(one_day, width).splitlines()
    assert max(map(len, lines)) <= width
    assert not any("…" in line for line in lines)


def test_a_wide_terminal_is_not_filled_to_the_brim(one_day: CampusBooks) -> None:
    assert max(map(len, printed(one_day, 200).splitlines())) <= 100


def test_the_report_names_every_tenant_and_every_eviction_word(
    report: str, one_day: CampusBooks
) -> None:
    for lab in LABS:
        assert re.search(rf"^{lab.name} +[\d,]+ ", report, re.M)
    for word in {str(e.word) for e in one_day.evictions}:
        assert word in report


def test_denials_are_told_by_the_words_of_the_library(report: str, one_day: CampusBooks) -> None:
    known = {*map(str, QuotaViolation), *map(str, CapacityDenial)}
    words = {word for _, word in one_day.denials}
    assert words <= known
    assert {"gpu_generation_required", "gpu_generation_limit_exceeded"} <= words
    for reason, word in one_day.denials:
        assert f"\n{reason}  waiting" in report
        assert f"\n  {word} " in report
    assert re.search(r"nvidia_\w+: limit 0, used 0, requested \d", report)


def test_the_report_explains_one_waiting_request(report: str, one_day: CampusBooks) -> None:
    assert one_day.puzzle is not None
    entry = one_day.puzzle.entry
    assert entry.blocker is not None
    assert str(entry.blocker.detail.code) in report
    assert str(entry.remedy.word) in report
    assert str(entry.estimate.basis) in report


def test_the_report_closes_with_the_root_and_four_commands(
    report: str, one_day: CampusBooks
) -> None:
    end = report[report.index(root(one_day)) :].splitlines()
    assert len([line for line in end if line.startswith("  ")]) == 4
    assert "--seed 8" in end[2]


def test_the_report_has_no_colour_codes_when_it_is_not_for_a_terminal(report: str) -> None:
    assert "\x1b" not in report


def test_another_seed_is_told_with_one_line_a_day_and_ends_in_another_root(
    one_day: CampusBooks,
) -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    assert run_demo(days=1, seed=3, console=console) == 0
    told = console.file.getvalue()  # type: ignore[attr-defined]
    assert re.match(r"Mon +[\d,]+ asked .* of GPUs leased\n\n9 tenants shared ", told)
    assert root(one_day) not in told


def test_the_watcher_sees_time_pass_and_work_start(
    watched: tuple[CampusBooks, list[RunStep]],
) -> None:
    steps = watched[1]
    times = [step.now_ms for step in steps]
    assert times == sorted(set(times))
    assert steps[-1].granted > steps[0].granted
    assert all(0 <= step.sample.busy <= 1 for step in steps)


# --- phrases and charts -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ms", "said"),
    [
        (0, "at once"),
        (59_999, "at once"),
        (60_000, "1 min"),
        (89 * 60_000, "89 min"),
        (2 * HOUR_MS, "2.0 h"),
        (72 * HOUR_MS, "3.0 days"),
    ],
)
def test_a_duration_is_said_as_a_person_would(ms: int, said: str) -> None:
    assert phrases.duration(ms) == said


def test_a_moment_is_a_weekday_and_a_clock() -> None:
    assert phrases.moment(0) == "Mon 00:00"
    assert phrases.moment((24 + 14) * HOUR_MS + 20 * 60_000) == "Tue 14:20"
    assert phrases.moment(7 * 24 * HOUR_MS) == "Mon 00:00"


@pytest.mark.parametrize(("part", "drawn"), [(0, "░░░░"), (0.5, "██░░"), (1, "████"), (7, "████")])
def test_a_bar_stays_within_its_width(part: float, drawn: str) -> None:
    assert charts.bar(part, 4) == drawn


def test_a_strip_shows_the_least_use_and_leaves_idle_time_empty() -> None:
    assert charts.strip([0, 0.01, 0.5, 1], 4) == " ▁▄█"
    assert charts.strip([0, 1, 0, 1], 2) == "▄▄"
    assert len(charts.strip([0.5] * 3, 10)) == 10


def test_marks_at_one_time_stand_side_by_side() -> None:
    row = charts.mark_row([("a", 0), ("b", 0), ("c", 99)], 100, width=10).plain[charts.LABEL :]
    assert row == "ab       c"


def test_reasons_are_counted_once_per_request(one_day: CampusBooks) -> None:
    asked = Counter({name: book.asked for name, book in one_day.tenants.items()})
    for book in one_day.denials.values():
        assert all(count <= asked[name] for name, count in book.requests.items())


def test_work_that_may_stay_after_all_was_not_evicted() -> None:
    driver, chain = Driver(1, 7), Chain()
    job = next(each for each in draw_jobs(1, 7) if each.gpu_milli)
    held = Run(job, 0, 10**6, {1, 2})
    driver.runs = {1: held, 2: held}
    for lease_id in (1, 2):
        driver._warned(held, lease_id, PreemptionReason.PRIORITY_PREEMPTION)
    assert driver.books.moments == [held.moment]
    by = Context("kernel", "tick", job.kind.tenant)
    for lease_id in (1, 2):
        body = {"lease_id": lease_id, "generation": 2, "expires_ms": 10**6}
        driver._hear((chain.seal(RecordKind.LEASE_RESTORED, by, at_ms=5, body=body).line,))
    assert (driver.books.moments, held.moment, held.leases) == ([], None, {1, 2})
