"""What every executor keeps of the port's promises, as checks that any of them can be put to.

Rules:

- A check knows the port and nothing else: no folder, no process of the executor's own.
- An executor that orders a start and one that does it at once are asked the same: what became of a
  job is told by its status.
- Every wait is for a fact.
"""

from __future__ import annotations

import contextlib
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from bailiwick.executors.port import (
    Executor,
    Exited,
    JobSpec,
    Running,
    Unstarted,
    fault_of,
)
from bailiwick.vocab.errors import Conflict, InvalidValue, NotFound
from bailiwick.vocab.jobs import JobFault
from tests.support.waiting import until

FOR_EVER = "while :; do sleep 0.05; done"


@dataclass
class Rig:
    """An executor to be put to the checks, and how it comes back after its own death."""

    executor: Executor
    reopen: Callable[[], Executor]
    devices: str = "2,0"
    """What a job with the devices 2 and 0 is told, a pattern: a cluster hands them out itself."""
    keeps_times: bool = True
    """Whether it can say what was printed when."""


def shell(lease_id: int, text: str, **more: Any) -> JobSpec:
    """A job whose user gave a shell."""
    return JobSpec(lease_id, argv=("/bin/sh", "-c", text), token="secret-token", **more)


def runs(executor: Executor, lease_id: int) -> Running:
    """The job's status, once it runs."""

    def look() -> Running | None:
        found = executor.status(lease_id)
        return found if isinstance(found, Running) else None

    return until(look, f"the job of lease {lease_id} runs")


def ended(executor: Executor, lease_id: int) -> Exited:
    """How the job ended, with all it had started."""

    def look() -> Exited | None:
        found = executor.status(lease_id)
        return found if isinstance(found, Exited) and found.is_emptied else None

    return until(look, f"the job of lease {lease_id} is over with all it started")


def said(executor: Executor, lease_id: int, word: str) -> str:
    """All the job said, once this word is in it."""

    def look() -> str | None:
        text = executor.read_output(lease_id, 0, limit=10**6).data.decode()
        return text if word in text else None

    return until(look, f"the job of lease {lease_id} says {word!r}")


def check_run(rig: Rig) -> None:
    """A job runs, what it says is kept in order, and its exit code is told."""
    rig.executor.start(shell(1, "echo one; echo two >&2; echo three; exit 3"))
    status = ended(rig.executor, 1)
    assert (status.code, status.signal) == (3, None)
    assert said(rig.executor, 1, "three") == "one\ntwo\nthree\n"


def check_signal(rig: Rig) -> None:
    """A job that a signal ended tells which."""
    rig.executor.start(shell(1, "kill -KILL $$"))
    status = ended(rig.executor, 1)
    assert (status.code, status.signal) == (None, 9)


def check_once(rig: Rig) -> None:
    """A second start of a lease is a conflict, while it runs and when it is over."""
    rig.executor.start(shell(1, FOR_EVER))
    with pytest.raises(Conflict):
        rig.executor.start(shell(1, "echo again"))
    runs(rig.executor, 1)
    assert rig.executor.tear_down(1)
    with pytest.raises(Conflict):
        rig.executor.start(shell(1, "echo again"))


def check_environment(rig: Rig) -> None:
    """A job sees its lease, its devices and what its user gave, and nothing of ours."""
    text = 'echo "$BAILIWICK_LEASE_ID $MINE [$CUDA_VISIBLE_DEVICES] [$SECRET_OF_THE_SERVER]"'
    rig.executor.start(shell(5, text, env={"MINE": "yes"}, device_indices=(2, 0)))
    ended(rig.executor, 5)
    told = said(rig.executor, 5, "\n")
    assert re.fullmatch(rf"5 yes \[{rig.devices}\] \[\]\n", told), told


def check_warning(rig: Rig) -> None:
    """A warning appears to the job and stands until it is called off."""
    look = 'f=$BAILIWICK_PREEMPTION_FILE; until [ -e "$f" ]; do sleep 0.05; done; echo warned; '
    back = 'while [ -e "$f" ]; do sleep 0.05; done; echo stays; '
    rig.executor.start(shell(1, look + back + FOR_EVER))
    assert not runs(rig.executor, 1).is_warned
    rig.executor.warn(1, 10**13)
    said(rig.executor, 1, "warned")
    until(lambda: runs(rig.executor, 1).is_warned, "the warning is told")
    rig.executor.call_off(1)
    said(rig.executor, 1, "stays")
    until(lambda: not runs(rig.executor, 1).is_warned, "the warning is told no more")


def check_teardown(rig: Rig) -> None:
    """A teardown ends the job and what it started, may be asked again, and is told."""
    rig.executor.start(shell(1, f"(trap '' TERM; {FOR_EVER}) & echo up; {FOR_EVER}"))
    said(rig.executor, 1, "up")
    assert rig.executor.tear_down(1)
    status = ended(rig.executor, 1)
    assert status.signal is not None or status.code != 0
    assert rig.executor.tear_down(1)


def check_unknown(rig: Rig) -> None:
    """Of a lease without a job nothing is told."""
    executor = rig.executor
    for ask in (executor.status, executor.tear_down, executor.forget, executor.call_off):
        with pytest.raises(NotFound):
            ask(99)
    with pytest.raises(NotFound):
        executor.read_output(99, 0)
    assert executor.leases() == ()


def check_adoption(rig: Rig) -> None:
    """Its own death ends nothing: the next finds what runs and what ended."""
    rig.executor.start(shell(1, "echo begun; " + FOR_EVER))
    rig.executor.start(shell(2, "exit 4"))
    said(rig.executor, 1, "begun")
    ended(rig.executor, 2)
    again = rig.reopen()
    found = {each.lease_id: each.status for each in again.adopt()}
    assert isinstance(found[1], Running)
    assert ended(again, 2).code == 4
    assert said(again, 1, "begun") == "begun\n"
    assert again.tear_down(1)


def check_forgetting(rig: Rig) -> None:
    """What runs is not forgotten; of what is over and forgotten nothing is left."""
    executor = rig.executor
    executor.start(shell(1, FOR_EVER))
    runs(executor, 1)
    with pytest.raises(Conflict):
        executor.forget(1)
    assert executor.tear_down(1)
    assert executor.leases() == (1,)
    executor.forget(1)
    assert executor.leases() == ()
    with pytest.raises(NotFound):
        executor.status(1)


def check_refusal(rig: Rig) -> None:
    """What cannot be run is told with its word, and nothing of it is left."""
    spec = JobSpec(1, argv=("/no/such/program",), token="t")
    assert refusal(rig.executor, spec) is JobFault.PROGRAM_NOT_RUNNABLE
    with contextlib.suppress(NotFound):  # it may be as if it had never been
        assert rig.executor.tear_down(1)


def refusal(executor: Executor, spec: JobSpec) -> JobFault:
    """The word with which a start is refused, at once or once somebody has tried."""
    try:
        executor.start(spec)
    except InvalidValue as error:
        return fault_of(error)

    def look() -> Unstarted | None:
        found = executor.status(spec.lease_id)
        return found if isinstance(found, Unstarted) else None

    return until(look, "the start is refused").fault


def check_output(rig: Rig) -> None:
    """Output is read by offset, also while the job runs."""
    rig.executor.start(shell(1, "echo first; " + FOR_EVER))
    said(rig.executor, 1, "first\n")
    part = rig.executor.read_output(1, 0, limit=3)
    assert (part.data, part.next_offset) == (b"fir", 3)
    part = rig.executor.read_output(1, part.next_offset)
    assert (part.data, part.next_offset, part.is_truncated) == (b"st\n", 6, False)
    assert rig.executor.read_output(1, 6).data == b""


def check_since(rig: Rig) -> None:
    """What was printed since a time is told alone, or it is said that nobody knows."""
    waits = 'until [ -e "$BAILIWICK_PREEMPTION_FILE" ]; do sleep 0.05; done'
    text = f"echo one; {waits}; echo two; {FOR_EVER}"
    rig.executor.start(shell(1, text))
    said(rig.executor, 1, "one")
    time.sleep(1.1)  # times are told to the second
    at_ms = time.time_ns() // 1_000_000
    rig.executor.warn(1, at_ms + 3_600_000)
    said(rig.executor, 1, "two")
    if rig.keeps_times:
        part = rig.executor.read_output(1, 0, since_ms=at_ms)
        assert (part.data, part.next_offset) == (b"two\n", 8)
        assert rig.executor.read_output(1, 6, since_ms=at_ms).data == b"o\n"
        assert rig.executor.read_output(1, 0, since_ms=1).data == b"one\ntwo\n"
        late = rig.executor.read_output(1, 0, since_ms=at_ms + 86_400_000)
        assert (late.data, late.next_offset) == (b"", 8)
    else:
        with pytest.raises(Conflict):
            rig.executor.read_output(1, 0, since_ms=at_ms)
    assert rig.executor.tear_down(1)


def check_truncation(rig: Rig) -> None:
    """Output past the bound is dropped; the job goes on and the reader is told."""
    text = "import sys; sys.stdout.write('x' * 300_000); sys.stdout.flush(); sys.exit(7)"
    argv = (sys.executable, "-I", "-S", "-c", text)
    rig.executor.start(JobSpec(1, argv=argv, token="t", output_bytes_max=1000))
    assert ended(rig.executor, 1).code == 7
    until(lambda: rig.executor.read_output(1, 0).is_truncated, "it is told that more was said")
    assert rig.executor.read_output(1, 0, limit=10**6).data == b"x" * 1000


CHECKS: tuple[Callable[[Rig], None], ...] = (
    check_run,
    check_signal,
    check_once,
    check_environment,
    check_warning,
    check_teardown,
    check_unknown,
    check_adoption,
    check_forgetting,
    check_refusal,
    check_output,
    check_since,
    check_truncation,
)
