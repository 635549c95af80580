"""What an operator does with a shared Slurm that is there: look, save and bring back, another key.

The same commands as for a project's own cluster, with the token of the runtime's operator.
"""

from __future__ import annotations

import pytest

from tests.slurm.test_shared_app import contribute, whose
from tests.support.slurm_shared_app import LATER, VERSION, SharedApp, shared_app
from tests.support.waiting import WAIT_S, until

PATIENCE_S = 2 * WAIT_S


@pytest.mark.long
def test_a_shared_cluster_is_looked_at_saved_and_gets_another_key_and_version() -> None:
    with shared_app() as app:
        storage = app.folder / "storage"
        storage.mkdir()
        app.create(storage=str(storage))
        app.start_operator()
        for project in ("vision", "audio"):
            app.attach(project)
        contribute(app)
        until(lambda: app.runs(2), "jobs came back from both workers")
        job = app.sbatch("alice").job_id
        until(lambda: job in whose(app), "the accounting has it")
        its_operator_is_told_whose_each_job_was(app, job)
        its_accounting_is_saved_and_brought_back(app, job)
        all_of_it_takes_another_key(app)
        it_goes_to_another_version_and_back(app, job)


def its_operator_is_told_whose_each_job_was(app: SharedApp, job: str) -> None:
    keys = str(app.folder / "keys")
    told = app.command("jobs", "--keys", keys)
    assert (told.returncode, told.stderr) == (0, "")
    assert f"{job} alice project=vision" in told.stdout.splitlines()
    found = app.command("triage")
    assert (found.returncode, found.stderr) == (0, ""), "nothing is wrong with it"
    assert found.stdout.splitlines()[1] == "running: jobs run on all 2 workers"


def its_accounting_is_saved_and_brought_back(app: SharedApp, job: str) -> None:
    file, bad = app.folder / "accounting", app.folder / "bad"
    saved = app.command("backup", str(file))
    assert saved.returncode == 0, saved.stderr
    assert file.stat().st_mode & 0o077 == 0
    later = app.sbatch("bob").job_id
    until(lambda: later in whose(app), "the accounting has it")
    bad.write_bytes(file.read_bytes()[:-100])
    refused = app.command("restore", str(bad))
    assert refused.returncode != 0
    assert "no backup of an accounting" in refused.stderr
    assert {job, later} <= whose(app).keys(), "and all is as it was"
    restored = app.command("restore", str(file))
    assert restored.returncode == 0, restored.stderr
    assert job in whose(app)
    until(lambda: app.sbatch("bob").is_done, "everybody is let in as before")


def all_of_it_takes_another_key(app: SharedApp) -> None:
    (before,) = (path.read_bytes() for path in (app.folder / "keys").iterdir())
    app.change("another-key", {"parameters": {**app.parameters, "key_generation": 2}})
    until(lambda: app.runs(2), "jobs run with it", wait_s=PATIENCE_S)
    (after,) = (path.read_bytes() for path in (app.folder / "keys").iterdir())
    assert before != after
    held = {path.read_bytes() for path in app.folder.glob("n?/jobs/*/work/keys/munge.key")}
    assert len(held) == 1, "the members have one and the same"
    assert app.sbatch("alice").is_done


def it_goes_to_another_version_and_back(app: SharedApp, job: str) -> None:
    for name, change, version in (
        ("upgrade", {"version": LATER}, LATER),
        ("rollback", {"rollback": True}, VERSION),
    ):
        app.change(name, change)
        until(lambda: app.runs(2), f"it runs as {version}", wait_s=PATIENCE_S)
        assert {each["version"] for each in app.members().values()} == {version}
        assert job in whose(app), "what was accounted stays so"
        payers = {each["lease_id"]: each for each in app.admin.ask("GET", "/v1/leases")["items"]}
        given = payers[app.members()["vision-a"]["lease_id"]]
        assert given["project"] == "vision", "what was given is still its giver's"
