"""What a Slurm cluster accounts for the leases that its jobs name.

Rules:

- A job names its lease in its comment, or else in its own name: ``bailiwick-lease-`` and a number.
  Users choose both, so a job can lie about it: it is then found where it does not fit.
- GPU time is that of the allocation, GPUs x elapsed, without devices. It is a claim about what was
  reserved, not about what computed.
- Runs of one job (requeued) add up. A job of several nodes is of several leases and is not told.

>>> lease_of("bailiwick-lease-7"), lease_of("bailiwick-lease-07"), lease_of("train")
(7, None, None)
"""

from __future__ import annotations

import re

from bailiwick.clusters.accounting import Question, Tell
from bailiwick.clusters.slurm.commands import make_books, read_answers
from bailiwick.clusters.slurm.parse import RUNNING
from bailiwick.clusters.slurm.rows import SlurmBooks, SlurmJob
from bailiwick.metering.counters import Counter

_MARK = re.compile(r"bailiwick-lease-([1-9][0-9]{0,14})")


def lease_of(text: str) -> int | None:
    """The lease that a comment or a name tells."""
    found = _MARK.fullmatch(text.strip())
    return None if found is None else int(found[1])


def read_counters(question: Question, tell: Tell) -> tuple[Counter, ...]:
    """What a cluster's books, or saved ones, count for leases."""
    return counters_in(make_books(read_answers(question, tell)))


def counters_in(books: SlurmBooks) -> tuple[Counter, ...]:
    """What these books count for leases, by lease and node."""
    found: dict[tuple[int, str], list[SlurmJob]] = {}
    for job in books.jobs:
        lease_id = lease_of(job.comment) or lease_of(job.name)
        if lease_id is not None and job.start_ms is not None and len(job.nodes) == 1:
            found.setdefault((lease_id, job.nodes[0]), []).append(job)
    return tuple(_counter(*key, jobs=found[key], now_ms=books.to_ms) for key in sorted(found))


def _counter(lease_id: int, node: str, *, jobs: list[SlurmJob], now_ms: int) -> Counter:
    ends = [job.end_ms for job in jobs if job.state not in RUNNING]
    known = [end for end in ends if end is not None]
    is_over = len(known) == len(jobs)
    from_ms = min(job.start_ms or 0 for job in jobs)
    at_ms = max(known) if is_over else max(now_ms, from_ms, *known)
    return Counter(
        lease_id,
        node,
        max(at_ms, from_ms),
        from_ms,
        to_ms=max(at_ms, from_ms) if is_over else None,
        gpu_ms=sum(job.gpu_count * job.elapsed_ms for job in jobs),
    )
