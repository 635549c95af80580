"""A real Slurm that two projects share, by its own programs: who goes around our door is refused.

Each known leak is tried. Where two walls stand, the one is taken down and the other has to hold.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator

import pytest

from bailiwick.operators.slurm.shared.attribution import (
    Attribution,
    JobAttributed,
    JobUnattributed,
    UnattributedReason,
)
from bailiwick.operators.slurm.shared.findings import ENDED, attributions
from bailiwick.operators.slurm.shared.plans import plan_detach, plan_end_of_grant
from bailiwick.operators.slurm.shared.submit_policy import GRANTS
from bailiwick.wire.shared import SubmitRight
from tests.support.slurm_shared import (
    ALICE,
    BOB,
    CARL,
    KILL_WAIT_S,
    TERMS,
    SharedSlurm,
    shared_slurm,
)
from tests.support.waiting import until

DEAF = "trap '' TERM; while :; do sleep 1; done"
"""A job that does not listen when it is told to end."""


@pytest.fixture(scope="module")
def cluster() -> Iterator[SharedSlurm]:
    with shared_slurm() as found:
        yield found


@pytest.fixture
def slurm(cluster: SharedSlurm) -> Iterator[SharedSlurm]:
    """The cluster without jobs, before and after."""
    yield cluster
    cluster.run("scancel", "--full", "--signal=KILL", "--partition=audio,vision", is_checked=False)
    cluster.run("scancel", "--partition=vision", is_checked=False)
    cluster.run("scancel", "--partition=audio", is_checked=False)
    until(lambda: not cluster.jobs(), "no job is left")
    cluster.await_nodes()


def guest_right(until_ms: int) -> SubmitRight:
    """The project audio lets alice in, with one job at a time."""
    return SubmitRight(
        owner="audio",
        project=None,
        person="alice@lab",
        queue="main",
        policy="guests",
        limits={"jobs": 1},
        until_ms=until_ms,
        seq=7,
    )


def whose(slurm: SharedSlurm) -> dict[str, Attribution]:
    return {each.job_id: each for each in attributions(slurm.run(*ENDED, "-S", "now-1day"))}


def test_what_is_as_it_shall_be_takes_no_change(slurm: SharedSlurm) -> None:
    assert slurm.apply() == 0


def test_everybody_submits_to_the_project_that_is_his_own(slurm: SharedSlurm) -> None:
    jobs = {
        slurm.sbatch(ALICE).job_id: JobAttributed("", "alice@lab", "vision", None),
        slurm.sbatch(BOB, "-A", "audio", "-p", "audio").job_id: JobAttributed(
            "", "bob@lab", "audio", None
        ),
    }
    until(lambda: {*jobs} <= {*whose(slurm)}, "the accounting has them")
    found = whose(slurm)
    for job_id, person in jobs.items():
        told = found[job_id]
        assert isinstance(told, JobAttributed)
        assert (told.identity, told.project) == (person.identity, person.project)


ELSEWHERE = [
    ("-A", "audio"),
    ("-A", "audio", "-p", "audio"),
    ("-p", "audio"),
    ("-p", "vision,audio"),
    ("-A", "root"),
    ("--qos=own+audio",),
    ("--qos=normal",),
    ("--wckey=audio",),
    ("-p", "x"),
]


@pytest.mark.parametrize("words", ELSEWHERE, ids=" ".join)
def test_another_projects_account_queue_or_limits_are_refused(
    slurm: SharedSlurm, words: tuple[str, ...]
) -> None:
    assert not slurm.sbatch(ALICE, *words).is_done
    with slurm.policy_off():
        assert not slurm.sbatch(ALICE, "-p", "vision", *words).is_done, "by Slurm itself as well"
    assert slurm.jobs() == []


def test_who_has_no_part_and_who_is_the_machines_own_user_are_refused(slurm: SharedSlurm) -> None:
    for user in ("root", "nobody"):
        assert not slurm.sbatch(user).is_done
        assert not slurm.sbatch(user, "-A", "vision", "-p", "vision").is_done


def test_a_request_without_a_kind_does_not_pass_the_limit_on_a_kind(slurm: SharedSlurm) -> None:
    for words in (("--gpus=1",), ("--gres=gpu:1",), ("--gpus-per-task=1", "-n1")):
        told = slurm.sbatch(ALICE, *words)
        assert not told.is_done
        assert "name the kind of GPU" in told.text
    with slurm.policy_off():
        first = slurm.sbatch(ALICE, "-p", "vision", "--gpus=hopper:2", seconds=600).job_id
        until(lambda: f"{first} RUNNING None" in slurm.jobs(), "what is allowed runs")
        told = slurm.sbatch(ALICE, "-p", "vision", "--gpus=3")
        assert not told.is_done
        assert "QOSGrpGRES" in told.text
        second = slurm.sbatch(ALICE, "-p", "vision", "--gpus=1").job_id
        until(lambda: f"{second} PENDING QOSGrpGRES" in slurm.jobs(), "one more waits")


UPDATES = [
    "account=audio",
    "partition=audio",
    "qos=own+audio",
    "nodelist=n2",
    "features=any",
    "comment=somebody",
    "admincomment=somebody",
    "gres=gpu:1",
    "dependency=afterok:1",
    "wckey=audio",
]


@pytest.mark.parametrize("change", UPDATES)
def test_an_owner_does_not_move_his_job_by_an_update(slurm: SharedSlurm, change: str) -> None:
    job = slurm.sbatch(ALICE, "--hold", "--comment=mine").job_id
    assert not slurm.by(ALICE, "scontrol", "update", f"jobid={job}", change).is_done
    assert slurm.by(ALICE, "scontrol", "release", job).is_done, "this is his to say"


def test_nobody_makes_a_token_for_himself(slurm: SharedSlurm) -> None:
    for words in ((), ("lifespan=315360000",), (f"username={BOB}",)):
        assert not slurm.by(ALICE, "scontrol", "token", *words).is_done


def test_an_association_for_all_partitions_opens_none_and_does_not_stay(
    slurm: SharedSlurm,
) -> None:
    slurm.run("sacctmgr", "-iQ", "add", "user", ALICE, "account=vision")
    wide = (ALICE, "vision", "")
    until(lambda: wide in slurm.known(), "the controller knows of it")
    with slurm.policy_off():
        assert not slurm.sbatch(ALICE, "-p", "audio").is_done, "the partition names its accounts"
    assert slurm.apply() > 0
    assert slurm.apply() == 0
    until(lambda: wide not in slurm.known(), "it is gone")
    assert slurm.sbatch(ALICE).is_done


def test_a_coordinator_is_none_for_long_and_raises_no_limit(slurm: SharedSlurm) -> None:
    raising = ("sacctmgr", "-i", "modify", "user", f"name={CARL}", "set", "MaxJobs=1000")
    slurm.run("sacctmgr", "-iQ", "add", "coordinator", "account=vision", f"names={CARL}")
    slurm.run("sacctmgr", "-iQ", "modify", "user", f"name={BOB}", "set", "adminlevel=Operator")
    assert slurm.apply() == 2
    assert slurm.apply() == 0
    told = slurm.by(CARL, *raising)
    rows = slurm.run("sacctmgr", "-nP", "show", "assoc", f"user={CARL}", "format=maxjobs").split()
    assert rows == [], told.text
    assert not slurm.by(BOB, "scontrol", "update", "nodename=n1", "state=drain", "reason=x").is_done


@pytest.mark.parametrize("fault", ["missing", "a folder", "cut short", "not understood"])
def test_a_policy_that_fails_refuses(slurm: SharedSlurm, fault: str) -> None:
    path = slurm.folder / "etc" / GRANTS
    kept = path.read_text()
    path.unlink()
    match fault:
        case "a folder":  # it opens, and then fails as it is read
            path.mkdir()
        case "cut short":
            path.write_text("\n".join(kept.splitlines()[:-1]))
        case "not understood":
            path.write_text(f"{ALICE} vision\n{kept}")
    try:
        # With all that Slurm itself needs: by itself it takes a job whose script failed.
        assert not slurm.sbatch(ALICE, "-A", "vision", "-p", "vision").is_done
    finally:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        slurm.write_grants(kept)
    assert slurm.sbatch(ALICE).is_done


def test_a_job_that_came_by_no_policy_is_a_finding(slurm: SharedSlurm) -> None:
    with slurm.policy_off():
        job = slurm.sbatch(ALICE, "-p", "vision").job_id
    until(lambda: job in whose(slurm), "the accounting has it")
    told = whose(slurm)[job]
    assert told == JobUnattributed(job, UnattributedReason.NO_MARK, ALICE, "vision")


def test_a_guest_is_let_into_just_that_queue_and_meets_nobody_there(slurm: SharedSlurm) -> None:
    slurm.rights = (guest_right(int((time.time() + 3_600) * 1_000)),)
    slurm.apply()
    try:
        assert not slurm.sbatch(CARL, "-p", "audio").is_done, "another of the same project"
        assert not slurm.sbatch(ALICE, "-A", "audio", "-p", "audio").is_done
        theirs = slurm.sbatch(BOB, seconds=600).job_id
        until(lambda: f"{theirs} RUNNING None" in slurm.jobs(), "the owner's job runs")
        mine = slurm.sbatch(ALICE, "-p", "audio", "-t", "1-0").job_id
        limit = slurm.run("squeue", "-h", "-j", mine, "-o", "%l").strip()
        assert limit.startswith(("59:", "58:")), "no longer than the policy lasts"
        until(lambda: not is_undecided(slurm, mine), "Slurm has looked for a place for it")
        assert slurm.jobs("-j", mine) == [f"{mine} PENDING Resources"], "though there is room"
        slurm.run("scancel", theirs)
        until(lambda: not slurm.jobs("-j", mine), "then it ran")
        until(lambda: mine in whose(slurm), "the accounting has it")
        told = whose(slurm)[mine]
        assert told == JobAttributed(mine, "alice@lab", "vision", "guests")
        assert not slurm.by(ALICE, "scontrol", "requeue", mine).is_done, "nor does it run again"
        a_policy_that_ends_takes_what_waits_with_it(slurm)
    finally:
        slurm.run("scancel", "--partition=audio")
        until(lambda: not slurm.jobs(), "no job is left")
        slurm.rights = ()
        slurm.apply()
    assert not slurm.sbatch(ALICE, "-p", "audio").is_done


def is_undecided(slurm: SharedSlurm, job_id: str) -> bool:
    rows = slurm.jobs("-t", "all", "-j", job_id)
    return rows in ([f"{job_id} PENDING None"], [f"{job_id} PENDING Priority"])


def a_policy_that_ends_takes_what_waits_with_it(slurm: SharedSlurm) -> None:
    theirs = slurm.sbatch(BOB, seconds=600).job_id
    until(lambda: f"{theirs} RUNNING None" in slurm.jobs(), "the owner's job runs")
    own = slurm.sbatch(ALICE, seconds=600).job_id
    slurm.sbatch(ALICE, "-p", "audio")
    grant = next(each for each in slurm.shape().grants if each.policy == "guests")
    slurm.do(plan_end_of_grant(grant, kill_wait_s=KILL_WAIT_S, min_job_age_s=2))
    assert sorted(row.split()[0] for row in slurm.jobs()) == sorted((theirs, own))
    with slurm.policy_off():
        assert not slurm.sbatch(ALICE, "-p", "audio").is_done, "by Slurm itself as well"
    slurm.run("scancel", theirs, own)
    until(lambda: not slurm.jobs(), "no job is left")


def test_nothing_of_a_project_outlives_its_part_or_comes_back_with_it(slurm: SharedSlurm) -> None:
    done = slurm.sbatch(ALICE).job_id
    until(lambda: not slurm.jobs(), "it has ended")
    deaf = ("--parsable", "-o", "/dev/null", "-c1", "--mem=1", "--wrap", DEAF)
    rude = slurm.by(ALICE, "sbatch", *deaf).job_id
    until(lambda: f"{rude} RUNNING None" in slurm.jobs(), "one runs")
    slurm.sbatch(CARL, "-w", "n1", "--exclusive", seconds=600)
    slurm.sbatch(ALICE, "--hold", "--array=1-5", seconds=600)
    *first, last = plan_detach(
        "vision",
        partitions=["vision"],
        homes={},
        kill_wait_s=KILL_WAIT_S,
        min_job_age_s=TERMS.min_job_age_s,
    )
    slurm.do(first[:1])
    with slurm.policy_off():
        assert not slurm.sbatch(ALICE, "-p", "vision").is_done, "from the first step on"
    slurm.do(first[1:])
    assert slurm.jobs() == []
    slurm.by(ALICE, "scontrol", "requeue", done)  # a job of his that Slurm still knows
    slurm.do([last])
    assert slurm.jobs() == []
    slurm.attached = frozenset(("audio",))
    slurm.apply()
    assert not slurm.sbatch(ALICE).is_done
    slurm.attached = frozenset(("audio", "vision"))
    slurm.apply()
    assert slurm.jobs() == []
    assert slurm.sbatch(ALICE).is_done, "who comes back begins anew"
