"""Ending a job, and finding out whether anything of it still lives.

Rules:

- Only a process that is provably the job's is ever signalled. While the supervisor lives, those
  are its descendants. Without it: the session of the job's own process if that is still the same
  process; and, if that has ended, members of its session that carry the lease's mark.
- What may be the job's but cannot be proven is left alone, and the teardown is not clean.
- First SIGTERM to all, once to each, those among them that appear during a bounded wait; then
  SIGKILL, again and again for a bounded time, since a job may start processes faster than one
  look can see.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from bailiwick.executors.local.launch import is_locked
from bailiwick.executors.local.limits_v1 import JobCgroup
from bailiwick.executors.local.proc import (
    Process,
    carries,
    descendants,
    is_same,
    load_boot_id,
    load_processes,
    send,
)
from bailiwick.executors.local.state import JobState, load_exit

_LOOK_EVERY_S = 0.02
_DOUBT_S = 0.5


@dataclass(frozen=True, slots=True)
class TeardownWaits:
    """How long each step may take, in seconds."""

    start_s: float = 10.0
    term_s: float = 5.0
    kill_s: float = 5.0


@dataclass(frozen=True, slots=True)
class Census:
    """What lives: provably the job's, and what may be."""

    ours: tuple[Process, ...]
    unproven: tuple[Process, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the job lives, as far as can be known."""
        return not self.ours and not self.unproven


@dataclass(frozen=True, slots=True)
class Sight:
    """What is known of a job beyond its state file."""

    state: JobState
    mark: bytes
    is_supervised: bool
    has_exited: bool


Look: TypeAlias = Callable[[Sight], Census]


def take_census(sight: Sight) -> Census:
    """All that lives of a job now."""
    state = sight.state
    job, supervisor = state.job, state.supervisor
    if job is None or supervisor is None or state.boot_id != load_boot_id():
        return Census(())
    processes = load_processes()
    leader = processes.get(job.pid)
    is_leader = leader is not None and leader.start_ticks == job.start_ticks
    alive = {pid: process for pid, process in processes.items() if process.is_alive}
    if sight.is_supervised:
        if not is_same(supervisor.pid, supervisor.start_ticks):
            return Census((), _unknown(alive, supervisor.pid))
        below = [p for p in descendants(processes, supervisor.pid) if p.is_alive]
        if is_leader or sight.has_exited:
            return Census(tuple(below))
        # The file names another process than the one that was started: it proves nothing.
        return Census((), tuple(below))
    marked = {pid for pid in alive if carries(pid, sight.mark)}
    session = {process.pid for process in alive.values() if process.session == job.pid}
    if is_leader:
        ours, doubtful = session, marked - session
    elif leader is None:
        ours, doubtful = session & marked, session ^ marked
    else:
        ours, doubtful = set(), marked
    return Census(tuple(alive[pid] for pid in ours), tuple(alive[pid] for pid in doubtful))


def find_bearers(mark: bytes) -> tuple[Process, ...]:
    """All that lives and carries a lease's mark."""
    alive = (process for process in load_processes().values() if process.is_alive)
    return tuple(process for process in alive if carries(process.pid, mark))


def end_job(look: Callable[[], Census], cgroup: JobCgroup | None, *, waits: TeardownWaits) -> bool:
    """Have all of it end; whether nothing is left."""
    asked = set[tuple[int, int]]()

    def ask() -> bool:
        """Ask all that were not asked yet: one may have been forked after the look before."""
        census = look()
        late = [who for who in census.ours if (who.pid, who.start_ticks) not in asked]
        send(late, signal.SIGTERM)
        send(late, signal.SIGCONT)  # one that was stopped hears SIGTERM only now
        asked.update((who.pid, who.start_ticks) for who in late)
        return _is_over(look if late else lambda: census, cgroup)

    if ask() or (asked and wait_until(ask, wait_s=waits.term_s)):
        return True
    until = time.monotonic() + waits.kill_s
    while time.monotonic() < until:
        if cgroup is not None and cgroup.is_populated():
            cgroup.kill()
        census = look()
        send(census.ours, signal.SIGKILL)
        if not census.ours:  # what is left cannot be ended by us: one more moment, in case it ends
            until = min(until, time.monotonic() + _DOUBT_S)
        if _is_over(look, cgroup):
            return True
        time.sleep(_LOOK_EVERY_S)
    return _is_over(look, cgroup)


def has_left(folder: Path, cgroup: JobCgroup | None) -> bool:
    """Whether the supervisor left after the last of its job did, as it says itself.

    That is enough where a job cannot write its supervisor's files.
    """
    if is_locked(folder) or (cgroup is not None and cgroup.is_populated()):
        return False
    ended = load_exit(folder)
    return ended is not None and ended.is_emptied


def wait_until(is_so: Callable[[], bool], *, wait_s: float) -> bool:
    """Whether something comes true in time; asked at least once."""
    until = time.monotonic() + wait_s
    while not is_so():
        if time.monotonic() >= until:
            return False
        time.sleep(_LOOK_EVERY_S)
    return True


def _is_over(look: Callable[[], Census], cgroup: JobCgroup | None) -> bool:
    # Unproven ones do not end by waiting: they are seen by the last look of all.
    return look().is_empty and (cgroup is None or not cgroup.is_populated())


def _unknown(alive: dict[int, Process], pid: int) -> tuple[Process, ...]:
    """Somebody holds the job's lock and is not who the file names."""
    found = alive.get(pid)
    return (found or Process(pid, 0, 0, "?", 0, 0),)
