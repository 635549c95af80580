"""Jobs on a real Slurm: what our submit and tracking cost over plain ``sbatch`` of the same jobs.

A private cluster on this machine, as the tests have it. A round submits so many no-ops one after
the other and ends when all are known to have ended. The reference calls ``sbatch`` itself with the
same options and a script of the program alone, and asks ``squeue`` as often as we do. Rounds of
both come in turns, so that what else the machine does falls on both; medians are compared.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

from bailiwick.executors.port import Exited, JobSpec
from bailiwick.executors.slurm.executor import SlurmExecutor
from bailiwick.executors.slurm.programs import SlurmPrograms, Submission
from bailiwick.vocab.errors import InvalidValue
from bench.measure import say
from bench.report import Section, Table

if TYPE_CHECKING:
    from tests.support.slurm_cluster import SlurmCluster

JOBS, JOBS_QUICK, ROUNDS, ROUNDS_QUICK = 60, 15, 5, 1
BAR_PERCENT = 15
LOOK_S = 0.5
ROUND_S_MAX = 300.0


def plain(cluster: SlurmCluster, folder: Path, jobs: int) -> float:
    """Seconds with Slurm's own programs alone."""
    begin = time.perf_counter()
    for number in range(jobs):
        out = str(folder / f"out-{number}")
        asked = Submission(name=f"plain-{number}", script="", folder=str(folder), output=out)
        subprocess.run(
            ["sbatch", *asked.options()],
            input=b"#!/bin/sh\nexec true\n",
            env=cluster.env,
            check=True,
            capture_output=True,
        )
    words = ["squeue", "--noheader", "--states=PD,R,CF,CG", "--Format=jobid"]

    def is_over() -> bool:
        told = subprocess.run(words, env=cluster.env, check=True, capture_output=True)
        return not told.stdout.strip()

    _until(is_over)
    return time.perf_counter() - begin


def ours(cluster: SlurmCluster, folder: Path, jobs: int) -> float:
    """Seconds through the executor: written down, submitted under a key, followed to the end."""
    executor = SlurmExecutor(folder, programs=SlurmPrograms(cluster.env))
    begin = time.perf_counter()
    for number in range(1, jobs + 1):
        executor.start(JobSpec(number, argv=("true",), token="bench"))
    left = set(range(1, jobs + 1))

    def is_over() -> bool:
        left.difference_update([number for number in left if _is_good(executor, number)])
        return not left

    _until(is_over)
    return time.perf_counter() - begin


def _is_good(executor: SlurmExecutor, number: int) -> bool:
    match executor.status(number):
        case Exited(code=0, is_emptied=is_emptied):
            return is_emptied
        case Exited() as found:
            raise RuntimeError(f"job {number} ended otherwise: {found}")
        case _:
            return False


def _until(is_over: Callable[[], bool]) -> None:
    end = time.monotonic() + ROUND_S_MAX
    while not is_over():
        if time.monotonic() > end:
            raise RuntimeError("the jobs of a round did not end")
        time.sleep(LOOK_S)


def measure(*, quick: bool) -> dict[str, list[float]]:
    """Seconds of each round, of both ways."""
    from tests.support.slurm_cluster import slurm_cluster

    took: dict[str, list[float]] = {"plain sbatch": [], "executor": []}
    jobs = JOBS_QUICK if quick else JOBS
    with slurm_cluster() as cluster, tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        cluster.run("sacctmgr", "-iQ", "add", "account", "bench")
        cluster.run("sacctmgr", "-iQ", "add", "user", "root", "account=bench")
        for number in range(ROUNDS_QUICK if quick else ROUNDS):
            for (word, rounds), way in zip(took.items(), (plain, ours), strict=True):
                folder = Path(name) / f"{word.partition(' ')[0]}-{number}"
                folder.mkdir()
                rounds.append(way(cluster, folder, jobs))
                say(f"slurm_jobs: {jobs} jobs by {word}: {rounds[-1]:.1f} s")
    return took


def run(*, quick: bool = False) -> Section:
    """The section; where there is no Slurm it says so."""
    import shutil

    if shutil.which("slurmctld", path="/usr/sbin:/usr/local/sbin:/usr/bin") is None:
        raise InvalidValue("slurmctld", None, "Slurm's own programs on this machine")
    took = measure(quick=quick)
    section = Section("slurm_jobs", "Jobs on a real Slurm")
    jobs = JOBS_QUICK if quick else JOBS
    rows = [[word, f"{median(rounds):.2f}", f"{min(rounds):.2f}"] for word, rounds in took.items()]
    title = f"seconds for {jobs} no-ops, of {len(took['executor'])} rounds"
    section.tables.append(Table(title, ["way", "median", "least"], rows))
    over = 100 * (median(took["executor"]) / median(took["plain sbatch"]) - 1)
    section.bar_at_most("submit and tracking, over plain sbatch", over, BAR_PERCENT, unit=" %")
    section.data = {word: [round(s, 2) for s in rounds] for word, rounds in took.items()}
    return section
