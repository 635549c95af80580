"""Whose a job of a project's cluster was: a mark that only the operator can make.

All jobs of such a cluster have its one user, who may do to Slurm whatever its administrator may. So
a comment proves nothing there, nor does ``AdminComment``: a job can write both.

Rules:

- When a job is submitted for somebody, it is written to it who, which call and which job that is,
  with a MAC over them. The key is in the operator's own folder and never in a member; a member is
  given one that follows from it for each call, which makes marks of that call alone.
- The MAC is over the job's number too: what is copied from one job to another is seen.
- A job without a mark that holds is nobody's, and a finding: it came from inside the cluster, or
  its mark was changed. It is never taken for somebody's by its comment. Its project is known all
  the same, since the whole cluster has one.
- The operator's own probes have no mark. A job is taken for one by its name only if it was short.

>>> maker = MarkMaker(b"k" * 32, cluster="bw1")
>>> told = spell_mark(*maker.order(JobCall("vision", "ana@lab", 12, "c-1")), number="7")
>>> told.startswith("cluster=bw1;project=vision;principal=ana@lab;call=12;correlation=c-1;job=7;")
True
>>> maker.attribute(MarkedJob("7", "vision", "train", 60, told))
CallersJob(job_id='7', principal='ana@lab', call_id=12, correlation_id='c-1')
>>> maker.attribute(MarkedJob("8", "vision", "train", 60, told)).reason.value
'mark_of_another_job'
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple, TypeAlias

from bailiwick.operators.slurm.member.submitting import spell_mark

PROBE: Final = "probe"
PROBE_S_MAX: Final = 90
"""A probe asks for a minute; Slurm ends it a little later."""
_MARK: Final = re.compile(
    r"(cluster=([^;]{1,63});project=([^;]{1,63});principal=([^;]{1,128});call=([0-9]{1,16})"
    r";correlation=([^;]{0,128}));job=([0-9]{1,10});mark=[0-9a-f]{32}\Z"
)


class JobCall(NamedTuple):
    """For whom a job was submitted, and by which call."""

    project: str
    principal: str
    call_id: int
    correlation_id: str

    @property
    def comment(self) -> str:
        """For people who look at the queue; it proves nothing."""
        return f"principal={self.principal};call={self.call_id};correlation={self.correlation_id}"


class MarkedJob(NamedTuple):
    """What Slurm's books have of a job that says whose it was."""

    job_id: str
    """As ``sacct`` calls it: a task of an array has the array's number first."""
    account: str
    name: str
    ran_s: int
    mark: str


class NobodysReason(StrEnum):
    """Why nobody is known for a job."""

    NO_MARK = "no_mark"
    """It did not come through the platform, or its mark was taken away."""
    MARK_NOT_OURS = "mark_not_ours"
    """Somebody else wrote it, or changed it."""
    MARK_OF_ANOTHER_JOB = "mark_of_another_job"
    OTHER_ACCOUNT = "other_account"


@dataclass(frozen=True, slots=True)
class CallersJob:
    """It was submitted for this person, by this call."""

    job_id: str
    principal: str
    call_id: int
    correlation_id: str


@dataclass(frozen=True, slots=True)
class ProbeJob:
    """The operator saw by it that a worker takes jobs."""

    job_id: str


@dataclass(frozen=True, slots=True)
class NobodysJob:
    """A finding."""

    job_id: str
    reason: NobodysReason


WhoseJob: TypeAlias = CallersJob | ProbeJob | NobodysJob


@dataclass(frozen=True, slots=True)
class MarkMaker:
    """Makes the marks of one cluster, and knows them again."""

    key: bytes
    cluster: str

    def order(self, call: JobCall) -> tuple[str, bytes]:
        """What a member writes to the job of a call, and the key of that call's marks."""
        told = f"cluster={self.cluster};project={call.project};{call.comment}"
        return told, hmac.digest(self.key, told.encode(), "sha256")

    def attribute(self, job: MarkedJob) -> WhoseJob:
        """Whose a job was."""
        found = _MARK.match(job.mark)
        if found is None:
            is_probe = job.name == PROBE and job.ran_s <= PROBE_S_MAX and ";mark=" not in job.mark
            return ProbeJob(job.job_id) if is_probe else self._nobodys(job)
        told, cluster, project, principal, call_id, correlation_id, number = found.groups()
        ours = spell_mark(told, hmac.digest(self.key, told.encode(), "sha256"), number=number)
        if cluster != self.cluster or not hmac.compare_digest(job.mark.encode(), ours.encode()):
            return NobodysJob(job.job_id, NobodysReason.MARK_NOT_OURS)
        if number != job.job_id.partition("_")[0]:
            return NobodysJob(job.job_id, NobodysReason.MARK_OF_ANOTHER_JOB)
        if project != job.account:
            return NobodysJob(job.job_id, NobodysReason.OTHER_ACCOUNT)
        return CallersJob(job.job_id, principal, int(call_id), correlation_id)

    def _nobodys(self, job: MarkedJob) -> NobodysJob:
        is_odd = ";mark=" in job.mark
        why = NobodysReason.MARK_NOT_OURS if is_odd else NobodysReason.NO_MARK
        return NobodysJob(job.job_id, why)
