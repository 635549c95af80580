"""What has become of a job: judged from its folder and from what the controller says of it.

Rules:

- How a program ended is the script's own word, with its own clock: what the controller charges for
  time in which it was away is not the job's.
- A script tells how its program ended before it is over itself. One that is over without a fault
  and told nothing is lost: after a crash a controller gives numbers away again, and takes the end
  of the job that had one before for the end of the job that has it now.
- A place that the cluster took back (it preempted the job, or put it into its queue again) is told
  as that, whatever the program did when it was ended for it.
- A job that waits for a node which the cluster has closed would wait until its term is over: it is
  told as one whose node is lost. So after a crash a controller closes nodes ("Duplicate jobid").
- What a cluster that does not answer knows is not made up: the last that was seen still holds.

>>> facts = Facts("bw-1", 0, has_begun=True)
>>> judge(facts, QueuedJob(7, "PREEMPTED", "2026-11-16T20:00:01", 0), is_known=True, now_ms=5)
Lost(reason=<LostReason.PLACE_TAKEN: 'place_taken'>)
"""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bailiwick.executors.folder import load
from bailiwick.executors.port import (
    Exited,
    JobStatus,
    Lost,
    LostReason,
    Running,
    Starting,
    Unstarted,
)
from bailiwick.executors.slurm import batch
from bailiwick.executors.slurm.folder import load_kept
from bailiwick.executors.slurm.programs import IS_THERE, IS_WAITING, NODE_LOST, TAKEN, QueuedJob
from bailiwick.vocab.jobs import JobFault

LOST_AFTER_S: Final = 15.0
"""So long a submission may be on its way before one that nobody knows is called lost."""

_CLOSED: Final = "ReqNodeNotAvail"
_OVER_MEMORY, _FAULTLESS = "OUT_OF_MEMORY", "COMPLETED"
_WHOSE_DOING: Final = (signal.SIGTERM, signal.SIGKILL)
"""After one of these the cluster has yet to say whether it was its doing: it had preempted the job,
or its memory was the reason."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a job's folder tells."""

    name: str
    submitted_ms: int
    unstarted: str | None = None
    ended: Exited | None = None
    has_begun: bool = False
    is_warned: bool = False
    was_taken: bool = False
    """Whether it was found to have lost its place before it was ended from here."""


def read_facts(folder: Path) -> Facts:
    """The facts of a folder; ``Damaged`` or ``OSError`` if it does not tell."""
    kept, written = load_kept(folder), load(folder / batch.EXIT)
    return Facts(
        kept.name,
        kept.submitted_ms,
        unstarted=load(folder / batch.UNSTARTED),
        ended=None if written is None else batch.parse_exit(written)[0],
        has_begun=(folder / batch.STARTED).is_dir(),
        is_warned=os.path.lexists(folder / batch.WORK / batch.WARNING),
        was_taken=(folder / batch.TAKEN).exists(),
    )


def judge(
    facts: Facts,
    job: QueuedJob | None,
    *,
    is_known: bool,
    now_ms: int,
    whose: str = "",
    lost_after_s: float = LOST_AFTER_S,
) -> JobStatus:
    """What has become of the job; ``is_known`` says whether the controller answered."""
    if facts.unstarted is not None:
        is_directory = facts.unstarted.strip() == "cwd"
        fault = JobFault.DIRECTORY_NOT_USABLE if is_directory else JobFault.PROGRAM_NOT_RUNNABLE
        return Unstarted(fault)
    if facts.was_taken:
        return Lost(LostReason.PLACE_TAKEN)
    ended, has_succeeded = facts.ended, facts.ended is not None and facts.ended.code == 0
    if job is not None and facts.has_begun and not has_succeeded and _is_taken(job):
        return Lost(LostReason.PLACE_TAKEN)
    is_there = job is not None and not is_over(job)
    if ended is not None and not (is_there and ended.signal in _WHOSE_DOING):
        is_over_memory = job is not None and job.state == _OVER_MEMORY
        is_emptied = is_known and not is_there
        return Exited(ended.code, ended.signal, ended.ended_ms, is_emptied, is_over_memory)
    is_young = 0 <= now_ms - facts.submitted_ms < lost_after_s * 1000
    if job is not None:
        if not (facts.has_begun or is_young) and _is_shut_out(job):
            return Lost(LostReason.NODE_LOST)
        return _told(job, facts, whose=whose, now_ms=now_ms)
    if facts.has_begun:
        lost = Lost(LostReason.SUPERVISOR_GONE)
        return lost if is_known else Running(0, facts.submitted_ms, whose, facts.is_warned)
    return Lost(LostReason.NEVER_STARTED) if is_known and not is_young else Starting()


def is_over(job: QueuedJob) -> bool:
    """Whether the controller will do nothing more for it."""
    return job.state not in IS_THERE and job.state not in IS_WAITING


def _is_taken(job: QueuedJob) -> bool:
    """Whether a job that had begun lost its place: preempted, or in the queue again."""
    if job.state == "FAILED":
        return job.exit_code == batch.SUPERSEDED  # it was run again, and did nothing
    return job.state in TAKEN or job.state in IS_WAITING


def _is_shut_out(job: QueuedJob) -> bool:
    """Whether it waits for a node that takes none."""
    return job.state == "PENDING" and job.reason.startswith(_CLOSED)


def _told(job: QueuedJob, facts: Facts, *, whose: str, now_ms: int) -> JobStatus:
    """By the controller's word."""
    if not is_over(job):
        ticks = int("".join(filter(str.isdecimal, job.submitted)))  # tells jobs of one id apart
        if not facts.has_begun:
            return Starting()
        return Running(job.job_id, ticks, f"slurm-{whose}", facts.is_warned)
    if job.state in NODE_LOST:
        return Lost(LostReason.NODE_LOST)
    if not facts.has_begun:
        return Lost(LostReason.NEVER_STARTED)
    if job.state == _FAULTLESS:
        return Lost(LostReason.SUPERVISOR_GONE)
    if job.state == _OVER_MEMORY:
        return Exited(None, 9, now_ms, is_emptied=True, is_out_of_memory=True)
    code, number = batch.split_code(job.exit_code) if job.state == "FAILED" else (None, 15)
    return Exited(code, number, now_ms, is_emptied=True)
