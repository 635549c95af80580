"""A server that runs jobs is killed again and again: each job runs once and ends as it should.

What judges is not the server: jobs write down themselves that they ran, and the process table
tells whether any is left.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.processes.caller import CallFailed, HttpCaller
from tests.processes.harness import Server, running
from tests.support.waiting import WAIT_S, until

KILLS = int(os.environ.get("BAILIWICK_JOB_KILLS", "8"))
OVER = ("succeeded", "failed", "cancelled", "preempted", "expired", "refused", "lost")
TENANT = {"tenant": "main", "project": "default"}
THREADS = 4


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a job: what it does after its mark, what is done to it, how it ends."""

    does: str
    phase: str
    exit_code: int | None
    ttl_ms: int = 3_600_000
    act: str = ""


FATES = (
    Fate("exit 0", "succeeded", 0),
    Fate("sleep 0.7; exit 3", "failed", 3),
    Fate("sleep 500", "cancelled", None, act="cancel"),
    Fate("sleep 500", "cancelled", None, act="release"),
    Fate("sleep 500", "preempted", None, act="evict"),
    Fate("(sleep 500 &) ; setsid sleep 500 & wait", "preempted", None, act="evict"),
    Fate("sleep 500", "expired", None, ttl_ms=1_500),
)


class Work:
    """Submits jobs, does to each what is its fate, and stops when told; in threads of its own."""

    def __init__(self, server: Server, folder: Path, *, seed: int) -> None:
        self._marks, self._server, self._seed = folder / "marks", server, seed
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(n,)) for n in range(THREADS)]
        self._failed: BaseException | None = None
        self.fates: dict[int, Fate] = {}
        self.numbers: dict[int, int] = {}

    def __enter__(self) -> Work:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(2 * WAIT_S)
            assert not thread.is_alive(), "somebody still waits for an answer"
        if self._failed is not None and raised[0] is None:
            raise self._failed

    def marks(self) -> dict[int, list[str]]:
        """By number, under which leases a job says that it ran."""
        found: dict[int, list[str]] = {}
        for line in self._marks.read_text().splitlines():
            number, lease_id = line.split()
            found.setdefault(int(number), []).append(lease_id)
        return found

    def _run(self, number: int) -> None:
        chance = random.Random(f"{self._seed}-{number}")
        server = self._server
        try:
            with HttpCaller([server.address], server.token) as caller:
                while not self._stop.is_set():
                    self._one(caller, number, chance=chance)
                    number += THREADS
        except BaseException as error:
            self._failed = error

    def _one(self, caller: HttpCaller, number: int, *, chance: random.Random) -> None:
        fate = chance.choice(FATES)
        mark = f"echo {number} $BAILIWICK_LEASE_ID >> {self._marks}"
        body = TENANT | {
            "command": ["/bin/sh", "-c", f"{mark}; {fate.does}"],
            "resources": {"cpu_milli": 50, "mem_bytes": 64 * 2**20},
            "ttl_ms": fate.ttl_ms,
        }
        job = caller.ask("POST", "/v1/jobs", body, key=f"work-{number}")
        job_id = int(job["job_id"])
        self.fates[job_id] = fate
        self.numbers[job_id] = number
        self._stop.wait(chance.choice((0.0, 0.0, 0.3)))
        if fate.act == "cancel":
            caller.ask("DELETE", f"/v1/jobs/{job_id}", key=f"cancel-{job_id}")
        elif fate.act:
            lease, key = f"/v1/leases/{lease_of(caller, job_id)}", f"{fate.act}-{job_id}"
            if fate.act == "release":
                caller.ask("DELETE", lease, key=key)
            else:
                grace = {"grace_ms": chance.choice((0, 200, 1_000))}
                caller.ask("POST", f"{lease}/evict", grace, key=key)


def lease_of(caller: HttpCaller, job_id: int) -> int:
    """The job's lease, as soon as it has one."""
    found: dict[str, Any] = {}

    def has_lease() -> bool:
        found.update(caller.ask("GET", f"/v1/jobs/{job_id}"))
        return found["lease_id"] is not None

    until(has_lease, f"job {job_id} has a lease")
    return int(found["lease_id"])


def test_each_job_runs_once_and_ends_as_it_should(tmp_path: Path) -> None:
    seed = int(os.environ.get("BAILIWICK_SEED", random.randrange(10**6)))
    print(f"seed {seed}: BAILIWICK_SEED={seed} repeats the work")
    chance = random.Random(seed)
    data = tmp_path / "data"
    # Trusted, so that jobs can leave their marks here; what a sandbox keeps is tested with it.
    options = ("--data-dir", str(data), "--trust-jobs")
    server = Server(tmp_path, "alone", *options, is_node=True)
    with no_process_left_behind(tmp_path), running(server):
        server.wait_for_its_node()
        with server.client() as client:
            # On a busy machine it is away for longer than what it ends may take to be gone.
            settings = client.ask("GET", "/v1/settings") | {"teardown_ms": 3_600_000}
            client.ask("PUT", "/v1/settings", settings, key="patient")
        with server.client() as client, Work(server, tmp_path, seed=seed) as work:
            steady = client.ask("POST", "/v1/jobs", steady_job(tmp_path), key="steady")
            for _ in range(KILLS):
                time.sleep(chance.uniform(0.1, 0.9))
                server.kill9()
                time.sleep(chance.choice((0.0, 0.0, 0.5)))
                server.start()
            time.sleep(0.5)
        with server.client() as client:
            jobs = wait_for_all(client, work)
            check_steady(client, int(steady["job_id"]), tmp_path)
            assert client.ask("GET", "/v1/leases")["items"] == []
            assert client.ask("GET", "/v1/queue")["items"] == []
        until(lambda: not processes_of(tmp_path), "no process of a job is left")
        check_fates(jobs, work)
        assert "Traceback" not in server.errors
        assert server.stop() == 0
    verify = (sys.executable, "-m", "bailiwick.cli.main", "journal", "verify", str(data))
    done = subprocess.run(verify, capture_output=True, text=True, check=False, timeout=WAIT_S)
    assert done.returncode == 0, done.stderr
    print(f"{KILLS} kills, {len(jobs)} jobs")


def test_a_stop_lets_whoever_waits_for_output_go_and_the_job_runs_on(tmp_path: Path) -> None:
    options = ("--data-dir", str(tmp_path / "data"), "--trust-jobs")
    server = Server(tmp_path, "alone", *options, is_node=True)
    with no_process_left_behind(tmp_path), running(server):
        server.wait_for_its_node()
        with server.client() as client:
            job = client.ask("POST", "/v1/jobs", steady_job(tmp_path), key="steady")
            job_id = int(job["job_id"])
            until((tmp_path / "steady").exists, "it runs")
        for pause_s in (0.5, 2.0, 8.0, 32.0):  # where it is slow, the question arrives late
            told = stopped_under_a_waiter(server, job_id, pause_s)
            server.start()
            if told is not None:
                break
        assert told is not None, "whoever waited was let go without an answer"
        assert (told["data"], told["is_over"]) == ("", False)
        with server.client() as client:
            check_steady(client, job_id, tmp_path)


def stopped_under_a_waiter(server: Server, job_id: int, pause_s: float) -> dict[str, Any] | None:
    """What somebody is told who waits for output when the server stops; nothing if not heard."""
    told: list[dict[str, Any]] = []

    def wait() -> None:
        with contextlib.suppress(CallFailed), server.client() as client:
            told.append(client.ask_once("GET", f"/v1/jobs/{job_id}/output?wait_s=20"))

    waiter = threading.Thread(target=wait)
    waiter.start()
    time.sleep(pause_s)
    assert server.stop() == 0
    waiter.join(WAIT_S)
    assert "Traceback" not in server.errors
    return told[0] if told else None


def wait_for_all(client: HttpCaller, work: Work) -> dict[int, dict[str, Any]]:
    """Every job of the work, once all are over."""
    jobs: dict[int, dict[str, Any]] = {}

    def are_over() -> bool:
        for job_id in work.fates.keys() - jobs.keys():
            job = client.ask("GET", f"/v1/jobs/{job_id}")
            if job["phase"] in OVER:
                jobs[job_id] = job
        return len(jobs) == len(work.fates)

    try:
        until(are_over, "all jobs are over")
    except AssertionError:
        for job_id in work.fates.keys() - jobs.keys():
            print(client.ask("GET", f"/v1/jobs/{job_id}"))
        raise
    return jobs


def check_fates(jobs: dict[int, dict[str, Any]], work: Work) -> None:
    """Each ran once at most, under its own lease, and ended as it had to."""
    marks = work.marks()
    for job_id, job in jobs.items():
        fate, ran = work.fates[job_id], marks.get(work.numbers[job_id], [])
        assert job["phase"] == fate.phase, (fate, job)
        assert len(ran) <= 1, (ran, job)
        assert ran in ([], [str(job["lease_id"])]), (ran, job)
        if fate.exit_code is not None:
            assert len(ran) == 1, job
            assert (job["exit_code"], job["signal"]) == (fate.exit_code, None), job
        assert fate.phase != "preempted" or job["reason"] == "operator_drain", job
    assert len({job["lease_id"] for job in jobs.values()}) == len(jobs)


def steady_job(folder: Path) -> dict[str, Any]:
    """A job that runs through all of it, and writes down whenever it begins."""
    does = f"echo $$ >> {folder}/steady; exec sleep 500"
    return TENANT | {"command": ["/bin/sh", "-c", does], "resources": {"cpu_milli": 50}}


def check_steady(client: HttpCaller, job_id: int, folder: Path) -> None:
    """It is the process that it was at the beginning; then it is ended."""
    (pid,) = (folder / "steady").read_text().split()
    assert client.ask("GET", f"/v1/jobs/{job_id}")["phase"] == "running"
    assert Path(f"/proc/{pid}").exists()
    client.ask("DELETE", f"/v1/jobs/{job_id}", key="steady-end")

    def is_over() -> bool:
        return str(client.ask("GET", f"/v1/jobs/{job_id}")["phase"]) == "cancelled"

    until(is_over, "it is cancelled")
    until(lambda: client.ask("GET", "/v1/leases")["items"] == [], "its lease is gone")


def processes_of(folder: Path) -> list[int]:
    """Every process that works in the folder or was started by a job of a server there."""
    found, mark = [], os.fsencode(folder) + b"/"
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            told = (path / "cmdline").read_bytes() + (path / "environ").read_bytes()
            is_server = b"bailiwick.cli.main" in told or _only_starts(path, told)
            if mark in told and not is_server and int(path.name) != os.getpid():
                found.append(int(path.name))
    return found


def _only_starts(path: Path, told: bytes) -> bool:
    """Whether it is the server's starter, which lives as long as the server does.

    Supervisors are copies of it and are called like it; but each holds its job's lock.
    """
    if b"/starter.py\0" not in told:
        return False
    held = [os.readlink(fd) for fd in (path / "fd").iterdir()]
    return not any(re.search(r"/jobs/\d+/", name) for name in held)


@contextlib.contextmanager
def no_process_left_behind(folder: Path) -> Iterator[None]:
    """Whatever happened, the jobs of this folder's server are gone afterwards."""
    try:
        yield
    finally:
        for pid in processes_of(folder):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


TASKS, AT_ONCE = 12, 3


def test_held_jobs_go_on_after_a_kill_and_none_runs_twice(tmp_path: Path) -> None:
    """An array with a limit, what comes after it, what never can, and what is tried again."""
    marks = tmp_path / "marks"
    marks.touch()
    options = ("--data-dir", str(tmp_path / "data"), "--trust-jobs")
    server = Server(tmp_path, "alone", *options, is_node=True)
    with no_process_left_behind(tmp_path), running(server):
        server.wait_for_its_node()
        with server.client() as client:
            numbers = submit_held(client, marks)
            for least in (1, 6, TASKS):
                until(lambda n=least: len(told(marks, "ends")) >= n, f"{least} tasks are over")
                server.kill9()
                server.start()
            jobs = {word: over(client, job_id) for word, job_id in numbers.items()}
            tasks = client.ask("GET", f"/v1/jobs?array_id={numbers['array']}")["items"]
            assert client.ask("GET", "/v1/leases")["items"] == []
        until(lambda: not processes_of(tmp_path), "no process of a job is left")
        assert "Traceback" not in server.errors
        assert server.stop() == 0
    assert [job["phase"] for job in tasks] == ["succeeded"] * TASKS
    assert sorted(map(int, told(marks, "begins"))) == [*range(TASKS)]
    assert_at_once(marks.read_text().splitlines())
    words = marks.read_text().split()
    assert (words.count("next"), words.count("never")) == (1, 0)
    assert words.index("next") > max(i for i, word in enumerate(words) if word == "ends")
    assert (jobs["next"]["phase"], jobs["never"]["phase"]) == ("succeeded", "refused")
    assert jobs["never"]["reason"] == "dependency_never_met"
    assert (jobs["again"]["phase"], jobs["again"]["attempt"]) == ("succeeded", 2)
    assert words.count("again") == 2


def submit_held(client: HttpCaller, marks: Path) -> dict[str, int]:
    """The jobs, by what they are called here."""

    def submit(word: str, does: str, **more: Any) -> int:
        asked = TENANT | {"resources": {"cpu_milli": 50, "mem_bytes": 64 * 2**20}} | more
        body = asked | {"command": ["/bin/sh", "-c", does]}
        return int(client.ask("POST", "/v1/jobs", body, key=word)["job_id"])

    task = f"echo begins $BAILIWICK_ARRAY_INDEX >> {marks}; sleep 0.3; "
    task += f"echo ends $BAILIWICK_ARRAY_INDEX >> {marks}"
    array = submit("array", task, array=f"0-{TASKS - 1}%{AT_ONCE}")
    after = [f"job-{array}:ok"]
    again = f"echo again >> {marks}; [ $BAILIWICK_ATTEMPT = 2 ]"
    return {
        "array": array,
        "next": submit("next", f"echo next >> {marks}", after=after),
        "never": submit("never", f"echo never >> {marks}", after=[f"job-{array}:failed"]),
        "again": submit("again", again, after=after, retries=1, retry_on=["exit_code"]),
    }


def told(marks: Path, word: str) -> list[str]:
    """Which tasks have left this word, in order."""
    lines = (line.split() for line in marks.read_text().splitlines())
    return [line[1] for line in lines if line[0] == word]


def assert_at_once(lines: list[str]) -> None:
    """No more tasks have begun at any time than may run at once."""
    run: set[str] = set()
    for line in lines:
        word, _, number = line.partition(" ")
        if word == "begins":
            run.add(number)
        run -= {number} if word == "ends" else set()
        assert len(run) <= AT_ONCE, line


def over(client: HttpCaller, job_id: int) -> dict[str, Any]:
    """The job, once it is over."""
    found: dict[str, Any] = {}

    def is_over() -> bool:
        found.update(client.ask("GET", f"/v1/jobs/{job_id}"))
        return found["phase"] in OVER

    until(is_over, f"job {job_id} is over")
    return found
