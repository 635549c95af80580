"""The closed words of jobs: how far a job has come, and why one ended that nobody ended.

Rules:

- A job goes forward through its phases and never back, but for the next attempt of one that is
  to be tried again, which waits anew. A phase that is over stays.
- What a lease's end or a denial already has a word for keeps that word; only what can happen to a
  job alone is spelled here.

>>> JobPhase.RUNNING.is_over, JobPhase.LOST.is_over
(False, True)
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

PLAIN_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where a job's programs are sought unless it says otherwise."""


class JobPhase(StrEnum):
    """How far a job has come."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    ENDING = "ending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"
    PREEMPTED = "preempted"
    EXPIRED = "expired"
    REFUSED = "refused"
    LOST = "lost"

    @property
    def is_over(self) -> bool:
        """Whether nothing will happen to the job any more."""
        return self not in LIVE_PHASES


LIVE_PHASES: tuple[JobPhase, ...] = (
    JobPhase.WAITING,
    JobPhase.STARTING,
    JobPhase.RUNNING,
    JobPhase.ENDING,
)


class JobFault(StrEnum):
    """Why a job could not begin, or cannot be told about, beyond what its lease says."""

    PROGRAM_NOT_RUNNABLE = "program_not_runnable"
    DIRECTORY_NOT_USABLE = "directory_not_usable"
    LIMITS_NOT_POSSIBLE = "limits_not_possible"
    TOKEN_REFUSED = "token_refused"
    EXECUTOR_UNAVAILABLE = "executor_unavailable"
    LEASE_GONE = "lease_gone"
    FOLDER_GONE = "folder_gone"
    NOT_KEPT_APART = "not_kept_apart"
    IMAGE_NOT_USABLE = "image_not_usable"
    AGENT_TOO_OLD = "agent_too_old"
    SUBMISSION_UNKNOWN = "submission_unknown"
    OUT_OF_MEMORY = "out_of_memory"
    DEPENDENCY_NEVER_MET = "dependency_never_met"
    NOT_PERMITTED = "not_permitted"
    HOST_NOT_GIVEN = "host_not_given"


class Unhonoured(StrEnum):
    """What an executor cannot honour of what a job asks for."""

    GPU_SHARE = "gpu_share"
    CORE_SHARE = "core_share"
    IMAGE = "image"


class HeldReason(StrEnum):
    """Why a job is not in the queue yet."""

    WAITING_FOR_JOBS = "waiting_for_jobs"
    ARRAY_LIMIT = "array_limit"
    BETWEEN_ATTEMPTS = "between_attempts"
    QUEUE_LIMIT = "queue_limit"
