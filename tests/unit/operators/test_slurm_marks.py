"""Whose a job of a project's cluster was: what nobody but the operator can make."""

from __future__ import annotations

from pathlib import Path

import pytest

from bailiwick.operators.slurm.keys import ClusterKeys
from bailiwick.operators.slurm.member.submitting import spell_mark
from bailiwick.operators.slurm.queue.marks import (
    PROBE_S_MAX,
    CallersJob,
    JobCall,
    MarkedJob,
    MarkMaker,
    NobodysJob,
    NobodysReason,
    ProbeJob,
)

MAKER = MarkMaker(b"k" * 32, "bw1")
CALL = JobCall("vision", "ana@lab", 12, "c-1")
MARK = spell_mark(*MAKER.order(CALL), number="7")
NOT_OURS = NobodysReason.MARK_NOT_OURS


def job(mark: str = MARK, *, job_id: str = "7", account: str = "vision") -> MarkedJob:
    return MarkedJob(job_id, account, "train", 60, mark)


def test_a_mark_says_who_asked_and_by_which_call() -> None:
    for number in ("7", "7_3"):
        found = MAKER.attribute(job(job_id=number))
        assert found == CallersJob(number, "ana@lab", 12, "c-1")


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        (job(""), NobodysReason.NO_MARK),
        (job("cluster=bw1;project=vision"), NobodysReason.NO_MARK),
        (job("principal=ana@lab;call=12;correlation=c-1"), NobodysReason.NO_MARK),
        (job(MARK.replace("ana", "eve")), NOT_OURS),
        (job(MARK.replace("call=12", "call=13")), NOT_OURS),
        (job(MARK.replace("project=vision", "project=audio"), account="audio"), NOT_OURS),
        (job(MARK.replace("job=7", "job=8"), job_id="8"), NOT_OURS),
        (job(MARK[:-1]), NOT_OURS),
        (job(MARK + ";x"), NOT_OURS),
        (job(MARK + "\n"), NOT_OURS),
        (job(job_id="70"), NobodysReason.MARK_OF_ANOTHER_JOB),
        (job(account="audio"), NobodysReason.OTHER_ACCOUNT),
    ],
)
def test_what_was_changed_or_copied_is_nobodys(changed: MarkedJob, reason: NobodysReason) -> None:
    assert MAKER.attribute(changed) == NobodysJob(changed.job_id, reason)


def test_the_key_of_one_call_makes_no_mark_of_another() -> None:
    _, key = MAKER.order(CALL)
    told, _ = MAKER.order(CALL._replace(principal="eve"))
    assert MAKER.attribute(job(spell_mark(told, key, number="7"))) == NobodysJob("7", NOT_OURS)


def test_a_mark_of_another_cluster_or_key_is_not_ours() -> None:
    for other in (MarkMaker(b"k" * 32, "bw2"), MarkMaker(b"j" * 32, "bw1")):
        assert other.attribute(job()) == NobodysJob("7", NOT_OURS)


def test_a_short_job_of_that_name_is_a_probe_and_a_longer_one_is_not() -> None:
    told = MarkedJob("9", "vision", "probe", PROBE_S_MAX, "cluster=bw1;project=vision")
    assert MAKER.attribute(told) == ProbeJob("9")
    longer = told._replace(ran_s=PROBE_S_MAX + 1)
    assert MAKER.attribute(longer) == NobodysJob("9", NobodysReason.NO_MARK)
    assert MAKER.attribute(told._replace(mark=MARK[:-1])) == NobodysJob("9", NOT_OURS)


def test_the_key_of_marks_is_made_once_and_goes_with_the_cluster(tmp_path: Path) -> None:
    keys = ClusterKeys(tmp_path)
    keys.munge_key(1)
    assert keys.marks(1) == ClusterKeys(tmp_path).marks(1) != keys.marks(2)
    keys.forget(1, but=1)
    mark = spell_mark(*keys.marks(1).order(CALL), number="7")
    assert keys.marks(1).attribute(job(mark)) == MAKER.attribute(job())
    keys.forget(1)
    keys.forget(2)
    assert list(tmp_path.iterdir()) == []
