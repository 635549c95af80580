"""How people name a job, a task of an array, and what must have become of it.

Rules:

- ``job-7`` is a job, or the whole of an array; ``job-7[3]`` is the task with the index 3.
- A job that comes after another names what it needs of it: ``job-7:ok``, ``:failed`` or ``:any``.
  Of a whole array it is needed of every task. Without a word it is ``ok``.

>>> parse_address("job-7[3]"), str(JobAddress(7))
(JobAddress(number=7, index=3), 'job-7')
>>> str(parse_after("7:any"))
'job-7:any'
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from bailiwick.vocab.errors import InvalidValue
from bailiwick.vocab.jobs import JobPhase

AFTER_MAX: Final = 64
"""Jobs that one job may come after."""

_ADDRESS: Final = re.compile(r"(?:job-)?([1-9][0-9]{0,15})(?:\[([0-9]{1,6})\])?")


class AfterNeed(StrEnum):
    """What must have become of a job for one that comes after it."""

    OK = "ok"
    FAILED = "failed"
    ANY = "any"

    def is_met_by(self, phase: JobPhase) -> bool:
        """Whether a job that is over in this phase will do."""
        if self is AfterNeed.ANY:
            return True
        return (phase is JobPhase.SUCCEEDED) is (self is AfterNeed.OK)


@dataclass(frozen=True, slots=True)
class JobAddress:
    """A job, or with an index a task of an array."""

    number: int
    index: int | None = None

    def __str__(self) -> str:
        return f"job-{self.number}" + ("" if self.index is None else f"[{self.index}]")


@dataclass(frozen=True, slots=True)
class After:
    """A job that must be over before, and how."""

    address: JobAddress
    need: AfterNeed = AfterNeed.OK

    def __str__(self) -> str:
        return f"{self.address}:{self.need}"


def find_address(text: str) -> JobAddress | None:
    """The address that is spelled so; nothing if it is something else, such as a name."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return None
    return JobAddress(int(found[1]), None if found[2] is None else int(found[2]))


def parse_address(text: str) -> JobAddress:
    """The address that is spelled so."""
    found = find_address(text)
    if found is None:
        raise InvalidValue("JOB", text, "job-7, 7 or job-7[3]")
    return found


def parse_after(text: str) -> After:
    """What is to come before, as it is spelled."""
    where, colon, word = text.partition(":")
    found = find_address(where)
    if found is None or (colon and word not in tuple(AfterNeed)):
        raise InvalidValue("after", text[:80], "job-3:ok, job-3:failed or job-3:any")
    return After(found, AfterNeed(word) if colon else AfterNeed.OK)
