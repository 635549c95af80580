"""Something is killed at every step of a shared runtime's life: it converges, and nothing leaks.

What is killed after which step is the seed's. A failure prints the seed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from tests.slurm.test_shared_app import contribute
from tests.support.slurm_shared_app import LATER, ONE, TENANT, SharedApp, shared_app
from tests.support.waiting import WAIT_S, until

VICTIMS = ("operator", "slurmctld", "slurmdbd", "agent", "server")
PATIENCE_S = 2 * WAIT_S


class Faults:
    """Kills something after each step, and waits for what the step was for."""

    def __init__(self, app: SharedApp, seed: int) -> None:
        self._app, self._chance = app, Random(seed)
        self._next = self._chance.sample(VICTIMS, len(VICTIMS)) * 2
        """Each has its turn, and in each seed after another step."""
        self.done: list[str] = []

    def after(self, step: str, is_well: Callable[[], bool]) -> None:
        """Kill something now or a little later; then it has to become well."""
        victim = self._next.pop()
        time.sleep(self._chance.choice((0.0, 0.5, 2.0)))
        if not self._app.kill(victim):
            victim = "operator"  # what was to be killed is not there yet
            self._app.kill(victim)
        self.done.append(f"{step}/{victim}")
        until(lambda: _quietly(is_well), f"{self.done}", wait_s=PATIENCE_S)


def _quietly(is_well: Callable[[], bool]) -> bool:
    """Whether it is well; who cannot be asked just now is not."""
    with suppress(AssertionError, KeyError, ValueError):
        return is_well()
    return False


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_whatever_is_killed_at_each_step_it_converges_and_nothing_leaks(seed: int) -> None:
    with shared_app() as app:
        faults = Faults(app, seed)
        storage = app.folder / "storage"
        storage.mkdir()
        app.create(withdraw_within_ms=30_000, storage=str(storage))
        app.start_operator()
        faults.after("create", lambda: app.runs(1) and is_held_once(app))
        for project, who in (("vision", "alice"), ("audio", "bob")):
            app.attach(project)
            faults.after(f"attach {project}", lambda who=who: app.sbatch(who).is_done)
        contribute(app)
        faults.after("contribute", lambda: app.runs(2) and is_held_once(app))
        before = until(lambda: ended(app, "bob"), "a job of audio's has ended", wait_s=PATIENCE_S)
        time.sleep(6)  # Slurm saves its state every five seconds; who kills it loses the rest
        app.change("upgrade", {"version": LATER})
        faults.after("upgrade", lambda: is_of(app, LATER) and is_held_once(app))
        assert app.state(before) == "COMPLETED", "what was accounted stays so"
        job = until(lambda: begun(app, "alice"), "a job of vision's runs", wait_s=PATIENCE_S)
        withdraw(app)
        faults.after("withdraw", lambda: app.runs(1) and is_held_once(app))
        app.people["alice"].ask("DELETE", app.part("vision", "attachment"), key="leave")
        faults.after("detach", lambda: not app.phase_of("vision"))
        until(lambda: _quietly(lambda: has_nothing(app, "vision")), "it has nothing left")
        assert job not in [row.split()[0] for row in app.jobs()]
        app.tina.ask("DELETE", ONE, key="delete")
        faults.after("delete", lambda: not app.admin.ask("GET", f"{TENANT}/runtimes")["items"])
        until(lambda: not app.leases(), "all leases are back")
        until(lambda: not app.inside_pids(), "no process of a member is left")
        until(lambda: not list((app.folder / "keys").iterdir()), "nor is its key")
        until(lambda: not list(storage.iterdir()), "nor is anything on its storage")
        assert not os.path.ismount(Path("/media"))
        print("killed", faults.done)


def begun(app: SharedApp, who: str) -> str:
    """A job that runs where it can, whatever just happened."""
    told = app.sbatch(who, "-w", "worker-63", seconds=600)
    return told.job_id if told.is_done else ""


def is_of(app: SharedApp, version: str) -> bool:
    """Whether jobs run on both workers, and every member is of that version."""
    return app.runs(2) and {each["version"] for each in app.members().values()} == {version}


def ended(app: SharedApp, who: str) -> str:
    """A job that did its work, whatever just happened."""
    told = app.sbatch(who)
    if not told.is_done:
        return ""
    until(lambda: _quietly(lambda: app.state(told.job_id) == "COMPLETED"), "it is accounted")
    return told.job_id


def withdraw(app: SharedApp) -> None:
    body = {"action": "withdraw", "component_key": "vision-a"}
    app.people["alice"].ask("POST", app.part("vision", "workers"), body, key="back")


def is_held_once(app: SharedApp) -> bool:
    """Whether there is a lease for each member, and none beside: nothing is charged twice."""
    held = {each["lease_id"] for each in app.members().values()}
    return held == app.leases()


def has_nothing(app: SharedApp, project: str) -> bool:
    accounts = app.slurm("sacctmgr", "-nP", "show", "account", "format=account").split()
    return project not in accounts and not [row for row in app.jobs() if f" {project} " in row]
