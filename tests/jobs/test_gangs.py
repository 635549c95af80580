"""Gangs that run for real on one machine: all at once, told of one another, ended together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bailiwick.executors.port import JobSpec, JobStarted, Running
from bailiwick.executors.registry import DEFAULT
from bailiwick.fleet.node import EXECUTOR_LABEL, GpuDevice, NodeCapacity
from bailiwick.kernel import DepartNode, Evict, RegisterNode, Release
from bailiwick.ports import JobFilter, JobRow
from bailiwick.reconcile.jobs import JobLoop, Retention
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.graphs import FailureCategory
from bailiwick.vocab.job_arrays import parse_array
from bailiwick.vocab.job_members import MemberRow
from bailiwick.vocab.jobs import JobPhase as P
from bailiwick.vocab.words import HardwareGeneration, PreemptionReason
from tests.jobs.house import JobHouse, job_house
from tests.support.waiting import until

WAITS = "touch up; exec sleep 1000"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[JobHouse]:
    with job_house(tmp_path) as found:
        yield found


def members(house: JobHouse, job: JobRow) -> list[MemberRow]:
    return house.jobs.members_of(house.job(job))


def said(house: JobHouse, row: MemberRow) -> str:
    return house.executor.read_output(row.lease_id, 0, limit=10**6).data.decode()


def gang(house: JobHouse, text: str, *, size: int = 2) -> JobRow:
    return house.shell(text, gang_size=size)


def nothing_runs(house: JobHouse) -> None:
    house.quiet()
    assert house.leases() == {}


def test_each_member_is_told_who_it_is_and_where_they_meet(house: JobHouse) -> None:
    names = "$RANK/$WORLD_SIZE $NODE_RANK/$NNODES $MASTER_ADDR:$MASTER_PORT $LOCAL_RANK"
    more = "$PET_NNODES $PET_NODE_RANK $JAX_COORDINATOR_ADDRESS $GANG_HOSTS"
    job = gang(house, f"echo {names}; echo {more}", size=3)
    done = house.until(job, P.SUCCEEDED)
    assert done.exit_code == 0
    rows = members(house, job)
    assert [row.rank for row in rows] == [0, 1, 2]
    port = 20_000 + rows[0].lease_id
    for row in rows:
        first, second = said(house, row).splitlines()
        assert first == f"{row.rank}/3 {row.rank}/3 127.0.0.1:{port} 0"
        assert second == f"3 {row.rank} 127.0.0.1:{port} 127.0.0.1,127.0.0.1,127.0.0.1"
        assert row.exit_code == 0
    nothing_runs(house)


def test_one_that_fails_ends_all_with_its_exit_code(house: JobHouse) -> None:
    job = gang(house, f'[ "$RANK" = 1 ] && exit 7; {WAITS}')
    done = house.until(job, P.FAILED)
    assert (done.exit_code, done.signal, done.reason) == (7, None, None)
    first, second = members(house, job)
    assert second.exit_code == 7
    assert first.ended_ms is not None
    nothing_runs(house)


def test_one_that_cannot_be_run_leaves_none_running(house: JobHouse) -> None:
    job = house.submit("/no/such/program", gang_size=2).job
    done = house.until(job, P.FAILED)
    assert done.reason == "program_not_runnable"
    nothing_runs(house)


def test_one_that_has_ended_with_0_waits_for_the_others(house: JobHouse, tmp_path: Path) -> None:
    job = gang(house, f'[ "$RANK" = 0 ] && exit 0; until [ -e {tmp_path}/go ]; do sleep 0.05; done')
    house.until(job, P.RUNNING)
    for _ in range(5):
        house.loop.once()
    assert house.job(job).phase is P.RUNNING
    assert len(house.leases()) == 2
    (tmp_path / "go").touch()
    house.until(job, P.SUCCEEDED)
    nothing_runs(house)


def test_a_gang_is_cancelled_whole(house: JobHouse) -> None:
    job = gang(house, WAITS)
    house.until(job, P.RUNNING)
    house.jobs.cancel(job.job_id, actor="ann", correlation_id="c")
    house.until(job, P.CANCELLED)
    nothing_runs(house)


def test_to_give_back_one_lease_ends_them_all(house: JobHouse) -> None:
    job = gang(house, WAITS)
    house.until(job, P.RUNNING)
    house.do(Release(members(house, job)[1].lease_id))
    house.until(job, P.CANCELLED)
    nothing_runs(house)


def test_a_gang_is_preempted_whole_with_the_reason(house: JobHouse) -> None:
    job = gang(house, WAITS)
    house.until(job, P.RUNNING)
    second = members(house, job)[1]
    house.do(Evict((second.lease_id,), PreemptionReason.OPERATOR_DRAIN, grace_ms=0))
    done = house.until(job, P.PREEMPTED)
    assert done.reason == "operator_drain"
    nothing_runs(house)


def test_a_gang_that_waited_learns_all_its_leases(house: JobHouse) -> None:
    first = gang(house, WAITS, size=4)
    waits = gang(house, "echo $RANK", size=2)
    assert waits.phase is P.WAITING
    house.until(first, P.RUNNING)
    house.jobs.cancel(first.job_id, actor="ann", correlation_id="c")
    house.until(waits, P.SUCCEEDED)
    assert [said(house, row) for row in members(house, waits)] == ["0\n", "1\n"]


def test_a_gang_whose_end_was_begun_ends_as_it_began_to_after_a_restart(tmp_path: Path) -> None:
    with job_house(tmp_path) as house:
        job = gang(house, f'[ "$RANK" = 1 ] && exit 7; {WAITS}')
        house.until(job, P.ENDING, P.FAILED)
    with job_house(tmp_path) as house:
        done = house.until(job, P.FAILED)
        assert done.exit_code == 7
        nothing_runs(house)


def test_what_is_kept_of_all_members_is_forgotten_together(tmp_path: Path) -> None:
    with job_house(tmp_path, retention=Retention(jobs_max=0)) as house:
        job = gang(house, "true")
        house.until(job, P.SUCCEEDED)
        nothing_runs(house)
        house.loop.forget_soon()
        house.rounds(lambda: house.job(job).is_forgotten or None, "it is forgotten")
        assert house.executor.leases() == ()


# -- tried again, arrays, lost nodes ---------------------------------------------------------


def test_all_members_are_told_the_same_attempt(house: JobHouse) -> None:
    text = 'echo "$BAILIWICK_ATTEMPT"; [ "$BAILIWICK_ATTEMPT" = 2 ] || exit 7'
    job = house.shell(text, gang_size=3, retries=1, retry_on=(FailureCategory.EXIT_CODE,))
    done = house.until(job, P.SUCCEEDED)
    assert done.attempt == 2
    assert [said(house, row) for row in members(house, job)] == ["2\n"] * 3
    (before,) = house.jobs.book.held.attempts([job.job_id])[job.job_id]
    assert (before.attempt, before.phase, before.exit_code) == (1, P.FAILED, 7)
    nothing_runs(house)
    assert house.kinds().count("admission_approved") == 2, "one retry, for all of them"


def test_each_task_of_an_array_is_a_gang_of_its_own(house: JobHouse) -> None:
    text = 'echo "$BAILIWICK_ARRAY_INDEX/$RANK of $WORLD_SIZE"'
    head = house.shell(text, gang_size=2, array=parse_array("3-4"))
    house.quiet()
    tasks = house.jobs.book.page(None, which=JobFilter(array_id=head.array_id), limit=10)
    told = {said(house, row) for task in tasks for row in members(house, task)}
    assert told == {f"{index}/{rank} of 2\n" for index in (3, 4) for rank in (0, 1)}
    nothing_runs(house)


def test_a_gang_that_loses_a_node_ends_everywhere_and_is_tried_again_once(
    house: JobHouse, tmp_path: Path
) -> None:
    """What it holds on the node that stays is nobody's until its process was proven gone."""
    has_gpu = GpuDevice(HardwareGeneration.NVIDIA_HOPPER, 80 * 2**30, "H100")
    labels = {EXECUTOR_LABEL: DEFAULT.name}
    there = NodeCapacity(cpu_cores=4, mem_bytes=2**40, gpus=(has_gpu,), labels=labels)
    house.do(RegisterNode("there", there))
    wide = replace(house.loop.tools, remote=lambda node: house.executor)
    loop = JobLoop(replace(wide, elsewhere=frozenset((DEFAULT.name,))))
    house.loop = loop
    lock = tmp_path / "gpu"
    text = f'exec 9>>{lock}-$RANK; flock -n 9 || exit 9; echo "$BAILIWICK_ATTEMPT"; {WAITS}'
    job = house.shell(text, gang_size=3, gpus=1, retries=3)
    house.until(job, P.RUNNING)
    first = members(house, job)
    assert {row.node for row in first} == {"here", "there"}
    house.do(DepartNode("there", None))
    here = [row.lease_id for row in first if row.node == "here"]
    states = house.leases()
    assert {states[i] for i in here} == {"expired"}, "they wait for their teardown"
    house.do(RegisterNode("there", there))
    again = house.rounds(lambda: _second_attempt(house, job), "it runs again")
    assert again.attempt == 2
    (before,) = house.jobs.book.held.attempts([job.job_id])[job.job_id]
    assert (before.phase, before.reason) == (P.LOST, "lease_gone")
    assert {said(house, row) for row in members(house, job)} == {"2\n"}, "none met one of before"
    house.jobs.cancel(job.job_id, actor="ann", correlation_id="c")
    house.until(job, P.CANCELLED)
    nothing_runs(house)


def _second_attempt(house: JobHouse, job: JobRow) -> JobRow | None:
    found = house.job(job)
    assert not found.phase.is_over, found
    return found if found.attempt == 2 and found.phase is P.RUNNING else None


def test_one_member_that_cannot_start_leaves_nobody_running(
    house: JobHouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first runs already when it is known that the second cannot."""
    real = house.executor.start

    def start(spec: JobSpec) -> JobStarted:
        if spec.env["RANK"] == "1":
            until(house.executor.leases, "the first is begun")
            raise InvalidValue("cwd", "nowhere", "a directory that exists")
        return real(spec)

    monkeypatch.setattr(house.executor, "start", start)
    job = gang(house, WAITS)
    done = house.until(job, P.FAILED)
    assert done.reason == "directory_not_usable"
    nothing_runs(house)
    assert not [found for found in house.executor.adopt() if isinstance(found.status, Running)]
