"""What a server counts for its own jobs: real processes, while they run and after their end."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bailiwick.agent.machine.accounting import NvmlAccounting
from bailiwick.executors.local.executor import LocalExecutor
from bailiwick.executors.local.launch import is_locked
from bailiwick.executors.local.state import load_counts, load_state, parse_counts
from bailiwick.executors.port import Executor, UsedInAll
from bailiwick.metering.counters import Counter, GpuCount
from bailiwick.reconcile.counting import TELL_MS, JobCounting
from bailiwick.runtime.runner import SystemClock
from bailiwick.store.counter_rows import CounterBook
from bailiwick.vocab.errors import Damaged
from tests.executors.jobs import ended, python
from tests.support.fresh_store import open_fresh
from tests.support.simulated_nvml import SimulatedGpu, SimulatedNvml
from tests.support.waiting import until

BURN = "import time\nwhile time.process_time() < 0.4: pass\n"
FAMILY = f"import os\nfor _ in range(2):\n  if not os.fork():\n    break\n{BURN}"
"""Three that burn; nobody waits for two of them but the supervisor."""
WAIT = "import time\ntime.sleep(1000)\n"


class Clock(SystemClock):
    """This machine's, moved ahead by hand."""

    ahead_ms = 0
    held_ms: int | None = None

    def now_ms(self) -> int:
        now_ms = super().now_ms() if self.held_ms is None else self.held_ms
        return now_ms + self.ahead_ms


class Desk:
    """A book, and what counts into it."""

    def __init__(self, folder: Path, executor: Executor) -> None:
        self.executor, self.clock, self.said = executor, Clock(), list[str]()
        self.store = open_fresh(folder / "data")
        self.book = CounterBook(self.store)
        self.counting = self.again()

    def again(self, *gpus: SimulatedGpu) -> JobCounting:
        """As a new life of the server would begin."""
        self.clock.ahead_ms += 1
        self.counting = JobCounting(
            self.book,
            "n",
            self.executor,
            clock=self.clock,
            say=self.said.append,
            accounting=NvmlAccounting(SimulatedNvml(*gpus)),
        )
        return self.counting

    def of(self, lease_id: int) -> Counter | None:
        rows = self.book.of_lease(lease_id)
        return rows[0].counter if rows else None

    def until(self, ask: Callable[[], Any], what: str) -> Any:
        """Look, and tell everything at once, until something is so."""

        def look() -> Any:
            self.clock.ahead_ms += TELL_MS
            self.counting.once()
            return ask()

        return until(look, what)


@pytest.fixture
def desk(tmp_path: Path, executor: LocalExecutor) -> Any:
    made = Desk(tmp_path, executor)
    yield made
    made.store.close()


def test_a_job_that_is_over_is_counted_whole_with_all_it_started(
    executor: LocalExecutor, desk: Desk
) -> None:
    before_ms = desk.clock.now_ms()
    executor.start(python(7, FAMILY))
    ended(executor, 7)
    assert desk.counting.once() == 1
    found = desk.of(7)
    assert found is not None
    assert found.cpu_ms is not None
    assert 1_150 <= found.cpu_ms <= 60_000
    assert found.to_ms == found.at_ms
    assert before_ms - 1_000 <= found.from_ms <= found.at_ms <= desk.clock.now_ms() + 1_000
    assert desk.counting.once() == 0  # once in a life is enough
    assert desk.again().once() == 1
    assert desk.of(7) == found
    assert desk.said == []


def test_a_job_is_told_of_while_it_runs_and_its_children_count_before_anybody_waited(
    executor: LocalExecutor, desk: Desk
) -> None:
    executor.start(python(7, FAMILY + "kept = b'x' * (32 << 20)\n" + WAIT))

    def is_burnt() -> bool:
        counter = desk.of(7)
        return counter is not None and (counter.cpu_ms or 0) >= 1_100

    desk.until(is_burnt, "all three have burnt")
    found = desk.until(
        lambda: c if (c := desk.of(7)) and (c.mem_peak_bytes or 0) > 0 else None,
        "memory is counted",
    )
    assert found.to_ms is None
    kept = 3 * (32 << 20)
    desk.until(lambda: (c := desk.of(7)) and (c.mem_peak_bytes or 0) >= kept, "all of it is")
    executor.tear_down(7)
    over = desk.until(lambda: c if (c := desk.of(7)) and c.to_ms is not None else None, "the end")
    assert over.mem_peak_bytes >= 3 * (32 << 20)  # the last look saw nothing of it any more
    assert over.cpu_ms >= found.cpu_ms


def test_a_running_job_is_told_of_now_and_then_not_at_every_look(
    executor: LocalExecutor, desk: Desk
) -> None:
    executor.start(python(7, WAIT))
    desk.clock.held_ms = desk.clock.now_ms()
    kept = [desk.counting.once() for _ in range(3)]
    assert kept == [1, 0, 0]
    desk.clock.ahead_ms += TELL_MS
    assert desk.counting.once() == 1


def test_gpu_time_is_counted_by_process_and_stays_after_its_end(
    executor: LocalExecutor, desk: Desk
) -> None:
    started = executor.start(python(7, WAIT))
    began_ms = desk.clock.now_ms()
    row = {"startTime": began_ms * 1000, "time": 0, "gpuUtilization": 50, "isRunning": 1}
    gpu = SimulatedGpu(accounting_mode=1, accounted={started.pid: row})
    desk.again(gpu)
    desk.clock.ahead_ms += 2_000
    desk.counting.once()
    found = desk.of(7)
    assert found is not None
    assert found.gpus[0].index == 0
    assert found.gpus[0].active_ms >= 2_000
    gpu.accounted[started.pid] = row | {"time": 5_000, "isRunning": 0}
    executor.tear_down(7)
    over = desk.until(lambda: c if (c := desk.of(7)) and c.to_ms is not None else None, "the end")
    assert over.gpus == (GpuCount(0, 5_000, 2_500, over.gpus[0].until_ms),)


def test_a_killed_supervisor_leaves_what_was_told_before(
    executor: LocalExecutor, desk: Desk, root: Path
) -> None:
    executor.start(python(7, BURN + WAIT))
    desk.until(lambda: (c := desk.of(7)) and (c.cpu_ms or 0) >= 350, "it has burnt")
    state = load_state(root / "7")
    assert state is not None
    assert state.supervisor is not None
    os.kill(state.supervisor.pid, signal.SIGKILL)
    until(lambda: not is_locked(root / "7"), "the supervisor is gone")
    before = desk.of(7)
    desk.clock.ahead_ms += TELL_MS
    assert desk.counting.once() == 0
    assert desk.of(7) == before
    executor.tear_down(7)


def test_what_cannot_be_read_of_one_job_is_said_and_the_others_are_counted(
    executor: LocalExecutor, desk: Desk, root: Path
) -> None:
    executor.start(python(7, "pass"))
    executor.start(python(8, "pass"))
    ended(executor, 7)
    ended(executor, 8)
    (root / "7" / "exit.json").write_bytes(b"no JSON")
    (root / "9").mkdir()
    (root / "9" / "exit.json").write_text(json.dumps(EXIT | COUNTS | {"cpu_ms": 2**60}))
    assert desk.counting.once() == 1
    assert (desk.of(7), desk.of(8) is None, desk.of(9)) == (None, False, None)
    assert ["lease 7" in desk.said[0], "lease 9" in desk.said[1]] == [True, True]


def test_a_clock_that_was_set_back_begins_a_newer_epoch_and_tells_all_again(
    executor: LocalExecutor, desk: Desk
) -> None:
    executor.start(python(7, "pass"))
    ended(executor, 7)
    desk.counting.once()
    first = desk.book.standing("n").epoch
    desk.clock.ahead_ms -= 10**6
    counting = desk.again()
    assert counting.once() == 0  # it learns that a newer one is known
    assert counting.once() == 1
    assert desk.book.standing("n").epoch == first + 1


def test_an_empty_or_missing_folder_is_nothing_to_count(desk: Desk) -> None:
    assert desk.counting.once() == 0
    assert desk.said == []


# --- the file -----------------------------------------------------------------------------------

EXIT = {"format": 1, "code": 0, "ended_ms": 5, "emptied": True}
COUNTS = {"began_ms": 3, "emptied_ms": 9, "cpu_ms": 4}


def test_counts_are_read_once_all_of_a_job_has_ended(root: Path) -> None:
    read = [
        parse_counts(json.dumps(body).encode())
        for body in (
            EXIT | COUNTS,
            EXIT | COUNTS | {"mem_peak_bytes": 7},
            EXIT | COUNTS | {"emptied": False},
            EXIT,  # as an older supervisor wrote it
        )
    ]
    assert read == [UsedInAll(3, 9, 4, None), UsedInAll(3, 9, 4, 7), None, None]
    assert load_counts(root / "none") is None


@pytest.mark.parametrize(
    "change", [{"cpu_ms": -1}, {"cpu_ms": "4"}, {"began_ms": None}, {"mem_peak_bytes": 1.5}]
)
def test_counts_that_cannot_be_are_damage(change: dict[str, Any]) -> None:
    with pytest.raises(Damaged):
        parse_counts(json.dumps(EXIT | COUNTS | change).encode())


def test_what_a_control_group_tells_is_read_and_nonsense_is_not(tmp_path: Path) -> None:
    from bailiwick.executors.local import cgroups

    (tmp_path / "cpu.stat").write_text("usage_usec 5000999\nuser_usec 1\n")
    (tmp_path / "memory.peak").write_text("4096\n")
    assert cgroups.counts(str(tmp_path)) == {"cpu_ms": 5_000, "mem_peak_bytes": 4_096}
    (tmp_path / "memory.peak").unlink()
    assert cgroups.counts(str(tmp_path)) == {"cpu_ms": 5_000}
    (tmp_path / "cpu.stat").write_text("nonsense\n")
    assert cgroups.counts(str(tmp_path)) == {}, "what the supervisor counts itself stays"
