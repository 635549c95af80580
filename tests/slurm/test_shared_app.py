"""One Slurm for a whole tenant, from the plan to the deletion: a real server, agents, operator.

People come in by Slurm's own programs, as their Unix users: nothing of our door is in between. What
our door says is asked beside it, and has to be the same. Then they come by our door.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from bailiwick.operators.slurm.shared.attribution import Attribution, JobAttributed
from bailiwick.operators.slurm.shared.findings import ENDED, attributions
from bailiwick.operators.slurm.shared.people import unix_of
from bailiwick.operators.slurm.shared.telling import SharedRun, read_shared_runs
from bailiwick.operators.slurm.wanted import CONTROLLER
from bailiwick.vocab.errors import InvalidValue
from tests.processes.caller import CallFailed
from tests.support.slurm_shared_app import ONE, OWNER, PEOPLE, TENANT, SharedApp, shared_app
from tests.support.waiting import until


def may(app: SharedApp, who: str, *, project: str, owner: str) -> dict[str, Any]:
    """What our door says of somebody who would submit."""
    body = {"owner": owner, "queue": "main"}
    return app.people[who].ask("POST", app.part(project, "may-submit"), body)


def contribute(app: SharedApp, worker: str = "vision-a") -> None:
    body = {"action": "contribute", "component_key": worker, "role": "worker"}
    app.people["alice"].ask("POST", app.part("vision", "workers"), body, key=f"give-{worker}")


def whose(app: SharedApp) -> dict[str, Attribution]:
    # Of a number that was given again, the newest: the lines begin with when it ended.
    lines = sorted(app.slurm(*ENDED, "-S", "now-1day").splitlines())
    found = attributions("\n".join(lines), but="bailiwick.probe")
    return {each.job_id: each for each in found}


def leases(app: SharedApp) -> dict[str, str]:
    """Whose lease each member is on, and so who pays for it."""
    rows = {each["lease_id"]: each for each in app.admin.ask("GET", "/v1/leases")["items"]}
    found = app.members().items()
    return {key: rows[each["lease_id"]]["project"] for key, each in found if each["lease_id"]}


def refused(app: SharedApp, who: str, *words: str) -> str:
    told = app.sbatch(who, *words)
    assert not told.is_done, told.text
    return told.text


def test_two_projects_share_a_slurm_and_each_has_its_own_of_it() -> None:
    with shared_app() as app:
        app.create()
        app.start_operator()
        for project in ("vision", "audio"):
            app.attach(project)
        contribute(app)
        until(lambda: app.runs(2), "jobs came back from the reserved worker and from vision's")
        who_pays_is_whose_lease_it_is(app)
        everybody_lands_on_his_own_account_and_on_no_other(app)
        people_come_by_our_door_too(app)
        nobody_but_the_operator_is_let_into_a_member(app)
        a_policy_opens_just_that(app)
        whose_jobs_ran_on_which_workers_is_read_from_the_accounting(app)
        a_worker_that_is_withdrawn_is_back_and_its_jobs_are_elsewhere(app)
        a_project_that_leaves_has_no_job_and_no_account_left(app)
        nothing_is_left_of_it(app)


def who_pays_is_whose_lease_it_is(app: SharedApp) -> None:
    assert leases(app) == {CONTROLLER: OWNER, "worker-0": OWNER, "vision-a": "vision"}
    nodes = {
        queue: app.slurm("sinfo", "-hN", "-p", queue, "-o", "%N").split()
        for queue in ("vision", "audio")
    }
    assert nodes == {"vision": ["worker-0", "worker-63"], "audio": ["worker-0"]}, "and what it gave"
    used = app.tina.ask("GET", f"{TENANT}/records?limit=500")["items"]
    assert any(each["kind"] == "shared_credential_used" for each in used)


def everybody_lands_on_his_own_account_and_on_no_other(app: SharedApp) -> None:
    own = {"alice": "vision", "bob": "audio", "carl": "vision"}
    jobs = {app.sbatch(who).job_id: who for who in own}
    until(lambda: {*jobs} <= {*whose(app)}, "the accounting has them")
    found = whose(app)
    for job, who in jobs.items():
        assert found[job] == JobAttributed(job, who, own[who], None)
    assert may(app, "alice", project="vision", owner="vision")["is_allowed"]
    assert may(app, "alice", project="vision", owner="audio")["denied"] == "no_policy"
    for words in (("-A", "audio"), ("-p", "audio"), ("-A", "audio", "-p", "audio")):
        assert "may not submit" in refused(app, "alice", *words)
    refused(app, "alice", "-A", "bailiwick.probe", "-p", "bailiwick.probe")
    until(lambda: not app.jobs(), "all have ended")


def by_door(app: SharedApp, who: str, *argv: str, verb: str = "submit", **more: Any) -> Any:
    """What a program says to somebody who asks the platform for it, for his own project."""
    path = app.part(PEOPLE[who], f"calls/{verb}")
    body = {"argv": list(argv), "within_s": 120, "wait_s": 20} | more
    key, found = uuid4().hex, {}

    def is_answered() -> bool:
        found.update(app.people[who].ask("POST", path, body, key=key)["call"])
        return found["reply"] is not None

    until(is_answered, f"{argv[0]} is answered")
    return found["reply"]


def batch(app: SharedApp, who: str, **more: Any) -> Any:
    words = ("sbatch", "--parsable", "-o", "/dev/null", "-c1", "--mem=1", "-J", f"of-{who}")
    return by_door(app, who, *words, "--wrap", "sleep 600", **more)


def shown(app: SharedApp, who: str, *program: str, job: str) -> list[str]:
    """The jobs that a program shows somebody, once this one is among them."""
    seen = str(by_door(app, who, *program, verb="read")["stdout"]).split()
    return seen if job in seen else []


def people_come_by_our_door_too(app: SharedApp) -> None:
    """As members of their projects, with no account on any machine."""
    jobs = {}
    for who in ("carl", "bob"):
        said = batch(app, who)
        assert said["exit_code"] == 0, said
        jobs[who] = said["stdout"].strip()
    for program in (("squeue", "-h", "-o", "%i"), ("sacct", "-XnP", "-o", "jobid")):
        # The accounting is told a little later.
        look = partial(shown, app, "carl", *program, job=jobs["carl"])
        seen = until(look, "he sees his own")
        assert jobs["bob"] not in seen, "what is another project's is not seen"
    nodes = by_door(app, "bob", "sinfo", "-h", "-o", "%P", verb="read")
    assert nodes["stdout"].split() == ["audio"], nodes
    by_door(app, "carl", "scancel", jobs["bob"], verb="cancel")
    by_door(app, "bob", "scancel", "--name=of-carl", verb="cancel")
    own = {jobs["carl"]: ["vision", "vision"], jobs["bob"]: ["audio", "audio"]}
    assert places(app) == own, "each is on his account and in his queue, and nobody else cancels it"
    for who, job in jobs.items():
        assert by_door(app, who, "scancel", job, verb="cancel")["exit_code"] == 0
    wish = {"owner": "vision", "queue": "main"}
    with pytest.raises(CallFailed, match="no_policy"):
        batch(app, "bob", **wish)
    for words in (("--partition=vision",), ("--account=vision",)):
        said = by_door(app, "bob", "sbatch", *words, "--wrap=true")
        assert (said["exit_code"], said["stdout"]) == (64, ""), "neither is his to say"
    until(lambda: not app.jobs(), "all have ended")
    until(lambda: {*jobs.values()} <= {*whose(app)}, "the accounting has them")
    for who, job in jobs.items():
        assert whose(app)[job] == JobAttributed(job, who, PEOPLE[who], None)


def nobody_but_the_operator_is_let_into_a_member(app: SharedApp) -> None:
    """Whoever is in a worker has the key of the cluster, though the lease be his project's."""
    job = app.members()["vision-a"]["job_id"]
    for caller in (app.people["alice"], app.tina, app.admin):
        with pytest.raises(CallFailed, match="only its operator is let in"):
            caller.ask("POST", f"/v1/jobs/{job}/execs", {"command": ["id"]})
    assert app.operator is not None
    with pytest.raises(CallFailed, match="nothing else"):
        app.operator.ask("POST", f"/v1/jobs/{job}/execs", {"command": ["id"]})
    (home,) = app.folder.glob(f"n?/jobs/{app.members()['vision-a']['lease_id']}/work")
    assert (home / "keys/munge.key").stat().st_mode & 0o077 == 0
    peek = "cat /media/keys/munge.key /media/keys/passwd"
    told = app.by("alice", "srun", "-Q", "-w", "worker-63", "sh", "-c", peek)
    assert not told.is_done
    assert "Permission denied" in told.text
    name = unix_of("alice").name
    assert app.by("alice", "srun", "-Q", "id", "-un").text.strip() == name
    assert name not in Path("/etc/passwd").read_text(), "the machine itself knows no such user"


def a_policy_opens_just_that(app: SharedApp) -> None:
    body = {"queue": "main", "until_ms": int((time.time() + 3_600) * 1_000)}
    body |= {"grantee_person": "bob", "limits": {"jobs": 1}}
    app.people["alice"].ask("PUT", app.part("vision", "policies/guests"), body, key="open")
    job = until(lambda: taken(app, "bob", "-p", "vision", "-w", "worker-63"), "bob is let in")
    assert may(app, "bob", project="audio", owner="vision")["policy"] == "guests"
    until(lambda: not app.jobs(), "the one job of the policy has ended")
    door = batch(app, "bob", owner="vision", queue="main")
    assert door["exit_code"] == 0, door
    assert places(app) == {door["stdout"].strip(): ["audio", "vision"]}
    by_door(app, "bob", "scancel", door["stdout"].strip(), verb="cancel")
    assert not may(app, "alice", project="vision", owner="audio")["is_allowed"]
    refused(app, "bob", "-A", "vision", "-p", "vision")
    refused(app, "alice", "-p", "audio")
    theirs = JobAttributed(job, "bob", "audio", "guests")
    until(lambda: whose(app).get(job) == theirs, "the accounting has all of it")
    app.people["alice"].ask("DELETE", app.part("vision", "policies/guests"), key="close")
    with pytest.raises(CallFailed, match="no_policy"):
        batch(app, "bob", owner="vision", queue="main")
    until(lambda: not app.sbatch("bob", "-p", "vision").is_done, "bob is let in no more")
    # Somebody with the powers of root changes whose it was: it is nobody's, and said to be. He may
    # have to do it again: a controller that begins anew tells the accounting what it knows.
    words = ("where", f"jobid={job}", "set", "admincomment=mine")

    def is_found() -> bool:
        app.by(None, "sacctmgr", "-i", "modify", "job", *words)
        return f"job {job} is nobody's (mark_not_understood)" in app.reason

    until(is_found, "it is found")


def whose_jobs_ran_on_which_workers_is_read_from_the_accounting(app: SharedApp) -> None:
    """As the operator reads it for what projects use of one another: by real ``sacct``."""
    now_s, found = int(time.time()), list[SharedRun]()

    def is_read() -> bool:
        with suppress(InvalidValue):  # something is on its way to the accounting
            found[:], _ = read_shared_runs(partial(app.ask, CONTROLLER), (now_s - 3_000, now_s))
        return bool(found)

    until(is_read, "all is in the accounting")
    assert {each.project for each in found} == {"vision", "audio"}, "and no probe"
    assert {node for each in found for node in each.nodes} <= {"worker-0", "worker-63"}
    assert all(each.run.cpus == 1 for each in found if len(each.nodes) == 1)
    assert all(now_s - 3_000 < (each.run.start_s or 0) <= now_s for each in found)


def places(app: SharedApp) -> dict[str, list[str]]:
    """The account and the queue of each job."""
    return {row.split()[0]: row.split()[2:] for row in app.jobs()}


def taken(app: SharedApp, who: str, *words: str) -> str:
    told = app.sbatch(who, *words)
    return told.job_id if told.is_done else ""


def a_worker_that_is_withdrawn_is_back_and_its_jobs_are_elsewhere(app: SharedApp) -> None:
    job = app.sbatch("alice", "-w", "worker-63", seconds=600).job_id
    until(lambda: app.state(job) == "RUNNING", "a job runs there")
    lease = app.members()["vision-a"]["lease_id"]
    body = {"action": "withdraw", "component_key": "vision-a", "within_ms": 20_000}
    app.people["alice"].ask("POST", app.part("vision", "workers"), body, key="back")
    until(lambda: lease not in app.leases(), "the lease is back")
    until(lambda: "vision-a" not in app.members(), "and nobody is in its place")
    assert "NODE_FAIL" not in app.states(job), "it was sent away before"
    until(lambda: app.runs(1), "the rest goes on")
    app.slurm("scancel", job)
    assert app.sbatch("alice").is_done


def a_project_that_leaves_has_no_job_and_no_account_left(app: SharedApp) -> None:
    until(lambda: not app.jobs(), "nothing runs")
    runs, stays = app.sbatch("alice", seconds=600).job_id, app.sbatch("bob", seconds=600).job_id
    until(lambda: "RUNNING" in app.state(runs), "a job of vision runs")
    app.people["alice"].ask("DELETE", app.part("vision", "attachment"), key="leave")
    until(lambda: not app.phase_of("vision"), "it is detached")
    # From then on, and not some time later: the operator said so when nothing was left.
    accounts = app.slurm("sacctmgr", "-nP", "show", "account", "format=account").split()
    assert sorted(accounts) == ["audio", "bailiwick.probe", "root"]
    assert app.state(runs).startswith("CANCELLED")
    assert [row.split()[0] for row in app.jobs()] == [stays]
    refused(app, "alice")
    refused(app, "alice", "-A", "vision", "-p", "vision")
    assert may_not(app) == "not_attached"
    app.slurm("scancel", stays)


def may_not(app: SharedApp) -> str:
    return str(may(app, "alice", project="vision", owner="vision")["denied"])


def nothing_is_left_of_it(app: SharedApp) -> None:
    app.tina.ask("DELETE", ONE, key="delete")
    until(lambda: not app.admin.ask("GET", f"{TENANT}/runtimes")["items"], "it is gone")
    until(lambda: not app.admin.ask("GET", "/v1/leases")["items"], "all leases are back")
    until(lambda: not app.inside_pids(), "no process of a member is left")
    until(lambda: not list((app.folder / "keys").iterdir()), "nor is its key")
    assert not os.path.ismount("/media")
