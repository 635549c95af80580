"""Commands that run under a lease, and what they print."""

from __future__ import annotations

from bailiwick.vocab.permissions import Permission
from bailiwick.wire.actions.action import NOTHING, Action, Outcome, Where
from bailiwick.wire.answers import Done, Plan
from bailiwick.wire.base import Page
from bailiwick.wire.jobs import Job, JobFile, JobFileRead, JobOutput, NewJob

_P, _W = Permission, Where
_JOB = "/v1/jobs/{job_id}"

# fmt: off
JOB_FILE = Action(
    "job.file", "Read a job file", "POST", "/v1/jobs/file",
    _P.QUEUE_SUBMIT, _W.BODY, JobFile, JobFileRead, is_question=True)
JOB_SUBMIT = Action(
    "job.submit", "Submit a job", "POST", "/v1/jobs",
    _P.QUEUE_SUBMIT, _W.BODY, NewJob, Job, has_plan=True,
    outcomes={
        200: Outcome(Plan, "What would happen (dry run)"),
        201: Outcome(Job, "The job has its lease"),
        202: Outcome(Job, "The job waits"),
    })
JOB_LIST = Action(
    "job.list", "List jobs", "GET", "/v1/jobs",
    _P.QUEUE_READ, _W.ROWS, NOTHING, Page[Job])
JOB_READ = Action(
    "job.read", "Read a job", "GET", _JOB,
    _P.QUEUE_READ, _W.JOB, NOTHING, Job)
JOB_CANCEL = Action(
    "job.cancel", "Cancel a job", "DELETE", _JOB,
    _P.QUEUE_CANCEL, _W.JOB, NOTHING, Done)
JOB_OUTPUT = Action(
    "job.output", "Read a job's output", "GET", _JOB + "/output",
    _P.QUEUE_READ, _W.JOB, NOTHING, JobOutput, waits=True)
# fmt: on
