"""What a cluster's books cannot mean is named job by job, and what they can mean is counted."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bailiwick.clusters.accounting import By, Question
from bailiwick.clusters.slurm import meter_books
from bailiwick.clusters.slurm.rows import Outage, Registered, Runaway, SlurmBooks, SlurmJob
from bailiwick.metering.owners import UnavailableCause
from bailiwick.metering.report import Finding, Report, ReportFindingWord
from bailiwick.vocab.words import HardwareGeneration, LeaseClass, ResourceKind
from tests.slurm.makers import FROM_MS, NODES, TO_MS, active, books, row

W = ReportFindingWord
SECOND = 1_000_000  # micro-GPU-seconds
DOWN, DRAINED = UnavailableCause.FENCE_LOST, UnavailableCause.DRAINED


def report_of(told: SlurmBooks, question: Question | None = None) -> Report:
    return meter_books(told, question or Question()).report


def seconds(report: Report) -> int:
    whole = sum(row.used[ResourceKind.GPU_MILLI] for row in report.rows)
    assert whole % SECOND == 0
    return whole // SECOND


def only(report: Report) -> Finding:
    (finding,) = report.findings
    return finding


def outage(node: str, from_s: int, to_s: int | None, *, reason: str = "broken") -> Outage:
    to_ms = None if to_s is None else FROM_MS + to_s * 1000
    return Outage(node, FROM_MS + from_s * 1000, to_ms, DOWN, True, reason)


# -- what can be counted ---------------------------------------------------------------------


@st.composite
def fitting(draw: st.DrawFn) -> list[SlurmJob]:
    """Runs of one node's four devices that never overlap: each device has its own line of runs."""
    rows = []
    for device in range(4):
        clock = 0
        for _ in range(draw(st.integers(0, 4))):
            start = clock + draw(st.integers(0, 50))
            clock = start + draw(st.integers(0, 50))
            rows.append(row(len(rows) + 1, start, clock, account=f"team{device}"))
    return draw(st.permutations(rows))


@given(fitting())
def test_rows_that_fit_are_counted_to_the_second_and_nothing_is_found(rows: list[SlurmJob]) -> None:
    report = report_of(books(*rows))
    assert report.findings == ()
    assert seconds(report) == sum(each.elapsed_ms for each in rows) // 1000
    assert all(each.holds for each in report.equations)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40), st.integers(1, 4)), max_size=8))
def test_what_does_not_fit_is_named_never_averaged(spans: list[tuple[int, int, int]]) -> None:
    rows = [
        row(number, start, start + length, gpus={"hopper": count})
        for number, (start, length, count) in enumerate(spans, 1)
    ]
    report = report_of(books(*rows))
    # Naive: in the order of their starts, a run gets its devices or is refused.
    held: list[SlurmJob] = []
    refused: set[str] = set()
    for each in sorted(rows, key=lambda each: (each.start_ms or 0, each.raw_id)):
        start_ms = each.start_ms or 0
        now = [other for other in held if (other.end_ms or 0) > start_ms]
        if sum(other.gpu_count for other in now) + each.gpu_count > 4:
            refused.add(each.job_id)
        else:
            held.append(each)
    assert {each.subject for each in report.findings} == refused
    assert all(each.word is W.OVERLAP and each.others for each in report.findings)
    counted = sum(each.elapsed_ms * each.gpu_count for each in held)
    assert seconds(report) == counted // 1000


def test_what_lies_outside_the_time_asked_about_is_cut_off() -> None:
    assert seconds(report_of(books(row(1, -100, 50), row(2, 590, 700)))) == 50 + 10


def test_a_running_job_that_the_controller_knows_counts_until_now() -> None:
    report = report_of(books(row(1, 590, None), active={1: active(1, 590)}))
    assert (seconds(report), report.findings) == (10, ())


def test_a_job_over_several_nodes_counts_on_each_of_them_by_generation() -> None:
    both = row(1, 0, 10, gpus={"hopper": 3, "ampere": 2}, nodes=("h1", "a1"))
    report = report_of(books(both))
    found = {each.generation: each.used[ResourceKind.GPU_MILLI] // SECOND for each in report.rows}
    assert found == {
        HardwareGeneration.NVIDIA_HOPPER: 30,
        HardwareGeneration.NVIDIA_AMPERE: 20,
    }


def test_a_job_is_spread_over_what_is_free_where_half_and_half_does_not_fit() -> None:
    full = row(1, 0, 10, gpus={"hopper": 3})
    over = row(2, 0, 10, gpus={"hopper": 4}, nodes=("h1", "h2"))
    report = report_of(books(full, over))
    assert (seconds(report), report.findings) == (70, ())


def test_gpus_without_a_type_are_those_of_the_node() -> None:
    report = report_of(books(row(1, 0, 10, gpus={"": 2}, nodes=("a1",))))
    assert report.rows[0].generation is HardwareGeneration.NVIDIA_AMPERE
    assert seconds(report) == 20


def test_a_drained_node_is_unavailable_but_for_what_still_runs_there() -> None:
    drained = Outage("h1", FROM_MS + 100_000, FROM_MS + 200_000, DRAINED, False, "disk")
    report = report_of(books(row(1, 50, 150), outages=(drained,)))
    (hopper,) = [
        each for each in report.equations if each.generation is HardwareGeneration.NVIDIA_HOPPER
    ]
    assert hopper.unavailable == {DRAINED: (4 * 100 - 50) * SECOND}
    assert hopper.holds
    assert report.findings == ()


def test_a_cluster_is_there_from_its_first_registration_on() -> None:
    born = Registered(FROM_MS + 500_000, None, 18)
    report = report_of(books(registered=(born,)))
    assert sum(each.capacity for each in report.equations) == 18 * 100 * SECOND
    assert report.span.from_ms == FROM_MS + 500_000


# -- whose it is -----------------------------------------------------------------------------


def test_tenant_project_tag_and_class_come_from_account_wckey_and_qos() -> None:
    spot = row(1, 0, 10, qos="spot", wckey="exp-7", comment="no")
    plain = row(2, 0, 10, comment="exp-8")
    report = report_of(books(spot, plain))
    found = [(r.tenant, r.project, r.tag, r.lease_class) for r in report.rows]
    assert found == [
        ("acme", "vision", "exp-7", LeaseClass.SPOT),
        ("acme", "vision", "exp-8", LeaseClass.STANDARD),
    ]


def test_they_can_be_taken_from_elsewhere() -> None:
    question = Question(
        tenant_by=By.CLUSTER,
        project_by=By.USER,
        tag_by=(By.PARTITION,),
        classes={"normal": LeaseClass.GUARANTEED},
        generations={"hopper": HardwareGeneration.OTHER},
    )
    (found,) = report_of(books(row(1, 0, 10)), question).rows
    assert (found.tenant, found.project, found.tag) == ("c1", "eve", "all")
    assert found.lease_class is LeaseClass.GUARANTEED
    assert found.generation is HardwareGeneration.OTHER


def test_accounts_that_stand_in_a_circle_do_not_stop_the_report() -> None:
    report = report_of(books(row(1, 0, 10), parents={"vision": "nlp", "nlp": "vision"}))
    assert seconds(report) == 10


# -- what cannot be --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "word", "counted"),
    [
        (row(1, 20, 10), W.TIME_WENT_BACK, 0),
        (row(1, 0, 10, elapsed_ms=9_000), W.ELAPSED_DIFFERS, 10),
        (row(1, 0, 10, elapsed_ms=6_000, suspended_ms=4_000), W.SUSPENDED, 10),
        (row(1, 0, None), W.NEVER_ENDED, 0),
        (row(1, 0, None, state="PENDING"), W.NEVER_ENDED, 0),
        (row(1, 0, 10, nodes=("gone",)), W.UNKNOWN_NODE, 0),
        (row(1, 0, 10, nodes=()), W.UNKNOWN_NODE, 0),
        (row(1, 0, 10, gpus={"hopper": 5}), W.CAPACITY_DIFFERS, 0),
        (row(1, 0, 10, gpus={"": 1}, nodes=("m1",)), W.GENERATION_UNKNOWN, 0),
        (row(1, 0, 10, gpus={"ampere": 1}), W.CAPACITY_DIFFERS, 0),
    ],
)
def test_a_row_that_cannot_be_is_named(
    bad: SlurmJob, word: ReportFindingWord, counted: int
) -> None:
    report = report_of(books(bad, row(2, 0, 10, nodes=("h2",))))
    finding = only(report)
    assert (finding.word, finding.subject) == (word, "1")
    assert seconds(report) == counted + 10


def test_a_running_row_of_an_id_that_was_given_out_again_is_not_the_running_job() -> None:
    report = report_of(books(row(7, 0, None), active={7: active(7, 300)}))
    assert [each.word for each in report.findings] == [W.NEVER_ENDED, W.NOT_IN_BOOKS]
    assert seconds(report) == 0


def test_runaway_jobs_that_the_window_leaves_out_are_named() -> None:
    report = report_of(books(row(1, 0, 10), runaways=(Runaway(7, FROM_MS),)))
    assert (only(report).word, only(report).subject) == (W.NEVER_ENDED, "7")


def test_a_job_that_just_began_may_not_be_in_the_books_yet() -> None:
    assert report_of(books(active={7: active(7, 590)})).findings == ()


def test_every_run_of_a_requeued_job_counts_and_is_called_by_its_submit_time() -> None:
    first = row(3, 0, 10, state="PREEMPTED")
    again = row(3, 20, 50, submit_ms=FROM_MS + 10_000, elapsed_ms=29_000)
    report = report_of(books(first, again))
    assert seconds(report) == 40
    assert only(report).subject == "3 (submitted 1970-01-12T13:46:50Z)"


def test_the_same_run_told_twice_counts_once_and_a_difference_is_named() -> None:
    first, same, other = row(3, 0, 10), row(3, 0, 10), row(3, 0, 99)
    assert report_of(books(first, same)).findings == ()
    report = report_of(books(first, same, other))
    assert (only(report).word, seconds(report)) == (W.CONFLICT, 10)


def test_two_running_jobs_with_the_same_device_are_named() -> None:
    device = {"h1": (("hopper", 2),)}
    jobs = {1: active(1, 0, devices=device), 2: active(2, 0, devices=device)}
    report = report_of(books(row(1, 0, None), row(2, 0, None), active=jobs))
    finding = only(report)
    assert (finding.word, finding.subject, finding.others) == (W.OVERLAP, "2", ("1",))
    assert "device 2" in finding.why


def test_a_job_on_a_node_that_was_down_is_named_with_how_long() -> None:
    report = report_of(books(row(1, 0, 100), outages=(outage("h1", 60, None),)))
    finding = only(report)
    assert (finding.word, finding.by_ms, finding.node) == (W.ON_UNAVAILABLE_NODE, 40_000, "h1")


def test_a_cluster_that_registered_other_gpus_is_named_with_the_time() -> None:
    before = Registered(FROM_MS - 1, FROM_MS + 60_000, 10)
    after = Registered(FROM_MS + 60_000, None, sum(each.gpu_count for each in NODES.values()))
    finding = only(report_of(books(registered=(before, after))))
    assert (finding.word, finding.by_ms) == (W.CAPACITY_DIFFERS, 60_000)
    assert (finding.wanted, finding.found) == (10, 18)


# -- ends that nobody saw --------------------------------------------------------------------


def exits(*times_s: float, raw_id: int = 1, node: str = "h1") -> dict[str, Any]:
    times = tuple(FROM_MS + int(at_s * 1000) for at_s in times_s)
    return {"exits": {(raw_id, node): times}}


def test_a_charge_past_the_scripts_exit_is_named_with_its_exact_length() -> None:
    report = report_of(books(row(1, 200, 232, gpus={"hopper": 2}), **exits(208.25)))
    finding = only(report)
    assert (finding.word, finding.by_ms, finding.gpus) == (W.CHARGED_PAST_END, 23_750, 2)
    assert seconds(report) == 64  # what was charged; the finding says what is too much


@pytest.mark.parametrize("exit_s", [210.0, 209.1, 208.0, 211.5])
def test_a_second_or_two_is_no_finding(exit_s: float) -> None:
    assert report_of(books(row(1, 200, 210), **exits(exit_s))).findings == ()


def test_the_exit_of_another_run_of_the_job_proves_nothing_of_this_one() -> None:
    runs = row(1, 150, 160, submit_ms=FROM_MS + 1), row(1, 200, 210)
    assert report_of(books(*runs, **exits(160.0, 210.0))).findings == ()


def test_an_end_right_after_the_controllers_start_is_in_doubt_back_to_its_last_sign() -> None:
    boot_ms = FROM_MS + 300_000
    sign, away, later = row(1, 100, 250), row(2, 200, 302), row(3, 100, 500)
    report = report_of(books(sign, away, later, boot_ms=boot_ms))
    finding = only(report)
    assert (finding.word, finding.subject, finding.by_ms) == (W.END_IN_DOUBT, "2", 52_000)


def test_the_nodes_log_takes_the_doubt_away() -> None:
    boot_ms = FROM_MS + 300_000
    told = exits(301.5, raw_id=2)
    assert report_of(books(row(2, 200, 302), boot_ms=boot_ms, **told)).findings == ()


def test_a_node_that_stopped_responding_leaves_its_jobs_end_in_doubt() -> None:
    lost = row(1, 0, 100, state="NODE_FAIL")
    silent = outage("h1", 100, None, reason="Not responding")
    assert only(report_of(books(lost, outages=(silent,)))).word is W.END_IN_DOUBT
    by_hand = outage("h1", 100, None, reason="lost by hand")
    assert report_of(books(lost, outages=(by_hand,))).findings == ()


def test_a_run_that_a_node_saw_and_no_row_covers_is_named() -> None:
    forgotten = row(7, 400, 400, state="REQUEUED")
    report = report_of(books(forgotten, **exits(390.0, raw_id=7)))
    finding = only(report)
    assert (finding.word, finding.subject, finding.node) == (W.NOT_IN_BOOKS, "7", "h1")


def test_a_script_may_take_its_time_to_end_after_the_job_was_told_to() -> None:
    report = report_of(books(row(1, 200, 210, state="CANCELLED"), **exits(240.0)))
    assert report.findings == ()


def test_the_equation_holds_whatever_the_books_say() -> None:
    bad = [row(1, 20, 10), row(2, 0, 10, gpus={"hopper": 4}), row(3, 5, 15), row(4, 0, None)]
    report = report_of(books(*bad, outages=(outage("h1", 3, 8), outage("a1", 0, None))))
    whole = sum(each.gpu_count for each in NODES.values()) * (TO_MS - FROM_MS) * 1000
    assert sum(each.owned for each in report.equations) == whole
