"""What the end of a job means for its task."""

from __future__ import annotations

import pytest

from bailiwick.batch import TaskFailed, TaskSucceeded
from bailiwick.reconcile.graph_ends import result_of
from bailiwick.services.graph_jobs import category_of
from bailiwick.store.graph_rows import JobEnd
from bailiwick.vocab.graphs import FailureCategory as F
from bailiwick.vocab.jobs import LIVE_PHASES, JobPhase


@pytest.mark.parametrize("phase", LIVE_PHASES)
def test_a_job_that_goes_on_means_nothing_yet(phase: JobPhase) -> None:
    assert result_of("a", 1, end=JobEnd(1, phase, "x", None, None), outputs={}) is None


@pytest.mark.parametrize("phase", [phase for phase in JobPhase if phase.is_over])
def test_every_end_means_something(phase: JobPhase) -> None:
    assert result_of("a", 1, end=JobEnd(1, phase, None, None, None), outputs={}) is not None


@pytest.mark.parametrize(
    ("phase", "reason", "category"),
    [
        (JobPhase.FAILED, None, F.EXIT_CODE),
        (JobPhase.FAILED, "program_not_runnable", F.DENIED),
        (JobPhase.FAILED, "image_not_usable", F.DENIED),
        (JobPhase.FAILED, "not_kept_apart", F.DENIED),
        (JobPhase.FAILED, "out_of_memory", F.OUT_OF_MEMORY),
        (JobPhase.FAILED, "executor_unavailable", F.NODE_LOST),
        (JobPhase.PREEMPTED, "priority_preemption", F.PREEMPTED),
        (JobPhase.EXPIRED, None, F.TIMEOUT),
        (JobPhase.LOST, "lease_gone", F.NODE_LOST),
        (JobPhase.CANCELLED, None, F.DENIED),
        (JobPhase.REFUSED, "quota", F.DENIED),
        (JobPhase.REFUSED, "not_leader", F.NODE_LOST),
    ],
)
def test_a_failure_has_its_category(phase: JobPhase, reason: str | None, category: F) -> None:
    assert category_of(JobEnd(1, phase, reason, None, None)) is category


def test_what_was_told_of_outputs_and_codes_is_passed_on() -> None:
    good = JobEnd(1, JobPhase.SUCCEEDED, None, 0, None)
    assert result_of("a", 2, end=good, outputs={"x": "y"}) == TaskSucceeded("a", 2, {"x": "y"})
    bad = JobEnd(1, JobPhase.FAILED, None, 9, None)
    assert result_of("a", 2, end=bad, outputs={}) == TaskFailed("a", 2, F.EXIT_CODE, 9, None)
    late = JobEnd(1, JobPhase.EXPIRED, None, None, 15)
    assert result_of("a", 2, end=late, outputs={}) == TaskFailed("a", 2, F.TIMEOUT, None, "expired")
