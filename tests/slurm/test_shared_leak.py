"""A leak inside a shared Slurm, made by somebody with the powers of root: its operator finds it."""

from __future__ import annotations

import pytest

from tests.slurm.test_shared_app import contribute
from tests.support.slurm_shared_app import SharedApp, shared_app
from tests.support.waiting import until

APART = "never share rack between project lab/vision and project lab/audio"


@pytest.mark.long
def test_projects_that_may_not_meet_do_not_and_who_makes_them_is_found() -> None:
    with shared_app("rack=r1") as app:
        app.create()
        app.start_operator()
        for project in ("vision", "audio"):
            app.attach(project)
        contribute(app)
        until(lambda: app.runs(2), "jobs came back from both workers")
        assert nodes(app, "audio") == ["worker-0"], "beside vision's, as long as that may be"
        app.admin.ask("PUT", "/v1/isolation/policy", {"text": APART}, key="apart")
        until(lambda: not nodes(app, "audio"), "who gave a worker has the rack")
        assert nodes(app, "vision") == ["worker-0", "worker-63"]
        mine = app.sbatch("alice", "-w", "worker-63", seconds=600).job_id
        until(lambda: app.state(mine) == "RUNNING", "a job of vision's runs")
        assert not app.sbatch("bob").is_done, "there is no place for it"
        assert "share rack" not in app.reason
        theirs = until(lambda: leaked(app), "somebody with the powers of root lets it run there")
        told = f"job {theirs} (audio) and job {mine} (vision) share rack r1"
        until(lambda: told in app.reason, "its operator finds them, and says so")
        app.slurm("scancel", theirs)
        until(lambda: told not in app.reason, "when they meet no more, it is said no more")
        assert app.state(mine) == "RUNNING", "and vision's job was never touched"


def nodes(app: SharedApp, queue: str) -> list[str]:
    """Where jobs of a queue may run."""
    return app.slurm("sinfo", "-hN", "-p", queue, "-o", "%N").split()


def leaked(app: SharedApp) -> str:
    """A job that runs where it must not; the operator puts the queue right, but ends no job."""
    app.slurm("scontrol", "update", "partitionname=audio", "nodes=worker-0")
    told = app.sbatch("bob", seconds=600)
    if not told.is_done:
        return ""
    rows = [row.split() for row in app.jobs()]
    return next((row[0] for row in rows if row[1:3] == ["RUNNING", "audio"]), "")
