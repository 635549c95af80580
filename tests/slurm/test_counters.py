"""What a cluster's books count for the leases that its jobs name."""

from __future__ import annotations

import pytest

from bailiwick.clusters.slurm.counters import counters_in, lease_of
from bailiwick.metering.counters import Counter
from tests.slurm.makers import FROM_MS, TO_MS, books, row

MARK = "bailiwick-lease-7"


def test_a_job_counts_for_the_lease_that_it_names_with_its_whole_allocation() -> None:
    jobs = books(row(1, 10, 70, comment=MARK, gpus={"hopper": 2}), row(2, 0, 60))
    assert counters_in(jobs) == (
        Counter(
            7,
            "h1",
            FROM_MS + 70_000,
            FROM_MS + 10_000,
            to_ms=FROM_MS + 70_000,
            gpu_ms=120_000,
        ),
    )


def test_a_job_that_runs_is_not_over_and_counts_what_it_has_had() -> None:
    (found,) = counters_in(books(row(1, 10, None, comment=MARK, elapsed_ms=30_000)))
    assert (found.to_ms, found.at_ms, found.gpu_ms) == (None, TO_MS, 30_000)


def test_runs_of_a_requeued_job_add_up_and_leases_do_not() -> None:
    found = counters_in(
        books(
            row(1, 0, 10, comment=MARK),
            row(1, 20, 50, comment=MARK),
            row(2, 0, 5, name="bailiwick-lease-8"),
        )
    )
    assert [(each.lease_id, each.gpu_ms) for each in found] == [(7, 40_000), (8, 5_000)]
    assert (found[0].from_ms, found[0].to_ms) == (FROM_MS, FROM_MS + 50_000)


def test_the_comment_counts_before_the_name() -> None:
    (found,) = counters_in(books(row(1, 0, 1, comment=MARK, name="bailiwick-lease-9")))
    assert found.lease_id == 7


def test_jobs_that_never_ran_or_ran_on_several_nodes_are_not_told() -> None:
    never = row(1, None, None, comment=MARK, state="CANCELLED")
    wide = row(2, 0, 5, comment=MARK, nodes=("h1", "h2"))
    assert counters_in(books(never, wide)) == ()


@pytest.mark.parametrize(
    "text", ["", "7", "lease-7", "bailiwick-lease-", "bailiwick-lease-0", "a bailiwick-lease-7"]
)
def test_what_names_no_lease_is_a_comment(text: str) -> None:
    assert lease_of(text) is None
