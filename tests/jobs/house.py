"""A replica on SQLite, an executor and the loop between them; every wait is bounded.

Run as a program (``python -m tests.jobs.house FOLDER [many]``) it submits a few jobs, or many, runs
the loop and says so; the test that started it kills it.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.modes import Apart, JobMode
from bailiwick.executors.local.teardown import Look, TeardownWaits, take_census
from bailiwick.executors.registry import DEFAULT
from bailiwick.fleet.node import EXECUTOR_LABEL, GpuDevice, NodeCapacity
from bailiwick.iam import PrincipalKind, Role
from bailiwick.journal.record import parse_record
from bailiwick.kernel import (
    ChangeSettings,
    Command,
    Envelope,
    RegisterNode,
    Settings,
    Submit,
    decode_command,
)
from bailiwick.kernel.answers import Answer
from bailiwick.kernel.people import commands as iam
from bailiwick.ports import JobRow, NewJobRow
from bailiwick.reconcile.held.loop import HeldLoop
from bailiwick.reconcile.job_actions import JobTools
from bailiwick.reconcile.jobs import JobLoop, Retention
from bailiwick.runtime.replica import Replica
from bailiwick.runtime.replica import Role as ReplicaRole
from bailiwick.runtime.runner import Runner, SystemClock
from bailiwick.services.authority import Authority, Principal
from bailiwick.services.jobs import JobDraft, Jobs, Submitted
from bailiwick.services.jobs.jobs import LIVE_MAX
from bailiwick.store.job_rows import JobBook
from bailiwick.vocab.jobs import JobPhase
from bailiwick.vocab.words import HardwareGeneration
from tests.support.fresh_store import open_fresh
from tests.support.waiting import WAIT_S, until
from tests.support.wide_open import wide_settings

T = TypeVar("T")

NODE, TENANT = "here", "lab"
ANN = Principal("ann", PrincipalKind.HUMAN, "t", {})
SETTINGS = wide_settings(grace_ms=3_600_000, teardown_ms=3_600_000)
PATIENT = TeardownWaits(start_s=WAIT_S, term_s=WAIT_S, kill_s=WAIT_S)
KEY = Authority.new_key()
MANY = 30
LATER = ("after", "array", "retries", "retry_on", "checkpoint")


@dataclass
class JobHouse:
    """What a test needs."""

    runner: Runner
    jobs: Jobs
    executor: LocalExecutor
    loop: JobLoop
    authority: Authority
    held: HeldLoop
    said: list[str] = field(default_factory=list)

    def do(self, command: Command) -> Answer:
        """Have something done behind the loop's back."""
        return self.runner.execute(Envelope(command, "setup"))

    def submit(self, *argv: str, key: str | None = None, **how: Any) -> Submitted:
        """A job of ann's, with a core unless more is said."""
        draft = draft_of(*argv, **how)
        return self.jobs.submit(draft, principal=ANN, correlation_id="c-1", key=key)

    def shell(self, text: str, **how: Any) -> JobRow:
        """The same, for a shell."""
        return self.submit("/bin/sh", "-c", text, **how).job

    def job(self, job: JobRow) -> JobRow:
        """The job as it is now."""
        return self.jobs.get(job.job_id)

    def until(self, job: JobRow, *phases: JobPhase) -> JobRow:
        """The job, once it is in one of these phases; rounds are made meanwhile."""

        def look() -> JobRow | None:
            self.once()
            found = self.job(job)
            assert found.phase in phases or not found.phase.is_over, found
            return found if found.phase in phases else None

        return until(look, f"job {job.job_id} is {' or '.join(phases)}")

    def quiet(self) -> None:
        """Make rounds until nobody does anything and no job lives."""

        def look() -> bool:
            self.once()
            book, is_busy = self.jobs.book, self.loop.is_busy
            return not (is_busy or book.held.held() or book.live() or self.leases())

        until(look, "nobody does anything and no job lives")

    def rounds(self, ask: Callable[[], T | None], what: str) -> T:
        """The first answer that is one; rounds are made meanwhile."""

        def look() -> T | None:
            self.once()
            return ask()

        return until(look, what)

    def once(self) -> None:
        """A round of either loop."""
        self.held.once()
        self.loop.once()

    def leases(self) -> dict[int, str]:
        """The leases there are, and their states."""
        return self.runner.read(
            lambda view: {i: view.state.phase(i).value for i in view.state.leases}
        )

    def kinds(self) -> list[str]:
        """The kinds of all records, in order."""
        store = self.runner.replica.store
        lines = self.runner.read(lambda view: store.read(0, view.state.size))
        return [parse_record(line.rstrip(b"\n")).kind.value for line in lines]

    def output(self, job: JobRow) -> str:
        """All that the job said so far."""
        found = self.job(job)
        if found.lease_id is None:
            return ""
        return self.executor.read_output(found.lease_id, 0, limit=10**6).data.decode()


def draft_of(*argv: str, **how: Any) -> JobDraft:
    """What is to be run, and on what."""
    return JobDraft(
        tenant=TENANT,
        project=None,
        name=how.pop("name", None),
        tag=None,
        env=how.pop("env", {}),
        cwd=how.pop("cwd", None),
        command=argv,
        **{word: how.pop(word) for word in LATER if word in how},
        request=submit_of(**how),
    )


def submit_of(**how: Any) -> Submit:
    """The request that a job makes."""
    command = decode_command(request_of(**how))
    assert isinstance(command, Submit)
    return command


def request_of(
    *,
    cores: int = 1,
    gpus: int = 0,
    ttl_ms: int = 3_600_000,
    priority: str = "normal",
    wait: bool = True,
    mem_bytes: int = 0,
    **more: Any,
) -> dict[str, Any]:
    """A request as a command is spelled."""
    return {
        "command": "submit",
        "tenant": TENANT,
        "wait": wait,
        "request": {
            "resources": {"cpu_milli": 1000 * cores, "mem_bytes": mem_bytes},
            "gpu_count": gpus,
            "priority": priority,
            "lease_class": "standard",
            "ttl_ms": ttl_ms,
            "labels": [DEFAULT.label],
            **more,
        },
    }


def new_row(house: JobHouse, *, submitted_ms: int | None = None, **how: Any) -> NewJobRow:
    """A job that was written down, and no more."""
    now_ms = SystemClock().now_ms()
    return NewJobRow(
        tenant=TENANT,
        project=None,
        name=None,
        submitter=ANN.name,
        submitter_kind=ANN.kind.value,
        submitter_keys=None,
        correlation_id="c-1",
        key=None,
        digest="d",
        request=request_of(**how),
        command=("true",),
        env={},
        cwd=None,
        tag=None,
        submitted_ms=now_ms if submitted_ms is None else submitted_ms,
        since_seq=house.runner.replica.journal.size,
    )


@contextmanager
def job_house(
    folder: Path,
    *,
    settings: Settings = SETTINGS,
    look: Look = take_census,
    retention: Retention | None = None,
    live_max: int = LIVE_MAX,
    mode: JobMode = JobMode.TRUSTED,
) -> Iterator[JobHouse]:
    """All of it, on a folder that may hold what an earlier one left; ends with no job running."""
    clock = SystemClock()
    runner = Runner(Replica(open_fresh(folder / "data"), clock, name="one"), wait_s=WAIT_S)
    runner.start()
    try:
        assert runner.wait_for(ReplicaRole.LEADING, wait_s=WAIT_S)
        book = JobBook(runner.replica.store)
        jobs = Jobs(book, runner, clock=clock, node=NODE, live_max=live_max)
        apart = Apart(mode=mode)
        executor = LocalExecutor(folder / "jobs", waits=PATIENT, look=look, apart=apart)
        said: list[str] = []
        authority = Authority.from_pem(KEY)
        tools = JobTools(
            jobs=jobs,
            runner=runner,
            executor=executor,
            authority=authority,
            clock=clock,
            server="http://127.0.0.1:1",
            say=said.append,
        )
        house = JobHouse(
            *(runner, jobs, executor, JobLoop(tools, retention=retention), authority),
            *(HeldLoop(jobs, runner, clock=clock, say=said.append), said),
        )
        _furnish(house, settings)
        try:
            yield house
        finally:
            house.loop.close()
            for found in executor.adopt():
                LocalExecutor(folder / "jobs", waits=PATIENT).tear_down(found.lease_id)
    finally:
        runner.stop()


def _furnish(house: JobHouse, settings: Settings) -> None:
    if house.runner.read(lambda view: NODE in view.state.ledger):
        return
    house.do(ChangeSettings(settings))
    house.do(iam.CreateTenant(TENANT))
    house.do(iam.SetMember("ann", Role.TENANT_ADMIN, TENANT, None))
    gpus = (GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * 2**30, "H100"),) * 2
    labels = {EXECUTOR_LABEL: DEFAULT.name}
    capacity = NodeCapacity(cpu_cores=4, mem_bytes=2**40, gpus=gpus, labels=labels)
    house.do(RegisterNode(NODE, capacity))


def _be_killed(folder: Path) -> None:
    with job_house(folder) as house:
        house.shell("echo begun; until [ -e go ]; do sleep 0.05; done; echo done; exit 42")
        house.shell("exec sleep 1000")
        house.shell("exit 9")
        thread = threading.Thread(target=house.loop.run, args=(threading.Event(),), daemon=True)
        thread.start()
        until(lambda: len(house.executor.adopt()) == 3, "all three are started")
        print("started", flush=True)
        signal.pause()


def submit_many(house: JobHouse, mark: Path) -> list[JobRow]:
    """So many jobs under keys of their own, each of which leaves one line when it runs."""
    text = 'echo "$1" >> "$0"'
    return [
        house.submit("/bin/sh", "-c", text, str(mark), str(n), key=f"k{n}").job for n in range(MANY)
    ]


def _be_killed_busy(folder: Path) -> None:
    with job_house(folder) as house:
        thread = threading.Thread(target=house.loop.run, args=(threading.Event(),), daemon=True)
        thread.start()
        print("started", flush=True)
        submit_many(house, folder / "mark")
        signal.pause()


if __name__ == "__main__":
    (_be_killed_busy if "many" in sys.argv else _be_killed)(Path(sys.argv[1]))
