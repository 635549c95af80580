"""Executors: what really happens to a granted lease. They run, warn, end and find again.

The kernel decides that a lease begins or must go; an executor does it and reports. It decides
nothing about who gets what. The port is below; :mod:`bailiwick.executors.local` runs processes
of this machine, if that runs Linux: only there can it prove which processes are a job's.

Rules every executor keeps:

- A job is started once: a second start of the same lease is a ``Conflict``.
- ``tear_down`` answers true only if nothing of the job lives. Everything else, "I cannot tell"
  included, is false, and the kernel fences what the lease held.
- It ends only what it started, and can prove that it did.
- What it started outlives it: after its own death ``adopt`` finds everything again.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Protocol

from bailiwick.executors.job import (
    Adopted,
    Exited,
    JobSpec,
    JobStatus,
    LimitedBy,
    Limits,
    Lost,
    LostReason,
    OutputPart,
    Running,
    Started,
)

__all__ = [
    "Adopted",
    "Executor",
    "Exited",
    "JobSpec",
    "JobStatus",
    "LimitedBy",
    "Limits",
    "Lost",
    "LostReason",
    "OutputPart",
    "Running",
    "Started",
    "can_run_locally",
]


def can_run_locally() -> bool:
    """Whether the local executor works on this system."""
    return sys.platform == "linux"


class Executor(Protocol):
    """Whoever runs the jobs of granted leases."""

    def start(self, spec: JobSpec) -> Started:
        """Run the command; returns once it runs, raises if it cannot."""

    def warn(self, lease_id: int, until_ms: int) -> None:
        """Tell the job that it must be gone by then."""

    def tear_down(self, lease_id: int) -> bool:
        """End the job and all it started; whether nothing of it is left."""

    def status(self, lease_id: int) -> JobStatus:
        """What has become of the job."""

    def adopt(self) -> tuple[Adopted, ...]:
        """All jobs there are, those of an earlier life of the server among them."""

    def output(self, lease_id: int) -> tuple[Path, ...]:
        """Where the job's output is kept."""

    def read_output(self, lease_id: int, offset: int, *, limit: int = 65536) -> OutputPart:
        """Up to ``limit`` bytes of the output, from ``offset`` on; also while the job runs."""

    def forget(self, lease_id: int) -> None:
        """Remove all that is kept of a job that has ended."""
