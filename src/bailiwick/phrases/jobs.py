"""Why a job waits, did not start, or was ended."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from bailiwick.phrases.reasons import REASONS
from bailiwick.vocab.jobs import HeldReason, JobFault
from bailiwick.vocab.words import PendingReason, PreemptionReason

FAULTS: Final[Mapping[JobFault, str]] = {
    JobFault.PROGRAM_NOT_RUNNABLE: "there is no such program, or it cannot be run",
    JobFault.DIRECTORY_NOT_USABLE: "it cannot start in that folder: a job sees only those that "
    "the machine's operator shows it (--job-path)",
    JobFault.LIMITS_NOT_POSSIBLE: "its limits could not be set on that machine",
    JobFault.TOKEN_REFUSED: "no token could be made for it",
    JobFault.EXECUTOR_UNAVAILABLE: "the machine runs no jobs now",
    JobFault.LEASE_GONE: "its lease was gone before it could start",
    JobFault.FOLDER_GONE: "what is known of it on the machine is gone",
    JobFault.IMAGE_NOT_USABLE: "its image cannot be run on that machine",
    JobFault.AGENT_TOO_OLD: "the agent of its node is too old for it: upgrade that",
    JobFault.NOT_KEPT_APART: "nothing on that machine keeps it apart from others' jobs",
    JobFault.OUT_OF_MEMORY: "it took more memory than it had asked for",
    JobFault.SUBMISSION_UNKNOWN: "the server was lost before its request was decided",
    JobFault.DEPENDENCY_NEVER_MET: "a job that it comes after did not end as it needs",
    JobFault.NOT_PERMITTED: "who submitted it may not submit there any more",
    JobFault.HOST_NOT_GIVEN: "that machine gives no member the host, or its version is not "
    "granted it any more",
}

HELD: Final[Mapping[HeldReason, str]] = {
    HeldReason.WAITING_FOR_JOBS: "jobs that it comes after are not over",
    HeldReason.ARRAY_LIMIT: "as many tasks of its array are under way as may be at once",
    HeldReason.BETWEEN_ATTEMPTS: "it is about to be tried again",
    HeldReason.QUEUE_LIMIT: "as many requests wait as may",
}


def phrase_job_reason(word: str) -> str:
    """Why a job is where it is; a word that nobody knows is told as it is."""
    if word in tuple(PreemptionReason):
        return PreemptionReason(word).human_summary()
    if word in tuple(PendingReason):
        return REASONS[PendingReason(word)]
    if word in tuple(HeldReason):
        return HELD[HeldReason(word)]
    return FAULTS[JobFault(word)] if word in tuple(JobFault) else word
