"""Which job a person means: by its number, by an index of an array, or by the name it was given.

Rules:

- ``job-7`` is job 7, or the whole array whose first task that is; ``job-7[3]`` is one task.
- A name counts if it is that of one job, or one array, that the person submitted. If there are
  several, they are listed and none is taken.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from bailiwick.cli.shared.jobs import name_of, outcome_of, read_job
from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.job_addresses import JobAddress, find_address
from bailiwick.vocab.job_arrays import TASKS_MAX

if TYPE_CHECKING:
    from bailiwick.cli.shared.ask import Ask
    from bailiwick.wire.base import Page
    from bailiwick.wire.jobs import Job

_LOOKED_AT: Final = 2_000
"""Jobs of one name that are looked at; the tasks of an array have the same."""
_TOLD: Final = 10


class Meant(NamedTuple):
    """A job, and whether it stands for the whole of its array."""

    job: Job
    is_array: bool


def find_job(ask: Ask, text: str) -> Meant:
    """The job or array that is meant."""
    address = find_address(text)
    if address is None:
        return _by_name(ask, text)
    if address.index is None:
        found = read_job(ask, address.number)
        return Meant(found, found.array_id == found.job_id)
    return Meant(_task(ask, address, address.index), is_array=False)


def find_one(ask: Ask, text: str) -> Job:
    """The same, where a whole array will not do."""
    found, is_array = find_job(ask, text)
    if is_array:
        expected = f"one task of the array, such as {name_of(found)}"
        raise InvalidValue("JOB", text, expected)
    return found


def tasks_of(ask: Ask, job: Job) -> Page[Job]:
    """The tasks of an array, by their index."""
    from bailiwick.wire.actions.jobs import JOB_LIST

    page = ask.client.pages(JOB_LIST, query={"array_id": job.array_id}, rows_max=TASKS_MAX)
    return page.model_copy(update={"items": page.items[::-1]})


def _task(ask: Ask, address: JobAddress, index: int) -> Job:
    from bailiwick.wire.actions.jobs import JOB_LIST

    query = {"array_id": address.number, "array_index": index}
    rows = ask.client.pages(JOB_LIST, query=query, rows_max=1).items
    if not rows:
        raise InvalidValue("JOB", str(address), "a task of an array that you may see")
    return rows[0]


def _by_name(ask: Ask, text: str) -> Meant:
    from bailiwick.wire.actions.jobs import JOB_LIST

    query = {"name": text[:63], "mine": "true"}
    rows = ask.client.pages(JOB_LIST, query=query, rows_max=_LOOKED_AT).items
    # The first task stands for its array; it is the oldest, and the newest come first.
    found = {job.array_id or job.job_id: job for job in rows}
    if not found or len(text) > len(query["name"]):
        raise InvalidValue("JOB", text, "job-7, job-7[3], or the name of a job of yours")
    if len(found) > 1:
        told = [f"job-{number} ({outcome_of(job)})" for number, job in found.items()]
        more = [f"and {len(told) - _TOLD} more"] if len(told) > _TOLD else []
        listed = ", ".join((*told[:_TOLD], *more))
        raise InvalidValue("JOB", text, f"one job; of that name are {listed}")
    (job,) = found.values()
    return Meant(job, job.array_id is not None)
