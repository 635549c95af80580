"""Whose a Slurm job is, in Bailiwick's words: tenant, project, tag, class and generation.

Rules:

- The tenant is the account that stands highest above the job's own, below ``root``; the project is
  the job's own account; the tag is its WCKey, else its comment. Each can be taken from elsewhere.
- A quality of service that another may preempt is ``spot``, every other ``standard``. Nothing is
  ``guaranteed`` unless somebody says so.
- A type of GPU is a generation by the same table as device names are; unknown ones are ``other``.

>>> names = Naming(Question(), cluster="c1", parents={"vision": "acme", "acme": "root"})
>>> names.top_of("vision"), names.top_of("alone"), names.generation("h100").value
('acme', 'alone', 'nvidia_hopper')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from bailiwick.clusters.accounting import By, Question
from bailiwick.clusters.slurm.rows import SlurmJob
from bailiwick.fleet.generation import generation_of
from bailiwick.vocab.words import HardwareGeneration, LeaseClass

_DEPTH_MAX = 64
_ROOT = "root"


@dataclass(frozen=True, slots=True)
class Naming:
    """How the question wants jobs to be called."""

    question: Question
    cluster: str
    parents: Mapping[str, str] = field(default_factory=dict)
    preempted_qos: frozenset[str] = frozenset()

    def tenant(self, job: SlurmJob) -> str:
        """Who pays."""
        return self._of(job, self.question.tenant_by) or "unknown"

    def project(self, job: SlurmJob) -> str | None:
        """Which part of the tenant."""
        return self._of(job, self.question.project_by) or None

    def tag(self, job: SlurmJob) -> str | None:
        """What it was for."""
        words = (self._of(job, by) for by in self.question.tag_by)
        return next(filter(None, words), None)

    def lease_class(self, job: SlurmJob) -> LeaseClass:
        """What its quality of service amounts to."""
        default = LeaseClass.SPOT if job.qos in self.preempted_qos else LeaseClass.STANDARD
        return self.question.classes.get(job.qos, default)

    def generation(self, kind: str) -> HardwareGeneration:
        """What a type of GPU is."""
        return self.question.generations.get(kind) or generation_of(kind)

    def top_of(self, account: str) -> str:
        """The account highest above this one, below the root."""
        for _ in range(_DEPTH_MAX):
            above = self.parents.get(account, _ROOT)
            if above == _ROOT:
                break
            account = above
        return account

    def _of(self, job: SlurmJob, by: By) -> str:
        match by:
            case By.TOP_ACCOUNT:
                return self.top_of(job.account)
            case By.ACCOUNT:
                return job.account
            case By.USER:
                return job.user
            case By.QOS:
                return job.qos
            case By.PARTITION:
                return job.partition
            case By.WCKEY:
                return job.wckey
            case By.COMMENT:
                return job.comment
            case By.JOB_NAME:
                return job.name
            case By.CLUSTER:
                return self.cluster
            case By.NONE:
                return ""
            case _ as unknown:
                assert_never(unknown)
