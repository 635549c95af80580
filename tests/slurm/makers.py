"""Books for tests: a small cluster, and rows that say whatever a test wants."""

from __future__ import annotations

from typing import Any

from bailiwick.clusters.slurm.rows import Active, SlurmBooks, SlurmJob, SlurmNode

FROM_MS, TO_MS = 1_000_000_000, 1_000_600_000
NODES = {
    "h1": SlurmNode("h1", (("hopper", 4),)),
    "h2": SlurmNode("h2", (("hopper", 4),)),
    "a1": SlurmNode("a1", (("ampere", 8),)),
    "m1": SlurmNode("m1", (("hopper", 1), ("ampere", 1))),
}


def row(raw_id: int, start_s: int | None, end_s: int | None, **told: Any) -> SlurmJob:
    """A run by its seconds after the beginning; its length is right unless told otherwise."""
    start_ms = None if start_s is None else FROM_MS + start_s * 1000
    end_ms = None if end_s is None else FROM_MS + end_s * 1000
    length_ms = 0 if start_ms is None or end_ms is None else end_ms - start_ms
    defaults = {
        "job_id": str(raw_id),
        "raw_id": raw_id,
        "user": "eve",
        "account": "vision",
        "qos": "normal",
        "partition": "all",
        "submit_ms": FROM_MS,
        "start_ms": start_ms,
        "end_ms": end_ms,
        "elapsed_ms": length_ms,
        "suspended_ms": 0,
        "state": "COMPLETED" if end_s is not None else "RUNNING",
        "gpus": {"hopper": 1},
        "nodes": ("h1",),
    }
    return SlurmJob(**(defaults | told))


def active(raw_id: int, start_s: int, **told: Any) -> Active:
    """A job that the controller runs."""
    return Active(raw_id, FROM_MS + start_s * 1000, **told)


def books(*jobs: SlurmJob, **told: Any) -> SlurmBooks:
    """Books with these rows, and nothing else unless told."""
    defaults = {
        "cluster": "c1",
        "from_ms": FROM_MS,
        "to_ms": TO_MS,
        "boot_ms": None,
        "jobs": jobs,
        "nodes": NODES,
        "outages": (),
        "registered": (),
        "active": {},
        "runaways": (),
        "parents": {"vision": "acme", "acme": "root"},
        "preempted_qos": frozenset(("spot",)),
    }
    return SlurmBooks(**(defaults | told))
