"""What is to be done next for a member: every phase of it with every phase of its job."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from bailiwick.apps.life import MEMBER_EDGES
from bailiwick.kernel.apps.instances import AppMember
from bailiwick.reconcile.apps.steps import (
    MemberTerms,
    Move,
    StartJob,
    StopJob,
    plan_member,
)
from bailiwick.reconcile.job_steps import Rest
from bailiwick.store.members.app_jobs import AppJob
from bailiwick.vocab.apps import MemberPhase
from bailiwick.vocab.jobs import JobPhase

NOW_MS = 1_000
LIVE = (MemberPhase.REQUESTED, MemberPhase.JOINING, MemberPhase.READY)


def member(phase: MemberPhase, job_id: int | None = 7, **more: object) -> AppMember:
    fields: dict[str, Any] = {"component_key": "worker-0", "version": "1.0.0", **more}
    return AppMember(id=1, instance_id=1, role="worker", phase=phase, job_id=job_id, **fields)


def job(phase: JobPhase, **more: object) -> AppJob:
    lease_id = None if phase is JobPhase.WAITING else 9
    return AppJob(7, phase, None, lease_id)._replace(**more)


def terms(*, may_begin: bool = True, has_operator: bool = False) -> MemberTerms:
    return MemberTerms(now_ms=NOW_MS, may_begin=may_begin, has_operator=has_operator)


@pytest.mark.parametrize(("phase", "of_job"), [*product(MemberPhase, [None, *JobPhase])])
def test_each_step_is_one_that_its_table_allows(
    phase: MemberPhase, of_job: JobPhase | None
) -> None:
    found = None if of_job is None else job(of_job)
    step = plan_member(member(phase), found, terms=terms())
    if isinstance(step, Move):
        assert step.phase is phase or step.phase in MEMBER_EDGES[phase]
    if isinstance(step, StopJob):
        assert of_job is not None
        assert not of_job.is_over
        assert phase in (MemberPhase.DRAINING, MemberPhase.FAILED)
    everything = replace(terms(), ends_all=True)
    last = plan_member(member(phase), found, terms=everything)
    if phase is MemberPhase.REMOVED:
        assert last == Rest()
    else:
        is_over = of_job is None or of_job.is_over
        assert last == (Move(MemberPhase.REMOVED) if is_over else StopJob(7))
    if isinstance(step, StartJob):
        raise AssertionError("it has had its job")


@pytest.mark.parametrize("phase", LIVE)
def test_what_ends_by_itself_has_failed_with_the_word_of_its_end(phase: MemberPhase) -> None:
    for of_job in JobPhase:
        if of_job.is_over:
            step = plan_member(member(phase), job(of_job), terms=terms())
            assert isinstance(step, Move)
            assert step.phase is MemberPhase.FAILED
            assert step.reason
    taken = job(JobPhase.PREEMPTED, reason="higher_priority")
    assert plan_member(member(phase), taken, terms=terms()) == Move(
        MemberPhase.FAILED, None, 7, "higher_priority"
    )


def test_a_job_is_begun_once_and_only_where_something_may_be() -> None:
    new = member(MemberPhase.REQUESTED, None)
    assert plan_member(new, None, terms=terms()) == StartJob()
    assert plan_member(new, None, terms=terms(may_begin=False)) == Rest()
    gone = plan_member(member(MemberPhase.JOINING), None, terms=terms())
    assert gone == Move(MemberPhase.FAILED, reason="job_gone")


def test_what_is_known_already_is_not_told_again() -> None:
    waiting = member(MemberPhase.JOINING)
    assert plan_member(waiting, job(JobPhase.WAITING), terms=terms()) == Rest()
    starting = plan_member(waiting, job(JobPhase.STARTING), terms=terms())
    assert starting == Move(MemberPhase.JOINING, 9, 7)
    ready = member(MemberPhase.READY, lease_id=9)
    assert plan_member(ready, job(JobPhase.RUNNING), terms=terms()) == Rest()


def test_who_is_drained_is_ended_by_its_operator_or_in_time() -> None:
    leaving = member(MemberPhase.DRAINING, deadline_ms=NOW_MS + 1)
    runs = job(JobPhase.RUNNING)
    assert plan_member(leaving, runs, terms=terms()) == StopJob(7)
    assert plan_member(leaving, runs, terms=terms(has_operator=True)) == Rest()
    late = member(MemberPhase.DRAINING, deadline_ms=NOW_MS)
    assert plan_member(late, runs, terms=terms(has_operator=True)) == StopJob(7)
    forced = member(MemberPhase.DRAINING, deadline_ms=NOW_MS + 1, forced=True)
    assert plan_member(forced, runs, terms=terms(has_operator=True)) == StopJob(7)
    stopping = runs._replace(is_stopping=True)
    assert plan_member(forced, stopping, terms=terms()) == Rest()
    over = plan_member(leaving, job(JobPhase.CANCELLED), terms=terms())
    assert over == Move(MemberPhase.REMOVED)
    assert plan_member(member(MemberPhase.DRAINING, None), None, terms=terms()) == Move(
        MemberPhase.REMOVED
    )
