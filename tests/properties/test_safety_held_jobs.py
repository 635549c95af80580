"""Held jobs against a naive reference: who is let go, who never will be, and who stays."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bailiwick.ports import AfterJob, HeldFacts, HeldJob
from bailiwick.reconcile.held.steps import EndHeld, KeepHeld, LetGo, plan_held
from bailiwick.vocab.job_addresses import AfterNeed
from bailiwick.vocab.jobs import HeldReason as H
from bailiwick.vocab.jobs import JobPhase as P

NOW_MS = 1_000
KNOWN, ARRAYS = range(1, 5), (50, 60)

afters = st.builds(
    AfterJob, st.sampled_from((*KNOWN, *ARRAYS, 99)), st.booleans(), st.sampled_from(AfterNeed)
)
phases = st.sampled_from(P)
tasks = st.tuples(st.sampled_from((None, *ARRAYS)), st.sampled_from((None, 1, 2, 3)))
helds = st.builds(
    lambda after, task, retry, cancelled: {
        "after": tuple(after),
        "array_id": task[0],
        "limit": None if task[0] is None else task[1],
        "retry_at_ms": retry,
        "cancel_asked": cancelled,
    },
    st.lists(afters, max_size=3),
    tasks,
    st.sampled_from((None, NOW_MS - 1, NOW_MS, NOW_MS + 1)),
    st.booleans(),
)
facts = st.builds(
    HeldFacts,
    st.dictionaries(st.sampled_from(KNOWN), phases),
    st.dictionaries(st.sampled_from(ARRAYS), st.frozensets(phases, min_size=1)),
    st.dictionaries(st.sampled_from(ARRAYS), st.integers(0, 4)),
)


def ended_otherwise(after: AfterJob, found: HeldFacts) -> bool:
    """Whether what it comes after is gone, or ended as it must not."""
    known: Any = found.arrays.get(after.job_id) if after.is_array else None
    if not after.is_array and after.job_id in found.phases:
        known = {found.phases[after.job_id]}
    if known is None:
        return True
    good = {"ok": {P.SUCCEEDED}, "any": set(P), "failed": set(P) - {P.SUCCEEDED}}[after.need.value]
    return any(phase.is_over and phase not in good for phase in known)


def is_open(after: AfterJob, found: HeldFacts) -> bool:
    """Whether anything that it comes after still goes on."""
    known = found.arrays[after.job_id] if after.is_array else {found.phases[after.job_id]}
    return any(not phase.is_over for phase in known)


@given(st.lists(st.sampled_from((None, 1, 2, 3)), min_size=2, max_size=6), st.integers(0, 3))
def test_tasks_that_are_let_go_together_count_for_one_another(
    limits: list[int | None], under_way: int
) -> None:
    jobs = [HeldJob(job_id=at, array_id=50, limit=limit) for at, limit in enumerate(limits)]
    steps = plan_held(jobs, HeldFacts({}, {}, {50: under_way}), now_ms=NOW_MS)
    used = under_way
    for job, step in zip(jobs, steps, strict=True):
        if job.limit is not None and used >= job.limit:
            assert step == KeepHeld(job.job_id, H.ARRAY_LIMIT)
        else:
            assert step == LetGo(job.job_id)
            used += 1


@given(st.lists(helds, max_size=8), facts)
def test_each_held_job_gets_the_step_that_the_rules_give_it(
    told: list[dict[str, Any]], found: HeldFacts
) -> None:
    jobs = [HeldJob(job_id=100 + at, **each) for at, each in enumerate(told)]
    steps = plan_held(jobs, found, now_ms=NOW_MS)
    assert [step.job_id for step in steps] == [job.job_id for job in jobs]
    gone: list[HeldJob] = []
    for job, step in zip(jobs, steps, strict=True):
        others = sum(each.array_id == job.array_id for each in gone)
        used = found.under_way.get(job.array_id or 0, 0) + others
        if job.cancel_asked:
            assert step == EndHeld(job.job_id, P.CANCELLED, None)
        elif any(ended_otherwise(each, found) for each in job.after):
            assert step == EndHeld(job.job_id, P.REFUSED, "dependency_never_met")
        elif any(is_open(each, found) for each in job.after):
            assert step == KeepHeld(job.job_id, H.WAITING_FOR_JOBS)
        elif job.retry_at_ms == NOW_MS + 1:
            assert step == KeepHeld(job.job_id, H.BETWEEN_ATTEMPTS)
        elif job.limit is not None and used >= job.limit:
            assert step == KeepHeld(job.job_id, H.ARRAY_LIMIT)
        else:
            assert step == LetGo(job.job_id)
            gone.append(job)
