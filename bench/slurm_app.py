"""A Slurm cluster as an app: how long until it takes jobs, and what its operator costs it.

A server, three agents and the operator on this machine, as the tests have them. Times are what a
person waits: from the request until jobs came back from every worker. What the operator takes from
``sbatch`` is measured beside the same submissions while it is stopped, in turns.
"""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable
from statistics import median
from typing import TYPE_CHECKING

from bailiwick.operators.slurm.wanted import PORTS
from bailiwick.vocab.errors import InvalidValue
from bench.measure import say
from bench.report import Section, Table

if TYPE_CHECKING:
    from tests.processes.caller import HttpCaller
    from tests.support.slurm_app import Operator

NODES, WORKERS, WORKERS_QUICK = 3, 4, 1
SUBMITS, ROUNDS, ROUNDS_QUICK = 40, 5, 1
UP_S, GROWN_S, OVER_PERCENT = 30.0, 5.0, 10.0
_SUBMIT = (
    f"a=$(date +%s%N); for i in $(seq {SUBMITS}); do"
    " sbatch -Q --hold --mem=1 -o /dev/null --wrap true || exit 1; done;"
    " echo $(($(date +%s%N) - a)); scancel --state=PENDING --name=wrap"
)


def _timed(act: Callable[[], None], what: str) -> float:
    began = time.monotonic()
    act()
    took_s = time.monotonic() - began
    say(f"slurm_app: {what}: {took_s:.1f} s")
    return took_s


class _Cluster:
    """An instance, and how a bench acts on it."""

    def __init__(self, caller: HttpCaller) -> None:
        self._caller, self.path = caller, ""

    def make(self, workers: int) -> None:
        """Ask for it, and wait for its first jobs."""
        from tests.support.ports import free_ports
        from tests.support.slurm_app import ALL, FIRST

        parameters = {"port": free_ports(PORTS)[0], "kill_wait_s": 2}
        wish = {"name": "c", "app": "slurm", "version": FIRST, "parameters": parameters}
        made = self._caller.ask("POST", ALL, wish | {"counts": {"worker": workers}}, key="make")
        self.path = f"{ALL}/{made['instance_id']}"
        self._wait(workers)

    def grow(self, workers: int) -> None:
        """Have so many workers, and wait for jobs from all."""
        self._caller.ask("PATCH", self.path, {"counts": {"worker": workers}}, key="grow")
        self._wait(workers)

    def delete(self) -> None:
        """Have it gone."""
        from tests.support.slurm_app import ALL
        from tests.support.waiting import until

        self._caller.ask("DELETE", self.path, key="delete")
        until(lambda: not self._caller.ask("GET", ALL)["items"], "it is gone")

    def submit_s(self) -> float:
        """Seconds that a row of submissions takes, measured beside the controller."""
        from tests.support.slurm_app import slurm

        words = ("srun", "-N1", "--mem=1", "--overlap", "sh", "-c", _SUBMIT)
        return int(slurm(self._caller, self.path, *words)) / 10**9

    def _wait(self, workers: int) -> None:
        from tests.support.slurm_app import runs
        from tests.support.waiting import until

        until(lambda: runs(self._caller, self.path, workers=workers), "jobs came back")


def _submissions(cluster: _Cluster, operator: Operator, rounds: int) -> dict[str, list[float]]:
    took: dict[str, list[float]] = {"operator at work": [], "operator stopped": []}
    for number in range(rounds):
        took["operator at work"].append(cluster.submit_s())
        operator.send(signal.SIGSTOP)
        try:
            took["operator stopped"].append(cluster.submit_s())
        finally:
            operator.send(signal.SIGCONT)
        say(f"slurm_app: round {number + 1} of {rounds}")
    return took


def run(*, quick: bool = False) -> Section:
    """The section; where there is no Slurm it says so."""
    if shutil.which("slurmctld", path="/usr/sbin:/usr/local/sbin:/usr/bin") is None:
        raise InvalidValue("slurmctld", None, "Slurm's own programs on this machine")
    from tests.support.slurm_app import house

    workers = WORKERS_QUICK if quick else WORKERS
    with house(NODES) as (caller, _, operator, _):
        cluster = _Cluster(caller)
        up_s = _timed(lambda: cluster.make(workers), f"{workers} workers")
        grown_s = _timed(lambda: cluster.grow(workers + 1), "one more")
        took = _submissions(cluster, operator, ROUNDS_QUICK if quick else ROUNDS)
        gone_s = _timed(cluster.delete, "deleted")
    section = Section("slurm_app", "A Slurm cluster as an app")
    steps = {f"{workers} workers, to the first jobs": up_s, "one more worker": grown_s}
    rows = [[what, f"{took_s:.1f}"] for what, took_s in (steps | {"deletion": gone_s}).items()]
    section.tables.append(Table("seconds that a person waits", ["step", "seconds"], rows))
    rows = [[word, f"{median(each):.2f}", f"{min(each):.2f}"] for word, each in took.items()]
    title = f"seconds for {SUBMITS} x sbatch, of {len(took['operator at work'])} rounds"
    section.tables.append(Table(title, ["operator", "median", "least"], rows))
    section.bar_at_most(f"{workers} workers, to the first jobs", up_s, UP_S, unit=" s")
    section.bar_at_most("one more worker", grown_s, GROWN_S, unit=" s")
    over = 100 * (median(took["operator at work"]) / median(took["operator stopped"]) - 1)
    section.bar_at_most("what the operator takes from sbatch", over, OVER_PERCENT, unit=" %")
    section.data = {"up_s": up_s, "grown_s": grown_s, "deleted_s": gone_s, **took}
    return section
